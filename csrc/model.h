/*
 * Model: a vocabulary and its merge rules; immutable once built.
 */
#ifndef BPE_MODEL_H
#define BPE_MODEL_H

#include <stdbool.h>

#include "merge.h"
#include "vocab.h"

struct bpe_model {
    bpe_vocab vocab;
    bpe_rules rules;
    uint32_t semantics;
    uint32_t whole_pretoken;
    uint32_t symbols; /* BPE_SYMBOLS_* */
    uint32_t unknown;
    bool fuse_unknown;
    bool falls_back;
    uint32_t fallback_ids[256]; /* where falls_back is set */
    uint8_t suffix[BPE_MAX_SUFFIX];
    size_t suffix_size;
};

/*
 * Take a pretoken of n bytes apart into the ids of its symbols; at most n of them. Returns how
 * many.
 */
size_t bpe_model_symbols(const bpe_model *model, const uint8_t *p, size_t n, uint32_t *ids);

#endif
