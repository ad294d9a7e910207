/*
 * Pieces batch: parts of text, as bpe_cutter makes them -> ids; what pretokens.h is for tokens.
 *
 * A part of one character is looked up among the characters, and any other part in the cache. What
 * is not there leaves a gap and is joined together with others; see gaps.h.
 */
#ifndef BPE_PIECES_BATCH_H
#define BPE_PIECES_BATCH_H

#include "gaps.h"
#include "pieces_workspace.h"

_Static_assert(BPE_MAX_CUTS <= BPE_MAX_KEYS, "what one round cuts is looked up at a time");

/* More ids than this many for each byte of text there are not: those that spell a mark, which may
 * be one byte of text. */
#define BPE_IDS_PER_BYTE BPE_MARK_BYTES

typedef struct bpe_parts {
    const bpe_pieces *m;
    bpe_pieces_workspace *w; /* ids go to w->ids */
    size_t n_ids;
    size_t first;    /* of the ids that are not yet as they should be */
    size_t first_id; /* of the stretch at hand: unknowns do not run together across it */
    bpe_gaps gaps;   /* buckets of parts of one character are those in `chars` */
    bpe_cache_entry chars[BPE_MAX_CUTS];
} bpe_parts;

/* Begin with no ids. */
void bpe_parts_begin(bpe_parts *parts, const bpe_pieces *m, bpe_pieces_workspace *workspace);

/* See that ids of n bytes of text have room behind those that there are. */
bool bpe_parts_reserve(bpe_parts *parts, size_t n);

/* The ids for a character of compact text that is no piece, to `to`; returns how many. */
size_t bpe_parts_spell(const bpe_pieces *m, const uint8_t *p, size_t n, uint32_t *to);

/*
 * Add parts of text side by side, from `start` to each of n <= BPE_MAX_CUTS ends; `kinds` are as
 * bpe_cutter_more has them. The text stays where it is until the batch is finished, and may be read
 * up to `readable`. BPE_OK, BPE_ERR_NOMEM, or BPE_ERR_LIMIT for a part of BPE_MAX_PRETOKEN
 * characters or more; after any but BPE_OK the batch is of no use.
 */
bpe_status bpe_parts_add(bpe_parts *parts, const uint8_t *text, const uint8_t *readable,
                         size_t start, const size_t *ends, const uint32_t *kinds, size_t n);

/* All ids are as they should be afterwards. More may be added. */
bpe_status bpe_parts_finish(bpe_parts *parts);

#endif
