/* The streaming automaton against the plain loop, which test_split.c holds against the contract. */
#include "stream.h"

#include "harness.h"
#include "random.h"
#include "split.h"

enum { CLASSES = 5, WIDTH = CLASSES + 1, STATES = 7, TEXT = 13000, WAYS = 5 };

/* Two classes of ASCII that share slices of 64 characters with the last class, a third in two and
 * three bytes, and the class of bytes that are not UTF-8, which has a neighbour in four bytes. */
static const uint32_t class_starts[] = {0,      'a',    'b',     'c',    0xE9,   0xEA,
                                        0x400,  0x440,  0x4E00,  0x4E80, 0x6000, 0x7000,
                                        0xFFFD, 0xFFFE, 0x1F600, 0x1F601};
static const uint8_t class_ids[] = {4, 0, 1, 4, 2, 4, 2, 4, 2, 4, 2, 4, 3, 4, 3, 4};

/* What texts are made of: every class, in every length, and what is not UTF-8. */
static const char *const atoms[] = {
    "a",
    "a",
    "b",
    "b",
    "c",
    " ",
    "\xC3\xA9",
    "\xC3\xAA",
    "\xD0\x96",
    "\xD1\x84",
    "\xE4\xB8\xAD",
    "\xE4\xBA\x91",
    "\xE6\xBC\xA2",
    "\xE2\x82\xAC",
    "\xEF\xBF\xBD",
    "\xF0\x9F\x98\x80",
    "\xF0\x9F\x98\x81",
    "\xFF",
    "\x80",
    "\xC3",
    "\xE4\xB8",
    "\xF0\x9F\x98",
    "\xED\xA0\x80",
    "\xE0\x9F\xBF",
    "\xF4\x90\x80\x80",
    "\xF0\x8F\xBF\xBF",
    "\xC0\xAF",
    "\xF5\x80\x80\x80",
    "\xED\x9F\xBF",
    "\xF4\x8F\xBF\xBF",
};
enum { ATOMS = sizeof atoms / sizeof atoms[0] };

typedef struct tables {
    uint16_t transitions[STATES * WIDTH];
    bpe_split_stage stage;
} tables;

/* As random as the rules allow, with few enough long failures for many to stream. */
static void random_tables(tables *t, uint64_t *seed) {
    uint32_t n_states = 2 + random_below(seed, STATES - 1);
    uint32_t dead = 1 + random_below(seed, 4), matching = 1 + random_below(seed, 4);
    memset(t->transitions, 0, sizeof t->transitions);
    for (uint32_t s = 1; s < n_states; s++) {
        for (uint32_t c = 0; c < WIDTH; c++) {
            uint16_t next = (uint16_t)random_below(seed, n_states);
            if (next == 1 || c == CLASSES || random_below(seed, 5) < dead)
                next = 0; /* the start is not entered again, and nothing follows the end */
            if (s != 1 && random_below(seed, 5) < matching)
                next |= 0x8000;
            t->transitions[s * WIDTH + c] = next;
        }
    }
    t->stage = (bpe_split_stage){
        .class_starts = class_starts,
        .class_ids = class_ids,
        .n_runs = sizeof class_ids,
        .n_classes = CLASSES,
        .n_states = n_states,
        .transitions = t->transitions,
        .behavior = BPE_SPLIT_ISOLATED,
        .over_bytes = random_below(seed, 8) == 0,
    };
}

/* Text in runs of one atom, in a buffer of just its size, so that a sanitizer sees every byte read
 * outside. The caller frees it. */
static uint8_t *random_text(size_t n, uint64_t *seed) {
    uint8_t *text = bpe_mem_array(n, 1);
    REQUIRE(text);
    uint32_t change = 1 + random_below(seed, 4) * random_below(seed, 40);
    uint32_t kinds = random_below(seed, 3) == 0 ? ATOMS : 5;
    const char *atom = "a";
    size_t i = 0;
    size_t run = 0;
    while (i < n) {
        if (run > 0)
            run--;
        else if (random_below(seed, change) == 0)
            atom = atoms[random_below(seed, kinds)];
        if (random_below(seed, 8000) == 0)
            run = random_below(seed, 9000); /* longer than a block */
        for (size_t k = 0; atom[k] && i < n; k++)
            text[i++] = (uint8_t)atom[k];
    }
    return text;
}

