/*
 * The kernel for machines without shuffles of whole tables: eight stretches of a block, each a
 * chain of look-ups in memory, in one loop. Included by each file that compiles it, for other
 * instructions each time: LANES_TARGET is put before every function.
 *
 * Text becomes *codes* first, which choose a row of the table: an ASCII character its own code,
 * LANES_MORE for continuation bytes, LANES_CLASS + class where another character begins.
 */
#include <string.h>

#include "stream.h"
#if defined(__SSE2__) || defined(LANES_AVX2)
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#define LANES 8
#define LANES_STEPS (BPE_STREAM_BLOCK / LANES)

/* A stretch begins this many bytes early, in a guessed state. */
#define LANES_RUN_IN 32

#define LANES_MORE 0x80
#define LANES_CLASS 0xC0

/* ---------------------------------------------------------------- 64 bytes at once */

/* Bytes with the top bit; with the top two, three and four bits. */
typedef struct lanes_tops {
    uint64_t one, two, three, four;
} lanes_tops;

LANES_TARGET static inline uint64_t load8(const uint8_t *p) {
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) /* compilers make one load of it where bytes are in this order */
        x |= (uint64_t)p[i] << (8 * i);
    return x;
}

/* The top bit of each of 8 bytes, side by side. */
LANES_TARGET static inline uint64_t top_bits(uint64_t x) {
    return (x >> 7 & 0x0101010101010101u) * 0x0102040810204080u >> 56;
}

#if defined(LANES_AVX2)

LANES_TARGET static inline uint64_t any_high(const uint8_t *p) {
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(a, b));
}

LANES_TARGET static inline lanes_tops find_tops(const uint8_t *p) {
    lanes_tops t = {0, 0, 0, 0};
    for (int i = 0; i < 64; i += 32) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(p + i));
        __m256i y = _mm256_add_epi8(x, x);
        t.one |= (uint64_t)(uint32_t)_mm256_movemask_epi8(x) << i;
        x = _mm256_and_si256(x, y);
        t.two |= (uint64_t)(uint32_t)_mm256_movemask_epi8(x) << i;
        y = _mm256_add_epi8(y, y);
        x = _mm256_and_si256(x, y);
        t.three |= (uint64_t)(uint32_t)_mm256_movemask_epi8(x) << i;
        x = _mm256_and_si256(x, _mm256_add_epi8(y, y));
        t.four |= (uint64_t)(uint32_t)_mm256_movemask_epi8(x) << i;
    }
    return t;
}

LANES_TARGET static inline uint64_t at_least(const uint8_t *states, uint8_t keep, uint8_t least) {
    uint64_t bits = 0;
    __m256i kept = _mm256_set1_epi8((char)keep), more = _mm256_set1_epi8((char)(0x80 - least));
    for (int i = 0; i < 64; i += 32) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(states + i));
        x = _mm256_add_epi8(_mm256_and_si256(x, kept), more);
        bits |= (uint64_t)(uint32_t)_mm256_movemask_epi8(x) << i;
    }
    return bits;
}

#elif defined(__SSE2__)

LANES_TARGET static inline uint64_t any_high(const uint8_t *p) {
    __m128i x = _mm_setzero_si128();
    for (int i = 0; i < 64; i += 16)
        x = _mm_or_si128(x, _mm_loadu_si128((const __m128i *)(const void *)(p + i)));
    return (uint32_t)_mm_movemask_epi8(x);
}

LANES_TARGET static inline lanes_tops find_tops(const uint8_t *p) {
    lanes_tops t = {0, 0, 0, 0};
    for (int i = 0; i < 64; i += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        __m128i y = _mm_add_epi8(x, x);
        t.one |= (uint64_t)(uint32_t)_mm_movemask_epi8(x) << i;
        x = _mm_and_si128(x, y);
        t.two |= (uint64_t)(uint32_t)_mm_movemask_epi8(x) << i;
        y = _mm_add_epi8(y, y);
        x = _mm_and_si128(x, y);
        t.three |= (uint64_t)(uint32_t)_mm_movemask_epi8(x) << i;
        x = _mm_and_si128(x, _mm_add_epi8(y, y));
        t.four |= (uint64_t)(uint32_t)_mm_movemask_epi8(x) << i;
    }
    return t;
}

/* Of 64 states, those that are at least `least` <= 0x80 once bits outside `keep` are cleared; they
 * are below 0x80 then. */
