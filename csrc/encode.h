/*
 * Encode: text -> ids. The order of work for a pretoken: the cache, the whole-pretoken rule, the
 * merge rules.
 */
#ifndef BPE_ENCODE_H
#define BPE_ENCODE_H

#include "cache.h"
#include "match.h"
#include "merge.h"
#include "model.h"

struct bpe_workspace {
    const bpe_model *model;
    bpe_cache cache;
    bpe_merge_scratch merge;
    bpe_hits hits;
    uint32_t *ids; /* where a pretoken is merged when the caller only counts */
    size_t ids_cap;
    uint32_t path; /* BPE_PATH_* */
    bool use_cache;
};

#endif
