#include "stream.h"

#define LANES_TARGET
#include "stream_lanes.h"

static uint8_t scan(const bpe_stream *s, const uint8_t *data, size_t start, size_t n, size_t end,
                    uint8_t state, bpe_stream_block *out) {
    return scan_lanes(s, data, start, n, end, state, out);
}

static size_t positions(const uint64_t *words, size_t n_words, size_t base, size_t *out, size_t cap,
                        size_t *n_out) {
    return bit_positions(words, n_words, base, out, cap, n_out);
}

static const bpe_stream_kernel portable = {scan, positions};

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
    size_t to = end;
    if (end - start > BPE_STREAM_BLOCK)
        to = cut_block(stream, data, start + BPE_STREAM_BLOCK);
    *state = stream->kernel->scan(stream, data, start, to - start, end, *state, out);
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
    case BPE_SIMD_NEON:
        return bpe_stream_neon();
    default:
        return NULL;
    }
}
