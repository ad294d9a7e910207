/*
 * Pairs of the trainer: which ones may be merged, which ones are in its table, in what order they
 * come, and how the table is built. Why rare pairs are not in it is told at the top of train.c.
 */
#ifndef BPE_TRAIN_PAIRS_H
#define BPE_TRAIN_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "train.h"

/* The length of the token that merging a pair would make. */
static inline size_t bpe_trainer_merged_length(const bpe_trainer *t, uint64_t key) {
    return (size_t)t->lengths[key >> 32] + t->lengths[(uint32_t)key];
}

/* Whether merging a pair would make a token of these many bytes that the initial model has. */
bool bpe_trainer_knows(const bpe_trainer *t, uint64_t key, size_t length);

/* Whether a pair may be merged, if it is frequent enough. */
static inline bool bpe_trainer_wants(const bpe_trainer *t, uint64_t key) {
    if (!t->has_unwanted)
        return true;
    if (t->joins)
        return bpe_joins_allow(t->joins, (uint32_t)(key >> 32), (uint32_t)key);
    size_t length = bpe_trainer_merged_length(t, key);
    return length <= t->longest && !bpe_trainer_knows(t, key, length);
}

/* Whether a pair belongs in the table. */
static inline bool bpe_trainer_is_candidate(const bpe_trainer *t, uint64_t key, uint64_t count) {
    return count >= t->threshold && bpe_trainer_wants(t, key);
}

/* What the first-met rule goes by: the first position where the pair still is. Amortised O(1). */
uint32_t bpe_trainer_first_position(bpe_trainer *t, bpe_pair_record *record);

/* What decides between pairs with equal counts: the smaller comes first. */
static inline uint64_t bpe_trainer_tie(bpe_trainer *t, bpe_pair_record *record) {
    if (t->joins)
        return bpe_trainer_merged_length(t, record->key);
    return t->ties == BPE_TIES_FIRST ? bpe_trainer_first_position(t, record) : record->key;
}

/* Offer a pair of the table for merging; false when out of memory. */
static inline bool bpe_trainer_push(bpe_trainer *t, bpe_pair_record *record) {
    bpe_pair_job job = {record->count, bpe_trainer_tie(t, record), record->key};
    return bpe_pair_heap_push(&t->heap, job);
}

/* Count all pairs as the words now stand, and list the positions of the frequent ones. BPE_OK or
 * BPE_ERR_NOMEM. */
bpe_status bpe_trainer_build_pairs(bpe_trainer *t);

#endif
