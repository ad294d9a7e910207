/*
 * Characters of a codepoint model: which symbol each of them is, and which of them stand next to
 * each other in some piece.
 *
 * What joins make is always a piece. So where two characters stand next to each other that do so in
 * no piece, no join ever crosses, and text may be cut: each part is joined by itself and may be
 * cached. This needs no notion of a word. Where no piece has a mark behind another character it
 * cuts before each word; where pieces keep to one script, between scripts; and a character of
 * which no longer piece is made is always by itself.
 */
#ifndef BPE_PIECES_CHARS_H
#define BPE_PIECES_CHARS_H

#include <stdbool.h>

#include "bpe.h"
#include "maps.h"
#include "utf8.h"

/* A character without a symbol. No pair with it may look like BPE_NO_PAIR. */
#define BPE_NO_SYMBOL 0x7FFFFFFFu

typedef struct bpe_char {
    uint32_t symbol; /* or BPE_NO_SYMBOL */
    uint32_t info;   /* the id that it is by itself, or BPE_CHAR_NO_ID; and BPE_CHAR_JOINS_* */
} bpe_char;

#define BPE_CHAR_ID_MASK (BPE_MAX_IDS - 1)
#define BPE_CHAR_NO_ID BPE_CHAR_ID_MASK  /* there are fewer than BPE_MAX_IDS pieces */
#define BPE_CHAR_JOINS_LEFT 0x80000000u  /* some character stands before it in a piece */
#define BPE_CHAR_JOINS_RIGHT 0x40000000u /* some character stands behind it */

#define BPE_CHAR_PAGES (0x110000 >> 8)

/* Two bytes as a number, in whatever order the machine has. */
static inline size_t bpe_two_bytes(const uint8_t *p) {
    uint16_t x;
    memcpy(&x, p, 2);
    return x;
}

typedef struct bpe_chars {
    /* The page of each codepoint >> 8; 256 characters are a page, and those of page 0 have no
     * symbols. */
    uint16_t pages[BPE_CHAR_PAGES];
    bpe_char *all;
    size_t cap;
    /* 1 where text may be cut between two ASCII characters, in the place that bpe_two_bytes says.
     */
    uint8_t ascii_cuts[128 << 8];
    /* A set of (symbol, symbol) of all pairs. A bit per hash, so it may say "yes" by mistake, which
     * costs a cut and no correctness. */
    uint64_t *pairs;
    size_t pairs_mask;
} bpe_chars;

/*
 * Fill a zeroed struct. `symbols` are strings of UTF-8, among them each character of the others;
 * ids[i] is what symbol i is by itself, or BPE_CHAR_NO_ID; ascii_ids[] is what ASCII characters are
 * that are no symbol. With `marks`, the mark U+2581 is taken for a space. False when out of memory;
 * free it all the same.
 */
bool bpe_chars_init(bpe_chars *chars, const bpe_intern *symbols, const uint32_t *ids,
                    const uint32_t ascii_ids[128], bool marks);

/* The same without any symbol. */
bool bpe_chars_init_empty(bpe_chars *chars);

void bpe_chars_free(bpe_chars *chars);

static inline const bpe_char *bpe_chars_at(const bpe_chars *chars, uint32_t cp) {
    return &chars->all[((size_t)chars->pages[cp >> 8] << 8) + (cp & 255)];
}

/* The id of a character by itself, or BPE_CHAR_NO_ID. */
static inline uint32_t bpe_char_id(const bpe_char *c) { return c->info & BPE_CHAR_ID_MASK; }

/* What a part of text is: the id of its only character, or BPE_CHAR_NO_ID if that has none; or
 * this, if it has several. One ASCII character may be called either. */
#define BPE_PART_LONG 0xFFFFFFFFu

/* Text that is being cut: all before `at` was read. */
typedef struct bpe_cutter {
    const bpe_chars *chars;
    const uint8_t *text; /* bytes that are not UTF-8 count as U+FFFD */
    size_t at;
    size_t start;    /* of the part that is not cut off yet */
    uint8_t byte;    /* the character before `at`, if it is ASCII; else 128 or above */
    bpe_char before; /* that character, if it is not */
    size_t before_start;
} bpe_cutter;

/* Begin at a character's beginning, at < n. There is no cut before it. */
void bpe_cutter_begin(bpe_cutter *cutter, const bpe_chars *chars, const uint8_t *text, size_t at,
                      size_t n);

/* Places that bpe_cutter_more notes at most, and at least if it does not come to the end. */
#define BPE_MAX_CUTS 256
#define BPE_MIN_CUTS (BPE_MAX_CUTS - 64)

/* Go on in the first n bytes of the text and note where it may be cut, ends[BPE_MAX_CUTS], and what
 * the parts before these places are, kinds[BPE_MAX_CUTS], until `enough` <= BPE_MIN_CUTS places are
 * noted, or a few more; returns how many. Where the text ends is none. O(bytes read). */
size_t bpe_cutter_more(bpe_cutter *cutter, size_t n, size_t *ends, uint32_t *kinds, size_t enough);

/* What the part is that is not cut off yet. */
static inline uint32_t bpe_cutter_kind(const bpe_cutter *cutter) {
    bool one = cutter->byte >= 128 && cutter->before_start == cutter->start;
    return one ? cutter->before.info & BPE_CHAR_ID_MASK : BPE_PART_LONG;
}

/* All positions are `n` less: what lies before was moved away. */
static inline void bpe_cutter_move(bpe_cutter *cutter, const uint8_t *text, size_t n) {
    cutter->text = text;
    cutter->at -= n;
    cutter->start -= n;
    cutter->before_start -= n; /* it is not used if it is less than 0 */
}

#endif
