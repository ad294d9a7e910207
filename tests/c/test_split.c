#include "split.h"

#include "harness.h"
#include "random.h"

/* Tables over the letters a, b, c and everything else, as random as the rules allow. */
enum { CLASSES = 4, WIDTH = CLASSES + 1, MAX_TEST_STATES = 9, TEXT = 400, STAGES = 3 };

static const uint32_t class_starts[] = {0, 'a', 'b', 'c', 'd'};
static const uint8_t class_ids[] = {3, 0, 1, 2, 3};

typedef struct tables {
    uint16_t transitions[MAX_TEST_STATES * WIDTH];
    bpe_split_stage stage;
} tables;

static void random_tables(tables *t, uint64_t *seed) {
    uint32_t n_states = 2 + random_below(seed, MAX_TEST_STATES - 1);
    memset(t->transitions, 0, sizeof t->transitions);
    for (uint32_t s = 1; s < n_states; s++) {
        for (uint32_t c = 0; c < WIDTH; c++) {
            uint16_t next = (uint16_t)random_below(seed, n_states);
            if (random_below(seed, 3) == 0)
                next = 0;
            if (next == 1 || c == CLASSES)
                next = 0; /* the start is not entered again */
            if (s != 1 && random_below(seed, 4) == 0)
                next |= 0x8000;
            t->transitions[s * WIDTH + c] = next;
        }
    }
    t->stage = (bpe_split_stage){
        .class_starts = class_starts,
        .class_ids = class_ids,
        .n_runs = 5,
        .n_classes = CLASSES,
        .n_states = n_states,
        .transitions = t->transitions,
        .behavior = random_below(seed, 2) ? 0 : random_below(seed, BPE_SPLIT_CONTIGUOUS + 1),
    };
}

static uint32_t class_of(uint8_t b) { return b >= 'a' && b <= 'c' ? b - 'a' : 3; }

/* Where the match that starts at p ends; p for none. The contract, word for word; text is ASCII. */
static size_t slow_match(const tables *t, const uint8_t *text, size_t p, size_t end) {
    size_t matched = p;
    uint32_t state = 1;
    for (size_t q = p; state != 0 && q <= end; q++) {
        uint32_t c = q < end ? class_of(text[q]) : CLASSES;
        uint16_t next = t->transitions[state * WIDTH + c];
        if (next & 0x8000)
            matched = q;
        state = next & 0x7FFF;
    }
    return matched;
}

/* Pieces of a text, and whether each is a match. */
typedef struct pieces {
    size_t n;
    size_t starts[TEXT];
    size_t ends[TEXT];
    bool matches[TEXT];
} pieces;

static void add_piece(pieces *p, size_t start, size_t end, bool match) {
    if (start == end)
        return;
    p->starts[p->n] = start;
    p->ends[p->n] = end;
    p->matches[p->n++] = match;
}

/* Whether a piece and the one behind it are one, by a behavior. */
static bool joins(uint32_t behavior, bool left, bool right) {
    return (behavior == BPE_SPLIT_WITH_PREVIOUS && !left && right) ||
           (behavior == BPE_SPLIT_WITH_NEXT && left && !right) ||
           (behavior == BPE_SPLIT_CONTIGUOUS && left == right);
}

/* What a stage makes of text[start, end): matches and gaps first, then the behavior. */
static void slow_stage(const tables *t, const uint8_t *text, size_t start, size_t end,
                       pieces *out) {
    pieces all = {0};
    size_t piece = start;
    for (size_t p = start; p < end;) {
        size_t q = slow_match(t, text, p, end);
        if (q == p) {
            p++;
            continue;
        }
        add_piece(&all, piece, p, false);
        add_piece(&all, p, q, true);
        piece = p = q;
    }
    add_piece(&all, piece, end, false);
    uint32_t behavior = t->stage.behavior;
    out->n = 0;
    for (size_t i = 0; i < all.n; i++) {
        bool match = all.matches[i];
        if (behavior == (match ? BPE_SPLIT_DROP_MATCHES : BPE_SPLIT_DROP_GAPS))
            continue;
        if (i > 0 && joins(behavior, all.matches[i - 1], match)) {
            out->ends[out->n - 1] = all.ends[i];
        } else {
            add_piece(out, all.starts[i], all.ends[i], match);
        }
    }
}

