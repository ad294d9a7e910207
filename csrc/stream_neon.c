/*
 * The streaming automaton with NEON: a block is cut into 64 stretches of 64 bytes, a lane of one of
 * four registers each. The transition table is 256 bytes at most, which stay in registers: four
 * look-ups of 64 entries each for 16 lanes, of which three find nothing and give zero. Larger
 * automata and short texts are left to the portable kernel.
 *
 * Text becomes codes as in stream_lanes.h; they become classes and are transposed, 16 bytes of 16
 * lanes at a time.
 */
#include "stream.h"

#if defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include <arm_neon.h>

#define LANES_TARGET
#include "stream_lanes.h"

#define INLINE static inline __attribute__((always_inline))

/* A stretch begins this many bytes early, in a guessed state. */
#define RUN_IN 16

/* Fewer bytes than these leave most lanes empty: the portable kernel takes fewer instructions. */
#define LEAST 1536

/* What the lanes begin with, and the states after each step. */
typedef struct lanes {
    uint8_t begun[64];
    uint8_t classes[64][64]; /* step, lane */
    uint8_t states[64][64];
} lanes;

/* 256 bytes in registers. */
typedef struct table {
    uint8x16x4_t quarters[4];
} table;

INLINE uint8x16x4_t load64(const uint8_t *p) {
    return (uint8x16x4_t){{vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)}};
}

INLINE uint8x16_t flip(uint8x16_t x, uint8_t bits) { return veorq_u8(x, vdupq_n_u8(bits)); }

/* An index of 64 or more finds zero. */
INLINE uint8x16_t look_up_half(const uint8x16x4_t *quarters, uint8x16_t at) {
    return vorrq_u8(vqtbl4q_u8(quarters[0], at), vqtbl4q_u8(quarters[1], flip(at, 0x40)));
}

INLINE uint8x16_t look_up(const table *t, uint8x16_t at) {
    return vorrq_u8(look_up_half(t->quarters, at), look_up_half(t->quarters + 2, flip(at, 0x80)));
}

/* ---------------------------------------------------------------- classes */

/* Codes that are not those of ASCII -> classes. */
INLINE uint8x16_t class_of_high(uint8x16_t code, uint8x16_t more) {
    uint8x16_t begins = vcgeq_u8(code, vdupq_n_u8(LANES_CLASS));
    uint8x16_t continues = vceqq_u8(code, vdupq_n_u8(LANES_MORE));
    code = vandq_u8(code, vdupq_n_u8((uint8_t)~LANES_CLASS));
    return vorrq_u8(vandq_u8(code, begins), vandq_u8(more, continues));
}

/* Four times this transposes a matrix of 16 x 16 bytes. */
INLINE void interleave(uint8x16_t r[16]) {
    uint8x16_t to[16];
    for (int i = 0; i < 8; i++) {
        to[2 * i] = vzip1q_u8(r[i], r[i + 8]);
        to[2 * i + 1] = vzip2q_u8(r[i], r[i + 8]);
    }
    for (int i = 0; i < 16; i++)
        r[i] = to[i];
}

/* Classes of a whole block of codes, transposed. */
INLINE void find_classes(const bpe_stream *s, const uint8_t *codes, lanes *x) {
    const uint8x16x4_t ascii[2] = {load64(s->bytes), load64(s->bytes + 64)};
    uint8x16_t more = vdupq_n_u8((uint8_t)(s->n_classes - 1));
    for (size_t lane = 0; lane < 64; lane += 16) {
        for (size_t t = 0; t < 64; t += 16) {
            uint8x16_t r[16], any = vdupq_n_u8(0);
            for (size_t i = 0; i < 16; i++) {
                r[i] = vld1q_u8(codes + 64 * (lane + i) + t);
                any = vorrq_u8(any, r[i]);
            }
            if (vmaxvq_u8(any) < 0x80) {
                for (size_t i = 0; i < 16; i++)
                    r[i] = look_up_half(ascii, r[i]);
            } else {
                for (size_t i = 0; i < 16; i++)
                    r[i] = vorrq_u8(look_up_half(ascii, r[i]), class_of_high(r[i], more));
            }
            for (int round = 0; round < 4; round++)
                interleave(r);
            for (size_t i = 0; i < 16; i++)
                vst1q_u8(x->classes[t + i] + lane, r[i]);
        }
    }
}

/* ---------------------------------------------------------------- states */

/* One step of all lanes. */
INLINE void step(const table *t, uint8x16_t width, const uint8_t *classes, uint8x16_t v[4]) {
    uint8x16_t number = vdupq_n_u8(31);
    for (int i = 0; i < 4; i++) {
        uint8x16_t row = vmulq_u8(vld1q_u8(classes + 16 * i), width);
        v[i] = look_up(t, vaddq_u8(row, vandq_u8(v[i], number)));
    }
}

INLINE void store64(uint8_t *p, const uint8x16_t v[4]) {
    for (int i = 0; i < 4; i++)
        vst1q_u8(p + 16 * i, v[i]);
}

static void run(const bpe_stream *s, lanes *x, uint8_t state) {
    table t;
    for (int i = 0; i < 4; i++)
        t.quarters[i] = load64(s->dense + 64 * i);
    uint8x16_t width = vdupq_n_u8(s->dense_width), v[4];
    for (int i = 0; i < 4; i++)
        v[i] = vdupq_n_u8(s->start);
    for (int k = 64 - RUN_IN; k < 64; k++)
        step(&t, width, x->classes[k], v);
    for (int i = 3; i > 0; i--) /* to the next lane */
        v[i] = vextq_u8(v[i - 1], v[i], 15);
    v[0] = vextq_u8(vdupq_n_u8(state), v[0], 15);
    store64(x->begun, v);
    for (int k = 0; k < 64; k++) {
        step(&t, width, x->classes[k], v);
        store64(x->states[k], v);
    }
}

