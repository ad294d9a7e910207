/*
 * Order: the strings of a table sorted by their bytes, read from the front or from the back.
 *
 * Sorted from the front, strings that begin alike stand together, and a string's prefixes come
 * before it; from the back, the same holds for suffixes. Each string's first eight bytes travel
 * with it, so that most of the work, here and for whoever walks through the result, reads no
 * string.
 */
#ifndef BPE_ORDER_H
#define BPE_ORDER_H

#include <stdbool.h>

#include "maps.h"

typedef struct bpe_order_item {
    uint64_t head;   /* the first eight bytes in reading direction, the first in the high bits;
                        zeros behind the string's end */
    uint32_t index;  /* of the string in its table */
    uint32_t length; /* in bytes */
} bpe_order_item;

/* Zero it before first use; use it again for further sorts. */
typedef struct bpe_order {
    bpe_order_item *items; /* what bpe_order_sort made: the strings in ascending order */
    size_t n;
    size_t cap;
    bpe_order_item *spare; /* the rest is scratch */
    struct bpe_order_run *runs;
    size_t runs_cap;
} bpe_order;

/*
 * Sort the first n strings of `table`, which are distinct and below 2^32 bytes each. `backwards`:
 * bytes are read from the last to the first. Takes O(total bytes) time; false when out of memory.
 */
bool bpe_order_sort(bpe_order *order, const bpe_intern *table, size_t n, bool backwards);
void bpe_order_free(bpe_order *order);

/* How many bytes two neighbours of the order have in common, in reading direction. */
size_t bpe_order_common(const bpe_intern *table, const bpe_order_item *x, const bpe_order_item *y,
                        bool backwards);

#endif
