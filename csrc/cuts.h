/*
 * Cuts: every way to cut a string of a table into two strings of that table.
 *
 * In the order of strings read from the front, the strings of the table that a string begins with
 * are the ones a stack holds when it is reached; so with its ends in the order read from the back.
 * A string's cuts are the pairs of a beginning and an end whose lengths add up to its own. No
 * string is looked up, and nothing is hashed: time O(total bytes), whatever the strings.
 */
#ifndef BPE_CUTS_H
#define BPE_CUTS_H

#include "bpe.h"
#include "maps.h"

/* String `whole` is string `left` followed by string `right`: indexes in the table. */
typedef struct bpe_cut {
    uint32_t whole;
    uint32_t left;
    uint32_t right;
} bpe_cut;

/* Cuts are handed over so many at a time. */
#define BPE_CUTS_BATCH 64

/*
 * Call take(context, cuts, n) for all cuts among the first n strings of the table, 1 to
 * BPE_CUTS_BATCH at a time, in an order that is of no use; each cut comes once. The strings are
 * distinct, none is empty. A status other than BPE_OK ends the walk and is returned; BPE_ERR_NOMEM.
 */
bpe_status bpe_cuts_find(const bpe_intern *table, size_t n,
                         bpe_status (*take)(void *context, const bpe_cut *cuts, size_t n_cuts),
                         void *context);

#endif
