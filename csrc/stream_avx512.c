/*
 * The streaming automaton with AVX-512 (VBMI, VBMI2 and GFNI): a block is cut into 64 stretches of
 * 64 bytes, a lane of one register each. The transition table lies in chunks of 128 entries, which
 * one instruction looks up for all lanes; which chunk a lane needs depends on its class alone, so a
 * step takes the time of one look-up and one sum.
 */
#include "stream.h"

#if defined(__GNUC__) && defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define TARGET                                                                                     \
    __attribute__((                                                                                \
        target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,gfni,bmi,bmi2,popcnt")))
#define TARGET_INLINE TARGET __attribute__((always_inline)) static inline

/* A stretch begins this many bytes early, in a guessed state. */
#define RUN_IN 16

/* Fewer bytes than these would leave most lanes empty. */
#define LEAST 640

/* ---------------------------------------------------------------- classes */

typedef struct lookups {
    __m512i ascii_low, ascii_high; /* classes of ASCII characters */
    __m512i high_low, high_high;   /* of the other bytes */
    __m512i uniform;
    __m512i more;
    __m512i bad;
} lookups;

TARGET_INLINE lookups load_lookups(const bpe_stream *s) {
    return (lookups){
        _mm512_loadu_si512(s->bytes),       _mm512_loadu_si512(s->bytes + 64),
        _mm512_loadu_si512(s->bytes + 128), _mm512_loadu_si512(s->bytes + 192),
        _mm512_loadu_si512(s->uniform),     _mm512_set1_epi8((char)(s->n_classes - 1)),
        _mm512_set1_epi8((char)s->bad),
    };
}

TARGET_INLINE __mmask64 between(__m512i v, uint8_t low, uint8_t high) {
    return _mm512_cmple_epu8_mask(_mm512_sub_epi8(v, _mm512_set1_epi8((char)low)),
                                  _mm512_set1_epi8((char)(high - low)));
}

TARGET_INLINE __mmask64 continuation(const uint8_t *p) {
    return _mm512_cmplt_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8(-64));
}

/* The well-formed characters among 64 bytes that 3 more may be read behind, by length. */
typedef struct characters {
    __mmask64 two, three, four;
} characters;

TARGET_INLINE characters find_characters(__m512i v, const uint8_t *p) {
    characters c;
    __m512i second = _mm512_loadu_si512(p + 1);
    __mmask64 follow1 = continuation(p + 1), follow2 = continuation(p + 2);
    c.two = between(v, 0xC2, 0xDF) & follow1;
    c.three = between(v, 0xE0, 0xEF) & follow1 & follow2;
    __mmask64 low = _mm512_cmplt_epu8_mask(second, _mm512_set1_epi8((char)0xA0));
    c.three &= ~(_mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8((char)0xE0)) & low);
    c.three &= ~(_mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8((char)0xED)) & ~low);
    c.four = between(v, 0xF0, 0xF4) & follow1 & follow2;
    if (c.four) {
        c.four &= continuation(p + 3);
        low = _mm512_cmplt_epu8_mask(second, _mm512_set1_epi8((char)0x90));
        c.four &= ~(_mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8((char)0xF0)) & low);
        c.four &= ~(_mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8((char)0xF4)) & ~low);
    }
    return c;
}

/* As many characters of several classes to 64 bytes are looked up one by one. */
#define FEW 3

/*
 * Classes of characters of two and three bytes, all those with the same first byte, or the same
 * first two bytes, at once: a text has few different ones at a time.
 */
