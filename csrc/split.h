/*
 * Split: text -> pretokens, by the tables of bpe_split_new.
 *
 * A cursor walks one text and hands out pretoken ends in batches. Level k of the cursor holds the
 * span that stage k is cutting; what it cuts off becomes the span of level k + 1; the last level's
 * pieces are the pretokens.
 *
 * Linear time. A stage takes the longest-surviving match, so it may read far past the end of the
 * match it takes
 * (`\s+x|\s` on a million spaces) and do so again from the next position. The first time that
 * happens in a span, the level starts to remember pairs (state, position) from which reading on
 * found nothing (T. Reps, "Maximal-munch tokenization in linear time", TOPLAS 1998): each pair is
 * then read over at most once. One position in sixteen is remembered, the first character boundary
 * of each 16-byte window, which bounds both memory and extra reading.
 */
#ifndef BPE_SPLIT_H
#define BPE_SPLIT_H

#include <stdbool.h>

#include "bpe.h"
#include "walk.h"

/* One level of the cursor. Invariant: start <= pos <= end; matched_end is 0 or a match [pos,
 * matched_end) already found behind a gap that was handed out before it. */
typedef struct bpe_split_level {
    size_t start;
    size_t pos;
    size_t end;
    size_t matched_end;
    size_t searched;  /* no match begins in [pos, searched), if that is anything */
    uint64_t *failed; /* bit per (window of 16 bytes from start, state); NULL until the first long
                         failure */
} bpe_split_level;

/* What the streaming automaton of a stage before the last one has found ahead of its level. */
typedef struct bpe_split_ahead {
    bpe_walk walk;
    size_t at; /* ends[at, n) are ahead */
    size_t n;
    size_t ends[64];
} bpe_split_ahead;

typedef struct bpe_split_cursor {
    const bpe_split *split;
    const uint8_t *data;
    size_t n;       /* the text ends here, or what is known of it does */
    size_t settled; /* everything before is handed out */
    bool open;      /* more text may follow: pretokens that it could change are held back */
    bool nomem;     /* memory for the failed pairs could not be had: the walk has stopped */
    bpe_split_level levels[BPE_MAX_STAGES];
    bpe_walk walk;          /* of the last level */
    bpe_split_ahead *ahead; /* of the others; NULL until there is a long text, and after that if
                               there was no memory */
} bpe_split_cursor;

/*
 * Start at `begin` of the text data[0, n) (begin is where a pretoken starts; what lies before plays
 * no part). With `open`, the text is the beginning of a longer one: the walk stops before the first
 * pretoken that further text could still change, and cursor->settled says where; go on from there
 * when more is known.
 */
void bpe_split_begin(bpe_split_cursor *cursor, const bpe_split *split, const uint8_t *data,
                     size_t begin, size_t n, bool open);

/*
 * Write up to `cap` further pretoken ends (offsets in data; each pretoken starts where the one
 * before it ends, the first at `begin`). Returns how many; fewer than `cap` means the walk is over,
 * or that cursor->nomem is set.
 */
size_t bpe_split_next(bpe_split_cursor *cursor, size_t *ends, size_t cap);

/* The same with the pretokens' starts: the way to walk through splits that drop text. */
size_t bpe_split_next_spans(bpe_split_cursor *cursor, size_t *starts, size_t *ends, size_t cap);

/* The first stage, NULL when there is none. */
const bpe_stage *bpe_split_first_stage(const bpe_split *split);

/* Free what the cursor holds. */
void bpe_split_end(bpe_split_cursor *cursor);

#endif
