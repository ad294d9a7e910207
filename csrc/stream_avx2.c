#include "stream.h"

#if defined(__GNUC__) && defined(__x86_64__)

#define LANES_AVX2
#define LANES_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#include "stream_lanes.h"

LANES_TARGET static uint8_t scan(const bpe_stream *s, const uint8_t *data, size_t start, size_t n,
                                 size_t end, uint8_t state, bpe_stream_block *out) {
    return scan_lanes(s, data, start, n, end, state, out);
}

LANES_TARGET static size_t positions(const uint64_t *words, size_t n_words, size_t base,
                                     size_t *out, size_t cap, size_t *n_out) {
    return bit_positions(words, n_words, base, out, cap, n_out);
}

static const bpe_stream_kernel kernel = {scan, positions};

const bpe_stream_kernel *bpe_stream_avx2(void) {
    bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
               __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    return has ? &kernel : NULL;
}

#else

const bpe_stream_kernel *bpe_stream_avx2(void) { return NULL; }

#endif
