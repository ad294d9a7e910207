#include "merge.h"

#include "cuts.h"
#include "memory.h"

void bpe_rules_free(bpe_rules *rules) { bpe_pair_map_free(&rules->pairs); }

/* The first mention of a pair counts. */
static bpe_status add_pair(bpe_rules *rules, uint32_t left, uint32_t right, uint32_t rank,
                           uint32_t id) {
    bool is_new;
    bpe_pair_entry *e = bpe_pair_map_add(&rules->pairs, bpe_pair_key(left, right), &is_new);
    if (!e)
        return BPE_ERR_NOMEM;
    if (is_new) {
        e->a = rank;
        e->b = id;
        if (rank >= rules->n_ranks)
            rules->n_ranks = (size_t)rank + 1;
    }
    return BPE_OK;
}

bpe_status bpe_rules_from_merges(bpe_rules *rules, const bpe_vocab *vocab,
                                 const bpe_model_spec *spec, bpe_error *err) {
    if (spec->n_merges > BPE_MAX_PAIRS)
        return bpe_fail(err, BPE_ERR_LIMIT, spec->n_merges);
    if (!bpe_pair_map_init(&rules->pairs, spec->n_merges))
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    for (size_t i = 0; i < spec->n_merges; i++) {
        uint32_t left = spec->merges[2 * i];
        uint32_t right = spec->merges[2 * i + 1];
        size_t n_left = 0;
        size_t n_right = 0;
        size_t n_made = 0;
        const uint8_t *l = bpe_vocab_bytes(vocab, left, &n_left);
        const uint8_t *r = bpe_vocab_bytes(vocab, right, &n_right);
        const uint8_t *m = bpe_vocab_bytes(vocab, spec->merge_ids[i], &n_made);
        if (!l || !r || !m || n_made != n_left + n_right || memcmp(m, l, n_left) != 0 ||
            memcmp(m + n_left, r, n_right) != 0) {
            return bpe_fail_part(err, BPE_PART_MERGE, i);
        }
        if (add_pair(rules, left, right, (uint32_t)i, spec->merge_ids[i]) != BPE_OK) {
            return bpe_fail(err, BPE_ERR_NOMEM, i);
        }
    }
    return BPE_OK;
}

/* ---------------------------------------------------------------- ranks: every cut of a token into
 * two tokens */

typedef struct rank_pairs {
    bpe_rules *rules;
    const bpe_ranked_strings *list;
} rank_pairs;

static inline uint32_t id_of(const bpe_ranked_strings *list, uint32_t index) {
    return list->ids ? list->ids[index] : index;
}

static inline uint32_t rank_of(const bpe_ranked_strings *list, uint32_t index) {
    return list->ranks ? list->ranks[index] : index;
}

/* Add the pairs of some cuts. Their slots are asked for before the first is looked at: one after
 * the other would wait for each. */
static bpe_status add_cuts(void *context, const bpe_cut *cuts, size_t n) {
    const rank_pairs *to = context;
    const bpe_ranked_strings *list = to->list;
    bpe_pair_map *pairs = &to->rules->pairs;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = bpe_pair_key(id_of(list, cuts[i].left), id_of(list, cuts[i].right));
        bpe_prefetch(&pairs->slots[bpe_pair_slot(key, pairs->seed, pairs->bits)]);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t rank = rank_of(list, cuts[i].whole);
        if (rank == BPE_NO_RANK)
            continue;
        if (pairs->n >= list->max_pairs)
            return BPE_ERR_LIMIT;
        if (add_pair(to->rules, id_of(list, cuts[i].left), id_of(list, cuts[i].right), rank,
                     id_of(list, cuts[i].whole)) != BPE_OK)
            return BPE_ERR_NOMEM;
    }
    return BPE_OK;
}

bpe_status bpe_rules_from_strings(bpe_rules *rules, const bpe_ranked_strings *list,
                                  bpe_error *err) {
    if (!bpe_pair_map_init(&rules->pairs, 2 * list->n))
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    rank_pairs to = {rules, list};
    bpe_status status = bpe_cuts_find(list->strings, list->n, add_cuts, &to);
    return status == BPE_OK ? BPE_OK : bpe_fail(err, status, rules->pairs.n);
}

bpe_status bpe_rules_from_ranks(bpe_rules *rules, const bpe_vocab *vocab, bpe_error *err) {
    bpe_ranked_strings list = {&vocab->strings, vocab->ids, NULL, vocab->n_ordinary, BPE_MAX_PAIRS};
    return bpe_rules_from_strings(rules, &list, err);
}

/* ---------------------------------------------------------------- merging, short */

static inline void look_up(const bpe_rules *rules, uint32_t left, uint32_t right, uint32_t limit,
                           uint32_t *rank, uint32_t *id) {
    const bpe_pair_entry *e = bpe_pair_map_find(&rules->pairs, bpe_pair_key(left, right));
    *rank = e && e->a < limit ? e->a : BPE_NO_RANK;
    *id = e ? e->b : BPE_NO_ID;
}

