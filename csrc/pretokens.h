/*
 * Pretokens: pretokens -> ids. The order of work for each: the cache, the whole-pretoken rule, the
 * merge rules.
 *
 * What the cache knows goes out at once. What it does not know leaves a gap of an id per byte, and
 * is merged together with others of its kind later; then the gaps are closed. So ids are written
 * where they belong but for a short move, and a merge never waits alone.
 */
#ifndef BPE_PRETOKENS_H
#define BPE_PRETOKENS_H

#include "workspace.h"

/* With at least this many gaps they are filled: enough for all lanes of merge_many to be busy
 * nearly all the time. */
#define BPE_ENOUGH_MISSED 64
#define BPE_MAX_MISSED (BPE_ENOUGH_MISSED + BPE_CHUNK)

/* Where the ids of a call go. */
typedef struct bpe_sink {
    uint32_t *ids; /* NULL: count only */
    size_t cap;
    size_t n;
} bpe_sink;

/* A pretoken that the cache did not know, and its gap. `at` counts all ids since the gaps were
 * closed last: text that repeats itself opens none for as long as it goes on. */
typedef struct bpe_missed {
    bpe_cache_key key;
    const uint8_t *p;
    size_t at;        /* where the gap begins */
    uint32_t n;       /* bytes, and the length of the gap */
    uint32_t n_ids;   /* how many ids it turned out to have */
    uint32_t same_as; /* an earlier one of the same bytes; or itself */
} bpe_missed;

typedef struct bpe_batch {
    const bpe_model *model;
    bpe_workspace *w;
    const uint8_t *data; /* readable up to data + n */
    size_t n;
    bpe_sink *out;
    bpe_error *err;
    uint32_t *ids; /* what is not yet counted in the sink: in its place there, or in scratch */
    size_t cap;
    size_t n_ids;
    size_t n_missed;
    bpe_cache_key keys[BPE_CHUNK];
    bpe_cache_entry *buckets[BPE_CHUNK];
    bpe_missed missed[BPE_MAX_MISSED];
    bpe_merge_job jobs[BPE_MAX_MISSED];
} bpe_batch;

/* Begin to encode pretokens of data[0, n); whatever it gives goes to `out`. */
void bpe_batch_begin(bpe_batch *batch, const bpe_model *model, bpe_workspace *workspace,
                     const uint8_t *data, size_t n, bpe_sink *out, bpe_error *err);

/* Add pretokens side by side, from `start` on; at most BPE_CHUNK. Statuses as bpe_encode. */
bpe_status bpe_batch_add(bpe_batch *batch, size_t start, const size_t *ends, size_t n);

/* All ids are in the sink afterwards. More may be added. */
bpe_status bpe_batch_finish(bpe_batch *batch);

#endif
