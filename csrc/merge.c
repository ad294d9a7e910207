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
 * length. A polynomial hash (of base POLY, modulo 2^64) gives every substring's hash in constant
 * time from the hashes of the prefixes. Bytes are compared once both halves of a cut look like
 * tokens; before that, tokens of equal hash and length are told apart only if there are any.
 */
#define POLY 0x9E3779B97F4A7C55u

#define FILTER_BITS 20 /* a bitmap in the second-level cache answers most "no such token" */

typedef struct poly_slot {
    uint64_t hash;
    uint32_t index;  /* of the token */
    uint32_t length; /* 0: the slot is free */
} poly_slot;

/* A cut of a token at byte `at`. */
typedef struct candidate {
    size_t at;
    uint64_t right_hash;
    uint64_t left_mixed;
    uint64_t right_mixed;
} candidate;

typedef struct cuts {
    const bpe_vocab *vocab;
    poly_slot *slots;
    unsigned bits;
    bool collisions; /* two tokens share hash and length */
    uint64_t *filter;
    uint64_t *prefix; /* prefix[k] = hash of the first k bytes of the token at hand */
    uint64_t *power;  /* power[k] = POLY^k */
    candidate *candidates;
} cuts;

static inline uint64_t poly_next(uint64_t hash, uint8_t byte) { return hash * POLY + byte + 1; }

static void cuts_free(cuts *c) {
    bpe_mem_free(c->slots);
    bpe_mem_free(c->filter);
    bpe_mem_free(c->prefix);
    bpe_mem_free(c->power);
    bpe_mem_free(c->candidates);
}

