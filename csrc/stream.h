/*
 * The streaming automaton: where pretokens end, many positions at a time.
 *
 * The automaton of a stage looks ahead: it reads on behind a match for a longer one, and goes back
 * when none comes. stream_build.c makes another automaton of it that never goes back. Its state
 * holds all that may still become of the text read so far, and each of its transitions says at once
 * which boundaries have become certain. So one position costs one look-up, and several stretches
 * of a text can be scanned side by side: a stretch begins in a guessed state some bytes early,
 * which nearly always is the right state when the stretch proper begins; where it is not, the
 * stretch is corrected from its beginning until both agree (stream_lanes.h, stream_avx512.c,
 * stream_neon.c).
 *
 * Rare transitions settle more than the boundaries at hand; the caller then finds the boundaries
 * anew with the stage's own automaton (*hard* events).
 */
#ifndef BPE_STREAM_H
#define BPE_STREAM_H

#include "bits.h"
#include "stage.h"

#define BPE_STREAM_BLOCK 4096 /* bytes scanned at a time */
#define BPE_STREAM_WORDS (BPE_STREAM_BLOCK / 64)
#define BPE_STREAM_CLASSES 64 /* with the class of continuation bytes */
#define BPE_STREAM_CHUNKS 16
#define BPE_STREAM_DENSE 256

/* A state is a number of 6 bits and, above it, BPE_STREAM_NUMBERS for "a boundary before this
 * character". */
#define BPE_STREAM_NUMBERS 64u
#define BPE_STREAM_ROW_SHIFT 7

/* The same in the vector kernels, where numbers have 4 or 5 bits. */
enum { BPE_WIDE_MARK = 0x20, BPE_WIDE_RARE = 0x40, BPE_WIDE_BOUNDARY = 0x80 };

/* What else is told on the way to a state. */
enum {
    BPE_STREAM_MARK = 1,     /* a boundary before this character may be committed later */
    BPE_STREAM_PREVIOUS = 2, /* a boundary before the previous character */
    BPE_STREAM_COMMIT = 4,   /* a boundary at the last mark */
    BPE_STREAM_HARD = 16     /* boundaries that only the stage's own automaton can tell */
};

typedef struct bpe_stream_kernel bpe_stream_kernel;

typedef struct bpe_stream {
    const bpe_stage *stage;
    const bpe_stream_kernel *kernel;
    uint32_t n_classes; /* the last one: continuation bytes, which change nothing */
    uint32_t n_numbers;
    /* Numbers are in order of what they tell: nothing; a mark alone; a mark and more; more. */
    uint8_t first_mark;
    uint8_t first_rare; /* marks end at last_mark, the rare ones reach to the last number */
    uint8_t last_mark;
    uint8_t start; /* the state at the beginning of a text */
    uint8_t gap;   /* the state in a gap, where no match has begun; if has_gap */
    bool has_gap;
    uint8_t bad;                        /* class of a byte that is not UTF-8 */
    uint32_t n_chunks;                  /* 0: too many states for the AVX-512 kernel */
    uint8_t wide_mask;                  /* the bits of its numbers */
    uint8_t events[BPE_STREAM_NUMBERS]; /* number -> BPE_STREAM_* */
    uint8_t bytes[256];    /* class of a byte: ASCII, and the others of a stage over bytes */
    uint8_t uniform[64];   /* lead byte - 0xC0 -> class of all its characters; 0xFF: several */
    uint32_t slice2[32];   /* lead byte of two -> where its 64 characters are in stage->pages */
    uint32_t slice3[1024]; /* the same for the first two bytes of three; BPE_STREAM_NO_SLICE */
    uint8_t pairs[16][64]; /* the same for the first two bytes of three */
    bool certain[64];      /* class -> a pretoken that begins with it will match in any case */
    /* The AVX-512 kernel's table, in chunks of 128 entries: class -> chunk, and where in it. A
     * state there is its number, of those that tell nothing, and BPE_WIDE_*. */
    uint8_t chunk_of[64];
    uint8_t offset_of[64];
    uint8_t chunks[BPE_STREAM_CHUNKS][128];
    uint8_t tells[BPE_STREAM_CLASSES][32]; /* class, state before -> BPE_STREAM_* */
    uint8_t next[BPE_STREAM_CLASSES][128]; /* class, state -> state */
    uint8_t rows[256][128];                /* the same for codes (stream_lanes.h) */
    /* The NEON kernel's table, without holes: class * dense_width + state -> as in chunks. */
    uint8_t dense_width; /* 0: it does not fit */
    uint8_t dense[BPE_STREAM_DENSE];
} bpe_stream;

