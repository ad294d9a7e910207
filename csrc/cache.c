#include "cache.h"

#include "memory.h"

bool bpe_cache_init(bpe_cache *cache, unsigned bits) {
    size_t n = (size_t)2 << bits;
    cache->memory = bpe_mem_zeroed(n * sizeof *cache->entries + 64, 1);
    if (!cache->memory)
        return false;
    cache->entries = (bpe_cache_entry *)(((uintptr_t)cache->memory + 63) & ~(uintptr_t)63);
    cache->bits = bits;
    return true;
}

void bpe_cache_free(bpe_cache *cache) {
    bpe_mem_free(cache->memory);
    *cache = (bpe_cache){0};
}
