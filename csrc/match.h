/*
 * Match: all occurrences of a set of strings, leftmost-longest, in time linear in the text.
 *
 * Reading the text from its end with an Aho-Corasick automaton over the reversed strings, the
 * automaton's state at position p knows the longest string that starts at p. Walking those
 * positions from the left and skipping what a match covers gives the leftmost-longest matches, with
 * no rescanning whatever the strings (a forward automaton has to go back after a long attempt that
 * fails).
 */
#ifndef BPE_MATCH_H
#define BPE_MATCH_H

#include <stdbool.h>

#include "bpe.h"

typedef struct bpe_hit {
    size_t start;
    size_t end;
    uint32_t id;
} bpe_hit;

/* Growing array of hits; zero it before first use and free it with bpe_hits_free. */
typedef struct bpe_hits {
    bpe_hit *items;
    size_t n;
    size_t cap;
} bpe_hits;

/* Replace the contents of `hits` by the matches in data[0, n), in ascending order. False when out
 * of memory. */
bool bpe_match_scan(const bpe_match *match, const uint8_t *data, size_t n, bpe_hits *hits);

/* The same, overlaps and all: for each place where strings begin, the longest of them. */
bool bpe_match_scan_all(const bpe_match *match, const uint8_t *data, size_t n, bpe_hits *hits);

/* Bytes of the longest string of the set. */
size_t bpe_match_longest(const bpe_match *match);

void bpe_hits_free(bpe_hits *hits);

#endif