static bool is_streamed(const bpe_split *split) { return bpe_split_simd(split) != BPE_SIMD_SCALAR; }

/* The ends of a text by one way, handed out in batches of `batch`, in parts of an open text that
 * are up to `part` longer each time. */
static size_t ends_of(const bpe_split *split, const uint8_t *text, size_t n, size_t batch,
                      uint32_t part, uint64_t *seed, size_t *ends) {
    /* Of just its size, so that a sanitizer sees what is written behind it. */
    size_t *some = bpe_mem_array(batch, sizeof *some);
    REQUIRE(some);
    size_t n_ends = 0;
    size_t begin = 0;
    size_t known = part ? 0 : n;
    do {
        if (part)
            known += 1 + random_below(seed, part);
        if (known > n)
            known = n;
        bpe_split_cursor cursor;
        bpe_split_begin(&cursor, split, text, begin, known, known < n);
        size_t got;
        do {
            got = bpe_split_next(&cursor, some, batch);
            memcpy(ends + n_ends, some, got * sizeof *some);
            n_ends += got;
        } while (got == batch);
        CHECK(!cursor.nomem);
        begin = cursor.settled;
        bpe_split_end(&cursor);
    } while (known < n);
    CHECK_EQ(begin, n);
    bpe_mem_free(some);
    return n_ends;
}

/* All ways, whole and in parts, against the plain loop. */
static void compare_ways(bpe_split *split, const uint8_t *text, size_t n, uint64_t *seed) {
    size_t *want = bpe_mem_array(n + 1, sizeof *want);
    size_t *got = bpe_mem_array(n + 1, sizeof *got);
    REQUIRE(want && got);
    CHECK_EQ(bpe_split_use_simd(split, BPE_SIMD_SCALAR), BPE_OK);
    CHECK(!is_streamed(split));
    size_t n_want = ends_of(split, text, n, 1000, 0, seed, want), n_got;
    for (uint32_t way = 1; way < WAYS; way++) {
        if (bpe_split_use_simd(split, way) != BPE_OK)
            continue;
        n_got = ends_of(split, text, n, 1 + random_below(seed, 300), 0, seed, got);
        CHECK_MEM(got, n_got * sizeof *got, want, n_want * sizeof *want);
        n_got = ends_of(split, text, n, 256, 1 + random_below(seed, 9000), seed, got);
        CHECK_MEM(got, n_got * sizeof *got, want, n_want * sizeof *want);
    }
    bpe_mem_free(want);
    bpe_mem_free(got);
}

/* What the streaming automaton of a stage may tell: the union of BPE_STREAM_*. */
static uint32_t events_of(const bpe_split_stage *spec) {
    bpe_stage *stage = bpe_mem_zeroed(1, sizeof *stage);
    bpe_stream *stream = NULL;
    uint32_t events = 0;
    REQUIRE(stage && bpe_stage_init(stage, spec, 0, NULL) == BPE_OK);
    REQUIRE(bpe_stream_new(stage, &stream) == BPE_OK);
    for (uint32_t i = 0; stream && i < stream->n_numbers; i++)
        events |= stream->events[i];
    bpe_stream_free(stream);
    bpe_stage_free(stage);
    bpe_mem_free(stage);
    return events;
}

TEST(random_tables_all_ways) {
    uint64_t seed = 5;
    uint32_t streamed = 0, told[32] = {0};
    uint32_t rounds = harness_rounds(3000);
    for (uint32_t round = 0; round < rounds; round++) {
        tables t;
        random_tables(&t, &seed);
        bpe_split *split;
        REQUIRE(bpe_split_new(&t.stage, 1, &split, NULL) == BPE_OK);
        if (is_streamed(split)) {
            streamed++;
            uint32_t events = events_of(&t.stage);
            for (uint32_t e = 1; e < 32; e *= 2)
                told[e] += (events & e) != 0;
            size_t n = random_below(&seed, random_below(&seed, 4) ? 2000 : TEXT);
            uint8_t *text = random_text(n, &seed);
            compare_ways(split, text, n, &seed);
            bpe_mem_free(text);
        }
        bpe_split_free(split);
    }
    /* The test is worth nothing unless all of it is reached. */
    CHECK(streamed > rounds / 6);
    CHECK(told[BPE_STREAM_MARK] > rounds / 60);
    CHECK(told[BPE_STREAM_PREVIOUS] > rounds / 60);
    CHECK(told[BPE_STREAM_COMMIT] > rounds / 60);
    CHECK(told[BPE_STREAM_HARD] > rounds / 60);
}