LANES_TARGET static inline uint64_t at_least(const uint8_t *states, uint8_t keep, uint8_t least) {
    uint64_t bits = 0;
    __m128i kept = _mm_set1_epi8((char)keep), more = _mm_set1_epi8((char)(0x80 - least));
    for (int i = 0; i < 64; i += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(states + i));
        x = _mm_add_epi8(_mm_and_si128(x, kept), more);
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(x) << i;
    }
    return bits;
}

#elif defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

LANES_TARGET static inline uint64_t any_high(const uint8_t *p) {
    uint8x16_t x = vorrq_u8(vorrq_u8(vld1q_u8(p), vld1q_u8(p + 16)),
                            vorrq_u8(vld1q_u8(p + 32), vld1q_u8(p + 48)));
    return vmaxvq_u8(x) & 0x80;
}

/* A bit for each of 64 bytes, which are 0 or 0xFF. */
LANES_TARGET static inline uint64_t gather_bits(const uint8x16_t x[4]) {
    static const uint8_t places[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t place = vld1q_u8(places);
    uint8x16_t low = vpaddq_u8(vandq_u8(x[0], place), vandq_u8(x[1], place));
    uint8x16_t high = vpaddq_u8(vandq_u8(x[2], place), vandq_u8(x[3], place));
    low = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(low, low)), 0);
}

LANES_TARGET static inline lanes_tops find_tops(const uint8_t *p) {
    uint8x16_t x[4], one[4], two[4], three[4], four[4];
    for (int i = 0; i < 4; i++) {
        x[i] = vld1q_u8(p + 16 * i);
        one[i] = vcgeq_u8(x[i], vdupq_n_u8(0x80));
        two[i] = vcgeq_u8(x[i], vdupq_n_u8(0xC0));
        three[i] = vcgeq_u8(x[i], vdupq_n_u8(0xE0));
        four[i] = vcgeq_u8(x[i], vdupq_n_u8(0xF0));
    }
    return (lanes_tops){gather_bits(one), gather_bits(two), gather_bits(three), gather_bits(four)};
}

LANES_TARGET static inline uint64_t at_least(const uint8_t *states, uint8_t keep, uint8_t least) {
    uint8x16_t x[4];
    for (int i = 0; i < 4; i++) {
        x[i] = vandq_u8(vld1q_u8(states + 16 * i), vdupq_n_u8(keep));
        x[i] = vcgeq_u8(x[i], vdupq_n_u8(least));
    }
    return gather_bits(x);
}

#else

LANES_TARGET static inline uint64_t any_high(const uint8_t *p) {
    uint64_t x = 0;
    for (int i = 0; i < 64; i += 8)
        x |= load8(p + i);
    return x & 0x8080808080808080u;
}

LANES_TARGET static inline lanes_tops find_tops(const uint8_t *p) {
    lanes_tops t = {0, 0, 0, 0};
    for (int i = 0; i < 64; i += 8) {
        uint64_t x = load8(p + i);
        uint64_t two = x & x << 1, three = two & x << 2, four = three & x << 3;
        t.one |= top_bits(x) << i;
        t.two |= top_bits(two) << i;
        t.three |= top_bits(three) << i;
        t.four |= top_bits(four) << i;
    }
    return t;
}

LANES_TARGET static inline uint64_t at_least(const uint8_t *states, uint8_t keep, uint8_t least) {
    uint64_t bits = 0, ones = 0x0101010101010101u;
    for (int i = 0; i < 64; i += 8)
        bits |= top_bits((load8(states + i) & keep * ones) + (0x80u - least) * ones) << i;
    return bits;
}

#endif

/* ---------------------------------------------------------------- codes */

/* Codes of the characters from byte i on, one by one, up to the character boundary at or behind
 * byte `to`, which is the result. */
LANES_TARGET static inline size_t code_slowly(const bpe_stream *s, const uint8_t *p, size_t i,
                                              size_t to, size_t end, uint8_t *codes) {
    while (i < to) {
        if (p[i] < 0x80) {
            codes[i] = p[i];
            i++;
            continue;
        }
        size_t length;
        codes[i] = (uint8_t)(LANES_CLASS + bpe_stream_class_at(s, p, i, end, &length));
        for (size_t k = 1; k < length; k++)
            codes[i + k] = LANES_MORE;
        i += length;
    }
    return i;
}

/* Codes of the characters that begin in 64 bytes at p + i, if they are well-formed as far as the
 * tops tell; false where one is not. */