#define BPE_STREAM_NO_SLICE UINT32_MAX

/* What a scan found, a bit for each byte of the block. */
typedef struct bpe_stream_block {
    uint64_t ends[BPE_STREAM_WORDS];  /* a boundary before this byte */
    uint64_t rare[BPE_STREAM_WORDS];  /* something else than a mark is told here: */
    uint64_t marks[BPE_STREAM_WORDS]; /* a mark; only made when anything is rare */
    uint8_t told[BPE_STREAM_BLOCK];   /* BPE_STREAM_* at each rare bit in turn */
    size_t n_rare;
} bpe_stream_block;

/* The ways to scan; all give the same. */
struct bpe_stream_kernel {
    /* From `state` on through data[start, start + n), at most a block: what is passed, into *out;
     * the new state. Both `start` and `start + n` are character boundaries of a text that ends at
     * `end`.
     */
    uint8_t (*scan)(const bpe_stream *s, const uint8_t *data, size_t start, size_t n, size_t end,
                    uint8_t state, bpe_stream_block *out);
    /* Write base + the position of each bit of as many whole words as there is room for, `cap`
     * items, of which up to 16 behind the last one may be overwritten; *n_out: how many there are.
     * Returns the number of words. */
    size_t (*positions)(const uint64_t *words, size_t n_words, size_t base, size_t *out, size_t cap,
                        size_t *n_out);
};

/*
 * Make the streaming automaton of a stage, which must outlive it. *out is NULL when it has too many
 * states or classes: BPE_OK or BPE_ERR_NOMEM.
 */
bpe_status bpe_stream_new(const bpe_stage *stage, bpe_stream **out);

void bpe_stream_free(bpe_stream *stream);

/* The kernel of BPE_SIMD_*; NULL when this machine does not have it. */
const bpe_stream_kernel *bpe_stream_kernel_of(uint32_t simd);

/*
 * Scan the next block of data[0, end) from the character boundary `start` < end on. Returns where
 * it ends: at a character boundary, `end` at last.
 */
size_t bpe_stream_scan(const bpe_stream *stream, const uint8_t *data, size_t start, size_t end,
                       uint8_t *state, bpe_stream_block *out);

/* The kernels; NULL where not compiled in, or where the machine lacks the instructions. */
const bpe_stream_kernel *bpe_stream_avx2(void);
const bpe_stream_kernel *bpe_stream_avx512(void);
const bpe_stream_kernel *bpe_stream_neon(void);

/* The class of the character at p < end that is not ASCII, and its length. */
static inline uint8_t bpe_stream_class_at(const bpe_stream *s, const uint8_t *data, size_t p,
                                          size_t end, size_t *length) {
    const uint8_t *pages = s->stage->pages;
    size_t room = end - p;
    uint8_t b = data[p];
    if (b >= 0xE0 && b < 0xF0 && room >= 3 && (data[p + 1] & 0xC0) == 0x80 &&
        (data[p + 2] & 0xC0) == 0x80) {
        uint32_t slice = s->slice3[(b & 0x0Fu) << 6 | (data[p + 1] & 0x3Fu)];
        if (slice != BPE_STREAM_NO_SLICE) {
            *length = 3;
            return pages[slice + (data[p + 2] & 0x3Fu)];
        }
    } else if (b >= 0xC2 && b < 0xE0 && room >= 2 && (data[p + 1] & 0xC0) == 0x80) {
        *length = 2;
        return pages[s->slice2[b & 0x1Fu] + (data[p + 1] & 0x3Fu)];
    }
    return (uint8_t)bpe_stage_class_at(s->stage, data, p, end, length);
}

#endif
