/*
 * Vocab: which id stands for which bytes, and which bytes for which id.
 *
 * Invariants: strings 0 .. n_ordinary - 1 of `strings` are the ordinary tokens in ascending id, the
 * rest are special and added tokens, which lookups by bytes never find. by_id has n_vocab entries;
 * length 0 means that no token has this id (no token is empty).
 */
#ifndef BPE_VOCAB_H
#define BPE_VOCAB_H

#include "bpe.h"
#include "maps.h"

typedef struct bpe_token_span {
    uint32_t start; /* in strings.data */
    uint32_t length;
} bpe_token_span;

typedef struct bpe_vocab {
    bpe_intern strings;
    uint32_t *ids; /* of string i */
    size_t n_ordinary;
    bpe_token_span *by_id;
    uint32_t n_vocab;
    uint32_t byte_ids[256]; /* BPE_NO_ID where a byte is no token */
} bpe_vocab;

/* Fill a zeroed vocab from a specification; statuses as bpe_model_new. On failure free it all the
 * same. */
bpe_status bpe_vocab_init(bpe_vocab *vocab, const bpe_model_spec *spec, bpe_error *err);
void bpe_vocab_free(bpe_vocab *vocab);

static inline const uint8_t *bpe_vocab_bytes(const bpe_vocab *vocab, uint32_t id, size_t *n) {
    if (id >= vocab->n_vocab || vocab->by_id[id].length == 0)
        return NULL;
    *n = vocab->by_id[id].length;
    return vocab->strings.data + vocab->by_id[id].start;
}

/* The id of the ordinary token with these bytes, or BPE_NO_ID. */
static inline uint32_t bpe_vocab_find(const bpe_vocab *vocab, const uint8_t *p, size_t n) {
    uint32_t i = bpe_intern_find(&vocab->strings, p, n, bpe_intern_hash(&vocab->strings, p, n));
    return i == BPE_NO_ID ? BPE_NO_ID : vocab->ids[i];
}

/* BPE_ERR_MODEL about entry `index` of a part of the specification (BPE_PART_*). */
bpe_status bpe_fail_part(bpe_error *err, uint32_t part, size_t index);

#endif
