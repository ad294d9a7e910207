/*
 * Pieces: a codepoint model, ready to encode and decode.
 *
 * What is joined are symbols: the strings that pieces are made of by joining. A symbol is a piece
 * that joins can make, or a character that occurs in such a piece without being one. All other
 * characters never join and need no symbol. The joining itself is that of merge.h: a table (left
 * symbol, right symbol) -> (rank, symbol), where the rank is the place of the score among all
 * scores, the highest first.
 *
 * Text is cut where no piece has two characters next to each other (pieces_chars.h), and each part
 * is joined by itself and may be cached.
 */
#ifndef BPE_PIECES_H
#define BPE_PIECES_H

#include <stdbool.h>

#include "bpe.h"
#include "maps.h"
#include "match.h"
#include "merge.h"
#include "normalize.h"
#include "pieces_chars.h"

/* Set in a symbol that is a user-defined piece found in text; the other bits are its id. It joins
 * with nothing. */
#define BPE_FROZEN 0x80000000u

/* What becomes of a symbol that is left at the end. */
enum {
    BPE_SYMBOL_PIECE,   /* its piece */
    BPE_SYMBOL_UNUSED,  /* the two symbols it was made of, or unknown */
    BPE_SYMBOL_UNKNOWN, /* unknown */
};

/* The user-defined pieces, as they look in some form of text. */
typedef struct bpe_users {
    bpe_match *match; /* NULL: there are none; reports the piece's id */
    uint32_t *taken;  /* by piece id: the piece to take where it is found, and its bytes here */
    uint32_t *lengths;
    bool shortens; /* some pieces are not taken themselves */
} bpe_users;

struct bpe_pieces {
    uint32_t n_pieces;
    uint32_t unk; /* BPE_NO_ID: there is none */
    uint32_t byte_ids[256];
    uint8_t *types;
    bpe_intern by_text; /* string i is piece i */

    bpe_normalizer normalizer;
    bpe_normalizer denormalizer;
    bpe_users raw_users;  /* in the source */
    bpe_users text_users; /* in normalised text */

    bool byte_fallback;
    bool escapes; /* a space of the source is a mark in the text */
    bool compact; /* text is in the compact form, and all UTF-8 */
    bool whole;   /* text cannot be cut; see bpe_pieces_new */
    bool direct;  /* text need not be normalised: it is its source, if in it marks count as spaces
                     and bytes that are not UTF-8 as U+FFFD, and a mark is put before it */

    bpe_intern symbols;      /* in the form that text has */
    uint32_t *symbol_pieces; /* the piece with the same text, of any type, or BPE_NO_ID */
    uint8_t *symbol_kinds;
    bpe_rules rules;

    bpe_chars chars; /* of compact text */

    /* What each piece decodes to: decoded[decoded_ends[i - 1], decoded_ends[i]). */
    uint8_t *decoded;
    size_t *decoded_ends;
};

/* How long a character is by its first byte alone, when `room` bytes are left. */
static inline size_t bpe_char_length(uint8_t first, size_t room) {
    size_t n = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    return n < room ? n : room;
}

/* A character of text, p[0, *n), as pieces have it: in compact text a space stands for the mark,
 * and a byte that is not UTF-8 for U+FFFD. Returns its bytes, *n of them. */
static inline const uint8_t *bpe_char_spelt(const bpe_pieces *m, const uint8_t *p, size_t *n) {
    if (!m->compact || *n > 1 || (*p < 0x80 && !(m->escapes && *p == ' ')))
        return p;
    *n = 3;
    return *p == ' ' ? BPE_MARK : (const uint8_t *)"\xEF\xBF\xBD";
}

/* Find user-defined pieces: all places where one starts, ascending, overlaps and all; none when
 * there are none. False when out of memory. */
bool bpe_users_find(const bpe_users *users, const uint8_t *data, size_t n, bpe_hits *hits);

#endif
