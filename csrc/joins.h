/*
 * Joins: the symbols of a codepoint model in training, and which of them may be joined.
 *
 * Whether a string may be a piece is a matter of all its characters: how many, where marks are, of
 * which scripts. A symbol keeps a summary of its string, so that joining two takes constant time:
 *
 *   scripts   Reading from the left, a character must be of the script that those before it are of;
 *             a character of no script of its own (inherited) is of theirs, and one that goes with
 *             all of them makes everything good again. So of the right string only the first script
 *             that it asks for matters, and of the left one where it leaves off.
 *   marks     whether there are any, and whether they are at the edges only.
 */
#ifndef BPE_JOINS_H
#define BPE_JOINS_H

#include <stdbool.h>

#include "bpe.h"
#include "maps.h"

#define BPE_MARK_CODEPOINT 0x2581u

/* In `first`: nothing but marks and inherited characters. */
#define BPE_CLASS_NONE 252

typedef struct bpe_join_symbol {
    uint16_t length; /* characters */
    uint8_t first;   /* the first class that counts, or BPE_CLASS_NONE */
    uint8_t last;    /* the class that what comes behind must have, or BPE_CLASS_ANY */
    bool lone;       /* goes with nothing */
    bool mark_first; /* the first character is a mark */
    bool mark_last;
    bool mark_inner; /* a mark is behind the first character */
    bool mark_early; /* a mark is before the last character */
    bool all_marks;
} bpe_join_symbol;

typedef struct bpe_joins {
    uint32_t rules; /* BPE_JOIN_* */
    size_t longest;
    bpe_join_symbol *symbols;
    size_t symbols_cap;
    bpe_intern texts; /* the UTF-8 of each symbol, by its id */
} bpe_joins;

/* Fill zeroed joins with the alphabet, whose ids count from 0. BPE_OK; BPE_ERR_NOMEM; BPE_ERR_ARG
 * (err->pos). Free them whatever the result. */
bpe_status bpe_joins_init(bpe_joins *joins, const bpe_pieces_trainer_spec *spec, bpe_error *err);
void bpe_joins_free(bpe_joins *joins);

/* Whether the concatenation of two symbols may be a piece. */
bool bpe_joins_allow(const bpe_joins *joins, uint32_t left, uint32_t right);

/* Make the symbol of two that are allowed; it gets the next id. False when out of memory. */
bool bpe_joins_add(bpe_joins *joins, uint32_t left, uint32_t right);

/* Whether the concatenation is a symbol already. */
bool bpe_joins_known(const bpe_joins *joins, uint64_t pair);

/* Write the UTF-8 of the concatenation of an allowed pair to `out` and return its size. */
#define BPE_JOIN_BYTES (4 * BPE_MAX_JOIN)
size_t bpe_joins_spell(const bpe_joins *joins, uint64_t pair, uint8_t *out);

/*
 * Pairs with the same count, of whose pieces all have as many characters, in the order of the UTF-8
 * of the pieces. The trainer takes them from the heap together: none that a merge makes can come
 * between them, since what is made of a piece is longer.
 */
typedef struct bpe_equal_pair {
    uint64_t prefix; /* of the piece: 8 bytes as a number */
    uint64_t key;
} bpe_equal_pair;

typedef struct bpe_equals {
    bpe_equal_pair *items;
    bpe_equal_pair *spare;
    size_t n;
    size_t cap;
    size_t spare_cap;
    size_t at; /* all before it are taken */
    uint64_t count;
} bpe_equals;

void bpe_equals_free(bpe_equals *equals);

/* Add a pair; all the others with its count and length are added before one is taken. False when
 * out of memory. */
bool bpe_equals_add(bpe_equals *equals, const bpe_joins *joins, uint64_t key);

/* Sort all that were added. False when out of memory. */
bool bpe_equals_sort(bpe_equals *equals, const bpe_joins *joins);

#endif
