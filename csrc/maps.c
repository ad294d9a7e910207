#include "maps.h"

#include "memory.h"

unsigned bpe_table_bits(size_t n) {
    unsigned bits = 4;
    while (bits < 62 && ((size_t)1 << bits) < 2 * n)
        bits++;
    return bits;
}

/* ---------------------------------------------------------------- pairs */

static bpe_pair_entry *free_slots(unsigned bits) {
    size_t n = (size_t)1 << bits;
    bpe_pair_entry *slots = bpe_mem_table(n, sizeof *slots);
    if (!slots)
        return NULL;
    for (size_t i = 0; i < n; i++)
        slots[i] = (bpe_pair_entry){BPE_NO_PAIR, 0, 0};
    return slots;
}

bool bpe_pair_map_init(bpe_pair_map *map, size_t n) {
    map->bits = bpe_table_bits(n);
    map->n = 0;
    map->slots = free_slots(map->bits);
    map->seed = bpe_seed(map->slots);
    return map->slots != NULL;
}

void bpe_pair_map_free(bpe_pair_map *map) {
    bpe_mem_free(map->slots);
    map->slots = NULL;
}

/* The slot where the key is or belongs. */
static bpe_pair_entry *probe(bpe_pair_entry *slots, unsigned bits, uint64_t seed, uint64_t key) {
    size_t mask = ((size_t)1 << bits) - 1;
    size_t i = bpe_pair_slot(key, seed, bits);
    while (slots[i].key != key && slots[i].key != BPE_NO_PAIR)
        i = (i + 1) & mask;
    return &slots[i];
}

static bool pair_map_rehash(bpe_pair_map *map) {
    unsigned bits = map->bits + 1;
    bpe_pair_entry *slots = free_slots(bits);
    if (!slots)
        return false;
    for (size_t i = 0; i < (size_t)1 << map->bits; i++) {
        if (map->slots[i].key != BPE_NO_PAIR)
            *probe(slots, bits, map->seed, map->slots[i].key) = map->slots[i];
    }
    bpe_mem_free(map->slots);
    map->slots = slots;
    map->bits = bits;
    return true;
}

bpe_pair_entry *bpe_pair_map_add(bpe_pair_map *map, uint64_t key, bool *is_new) {
    bpe_pair_entry *e = probe(map->slots, map->bits, map->seed, key);
    *is_new = e->key == BPE_NO_PAIR;
    if (!*is_new)
        return e;
    if (2 * (map->n + 1) > (size_t)1 << map->bits) {
        if (!pair_map_rehash(map))
            return NULL;
        e = probe(map->slots, map->bits, map->seed, key);
    }
    e->key = key;
    map->n++;
    return e;
}

/* ---------------------------------------------------------------- byte strings */

bool bpe_intern_init(bpe_intern *table, size_t n) {
    memset(table, 0, sizeof *table);
    table->bits = bpe_table_bits(n);
    table->slots = bpe_mem_table((size_t)1 << table->bits, sizeof *table->slots);
    table->seed = bpe_seed(table->slots);
    return table->slots != NULL;
}

void bpe_intern_free(bpe_intern *table) {
    bpe_mem_free(table->data);
    bpe_mem_free(table->ends);
    bpe_mem_free(table->slots);
    memset(table, 0, sizeof *table);
}

/* Slots are chosen by the high bits of the hash and checked by the low ones, so that the two say
 * different things. */
static inline size_t home(uint64_t hash, unsigned bits) { return (size_t)(hash >> (64 - bits)); }

uint32_t bpe_intern_find(const bpe_intern *table, const uint8_t *p, size_t n, uint64_t hash) {
    size_t mask = ((size_t)1 << table->bits) - 1;
    for (size_t i = home(hash, table->bits);; i = (i + 1) & mask) {
        uint64_t slot = table->slots[i];
        if (slot == 0)
            return BPE_NO_ID;
        if (slot >> 32 != (hash & 0xFFFFFFFFu))
            continue;
        uint32_t index = (uint32_t)slot - 1;
        size_t length;
        const uint8_t *bytes = bpe_intern_bytes(table, index, &length);
        if (length == n && memcmp(bytes, p, n) == 0)
            return index;
    }
}

static bool intern_rehash(bpe_intern *table) {
    unsigned bits = table->bits + 1;
    uint64_t *slots = bpe_mem_table((size_t)1 << bits, sizeof *slots);
    if (!slots)
        return false;
    size_t mask = ((size_t)1 << bits) - 1;
    for (size_t i = 0; i < (size_t)1 << table->bits; i++) {
        if (table->slots[i] == 0)
            continue;
        size_t n;
        const uint8_t *bytes = bpe_intern_bytes(table, (uint32_t)table->slots[i] - 1, &n);
        size_t j = home(bpe_intern_hash(table, bytes, n), bits);
        while (slots[j] != 0)
            j = (j + 1) & mask;
        slots[j] = table->slots[i];
    }
    bpe_mem_free(table->slots);
    table->slots = slots;
    table->bits = bits;
    return true;
}

uint32_t bpe_intern_append(bpe_intern *table, const uint8_t *p, size_t n) {
    size_t used = table->n ? table->ends[table->n - 1] : 0;
    if (table->n >= BPE_NO_ID - 1 || n > SIZE_MAX - used)
        return BPE_NO_ID;
    if (!bpe_mem_grow((void **)&table->data, &table->data_cap, used + n, 1) ||
        !bpe_mem_grow((void **)&table->ends, &table->ends_cap, table->n + 1, sizeof *table->ends)) {
        return BPE_NO_ID;
    }
    if (n)
        memcpy(table->data + used, p, n);
    table->ends[table->n] = used + n;
    return (uint32_t)table->n++;
}

uint32_t bpe_intern_add(bpe_intern *table, const uint8_t *p, size_t n, uint64_t hash) {
    uint32_t index = bpe_intern_find(table, p, n, hash);
    if (index != BPE_NO_ID)
        return index;
    if (2 * (table->n + 1) > (size_t)1 << table->bits && !intern_rehash(table))
        return BPE_NO_ID;
    index = bpe_intern_append(table, p, n);
    if (index == BPE_NO_ID)
        return BPE_NO_ID;
    size_t mask = ((size_t)1 << table->bits) - 1;
    size_t i = home(hash, table->bits);
    while (table->slots[i] != 0)
        i = (i + 1) & mask;
    table->slots[i] = hash << 32 | (index + 1);
    return index;
}
