/*
 * Cache: pretoken -> ids, for the pretokens that make up nearly all text.
 *
 * A fixed number of 64-byte buckets of two entries each. An entry holds a pretoken of up to 15
 * bytes and up to four ids. Longer pretokens have two hashes for a key, and their bytes lie in the
 * store, where they are compared; more ids lie in the store, too. Within a bucket the entry used
 * last stands first and the other one is replaced, so that frequent pretokens survive a stream of
 * rare ones. The store is a ring: what is written last overwrites what was written first, and an
 * entry whose record is gone counts as not there. Memory is bounded by construction.
 */
#ifndef BPE_CACHE_H
#define BPE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "maps.h"

#define BPE_CACHE_KEY_BYTES 15 /* pretokens of up to this many bytes are their own key */
#define BPE_CACHE_BYTES 64     /* longer ones are not cached */
#define BPE_CACHE_IDS 4        /* an entry has room for these */
#define BPE_CACHE_MAX_BITS 26  /* of the number of buckets */

/* The bytes of a short pretoken, then zeros, then its length as the last byte. Of a longer one two
 * hashes and its length in the same place. */
typedef struct bpe_cache_key {
    uint64_t low;
    uint64_t high;
} bpe_cache_key;

/*
 * ids[0] has the number of ids above BPE_CACHE_ID_BITS. If that is BPE_CACHE_STORED, the rest of
 * ids[0] is the number, and ids[1] and ids[2] are where the record begins. If it is BPE_CACHE_MARK,
 * there are no ids yet: the rest of ids[0], and the number in ids[1] and ids[2], mean what the
 * caller wants them to. No key is zero, so a zeroed entry is a free one.
 */
typedef struct bpe_cache_entry {
    bpe_cache_key key;
    uint32_t ids[BPE_CACHE_IDS];
} bpe_cache_entry;

#define BPE_CACHE_ID_BITS 24 /* BPE_MAX_IDS is 2^24 */
#define BPE_CACHE_ID_MASK (((uint32_t)1 << BPE_CACHE_ID_BITS) - 1)
#define BPE_CACHE_STORED 255u
#define BPE_CACHE_MARK 254u

typedef struct bpe_cache {
    bpe_cache_entry *entries; /* 2 << bits, aligned to 64 bytes */
    void *memory;             /* what was allocated */
    size_t mask;              /* of the bytes from the first bucket to any other */
    uint32_t *store;          /* a record: for longer pretokens their bytes, then the ids */
    size_t n_store;           /* a power of two, or 0: no store */
    uint64_t stored;          /* words ever written; word i is store[i % n_store] */
} bpe_cache;

/* Fill a zeroed struct with an empty cache of 2^bits buckets and a store of n_store words, 0 or a
 * power of two >= 256. */
bool bpe_cache_init(bpe_cache *cache, unsigned bits, size_t n_store);
/* The same, as large as fits in `bytes`, but for a smallest size of 80 KB. */
bool bpe_cache_fit(bpe_cache *cache, size_t bytes);

/*
 * A bucket is 64 bytes; a quarter of the buckets' memory comes on top for the store. In 50 MB of
 * English, 2.0 % of the pretokens are new; with 2^16, 2^17, 2^18, 2^19 buckets 3.5, 2.6, 2.2 and
 * 2.1 % are not in the cache. In text of many languages 10.4 % are new, and 15.9, 13.5, 11.8 and
 * 11.0 % are not there. With the last of these sizes, encoding takes 2 % less time than with 2^18.
 */
#define BPE_CACHE_BYTES_DEFAULT ((size_t)20 << 20)

void bpe_cache_free(bpe_cache *cache);

/* An empty cache of another size in place of one; false, nothing changed, when out of memory. */
bool bpe_cache_resize(bpe_cache *cache, size_t bytes);

/* ---------------------------------------------------------------- keys */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BPE_CACHE_LENGTH_SHIFT 0
#else
#define BPE_CACHE_LENGTH_SHIFT 56
#endif

/*
 * The key of the pretoken p[0, n), 1 <= n <= BPE_CACHE_KEY_BYTES. `text_end` is where readable
 * memory ends: when 16 bytes are left, they are read at once and what does not belong is masked
 * away.
 */
static inline bpe_cache_key bpe_cache_key_of(const uint8_t *p, size_t n, const uint8_t *text_end) {
    bpe_cache_key key;
    if (text_end - p >= 16) {
        static const uint8_t keep[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                         255, 255, 255, 255, 255, 255, 255, 255};
        key.low = bpe_load64(p) & bpe_load64(keep + 16 - n);
        key.high = bpe_load64(p + 8) & bpe_load64(keep + 24 - n);
    } else {
        uint8_t bytes[16] = {0};
        memcpy(bytes, p, n);
        key.low = bpe_load64(bytes);
        key.high = bpe_load64(bytes + 8);
    }
    key.high |= (uint64_t)n << BPE_CACHE_LENGTH_SHIFT;
    return key;
}

