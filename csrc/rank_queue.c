#include "rank_queue.h"

#include <string.h>

#include "bits.h"
#include "memory.h"

/* An entry of a bucket: a list that grows at its head. */
typedef struct bpe_rank_node {
    uint32_t position;
    uint32_t next; /* node + 1, or 0 */
} node;

void bpe_rank_queue_free(bpe_rank_queue *q) {
    bpe_mem_free(q->heads);
    bpe_mem_free(q->filled);
    bpe_mem_free(q->words);
    bpe_mem_free(q->nodes);
    bpe_mem_free(q->open);
    bpe_mem_free(q->spare);
    bpe_mem_free(q->heap);
    *q = (bpe_rank_queue){0};
}

bool bpe_rank_queue_begin(bpe_rank_queue *q, size_t n_ranks, size_t n_entries) {
    if (n_ranks > q->n_ranks) {
        /* All buckets are empty, so nothing has to be kept. */
        bpe_mem_free(q->heads);
        bpe_mem_free(q->filled);
        bpe_mem_free(q->words);
        q->n_ranks = 0;
        q->heads = bpe_mem_zeroed(n_ranks, sizeof *q->heads);
        q->filled = bpe_mem_zeroed((n_ranks + 63) / 64, sizeof *q->filled);
        q->words = bpe_mem_zeroed((n_ranks + 4095) / 4096, sizeof *q->words);
        if (!q->heads || !q->filled || !q->words)
            return false;
        q->n_ranks = n_ranks;
    }
    q->n_nodes = q->n_heap = q->n_open = q->at = 0;
    q->rank = q->last = -1;
    return bpe_mem_grow((void **)&q->nodes, &q->nodes_cap, n_entries, sizeof *q->nodes) &&
           bpe_mem_grow((void **)&q->open, &q->open_cap, n_entries, sizeof *q->open) &&
           bpe_mem_grow((void **)&q->spare, &q->spare_cap, n_entries, sizeof *q->spare) &&
           bpe_mem_grow((void **)&q->heap, &q->heap_cap, n_entries, sizeof *q->heap);
}

/* ---------------------------------------------------------------- the heap of late entries */

static void heap_push(bpe_rank_queue *q, uint64_t key) {
    size_t i = q->n_heap++;
    while (i > 0 && q->heap[(i - 1) / 2] > key) {
        q->heap[i] = q->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    q->heap[i] = key;
}

static uint64_t heap_pop(bpe_rank_queue *q) {
    uint64_t *heap = q->heap;
    uint64_t top = heap[0];
    size_t n = --q->n_heap;
    uint64_t key = heap[n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= key)
            break;
        heap[i] = heap[child];
    }
    heap[i] = key;
    return top;
}

/* ---------------------------------------------------------------- buckets */

void bpe_rank_queue_push(bpe_rank_queue *q, uint32_t rank, uint32_t position) {
    if (rank <= q->rank) {
        heap_push(q, (uint64_t)rank << 32 | position);
        return;
    }
    q->nodes[q->n_nodes] = (node){position, q->heads[rank]};
    q->heads[rank] = (uint32_t)++q->n_nodes;
    q->filled[rank >> 6] |= (uint64_t)1 << (rank & 63);
    q->words[rank >> 12] |= (uint64_t)1 << (rank >> 6 & 63);
    if (rank > q->last)
        q->last = rank;
}

/* Merge the ascending runs of `open` two by two until there is one; `spare` is as large. */
static void put_in_order(bpe_rank_queue *q) {
    for (;;) {
        const uint32_t *from = q->open;
        uint32_t *to = q->spare;
        size_t n = q->n_open;
        size_t i = 0;
        while (i < n) {
            size_t a = i;
            size_t a_end = a + 1;
            while (a_end < n && from[a_end] >= from[a_end - 1])
                a_end++;
            size_t b = a_end;
            size_t b_end = b;
            if (b < n) {
                b_end++;
                while (b_end < n && from[b_end] >= from[b_end - 1])
                    b_end++;
            }
            if (a == 0 && a_end == n)
                return;
            while (a < a_end || b < b_end) {
                bool left = b == b_end || (a < a_end && from[a] <= from[b]);
                to[i++] = left ? from[a++] : from[b++];
            }
        }
        q->spare = q->open;
        q->open = to;
        size_t cap = q->open_cap;
        q->open_cap = q->spare_cap;
        q->spare_cap = cap;
    }
}

/* Open the next bucket with something in it. False when there is none. */
static bool open_next(bpe_rank_queue *q) {
    if (q->rank >= q->last)
        return false;
    size_t w = (size_t)(q->rank + 1) >> 12;
    while (q->words[w] == 0) /* the bit of `last` is set */
        w++;
    size_t word = 64 * w + bpe_lowest_bit(q->words[w]);
    q->rank = (int64_t)(64 * word + bpe_lowest_bit(q->filled[word]));
    q->filled[word] &= q->filled[word] - 1;
    if (q->filled[word] == 0)
        q->words[w] &= q->words[w] - 1;
    /* The list has what came last in front: fill from the end to have the first come first. */
    uint32_t at = q->heads[q->rank];
    q->heads[q->rank] = 0;
    size_t n = 0;
    for (uint32_t i = at; i != 0; i = q->nodes[i - 1].next)
        n++;
    q->n_open = n;
    for (; at != 0; at = q->nodes[at - 1].next)
        q->open[--n] = q->nodes[at - 1].position;
    q->at = 0;
    put_in_order(q);
    return true;
}

/* How far ahead `soon` looks. */
#define AHEAD 8

bool bpe_rank_queue_pop(bpe_rank_queue *q, uint32_t *rank, uint32_t *position, uint32_t *soon) {
    for (;;) {
        bool more = q->at < q->n_open;
        uint64_t key = more ? (uint64_t)q->rank << 32 | q->open[q->at] : UINT64_MAX;
        if (q->n_heap > 0 && q->heap[0] <= key) {
            key = heap_pop(q);
            *rank = (uint32_t)(key >> 32);
            *position = *soon = (uint32_t)key;
            return true;
        }
        if (more) {
            *rank = (uint32_t)q->rank;
            *position = q->open[q->at];
            *soon = q->open[q->at + AHEAD < q->n_open ? q->at + AHEAD : q->at];
            q->at++;
            return true;
        }
        if (!open_next(q))
            return false;
    }
}
