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
 * time from the hashes of the prefixes; equal hashes are confirmed by comparing the bytes.
 */
#define POLY 0x9E3779B97F4A7C55u

#define FILTER_BITS                                                                                \
    20 /* a bitmap that stays in the second-level cache answers most "no such token" */

typedef struct poly_slot {
    uint64_t hash;
    uint32_t index; /* of the token, + 1; 0: free */
} poly_slot;

typedef struct cuts {
    const bpe_vocab *vocab;
    poly_slot *slots;
    unsigned bits;
    uint64_t *filter;
    uint64_t *prefix; /* prefix[k] = hash of the first k bytes of the token at hand */
    uint64_t *power;  /* power[k] = POLY^k */
} cuts;

static inline uint64_t poly_next(uint64_t hash, uint8_t byte) { return hash * POLY + byte + 1; }

static void cuts_free(cuts *c) {
    bpe_mem_free(c->slots);
    bpe_mem_free(c->filter);
    bpe_mem_free(c->prefix);
    bpe_mem_free(c->power);
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
    if (!c->slots || !c->filter || !c->prefix || !c->power)
        return false;
    c->power[0] = 1;
    for (size_t k = 1; k <= longest; k++)
        c->power[k] = c->power[k - 1] * POLY;
    size_t mask = ((size_t)1 << c->bits) - 1;
    for (size_t i = 0; i < vocab->n_ordinary; i++) {
        size_t n;
        const uint8_t *p = bpe_intern_bytes(&vocab->strings, i, &n);
        uint64_t hash = 0;
        for (size_t k = 0; k < n; k++)
            hash = poly_next(hash, p[k]);
        uint64_t mixed = bpe_mix64(hash);
        size_t slot = (size_t)mixed & mask;
        while (c->slots[slot].index != 0)
            slot = (slot + 1) & mask;
        c->slots[slot] = (poly_slot){hash, (uint32_t)i + 1};
        size_t bit = (size_t)(mixed >> (64 - FILTER_BITS));
        c->filter[bit >> 6] |= (uint64_t)1 << (bit & 63);
    }
    return true;
}

/* The index of the token with these bytes and this hash, or BPE_NO_ID. */
static uint32_t find_by_poly(const cuts *c, uint64_t hash, const uint8_t *p, size_t n) {
    uint64_t mixed = bpe_mix64(hash);
    size_t bit = (size_t)(mixed >> (64 - FILTER_BITS));
    if (!(c->filter[bit >> 6] >> (bit & 63) & 1))
        return BPE_NO_ID;
    size_t mask = ((size_t)1 << c->bits) - 1;
    for (size_t slot = (size_t)mixed & mask; c->slots[slot].index != 0; slot = (slot + 1) & mask) {
        if (c->slots[slot].hash != hash)
            continue;
        size_t length;
        const uint8_t *bytes =
            bpe_intern_bytes(&c->vocab->strings, c->slots[slot].index - 1, &length);
        if (length == n && memcmp(bytes, p, n) == 0)
            return c->slots[slot].index - 1;
    }
    return BPE_NO_ID;
}

static bpe_status add_cuts(bpe_rules *rules, cuts *c, size_t index, bpe_error *err) {
    size_t n;
    const uint8_t *p = bpe_intern_bytes(&c->vocab->strings, index, &n);
    c->prefix[0] = 0;
    for (size_t k = 0; k < n; k++)
        c->prefix[k + 1] = poly_next(c->prefix[k], p[k]);
    for (size_t k = 1; k < n; k++) {
        uint32_t left = find_by_poly(c, c->prefix[k], p, k);
        if (left == BPE_NO_ID)
            continue;
        uint64_t suffix = c->prefix[n] - c->prefix[k] * c->power[n - k];
        uint32_t right = find_by_poly(c, suffix, p + k, n - k);
        if (right == BPE_NO_ID)
            continue;
        if (rules->pairs.n >= BPE_MAX_PAIRS)
            return bpe_fail(err, BPE_ERR_LIMIT, index);
        const uint32_t *ids = c->vocab->ids;
        if (add_pair(rules, ids[left], ids[right], (uint32_t)index, ids[index]) != BPE_OK) {
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
    /* rank[i], made[i]: what the pair (ids[i], ids[i + 1]) would become */
    uint32_t rank[BPE_SHORT_BYTES];
    uint32_t made[BPE_SHORT_BYTES];
    for (size_t i = 0; i + 1 < n; i++)
        look_up(rules, ids[i], ids[i + 1], limit, &rank[i], &made[i]);
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++) {
            if (rank[i] < rank[best])
                best = i;
        }
        if (rank[best] == BPE_NO_RANK)
            break;
        ids[best] = made[best];
        n--;
        for (size_t i = best + 1; i < n; i++)
            ids[i] = ids[i + 1];
        for (size_t i = best; i + 1 < n; i++) {
            rank[i] = rank[i + 1];
            made[i] = made[i + 1];
        }
        if (best + 1 < n)
            look_up(rules, ids[best], ids[best + 1], limit, &rank[best], &made[best]);
        if (best > 0)
            look_up(rules, ids[best - 1], ids[best], limit, &rank[best - 1], &made[best - 1]);
    }
    return n;
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