static inline bool holds(const cuts *c, const poly_slot *slot, const uint8_t *p) {
    size_t n;
    return memcmp(bpe_intern_bytes(&c->vocab->strings, slot->index, &n), p, slot->length) == 0;
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
    const uint8_t *p = bpe_intern_bytes(&c->vocab->strings, index, &n);
    uint64_t hash = 0;
    for (size_t k = 0; k < n; k++)
        hash = poly_next(hash, p[k]);
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

static bool cuts_init(cuts *c, const bpe_vocab *vocab) {
    size_t longest = 0;
    for (size_t i = 0; i < vocab->n_ordinary; i++) {
        size_t n;
        bpe_intern_bytes(&vocab->strings, i, &n);
        if (n > longest)
            longest = n;
    }
    c->vocab = vocab;
    c->bits = 4;
    while ((size_t)1 << c->bits < 2 * vocab->n_ordinary)
        c->bits++;
    c->slots = bpe_mem_zeroed((size_t)1 << c->bits, sizeof *c->slots);
    c->filter = bpe_mem_zeroed(((size_t)1 << FILTER_BITS) / 64, sizeof *c->filter);
    c->prefix = bpe_mem_array(longest + 1, sizeof *c->prefix);
    c->power = bpe_mem_array(longest + 1, sizeof *c->power);
    c->candidates = bpe_mem_array(longest + 1, sizeof *c->candidates);
    if (!c->slots || !c->filter || !c->prefix || !c->power || !c->candidates)
        return false;
    c->power[0] = 1;
    for (size_t k = 1; k <= longest; k++)
        c->power[k] = c->power[k - 1] * POLY;
    for (size_t i = 0; i < vocab->n_ordinary; i++)
        enter_token(c, (uint32_t)i);
    return true;
}

/* Note the cuts of a token whose halves both may be tokens, and ask for the slots that will tell.
 * Returns how many. */
static size_t find_candidates(cuts *c, const uint8_t *p, size_t n) {
    size_t mask = ((size_t)1 << c->bits) - 1;
    size_t n_candidates = 0;
    c->prefix[0] = 0;
    for (size_t k = 0; k < n; k++)
        c->prefix[k + 1] = poly_next(c->prefix[k], p[k]);
    for (size_t k = 1; k < n; k++) {
        candidate x = {k, c->prefix[n] - c->prefix[k] * c->power[n - k], bpe_mix64(c->prefix[k]),
                       0};
        if (!may_be_token(c, x.left_mixed))
            continue;
        x.right_mixed = bpe_mix64(x.right_hash);
        if (!may_be_token(c, x.right_mixed))
            continue;
        bpe_prefetch(&c->slots[(size_t)x.left_mixed & mask]);
        bpe_prefetch(&c->slots[(size_t)x.right_mixed & mask]);
        c->candidates[n_candidates++] = x;
    }
    return n_candidates;
}

static bpe_status add_cuts(bpe_rules *rules, cuts *c, size_t index, bpe_error *err) {
    size_t n;
    const uint8_t *p = bpe_intern_bytes(&c->vocab->strings, index, &n);
    size_t n_candidates = find_candidates(c, p, n);
    for (size_t i = 0; i < n_candidates; i++) {
        const candidate *x = &c->candidates[i];
        const poly_slot *left = probe_poly(c, x->left_mixed, c->prefix[x->at], x->at, p);
        if (left->length == 0)
            continue;
        const poly_slot *right = probe_poly(c, x->right_mixed, x->right_hash, n - x->at, p + x->at);
        if (right->length == 0 || !holds(c, left, p) || !holds(c, right, p + x->at))
            continue;
        if (rules->pairs.n >= BPE_MAX_PAIRS)
            return bpe_fail(err, BPE_ERR_LIMIT, index);
        const uint32_t *ids = c->vocab->ids;
        if (add_pair(rules, ids[left->index], ids[right->index], (uint32_t)index, ids[index]) !=
            BPE_OK) {
            return bpe_fail(err, BPE_ERR_NOMEM, index);
        }
    }
    return BPE_OK;
}

bpe_status bpe_rules_from_ranks(bpe_rules *rules, const bpe_vocab *vocab, bpe_error *err) {
    cuts c = {0};
    bpe_status status = BPE_OK;
    if (!bpe_pair_map_init(&rules->pairs, 2 * vocab->n_ordinary) || !cuts_init(&c, vocab)) {
        status = bpe_fail(err, BPE_ERR_NOMEM, 0);
    }
    for (size_t i = 0; status == BPE_OK && i < vocab->n_ordinary; i++)
        status = add_cuts(rules, &c, i, err);
    cuts_free(&c);
    return status;
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
    bpe_mem_free(scratch->heap);
    *scratch = (bpe_merge_scratch){0};
}

/* The heap holds rank << 32 | position, so its order is "lowest rank, then leftmost". Entries are
 * left behind when a pair changes; one is good if the part at its position still has its rank. */
static void sift_down(uint64_t *heap, size_t n, size_t i) {
    uint64_t key = heap[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n)
            break;
        if (child + 1 < n && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= key)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = key;
}

static void push(uint64_t *heap, size_t *n, uint32_t rank, uint32_t position) {
    if (rank == BPE_NO_RANK)
        return;
    uint64_t key = (uint64_t)rank << 32 | position;
    size_t i = (*n)++;
    while (i > 0 && heap[(i - 1) / 2] > key) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = key;
}

static uint64_t pop(uint64_t *heap, size_t *n) {
    uint64_t top = heap[0];
    heap[0] = heap[--*n];
    if (*n > 0)
        sift_down(heap, *n, 0);
    return top;
}

bpe_status bpe_merge_long(const bpe_rules *rules, bpe_merge_scratch *scratch, uint32_t *ids,
                          size_t n, uint32_t limit, size_t *n_left) {
    /* At most n pairs at the start, and two new ones for each of at most n merges. */
    if (!bpe_mem_grow((void **)&scratch->parts, &scratch->parts_cap, n, sizeof *scratch->parts) ||
        !bpe_mem_grow((void **)&scratch->heap, &scratch->heap_cap, 3 * n, sizeof *scratch->heap)) {
        return BPE_ERR_NOMEM;
    }
    part *parts = scratch->parts;
    uint64_t *heap = scratch->heap;
    size_t n_heap = 0;
    for (size_t i = 0; i < n; i++) {
        part *x = &parts[i];
        *x = (part){ids[i], i > 0 ? (uint32_t)i - 1 : NO_PART,
                    i + 1 < n ? (uint32_t)i + 1 : NO_PART, BPE_NO_RANK, 0};
        if (i + 1 < n)
            look_up(rules, ids[i], ids[i + 1], limit, &x->rank, &x->made);
        if (x->rank != BPE_NO_RANK)
            heap[n_heap++] = (uint64_t)x->rank << 32 | i;
    }
    for (size_t i = n_heap / 2; i-- > 0;)
        sift_down(heap, n_heap, i);
    while (n_heap > 0) {
        uint64_t top = pop(heap, &n_heap);
        uint32_t at = (uint32_t)top;
        part *x = &parts[at];
        if (x->rank != top >> 32)
            continue;
        part *gone = &parts[x->next];
        x->id = x->made;
        x->next = gone->next;
        gone->rank = BPE_NO_RANK;
        x->rank = BPE_NO_RANK;
        if (x->next != NO_PART) {
            parts[x->next].prev = at;
            look_up(rules, x->id, parts[x->next].id, limit, &x->rank, &x->made);
            push(heap, &n_heap, x->rank, at);
        }
        if (x->prev != NO_PART) {
            part *before = &parts[x->prev];
            look_up(rules, before->id, x->id, limit, &before->rank, &before->made);
            push(heap, &n_heap, before->rank, x->prev);
        }
    }
    size_t left = 0;
    for (uint32_t i = 0; i != NO_PART; i = parts[i].next)
        ids[left++] = parts[i].id;
    *n_left = left;
    return BPE_OK;
}
