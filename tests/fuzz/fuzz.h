/* What the fuzz targets have in common.
 *
 * A target is a file fuzz_<name>.c with a function
 *
 *     static void fuzz(fuzz_input *in)
 *
 * that makes its tables, models and texts of the input's bytes, and stops the program with
 * FUZZ_CHECK when a promise of csrc/bpe.h is broken; FUZZ_TARGET then defines libFuzzer's entry
 * point. With libFuzzer the inputs are its own; with the driver regression.c they are files.
 * Whatever the bytes, the run must end soon: targets keep sizes small, as their slow ways to check
 * are quadratic.
 *
 * Bytes are taken from the front; past the end all are 0, so every input means something.
 */
#ifndef BPE_FUZZ_H
#define BPE_FUZZ_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpe.h"
#include "memory.h"

typedef struct fuzz_input {
    const uint8_t *p;
    size_t n; /* bytes left */
} fuzz_input;

#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static inline uint8_t fuzz_byte(fuzz_input *in) {
    if (in->n == 0)
        return 0;
    in->n--;
    return *in->p++;
}

static inline uint32_t fuzz_u32(fuzz_input *in) {
    uint32_t x = 0;
    for (int i = 0; i < 4; i++)
        x = x << 8 | fuzz_byte(in);
    return x;
}

/* A number from 0 to n - 1, n at most 256. */
static inline uint32_t fuzz_below(fuzz_input *in, uint32_t n) { return fuzz_byte(in) % n; }

/* n bytes at most, as an allocation of just this size, so that sanitizers see what reads beyond. */
static inline uint8_t *fuzz_bytes(fuzz_input *in, size_t at_most, size_t *n) {
    *n = in->n < at_most ? in->n : at_most;
    uint8_t *copy = malloc(*n ? *n : 1);
    FUZZ_CHECK(copy != NULL);
    if (*n)
        memcpy(copy, in->p, *n);
    in->p += *n;
    in->n -= *n;
    return copy;
}

/* An array for n results; exact, likewise. */
static inline void *fuzz_array(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size);
    FUZZ_CHECK(p != NULL);
    return p;
}

static inline bool fuzz_same(const void *a, size_t a_size, const void *b, size_t b_size) {
    return a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* The entry point; whatever csrc/ allocated has to be freed again. */
#define FUZZ_TARGET(function)                                                                      \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {                                    \
        fuzz_input in = {data, n};                                                                 \
        function(&in);                                                                             \
        FUZZ_CHECK(bpe_test_live_allocations == 0);                                                \
        return 0;                                                                                  \
    }

#endif