/* Append the pieces of text[start, end), stage after stage. */
static void slow_split(const tables *stages, size_t n_stages, const uint8_t *text, size_t start,
                       size_t end, pieces *out) {
    if (n_stages == 0) {
        add_piece(out, start, end, false);
        return;
    }
    pieces own = {0};
    slow_stage(stages, text, start, end, &own);
    for (size_t i = 0; i < own.n; i++)
        slow_split(stages + 1, n_stages - 1, text, own.starts[i], own.ends[i], out);
}

static void random_text(uint8_t *text, size_t n, uint64_t *seed) {
    /* Long runs, so that readings overshoot far and the failed pairs come into play. */
    uint8_t letter = 'a';
    uint32_t change = 1 + random_below(seed, 60);
    for (size_t i = 0; i < n; i++) {
        if (random_below(seed, change) == 0)
            letter = (uint8_t)('a' + random_below(seed, 4));
        text[i] = letter;
    }
}

TEST(random_tables_against_the_contract) {
    uint64_t seed = 11;
    for (uint32_t round = harness_rounds(6000); round-- > 0;) {
        tables t[STAGES];
        bpe_split_stage stages[STAGES];
        size_t n_stages = random_below(&seed, STAGES + 1);
        for (size_t i = 0; i < n_stages; i++) {
            random_tables(&t[i], &seed);
            stages[i] = t[i].stage;
        }
        uint8_t text[TEXT];
        size_t n = random_below(&seed, TEXT + 1);
        random_text(text, n, &seed);
        size_t starts[TEXT], got[TEXT], n_got = 0;
        pieces want = {0};
        slow_split(t, n_stages, text, 0, n, &want);
        bpe_split *split;
        REQUIRE(bpe_split_new(stages, n_stages, &split, NULL) == BPE_OK);
        CHECK_EQ(bpe_split_spans(split, text, n, starts, got, TEXT, &n_got), BPE_OK);
        CHECK_MEM(starts, n_got * sizeof *starts, want.starts, want.n * sizeof *starts);
        CHECK_MEM(got, n_got * sizeof *got, want.ends, want.n * sizeof *got);
        bpe_status status = bpe_split_ends(split, text, n, got, TEXT, &n_got);
        CHECK_EQ(status, bpe_split_drops(split) ? BPE_ERR_ARG : BPE_OK);
        CHECK_MEM(got, n_got * sizeof *got, want.ends, want.n * sizeof *got);
        /* The same in blocks of an open text, continued where each walk settled. */
        size_t n_open = 0, begin = 0, known = 0;
        while (known < n || begin < n) {
            known += 1 + random_below(&seed, 90);
            if (known > n)
                known = n;
            bpe_split_cursor cursor;
            bpe_split_begin(&cursor, split, text, begin, known, known < n);
            size_t more =
                bpe_split_next_spans(&cursor, starts + n_open, got + n_open, TEXT - n_open);
            n_open += more;
            begin = cursor.settled;
            bpe_split_end(&cursor);
            if (known == n)
                CHECK_EQ(begin, n);
            if (known == n && begin != n)
                break;
        }
        CHECK_MEM(starts, n_open * sizeof *starts, want.starts, want.n * sizeof *starts);
        CHECK_MEM(got, n_open * sizeof *got, want.ends, want.n * sizeof *got);
        bpe_split_free(split);
    }
}

/* `a+b|a` on a million letters a reads to the end from every letter, unless failures are
 * remembered. The time limit of the test run is the check: without memory this takes 5 * 10^11
 * steps. */
