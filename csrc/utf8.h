/*
 * UTF-8: strict decoding (no surrogates, no overlong forms, nothing above U+10FFFF), one character
 * at a time.
 *
 * A byte that does not begin a well-formed character is a character by itself, U+FFFD. Continuation
 * bytes never begin one, so every reading that starts at a character boundary sees the same
 * boundaries.
 */
#ifndef BPE_UTF8_H
#define BPE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Decode the character at p < end; *cp receives it, the result is its length in bytes (1 to 4). */
static inline size_t bpe_utf8_decode(const uint8_t *p, const uint8_t *end, uint32_t *cp) {
    uint32_t b = p[0];
    size_t room = (size_t)(end - p);
    if (b < 0x80) {
        *cp = b;
        return 1;
    }
    if (b >= 0xC2 && b < 0xE0) {
        if (room >= 2 && (p[1] & 0xC0) == 0x80) {
            *cp = (b & 0x1F) << 6 | (p[1] & 0x3Fu);
            return 2;
        }
    } else if (b >= 0xE0 && b < 0xF0) {
        if (room >= 3 && (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80) {
            uint32_t c = (b & 0x0F) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
            if (c >= 0x800 && (c < 0xD800 || c > 0xDFFF)) {
                *cp = c;
                return 3;
            }
        }
    } else if (b >= 0xF0 && b < 0xF5) {
        if (room >= 4 && (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80 && (p[3] & 0xC0) == 0x80) {
            uint32_t c =
                (b & 0x07) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
            if (c >= 0x10000 && c <= 0x10FFFF) {
                *cp = c;
                return 4;
            }
        }
    }
    *cp = 0xFFFD;
    return 1;
}

/*
 * How many bytes at the end of p[0, n) might be the beginning of a character that continues beyond
 * (0 to 3): a lead byte followed by fewer continuation bytes than it asks for.
 */
size_t bpe_utf8_open_tail(const uint8_t *p, size_t n);

#endif
