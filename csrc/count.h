/*
 * Count: pretokens of a corpus, each with its frequency and the position where it first occurs.
 *
 * One open-addressing table of 32-byte entries. A pretoken of up to 15 bytes, nearly every one in
 * real text, is its own 16-byte key: adding it touches one cache line. A longer one is keyed by
 * its hash and its number in a list of byte strings. Pretokens are added in blocks: first all keys
 * of a block are made and their slots prefetched, then all are looked up, so that the cache misses
 * of a large table overlap.
 *
 * Invariants: at most 3/4 of the slots are taken; a slot is free when its count is 0; no two
 * entries stand for the same bytes; `total` is the sum of all counts and fits 64 bits, hence so
 * does every single count.
 */
#ifndef BPE_COUNT_H
#define BPE_COUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bpe.h"
#include "count_key.h"
#include "match.h"

#define BPE_COUNT_BLOCK 256

typedef struct bpe_count_entry {
    bpe_count_key key;
    uint64_t count;
    uint64_t first;
} bpe_count_entry;

struct bpe_counts {
    bpe_count_entry *slots; /* 2^bits of them */
    unsigned bits;
    uint64_t seed;
    size_t n;       /* entries */
    size_t most;    /* there may be no more */
    size_t n_bytes; /* of all distinct pretokens together */
    uint64_t total; /* of all counts */
    uint8_t *longs; /* the long pretokens: number i is longs[long_ends[i - 1], long_ends[i]) */
    size_t longs_cap;
    size_t *long_ends;
    size_t long_ends_cap;
    size_t n_longs;
    bpe_hits hits; /* scratch: special tokens found in the text at hand */
};

/* The fewest bits that n entries need: those of the table, or more. */
static inline unsigned bpe_counts_bits(const bpe_counts *counts, size_t n) {
    unsigned bits = counts->bits;
    while (4 * n > 3 * ((size_t)1 << bits))
        bits++;
    return bits;
}

/* Make room for `more` further entries; false when out of memory, the table unchanged. Entries
 * move. */
bool bpe_counts_reserve(bpe_counts *counts, size_t more);

static inline const uint8_t *bpe_count_long_bytes(const bpe_counts *counts, uint32_t number,
                                                  size_t *n) {
    size_t start = number ? counts->long_ends[number - 1] : 0;
    *n = counts->long_ends[number] - start;
    return counts->longs + start;
}

/* Whether an entry stands for p[0, n), whose key is `key`. */
static inline bool bpe_count_is(const bpe_counts *counts, const bpe_count_entry *entry,
                                const bpe_count_key *key, const uint8_t *p, size_t n) {
    if (entry->key.word[0] != key->word[0])
        return false;
    if (n <= BPE_COUNT_SHORT)
        return entry->key.word[1] == key->word[1];
    if (!bpe_count_key_is_long(&entry->key))
        return false;
    size_t length;
    const uint8_t *bytes = bpe_count_long_bytes(counts, bpe_count_key_number(&entry->key), &length);
    return length == n && memcmp(bytes, p, n) == 0;
}

/* A pretoken that somebody else has found, with what is to be added for it. */
typedef struct bpe_count_record {
    const uint8_t *p; /* n >= 1 bytes */
    size_t n;
    uint64_t count; /* 1 or more */
    uint64_t first;
} bpe_count_record;

/*
 * Add n <= BPE_COUNT_BLOCK records, whose bytes lie in front of `end`: what is between may be read.
 * Statuses as bpe_counts_add_frequencies; *added says how many were added before a failure.
 */
bpe_status bpe_counts_add_records(bpe_counts *counts, const bpe_count_record *records, size_t n,
                                  const uint8_t *end, size_t *added);

/* The bytes of an entry's pretoken; good until the table changes. */
const uint8_t *bpe_count_bytes(const bpe_counts *counts, const bpe_count_entry *entry, size_t *n);

/*
 * All entries in the order of their first positions, as an array of pointers into the table that
 * the caller frees with bpe_mem_free. NULL when out of memory. O(entries).
 */
const bpe_count_entry **bpe_counts_ordered(const bpe_counts *counts);

#endif
