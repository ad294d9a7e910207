/*
 * One stage of a split: the tables of a bpe_split_stage, checked and ready for the loops.
 */
#ifndef BPE_STAGE_H
#define BPE_STAGE_H

#include <stdbool.h>

#include "bpe.h"
#include "utf8.h"

#define BPE_PAGES 0x1100u /* pages of 256 codepoints */
#define BPE_PAGE_SHIFT 8

/* A transition, ready for the loop: (offset of the next state's row) * 2 + (a match ends before
 * this character). */
typedef uint32_t bpe_step;

/* A transition of the quick loop: (offset of the next state's row) * 4 + BPE_FLOW_MATCH +
 * BPE_FLOW_END; no row (0) where the quick loop must stop. */
typedef uint32_t bpe_flow;

#define BPE_FLOW_MATCH 1u /* a match ends before this character, a longer one may come */
#define BPE_FLOW_END 2u   /* the match ends before this character, which begins the next one */

typedef struct bpe_stage {
    uint16_t page_of[BPE_PAGES]; /* codepoint >> 8 -> page */
    uint8_t ascii[128];          /* class of an ASCII character */
    uint8_t *pages;              /* 256 classes each */
    bpe_step *steps;             /* n_states rows of `width` */
    bpe_flow *flow;              /* the same for reading on behind the end of a match */
    uint32_t width;              /* classes and the end of text */
    uint32_t n_states;
    uint32_t behavior; /* BPE_SPLIT_* */
    bool over_bytes;
} bpe_stage;

/* Check the tables of stage number `index` and copy them into a cleared *s. On failure, too,
 * bpe_stage_free frees what there is. */
bpe_status bpe_stage_init(bpe_stage *s, const bpe_split_stage *spec, size_t index, bpe_error *err);

void bpe_stage_free(bpe_stage *s);

/* The class of the character at p < end, and its length in bytes. */
static inline uint32_t bpe_stage_class_at(const bpe_stage *s, const uint8_t *data, size_t p,
                                          size_t end, size_t *length) {
    uint8_t b = data[p];
    if (b < 0x80) {
        *length = 1;
        return s->ascii[b];
    }
    if (s->over_bytes) {
        *length = 1;
        return s->pages[b]; /* page 0 is the first one */
    }
    uint32_t cp;
    *length = bpe_utf8_decode(data + p, data + end, &cp);
    return s->pages[(uint32_t)s->page_of[cp >> BPE_PAGE_SHIFT] << 8 | (cp & 0xFF)];
}

#endif
