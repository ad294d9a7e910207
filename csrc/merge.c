#include "merge.h"

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

/*
 * Looking up each prefix and suffix of a token by its bytes would take time quadratic in its
 * length. A polynomial hash gives every substring's hash in constant time from the hashes of the
 * prefixes. Its modulus is the prime 2^61 - 1 and its base a secret of the table, so that nobody
 * can choose strings that collide. Bytes are compared once both halves of a cut look like tokens;
 * before that, tokens of equal hash and length are told apart only if there are any.
 */
#define POLY_PRIME (((uint64_t)1 << 61) - 1)

#define FILTER_BITS 20 /* a bitmap in the second-level cache answers most "no such token" */

typedef struct poly_slot {
    uint64_t hash;
    uint32_t index;  /* of the token */
    uint32_t length; /* 0: the slot is free */
} poly_slot;

/* A cut of token `index` after `at` bytes, whose halves both may be tokens. */
typedef struct candidate {
    size_t index;
    size_t at;
    uint64_t left_hash;
    uint64_t right_hash;
    uint64_t left_mixed;
    uint64_t right_mixed;
} candidate;

/* A cut into two tokens. */
typedef struct found_pair {
    uint64_t key;
    uint32_t index;
} found_pair;

typedef struct cuts {
    const bpe_ranked_strings *list;
    poly_slot *slots;
    unsigned bits;
    bool collisions; /* two tokens share hash and length */
    uint64_t *filter;
    uint64_t *prefix; /* prefix[k] = hash of the first k bytes of the token at hand */
    uint64_t *power;  /* power[k] = base^k; there is always a power[1] */
    candidate *candidates;
    size_t candidates_cap;
    found_pair *pairs;
    size_t pairs_cap;
} cuts;

/* a * b modulo POLY_PRIME, both below it. */
static inline uint64_t poly_multiply(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    uint64_t low = (uint64_t)product;
    uint64_t high = (uint64_t)(product >> 64);
#else
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t middle = a_high * b_low + (a_low * b_low >> 32);
    uint64_t second = a_low * b_high + (uint32_t)middle;
    uint64_t low = second << 32 | (uint32_t)(a_low * b_low);
    uint64_t high = a_high * b_high + (middle >> 32) + (second >> 32);
#endif
    uint64_t sum = (low & POLY_PRIME) + (low >> 61 | high << 3);
    return sum >= POLY_PRIME ? sum - POLY_PRIME : sum;
}

static inline uint64_t poly_next(const cuts *c, uint64_t hash, uint8_t byte) {
    uint64_t next = poly_multiply(hash, c->power[1]) + byte + 1;
    return next >= POLY_PRIME ? next - POLY_PRIME : next;
}

/* The hash of the last n - k of the n bytes whose prefixes are hashed. */
static inline uint64_t poly_suffix(const cuts *c, size_t k, size_t n) {
    uint64_t before = poly_multiply(c->prefix[k], c->power[n - k]);
    return c->prefix[n] >= before ? c->prefix[n] - before : c->prefix[n] + POLY_PRIME - before;
}

static void cuts_free(cuts *c) {
    bpe_mem_free(c->slots);
    bpe_mem_free(c->filter);
    bpe_mem_free(c->prefix);
    bpe_mem_free(c->power);
    bpe_mem_free(c->candidates);
    bpe_mem_free(c->pairs);
}

static inline bool holds(const cuts *c, const poly_slot *slot, const uint8_t *p) {
    size_t n;
    return memcmp(bpe_intern_bytes(c->list->strings, slot->index, &n), p, slot->length) == 0;
}

/* The slot of the token with this hash and length, or a free one. */
static inline poly_slot *probe_poly(const cuts *c, uint64_t mixed, uint64_t hash, size_t n,
                                    const uint8_t *p) {
    size_t mask = ((size_t)1 << c->bits) - 1;
    size_t i = (size_t)mixed & mask;
    for (;; i = (i + 1) & mask) {
        poly_slot *slot = &c->slots[i];
        if (slot->length == 0)
            return slot;
        if (slot->hash == hash && slot->length == n && (!c->collisions || holds(c, slot, p)))
            return slot;
    }
}

static inline bool may_be_token(const cuts *c, uint64_t mixed) {
    size_t bit = (size_t)(mixed >> (64 - FILTER_BITS));
    return c->filter[bit >> 6] >> (bit & 63) & 1;
}

static void enter_token(cuts *c, uint32_t index) {
    size_t n;
    const uint8_t *p = bpe_intern_bytes(c->list->strings, index, &n);
    uint64_t hash = 0;
    for (size_t k = 0; k < n; k++)
        hash = poly_next(c, hash, p[k]);
    uint64_t mixed = bpe_mix64(hash);
    poly_slot *slot = probe_poly(c, mixed, hash, n, p);
    if (slot->length != 0) {
        c->collisions = true;
        slot = probe_poly(c, mixed, hash, n, p);
    }
    *slot = (poly_slot){hash, index, (uint32_t)n};
    size_t bit = (size_t)(mixed >> (64 - FILTER_BITS));
    c->filter[bit >> 6] |= (uint64_t)1 << (bit & 63);
}

