/*
 * Words: the distinct pretokens that training works on.
 *
 * They lie one after another in an array of slots, one slot for each byte:
 *
 *     frequency | id id id ... id | none | frequency | id ...
 *
 * A token that covers several slots has its id in the first and in the last, and "none" between
 * them. So merging is local: from a token at p, the next one starts at p + its length, and the one
 * before ends at p - 1. Nothing moves, so positions stay good for ever, and one can ask at any
 * time whether a pair still is where it once was. (A position where a token starts never becomes
 * the last slot of another token with the same id, because tokens only grow.)
 *
 * The upper 8 bits of a slot are its distance from the word's first slot, which leads to the
 * frequency without another array; 255 stands for "255 or more", and then the word is searched
 * among the long ones. A frequency that does not fit a slot is found in the same way.
 */
#ifndef BPE_WORDS_H
#define BPE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "count.h"
#include "maps.h"
#include "model.h"

/* The low 24 bits of a slot: an id, or "no token starts or ends here". */
#define BPE_SLOT_ID 0xFFFFFFu
#define BPE_SLOT_NONE BPE_SLOT_ID

#define BPE_SLOTS_SPARE 7 /* behind the last one, so that they may be asked for */

#define BPE_DISTANCE_SHIFT 24
#define BPE_DISTANCE_MAX 255u
#define BPE_HEAVY UINT32_MAX /* in a frequency slot: look among the heavy words */

typedef struct bpe_words {
    uint32_t *slots; /* with BPE_SLOTS_SPARE more behind them */
    size_t n_slots;
    uint32_t *long_starts; /* the first slots of words of more than 255 bytes, ascending */
    size_t n_long;
    size_t last_long;       /* the one that was asked for last */
    uint32_t *heavy_starts; /* the first slots of words whose frequency does not fit, ascending */
    uint64_t *heavy_counts;
    size_t n_heavy;
} bpe_words;

/*
 * Lay out the pretokens of two bytes or more in the order of their first positions: with byte b as
 * byte_ids[b], or, unless `initial` is NULL, as the ids that it encodes them to. BPE_OK,
 * BPE_ERR_NOMEM, or BPE_ERR_LIMIT: 4 GB or more, or 2^63 or more pairs with their frequencies, or a
 * pretoken too long to encode. `words` must be zeroed; free it whatever the result.
 */
bpe_status bpe_words_init(bpe_words *words, const bpe_counts *counts, const uint32_t *byte_ids,
                          const bpe_model *initial);
void bpe_words_free(bpe_words *words);

/* For bpe_word_start: the first slot of the long word that p belongs to. */
uint32_t bpe_words_long_start(bpe_words *words, uint32_t p);

/* For bpe_word_frequency: the frequency of a heavy word. */
uint64_t bpe_words_heavy_count(const bpe_words *words, uint32_t start);

/* The first slot of the word that slot p belongs to. */
static inline uint32_t bpe_word_start(bpe_words *words, uint32_t p) {
    uint32_t distance = words->slots[p] >> BPE_DISTANCE_SHIFT;
    return distance < BPE_DISTANCE_MAX ? p - distance : bpe_words_long_start(words, p);
}

/* The frequency of the word whose first slot is `start`. */
static inline uint64_t bpe_word_frequency(const bpe_words *words, uint32_t start) {
    uint32_t frequency = words->slots[start - 1];
    return frequency != BPE_HEAVY ? frequency : bpe_words_heavy_count(words, start);
}

static inline uint32_t bpe_slot_id(const bpe_words *words, size_t p) {
    return words->slots[p] & BPE_SLOT_ID;
}

static inline void bpe_slot_set(bpe_words *words, size_t p, uint32_t id) {
    words->slots[p] = (words->slots[p] & ~BPE_SLOT_ID) | id;
}

/* Walks over all pairs of adjacent tokens, in ascending order of position. */
typedef struct bpe_words_walk {
    size_t p; /* the token that is the left part of the next pair */
    uint32_t id;
    uint64_t frequency; /* of its word */
} bpe_words_walk;

/* Go to the word whose first slot is `start`; to begin with, that is 1. */
static inline void bpe_words_walk_to(const bpe_words *words, bpe_words_walk *walk, size_t start) {
    bool inside = start < words->n_slots;
    walk->p = start;
    walk->id = inside ? bpe_slot_id(words, start) : 0;
    walk->frequency = inside ? bpe_word_frequency(words, (uint32_t)start) : 0;
}

/* The next pair and its position; false after the last. `lengths` are those of the tokens. */
static inline bool bpe_words_walk_next(const bpe_words *words, const uint32_t *lengths,
                                       bpe_words_walk *walk, uint64_t *key, uint32_t *pos) {
    while (walk->p < words->n_slots) {
        size_t next = walk->p + lengths[walk->id];
        uint32_t right = bpe_slot_id(words, next);
        if (right != BPE_SLOT_NONE) {
            *key = bpe_pair_key(walk->id, right);
            *pos = (uint32_t)walk->p;
            walk->p = next;
            walk->id = right;
            return true;
        }
        bpe_words_walk_to(words, walk, next + 2);
    }
    return false;
}

#endif
