#include "merge.h"

#include "cuts.h"
#include "memory.h"

void bpe_rules_free(bpe_rules *rules) {
    bpe_pair_map_free(&rules->pairs);
    bpe_rank_table_free(&rules->table);
    bpe_rank_table_free(&rules->first);
    bpe_mem_free(rules->made);
    bpe_mem_free(rules->several);
    bpe_mem_free(rules->byte_ranks);
}

/* Keep what ranks make, as far as it is not the rank itself. */
static bool begin_made(bpe_rules *rules, const uint32_t *made, size_t n_ranks) {
    bool same = true;
    bool several = false;
    for (size_t i = 0; i < n_ranks; i++) {
        several = several || made[i] == BPE_NO_ID;
        same = same && (made[i] == i || made[i] == BPE_NO_ID);
    }
    if (!same) {
        rules->made = bpe_mem_copy(made, n_ranks, sizeof *made);
        if (!rules->made)
            return false;
    }
    if (several) {
        rules->several = bpe_mem_zeroed(n_ranks / 64 + 1, sizeof *rules->several);
        if (!rules->several)
            return false;
        for (size_t i = 0; i < n_ranks; i++)
            rules->several[i >> 6] |= (uint64_t)(made[i] == BPE_NO_ID) << (i & 63);
    }
    return true;
}

/* Begin rules of about n pairs. `made` are the ids that ranks below n_ranks make, below n_ids, or
 * BPE_NO_ID for several; or n_ids is 0: ranks do not tell. */
static bool begin(bpe_rules *rules, size_t n, size_t n_ids, const uint32_t *made, size_t n_ranks) {
    if (n_ids == 0 || !bpe_rank_table_fits(n_ids, n_ranks))
        return bpe_pair_map_init(&rules->pairs, n);
    return (!made || begin_made(rules, made, n_ranks)) &&
           bpe_rank_table_init(&rules->table, n_ids, n_ranks, n);
}

/* The first mention of a pair counts. */
static bpe_status add_pair(bpe_rules *rules, uint32_t left, uint32_t right, uint32_t rank,
                           uint32_t id) {
    if (rules->table.slots) {
        if (!bpe_rank_table_add(&rules->table, left, right, rank))
            return BPE_ERR_NOMEM;
    }
    if (!rules->table.slots || bpe_rules_several(rules, rank)) {
        bool is_new;
        if (!rules->pairs.slots && !bpe_pair_map_init(&rules->pairs, 16))
            return BPE_ERR_NOMEM;
        bpe_pair_entry *e = bpe_pair_map_add(&rules->pairs, bpe_pair_key(left, right), &is_new);
        if (!e)
            return BPE_ERR_NOMEM;
        if (!is_new)
            return BPE_OK;
        e->a = rank;
        e->b = id;
    }
    if (rank >= rules->n_ranks)
        rules->n_ranks = (size_t)rank + 1;
    return BPE_OK;
}

static inline size_t count_pairs(const bpe_rules *rules) {
    return rules->table.slots ? rules->table.n : rules->pairs.n;
}

/* Where a pair to be added is looked for. */
static inline const void *home_of(const bpe_rules *rules, uint64_t pair) {
    const bpe_rank_table *table = &rules->table;
    if (table->slots) {
        uint64_t key = bpe_rank_table_key(table, (uint32_t)(pair >> 32), (uint32_t)pair);
        return table->slots + bpe_rank_table_home(table, key);
    }
    return &rules->pairs.slots[bpe_pair_slot(pair, rules->pairs.seed, rules->pairs.bits)];
}

/* An array of ranks of pairs of bytes, none of which merges yet. */
static bool begin_byte_ranks(bpe_rules *rules, const bpe_vocab *vocab) {
    if (!rules->table.slots)
        return true;
    for (size_t b = 0; b < 256; b++) {
        if (vocab->byte_ids[b] == BPE_NO_ID)
            return true;
    }
    rules->byte_ranks = bpe_mem_array(256 * 256, sizeof *rules->byte_ranks);
    if (!rules->byte_ranks)
        return false;
    memset(rules->byte_ranks, 255, 256 * 256 * sizeof *rules->byte_ranks); /* BPE_NO_RANK */
    return true;
}

