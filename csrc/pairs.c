#include "pairs.h"

#include "memory.h"

/* ---------------------------------------------------------------- table */

static bpe_pair_record *free_records(unsigned bits) {
    size_t n = (size_t)1 << bits;
    bpe_pair_record *slots = bpe_mem_array(n, sizeof *slots);
    if (!slots)
        return NULL;
    for (size_t i = 0; i < n; i++)
        slots[i].key = BPE_NO_PAIR;
    return slots;
}

bool bpe_pair_table_init(bpe_pair_table *table, size_t n) {
    table->bits = bpe_table_bits(n);
    table->n = 0;
    table->slots = free_records(table->bits);
    table->seed = bpe_seed(table->slots);
    return table->slots != NULL;
}

void bpe_pair_table_free(bpe_pair_table *table) {
    bpe_mem_free(table->slots);
    *table = (bpe_pair_table){NULL, 0, 0, 0};
}

/* The slot where the key is or belongs. */
static inline bpe_pair_record *probe(bpe_pair_record *slots, unsigned bits, uint64_t seed,
                                     uint64_t key) {
    size_t mask = ((size_t)1 << bits) - 1;
    size_t i = bpe_pair_slot(key, seed, bits);
    while (slots[i].key != key && slots[i].key != BPE_NO_PAIR)
        i = (i + 1) & mask;
    return &slots[i];
}

static bool grow(bpe_pair_table *table) {
    unsigned bits = table->bits + 1;
    bpe_pair_record *slots = free_records(bits);
    if (!slots)
        return false;
    for (size_t i = 0; i < (size_t)1 << table->bits; i++) {
        const bpe_pair_record *record = &table->slots[i];
        if (record->key != BPE_NO_PAIR)
            *probe(slots, bits, table->seed, record->key) = *record;
    }
    bpe_mem_free(table->slots);
    table->slots = slots;
    table->bits = bits;
    return true;
}

bpe_pair_record *bpe_pair_table_add(bpe_pair_table *table, uint64_t key) {
    bpe_pair_record *record = probe(table->slots, table->bits, table->seed, key);
    if (record->key == key)
        return record;
    if (2 * (table->n + 1) > (size_t)1 << table->bits) {
        if (!grow(table))
            return NULL;
        record = probe(table->slots, table->bits, table->seed, key);
    }
    *record = (bpe_pair_record){key, 0, 0, 0, 0};
    table->n++;
    return record;
}

/* ---------------------------------------------------------------- heap */

static inline bool before(const bpe_pair_job *a, const bpe_pair_job *b) {
    return a->count != b->count ? a->count > b->count : a->tie < b->tie;
}

bool bpe_pair_heap_push(bpe_pair_heap *heap, bpe_pair_job job) {
    if (!bpe_mem_grow((void **)&heap->items, &heap->cap, heap->n + 1, sizeof *heap->items)) {
        return false;
    }
    size_t i = heap->n++;
    while (i > 0) {
        size_t parent = (i - 1) / 2;
        if (!before(&job, &heap->items[parent]))
            break;
        heap->items[i] = heap->items[parent];
        i = parent;
    }
    heap->items[i] = job;
    return true;
}

void bpe_pair_heap_replace(bpe_pair_heap *heap, bpe_pair_job job) {
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= heap->n)
            break;
        if (child + 1 < heap->n && before(&heap->items[child + 1], &heap->items[child]))
            child++;
        if (!before(&heap->items[child], &job))
            break;
        heap->items[i] = heap->items[child];
        i = child;
    }
    heap->items[i] = job;
}

void bpe_pair_heap_pop(bpe_pair_heap *heap) {
    heap->n--;
    if (heap->n > 0)
        bpe_pair_heap_replace(heap, heap->items[heap->n]);
}
