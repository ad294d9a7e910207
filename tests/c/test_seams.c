/* Seams: at each one, a text has the pretokens of its two parts, whatever the tables. */
#include "seams.h"

#include "harness.h"
#include "random.h"

enum { CLASSES = 4, WIDTH = CLASSES + 1, STATES = 6, TEXT = 2000 };

/* A letter, one that takes three bytes, what is not UTF-8, and everything else. */
static const uint32_t class_starts[] = {0, 'a', 'b', 0x4E00, 0x6000, 0xFFFD, 0xFFFE};
static const uint8_t class_ids[] = {3, 0, 3, 1, 3, 2, 3};

static const char *const atoms[] = {"a",
                                    "a",
                                    "a",
                                    " ",
                                    " ",
                                    "\xE4\xB8\xAD",
                                    "\xE4\xB8\xAD",
                                    "\xE6\xBC\xA2",
                                    "\xFF",
                                    "\x80",
                                    "\xE4",
                                    "\xE4\xB8",
                                    "\xF0\x9F\x98\x80",
                                    "\xF0\x9F\x98",
                                    "<",
                                    "<>",
                                    ">"};
enum { ATOMS = sizeof atoms / sizeof atoms[0] };

static bpe_split *random_split(uint64_t *seed, uint32_t behavior, uint32_t n_stages) {
    static uint16_t steps[2][STATES * WIDTH];
    bpe_split_stage stages[2];
    bpe_split *split = NULL;
    for (uint32_t i = 0; i < n_stages; i++) {
        uint32_t n_states = 2 + random_below(seed, STATES - 1);
        uint32_t dead = 2 + random_below(seed, 4), matching = 2 + random_below(seed, 4);
        memset(steps[i], 0, sizeof steps[i]);
        for (uint32_t s = 1; s < n_states; s++) {
            for (uint32_t c = 0; c < WIDTH; c++) {
                uint16_t next = (uint16_t)random_below(seed, n_states);
                if (c == CLASSES || (s != 1 && random_below(seed, 6) < dead))
                    next = 0;
                if (s != 1 && random_below(seed, 5) < matching)
                    next |= 0x8000;
                steps[i][s * WIDTH + c] = next;
            }
        }
        stages[i] = (bpe_split_stage){class_starts, class_ids, sizeof class_ids, CLASSES,
                                      n_states,     steps[i],  behavior,         0};
        stages[i].over_bytes = random_below(seed, 8) == 0;
    }
    REQUIRE(bpe_split_new(stages, n_stages, &split, NULL) == BPE_OK);
    return split;
}

static size_t random_text(uint8_t *text, uint64_t *seed) {
    size_t n = 0, want = 1 + random_below(seed, random_below(seed, 10) ? 60 : TEXT - 10);
    uint32_t stay = random_below(seed, 4);
    const char *atom = "a";
    while (n < want) {
        if (random_below(seed, 4) >= stay)
            atom = atoms[random_below(seed, ATOMS)];
        memcpy(text + n, atom, strlen(atom));
        n += strlen(atom);
    }
    return n;
}

/* From memory of just its size, so that a sanitizer sees what is read beyond. */
static size_t last_seam(const bpe_seams *seams, const uint8_t *text, size_t n) {
    uint8_t *copy = bpe_mem_copy(text, n, 1);
    REQUIRE(copy);
    size_t seam = bpe_seams_last(seams, copy, n);
    bpe_mem_free(copy);
    return seam;
}

static void check_seam(const bpe_split *split, const uint8_t *text, size_t n, size_t seam) {
    static size_t whole[TEXT], parts[TEXT];
    size_t n_whole, n_first, n_second;
    REQUIRE(bpe_split_ends(split, text, n, whole, TEXT, &n_whole) == BPE_OK);
    REQUIRE(bpe_split_ends(split, text, seam, parts, TEXT, &n_first) == BPE_OK);
    REQUIRE(bpe_split_ends(split, text + seam, n - seam, parts + n_first, TEXT - n_first,
                           &n_second) == BPE_OK);
    for (size_t i = n_first; i < n_first + n_second; i++)
        parts[i] += seam;
    CHECK_MEM(parts, (n_first + n_second) * sizeof *parts, whole, n_whole * sizeof *whole);
}

TEST(a_text_is_the_sum_of_its_parts) {
    uint64_t seed = 1;
    size_t n_seams = 0, n_multibyte = 0;
    for (uint32_t round = 0; round < 3000; round++) {
        bpe_split *split = random_split(&seed, BPE_SPLIT_ISOLATED, 1 + round % 2);
        bpe_seams *seams = NULL;
        REQUIRE(bpe_seams_new(split, NULL, NULL, 0, &seams) == BPE_OK);
        REQUIRE(seams);
        for (int i = 0; i < 10; i++) {
            uint8_t text[TEXT];
            size_t n = random_text(text, &seed);
            /* A seam in a portion from the middle is one of the whole text. */
            size_t from = random_below(&seed, (uint32_t)n);
            size_t to = from + 1 + random_below(&seed, (uint32_t)(n - from));
            size_t seam = last_seam(seams, text + from, to - from);
            if (seam == 0)
                continue;
            CHECK(seam < to - from);
            check_seam(split, text, n, from + seam);
            n_seams++;
            n_multibyte += text[from + seam] >= 0xE0;
        }
        bpe_seams_free(seams);
        bpe_split_free(split);
    }
    CHECK(n_seams > 2000);
    CHECK(n_multibyte > 500);
}

