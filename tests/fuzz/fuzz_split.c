/* Split: tables of the input's making, right and wrong ones. Right ones must cut as the contract in
 * bpe.h has it, word for word, the text given whole or in blocks. */
#include "split.h"

#include "fuzz.h"

enum { STAGES = 3, STATES = 8, CLASSES = 5, WIDTH = CLASSES + 1, RUNS = 8, TEXT = 600 };

typedef struct tables {
    uint32_t class_starts[RUNS];
    uint8_t class_ids[RUNS];
    uint16_t transitions[STATES * WIDTH];
    bpe_split_stage spec;
} tables;

/* ---------------------------------------------------------------- tables of the input */

static void read_tables(fuzz_input *in, tables *t) {
    uint32_t kind = fuzz_byte(in);
    uint32_t n_classes = 1 + fuzz_below(in, CLASSES);
    uint32_t n_states = 2 + fuzz_below(in, STATES - 1);
    uint32_t n_runs = 1 + fuzz_below(in, RUNS);
    bool wild = kind >= 0xF0; /* the values as they come */
    uint32_t start = 0;
    for (uint32_t i = 0; i < n_runs; i++) {
        uint32_t step = 1u + fuzz_byte(in);
        if (step > 192) /* beyond ASCII, and up to the last codepoint */
            step = (step - 192) << (step & 15);
        start = i == 0 && !wild ? 0 : start + step;
        t->class_starts[i] = start;
        t->class_ids[i] = (uint8_t)(fuzz_byte(in) % (n_classes + wild));
    }
    uint32_t width = n_classes + 1;
    for (uint32_t i = 0; i < n_states * width; i++) {
        uint32_t state = i / width, x = fuzz_byte(in);
        uint32_t next = (x & 15) % (n_states + wild), flag = x >> 6 == 3 ? 0x8000u : 0;
        if (!wild && (state == 0 || i % width == n_classes))
            next = 0;
        if (!wild && state <= 1)
            flag = 0;
        t->transitions[i] = (uint16_t)(next | flag);
    }
    t->spec = (bpe_split_stage){
        .class_starts = t->class_starts,
        .class_ids = t->class_ids,
        .n_runs = n_runs,
        .n_classes = n_classes,
        .n_states = n_states,
        .transitions = t->transitions,
        .behavior = kind % 8 < 6 ? kind % 8 : 0,
        .over_bytes = kind >> 3 & 1,
    };
}

/* ---------------------------------------------------------------- the contract */

static size_t encode(uint32_t cp, uint8_t out[4]) {
    if (cp < 0x80)
        return out[0] = (uint8_t)cp, 1;
    size_t n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, cp >>= 6)
        out[i] = (uint8_t)(0x80 | (cp & 0x3F));
    out[0] = (uint8_t)(0xF00u >> n | cp);
    return n;
}

/* The character at p: the one whose encoding stands there, or a byte by itself. */
static size_t slow_character(const uint8_t *p, size_t n, uint32_t *cp) {
    for (size_t length = 1; length <= 4 && length <= n; length++) {
        uint32_t x = length == 1 ? p[0] : p[0] & (0x7Fu >> length);
        for (size_t i = 1; i < length; i++)
            x = x << 6 | (p[i] & 0x3Fu);
        uint8_t back[4];
        if (x <= 0x10FFFF && !(x >= 0xD800 && x < 0xE000) && encode(x, back) == length &&
            memcmp(back, p, length) == 0) {
            *cp = x;
            return length;
        }
    }
    *cp = 0xFFFD;
    return 1;
}

static uint32_t slow_class(const tables *t, const uint8_t *p, size_t n, size_t *length) {
    uint32_t cp = p[0], run = 0;
    *length = t->spec.over_bytes ? 1 : slow_character(p, n, &cp);
    for (uint32_t i = 0; i < t->spec.n_runs; i++) {
        if (t->class_starts[i] <= cp)
            run = i;
    }
    return t->class_ids[run];
}

static size_t slow_match(const tables *t, const uint8_t *text, size_t p, size_t end) {
    uint32_t width = t->spec.n_classes + 1, state = 1;
    size_t matched = p;
    for (size_t q = p, length = 1; state != 0 && q <= end; q += length) {
        uint32_t c = q < end ? slow_class(t, text + q, end - q, &length) : t->spec.n_classes;
        uint16_t next = t->transitions[state * width + c];
        if (next & 0x8000)
            matched = q;
        state = next & 0x7FFF;
    }
    return matched;
}

typedef struct spans {
    size_t n;
    size_t starts[TEXT];
    size_t ends[TEXT];
    bool matches[TEXT];
} spans;

static void add_span(spans *s, size_t start, size_t end, bool match) {
    if (start == end)
        return;
    FUZZ_CHECK(s->n < TEXT);
    s->starts[s->n] = start;
    s->ends[s->n] = end;
    s->matches[s->n++] = match;
}

static bool joins(uint32_t behavior, bool left, bool right) {
    return (behavior == BPE_SPLIT_WITH_PREVIOUS && !left && right) ||
           (behavior == BPE_SPLIT_WITH_NEXT && left && !right) ||
           (behavior == BPE_SPLIT_CONTIGUOUS && left == right);
}