TEST(overshoot_is_linear) {
    enum { A = 0, B = 1 };
    uint16_t t[5 * WIDTH] = {0};
    t[1 * WIDTH + A] = 2;          /* a: a match */
    t[2 * WIDTH + A] = 0x8000 | 3; /* aa */
    t[3 * WIDTH + A] = 3;
    t[2 * WIDTH + B] = 0x8000 | 4; /* a+b: a match, the longer one */
    t[3 * WIDTH + B] = 4;
    for (uint32_t c = 0; c < WIDTH; c++)
        t[4 * WIDTH + c] = 0x8000;
    for (uint32_t c = 2; c < WIDTH; c++)
        t[2 * WIDTH + c] = 0x8000;
    bpe_split_stage stage = {class_starts, class_ids, 5, CLASSES, 5, t, 0, 0};
    bpe_split *split;
    REQUIRE(bpe_split_new(&stage, 1, &split, NULL) == BPE_OK);
    size_t n = 1000000;
    uint8_t *text = bpe_mem_array(n, 1);
    size_t *ends = bpe_mem_array(n, sizeof *ends);
    REQUIRE(text && ends);
    memset(text, 'a', n);
    size_t found = 0;
    CHECK_EQ(bpe_split_ends(split, text, n, ends, n, &found), BPE_OK);
    CHECK_EQ(found, n);
    text[n - 1] = 'b';
    CHECK_EQ(bpe_split_ends(split, text, n, ends, n, &found), BPE_OK);
    CHECK_EQ(found, 1);
    bpe_mem_free(text);
    bpe_mem_free(ends);
    bpe_split_free(split);
}

TEST(multibyte_classes_and_bytes_that_are_not_utf8) {
    /* Runs of U+00E9 .. U+10FFFF are one match; U+FFFD, and so every bad byte, is another class. */
    static const uint32_t starts[] = {0, 0xE9, 0xFFFD, 0xFFFE};
    static const uint8_t ids[] = {0, 1, 0, 1};
    uint16_t t[3 * 3] = {0, 0, 0, 0, 2, 0, 0x8000, 2, 0x8000};
    bpe_split_stage stage = {starts, ids, 4, 2, 3, t, 0, 0};
    bpe_split *split;
    REQUIRE(bpe_split_new(&stage, 1, &split, NULL) == BPE_OK);
    const uint8_t *text =
        (const uint8_t *)"ab\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xFF\xE2\x82\xC3\xA9";
    size_t ends[16], n;
    CHECK_EQ(bpe_split_ends(split, text, 16, ends, 16, &n), BPE_OK);
    static const size_t want[] = {2, 11, 14,
                                  16}; /* gap "ab", match, gap of three bad bytes, match */
    CHECK_MEM(ends, n * sizeof *ends, want, sizeof want);
    CHECK_EQ(bpe_split_ends(split, text, 16, ends, 3, &n), BPE_ERR_CAPACITY);
    bpe_split_free(split);
}

TEST(stages_over_bytes) {
    /* Runs of U+0080 .. U+00FF are one match. */
    static const uint32_t starts[] = {0, 0x80, 0x100};
    static const uint8_t ids[] = {0, 1, 0};
    uint16_t t[3 * 3] = {0, 0, 0, 0, 2, 0, 0x8000, 2, 0x8000};
    bpe_split_stage stage = {starts, ids, 3, 2, 3, t, BPE_SPLIT_DROP_GAPS, 1};
    bpe_split *split;
    REQUIRE(bpe_split_new(&stage, 1, &split, NULL) == BPE_OK);
    size_t begin[8], end[8], n;
    const uint8_t *text = (const uint8_t *)"a\xC4\x80\xE2"
                                           "b\xFF";
    CHECK_EQ(bpe_split_spans(split, text, 6, begin, end, 8, &n), BPE_OK);
    CHECK_EQ(n, 2);
    CHECK(begin[0] == 1 && end[0] == 4 && begin[1] == 5 && end[1] == 6);
    /* One span too many for the room, or just text that vanishes behind the last. */
    CHECK_EQ(bpe_split_spans(split, text, 6, begin, end, 1, &n), BPE_ERR_CAPACITY);
    CHECK_EQ(bpe_split_spans(split, text, 5, begin, end, 1, &n), BPE_OK);
    bpe_split_free(split);
}