TEST(the_last_seam_is_found) {
    /* " ?a+" and runs of spaces: only a space behind a letter is a seam. */
    enum { END = 0x8000 };
    static const uint16_t steps[] = {
        0,       0,   0,   0,       0,   /* dead */
        2,       0,   0,   3,       0,   /* start */
        2 | END, END, END, END,     END, /* in letters */
        2,       END, END, 3 | END, END, /* in spaces; the last one may begin letters */
    };
    bpe_split_stage stage = {class_starts, class_ids, sizeof class_ids, CLASSES, 4, steps, 0, 0};
    bpe_split *split = NULL;
    bpe_seams *seams = NULL;
    REQUIRE(bpe_split_new(&stage, 1, &split, NULL) == BPE_OK);
    REQUIRE(bpe_seams_new(split, NULL, NULL, 0, &seams) == BPE_OK);
    CHECK_EQ(last_seam(seams, (const uint8_t *)"aaa aaa", 7), 3);
    CHECK_EQ(last_seam(seams, (const uint8_t *)"aaaaaaa", 7), 0);
    CHECK_EQ(last_seam(seams, (const uint8_t *)"   aaaa", 7), 0);
    CHECK_EQ(last_seam(seams, (const uint8_t *)" ", 1), 0);
    CHECK_EQ(last_seam(seams, (const uint8_t *)"", 0), 0);
    bpe_seams_free(seams);
    /* Far from the end, at every distance around the windows that are looked through. */
    REQUIRE(bpe_seams_new(split, NULL, NULL, 0, &seams) == BPE_OK);
    uint8_t text[TEXT];
    memset(text, 'a', sizeof text);
    for (size_t at = 1; at < sizeof text; at++) {
        text[at] = ' ';
        CHECK_EQ(last_seam(seams, text, sizeof text), at);
        text[at] = 'a';
    }
    bpe_seams_free(seams);
    bpe_split_free(split);
}

TEST(no_seam_inside_a_string_that_is_cut_out) {
    uint64_t seed = 2;
    static const uint8_t strings[] = "a a<> ";
    static const uint32_t lengths[] = {3, 3};
    size_t n_seams = 0;
    for (int round = 0; round < 500; round++) {
        bpe_split *split = random_split(&seed, BPE_SPLIT_ISOLATED, 1);
        bpe_seams *seams = NULL;
        REQUIRE(bpe_seams_new(split, strings, lengths, 2, &seams) == BPE_OK);
        for (int i = 0; i < 20; i++) {
            uint8_t text[TEXT];
            size_t n = random_text(text, &seed), seam = last_seam(seams, text, n);
            if (seam == 0)
                continue;
            n_seams++;
            CHECK(!(text[seam - 1] == 'a' && text[seam] == ' '));
            CHECK(!(text[seam - 1] == ' ' && text[seam] == 'a'));
            CHECK(!(text[seam - 1] == '<' && text[seam] == '>'));
            CHECK(!(text[seam - 1] == '>' && text[seam] == ' '));
        }
        bpe_seams_free(seams);
        bpe_split_free(split);
    }
    CHECK(n_seams > 500);
}

TEST(splits_without_seams) {
    uint64_t seed = 3;
    bpe_split *split = NULL;
    for (uint32_t behavior = 1; behavior <= BPE_SPLIT_CONTIGUOUS; behavior++) {
        bpe_seams *seams = NULL;
        split = random_split(&seed, behavior, 1);
        CHECK_EQ(bpe_seams_new(split, NULL, NULL, 0, &seams), BPE_OK);
        CHECK(!seams);
        bpe_split_free(split);
    }
    bpe_seams *seams = NULL;
    REQUIRE(bpe_split_new(NULL, 0, &split, NULL) == BPE_OK);
    CHECK_EQ(bpe_seams_new(split, NULL, NULL, 0, &seams), BPE_OK);
    CHECK(!seams);
    bpe_seams_free(seams);
    bpe_split_free(split);
}

TEST(every_allocation_may_fail) {
    uint64_t seed = 4;
    bpe_split *split = random_split(&seed, BPE_SPLIT_ISOLATED, 1);
    FOR_EACH_FAILING_ALLOCATION {
        bpe_seams *seams = NULL;
        bpe_status status = bpe_seams_new(split, NULL, NULL, 0, &seams);
        CHECK_EQ(status, seams ? BPE_OK : BPE_ERR_NOMEM);
        bpe_seams_free(seams);
    }
    bpe_split_free(split);
}

int main(void) {
    RUN(a_text_is_the_sum_of_its_parts);
    RUN(the_last_seam_is_found);
    RUN(no_seam_inside_a_string_that_is_cut_out);
    RUN(splits_without_seams);
    RUN(every_allocation_may_fail);
    return harness_end();
}