static void slow_split(const tables *stages, size_t n_stages, const uint8_t *text, size_t start,
                       size_t end, spans *out) {
    if (n_stages == 0) {
        add_span(out, start, end, false);
        return;
    }
    spans all = {0}, own = {0};
    size_t piece = start;
    for (size_t p = start; p < end;) {
        size_t q = slow_match(stages, text, p, end), length;
        if (q == p) {
            slow_class(stages, text + p, end - p, &length);
            p += length;
            continue;
        }
        add_span(&all, piece, p, false);
        add_span(&all, p, q, true);
        piece = p = q;
    }
    add_span(&all, piece, end, false);
    uint32_t behavior = stages->spec.behavior;
    for (size_t i = 0; i < all.n; i++) {
        bool match = all.matches[i];
        if (behavior == (match ? BPE_SPLIT_DROP_MATCHES : BPE_SPLIT_DROP_GAPS))
            continue;
        if (i > 0 && joins(behavior, all.matches[i - 1], match))
            own.ends[own.n - 1] = all.ends[i];
        else
            add_span(&own, all.starts[i], all.ends[i], match);
    }
    for (size_t i = 0; i < own.n; i++)
        slow_split(stages + 1, n_stages - 1, text, own.starts[i], own.ends[i], out);
}

/* ---------------------------------------------------------------- checks */

static void check_spans(const size_t *starts, const size_t *ends, size_t n, const spans *want) {
    FUZZ_CHECK(fuzz_same(starts, n * sizeof *starts, want->starts, want->n * sizeof *starts));
    FUZZ_CHECK(fuzz_same(ends, n * sizeof *ends, want->ends, want->n * sizeof *ends));
}

static void check_whole(const bpe_split *split, const uint8_t *text, size_t n, const spans *want) {
    size_t *starts = fuzz_array(n, sizeof *starts), *ends = fuzz_array(n, sizeof *ends);
    size_t n_got = 0;
    FUZZ_CHECK(bpe_split_spans(split, text, n, starts, ends, n, &n_got) == BPE_OK);
    check_spans(starts, ends, n_got, want);
    bpe_status status = bpe_split_ends(split, text, n, ends, n, &n_got);
    FUZZ_CHECK(status == (bpe_split_drops(split) ? BPE_ERR_ARG : BPE_OK));
    if (status == BPE_OK) { /* and they are the text, with nothing lost */
        size_t at = 0;
        for (size_t i = 0; i < n_got; at = ends[i++])
            FUZZ_CHECK(starts[i] == at && ends[i] > at);
        FUZZ_CHECK(at == n);
    }
    if (n_got > 0) {
        status = bpe_split_spans(split, text, n, starts, ends, want->n - 1, &n_got);
        FUZZ_CHECK(status == BPE_ERR_CAPACITY);
    }
    free(starts);
    free(ends);
}

/* The text known bit by bit, and continued where each walk settled. */
static void check_blocks(const bpe_split *split, const uint8_t *text, size_t n, uint32_t block,
                         const spans *want) {
    size_t *starts = fuzz_array(n, sizeof *starts), *ends = fuzz_array(n, sizeof *ends);
    size_t n_got = 0, begin = 0, known = 0;
    while (known < n) {
        known = known + block < n ? known + block : n;
        /* What is not known yet must not be looked at. */
        uint8_t *part = fuzz_array(known, 1);
        memcpy(part, text, known);
        bpe_split_cursor cursor;
        bpe_split_begin(&cursor, split, part, begin, known, known < n);
        for (size_t more = 1; more > 0; n_got += more)
            more = bpe_split_next_spans(&cursor, starts + n_got, ends + n_got,
                                        n - n_got < 3 ? n - n_got : 3);
        FUZZ_CHECK(!cursor.nomem && cursor.settled >= begin && cursor.settled <= known);
        begin = cursor.settled;
        bpe_split_end(&cursor);
        free(part);
    }
    FUZZ_CHECK(begin == n);
    check_spans(starts, ends, n_got, want);
    free(starts);
    free(ends);
}

static void fuzz(fuzz_input *in) {
    static tables t[STAGES];
    static spans want;
    bpe_split_stage stages[STAGES];
    /* Seldom many: making the map of all codepoints takes most of the time. */
    size_t n_stages = (size_t)("\1\1\1\1\1\2\3\0"[fuzz_byte(in) % 8]);
    uint32_t block = 1 + fuzz_byte(in);
    for (size_t i = 0; i < n_stages; i++) {
        read_tables(in, &t[i]);
        stages[i] = t[i].spec;
    }
    bpe_split *split = NULL;
    bpe_status status = bpe_split_new(stages, n_stages, &split, NULL);
    if (status != BPE_OK) {
        FUZZ_CHECK(status == BPE_ERR_SPLIT && split == NULL);
        return;
    }
    size_t n;
    uint8_t *text = fuzz_bytes(in, TEXT, &n);
    want.n = 0;
    slow_split(t, n_stages, text, 0, n, &want);
    for (uint32_t way = BPE_SIMD_SCALAR; way <= BPE_SIMD_NEON; way++) {
        if (bpe_split_use_simd(split, way) != BPE_OK)
            continue; /* not on this machine */
        check_whole(split, text, n, &want);
        check_blocks(split, text, n, block, &want);
    }
    free(text);
    bpe_split_free(split);
}

FUZZ_TARGET(fuzz)
