/*
 * Pretokens: pretokens -> ids. The order of work for each: the cache, the whole-pretoken rule, the
 * merge rules. What the cache does not know leaves a gap of an id per byte; see gaps.h.
 */
#ifndef BPE_PRETOKENS_H
#define BPE_PRETOKENS_H

#include "gaps.h"
#include "workspace.h"

_Static_assert(BPE_CHUNK <= BPE_MAX_KEYS, "a chunk is looked up at a time");

/* Where the ids of a call go. */
typedef struct bpe_sink {
    uint32_t *ids; /* NULL: count only */
    size_t cap;
    size_t n;
} bpe_sink;

typedef struct bpe_batch {
    const bpe_model *model;
    bpe_workspace *w;
    const uint8_t *data; /* readable up to data + n */
    size_t n;
    bpe_sink *out;
    bpe_error *err;
    size_t cap;
    size_t n_ids;
    bpe_gaps gaps; /* its ids are not yet counted in the sink: in their place there, or in scratch;
                      NULL: neither yet */
} bpe_batch;

/* Begin to encode pretokens of data[0, n); whatever it gives goes to `out`. */
void bpe_batch_begin(bpe_batch *batch, const bpe_model *model, bpe_workspace *workspace,
                     const uint8_t *data, size_t n, bpe_sink *out, bpe_error *err);

/* Add pretokens side by side, from `start` on; at most BPE_CHUNK. Statuses as bpe_encode;
 * after any but BPE_OK the batch is of no use. */
bpe_status bpe_batch_add(bpe_batch *batch, size_t start, const size_t *ends, size_t n);

/* All ids are in the sink afterwards. More may be added. */
bpe_status bpe_batch_finish(bpe_batch *batch);

#endif
