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

#include <stdint.h>

#include "bpe.h"
#include "match.h"

#define BPE_COUNT_SHORT 15 /* bytes that a key holds */
#define BPE_COUNT_BLOCK 256

/*
 * The last byte of the key is the length of a short pretoken, whose bytes come first and are
 * followed by zeros. For a long one it is 0xFF: then the first 8 bytes are the hash, and the next
 * 4 its number.
 */
typedef struct bpe_count_key {
    uint64_t word[2];
} bpe_count_key;

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