/* Where the guess was wrong, go through the stretch again until both agree. */
static void correct(const bpe_stream *s, lanes *x, size_t n_lanes) {
    for (size_t lane = 1; lane < n_lanes; lane++) {
        uint8_t state = x->states[63][lane - 1];
        /* What the two tell may differ: that is of the step to them. */
        if (((state ^ x->begun[lane]) & 31) == 0)
            continue;
        x->begun[lane] = state;
        for (size_t t = 0; t < 64; t++) {
            state = s->dense[x->classes[t][lane] * s->dense_width + (state & 31)];
            if (state == x->states[t][lane])
                break;
            x->states[t][lane] = state;
        }
    }
}

/* ---------------------------------------------------------------- masks */

/* 8 rows of 16 bytes -> 16 columns of 8 bytes. */
INLINE void store_columns(const uint8x16_t r[8], uint64_t *words) {
    for (int half = 0; half < 2; half++) {
        uint16x8_t a[4];
        for (int i = 0; i < 4; i++) {
            uint8x16_t even = r[2 * i], odd = r[2 * i + 1];
            a[i] = vreinterpretq_u16_u8(half ? vzip2q_u8(even, odd) : vzip1q_u8(even, odd));
        }
        uint32x4_t b[4] = {
            vreinterpretq_u32_u16(vzip1q_u16(a[0], a[1])),
            vreinterpretq_u32_u16(vzip2q_u16(a[0], a[1])),
            vreinterpretq_u32_u16(vzip1q_u16(a[2], a[3])),
            vreinterpretq_u32_u16(vzip2q_u16(a[2], a[3])),
        };
        uint64_t *to = words + 8 * half;
        vst1q_u64(to, vreinterpretq_u64_u32(vzip1q_u32(b[0], b[2])));
        vst1q_u64(to + 2, vreinterpretq_u64_u32(vzip2q_u32(b[0], b[2])));
        vst1q_u64(to + 4, vreinterpretq_u64_u32(vzip1q_u32(b[1], b[3])));
        vst1q_u64(to + 6, vreinterpretq_u64_u32(vzip2q_u32(b[1], b[3])));
    }
}

/* The top bits of all states that are shifted to the left by `shift` first. */
INLINE void gather(const lanes *x, int shift, uint64_t words[64]) {
    int8x16_t by = vdupq_n_s8((int8_t)shift);
    for (size_t lane = 0; lane < 64; lane += 16) {
        uint8x16_t r[8];
        for (size_t k = 0; k < 8; k++) {
            r[k] = vdupq_n_u8(0);
            for (size_t t = 0; t < 8; t++) { /* the bits so far move down by one */
                uint8x16_t v = vld1q_u8(x->states[8 * k + t] + lane);
                r[k] = vsriq_n_u8(shift ? vshlq_u8(v, by) : v, r[k], 1);
            }
        }
        store_columns(r, words + lane);
    }
}

/* What is told at the rare events, and the marks. */
static void tell_rare(const bpe_stream *s, const lanes *x, bpe_stream_block *out) {
    gather(x, 1, out->rare);
    gather(x, 2, out->marks);
    for (size_t w = 0; w < BPE_STREAM_WORDS; w++) {
        for (uint64_t bits = out->rare[w]; bits != 0; bits &= bits - 1) {
            size_t t = bpe_lowest_bit(bits);
            uint8_t before = t > 0 ? x->states[t - 1][w] : x->begun[w];
            out->told[out->n_rare++] = s->tells[x->classes[t][w]][before & 31];
        }
    }
}

static void mask_wide(const bpe_stream *s, const lanes *x, bpe_stream_block *out) {
    uint8x16_t any = vdupq_n_u8(0);
    const uint8_t *all = x->states[0];
    for (size_t i = 0; i < sizeof x->states; i += 16)
        any = vorrq_u8(any, vld1q_u8(all + i));
    gather(x, 0, out->ends);
    out->n_rare = 0;
    if (vmaxvq_u8(vandq_u8(any, vdupq_n_u8(BPE_WIDE_RARE))) != 0)
        tell_rare(s, x, out);
    else
        memset(out->rare, 0, sizeof out->rare);
}

static uint8_t scan(const bpe_stream *s, const uint8_t *data, size_t start, size_t n, size_t end,
                    uint8_t state, bpe_stream_block *out) {
    if (s->dense_width == 0 || n < LEAST)
        return scan_lanes(s, data, start, n, end, state, out);
    uint8_t codes[BPE_STREAM_BLOCK];
    lanes x;
    find_codes(s, data + start, n, end - start, codes);
    find_classes(s, codes, &x);
    /* The number of the same state that tells nothing, as the wide ones are. */
    run(s, &x, s->next[s->n_classes - 1][state]);
    size_t n_lanes = (n + 63) / 64;
    correct(s, &x, n_lanes);
    mask_wide(s, &x, out);
    return x.states[63][n_lanes - 1] & 31;
}

static size_t positions(const uint64_t *words, size_t n_words, size_t base, size_t *out, size_t cap,
                        size_t *n_out) {
    return bit_positions(words, n_words, base, out, cap, n_out);
}

static const bpe_stream_kernel kernel = {scan, positions};

const bpe_stream_kernel *bpe_stream_neon(void) { return &kernel; }

#else

const bpe_stream_kernel *bpe_stream_neon(void) { return NULL; }

#endif
