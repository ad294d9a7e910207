#include "stream.h"

#include <string.h>

#include "memory.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define LANES 8

/* A stretch begins this many bytes early, in a guessed state. */
#define RUN_IN 32

/* ---------------------------------------------------------------- classes */

static uint64_t load8(const uint8_t *p) {
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) /* compilers make one load of it where bytes are in this order */
        x |= (uint64_t)p[i] << (8 * i);
    return x;
}

static void classify_bytes(const bpe_stream *s, const uint8_t *p, size_t n, uint8_t *classes) {
    for (size_t i = 0; i < n; i++)
        classes[i] = s->bytes[p[i]];
}

void bpe_stream_classify(const bpe_stream *s, const uint8_t *data, size_t start, size_t n,
                         size_t end, uint8_t *classes) {
    const uint8_t *p = data + start;
    uint8_t more = (uint8_t)(s->n_classes - 1);
    memset(classes + n, more, BPE_STREAM_BLOCK - n);
    if (s->stage->over_bytes) {
        classify_bytes(s, p, n, classes);
        return;
    }
    for (size_t i = 0; i < n;) {
        if (i + 8 <= n && (load8(p + i) & 0x8080808080808080u) == 0) {
            classify_bytes(s, p + i, 8, classes + i);
            i += 8;
        } else if (p[i] < 0x80) {
            classes[i] = s->bytes[p[i]];
            i++;
        } else {
            size_t length;
            classes[i] = bpe_stream_class_at(s, data, start + i, end, &length);
            for (size_t k = 1; k < length; k++)
                classes[i + k] = more;
            i += length;
        }
    }
}

/* ---------------------------------------------------------------- states */

/* A bit for each of 64 states whose number is at least `least`; least = 0x80: for the boundary bit.
 */
static uint64_t at_least(const uint8_t *states, uint32_t least) {
    uint64_t bits = 0;
#if defined(__SSE2__)
    /* Such that the sum's top bit says it: x has 7 bits, or only the eighth one counts. */
    __m128i keep = _mm_set1_epi8((char)(least == 0x80 ? 0x80 : 0x7F));
    __m128i more = _mm_set1_epi8((char)(0x80 - least));
    for (int i = 0; i < 4; i++) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(states + 16 * i));
        x = _mm_add_epi8(_mm_and_si128(x, keep), more);
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(x) << (16 * i);
    }
#else
    uint64_t ones = 0x0101010101010101u;
    uint64_t keep = (least == 0x80 ? 0x80u : 0x7Fu) * ones;
    for (int i = 0; i < 64; i += 8) {
        uint64_t x = (load8(states + i) & keep) + (0x80u - least) * ones;
        bits |= ((x >> 7 & ones) * 0x0102040810204080u >> 56) << i; /* top bits side by side */
    }
#endif
    return bits;
}

static void mask_states(const bpe_stream *s, const uint8_t *states, size_t n_words,
                        bpe_stream_block *out) {
    out->n_rare = 0;
    for (size_t w = 0; w < n_words; w++) {
        out->ends[w] = at_least(states + 64 * w, 0x80);
        out->rare[w] = at_least(states + 64 * w, s->first_rare);
        for (uint64_t bits = out->rare[w]; bits != 0; bits &= bits - 1)
            out->told[out->n_rare++] = states[64 * w + bpe_lowest_bit(bits)];
    }
    if (out->n_rare == 0)
        return;
    for (size_t w = 0; w < n_words; w++)
        out->marks[w] =
            at_least(states + 64 * w, s->first_mark) & ~at_least(states + 64 * w, s->last_mark);
}

/* Run the lanes side by side from states[...] on, `steps` classes each from `classes` on. */
static inline void run_lanes(const uint8_t next[][256], const uint8_t *classes, size_t stride,
                             size_t steps, uint32_t state[LANES], uint8_t *out) {
    uint32_t x[LANES];
    for (int l = 0; l < LANES; l++)
        x[l] = state[l];
    for (size_t t = 0; t < steps; t++) {
        for (int l = 0; l < LANES; l++) {
            x[l] = next[classes[(size_t)l * stride + t]][x[l]];
            if (out)
                out[(size_t)l * stride + t] = (uint8_t)x[l];
        }
    }
    for (int l = 0; l < LANES; l++)
        state[l] = x[l];
}

/* Where the guess was wrong, go through the stretch again until both agree. */
static void correct(const bpe_stream *s, const uint8_t *classes, size_t from, size_t to,
                    uint8_t *states) {
    uint8_t x = states[from - 1];
    for (size_t p = from; p < to; p++) {
        x = s->next[classes[p]][x];
        if (x == states[p])
            break;
        states[p] = x;
    }
}

uint8_t bpe_stream_scan_lanes(const bpe_stream *s, const uint8_t *classes, size_t n, uint8_t state,
                              bpe_stream_block *out) {
    uint8_t states[BPE_STREAM_BLOCK];
    size_t stride = (n + LANES * 64 - 1) / (LANES * 64) * 64;
    uint32_t x[LANES];
    for (int l = 0; l < LANES; l++)
        x[l] = s->start;
    /* The first stretch needs no run-in; what it does meanwhile does not matter. */
    if (stride > RUN_IN) {
        run_lanes(s->next, classes + stride - RUN_IN, stride, RUN_IN, x, NULL);
        memmove(x + 1, x, (LANES - 1) * sizeof *x);
    }
    uint32_t begun[LANES];
    x[0] = state;
    memcpy(begun, x, sizeof begun);
    run_lanes(s->next, classes, stride, stride, x, states);
    for (size_t l = 1; l < LANES && l * stride < n; l++) {
        if (begun[l] != states[l * stride - 1])
            correct(s, classes, l * stride, (l + 1) * stride, states);
    }
    mask_states(s, states, (n + 63) / 64, out);
    return states[n - 1];
}

static size_t positions(uint64_t bits, size_t base, size_t *out) {
    size_t n = 0;
    for (; bits != 0; bits &= bits - 1)
        out[n++] = base + bpe_lowest_bit(bits);
    return n;
}

static const bpe_stream_kernel portable = {bpe_stream_classify, bpe_stream_scan_lanes, positions};

/* ---------------------------------------------------------------- blocks */

/* Where a block ends that may reach `most`: at most 3 bytes before. A byte that is no continuation
 * byte begins a character, and a fourth continuation byte in a row does. */
static size_t cut_block(const bpe_stream *s, const uint8_t *data, size_t most) {
    if (s->stage->over_bytes)
        return most;
    for (size_t back = 0; back < 4; back++) {
        if ((data[most - back] & 0xC0) != 0x80)
            return most - back;
    }
    return most;
}

size_t bpe_stream_scan(const bpe_stream *stream, const uint8_t *data, size_t start, size_t end,
                       uint8_t *state, bpe_stream_block *out) {
    uint8_t classes[BPE_STREAM_BLOCK];
    size_t to = end;
    if (end - start > BPE_STREAM_BLOCK)
        to = cut_block(stream, data, start + BPE_STREAM_BLOCK);
    stream->kernel->classify(stream, data, start, to - start, end, classes);
    *state = stream->kernel->scan(stream, classes, to - start, *state, out);
    return to;
}

const bpe_stream_kernel *bpe_stream_kernel_of(uint32_t simd) {
    switch (simd) {
    case BPE_SIMD_PORTABLE:
        return &portable;
    case BPE_SIMD_AVX2:
        return bpe_stream_avx2();
    case BPE_SIMD_AVX512:
        return bpe_stream_avx512();
    default:
        return NULL;
    }
}