TARGET_INLINE __m512i look_up_slices(const bpe_stream *s, __m512i v, const uint8_t *p,
                                     const characters *c, uint64_t mixed, __m512i out) {
    const uint8_t *pages = s->stage->pages;
    __m512i second = _mm512_loadu_si512(p + 1), third = _mm512_loadu_si512(p + 2);
    for (uint64_t left = mixed & c->two; left;) {
        uint8_t lead = p[_tzcnt_u64(left)];
        __mmask64 same = _mm512_mask_cmpeq_epi8_mask(left, v, _mm512_set1_epi8((char)lead));
        __m512i slice = _mm512_loadu_si512(pages + s->slice2[lead & 0x1F]);
        out = _mm512_mask_permutexvar_epi8(out, same, second, slice);
        left &= ~same;
    }
    mixed &= c->three;
    for (uint64_t left = mixed; left;) {
        uint8_t lead = p[_tzcnt_u64(left)];
        __mmask64 same = _mm512_mask_cmpeq_epi8_mask(left, v, _mm512_set1_epi8((char)lead));
        __m512i pairs = _mm512_loadu_si512(s->pairs[lead & 0x0F]);
        out = _mm512_mask_permutexvar_epi8(out, same, second, pairs);
        left &= ~same;
    }
    for (uint64_t left = mixed & _mm512_movepi8_mask(out); left;) {
        size_t i = (size_t)_tzcnt_u64(left);
        __mmask64 same = _mm512_mask_cmpeq_epi8_mask(left, v, _mm512_set1_epi8((char)p[i]));
        same = _mm512_mask_cmpeq_epi8_mask(same, second, _mm512_set1_epi8((char)p[i + 1]));
        uint32_t at = s->slice3[(p[i] & 0x0Fu) << 6 | (p[i + 1] & 0x3Fu)];
        __m512i slice = _mm512_loadu_si512(pages + at);
        out = _mm512_mask_permutexvar_epi8(out, same, third, slice);
        left &= ~same;
    }
    return out;
}

/*
 * 64 bytes at p, not all of them ASCII, that 3 more may be read behind; *carry are the bits of the
 * leading bytes that belong to the character before.
 */
TARGET_INLINE void classify_mixed(const bpe_stream *s, const lookups *look, __m512i v,
                                  const uint8_t *p, uint64_t *carry, uint8_t *classes) {
    characters c = find_characters(v, p);
    uint64_t leads = c.two | c.three | c.four;
    uint64_t more = leads << 1 | (c.three | c.four) << 2 | c.four << 3 | *carry;
    *carry = leads >> 63 | (c.three | c.four) >> 62 | c.four >> 61;
    __mmask64 other = _mm512_movepi8_mask(v) & ~more & ~leads;
    __m512i out = _mm512_permutex2var_epi8(look->ascii_low, v, look->ascii_high);
    out = _mm512_mask_mov_epi8(out, more, look->more);
    out = _mm512_mask_mov_epi8(out, other, look->bad);
    __m512i uniform = _mm512_permutexvar_epi8(v, look->uniform);
    out = _mm512_mask_mov_epi8(out, leads, uniform);
    uint64_t mixed = leads & _mm512_movepi8_mask(uniform); /* classes are below 64, 0xFF is not */
    if (_mm_popcnt_u64(mixed) > FEW) {
        out = look_up_slices(s, v, p, &c, mixed, out);
        mixed &= c.four;
    }
    _mm512_storeu_si512(classes, out);
    for (; mixed; mixed &= mixed - 1) {
        size_t i = (size_t)_tzcnt_u64(mixed), length;
        classes[i] = bpe_stream_class_at(s, p, i, i + 4, &length);
    }
}

/* Classes of data[start, start + n), padded to the block with that of continuation bytes. */
TARGET_INLINE void classify(const bpe_stream *s, const uint8_t *data, size_t start, size_t n,
                            size_t end, uint8_t *classes) {
    lookups look = load_lookups(s);
    bool over_bytes = s->stage->over_bytes;
    uint64_t carry = 0;
    uint8_t last[128];
    for (size_t i = 0; i < n; i += 64) {
        const uint8_t *p = data + start + i;
        if (end - (start + i) < 67) {
            memset(last, 0, sizeof last);
            memcpy(last, p, end - (start + i)); /* zeros behind it are no continuation bytes */
            p = last;
        }
        __m512i v = _mm512_loadu_si512(p);
        __mmask64 high = _mm512_movepi8_mask(v);
        if (high == 0 || over_bytes) {
            __m512i out = _mm512_permutex2var_epi8(look.ascii_low, v, look.ascii_high);
            __m512i out2 = _mm512_permutex2var_epi8(look.high_low, v, look.high_high);
            _mm512_storeu_si512(classes + i, _mm512_mask_mov_epi8(out, high, out2));
            continue;
        }
        classify_mixed(s, &look, v, p, &carry, classes + i);
    }
    memset(classes + n, (int)(s->n_classes - 1), BPE_STREAM_BLOCK - n);
}