TEST(several_stages_all_ways) {
    uint64_t seed = 6;
    for (uint32_t round = harness_rounds(300); round-- > 0;) {
        tables t[3];
        bpe_split_stage stages[3];
        size_t n_stages = 2 + random_below(&seed, 2);
        for (size_t i = 0; i < n_stages; i++) {
            random_tables(&t[i], &seed);
            stages[i] = t[i].stage;
        }
        bpe_split *split;
        REQUIRE(bpe_split_new(stages, n_stages, &split, NULL) == BPE_OK);
        size_t n = random_below(&seed, 4000);
        uint8_t *text = random_text(n, &seed);
        compare_ways(split, text, n, &seed);
        bpe_mem_free(text);
        bpe_split_free(split);
    }
}

/* The text known so far may end at any byte, within a character, too. */
TEST(every_cut) {
    uint64_t seed = 7;
    for (uint32_t left = harness_rounds(20); left > 0;) {
        tables t;
        random_tables(&t, &seed);
        bpe_split *split;
        REQUIRE(bpe_split_new(&t.stage, 1, &split, NULL) == BPE_OK);
        enum { N = 1900 }; /* enough for every kernel */
        uint8_t *text = random_text(N, &seed);
        static size_t want[N], got[N];
        size_t n_want = ends_of(split, text, N, N, 0, &seed, want);
        if (is_streamed(split)) {
            left--;
            for (uint32_t way = 0; way < WAYS; way++) {
                if (bpe_split_use_simd(split, way) != BPE_OK)
                    continue;
                for (size_t cut = 1500; cut < N; cut++) {
                    bpe_split_cursor cursor;
                    bpe_split_begin(&cursor, split, text, 0, cut, true);
                    size_t n = bpe_split_next(&cursor, got, N);
                    size_t begin = cursor.settled;
                    bpe_split_end(&cursor);
                    bpe_split_begin(&cursor, split, text, begin, N, false);
                    n += bpe_split_next(&cursor, got + n, N - n);
                    bpe_split_end(&cursor);
                    CHECK_MEM(got, n * sizeof *got, want, n_want * sizeof *want);
                }
            }
        }
        bpe_mem_free(text);
        bpe_split_free(split);
    }
}

/* `(a*b|a)c?` and the like: a state for each class, so that classes and states reach their limits.
 * Class k leads from the start to state k + 2, where it repeats; a different class ends the match.
 */
static bpe_split *split_of_runs(uint32_t n_classes, uint16_t *transitions, uint32_t *starts,
                                uint8_t *ids) {
    uint32_t width = n_classes + 1;
    memset(transitions, 0, (n_classes + 2) * width * sizeof *transitions);
    for (uint32_t k = 0; k < n_classes; k++) {
        starts[k] = k == 0 ? 0 : 0x400 + 7 * k;
        ids[k] = (uint8_t)k;
        transitions[width + k] = (uint16_t)(k + 2);
        for (uint32_t c = 0; c < width; c++)
            transitions[(k + 2) * width + c] = c == k ? (uint16_t)(k + 2) : 0x8000;
    }
    bpe_split_stage stage = {starts, ids, n_classes, n_classes, n_classes + 2, transitions, 0, 0};
    bpe_split *split;
    REQUIRE(bpe_split_new(&stage, 1, &split, NULL) == BPE_OK);
    return split;
}

TEST(limits_of_classes_and_states) {
    static uint16_t transitions[102 * 101];
    static uint32_t starts[100];
    static uint8_t ids[100];
    uint64_t seed = 8;
    for (uint32_t n_classes = 1; n_classes <= 100; n_classes++) {
        bpe_split *split = split_of_runs(n_classes, transitions, starts, ids);
        /* 64 classes with that of continuation bytes. */
        CHECK_EQ(is_streamed(split), n_classes <= BPE_STREAM_CLASSES - 1);
        enum { N = 3000 };
        uint8_t text[N];
        for (size_t i = 0; i < N; i += 2) {
            uint32_t cp = 0x3F0 + random_below(&seed, 7 * n_classes + 20);
            text[i] = (uint8_t)(0xC0 | cp >> 6);
            text[i + 1] = (uint8_t)(0x80 | (cp & 0x3F));
        }
        compare_ways(split, text, N, &seed);
        bpe_split_free(split);
    }
}