size_t bpe_merge_short(const bpe_rules *rules, uint32_t *ids, size_t n, uint32_t limit) {
    /* rank[i], made[i]: what the part at i and the next one would become. Parts stay where they
     * are, linked; one that is gone has no rank, so that the search for the minimum reads a plain
     * array and nothing is moved until the end. */
    uint32_t rank[BPE_SHORT_BYTES];
    uint32_t made[BPE_SHORT_BYTES];
    uint8_t next[BPE_SHORT_BYTES + 1];
    uint8_t prev[BPE_SHORT_BYTES + 1];
    for (size_t i = 0; i < n; i++) {
        next[i] = (uint8_t)(i + 1);
        prev[i] = (uint8_t)(i - 1);
        rank[i] = BPE_NO_RANK;
        if (i + 1 < n)
            look_up(rules, ids[i], ids[i + 1], limit, &rank[i], &made[i]);
    }
    for (;;) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++)
            best = rank[i] < rank[best] ? i : best;
        if (rank[best] == BPE_NO_RANK)
            break;
        size_t gone = next[best];
        ids[best] = made[best];
        next[best] = next[gone];
        rank[best] = rank[gone] = BPE_NO_RANK;
        if (next[best] < n) {
            prev[next[best]] = (uint8_t)best;
            look_up(rules, ids[best], ids[next[best]], limit, &rank[best], &made[best]);
        }
        if (best > 0) {
            size_t before = prev[best];
            look_up(rules, ids[before], ids[best], limit, &rank[before], &made[before]);
        }
    }
    size_t left = 0;
    for (size_t i = 0; i < n; i = next[i])
        ids[left++] = ids[i];
    return left;
}

/* ---------------------------------------------------------------- merging, long */

#define NO_PART 0xFFFFFFFFu

/* A part of the pretoken, in a doubly linked list over an array; parts[i] starts at byte i of the
 * pretoken. */
typedef struct bpe_part {
    uint32_t id;
    uint32_t prev;
    uint32_t next;
    uint32_t rank; /* of the pair (this, next); BPE_NO_RANK when it does not merge, or when this
                      part is gone */
    uint32_t made;
} part;

void bpe_merge_scratch_free(bpe_merge_scratch *scratch) {
    bpe_mem_free(scratch->parts);
    bpe_rank_queue_free(&scratch->queue);
    *scratch = (bpe_merge_scratch){0};
}

/* What the part at `at` and the next one become, if they merge, goes into the queue. Entries are
 * left behind when a pair changes: one is good if the part at its position still has its rank. */
static inline void enqueue(const bpe_rules *rules, bpe_merge_scratch *scratch, uint32_t at,
                           uint32_t limit) {
    part *x = &scratch->parts[at];
    look_up(rules, x->id, scratch->parts[x->next].id, limit, &x->rank, &x->made);
    if (x->rank != BPE_NO_RANK)
        bpe_rank_queue_push(&scratch->queue, x->rank, at);
}

bpe_status bpe_merge_long(const bpe_rules *rules, bpe_merge_scratch *scratch, uint32_t *ids,
                          size_t n, uint32_t limit, size_t *n_left) {
    /* At most n pairs at the start, and two new ones for each of at most n merges. */
    if (!bpe_mem_grow((void **)&scratch->parts, &scratch->parts_cap, n, sizeof *scratch->parts) ||
        !bpe_rank_queue_begin(&scratch->queue, rules->n_ranks, 3 * n)) {
        return BPE_ERR_NOMEM;
    }
    part *parts = scratch->parts;
    for (size_t i = 0; i < n; i++) {
        parts[i] = (part){ids[i], i > 0 ? (uint32_t)i - 1 : NO_PART,
                          i + 1 < n ? (uint32_t)i + 1 : NO_PART, BPE_NO_RANK, 0};
    }
    for (size_t i = 0; i + 1 < n; i++)
        enqueue(rules, scratch, (uint32_t)i, limit);
    uint32_t rank;
    uint32_t at;
    uint32_t soon;
    while (bpe_rank_queue_pop(&scratch->queue, &rank, &at, &soon)) {
        bpe_prefetch(&parts[soon]);
        part *x = &parts[at];
        if (x->rank != rank)
            continue;
        part *gone = &parts[x->next];
        x->id = x->made;
        x->next = gone->next;
        x->rank = gone->rank = BPE_NO_RANK;
        if (x->next != NO_PART) {
            parts[x->next].prev = at;
            enqueue(rules, scratch, at, limit);
        }
        if (x->prev != NO_PART)
            enqueue(rules, scratch, x->prev, limit);
    }
    size_t left = 0;
    for (uint32_t i = 0; i != NO_PART; i = parts[i].next)
        ids[left++] = parts[i].id;
    *n_left = left;
    return BPE_OK;
}
