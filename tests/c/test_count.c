/* Counting pretokens: keys of all lengths, specials, blocks, limits, failures. */
#include "bpe.h"
#include "count.h"
#include "harness.h"
#include "random.h"

/* Words and single spaces: " " splits "a bc" into "a", " ", "bc". Class 0: space; class 1: other;
 * class 2: the end. State 1: start; 2: in a word; 3: after a space. */
static bpe_split *word_split_with(uint32_t behavior) {
    static const uint32_t starts[] = {0, ' ', ' ' + 1};
    static const uint8_t classes[] = {1, 0, 1};
    enum { END = 0x8000 };
    static const uint16_t steps[] = {
        0,   0,   0,   /* dead */
        3,   2,   0,   /* start */
        END, 2,   END, /* in a word */
        END, END, END, /* after a space */
    };
    bpe_split_stage stage = {starts, classes, 3, 2, 4, steps, behavior, 0};
    bpe_split *split = NULL;
    REQUIRE(bpe_split_new(&stage, 1, &split, NULL) == BPE_OK);
    return split;
}

static bpe_split *word_split(void) { return word_split_with(BPE_SPLIT_ISOLATED); }

static bpe_match *matcher(const char *a, const char *b) {
    uint8_t data[64];
    uint32_t lengths[2] = {(uint32_t)strlen(a), (uint32_t)strlen(b)};
    uint32_t ids[2] = {0, 1};
    bpe_match *match = NULL;
    memcpy(data, a, lengths[0]);
    memcpy(data + lengths[0], b, lengths[1]);
    REQUIRE(bpe_match_new(data, lengths, ids, 2, &match, NULL) == BPE_OK);
    return match;
}

static bpe_counts *new_counts(void) {
    bpe_counts *counts = NULL;
    REQUIRE(bpe_counts_new(&counts) == BPE_OK);
    return counts;
}

/* Everything in a table as text: "pretoken=frequency@position," in order. Only for small ones. */
static const char *shown(const bpe_counts *counts) {
    static char out[4096];
    static uint8_t data[2048];
    size_t offsets[65];
    uint64_t frequencies[64], positions[64];
    size_t n = bpe_counts_size(counts), used = 0;
    REQUIRE(n <= 64 && bpe_counts_bytes(counts) <= sizeof data);
    REQUIRE(bpe_counts_export(counts, data, offsets, frequencies, positions) == BPE_OK);
    uint64_t total = 0;
    out[0] = 0;
    for (size_t i = 0; i < n; i++) {
        int length = (int)(offsets[i + 1] - offsets[i]);
        used +=
            (size_t)snprintf(out + used, sizeof out - used, "%.*s=%" PRIu64 "@%" PRIu64 ",", length,
                             (const char *)data + offsets[i], frequencies[i], positions[i]);
        total += frequencies[i];
    }
    CHECK_EQ(offsets[n], bpe_counts_bytes(counts));
    CHECK_EQ(total, bpe_counts_total(counts));
    return out;
}

#define CHECK_COUNTS(counts, want)                                                                 \
    CHECK_MEM(shown(counts), strlen(shown(counts)), want, strlen(want))

/* Add a text from memory that ends where the text does, so that a sanitizer sees any reading
 * beyond. */
static bpe_status add(bpe_counts *counts, const bpe_split *split, const bpe_match *match,
                      const char *text, uint64_t position, uint32_t open, size_t *consumed) {
    size_t n = strlen(text);
    uint8_t *data = malloc(n + (n == 0));
    REQUIRE(data);
    memcpy(data, text, n);
    bpe_status status =
        bpe_counts_add_text(counts, split, match, data, n, position, open, consumed);
    free(data);
    return status;
}

TEST(a_text_is_counted_in_order) {
    bpe_split *split = word_split();
    bpe_counts *counts = new_counts();
    size_t consumed;
    CHECK_COUNTS(counts, "");
    CHECK_EQ(add(counts, split, NULL, "b a b a c", 100, 0, &consumed), BPE_OK);
    CHECK_EQ(consumed, 9);
    CHECK_COUNTS(counts, "b=2@100, =4@101,a=2@102,c=1@108,");
    /* Earlier text may come later. */
    CHECK_EQ(add(counts, split, NULL, "a", 7, 0, &consumed), BPE_OK);
    CHECK_COUNTS(counts, "a=3@7,b=2@100, =4@101,c=1@108,");
    CHECK_EQ(add(counts, split, NULL, "", 0, 0, &consumed), BPE_OK);
    CHECK_EQ(consumed, 0);
    bpe_counts_free(counts);
    bpe_split_free(split);
}

