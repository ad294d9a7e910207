/*
 * Train: counts -> merges. How it works is told at the top of train.c.
 */
#ifndef BPE_TRAIN_H
#define BPE_TRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "bpe.h"
#include "joins.h"
#include "pairs.h"
#include "words.h"

/* What one merge does to the pairs with one neighbour: x in "x a b" -> "x c", y in "a b y" -> "c
 * y". */
typedef struct bpe_neighbour {
    uint64_t weight; /* that moves from the old pair to the new one; 0 between merges */
    uint32_t n;      /* positions of the new pair; 0 between merges */
    uint32_t next;   /* where its next position goes, from the end of the arena; or not kept. One
                        merge takes two slots and makes two pairs at most, so 32 bits do */
} bpe_neighbour;

/* A place where the merge happened, and its neighbours. */
typedef struct bpe_merge_event {
    uint32_t pos;
    uint32_t left; /* BPE_SLOT_NONE at the edge of a word */
    uint32_t right;
} bpe_merge_event;

struct bpe_trainer {
    /* Options. */
    size_t n_wanted;
    uint32_t ties;
    uint64_t floor;    /* pairs with smaller counts are never merged; 0: every pair is kept */
    size_t longest;    /* nor are those that make a token of more bytes than this */
    bool has_unwanted; /* whether there may be frequent pairs that are never merged */

    bpe_words words;

    /* What training goes on from, or NULL; and room to spell a token in, which may be one of its.
     */
    const bpe_model *initial;
    size_t longest_known; /* bytes of its longest token */
    uint8_t *spelling;    /* of longest_known bytes */
    uint32_t *spell_stack;

    /* Of codepoint models: what may be joined, and the pairs to take before those in the heap. */
    bpe_joins *joins; /* or NULL */
    bpe_equals equals;

    /* The pairs that may be merged and whose count is at least `threshold`. */
    uint64_t threshold;
    bpe_pair_table pairs;
    bpe_pair_heap heap;
    uint32_t *arena;
    size_t arena_n;
    size_t arena_cap;

    /* Tokens and merges. */
    uint32_t *lengths; /* slots of each token: bytes, or characters */
    size_t n_ids;
    size_t first_id;  /* of the tokens made here */
    size_t ids_cap;   /* room in `lengths` and in the scratch arrays by id */
    uint32_t *merges; /* left, right, left, right ... */
    uint64_t *merge_counts;
    size_t n_merges;

    /* Scratch, indexed by id. */
    bpe_neighbour *left;
    bpe_neighbour *right;
    uint32_t *left_ids; /* which of them are in use */
    uint32_t *right_ids;
    size_t n_left;
    size_t n_right;
    bpe_merge_event *events;
    size_t events_cap;
    size_t n_events;

    uint64_t work;
    uint32_t stop;
    bpe_status failed;
};

/* Make room for one more token, with zeros in the scratch arrays. */
bool bpe_trainer_reserve_id(bpe_trainer *t);

#endif
