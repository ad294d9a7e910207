#include "pieces_chars.h"

#include <string.h>

#include "memory.h"

#define MARK 0x2581u

/* ---------------------------------------------------------------- building */

/* A further page of characters without symbols. */
static bool add_page(bpe_chars *chars, size_t *n_pages) {
    size_t need = (*n_pages + 1) << 8;
    if (!bpe_mem_grow((void **)&chars->all, &chars->cap, need, sizeof *chars->all))
        return false;
    for (size_t i = need - 256; i < need; i++)
        chars->all[i] = (bpe_char){BPE_NO_SYMBOL, BPE_CHAR_NO_ID};
    ++*n_pages;
    return true;
}

static bool enter_char(bpe_chars *chars, size_t *n_pages, uint32_t cp, bpe_char c) {
    uint16_t *page = &chars->pages[cp >> 8];
    if (*page == 0) {
        if (!add_page(chars, n_pages))
            return false;
        *page = (uint16_t)(*n_pages - 1);
    }
    chars->all[((size_t)*page << 8) + (cp & 255)] = c;
    return true;
}

static inline size_t pair_bit(const bpe_chars *chars, uint32_t left, uint32_t right) {
    uint64_t h = (left * 0x9E3779B97F4A7C15u) ^ right;
    h = (h ^ h >> 32) * 0xC2B2AE3D27D4EB4Fu;
    return (size_t)(h >> 32) & chars->pairs_mask;
}

static void enter_pairs(bpe_chars *chars, const uint8_t *p, const uint8_t *end) {
    bpe_char *before = NULL;
    uint32_t cp_before = 0;
    while (p < end) {
        uint32_t cp;
        p += bpe_utf8_decode(p, end, &cp);
        bpe_char *at = &chars->all[bpe_chars_at(chars, cp) - chars->all];
        if (before) {
            size_t bit = pair_bit(chars, before->symbol, at->symbol);
            chars->pairs[bit >> 6] |= (uint64_t)1 << (bit & 63);
            before->info |= BPE_CHAR_JOINS_RIGHT;
            at->info |= BPE_CHAR_JOINS_LEFT;
            if (cp_before < 128 && cp < 128)
                chars->ascii[cp_before][cp >> 6] |= (uint64_t)1 << (cp & 63);
        }
        before = at;
        cp_before = cp;
    }
}

static size_t count_bits(uint64_t x) {
    size_t n = 0;
    for (; x != 0; x &= x - 1)
        n++;
    return n;
}

/* There are far fewer pairs than places where they stand: a smaller set stays in a nearer cache. A
 * bit in 16 is set at most. */
static void shrink_pairs(bpe_chars *chars) {
    size_t n_words = (chars->pairs_mask + 1) / 64;
    size_t n = 0;
    for (size_t i = 0; i < n_words; i++)
        n += count_bits(chars->pairs[i]);
    while (n_words > 64 && n <= 2 * n_words) {
        n_words /= 2;
        for (size_t i = 0; i < n_words; i++)
            chars->pairs[i] |= chars->pairs[n_words + i];
    }
    chars->pairs_mask = 64 * n_words - 1;
}

bool bpe_chars_init_empty(bpe_chars *chars) {
    size_t n_pages = 0;
    return add_page(chars, &n_pages);
}

bool bpe_chars_init(bpe_chars *chars, const bpe_intern *symbols, const uint32_t *ids, bool marks) {
    size_t n_bytes = symbols->n ? symbols->ends[symbols->n - 1] : 0;
    size_t n_bits = 4096;
    while (n_bits < (size_t)1 << 31 && n_bits < 2 * n_bytes)
        n_bits *= 2;
    chars->pairs_mask = n_bits - 1;
    chars->pairs = bpe_mem_zeroed(n_bits / 64, sizeof *chars->pairs);
    size_t n_pages = 0;
    if (!chars->pairs || !add_page(chars, &n_pages))
        return false;
    for (size_t i = 0; i < symbols->n; i++) {
        size_t n;
        const uint8_t *p = bpe_intern_bytes(symbols, i, &n);
        uint32_t cp;
        if (bpe_utf8_decode(p, p + n, &cp) != n)
            continue;
        bpe_char c = {(uint32_t)i, ids[i]};
        if (!enter_char(chars, &n_pages, cp, c) ||
            (marks && cp == ' ' && !enter_char(chars, &n_pages, MARK, c)))
            return false;
    }
    for (size_t i = 0; i < symbols->n; i++) {
        size_t n;
        const uint8_t *p = bpe_intern_bytes(symbols, i, &n);
        enter_pairs(chars, p, p + n);
    }
    if (marks)
        *(bpe_char *)bpe_chars_at(chars, MARK) = *bpe_chars_at(chars, ' ');
    shrink_pairs(chars);
    return true;
}

void bpe_chars_free(bpe_chars *chars) {
    bpe_mem_free(chars->all);
    bpe_mem_free(chars->pairs);
}

/* ---------------------------------------------------------------- cutting */

/* Whether a join may cross from one character to the next. */
static inline bool may_join(const bpe_chars *chars, bpe_char left, bpe_char right) {
    if (!(left.info & BPE_CHAR_JOINS_RIGHT) || !(right.info & BPE_CHAR_JOINS_LEFT))
        return false;
    size_t bit = pair_bit(chars, left.symbol, right.symbol);
    return chars->pairs[bit >> 6] >> (bit & 63) & 1;
}

void bpe_cutter_begin(bpe_cutter *cutter, const bpe_chars *chars, const uint8_t *text, size_t at,
                      size_t n) {
    uint32_t cp;
    cutter->chars = chars;
    cutter->text = text;
    cutter->at = at + bpe_utf8_decode(text + at, text + n, &cp);
    cutter->byte = cp < 128 ? (uint8_t)cp : 128;
    cutter->before = *bpe_chars_at(chars, cp);
}

size_t bpe_cutter_more(bpe_cutter *cutter, size_t n, size_t *cuts, size_t cap) {
    const bpe_chars *chars = cutter->chars;
    const uint8_t *text = cutter->text;
    size_t at = cutter->at;
    size_t n_cuts = 0;
    uint8_t byte = cutter->byte;
    bpe_char before = cutter->before;
    while (at < n && n_cuts < cap) {
        uint8_t b = text[at];
        if (byte < 128 && b < 128) {
            /* Each byte is at most one cut, and is noted without a branch: nobody could tell where
             * words end. */
            size_t end = cap - n_cuts < n - at ? at + (cap - n_cuts) : n;
            do {
                cuts[n_cuts] = at++;
                n_cuts += ~chars->ascii[byte][b >> 6] >> (b & 63) & 1;
                byte = b;
            } while (at < end && (b = text[at]) < 128);
            continue;
        }
        if (byte < 128)
            before = *bpe_chars_at(chars, byte);
        uint32_t cp;
        size_t length = bpe_utf8_decode(text + at, text + n, &cp);
        bpe_char here = *bpe_chars_at(chars, cp);
        cuts[n_cuts] = at;
        n_cuts += !may_join(chars, before, here);
        byte = cp < 128 ? (uint8_t)cp : 128;
        before = here;
        at += length;
    }
    cutter->at = at;
    cutter->byte = byte;
    cutter->before = before;
    return n_cuts;
}