TEST(lengths_around_the_size_of_a_key) {
    /* Prefixes of one string, and strings that differ in one byte only, zero bytes included. */
    bpe_counts *counts = new_counts();
    uint8_t data[40];
    size_t offsets[2] = {0, 0};
    uint64_t one = 1;
    size_t distinct = 0;
    for (int fill = 0; fill < 2; fill++) {
        memset(data, fill ? 'x' : 0, sizeof data);
        for (size_t n = fill ? 2 : 1; n <= 34; n++) { /* "y" alone is there already */
            for (size_t change = 0; change <= n; change++) {
                if (change < n)
                    data[change] = 'y';
                offsets[1] = n;
                for (int twice = 0; twice < 2; twice++) {
                    CHECK_EQ(
                        bpe_counts_add_frequencies(counts, data, offsets, &one, 1, distinct, NULL),
                        BPE_OK);
                }
                if (change < n)
                    data[change] = fill ? 'x' : 0;
                distinct++;
                CHECK_EQ(bpe_counts_size(counts), distinct);
            }
        }
    }
    CHECK_EQ(bpe_counts_total(counts), 2 * distinct);
    bpe_counts_free(counts);
}

TEST(nothing_is_read_beyond_a_text) {
    /* Texts that end at every distance from their last pretokens; `add` gives them exact room. */
    bpe_split *split = word_split();
    for (size_t n = 1; n < 40; n++) {
        char text[64] = "";
        size_t consumed;
        for (size_t k = 0; k < n; k++)
            text[k] = k % 3 ? 'a' : ' ';
        bpe_counts *counts = new_counts();
        CHECK_EQ(add(counts, split, NULL, text, 0, 0, &consumed), BPE_OK);
        CHECK_EQ(consumed, n);
        bpe_counts_free(counts);
    }
    bpe_split_free(split);
}

TEST(specials_are_cut_out) {
    bpe_split *split = word_split();
    bpe_match *match = matcher("<x>", "<x>y");
    bpe_counts *counts = new_counts();
    size_t consumed;
    /* The longer one wins, and what is left on either side is split on its own. */
    CHECK_EQ(add(counts, split, match, "ab<x>ab<x>yab <x", 0, 0, &consumed), BPE_OK);
    CHECK_COUNTS(counts, "ab=3@0, =1@13,<x=1@14,");
    bpe_counts_free(counts);
    counts = new_counts();
    CHECK_EQ(add(counts, split, match, "<x><x>y<x>", 0, 0, &consumed), BPE_OK);
    CHECK_EQ(consumed, 10);
    CHECK_EQ(bpe_counts_size(counts), 0);
    bpe_counts_free(counts);
    bpe_match_free(match);
    bpe_split_free(split);
}

TEST(open_text_holds_back_what_may_change) {
    bpe_split *split = word_split();
    bpe_match *match = matcher("<x>", "<x>y");
    bpe_counts *counts = new_counts();
    size_t consumed = 99;
    CHECK_EQ(add(counts, split, NULL, "", 0, 1, &consumed), BPE_OK);
    CHECK_EQ(consumed, 0);
    /* The last word may go on. */
    CHECK_EQ(add(counts, split, NULL, "ab cd", 0, 1, &consumed), BPE_OK);
    CHECK_EQ(consumed, 3);
    /* "<x>" may become "<x>y". */
    CHECK_EQ(add(counts, split, match, "ab <x>", 0, 1, &consumed), BPE_OK);
    CHECK(consumed <= 3);
    /* Now it cannot; "cd" is not settled, and its last three bytes could begin a string. */
    bpe_counts_free(counts);
    counts = new_counts();
    CHECK_EQ(add(counts, split, match, "ab <x>cd", 0, 1, &consumed), BPE_OK);
    CHECK_EQ(consumed, 6);
    CHECK_COUNTS(counts, "ab=1@0, =1@2,");
    CHECK_EQ(add(counts, split, match, "cd", 6, 0, &consumed), BPE_OK);
    CHECK_COUNTS(counts, "ab=1@0, =1@2,cd=1@6,");
    bpe_counts_free(counts);
    bpe_match_free(match);
    bpe_split_free(split);
}

TEST(every_way_of_cutting_gives_the_same) {
    const char *text = "ab<x>y cd <x>cd  <x><x>yab <xab <x>";
    size_t n = strlen(text), consumed;
    bpe_split *split = word_split();
    bpe_match *match = matcher("<x>", "<x>y");
    bpe_counts *whole = new_counts();
    CHECK_EQ(add(whole, split, match, text, 0, 0, &consumed), BPE_OK);
    char want[4096];
    snprintf(want, sizeof want, "%s", shown(whole));
    for (size_t first = 0; first <= n; first++) {
        for (size_t second = first; second <= n; second++) {
            bpe_counts *counts = new_counts();
            size_t cuts[3] = {first, second, n}, at = 0;
            for (size_t i = 0; i < 3; i++) {
                CHECK_EQ(bpe_counts_add_text(counts, split, match, (const uint8_t *)text + at,
                                             cuts[i] - at, at, i < 2, &consumed),
                         BPE_OK);
                at += consumed;
                CHECK(at <= cuts[i]);
            }
            CHECK_EQ(at, n);
            CHECK_COUNTS(counts, want);
            bpe_counts_free(counts);
        }
    }
    bpe_counts_free(whole);
    bpe_match_free(match);
    bpe_split_free(split);
}

