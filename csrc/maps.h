/*
 * Maps: the two hash tables for general use. Where one decides the speed there is a special one:
 * rank_table, cache, pairs, count.
 *
 *   bpe_pair_map   (uint32, uint32) -> two uint32 values       pair -> merge; trie edge -> node
 *   bpe_intern     byte string -> dense index 0, 1, 2, ...     token or pretoken -> its number
 *
 * Open addressing, linear probing, powers of two, at most 1/2 full. Each table hashes with a seed
 * of its own (bpe_seed), so that a file or a corpus made for the purpose cannot fill it with keys
 * that collide; no result follows the order of a table.
 */
#ifndef BPE_MAPS_H
#define BPE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bpe.h"

/* Mix 64 bits so that every input bit reaches the high bits of the result. */
static inline uint64_t bpe_mix64(uint64_t x) {
    x ^= x >> 32;
    x *= 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9u;
    x ^= x >> 32;
    return x;
}

/* Eight bytes in whatever order the machine has: for hashing and comparing only. */
static inline uint64_t bpe_load64(const uint8_t *p) {
    uint64_t x;
    memcpy(&x, p, 8);
    return x;
}

/* Ask for a cache line that will be read soon. */
static inline void bpe_prefetch(const void *p) {
#if defined(__GNUC__)
    __builtin_prefetch(p);
#else
    (void)p;
#endif
}

/* The same for one that will be written, too. */
static inline void bpe_prefetch_write(const void *p) {
#if defined(__GNUC__)
    __builtin_prefetch(p, 1);
#else
    (void)p;
#endif
}

/* Up to seven bytes, spread over 64 bits without a call for so few: which bit is which does not
 * matter, as long as different bytes of one length give different values. */
static inline uint64_t bpe_load_few(const uint8_t *p, size_t n) {
    if (n >= 4) {
        uint32_t first;
        uint32_t last;
        memcpy(&first, p, 4);
        memcpy(&last, p + n - 4, 4);
        return (uint64_t)first << 32 | last;
    }
    if (n == 0)
        return 0;
    return (uint64_t)p[0] << 16 | (uint64_t)p[n >> 1] << 8 | p[n - 1];
}

static inline uint64_t bpe_hash_bytes(const uint8_t *p, size_t n, uint64_t seed) {
    uint64_t h = seed ^ (uint64_t)n * 0x9E3779B97F4A7C15u;
    if (n >= 8) {
        const uint8_t *last = p + n - 8;
        for (; p < last; p += 8)
            h = bpe_mix64(h ^ bpe_load64(p));
        return bpe_mix64(h ^ bpe_load64(last)); /* may overlap the one before */
    }
    return bpe_mix64(h ^ bpe_load_few(p, n));
}

/* The least power of two, as an exponent, that n entries fill at most to a half. */
unsigned bpe_table_bits(size_t n);

/* ---------------------------------------------------------------- pairs */

typedef struct bpe_pair_entry {
    uint64_t key; /* left << 32 | right; BPE_NO_PAIR marks a free slot */
    uint32_t a;
    uint32_t b;
} bpe_pair_entry;

#define BPE_NO_PAIR UINT64_MAX

typedef struct bpe_pair_map {
    bpe_pair_entry *slots; /* 2^bits of them */
    size_t n;
    unsigned bits;
    uint64_t seed;
} bpe_pair_map;

static inline uint64_t bpe_pair_key(uint32_t left, uint32_t right) {
    return (uint64_t)left << 32 | right;
}

static inline size_t bpe_pair_slot(uint64_t key, uint64_t seed, unsigned bits) {
    uint64_t h = (key ^ seed) * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 32) * 0xC2B2AE3D27D4EB4Fu;
    return (size_t)(h >> (64 - bits));
}

/* Make an empty map with room for n pairs before it first grows. The struct may be zeroed
 * beforehand. */
bool bpe_pair_map_init(bpe_pair_map *map, size_t n);
void bpe_pair_map_free(bpe_pair_map *map);

/* The entry of a key, or NULL. */
static inline bpe_pair_entry *bpe_pair_map_find(const bpe_pair_map *map, uint64_t key) {
    size_t mask = ((size_t)1 << map->bits) - 1;
    for (size_t i = bpe_pair_slot(key, map->seed, map->bits);; i = (i + 1) & mask) {
        bpe_pair_entry *e = &map->slots[i];
        if (e->key == key)
            return e;
        if (e->key == BPE_NO_PAIR)
            return NULL;
    }
}

/*
 * The entry of a key, added with a = b = 0 when it was not there (*is_new says so). NULL when out
 * of memory, the map unchanged. Entries move when the map grows: a pointer is good until the next
 * call.
 */
bpe_pair_entry *bpe_pair_map_add(bpe_pair_map *map, uint64_t key, bool *is_new);

/* ---------------------------------------------------------------- byte strings */

/*
 * Invariants: string i is data[ends[i - 1], ends[i]) with ends[-1] = 0; slots hold index + 1 (0 =
 * free) beside the low 32 bits of the string's hash; indexes count up from 0 in order of insertion.
 */
typedef struct bpe_intern {
    uint8_t *data;
    size_t data_cap;
    size_t *ends;
    size_t ends_cap;
    size_t n;
    uint64_t *slots; /* 2^bits: hash << 32 | (index + 1) */
    unsigned bits;
    uint64_t seed;
} bpe_intern;

bool bpe_intern_init(bpe_intern *table, size_t n);
void bpe_intern_free(bpe_intern *table);

static inline const uint8_t *bpe_intern_bytes(const bpe_intern *table, size_t index, size_t *n) {
    size_t start = index ? table->ends[index - 1] : 0;
    *n = table->ends[index] - start;
    return table->data + start;
}

static inline uint64_t bpe_intern_hash(const bpe_intern *table, const uint8_t *p, size_t n) {
    return bpe_hash_bytes(p, n, table->seed);
}

/* Where the search for a string begins; to be asked for ahead. */
static inline const uint64_t *bpe_intern_home(const bpe_intern *table, uint64_t hash) {
    return &table->slots[hash >> (64 - table->bits)];
}

/* The index of a string, or BPE_NO_ID. `hash` is bpe_intern_hash of it. */
uint32_t bpe_intern_find(const bpe_intern *table, const uint8_t *p, size_t n, uint64_t hash);

/*
 * The index of a string, added at the end when it was not there (then the table's n has grown).
 * BPE_NO_ID when out of memory or when the table holds 2^32 - 2 strings; the table is then
 * unchanged.
 */
uint32_t bpe_intern_add(bpe_intern *table, const uint8_t *p, size_t n, uint64_t hash);

/* Append a string that lookups never find: it has a number and bytes, nothing else. Same failures
 * as add. */
uint32_t bpe_intern_append(bpe_intern *table, const uint8_t *p, size_t n);

#endif
