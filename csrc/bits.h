/*
 * Bits: where they are in a word, and how many.
 */
#ifndef BPE_BITS_H
#define BPE_BITS_H

#include <stdint.h>

/* Where the lowest set bit is; there is one. */
static inline uint32_t bpe_lowest_bit(uint64_t bits) {
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctzll(bits);
#else
    uint32_t i = 0;
    while (!(bits >> i & 1))
        i++;
    return i;
#endif
}

/* Where the highest set bit is; there is one. */
static inline uint32_t bpe_highest_bit(uint64_t bits) {
#if defined(__GNUC__)
    return 63 - (uint32_t)__builtin_clzll(bits);
#else
    uint32_t i = 63;
    while (!(bits >> i & 1))
        i--;
    return i;
#endif
}

/* How many bits are set. */
static inline uint32_t bpe_count_bits(uint64_t bits) {
#if defined(__GNUC__) && defined(__aarch64__)
    return (uint32_t)__builtin_popcountll(bits);
#else
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    return (uint32_t)(((bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
#endif
}

#endif