TEST(batches_and_given_pretokens) {
    bpe_split *split = word_split();
    bpe_counts *counts = new_counts();
    const uint8_t *text = (const uint8_t *)"__ab ababc";
    size_t offsets[] = {2, 5, 5, 7, 10}; /* "ab ", "", "ab", "abc" */
    size_t bad[] = {2, 5, 4};
    bpe_error err = {0, 0};
    CHECK_EQ(bpe_counts_add_batch(counts, split, NULL, text, offsets, 4, 50, &err), BPE_OK);
    CHECK_COUNTS(counts, "ab=2@50, =1@52,abc=1@55,");
    CHECK_EQ(bpe_counts_add_batch(counts, split, NULL, text, bad, 2, 50, &err), BPE_ERR_ARG);
    CHECK_EQ(err.pos, 1);
    bpe_counts_free(counts);

    counts = new_counts();
    size_t ends[] = {1, 3, 4, 8};
    text = (const uint8_t *)"aabba bb";
    CHECK_EQ(bpe_counts_add_pretokens(counts, text, 8, ends, 4, 10, &err), BPE_OK);
    CHECK_COUNTS(counts, "a=1@10,ab=1@11,b=1@13,a bb=1@14,");
    CHECK_EQ(bpe_counts_add_pretokens(counts, text, 8, ends, 3, 10, &err), BPE_ERR_ARG);
    CHECK_EQ(err.pos, 3);
    ends[2] = 3;
    CHECK_EQ(bpe_counts_add_pretokens(counts, text, 8, ends, 4, 10, &err), BPE_ERR_ARG);
    CHECK_EQ(err.pos, 2);
    ends[2] = 9;
    CHECK_EQ(bpe_counts_add_pretokens(counts, text, 8, ends, 4, 10, &err), BPE_ERR_ARG);
    CHECK_EQ(bpe_counts_add_pretokens(counts, text, 0, ends, 0, 10, &err), BPE_OK);
    CHECK_COUNTS(counts, "a=1@10,ab=1@11,b=1@13,a bb=1@14,");
    bpe_counts_free(counts);
    bpe_split_free(split);
}

TEST(frequencies_are_64_bits_and_do_not_wrap) {
    bpe_counts *counts = new_counts();
    const uint8_t *text = (const uint8_t *)"abc";
    size_t offsets[] = {0, 1, 1, 2, 3};
    uint64_t frequencies[] = {UINT64_MAX - 10, 5, 0, 7};
    bpe_error err = {0, 0};
    CHECK_EQ(bpe_counts_add_frequencies(counts, text, offsets, frequencies, 4, 0, &err), BPE_OK);
    CHECK_COUNTS(counts, "a=18446744073709551605@0,c=7@3,");
    CHECK_EQ(bpe_counts_add_frequencies(counts, text, offsets, frequencies, 4, 0, &err),
             BPE_ERR_LIMIT);
    CHECK_EQ(err.pos, 0);
    size_t bad[] = {0, 2, 1};
    CHECK_EQ(bpe_counts_add_frequencies(counts, text, bad, frequencies + 2, 2, 0, &err),
             BPE_ERR_ARG);
    CHECK_EQ(err.pos, 1);
    bpe_counts_free(counts);
}

TEST(a_limit_is_exact) {
    bpe_split *split = word_split();
    for (size_t most = 0; most < 6; most++) {
        bpe_counts *counts = new_counts();
        size_t consumed;
        bpe_counts_limit(counts, most);
        /* Four distinct ones, a long one among them. */
        bpe_status want = most < 4 ? BPE_ERR_CAPACITY : BPE_OK;
        CHECK_EQ(add(counts, split, NULL, "a b a a-rather-long-pretoken b a", 0, 0, &consumed),
                 want);
        CHECK_EQ(bpe_counts_size(counts), most < 4 ? most : 4);
        shown(counts); /* still sound */
        bpe_counts_free(counts);
    }
    bpe_split_free(split);
}

