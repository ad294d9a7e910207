/*
 * Pairs: what training knows about adjacent tokens.
 *
 *   bpe_pair_table   (left id, right id) -> count, and where the pair occurs
 *   bpe_pair_heap    the pair to merge next
 *
 * The positions of all pairs lie one list after another in an arena that the trainer owns; a
 * record holds where its list begins. So nothing is allocated per pair.
 */
#ifndef BPE_PAIRS_H
#define BPE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "maps.h"

typedef struct bpe_pair_record {
    uint64_t key;   /* bpe_pair_key; BPE_NO_PAIR: a free slot */
    uint64_t count; /* the sum of the frequencies of the words at its positions */
    uint64_t start; /* of its positions in the arena */
    uint32_t n;     /* positions, in ascending order; some may be out of date */
    uint32_t skip;  /* the first so many are known to be out of date */
} bpe_pair_record;

/* Open addressing, at most half full. Records are never removed, only left with a count of 0. */
typedef struct bpe_pair_table {
    bpe_pair_record *slots; /* 2^bits */
    size_t n;
    unsigned bits;
    uint64_t seed;
} bpe_pair_table;

/* Make an empty table with room for n records before it grows. */
bool bpe_pair_table_init(bpe_pair_table *table, size_t n);
void bpe_pair_table_free(bpe_pair_table *table);

/* The record of a key, or NULL. */
static inline bpe_pair_record *bpe_pair_table_find(const bpe_pair_table *table, uint64_t key) {
    size_t mask = ((size_t)1 << table->bits) - 1;
    for (size_t i = bpe_pair_slot(key, table->seed, table->bits);; i = (i + 1) & mask) {
        bpe_pair_record *record = &table->slots[i];
        if (record->key == key)
            return record;
        if (record->key == BPE_NO_PAIR)
            return NULL;
    }
}

/* Ask for the place where the search for a key begins. */
static inline void bpe_pair_table_prefetch(const bpe_pair_table *table, uint64_t key) {
    bpe_prefetch(&table->slots[bpe_pair_slot(key, table->seed, table->bits)]);
}

/*
 * The record of a key, added with zeros when it is not there. NULL when out of memory. Records
 * move when the table grows: a pointer is good until the next call.
 */
bpe_pair_record *bpe_pair_table_add(bpe_pair_table *table, uint64_t key);

/* A pair as it was when it was pushed; larger counts come first, then smaller ties. */
typedef struct bpe_pair_job {
    uint64_t count;
    uint64_t tie;
    uint64_t key;
} bpe_pair_job;

typedef struct bpe_pair_heap {
    bpe_pair_job *items; /* a binary heap, the next pair first */
    size_t n;
    size_t cap;
} bpe_pair_heap;

/* False when out of memory. O(log n). */
bool bpe_pair_heap_push(bpe_pair_heap *heap, bpe_pair_job job);

/* Replace the first item by `job`, or take it away. The heap must not be empty. O(log n). */
void bpe_pair_heap_replace(bpe_pair_heap *heap, bpe_pair_job job);
void bpe_pair_heap_pop(bpe_pair_heap *heap);

#endif
