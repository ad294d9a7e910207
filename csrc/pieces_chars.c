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
                chars->ascii_cuts[bpe_two_bytes(p - 2)] = 0;
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

bool bpe_chars_init(bpe_chars *chars, const bpe_intern *symbols, const uint32_t *ids,
                    const uint32_t ascii_ids[128], bool marks) {
    size_t n_bytes = symbols->n ? symbols->ends[symbols->n - 1] : 0;
    size_t n_bits = 4096;
    while (n_bits < (size_t)1 << 31 && n_bits < 2 * n_bytes)
        n_bits *= 2;
    chars->pairs_mask = n_bits - 1;
    chars->pairs = bpe_mem_zeroed(n_bits / 64, sizeof *chars->pairs);
    size_t n_pages = 0;
    if (!chars->pairs || !add_page(chars, &n_pages))
        return false;
    memset(chars->ascii_cuts, 1, sizeof chars->ascii_cuts);
    for (uint32_t b = 0; b < 128; b++) {
        if (!enter_char(chars, &n_pages, b, (bpe_char){BPE_NO_SYMBOL, ascii_ids[b]}))
            return false;
    }
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

/* Whether a join may not cross from one character to the next. No branches: which it is changes too
 * often. */
static inline size_t cuts(const bpe_chars *chars, uint32_t left, uint32_t left_info, uint32_t right,
                          uint32_t right_info) {
    size_t bit = pair_bit(chars, left, right);
    uint64_t both = left_info / BPE_CHAR_JOINS_RIGHT & right_info / BPE_CHAR_JOINS_LEFT;
    return ~(both & chars->pairs[bit >> 6] >> (bit & 63)) & 1;
}

/* The same as bpe_utf8_decode, which nearly all characters of several bytes do not need. */
static inline size_t decode(const uint8_t *p, const uint8_t *end, uint32_t *cp) {
    if (end - p >= 3) {
        uint32_t second = p[1] ^ 0x80u;
        uint32_t third = p[2] ^ 0x80u;
        uint32_t three = (p[0] & 15u) << 12 | second << 6 | third;
        if ((p[0] & 0xF0) == 0xE0 && (second | third) < 0x40 && three - 0x800 < 0xD000) {
            *cp = three;
            return 3;
        }
        if (p[0] - 0xC2u < 0x1E && second < 0x40) {
            *cp = (p[0] & 31u) << 6 | second;
            return 2;
        }
    }
    return bpe_utf8_decode(p, end, cp);
}

void bpe_cutter_begin(bpe_cutter *cutter, const bpe_chars *chars, const uint8_t *text, size_t at,
                      size_t n) {
    uint32_t cp;
    cutter->chars = chars;
    cutter->text = text;
    cutter->at = at + bpe_utf8_decode(text + at, text + n, &cp);
    cutter->start = cutter->before_start = at;
    cutter->byte = cp < 128 ? (uint8_t)cp : 128;
    cutter->before = *bpe_chars_at(chars, cp);
}

/* ASCII text is cut so many bytes at a time. */
#define WINDOW 64

/* Cut ASCII text from `at` > 0 on, where it stands before, up to `end` or to the first other
 * character; returns where that is. *n_ends grows by one for each byte at most, and each is noted
 * without a branch: nobody could tell where words end. */
static inline size_t cut_ascii(const bpe_chars *chars, const uint8_t *text, size_t at, size_t end,
                               size_t *ends, uint32_t *kinds, size_t *n_ends) {
    size_t n = *n_ends;
    for (; at + 8 <= end && (bpe_load64(text + at) & 0x8080808080808080u) == 0; at += 8) {
#define NOTE(i)                                                                                    \
    ends[n] = at + (i);                                                                            \
    kinds[n] = BPE_PART_LONG;                                                                      \
    n += chars->ascii_cuts[bpe_two_bytes(text + at + (i) - 1)]
        NOTE(0);
        NOTE(1);
        NOTE(2);
        NOTE(3);
        NOTE(4);
        NOTE(5);
        NOTE(6);
        NOTE(7);
    }
    for (; at < end && text[at] < 128; at++) {
        NOTE(0);
    }
#undef NOTE
    *n_ends = n;
    return at;
}

#define JOINS (BPE_CHAR_JOINS_LEFT | BPE_CHAR_JOINS_RIGHT)

/* Take characters of three bytes that never join, as most text in some scripts is, from the first
 * one on, which `info` is of and which is cut off before; returns where the last of them begins. */
static inline size_t cut_alone(const bpe_chars *chars, const uint8_t *text, size_t at, size_t n,
                               uint32_t *info, size_t *ends, uint32_t *kinds, size_t *n_ends) {
    size_t n_cuts = *n_ends;
    size_t limit = n_cuts + WINDOW / 2;
    uint32_t before = *info;
    for (; n - at >= 6 && n_cuts < limit; at += 3) {
        const uint8_t *p = text + at + 3;
        uint32_t second = p[1] ^ 0x80u;
        uint32_t third = p[2] ^ 0x80u;
        uint32_t cp = (p[0] & 15u) << 12 | second << 6 | third;
        if ((p[0] & 0xF0) != 0xE0 || (second | third) >= 0x40 || cp - 0x800 >= 0xD000)
            break;
        uint32_t here = bpe_chars_at(chars, cp)->info;
        if (here & JOINS)
            break;
        ends[n_cuts] = at + 3;
        kinds[n_cuts++] = before & BPE_CHAR_ID_MASK;
        before = here;
    }
    *info = before;
    *n_ends = n_cuts;
    return at;
}

size_t bpe_cutter_more(bpe_cutter *cutter, size_t n, size_t *ends, uint32_t *kinds, size_t enough) {
    const bpe_chars *chars = cutter->chars;
    const uint8_t *text = cutter->text;
    size_t at = cutter->at;
    size_t start = cutter->start;
    size_t n_ends = 0;
    uint8_t byte = cutter->byte;
    /* Not as a struct: compilers keep one in a vector, from where it takes long to come back. */
    uint32_t symbol = cutter->before.symbol;
    uint32_t info = cutter->before.info;
    size_t before = cutter->before_start;
    while (at < n && n_ends < enough) {
        if (byte < 128 && text[at] < 128) {
            size_t first = n_ends;
            at =
                cut_ascii(chars, text, at, n - at < WINDOW ? n : at + WINDOW, ends, kinds, &n_ends);
            byte = text[at - 1];
            start = n_ends > first ? ends[n_ends - 1] : start;
            continue;
        }
        if (byte < 128) {
            symbol = bpe_chars_at(chars, byte)->symbol;
            info = bpe_chars_at(chars, byte)->info;
            before = at - 1;
        }
        uint32_t cp = text[at];
        size_t length = cp < 128 ? 1 : decode(text + at, text + n, &cp);
        const bpe_char *here = bpe_chars_at(chars, cp);
        size_t cut = cuts(chars, symbol, info, here->symbol, here->info);
        ends[n_ends] = at;
        kinds[n_ends] = before == start ? info & BPE_CHAR_ID_MASK : BPE_PART_LONG;
        n_ends += cut;
        start = cut ? at : start;
        byte = cp < 128 ? (uint8_t)cp : 128;
        symbol = here->symbol;
        info = here->info;
        before = at;
        if (length == 3 && !(info & JOINS) && n_ends > 0 && ends[n_ends - 1] == at) {
            before = cut_alone(chars, text, at, n, &info, ends, kinds, &n_ends);
            start = ends[n_ends - 1];
            symbol = BPE_NO_SYMBOL; /* whichever it is, it does not join */
        }
        at = before + length;
    }
    cutter->at = at;
    cutter->start = start;
    cutter->byte = byte;
    cutter->before = (bpe_char){symbol, info};
    cutter->before_start = before;
    return n_ends;
}
