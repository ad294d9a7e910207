/*
 * Gaps: what a batch of pretokens, or of parts of text, is looked up by, and what is left open.
 *
 * What the cache knows goes out at once. What it does not know leaves a gap of so many ids per byte
 * as there may be at most, and is merged together with others of its kind later; then the gaps are
 * closed. So ids are written where they belong but for a short move, and a merge never waits alone.
 *
 * Begin; then for each batch: keys and buckets, bpe_gaps_put for what is not in an entry, a job for
 * each gap, bpe_gaps_merge, bpe_gaps_close.
 */
#ifndef BPE_GAPS_H
#define BPE_GAPS_H

#include "cache.h"
#include "merge_many.h"

/* With at least this many gaps they are filled: enough for all lanes of merge_many to be busy
 * nearly all the time. */
#define BPE_ENOUGH_GAPS 64
#define BPE_MAX_KEYS 256 /* so many are looked up at a time, at most */
#define BPE_MAX_GAPS (BPE_ENOUGH_GAPS + BPE_MAX_KEYS)

/* What stays from one call to the next. */
typedef struct bpe_kept {
    bpe_cache cache;
    bpe_cache_entry none[2]; /* a bucket that is always empty */
    uint64_t n_batches;      /* finished or given up */
    bpe_merge_scratch merge;
    uint32_t path;  /* BPE_PATH_*, or what has the same number in BPE_PIECES_PATH_* */
    bool use_cache; /* otherwise all is merged */
} bpe_kept;

/* What the cache did not know, and its gap. `at` counts all ids since the gaps were closed last:
 * text that repeats itself opens none for as long as it goes on. */
typedef struct bpe_missed {
    bpe_cache_key key;
    const uint8_t *p;
    size_t at;        /* where in the ids the gap begins */
    uint32_t n;       /* bytes */
    uint32_t same_as; /* an earlier one of the same bytes; or itself */
} bpe_missed;

typedef struct bpe_gaps {
    bpe_kept *kept;
    const bpe_rules *rules;
    uint32_t *ids;   /* of the batch, with gaps; whoever moves them says so here */
    size_t per_byte; /* ids that a gap has for each byte */
    size_t n;        /* gaps that are open */
    bpe_cache known; /* where to look: the cache that is kept, or one of an empty bucket */
    bpe_cache_key keys[BPE_MAX_KEYS];
    bpe_cache_entry *buckets[BPE_MAX_KEYS];
    bpe_missed missed[BPE_MAX_GAPS];
    bpe_merge_job jobs[BPE_MAX_GAPS]; /* for each gap: in the end its ids, and how many */
} bpe_gaps;

/* No gap is open, and marks of batches that were given up are not valid any more. */
void bpe_gaps_begin(bpe_gaps *gaps, bpe_kept *kept, const bpe_rules *rules, size_t per_byte);

/* The key of p[0, n), n > 0; what is too long for the cache has one that nothing in it has. False
 * for what is too long for a gap. */
static inline bool bpe_gaps_key(const uint8_t *p, size_t n, const uint8_t *text_end,
                                bpe_cache_key *key) {
    if (n <= BPE_CACHE_KEY_BYTES) /* most */
        *key = bpe_cache_key_of(p, n, text_end);
    else if (n <= BPE_CACHE_BYTES)
        *key = bpe_cache_long_key(p, n);
    else if (n <= BPE_MANY_BYTES)
        *key = (bpe_cache_key){UINT64_MAX, UINT64_MAX};
    else
        return false;
    return true;
}

/* Put the ids of p[0, n) to `to`, if the entry of keys[i] says where they are; otherwise leave a
 * gap there, and give the cache a mark in place of the ids, by which the same bytes are known when
 * they come again before these are there. `entry` may be NULL, and does not have the ids itself.
 * Returns how many ids that takes. */
size_t bpe_gaps_put(bpe_gaps *gaps, size_t i, const bpe_cache_entry *entry, const uint8_t *p,
                    size_t n, uint32_t *to);

/* Merge n > 0 symbols in place by themselves; see bpe_merge. */
bpe_status bpe_gaps_merge_one(const bpe_gaps *gaps, uint32_t *symbols, size_t n, size_t *n_left);

/* Do all jobs. BPE_OK, or BPE_ERR_NOMEM with *failed = the gap where it ended. */
bpe_status bpe_gaps_merge(bpe_gaps *gaps, size_t *failed);

/* The ids of all jobs are those of their gaps, but where a gap is the same as another. These get
 * theirs, the cache learns what was missed, and the gaps are closed. Returns how many of n_ids are
 * left. */
size_t bpe_gaps_close(bpe_gaps *gaps, size_t n_ids);

#endif
