/*
 * Model: a vocabulary and its merge rules; immutable once built.
 */
#ifndef BPE_MODEL_H
#define BPE_MODEL_H

#include "merge.h"
#include "vocab.h"

struct bpe_model {
    bpe_vocab vocab;
    bpe_rules rules;
    uint32_t semantics;
    uint32_t whole_pretoken;
};

#endif