/* ---------------------------------------------------------------- transposing */

/* An 8 x 8 matrix of quadwords, a row to a register. */
TARGET_INLINE void transpose8(__m512i r[8]) {
    __m512i a[8], b[8];
    for (int i = 0; i < 8; i += 2) {
        a[i] = _mm512_unpacklo_epi64(r[i], r[i + 1]);
        a[i + 1] = _mm512_unpackhi_epi64(r[i], r[i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        b[i] = _mm512_shuffle_i64x2(a[i], a[i + 2], 0x88);
        b[i + 2] = _mm512_shuffle_i64x2(a[i], a[i + 2], 0xDD);
        b[i + 4] = _mm512_shuffle_i64x2(a[i + 4], a[i + 6], 0x88);
        b[i + 6] = _mm512_shuffle_i64x2(a[i + 4], a[i + 6], 0xDD);
    }
    for (int i = 0; i < 2; i++) {
        r[i] = _mm512_shuffle_i64x2(b[i], b[i + 4], 0x88);
        r[i + 4] = _mm512_shuffle_i64x2(b[i], b[i + 4], 0xDD);
        r[i + 2] = _mm512_shuffle_i64x2(b[i + 2], b[i + 6], 0x88);
        r[i + 6] = _mm512_shuffle_i64x2(b[i + 2], b[i + 6], 0xDD);
    }
}

/* Byte 8 i + j of a register -> byte 8 j + i. */
TARGET_INLINE __m512i byte_transposition(void) {
    uint8_t at[64];
    for (int i = 0; i < 64; i++)
        at[i] = (uint8_t)(i % 8 * 8 + i / 8);
    return _mm512_loadu_si512(at);
}

/* 64 rows of 64 bytes -> columns. */
TARGET_INLINE void transpose64(const uint8_t *in, uint8_t *out) {
    __m512i by_byte = byte_transposition();
    __m512i half[8][8];
    for (int g = 0; g < 8; g++) {
        __m512i r[8];
        for (int i = 0; i < 8; i++)
            r[i] = _mm512_loadu_si512(in + 64 * (8 * g + i));
        transpose8(r);
        for (int j = 0; j < 8; j++)
            half[j][g] = _mm512_permutexvar_epi8(by_byte, r[j]);
    }
    for (int j = 0; j < 8; j++) {
        transpose8(half[j]);
        for (int i = 0; i < 8; i++)
            _mm512_storeu_si512(out + 64 * (8 * j + i), half[j][i]);
    }
}

/* 64 rows of 64 bits -> columns, in place. */
TARGET_INLINE void transpose_bits(uint64_t rows[64]) {
    /* Bytes as byte_transposition has them, and each column of 8 bytes upside down, which is how
     * the matrix instruction reads it. */
    uint8_t at[64];
    for (int i = 0; i < 64; i++)
        at[i] = (uint8_t)((7 - i % 8) * 8 + i / 8);
    __m512i reversed = _mm512_loadu_si512(at);
    __m512i by_byte = byte_transposition();
    __m512i unit = _mm512_set1_epi64((long long)0x8040201008040201);
    __m512i r[8];
    for (int j = 0; j < 8; j++) {
        __m512i x = _mm512_permutexvar_epi8(reversed, _mm512_loadu_si512(rows + 8 * j));
        r[j] = _mm512_gf2p8affine_epi64_epi8(unit, x, 0);
    }
    transpose8(r);
    for (int j = 0; j < 8; j++)
        _mm512_storeu_si512(rows + 8 * j, _mm512_permutexvar_epi8(by_byte, r[j]));
}

/* ---------------------------------------------------------------- states */

/* The table as a step needs it. */
typedef struct wide_table {
    __m512i offsets, chunks, mask;
} wide_table;

/* One step of all lanes. */
TARGET_INLINE __m512i step(const bpe_stream *s, const wide_table *table, uint32_t n_chunks,
                           const uint8_t *classes, __m512i state) {
    __m512i class = _mm512_loadu_si512(classes);
    __m512i at = _mm512_permutexvar_epi8(class, table->offsets);
    __m512i chunk = _mm512_permutexvar_epi8(class, table->chunks);
    at = _mm512_ternarylogic_epi64(state, table->mask, at, 0xEA); /* (state & mask) | at */
    __m512i out = _mm512_setzero_si512();
    for (uint32_t q = 0; q < n_chunks; q++) {
        __mmask64 mine = _mm512_cmpeq_epi8_mask(chunk, _mm512_set1_epi8((char)q));
        __m512i low = _mm512_loadu_si512(s->chunks[q]);
        __m512i high = _mm512_loadu_si512(s->chunks[q] + 64);
        out = _mm512_or_si512(out, _mm512_maskz_permutex2var_epi8(mine, low, at, high));
    }
    return out;
}

/* What the lanes begin with, and the states after each step. */
typedef struct lanes {
    uint8_t begun[64];
    uint8_t classes[64][64]; /* step, lane */
    uint8_t states[64][64];
} lanes;

/* Inlined for each number of chunks that is frequent. */
TARGET_INLINE void run(const bpe_stream *s, lanes *x, uint8_t state, uint32_t n_chunks) {
    const wide_table table = {
        _mm512_loadu_si512(s->offset_of),
        _mm512_loadu_si512(s->chunk_of),
        _mm512_set1_epi8((char)s->wide_mask),
    };
    __m512i v = _mm512_set1_epi8((char)s->start);
    for (int t = 64 - RUN_IN; t < 64; t++)
        v = step(s, &table, n_chunks, x->classes[t], v);
    uint8_t next_lane[64];
    for (int i = 0; i < 64; i++)
        next_lane[i] = (uint8_t)(i - 1);
    v = _mm512_permutexvar_epi8(_mm512_loadu_si512(next_lane), v);
    v = _mm512_mask_set1_epi8(v, 1, (char)state);
    _mm512_storeu_si512(x->begun, v);
    for (int t = 0; t < 64; t++) {
        v = step(s, &table, n_chunks, x->classes[t], v);
        _mm512_storeu_si512(x->states[t], v);
    }
}

TARGET static void run_any(const bpe_stream *s, lanes *x, uint8_t state) {
    switch (s->n_chunks) {
    case 1:
    case 2:
        run(s, x, state, 2);
        break;
    case 3:
        run(s, x, state, 3);
        break;
    case 4:
        run(s, x, state, 4);
        break;
    case 5:
        run(s, x, state, 5);
        break;
    case 6:
        run(s, x, state, 6);
        break;
    default:
        run(s, x, state, s->n_chunks);
    }
}

/* Where the guess was wrong, go through the stretch again until both agree. */
TARGET_INLINE void correct(const bpe_stream *s, lanes *x, uint32_t n_lanes) {
    /* What each lane should have begun with: the end of the one before. */
    uint8_t previous[64];
    memcpy(previous + 1, x->states[63], 63);
    previous[0] = x->begun[0];
    uint64_t wrong =
        _mm512_cmpneq_epi8_mask(_mm512_loadu_si512(previous), _mm512_loadu_si512(x->begun));
    wrong &= UINT64_MAX >> (64 - n_lanes);
    while (wrong != 0) {
        size_t lane = (size_t)_tzcnt_u64(wrong);
        wrong &= wrong - 1;
        uint8_t state = x->begun[lane] = x->states[63][lane - 1];
        size_t t = 0;
        for (; t < 64; t++) {
            uint8_t class = x->classes[t][lane];
            state = s->chunks[s->chunk_of[class]][s->offset_of[class] + (state & s->wide_mask)];
            if (state == x->states[t][lane])
                break;
            x->states[t][lane] = state;
        }
        if (t == 64 && lane + 1 < n_lanes && state != x->begun[lane + 1])
            wrong |= (uint64_t)2 << lane;
        else if (t == 64 && lane + 1 < n_lanes)
            wrong &= ~((uint64_t)2 << lane);
    }
}

/* What is told at the rare events, and the marks. */
TARGET static void tell_rare(const bpe_stream *s, const lanes *x, bpe_stream_block *out) {
    transpose_bits(out->rare);
    for (size_t w = 0; w < BPE_STREAM_WORDS; w++) {
        for (uint64_t bits = out->rare[w]; bits != 0; bits &= bits - 1) {
            size_t t = (size_t)_tzcnt_u64(bits);
            uint8_t before = t > 0 ? x->states[t - 1][w] : x->begun[w];
            out->told[out->n_rare++] = s->tells[x->classes[t][w]][before & s->wide_mask];
        }
    }
    for (int t = 0; t < 64; t++)
        out->marks[t] = _mm512_test_epi8_mask(_mm512_loadu_si512(x->states[t]),
                                              _mm512_set1_epi8(BPE_WIDE_MARK));
    transpose_bits(out->marks);
}

/* The masks of all states. */
TARGET_INLINE void mask_states(const bpe_stream *s, const lanes *x, bpe_stream_block *out) {
    uint64_t any = 0;
    for (int t = 0; t < 64; t++) {
        __m512i v = _mm512_loadu_si512(x->states[t]);
        out->ends[t] = _mm512_movepi8_mask(v);
        out->rare[t] = _mm512_test_epi8_mask(v, _mm512_set1_epi8(BPE_WIDE_RARE));
        any |= out->rare[t];
    }
    transpose_bits(out->ends);
    out->n_rare = 0;
    if (any != 0)
        tell_rare(s, x, out);
}

TARGET static uint8_t scan(const bpe_stream *s, const uint8_t *data, size_t start, size_t n,
                           size_t end, uint8_t state, bpe_stream_block *out) {
    if (s->n_chunks == 0 || n < LEAST)
        return bpe_stream_avx2()->scan(s, data, start, n, end, state, out);
    lanes x;
    uint8_t classes[BPE_STREAM_BLOCK];
    uint32_t n_lanes = (uint32_t)((n + 63) / 64);
    classify(s, data, start, n, end, classes);
    transpose64(classes, x.classes[0]);
    /* The number of the same state that tells nothing, as the wide ones are. */
    run_any(s, &x, s->next[s->n_classes - 1][state]);
    correct(s, &x, n_lanes);
    mask_states(s, &x, out);
    return x.states[63][n_lanes - 1] & s->wide_mask;
}

TARGET static size_t positions(const uint64_t *words, size_t n_words, size_t base, size_t *out,
                               size_t cap, size_t *n_out) {
    uint8_t at[64], all[64];
    for (int i = 0; i < 64; i++)
        all[i] = (uint8_t)i;
    __m512i order = _mm512_loadu_si512(all);
    size_t n = 0, w = 0;
    for (; w < n_words; w++) {
        size_t more = (size_t)_mm_popcnt_u64(words[w]);
        if (n + more + 16 > cap)
            break;
        _mm512_storeu_si512(at, _mm512_maskz_compress_epi8(words[w], order));
        __m512i from = _mm512_set1_epi64((long long)(base + 64 * w));
        size_t i = 0;
        do { /* 16 at once: how many there are is hard to foresee, that they are more is rare */
            __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
            __m512i low = _mm512_cvtepu8_epi64(x);
            __m512i high = _mm512_cvtepu8_epi64(_mm_unpackhi_epi64(x, x));
            _mm512_storeu_si512(out + n + i, _mm512_add_epi64(low, from));
            _mm512_storeu_si512(out + n + i + 8, _mm512_add_epi64(high, from));
            i += 16;
        } while (i < more);
        n += more;
    }
    *n_out = n;
    return w;
}

static const bpe_stream_kernel kernel = {scan, positions};

const bpe_stream_kernel *bpe_stream_avx512(void) {
    bool has = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi") &&
               __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("gfni") &&
               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
               __builtin_cpu_supports("popcnt");
    return has ? &kernel : NULL;
}

#else

const bpe_stream_kernel *bpe_stream_avx512(void) { return NULL; }

#endif
