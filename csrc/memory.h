/*
 * Memory: the only place that calls the C allocator, and the only place that checks sizes for
 * overflow. (The C library's qsort may allocate for itself; it sorts in place where it cannot.)
 *
 * Built with -DBPE_TEST_ALLOC, allocations are counted and the n-th can be made to fail, so that
 * tests can prove that nothing leaks and that every failure is handled. That build has globals; the
 * library has none.
 */
#ifndef BPE_MEMORY_H
#define BPE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpe.h"

/* n elements of `size` bytes, not cleared; NULL when out of memory or when the product overflows. n
 * = 0 gives a pointer that may be freed. */
void *bpe_mem_array(size_t n, size_t size);

/* The same, cleared. Large areas cost nothing until they are touched. */
void *bpe_mem_zeroed(size_t n, size_t size);

/* The same for a hash table, which is read and written all over: where the system has large pages
 * for the asking, it takes fewer faults to fill and fewer address translations to use. */
void *bpe_mem_table(size_t n, size_t size);

/* The same, beginning at a cache line; *memory is what is to be freed. If all of it will be written
 * soon, here and there, clear it again first: pages that are read before they are written, one by
 * one, cost twice as much. */
void *bpe_mem_lines(size_t n, size_t size, void **memory);

#define BPE_LINE_BYTES 64

/* Have n bytes of a cleared area be there at once, where all of it will be used soon, here and
 * there. A page that is read before it is written is made twice, and the second time every other
 * thread of the process is interrupted. Different parts may be touched by different threads. */
void bpe_mem_touch(void *p, size_t n);

/* A copy of n elements of `size` bytes. */
void *bpe_mem_copy(const void *source, size_t n, size_t size);

void bpe_mem_free(void *p);

/*
 * Make room for at least `need` elements in the array *p that now has room for *cap, growing by
 * half or more so that repeated growth is linear. Returns false, changing nothing, when out of
 * memory.
 */
bool bpe_mem_grow(void **p, size_t *cap, size_t need, size_t size);

/* Give an array back that has room for more than `keep` elements. */
void bpe_mem_trim(void **p, size_t *cap, size_t keep);

/*
 * A number that cannot be told in advance by whoever wrote the text or the file at hand: the system
 * lays out memory at random, and this comes of the addresses of an allocation and of the stack.
 * Hash tables are seeded with it, so that nobody can choose keys that collide; no result depends on
 * it.
 */
uint64_t bpe_seed(const void *allocation);

/* Write to an optional error and return its code: `return bpe_fail(err, BPE_ERR_ARG, i);` */
bpe_status bpe_fail(bpe_error *err, bpe_status code, size_t pos);

#ifdef BPE_TEST_ALLOC
extern long bpe_test_live_allocations; /* allocated and not yet freed */
extern long
    bpe_test_fail_after; /* this many allocations succeed, every later one fails; -1: none fails */
#endif

#endif
