/*
 * Workspace: what a running call needs and what it has learned: scratch, the cache, and a filter of
 * the vocabulary.
 */
#ifndef BPE_WORKSPACE_H
#define BPE_WORKSPACE_H

#include "gaps.h"
#include "match.h"
#include "model.h"

/* Pretokens are looked up this many at a time: enough to hide the way of their entries from
 * memory, few enough for the first-level cache. */
#define BPE_CHUNK 256

/* Scratch for what a chunk becomes: an id per byte and an entry's ids behind it. */
#define BPE_CHUNK_IDS (BPE_CHUNK * BPE_MANY_BYTES + BPE_CACHE_IDS)

/* A filter of 2^15 words, 256 KB. A token sets two bits of one word: with 100,000 of them, one in a
 * hundred of what is no token passes; with 200,000, one in thirty. */
#define BPE_FILTER_BITS 15

struct bpe_workspace {
    const bpe_model *model;
    bpe_kept kept;
    uint64_t *filter;    /* has the hash of each short token; NULL: none is taken whole */
    uint32_t *chunk_ids; /* where pretokens are encoded when the caller's buffer is near its end */
    bpe_hits hits;
    uint32_t *ids; /* where a long pretoken is merged when the caller only counts */
    size_t ids_cap;
};

/* The same as bpe_workspace_new without a cache, for pretokens that do not come again. */
bpe_status bpe_workspace_new_bare(const bpe_model *model, bpe_workspace **out);

/* The word of the filter for a key of this hash, and its bits in it. The hash is mixed once more:
 * its low bits are not made for use. */
static inline uint64_t *bpe_filter_word(const bpe_workspace *w, uint64_t hash, uint64_t *bits) {
    uint64_t h = (hash ^ hash >> 29) * 0xC2B2AE3D27D4EB4Fu;
    *bits = (uint64_t)1 << (h >> 37 & 63) | (uint64_t)1 << (h >> 43 & 63);
    return &w->filter[h >> (64 - BPE_FILTER_BITS)];
}

/* False only if no pretoken of this hash is a token to be taken whole. */
static inline bool bpe_may_be_token(const bpe_workspace *w, uint64_t hash) {
    if (!w->filter)
        return false;
    uint64_t bits;
    const uint64_t *word = bpe_filter_word(w, hash, &bits);
    return (*word & bits) == bits;
}

#endif