bpe_status bpe_rules_from_merges(bpe_rules *rules, const bpe_vocab *vocab,
                                 const bpe_model_spec *spec, bpe_error *err) {
    if (spec->n_merges > BPE_MAX_PAIRS)
        return bpe_fail(err, BPE_ERR_LIMIT, spec->n_merges);
    if (!begin(rules, spec->n_merges, vocab->n_vocab, spec->merge_ids, spec->n_merges) ||
        !begin_byte_ranks(rules, vocab))
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
        if (rules->byte_ranks && n_made == 2 && vocab->byte_ids[m[0]] == left &&
            vocab->byte_ids[m[1]] == right) {
            uint32_t *rank = &rules->byte_ranks[(size_t)m[0] << 8 | m[1]];
            *rank = (uint32_t)i < *rank ? (uint32_t)i : *rank;
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
    for (size_t i = 0; i < n; i++) {
        uint64_t key = bpe_pair_key(id_of(list, cuts[i].left), id_of(list, cuts[i].right));
        bpe_prefetch(home_of(to->rules, key));
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t rank = rank_of(list, cuts[i].whole);
        if (rank == BPE_NO_RANK)
            continue;
        if (count_pairs(to->rules) >= list->max_pairs)
            return BPE_ERR_LIMIT;
        if (add_pair(to->rules, id_of(list, cuts[i].left), id_of(list, cuts[i].right), rank,
                     id_of(list, cuts[i].whole)) != BPE_OK)
            return BPE_ERR_NOMEM;
    }
    return BPE_OK;
}

bpe_status bpe_rules_from_strings(bpe_rules *rules, const bpe_ranked_strings *list,
                                  bpe_error *err) {
    bool tells = !list->ranks || list->made;
    size_t n_ids = tells ? list->n : 0;
    for (size_t i = 0; tells && list->ids && i < list->n; i++)
        n_ids = list->ids[i] >= n_ids ? (size_t)list->ids[i] + 1 : n_ids;
    const uint32_t *made = list->ranks ? list->made : list->ids;
    if (!begin(rules, 2 * list->n, n_ids, made, list->ranks ? list->n_ranks : list->n))
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    rank_pairs to = {rules, list};
    bpe_status status = bpe_cuts_find(list->strings, list->n, add_cuts, &to);
    return status == BPE_OK ? BPE_OK : bpe_fail(err, status, count_pairs(rules));
}

bpe_status bpe_rules_from_ranks(bpe_rules *rules, const bpe_vocab *vocab, bpe_error *err) {
    bpe_ranked_strings list = {&vocab->strings, vocab->ids, NULL, vocab->n_ordinary,
                               BPE_MAX_PAIRS,   NULL,       0};
    bpe_status status = bpe_rules_from_strings(rules, &list, err);
    if (status == BPE_OK && !begin_byte_ranks(rules, vocab))
        status = bpe_fail(err, BPE_ERR_NOMEM, 0);
    for (size_t i = 0; status == BPE_OK && rules->byte_ranks && i < vocab->n_ordinary; i++) {
        size_t n;
        const uint8_t *p = bpe_intern_bytes(&vocab->strings, i, &n);
        if (n == 2)
            rules->byte_ranks[(size_t)p[0] << 8 | p[1]] = (uint32_t)i;
    }
    return status;
}

/* ---------------------------------------------------------------- merging, short */

static inline void look_up(const bpe_rules *rules, uint32_t left, uint32_t right, uint32_t limit,
                           uint32_t *rank, uint32_t *id) {
    *rank = bpe_rules_find(rules, left, right, id);
    if (*rank >= limit)
        *rank = BPE_NO_RANK;
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
    bpe_mem_free(scratch->found);
    bpe_rank_queue_free(&scratch->queue);
    *scratch = (bpe_merge_scratch){0};
}

void bpe_merge_scratch_trim(bpe_merge_scratch *scratch, size_t n) {
    if (scratch->parts_cap > n || scratch->found_cap > n)
        bpe_merge_scratch_free(scratch);
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

/* Merge ids[0, n); the list of parts is the result. */
static bpe_status merge_parts(const bpe_rules *rules, bpe_merge_scratch *scratch,
                              const uint32_t *ids, size_t n, uint32_t limit) {
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
    return BPE_OK;
}

bpe_status bpe_merge_long(const bpe_rules *rules, bpe_merge_scratch *scratch, uint32_t *ids,
                          size_t n, uint32_t limit, size_t *n_left) {
    bpe_status status = merge_parts(rules, scratch, ids, n, limit);
    if (status != BPE_OK)
        return status;
    const part *parts = scratch->parts;
    size_t left = 0;
    for (uint32_t i = 0; i != NO_PART; i = parts[i].next)
        ids[left++] = parts[i].id;
    *n_left = left;
    return BPE_OK;
}

/* ---------------------------------------------------------------- merging, in windows */

/*
 * Why windows give the same. Let tokens t1 ... tn spell the text, each what its own symbols merge
 * to, and let any two neighbours, merged from their symbols together, come out as these two. Then
 * merging the whole text gives t1 ... tn: suppose some merge crossed an end of one of them, and
 * look at the first that did. Until then what happened within its two tokens was what happens when
 * they are merged alone, in the same order, since the order (rank, place) is the same wherever
 * symbols stand; so the same merge would have been due there, too, and they would not have come out
 * as two. The other way round, what merging gives has this property. So a window's tokens may be
 * taken except near its end, and the next window begun where they end, if the first token there and
 * the last one before it do not merge.
 */
typedef struct windows {
    const bpe_rules *rules;
    bpe_merge_scratch *scratch;
    const uint32_t *ids; /* the symbols, n of them */
    size_t n;
    size_t window;     /* symbols in each */
    size_t n_out;      /* tokens in scratch->found */
    size_t at;         /* the symbol where the next window begins */
    size_t last;       /* the symbol where the last of the tokens found begins */
    uint32_t expected; /* the token that began here before, in the window before */
    size_t expected_n; /* its symbols; 0: there was none */
} windows;

/* Whether the token of n symbols that starts at w->at leaves the one before it alone. */
static bpe_status stands_apart(windows *w, size_t n, bool *apart) {
    size_t left = w->at - w->last;
    bpe_status status = merge_parts(w->rules, w->scratch, w->ids + w->last, left + n, BPE_NO_RANK);
    if (status != BPE_OK)
        return status;
    const part *parts = w->scratch->parts;
    *apart = parts[0].next == left && parts[left].next == NO_PART;
    return BPE_OK;
}

/* Where part i of the first n symbols ends. */
static inline size_t end_of(const part *parts, uint32_t i, size_t n) {
    return parts[i].next == NO_PART ? n : parts[i].next;
}

/* Take the tokens of a window of n symbols that end at or before symbol `until` of it; the first
 * one is taken in any case. */
static void take_tokens(windows *w, size_t n, size_t until) {
    const part *parts = w->scratch->parts;
    uint32_t i = 0;
    uint32_t taken;
    do {
        taken = i;
        w->scratch->found[w->n_out++] = parts[i].id;
        i = parts[i].next;
    } while (i != NO_PART && end_of(parts, i, n) <= until);
    w->last = w->at + taken;
    w->at += end_of(parts, taken, n);
    w->expected_n = i == NO_PART ? 0 : end_of(parts, i, n) - i;
    w->expected = i == NO_PART ? BPE_NO_ID : parts[i].id;
}

/* One window; *good is false if it does not fit to what was found before. */
static bpe_status merge_window(windows *w, bool *good) {
    bpe_merge_scratch *scratch = w->scratch;
    size_t n = w->n - w->at < w->window ? w->n - w->at : w->window;
    size_t until = w->at + n == w->n ? n : n - n / 16;
    if (!bpe_mem_grow((void **)&scratch->found, &scratch->found_cap, w->n_out + n,
                      sizeof *scratch->found))
        return BPE_ERR_NOMEM;
    bpe_status status = merge_parts(w->rules, scratch, w->ids + w->at, n, BPE_NO_RANK);
    if (status != BPE_OK)
        return status;
    uint32_t id = scratch->parts[0].id;
    size_t n_first = end_of(scratch->parts, 0, n);
    *good = w->n_out == 0 || (n_first == w->expected_n && id == w->expected);
    if (!*good) {
        status = stands_apart(w, n_first, good);
        if (status != BPE_OK || !*good)
            return status;
        status = merge_parts(w->rules, scratch, w->ids + w->at, n, BPE_NO_RANK);
        if (status != BPE_OK)
            return status;
    }
    take_tokens(w, n, until);
    return BPE_OK;
}

bpe_status bpe_merge_windows(const bpe_rules *rules, bpe_merge_scratch *scratch, uint32_t *ids,
                             size_t n, size_t window, size_t *n_left) {
    windows w = {.rules = rules, .scratch = scratch, .ids = ids, .n = n, .window = window};
    bool good = true;
    while (good && w.at < n) {
        bpe_status status = merge_window(&w, &good);
        if (status != BPE_OK)
            return status;
    }
    if (!good)
        return bpe_merge_long(rules, scratch, ids, n, BPE_NO_RANK, n_left);
    memcpy(ids, scratch->found, w.n_out * sizeof *ids);
    *n_left = w.n_out;
    return BPE_OK;
}

bpe_status bpe_merge(const bpe_rules *rules, bpe_merge_scratch *scratch, uint32_t *ids, size_t n,
                     size_t *n_left) {
    if (n <= BPE_SHORT_BYTES) {
        *n_left = bpe_merge_short(rules, ids, n, BPE_NO_RANK);
        return BPE_OK;
    }
    if (n <= 2 * BPE_MERGE_WINDOW)
        return bpe_merge_long(rules, scratch, ids, n, BPE_NO_RANK, n_left);
    return bpe_merge_windows(rules, scratch, ids, n, BPE_MERGE_WINDOW, n_left);
}