/* The key of a longer one, up to BPE_CACHE_BYTES. */
static inline bpe_cache_key bpe_cache_long_key(const uint8_t *p, size_t n) {
    uint64_t a = bpe_load64(p);
    uint64_t b = bpe_load64(p + 8);
    for (size_t i = 16; i < n; i += 16) { /* the last step may overlap the one before */
        size_t at = i + 16 <= n ? i : n - 16;
        a = (a ^ bpe_load64(p + at)) * 0x9E3779B97F4A7C15u;
        b = (b ^ bpe_load64(p + at + 8)) * 0xC2B2AE3D27D4EB4Fu;
        a ^= a >> 32;
        b ^= b >> 29;
    }
    a ^= b * 0x9E3779B97F4A7C15u; /* all of b, of which the length takes a part away */
    uint64_t length = (uint64_t)n << BPE_CACHE_LENGTH_SHIFT;
    uint64_t rest = ~((uint64_t)255 << BPE_CACHE_LENGTH_SHIFT);
    return (bpe_cache_key){a, (b & rest) | length};
}

static inline bpe_cache_key bpe_cache_any_key(const uint8_t *p, size_t n, const uint8_t *text_end) {
    return n > BPE_CACHE_KEY_BYTES ? bpe_cache_long_key(p, n) : bpe_cache_key_of(p, n, text_end);
}

static inline bool bpe_cache_key_is_long(const bpe_cache_key *key) {
    return (key->high >> BPE_CACHE_LENGTH_SHIFT & 255) > BPE_CACHE_KEY_BYTES;
}

/* Its bits from 38 on choose the bucket; the low ones are not good for much. */
static inline uint64_t bpe_cache_hash(const bpe_cache_key *key) {
    uint64_t h = key->low ^ key->high * 0x9E3779B97F4A7C15u;
    return (h ^ h >> 32) * 0xBF58476D1CE4E5B9u;
}

/* The first entry of a hash's bucket. */
static inline bpe_cache_entry *bpe_cache_bucket(const bpe_cache *cache, uint64_t hash) {
    return (bpe_cache_entry *)((uint8_t *)cache->entries + ((size_t)(hash >> 32) & cache->mask));
}

/* ---------------------------------------------------------------- entries */

static inline bool bpe_cache_holds(const bpe_cache_entry *e, const bpe_cache_key *key) {
    return ((e->key.low ^ key->low) | (e->key.high ^ key->high)) == 0;
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

/* How many ids an entry has, or BPE_CACHE_STORED or BPE_CACHE_MARK. */
static inline uint32_t bpe_cache_count(const bpe_cache_entry *e) {
    return e->ids[0] >> BPE_CACHE_ID_BITS;
}

/* Copy the ids of an entry that has them itself to where there is room for BPE_CACHE_IDS. Returns
 * how many they are. */
static inline size_t bpe_cache_copy(const bpe_cache_entry *e, uint32_t *to) {
    memcpy(to, e->ids, sizeof e->ids);
    to[0] = e->ids[0] & BPE_CACHE_ID_MASK;
    return bpe_cache_count(e);
}

/* The ids of an entry of BPE_CACHE_STORED, which is p[0, n) by its key, and their number; NULL when
 * they are gone, or when another pretoken has the same hashes. */
const uint32_t *bpe_cache_stored(const bpe_cache *cache, const bpe_cache_entry *e, const uint8_t *p,
                                 size_t n, size_t *n_ids);

/* Put a key that is its pretoken into its bucket; at most BPE_CACHE_IDS ids. */
static inline void bpe_cache_put(bpe_cache_entry *bucket, const bpe_cache_key *key,
                                 const uint32_t *ids, size_t n_ids) {
    if (!bpe_cache_holds(&bucket[0], key))
        bucket[1] = bucket[0];
    bucket[0] = (bpe_cache_entry){*key, {0}};
    memcpy(bucket[0].ids, ids, n_ids * sizeof *ids);
    bucket[0].ids[0] |= (uint32_t)n_ids << BPE_CACHE_ID_BITS;
}

/* Put a key without ids into its bucket, with a number below 2^BPE_CACHE_ID_BITS and another. */
static inline void bpe_cache_put_mark(bpe_cache_entry *bucket, const bpe_cache_key *key,
                                      uint32_t number, uint64_t mark) {
    const uint32_t ids[] = {number, (uint32_t)mark, (uint32_t)(mark >> 32)};
    bpe_cache_put(bucket, key, ids, 3);
    bucket->ids[0] = BPE_CACHE_MARK << BPE_CACHE_ID_BITS | number;
}

static inline uint64_t bpe_cache_mark(const bpe_cache_entry *e) {
    return (uint64_t)e->ids[2] << 32 | e->ids[1];
}

/* The same as bpe_cache_put for any pretoken p[0, n) of up to BPE_CACHE_BYTES bytes and at most
 * that many ids. */
void bpe_cache_put_any(bpe_cache *cache, bpe_cache_entry *bucket, const bpe_cache_key *key,
                       const uint8_t *p, size_t n, const uint32_t *ids, size_t n_ids);

#endif
