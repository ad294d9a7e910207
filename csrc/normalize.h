/*
 * Normalize: the text normaliser of sentencepiece models.
 *
 * A text is read step by step. At each place, in this order: a user-defined symbol stands for
 * itself, a rule of the character map gives its replacement, a well-formed character stands for
 * itself, and any other byte becomes U+FFFD. What comes out then goes through the white space
 * rules: runs are squeezed, the ends trimmed, a mark is put before (or after) the text, and every
 * space becomes the mark U+2581.
 *
 * For encoding, text is made in a compact form instead: the mark is written as a space, one byte.
 * Nothing is lost, because a real space never survives normalisation, and a mark that was typed is
 * no different from one that stands for a space. Words are shorter so, and plain text needs no
 * change at all.
 */
#ifndef BPE_NORMALIZE_H
#define BPE_NORMALIZE_H

#include <stdbool.h>
#include <string.h>

#include "bpe.h"
#include "match.h"

/* The mark that stands for a space: U+2581. */
#define BPE_MARK ((const uint8_t *)"\xE2\x96\x81")
#define BPE_MARK_BYTES 3

static inline bool bpe_is_mark(const uint8_t *p, const uint8_t *end) {
    return end - p >= BPE_MARK_BYTES && memcmp(p, BPE_MARK, BPE_MARK_BYTES) == 0;
}

/*
 * A character map: an XOR double array of rules source -> offset of the replacement in a pool of
 * NUL-terminated strings. Invariant (bpe_charsmap_init): no walk leaves `cells`, and no value of a
 * cell lies outside the pool, whose last byte is NUL.
 */
typedef struct bpe_charsmap {
    uint32_t *cells;
    size_t n_cells; /* 0: no map */
    uint8_t *pool;
    size_t pool_size;
} bpe_charsmap;

/* Read a serialised map; size 0 means no map. BPE_OK; BPE_ERR_NOMEM; BPE_ERR_MODEL. On failure
 * free it all the same. */
bpe_status bpe_charsmap_init(bpe_charsmap *map, const uint8_t *blob, size_t size);
void bpe_charsmap_free(bpe_charsmap *map);

bool bpe_is_utf8(const uint8_t *p, size_t n);

/* Whether the replacements are all UTF-8. */
bool bpe_charsmap_is_utf8(const bpe_charsmap *map);

/* The longest rule that matches at p < end: its length in bytes, or 0, and its replacement. */
size_t bpe_charsmap_longest(const bpe_charsmap *map, const uint8_t *p, const uint8_t *end,
                            const uint8_t **replacement, size_t *n);

typedef struct bpe_normalizer {
    bpe_charsmap map;
    uint32_t flags;    /* BPE_NORMALIZE_* */
    bool copies_ascii; /* every ASCII byte but the space stands for itself, whatever follows */
    /* what an ASCII byte becomes that another one, or the end of the text, follows */
    uint8_t ascii[128];
} bpe_normalizer;

/* Values of bpe_normalizer.ascii. */
enum { BPE_ASCII_COPY, BPE_ASCII_SPACE, BPE_ASCII_STEP };

/* Fill a zeroed normaliser; statuses as bpe_charsmap_init. On failure free it all the same. */
bpe_status bpe_normalizer_init(bpe_normalizer *norm, const bpe_normalizer_spec *spec);
void bpe_normalizer_free(bpe_normalizer *norm);

/* Normalised text. `offsets`, where wanted, holds for each byte where in the source the step began
 * that made it, and one more entry: where the source that counts ends. */
typedef struct bpe_text {
    uint8_t *bytes;
    size_t n;
    size_t cap;
    size_t *offsets;
    size_t offsets_cap;
} bpe_text;

/* So many bytes behind the text may be read: some code looks at 16 bytes at once. */
#define BPE_TEXT_PADDING 16

void bpe_text_free(bpe_text *text);

/* Normalising one source, in one go or bit by bit. */
typedef struct bpe_normalize_cursor {
    const bpe_normalizer *norm;
    const uint8_t *data;
    size_t n;
    size_t at;            /* in data; all before it is done */
    const bpe_hits *user; /* where user-defined symbols stand in data, overlaps and all, ascending;
                             NULL: there are none */
    size_t next_hit;
    size_t ascii_end; /* data[at, ascii_end) is known to be ASCII, if at lies before it */
    bpe_text *out;
    bool compact;
    bool with_offsets;
    bool keeps_invalid; /* a byte that is not UTF-8 stays as it is; false after begin */
    bool after_space;   /* spaces that come now are dropped */
    bool done;
} bpe_normalize_cursor;

/* Begin; *out keeps what it holds, and what is made is appended. BPE_OK or BPE_ERR_NOMEM. */
bpe_status bpe_normalize_begin(bpe_normalize_cursor *c, const bpe_normalizer *norm,
                               const uint8_t *data, size_t n, const bpe_hits *user, bool compact,
                               bool with_offsets, bpe_text *out);

/*
 * Go on until about `want` more bytes are made or the source ends; then the text is trimmed and
 * finished, and c->done is set. Until then the marks at the end of the text may yet be taken back,
 * and nothing before them. BPE_OK or BPE_ERR_NOMEM.
 */
bpe_status bpe_normalize_more(bpe_normalize_cursor *c, size_t want);

#endif
