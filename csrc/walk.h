/*
 * Walking through a text by a streaming automaton: block by block, boundaries come out as bits,
 * rare events are turned into bits, too, and the bits into ends of pretokens.
 *
 * The walk ends before the end of the text, at the last boundary that some later character has made
 * certain: the end of a text is not for this automaton.
 */
#ifndef BPE_WALK_H
#define BPE_WALK_H

#include "stream.h"

typedef struct bpe_walk {
    enum { BPE_WALK_FRESH, BPE_WALK_ON, BPE_WALK_OVER } phase;
    uint8_t state; /* behind the block */
    const bpe_stream *stream;
    const uint8_t *data;
    size_t start; /* the walk is through data[start, end) */
    size_t end;
    size_t pos;  /* everything before is handed out */
    size_t from; /* the block at hand is data[from, to) */
    size_t to;
    size_t early; /* not 0: pretokens that end before the block are to be found in data[0, early) */
    size_t word;  /* what is before this word of the block is handed out */
    size_t n_words;
    bpe_stream_block block;
} bpe_walk;

/* Start where a pretoken starts; what lies before plays no part. */
void bpe_walk_begin(bpe_walk *w, const bpe_stream *stream, const uint8_t *data, size_t start,
                    size_t end);

/* Write up to `cap` further pretoken ends and return how many. With fewer than `cap`, the walk is
 * over: from w->pos on there is at most one pretoken and what the last few bytes of the text hold.
 */
size_t bpe_walk_next(bpe_walk *w, size_t *ends, size_t cap);

/* Behind the end of a walk: no match begins from w->pos up to the result. It may be 0. */
size_t bpe_walk_searched(const bpe_walk *w);

#endif