LANES_TARGET static inline bool code_leads(const bpe_stream *s, const uint8_t *p,
                                           const lanes_tops *t, uint8_t *codes) {
    const uint8_t *pages = s->stage->pages;
    for (uint64_t bits = t->two & ~t->three; bits; bits &= bits - 1) {
        size_t i = bpe_lowest_bit(bits);
        uint32_t slice = s->slice2[p[i] & 0x1Fu];
        if (slice == BPE_STREAM_NO_SLICE)
            return false;
        codes[i] = (uint8_t)(LANES_CLASS + pages[slice + (p[i + 1] & 0x3Fu)]);
    }
    for (uint64_t bits = t->three & ~t->four; bits; bits &= bits - 1) {
        size_t i = bpe_lowest_bit(bits);
        uint32_t slice = s->slice3[(p[i] & 0x0Fu) << 6 | (p[i + 1] & 0x3Fu)];
        if (slice == BPE_STREAM_NO_SLICE)
            return false;
        codes[i] = (uint8_t)(LANES_CLASS + pages[slice + (p[i + 2] & 0x3Fu)]);
    }
    for (uint64_t bits = t->four; bits; bits &= bits - 1) {
        size_t i = bpe_lowest_bit(bits), length;
        codes[i] = (uint8_t)(LANES_CLASS + bpe_stage_class_at(s->stage, p, i, i + 4, &length));
        if (length != 4)
            return false;
    }
    return true;
}

/* Codes of p[0, n), which is followed by more text up to p[end). */
LANES_TARGET static inline void code_text(const bpe_stream *s, const uint8_t *p, size_t n,
                                          size_t end, uint8_t *codes) {
    uint64_t carry = 0; /* leading bytes of the word that the character before it lays claim to */
    size_t i = 0;
    for (; i + 64 <= n && i + 67 <= end; i += 64) {
        if (carry == 0 && !any_high(p + i)) {
            memcpy(codes + i, p + i, 64);
            continue;
        }
        lanes_tops t = find_tops(p + i);
        uint64_t more = t.two << 1 | t.three << 2 | t.four << 3 | carry;
        for (size_t k = 0; k < 64; k++) /* 10xxxxxx -> LANES_MORE */
            codes[i + k] = (p[i + k] & 0xC0) == 0x80 ? LANES_MORE : p[i + k];
        if (more == (t.one & ~t.two) && code_leads(s, p + i, &t, codes + i)) {
            carry = t.two >> 63 | t.three >> 62 | t.four >> 61;
            continue;
        }
        size_t from = i; /* the character that lays claim to bytes must be looked at again */
        while (carry && (p[--from] & 0xC0) == 0x80)
            continue;
        size_t to = code_slowly(s, p, from, i + 64, end, codes);
        carry = ((uint64_t)1 << (to - i - 64)) - 1;
    }
    while (carry && (p[--i] & 0xC0) == 0x80)
        continue;
    code_slowly(s, p, i, n, end, codes);
    memset(codes + n, LANES_MORE, BPE_STREAM_BLOCK - n);
}

/* Codes of p[0, n), padded to the block. */
LANES_TARGET static inline void find_codes(const bpe_stream *s, const uint8_t *p, size_t n,
                                           size_t end, uint8_t *codes) {
    if (!s->stage->over_bytes) {
        code_text(s, p, n, end, codes);
        return;
    }
    for (size_t i = 0; i < n; i++)
        codes[i] = p[i] < 0x80 ? p[i] : (uint8_t)(LANES_CLASS + s->bytes[p[i]]);
    memset(codes + n, LANES_MORE, BPE_STREAM_BLOCK - n);
}

/* ---------------------------------------------------------------- states */

/* Run all lanes on from *state, `steps` codes each, a lane's codes `stride` behind the last one's.
 */
LANES_TARGET static inline void run_lanes(const bpe_stream *s, const uint8_t *codes, size_t stride,
                                          size_t steps, uint8_t state[LANES], uint8_t *out) {
    const uint8_t *rows = s->rows[0];
    size_t x0 = state[0], x1 = state[1], x2 = state[2], x3 = state[3];
    size_t x4 = state[4], x5 = state[5], x6 = state[6], x7 = state[7];
#define STEP(x, l)                                                                                 \
    x = rows[((size_t)codes[(l) * stride + t] << BPE_STREAM_ROW_SHIFT) + x];                       \
    if (out)                                                                                       \
    out[(l) * stride + t] = (uint8_t)x
    for (size_t t = 0; t < steps; t++) {
        STEP(x0, 0);
        STEP(x1, 1);
        STEP(x2, 2);
        STEP(x3, 3);
        STEP(x4, 4);
        STEP(x5, 5);
        STEP(x6, 6);
        STEP(x7, 7);
    }
#undef STEP
    const size_t x[LANES] = {x0, x1, x2, x3, x4, x5, x6, x7};
    for (int l = 0; l < LANES; l++)
        state[l] = (uint8_t)x[l];
}