TEST(bad_tables_are_refused_with_their_place) {
    uint64_t seed = 3;
    tables t;
    bpe_error err;
    bpe_split *split = NULL;
    do
        random_tables(&t, &seed);
    while (t.stage.n_states < 4);
    bpe_split_stage good = t.stage;
#define REFUSED(change, restore, status, where)                                                    \
    do {                                                                                           \
        change;                                                                                    \
        CHECK_EQ(bpe_split_new(&good, 1, &split, &err), status);                                   \
        CHECK_EQ(err.pos, where);                                                                  \
        restore;                                                                                   \
    } while (0)
    REFUSED(t.transitions[2] = 1, t.transitions[2] = 0, BPE_ERR_SPLIT, 2);
    uint16_t old = t.transitions[WIDTH];
    REFUSED(t.transitions[WIDTH] = 0x8002, t.transitions[WIDTH] = old, BPE_ERR_SPLIT, WIDTH);
    old = t.transitions[2 * WIDTH];
    REFUSED(t.transitions[2 * WIDTH] = 9, t.transitions[2 * WIDTH] = old, BPE_ERR_SPLIT, 2 * WIDTH);
    old = t.transitions[3 * WIDTH - 1];
    REFUSED(t.transitions[3 * WIDTH - 1] = 2, t.transitions[3 * WIDTH - 1] = old, BPE_ERR_SPLIT,
            3 * WIDTH - 1);
    static const uint32_t descending[] = {0, 9, 9}, late[] = {1, 2, 3}, far[] = {0, 1, 0x110000};
    static const uint8_t three[] = {0, 1, 2};
    good.class_ids = three;
    good.n_runs = 3;
    REFUSED(good.class_starts = descending, (void)0, BPE_ERR_SPLIT, 2);
    REFUSED(good.class_starts = late, (void)0, BPE_ERR_SPLIT, 0);
    REFUSED(good.class_starts = far, (void)0, BPE_ERR_SPLIT, 2);
    REFUSED(good.n_runs = 0, good = t.stage, BPE_ERR_SPLIT, 0);
    REFUSED(good.n_classes = 256, good = t.stage, BPE_ERR_LIMIT, 0);
    REFUSED(good.n_states = 1, good = t.stage, BPE_ERR_LIMIT, 0);
    REFUSED(good.n_states = BPE_MAX_STATES + 1, good = t.stage, BPE_ERR_LIMIT, 0);
    REFUSED(good.behavior = BPE_SPLIT_CONTIGUOUS + 1, good = t.stage, BPE_ERR_ARG, 0);
    REFUSED(good.over_bytes = 2, good = t.stage, BPE_ERR_ARG, 0);
    CHECK(split == NULL);
}

TEST(failing_allocations) {
    uint16_t t[3 * WIDTH] = {0};
    t[1 * WIDTH + 0] = 2;
    t[2 * WIDTH + 0] = 2; /* a+ at the end of the text only: reads far and fails */
    t[2 * WIDTH + CLASSES] = 0x8000;
    bpe_split_stage stages[2];
    stages[0] = stages[1] = (bpe_split_stage){class_starts, class_ids, 5, CLASSES, 3, t, 0, 0};
    uint8_t text[200];
    memset(text, 'a', sizeof text);
    text[150] = 'b';
    FOR_EACH_FAILING_ALLOCATION {
        bpe_split *split = NULL;
        bpe_status status = bpe_split_new(stages, 2, &split, NULL);
        if (status == BPE_OK) {
            size_t ends[200], n;
            status = bpe_split_ends(split, text, sizeof text, ends, 200, &n);
            if (status == BPE_OK)
                CHECK_EQ(n, 2);
        }
        if (status != BPE_OK)
            CHECK_EQ(status, BPE_ERR_NOMEM);
        bpe_split_free(split);
    }
}

int main(void) {
    RUN(random_tables_against_the_contract);
    RUN(overshoot_is_linear);
    RUN(multibyte_classes_and_bytes_that_are_not_utf8);
    RUN(stages_over_bytes);
    RUN(bad_tables_are_refused_with_their_place);
    RUN(failing_allocations);
    return harness_end();
}
