/* A small generator of random numbers: the same on every machine, seeded by each test. */
#ifndef BPE_TEST_RANDOM_H
#define BPE_TEST_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state) {
    uint64_t x = (*state += 0x9E3779B97F4A7C15u); /* splitmix64 */
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* A number from 0 to n - 1. */
static inline uint32_t random_below(uint64_t *state, uint32_t n) {
    return (uint32_t)(random_next(state) % n);
}

#endif
