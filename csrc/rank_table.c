#include "rank_table.h"

#include "memory.h"

/* The bits of numbers up to n. */
static unsigned bits_of(size_t n) {
    unsigned bits = 1;
    while (bits < 63 && n >> bits != 0)
        bits++;
    return bits;
}

/* One number is left for what is no id. */
static unsigned id_bits(size_t n_ids) { return bits_of(n_ids); }

/* Ranks are kept plus one. */
static unsigned rank_bits(size_t n_ranks) { return bits_of(n_ranks); }

bool bpe_rank_table_fits(size_t n_ids, size_t n_ranks) {
    return 2 * id_bits(n_ids) + rank_bits(n_ranks) <= 64;
}

static bool allocate(bpe_rank_table *table, unsigned bits) {
    void *memory;
    uint64_t *slots =
        bpe_mem_lines((size_t)BPE_BUCKET_PAIRS << bits, sizeof *table->slots, &memory);
    if (!slots)
        return false;
    memset(slots, 0, ((size_t)BPE_BUCKET_PAIRS << bits) * sizeof *slots); /* see bpe_mem_lines */
    table->memory = memory;
    table->slots = slots;
    table->bits = bits;
    return true;
}

bool bpe_rank_table_init(bpe_rank_table *table, size_t n_ids, size_t n_ranks, size_t n) {
    unsigned bits = 2;
    while (bits < 58 && (size_t)BPE_BUCKET_PAIRS << bits < 2 * n)
        bits++;
    table->id_bits = id_bits(n_ids);
    table->rank_bits = rank_bits(n_ranks);
    if (!allocate(table, bits))
        return false;
    table->seed = bpe_seed(table->memory);
    return true;
}

void bpe_rank_table_free(bpe_rank_table *table) {
    bpe_mem_free(table->memory);
    table->memory = NULL;
    table->slots = NULL;
}

/* The free slot where a key belongs, or NULL when it is there already. Like a look-up, without a
 * branch for each entry, which would be guessed wrong more often than not. */
static uint64_t *place_for(const bpe_rank_table *table, uint64_t key) {
    for (size_t home = bpe_rank_table_home(table, key);; home = bpe_rank_table_next(table, home)) {
        uint64_t *bucket = table->slots + home;
        size_t n_filled = 0;
        for (int i = 0; i < BPE_BUCKET_PAIRS; i++)
            n_filled += bucket[i] != 0;
        if (bpe_rank_table_scan(bucket, key, table->rank_bits) != 0)
            return NULL;
        if (n_filled < BPE_BUCKET_PAIRS)
            return bucket + n_filled;
    }
}

static bool grow(bpe_rank_table *table) {
    bpe_rank_table old = *table;
    if (!allocate(table, old.bits + 1))
        return false;
    for (size_t i = 0; i < (size_t)BPE_BUCKET_PAIRS << old.bits; i++) {
        if (old.slots[i] != 0) {
            uint64_t key = old.slots[i] >> old.rank_bits << old.rank_bits;
            *place_for(table, key) = old.slots[i];
        }
    }
    bpe_mem_free(old.memory);
    return true;
}

bool bpe_rank_table_add(bpe_rank_table *table, uint32_t left, uint32_t right, uint32_t rank) {
    uint64_t key = bpe_rank_table_key(table, left, right);
    uint64_t *slot = place_for(table, key);
    if (!slot)
        return true;
    if (2 * (table->n + 1) > (size_t)BPE_BUCKET_PAIRS << table->bits) {
        if (!grow(table))
            return false;
        slot = place_for(table, key);
    }
    *slot = key | ((uint64_t)rank + 1);
    table->n++;
    return true;
}