TEST(many_pretokens_in_order) {
    /* Positions that need all digits of the sort, added in an order of their own. */
    enum { N = 20000 };
    bpe_counts *counts = new_counts();
    size_t *offsets = malloc((N + 1) * sizeof *offsets);
    uint64_t *frequencies = malloc(N * sizeof *frequencies), *positions = malloc(N * 8);
    REQUIRE(offsets && frequencies && positions);
    for (uint64_t i = 0; i < N; i++) {
        uint64_t number = i * 7919 % N;
        char text[32];
        int length =
            snprintf(text, sizeof text, number % 5 ? "%" PRIu64 : "long-%016" PRIu64, number);
        size_t at[2] = {0, (size_t)length};
        uint64_t frequency = number + 1;
        CHECK_EQ(bpe_counts_add_frequencies(counts, (const uint8_t *)text, at, &frequency, 1,
                                            number * 1000003 * 1000003, NULL),
                 BPE_OK);
    }
    CHECK_EQ(bpe_counts_size(counts), N);
    uint8_t *data = malloc(bpe_counts_bytes(counts));
    REQUIRE(data && bpe_counts_export(counts, data, offsets, frequencies, positions) == BPE_OK);
    for (uint64_t i = 0; i < N; i++) {
        CHECK_EQ(frequencies[i], i + 1);
        CHECK_EQ(positions[i], i * 1000003 * 1000003);
    }
    free(data);
    free(offsets);
    free(frequencies);
    free(positions);
    bpe_counts_free(counts);
}

TEST(splits_that_drop_text_are_refused) {
    bpe_split *split = word_split_with(BPE_SPLIT_DROP_MATCHES);
    bpe_counts *counts = new_counts();
    size_t consumed = 0, offsets[] = {0, 5};
    CHECK_EQ(add(counts, split, NULL, "ab cd", 0, 0, &consumed), BPE_ERR_ARG);
    CHECK_EQ(
        bpe_counts_add_batch(counts, split, NULL, (const uint8_t *)"ab cd", offsets, 1, 0, NULL),
        BPE_ERR_ARG);
    CHECK_EQ(bpe_counts_size(counts), 0);
    bpe_counts_free(counts);
    bpe_split_free(split);
}

/* Fill a table in every way there is. */
static bpe_status fill(bpe_counts *counts, const bpe_split *split, const bpe_match *match) {
    const char *text = "some words <x> and-a-very-long-one here <x>y";
    size_t consumed, offsets[] = {0, 20, 44};
    uint64_t frequencies[] = {1, 2};
    bpe_status status = add(counts, split, match, text, 0, 1, &consumed);
    if (status != BPE_OK)
        return status;
    status = bpe_counts_add_batch(counts, split, match, (const uint8_t *)text, offsets, 2, 0, NULL);
    if (status != BPE_OK)
        return status;
    status =
        bpe_counts_add_frequencies(counts, (const uint8_t *)text, offsets, frequencies, 2, 0, NULL);
    if (status != BPE_OK)
        return status;
    for (int i = 0; i < 2000 && status == BPE_OK; i++) {
        char word[24];
        size_t at[2] = {0, (size_t)snprintf(word, sizeof word, i % 2 ? "%d" : "%020d", i)};
        status =
            bpe_counts_add_pretokens(counts, (const uint8_t *)word, at[1], at + 1, 1, 100, NULL);
    }
    return status;
}

TEST(failing_allocations) {
    bpe_split *split = word_split();
    bpe_match *match = matcher("<x>", "<x>y");
    FOR_EACH_FAILING_ALLOCATION {
        bpe_counts *counts = NULL;
        if (bpe_counts_new(&counts) != BPE_OK) {
            CHECK(counts == NULL);
            continue;
        }
        bpe_status status = fill(counts, split, match);
        if (status == BPE_OK) {
            static uint8_t data[1 << 17];
            static size_t offsets[4096];
            static uint64_t frequencies[4096], positions[4096];
            REQUIRE(bpe_counts_bytes(counts) <= sizeof data && bpe_counts_size(counts) < 4096);
            status = bpe_counts_export(counts, data, offsets, frequencies, positions);
        }
        CHECK(status == BPE_OK || status == BPE_ERR_NOMEM);
        bpe_counts_free(counts);
    }
    bpe_match_free(match);
    bpe_split_free(split);
}

int main(void) {
    RUN(a_text_is_counted_in_order);
    RUN(lengths_around_the_size_of_a_key);
    RUN(nothing_is_read_beyond_a_text);
    RUN(specials_are_cut_out);
    RUN(open_text_holds_back_what_may_change);
    RUN(every_way_of_cutting_gives_the_same);
    RUN(batches_and_given_pretokens);
    RUN(frequencies_are_64_bits_and_do_not_wrap);
    RUN(a_limit_is_exact);
    RUN(many_pretokens_in_order);
    RUN(splits_that_drop_text_are_refused);
    RUN(failing_allocations);
    bpe_counts_free(NULL);
    return harness_end();
}
