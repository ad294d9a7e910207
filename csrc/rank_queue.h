/*
 * Rank queue: which pair of a long pretoken merges next, lowest rank first, leftmost first.
 *
 * A heap would do, but its entries scatter over memory. Ranks are small integers, and in nearly
 * every vocabulary a merge only makes pairs of higher rank than its own, so the queue is one bucket
 * of positions for each rank, opened in ascending order; positions that came in several ascending
 * runs are put in order when their bucket is opened. What comes too late for its bucket, because
 * that is open or gone, goes to a heap beside.
 *
 * Invariants: every bucket's rank is above `rank`, that of the open bucket; every rank in the heap
 * is at most `rank`; bit r of `filled` is set if bucket r holds something, and bit w of `words` if
 * any bit of filled[w] is; between two uses all buckets are empty, so that beginning costs nothing.
 */
#ifndef BPE_RANK_QUEUE_H
#define BPE_RANK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bpe_rank_queue {
    uint32_t *heads; /* of each bucket's list: node + 1, or 0 */
    uint64_t *filled;
    uint64_t *words;
    size_t n_ranks; /* room for ranks below this */
    struct bpe_rank_node *nodes;
    size_t n_nodes;
    size_t nodes_cap;
    uint32_t *open; /* positions of the open bucket, ascending, from `at` on */
    uint32_t *spare;
    size_t open_cap;
    size_t spare_cap;
    size_t at;
    size_t n_open;
    int64_t rank; /* of the open bucket; -1 before the first */
    int64_t last; /* the highest rank of a bucket with something in it */
    uint64_t *heap;
    size_t n_heap;
    size_t heap_cap;
} bpe_rank_queue;

/* Make a zeroed or used-up queue ready for ranks below n_ranks and at most n_entries pushes in all.
 * False when out of memory; the queue may be freed or begun again. */
bool bpe_rank_queue_begin(bpe_rank_queue *queue, size_t n_ranks, size_t n_entries);
void bpe_rank_queue_free(bpe_rank_queue *queue);

void bpe_rank_queue_push(bpe_rank_queue *queue, uint32_t rank, uint32_t position);

/* Take out the entry of the lowest rank, of several the one of the lowest position. False when
 * there is none. *soon receives a position that is likely to come out some steps later, or
 * *position. */
bool bpe_rank_queue_pop(bpe_rank_queue *queue, uint32_t *rank, uint32_t *position, uint32_t *soon);

#endif