/* The states behind each of n codes, which are padded to the block. */
LANES_TARGET static inline void find_states(const bpe_stream *s, const uint8_t *codes, size_t n,
                                            uint8_t state, uint8_t *states) {
    uint8_t x[LANES], begun[LANES];
    memset(x, s->start, sizeof x);
    size_t steps = (n + 63) / 64 * (64 / LANES); /* all lanes together are whole words */
    if (steps < LANES_RUN_IN)
        steps = LANES_RUN_IN;
    if (steps > LANES_STEPS / 2)
        steps = LANES_STEPS;
    /* The first lane needs no run-in, the last one's goes nowhere. */
    run_lanes(s, codes + steps - LANES_RUN_IN, steps, LANES_RUN_IN, x, NULL);
    memmove(x + 1, x, LANES - 1);
    x[0] = state;
    memcpy(begun, x, sizeof begun);
    if (steps == LANES_STEPS)
        run_lanes(s, codes, LANES_STEPS, LANES_STEPS, x, states); /* distances known: much faster */
    else
        run_lanes(s, codes, steps, steps, x, states);
    for (size_t l = 1; l < LANES && l * steps < n; l++) {
        if (begun[l] == states[l * steps - 1])
            continue;
        /* The guess was wrong: go through the stretch again until both agree. */
        uint8_t y = states[l * steps - 1];
        for (size_t p = l * steps; p < (l + 1) * steps; p++) {
            y = s->rows[codes[p]][y];
            if (y == states[p])
                break;
            states[p] = y;
        }
    }
}

LANES_TARGET static inline void mask_states(const bpe_stream *s, const uint8_t *states,
                                            size_t n_words, bpe_stream_block *out) {
    const uint8_t number = BPE_STREAM_NUMBERS - 1;
    out->n_rare = 0;
    for (size_t w = 0; w < n_words; w++) {
        const uint8_t *x = states + 64 * w;
        out->ends[w] = at_least(x, BPE_STREAM_NUMBERS, BPE_STREAM_NUMBERS);
        out->rare[w] = at_least(x, number, s->first_rare);
        for (uint64_t bits = out->rare[w]; bits != 0; bits &= bits - 1)
            out->told[out->n_rare++] = s->events[x[bpe_lowest_bit(bits)] & number];
    }
    for (size_t w = 0; out->n_rare > 0 && w < n_words; w++) {
        const uint8_t *x = states + 64 * w;
        out->marks[w] = at_least(x, number, s->first_mark) & ~at_least(x, number, s->last_mark);
    }
}

LANES_TARGET static inline uint8_t scan_lanes(const bpe_stream *s, const uint8_t *data,
                                              size_t start, size_t n, size_t end, uint8_t state,
                                              bpe_stream_block *out) {
    uint8_t codes[BPE_STREAM_BLOCK], states[BPE_STREAM_BLOCK];
    find_codes(s, data + start, n, end - start, codes);
    find_states(s, codes, n, state, states);
    mask_states(s, states, (n + 63) / 64, out);
    return states[n - 1];
}

/* The lowest bit, or 63 or 64 when there is none. */
LANES_TARGET static inline size_t lowest_or_none(uint64_t bits) {
#if defined(LANES_AVX2)
    return (size_t)_tzcnt_u64(bits);
#elif defined(__aarch64__) && defined(__GNUC__)
    return bits ? (size_t)__builtin_ctzll(bits) : 64; /* the instruction does the same */
#else
    return bpe_lowest_bit(bits | (uint64_t)1 << 63);
#endif
}

LANES_TARGET static inline size_t bit_positions(const uint64_t *words, size_t n_words, size_t base,
                                                size_t *out, size_t cap, size_t *n_out) {
    size_t n = 0, w = 0;
    for (; w < n_words; w++) {
        uint64_t bits = words[w];
        size_t more = bpe_count_bits(bits);
        if (n + more + 16 > cap)
            break;
        size_t from = base + 64 * w;
        size_t *to = out + n;
        n += more;
        /* In eights and sixteens: how many there are is hard to foresee, a branch for each dear. */
        for (int i = 0; i < 8; i++, bits &= bits - 1)
            to[i] = from + lowest_or_none(bits);
        if (more <= 8)
            continue;
        for (int i = 8; i < 16; i++, bits &= bits - 1)
            to[i] = from + lowest_or_none(bits);
        for (to += 16; bits != 0; bits &= bits - 1)
            *to++ = from + bpe_lowest_bit(bits);
    }
    *n_out = n;
    return w;
}
