#include "cache.h"

#include "memory.h"

bool bpe_cache_init(bpe_cache *cache, unsigned bits, size_t n_store) {
    cache->entries = bpe_mem_lines((size_t)2 << bits, sizeof *cache->entries, &cache->memory);
    cache->store = n_store > 0 ? bpe_mem_zeroed(n_store, sizeof *cache->store) : NULL;
    if (!cache->entries || (n_store > 0 && !cache->store))
        return false;
    cache->mask = (((size_t)1 << bits) - 1) * 2 * sizeof *cache->entries;
    cache->n_store = n_store;
    return true;
}

void bpe_cache_free(bpe_cache *cache) {
    bpe_mem_free(cache->memory);
    bpe_mem_free(cache->store);
    *cache = (bpe_cache){0};
}

/* The words that the bytes of a pretoken take in its record. */
static inline size_t words_for(const bpe_cache_key *key, size_t n) {
    return bpe_cache_key_is_long(key) ? (n + 3) / 4 : 0;
}

const uint32_t *bpe_cache_stored(const bpe_cache *cache, const bpe_cache_entry *e, const uint8_t *p,
                                 size_t n, size_t *n_ids) {
    uint64_t at = (uint64_t)e->ids[2] << 32 | e->ids[1];
    if (cache->stored - at > cache->n_store)
        return NULL;
    const uint32_t *record = cache->store + (at & (cache->n_store - 1));
    size_t n_words = words_for(&e->key, n);
    if (n_words > 0 && memcmp(record, p, n) != 0)
        return NULL;
    *n_ids = e->ids[0] & BPE_CACHE_ID_MASK;
    return record + n_words;
}

void bpe_cache_put_any(bpe_cache *cache, bpe_cache_entry *bucket, const bpe_cache_key *key,
                       const uint8_t *p, size_t n, const uint32_t *ids, size_t n_ids) {
    size_t n_words = words_for(key, n);
    if (n_words == 0 && n_ids <= BPE_CACHE_IDS) {
        bpe_cache_put(bucket, key, ids, n_ids);
        return;
    }
    if (cache->n_store == 0)
        return;
    size_t size = n_words + n_ids;
    size_t at = (size_t)(cache->stored & (cache->n_store - 1));
    if (size > cache->n_store - at) { /* a record lies in one piece: the rest of the ring is lost */
        cache->stored += cache->n_store - at;
        at = 0;
    }
    if (n_words > 0)
        memcpy(cache->store + at, p, n);
    memcpy(cache->store + at + n_words, ids, n_ids * sizeof *ids);
    const uint32_t where[] = {(uint32_t)n_ids, (uint32_t)cache->stored,
                              (uint32_t)(cache->stored >> 32)};
    bpe_cache_put(bucket, key, where, 3);
    bucket->ids[0] = BPE_CACHE_STORED << BPE_CACHE_ID_BITS | (uint32_t)n_ids;
    cache->stored += size;
}

#define MIN_BITS 10

bool bpe_cache_fit(bpe_cache *cache, size_t bytes) {
    unsigned bits = MIN_BITS;
    while (bits < BPE_CACHE_MAX_BITS && (size_t)80 << (bits + 1) <= bytes)
        bits++;
    return bpe_cache_init(cache, bits, (size_t)4 << bits);
}

bool bpe_cache_resize(bpe_cache *cache, size_t bytes) {
    bpe_cache other = {0};
    if (!bpe_cache_fit(&other, bytes)) {
        bpe_cache_free(&other);
        return false;
    }
    bpe_cache_free(cache);
    *cache = other;
    return true;
}