/* Digits by threes: stretches that begin anywhere in a long run of digits stay out of step, unless
 * they are corrected; and `a+b|a` looks ahead without end, which no finite automaton can. */
TEST(stretches_that_never_fall_into_step) {
    uint16_t threes[5 * WIDTH] = {0}, ahead[5 * WIDTH] = {0};
    for (uint32_t s = 1; s <= 4; s++) {
        for (uint32_t c = 0; c < WIDTH; c++)
            threes[s * WIDTH + c] = s > 1 ? 0x8000 : 0;
        if (s < 4)
            threes[s * WIDTH] |= (uint16_t)(s + 1);
    }
    bpe_split_stage stage = {class_starts, class_ids, sizeof class_ids, CLASSES, 5, threes, 0, 0};
    bpe_split *split;
    REQUIRE(bpe_split_new(&stage, 1, &split, NULL) == BPE_OK);
    CHECK(is_streamed(split));
    uint64_t seed = 9;
    static uint8_t text[TEXT];
    memset(text, 'a', sizeof text);
    compare_ways(split, text, sizeof text, &seed);
    text[1] = text[7000] = 'b';
    compare_ways(split, text, sizeof text, &seed);
    bpe_split_free(split);

    ahead[1 * WIDTH] = 2;
    ahead[2 * WIDTH] = 0x8000 | 3;
    ahead[3 * WIDTH] = 3;
    ahead[2 * WIDTH + 1] = 0x8000 | 4;
    ahead[3 * WIDTH + 1] = 4;
    for (uint32_t c = 0; c < WIDTH; c++)
        ahead[4 * WIDTH + c] = 0x8000;
    for (uint32_t c = 2; c < WIDTH; c++)
        ahead[2 * WIDTH + c] = 0x8000;
    stage.transitions = ahead;
    REQUIRE(bpe_split_new(&stage, 1, &split, NULL) == BPE_OK);
    CHECK(!is_streamed(split));
    bpe_split_free(split);
}

TEST(ways_that_do_not_exist) {
    uint64_t seed = 10;
    tables t;
    random_tables(&t, &seed);
    bpe_split *split;
    REQUIRE(bpe_split_new(&t.stage, 1, &split, NULL) == BPE_OK);
    CHECK_EQ(bpe_split_use_simd(split, WAYS), BPE_ERR_ARG);
    CHECK_EQ(bpe_split_use_simd(split, UINT32_MAX), BPE_ERR_ARG);
    bpe_split_free(split);
}

TEST(failing_allocations) {
    uint64_t seed = 11;
    tables t;
    bpe_split *probe;
    for (bool streamed = false; !streamed; bpe_split_free(probe)) {
        random_tables(&t, &seed);
        REQUIRE(bpe_split_new(&t.stage, 1, &probe, NULL) == BPE_OK);
        streamed = is_streamed(probe);
    }
    uint8_t *text = random_text(5000, &seed);
    static size_t ends[5000];
    FOR_EACH_FAILING_ALLOCATION {
        bpe_split *split = NULL;
        size_t n;
        bpe_status status = bpe_split_new(&t.stage, 1, &split, NULL);
        if (status == BPE_OK) {
            CHECK(is_streamed(split));
            status = bpe_split_ends(split, text, 5000, ends, 5000, &n);
        } else {
            CHECK(split == NULL);
        }
        if (status != BPE_OK)
            CHECK_EQ(status, BPE_ERR_NOMEM);
        bpe_split_free(split);
    }
    bpe_mem_free(text);
}

int main(void) {
    RUN(random_tables_all_ways);
    RUN(several_stages_all_ways);
    RUN(every_cut);
    RUN(limits_of_classes_and_states);
    RUN(stretches_that_never_fall_into_step);
    RUN(ways_that_do_not_exist);
    RUN(failing_allocations);
    return harness_end();
}