static bool cuts_init(cuts *c, const bpe_ranked_strings *list) {
    size_t longest = 0;
    for (size_t i = 0; i < list->n; i++) {
        size_t n;
        bpe_intern_bytes(list->strings, i, &n);
        if (n > longest)
            longest = n;
    }
    c->list = list;
    c->bits = 4;
    while ((size_t)1 << c->bits < 2 * list->n)
        c->bits++;
    c->slots = bpe_mem_zeroed((size_t)1 << c->bits, sizeof *c->slots);
    c->filter = bpe_mem_zeroed(((size_t)1 << FILTER_BITS) / 64, sizeof *c->filter);
    c->prefix = bpe_mem_array(longest + 1, sizeof *c->prefix);
    c->power = bpe_mem_array(longest + 2, sizeof *c->power);
    if (!c->slots || !c->filter || !c->prefix || !c->power)
        return false;
    c->power[0] = 1;
    c->power[1] = 256 + bpe_seed(c->power) % (POLY_PRIME - 256);
    for (size_t k = 2; k <= longest; k++)
        c->power[k] = poly_multiply(c->power[k - 1], c->power[1]);
    for (size_t i = 0; i < list->n; i++)
        enter_token(c, (uint32_t)i);
    return true;
}

/* Note the cuts of a token whose halves both may be tokens, behind the n_candidates already there,
 * and ask for the slots that will tell. False when out of memory. */
static bool find_candidates(cuts *c, size_t index, size_t *n_candidates) {
    size_t n;
    const uint8_t *p = bpe_intern_bytes(c->list->strings, index, &n);
    if (!bpe_mem_grow((void **)&c->candidates, &c->candidates_cap, *n_candidates + n,
                      sizeof *c->candidates))
        return false;
    size_t mask = ((size_t)1 << c->bits) - 1;
    c->prefix[0] = 0;
    for (size_t k = 0; k < n; k++)
        c->prefix[k + 1] = poly_next(c, c->prefix[k], p[k]);
    for (size_t k = 1; k < n; k++) {
        candidate x = {.index = index, .at = k, .left_hash = c->prefix[k]};
        x.left_mixed = bpe_mix64(x.left_hash);
        if (!may_be_token(c, x.left_mixed))
            continue;
        x.right_hash = poly_suffix(c, k, n);
        x.right_mixed = bpe_mix64(x.right_hash);
        if (!may_be_token(c, x.right_mixed))
            continue;
        bpe_prefetch(&c->slots[(size_t)x.left_mixed & mask]);
        bpe_prefetch(&c->slots[(size_t)x.right_mixed & mask]);
        c->candidates[(*n_candidates)++] = x;
    }
    return true;
}

static inline uint32_t id_of(const bpe_ranked_strings *list, uint32_t index) {
    return list->ids ? list->ids[index] : index;
}

static inline uint32_t rank_of(const bpe_ranked_strings *list, uint32_t index) {
    return list->ranks ? list->ranks[index] : index;
}

/* Whether both halves of a candidate are tokens; the pair of their ids in *key. */
static bool is_pair(const cuts *c, const candidate *x, uint64_t *key) {
    size_t n;
    const uint8_t *p = bpe_intern_bytes(c->list->strings, x->index, &n);
    const poly_slot *left = probe_poly(c, x->left_mixed, x->left_hash, x->at, p);
    if (left->length == 0)
        return false;
    const poly_slot *right = probe_poly(c, x->right_mixed, x->right_hash, n - x->at, p + x->at);
    if (right->length == 0 || !holds(c, left, p) || !holds(c, right, p + x->at))
        return false;
    *key = bpe_pair_key(id_of(c->list, left->index), id_of(c->list, right->index));
    return true;
}

/* Add the pairs of tokens [first, last). Work goes in three passes over them, each asking for the
 * memory that the next one reads: one token at a time would wait for every look-up. */
static bpe_status add_cuts(bpe_rules *rules, cuts *c, size_t first, size_t last, bpe_error *err) {
    size_t n_candidates = 0;
    for (size_t i = first; i < last; i++) {
        if (rank_of(c->list, (uint32_t)i) == BPE_NO_RANK)
            continue;
        if (!find_candidates(c, i, &n_candidates))
            return bpe_fail(err, BPE_ERR_NOMEM, i);
    }
    if (!bpe_mem_grow((void **)&c->pairs, &c->pairs_cap, n_candidates, sizeof *c->pairs))
        return bpe_fail(err, BPE_ERR_NOMEM, first);
    size_t n_pairs = 0;
    for (size_t i = 0; i < n_candidates; i++) {
        found_pair x = {0, (uint32_t)c->candidates[i].index};
        if (!is_pair(c, &c->candidates[i], &x.key))
            continue;
        bpe_prefetch(
            &rules->pairs.slots[bpe_pair_slot(x.key, rules->pairs.seed, rules->pairs.bits)]);
        c->pairs[n_pairs++] = x;
    }
    for (size_t i = 0; i < n_pairs; i++) {
        found_pair x = c->pairs[i];
        if (rules->pairs.n >= c->list->max_pairs)
            return bpe_fail(err, BPE_ERR_LIMIT, x.index);
        if (add_pair(rules, (uint32_t)(x.key >> 32), (uint32_t)x.key, rank_of(c->list, x.index),
                     id_of(c->list, x.index)) != BPE_OK)
            return bpe_fail(err, BPE_ERR_NOMEM, x.index);
    }
    return BPE_OK;
}

/* How many tokens' cuts are worked on at once. */
#define GROUP 16

bpe_status bpe_rules_from_strings(bpe_rules *rules, const bpe_ranked_strings *list,
                                  bpe_error *err) {
    cuts c = {0};
    bpe_status status = BPE_OK;
    if (!bpe_pair_map_init(&rules->pairs, 2 * list->n) || !cuts_init(&c, list))
        status = bpe_fail(err, BPE_ERR_NOMEM, 0);
    for (size_t i = 0; status == BPE_OK && i < list->n; i += GROUP)
        status = add_cuts(rules, &c, i, i + GROUP < list->n ? i + GROUP : list->n, err);
    cuts_free(&c);
    return status;
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
