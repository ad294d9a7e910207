/* A character map for the tests of normalisation. */
#ifndef BPE_TEST_CHARSMAP_H
#define BPE_TEST_CHARSMAP_H

#include <stdint.h>
#include <string.h>

enum { CHARSMAP_CELLS = 1024, CHARSMAP_SIZE = 4 + 4 * CHARSMAP_CELLS + 10 };

static inline void charsmap_put(uint8_t *blob, size_t cell, uint32_t value) {
    for (size_t i = 0; i < 4; i++)
        blob[4 + 4 * cell + i] = (uint8_t)(value >> (8 * i));
}

/*
 * Rules: "A" becomes "aa", "AB" becomes nothing, U+00E9 becomes "e ", a tab becomes a space. The
 * nodes are at 256 (root), 512 ("A"), 520 ("AB"), 528 (tab), 768 (C3) and 540 (C3 A9); a value lies
 * at the index of its node.
 */
static inline void charsmap_make(uint8_t blob[CHARSMAP_SIZE]) {
    memset(blob, 0, CHARSMAP_SIZE);
    blob[0] = 4 * CHARSMAP_CELLS & 255;
    blob[1] = 4 * CHARSMAP_CELLS >> 8;
    for (size_t i = 0; i < CHARSMAP_CELLS; i++)
        charsmap_put(blob, i, 0x80000000u);
    charsmap_put(blob, 0, 256u << 10);
    struct {
        uint32_t from;
        uint32_t byte;
        uint32_t node;
        uint32_t value; /* 9: none */
    } edges[] = {{256, 'A', 512, 0},
                 {512, 'B', 520, 3},
                 {256, '\t', 528, 7},
                 {256, 0xC3, 768, 9},
                 {768, 0xA9, 540, 4}};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        uint32_t cell = edges[i].from ^ edges[i].byte;
        uint32_t flag = edges[i].value < 9 ? 0x100u : 0;
        charsmap_put(blob, cell, (cell ^ edges[i].node) << 10 | flag | edges[i].byte);
        if (flag)
            charsmap_put(blob, edges[i].node, 0x80000000u | edges[i].value);
    }
    /* The replacements begin at 0, 3, 4 and 7. */
    memcpy(blob + 4 + 4 * CHARSMAP_CELLS, "aa\0\0e \0 \0", 10);
}

#endif
