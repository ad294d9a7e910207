/*
 * Cache: pretoken -> ids, for the short pretokens that make up nearly all text.
 *
 * A fixed number of 64-byte buckets of two entries each; an entry holds a pretoken of up to 16
 * bytes and up to three ids. Within a bucket the entry used last stands first and the other one is
 * replaced, so that frequent pretokens survive a stream of rare ones. Memory is bounded by
 * construction.
 */
#ifndef BPE_CACHE_H
#define BPE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "maps.h"

#define BPE_CACHE_KEY_BYTES 16
#define BPE_CACHE_IDS 3

/* A pretoken of 1 to 16 bytes: its bytes, then zeros, then its length. */
typedef struct bpe_cache_key {
    uint64_t low;
    uint64_t high;
    uint32_t length;
} bpe_cache_key;

typedef struct bpe_cache_entry {
    uint64_t low;
    uint64_t high;
    uint16_t length; /* 0: the entry is free */
    uint16_t n_ids;
    uint32_t ids[BPE_CACHE_IDS];
} bpe_cache_entry;

typedef struct bpe_cache {
    bpe_cache_entry *entries; /* 2 << bits, aligned to 64 bytes */
    void *memory;             /* what was allocated */
    unsigned bits;
} bpe_cache;

/* Fill a zeroed struct with an empty cache of 2^bits buckets. */
bool bpe_cache_init(bpe_cache *cache, unsigned bits);
void bpe_cache_free(bpe_cache *cache);

/*
 * The key of the pretoken p[0, n), 1 <= n <= 16. `text_end` is where readable memory ends: when 16
 * bytes are left, they are read at once and what does not belong is masked away. Which byte of the
 * words is the first does not matter.
 */
static inline bpe_cache_key bpe_cache_key_of(const uint8_t *p, size_t n, const uint8_t *text_end) {
    bpe_cache_key key = {0, 0, (uint32_t)n};
    uint8_t bytes[16] = {0};
    if ((size_t)(text_end - p) >= 16) {
        static const uint8_t keep[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                         255, 255, 255, 255, 255, 255, 255, 255};
        key.low = bpe_load64(p) & bpe_load64(keep + 16 - n);
        key.high = bpe_load64(p + 8) & bpe_load64(keep + 24 - n);
    } else {
        memcpy(bytes, p, n);
        key.low = bpe_load64(bytes);
        key.high = bpe_load64(bytes + 8);
    }
    return key;
}

/* The first entry of the key's bucket. */
static inline bpe_cache_entry *bpe_cache_bucket(const bpe_cache *cache, const bpe_cache_key *key) {
    uint64_t h = (key->low ^ key->length) * 0x9E3779B97F4A7C15u;
    h ^= h >> 32;
    h = (h ^ key->high) * 0xBF58476D1CE4E5B9u;
    return cache->entries + 2 * (size_t)(h >> (64 - cache->bits));
}

static inline bool bpe_cache_holds(const bpe_cache_entry *e, const bpe_cache_key *key) {
    return e->low == key->low && e->high == key->high && e->length == key->length;
}

/* The entry of the key in its bucket, moved to the front, or NULL. */
static inline const bpe_cache_entry *bpe_cache_find(bpe_cache_entry *bucket,
                                                    const bpe_cache_key *key) {
    if (bpe_cache_holds(&bucket[0], key))
        return &bucket[0];
    if (!bpe_cache_holds(&bucket[1], key))
        return NULL;
    bpe_cache_entry second = bucket[1];
    bucket[1] = bucket[0];
    bucket[0] = second;
    return &bucket[0];
}

/* Put a key that is not there into its bucket; 1 <= n_ids <= BPE_CACHE_IDS. */
static inline void bpe_cache_put(bpe_cache_entry *bucket, const bpe_cache_key *key,
                                 const uint32_t *ids, size_t n_ids) {
    bucket[1] = bucket[0];
    bucket[0] = (bpe_cache_entry){key->low, key->high, (uint16_t)key->length, (uint16_t)n_ids, {0}};
    memcpy(bucket[0].ids, ids, n_ids * sizeof *ids);
}

#endif
