/*
 * Rank table: (left id, right id) -> rank, as small as it can be, since merging reads it all over
 * and most of it lies in no near cache.
 *
 * An entry is one word: left + 1, right and rank + 1, in as many bits as the vocabulary needs.
 * Eight of them make a bucket, which is one cache line; they fill it from the front, and what a
 * full bucket cannot take goes to the next one. A bucket is looked through as a whole, without a
 * branch for each entry. At most 1/2 full; hashed with a seed of its own, as maps.h says.
 */
#ifndef BPE_RANK_TABLE_H
#define BPE_RANK_TABLE_H

#include "maps.h"

#define BPE_BUCKET_PAIRS 8

/* Rank of a pair that does not merge; also "no limit". */
#define BPE_NO_RANK 0xFFFFFFFFu

typedef struct bpe_rank_table {
    uint64_t *slots; /* BPE_BUCKET_PAIRS << bits, aligned to a cache line; 0: free */
    void *memory;    /* what was allocated */
    size_t n;
    unsigned bits;
    unsigned id_bits;
    unsigned rank_bits;
    uint64_t seed;
} bpe_rank_table;

/* Whether ids below n_ids and ranks below n_ranks fit in an entry. */
bool bpe_rank_table_fits(size_t n_ids, size_t n_ranks);

/* Fill a zeroed struct with an empty table for such ids and ranks, with room for n pairs before it
 * first grows. */
bool bpe_rank_table_init(bpe_rank_table *table, size_t n_ids, size_t n_ranks, size_t n);
void bpe_rank_table_free(bpe_rank_table *table);

/* Add a pair unless it is there. False when out of memory, the table unchanged. */
bool bpe_rank_table_add(bpe_rank_table *table, uint32_t left, uint32_t right, uint32_t rank);

/* A pair as it stands in an entry, without the rank; of two ids never 0. What is no id, 2^id_bits -
 * 1 or a larger number such as BPE_NO_SYMBOL, may be asked for on either side: bits then overlap,
 * but no entry has left + 1 = 0 or a right id of all ones, so nothing is found. */
static inline uint64_t bpe_rank_table_key(const bpe_rank_table *table, uint32_t left,
                                          uint32_t right) {
    return (((uint64_t)left + 1) << table->id_bits | right) << table->rank_bits;
}

/* The first slot of the bucket where a key begins. */
static inline size_t bpe_rank_table_home(const bpe_rank_table *table, uint64_t key) {
    return bpe_pair_slot(key, table->seed, table->bits) * BPE_BUCKET_PAIRS;
}

/* The rank + 1 of a key among the entries of a bucket, or 0. */
static inline uint32_t bpe_rank_table_scan(const uint64_t *bucket, uint64_t key,
                                           unsigned rank_bits) {
    uint64_t found = 0;
    for (int i = 0; i < BPE_BUCKET_PAIRS; i++) {
        uint64_t x = bucket[i] ^ key;
        found |= x >> rank_bits == 0 ? x : 0;
    }
    return (uint32_t)found;
}

/* The bucket behind the one that begins at `home`. */
static inline size_t bpe_rank_table_next(const bpe_rank_table *table, size_t home) {
    return (home + BPE_BUCKET_PAIRS) & (((size_t)BPE_BUCKET_PAIRS << table->bits) - 1);
}

/* The rank of a key, looked for from its home on, or BPE_NO_RANK. */
static inline uint32_t bpe_rank_table_rank(const bpe_rank_table *table, uint64_t key, size_t home) {
    for (;;) {
        const uint64_t *bucket = table->slots + home;
        uint32_t found = bpe_rank_table_scan(bucket, key, table->rank_bits);
        if (found != 0 || bucket[BPE_BUCKET_PAIRS - 1] == 0)
            return found - 1; /* BPE_NO_RANK when there is none */
        home = bpe_rank_table_next(table, home);
    }
}

static inline uint32_t bpe_rank_table_find(const bpe_rank_table *table, uint32_t left,
                                           uint32_t right) {
    uint64_t key = bpe_rank_table_key(table, left, right);
    return bpe_rank_table_rank(table, key, bpe_rank_table_home(table, key));
}

#endif
