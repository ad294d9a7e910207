/*
 * Agenda: joining by the definition, a whole text at once, with what bpe_merge_long leaves out:
 * joins that are skipped at random, and a record of what unused pieces were made of.
 */
#ifndef BPE_AGENDA_H
#define BPE_AGENDA_H

#include <stdbool.h>

#include "bpe.h"
#include "maps.h"
#include "merge.h"

/* A stream of random numbers; see bpe_dropout in bpe.h. */
typedef struct bpe_chance {
    uint64_t state;
    uint64_t threshold; /* alpha * 2^53 */
} bpe_chance;

/* Scratch; zero it before first use. */
typedef struct bpe_agenda {
    struct bpe_agenda_part *parts;
    size_t parts_cap;
    struct bpe_agenda_entry *heap;
    size_t heap_cap;
} bpe_agenda;

void bpe_agenda_free(bpe_agenda *agenda);

/*
 * Join symbols[0, n), n < 2^32 - 1, lowest rank first, leftmost first among equals. starts[i] says
 * where in the text symbol i begins. Both arrays are shortened in place to *n_left entries.
 *
 * chance   which joins to skip; NULL: none
 * kinds    of symbols, for `back`
 * back     symbol -> the two symbols it was last a candidate to be made of, for symbols of the kind
 *          BPE_SYMBOL_UNUSED; NULL: not wanted
 * Returns BPE_OK or BPE_ERR_NOMEM. O(n log n).
 */
bpe_status bpe_agenda_join(bpe_agenda *agenda, const bpe_rules *rules, uint32_t *symbols,
                           size_t *starts, size_t n, bpe_chance *chance, const uint8_t *kinds,
                           bpe_pair_map *back, size_t *n_left);

#endif
