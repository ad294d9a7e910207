/*
 * Count key: what a pretoken is looked up by, 16 bytes.
 *
 * The last byte is the length of a short pretoken, whose bytes come first and are followed by
 * zeros. For a long one it is BPE_COUNT_LONG: then the first 8 bytes are the hash, and the next 4
 * its number in a list of byte strings.
 */
#ifndef BPE_COUNT_KEY_H
#define BPE_COUNT_KEY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "maps.h"

#define BPE_COUNT_SHORT 15 /* bytes that a key holds */
#define BPE_COUNT_LONG 0xFF

typedef struct bpe_count_key {
    uint64_t word[2];
} bpe_count_key;

static inline uint8_t bpe_count_key_mark(const bpe_count_key *key) {
    return ((const uint8_t *)key)[15];
}

static inline bool bpe_count_key_is_long(const bpe_count_key *key) {
    return bpe_count_key_mark(key) == BPE_COUNT_LONG;
}

static inline bpe_count_key bpe_count_key_long(uint64_t hash, uint32_t number) {
    bpe_count_key key = {{hash, 0}};
    uint8_t *tail = (uint8_t *)&key.word[1];
    memcpy(tail, &number, 4);
    tail[7] = BPE_COUNT_LONG;
    return key;
}

static inline uint32_t bpe_count_key_number(const bpe_count_key *key) {
    uint32_t number;
    memcpy(&number, &key->word[1], 4);
    return number;
}

/* The hash of a key, in which the number of a long pretoken plays no part. In a table of 2^bits
 * slots the search for the key begins at the upper `bits` bits of it. */
static inline uint64_t bpe_count_key_hash(const bpe_count_key *key, uint64_t seed) {
    uint64_t second = bpe_count_key_is_long(key) ? BPE_COUNT_LONG : key->word[1];
    uint64_t first = (key->word[0] ^ seed) * 0x9E3779B97F4A7C15u;
    return bpe_mix64((first ^ first >> 32) ^ second);
}

static inline size_t bpe_count_key_home(const bpe_count_key *key, uint64_t seed, unsigned bits) {
    return (size_t)(bpe_count_key_hash(key, seed) >> (64 - bits));
}

#endif
