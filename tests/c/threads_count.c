/*
 * Several threads count the parts of one text, each in a table of its own, with one split and one
 * matcher; the tables, merged by several threads, are what one thread counts. Run under
 * ThreadSanitizer.
 */
#include <pthread.h>

#include "bpe.h"
#include "harness.h"
#include "random.h"

enum { N_THREADS = 4, N_PARTS = 16, N_TEXT = 60000, N_MOST = 8192 };

/* Runs of letters with a space before them, and runs of spaces. Class 0: space; 1: other. */
static bpe_split *word_split(void) {
    static const uint32_t starts[] = {0, ' ', ' ' + 1};
    static const uint8_t classes[] = {1, 0, 1};
    enum { END = 0x8000 };
    static const uint16_t steps[] = {
        0,       0,       0,   /* dead */
        3,       2,       0,   /* start */
        END,     2 | END, END, /* in a word */
        3 | END, 2 | END, END, /* after spaces */
    };
    bpe_split_stage stage = {starts, classes, 3, 2, 4, steps, 0, 0};
    bpe_split *split = NULL;
    REQUIRE(bpe_split_new(&stage, 1, &split, NULL) == BPE_OK);
    return split;
}

typedef struct part {
    const bpe_split *split;
    const bpe_match *match;
    const bpe_seams *seams;
    const uint8_t *text;
    size_t start, end;
    bpe_counts *counts;
} part;

static void *count_part(void *argument) {
    part *p = argument;
    size_t consumed;
    REQUIRE(bpe_seams_last(p->seams, p->text, p->end) < p->end);
    REQUIRE(bpe_counts_add_text(p->counts, p->split, p->match, p->text + p->start,
                                p->end - p->start, p->start, 0, &consumed) == BPE_OK);
    return NULL;
}

typedef struct merge_share {
    bpe_merging *merging;
    size_t first;
} merge_share;

/* Every N_THREADS-th part. */
static void *merge_parts(void *argument) {
    merge_share *share = argument;
    for (size_t i = share->first; i < N_PARTS; i += N_THREADS)
        REQUIRE(bpe_merging_part(share->merging, i) == BPE_OK);
    return NULL;
}

static void merge(bpe_counts *counts, const bpe_counts *other) {
    bpe_merging *merging = NULL;
    pthread_t threads[N_THREADS];
    merge_share shares[N_THREADS];
    REQUIRE(bpe_merging_new(counts, other, N_PARTS, &merging) == BPE_OK);
    for (size_t i = 0; i < N_THREADS; i++) {
        shares[i] = (merge_share){merging, i};
        REQUIRE(pthread_create(&threads[i], NULL, merge_parts, &shares[i]) == 0);
    }
    for (size_t i = 0; i < N_THREADS; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    REQUIRE(bpe_merging_end(merging) == BPE_OK);
    bpe_merging_free(merging);
}

static size_t export(const bpe_counts *counts, uint8_t *data, uint64_t *frequencies,
                     uint64_t *positions) {
    static size_t offsets[N_MOST];
    REQUIRE(bpe_counts_size(counts) < N_MOST && bpe_counts_bytes(counts) <= N_TEXT);
    REQUIRE(bpe_counts_export(counts, data, offsets, frequencies, positions) == BPE_OK);
    return bpe_counts_size(counts);
}

TEST(threads_count_one_text) {
    static uint8_t text[N_TEXT], data[2][N_TEXT];
    static uint64_t frequencies[2][N_MOST], positions[2][N_MOST];
    static const uint8_t special[] = "abc";
    uint32_t length = 3, id = 0;
    uint64_t seed = 1;
    bpe_split *split = word_split();
    bpe_match *match = NULL;
    bpe_seams *seams = NULL;
    bpe_counts *whole = NULL;
    for (size_t i = 0; i < N_TEXT; i++)
        text[i] = (uint8_t)"  abcd"[random_below(&seed, 6)];
    REQUIRE(bpe_match_new(special, &length, &id, 1, &match, NULL) == BPE_OK);
    REQUIRE(bpe_seams_new(split, special, &length, 1, &seams) == BPE_OK && seams);
    REQUIRE(bpe_counts_new(&whole) == BPE_OK);
    part one = {split, match, seams, text, 0, N_TEXT, whole}, parts[N_THREADS];
    count_part(&one);

    pthread_t threads[N_THREADS];
    size_t start = 0;
    for (size_t i = 0; i < N_THREADS; i++) {
        size_t end = N_TEXT * (i + 1) / N_THREADS;
        if (end < N_TEXT)
            end = start + bpe_seams_last(seams, text + start, end - start);
        REQUIRE(end > start);
        parts[i] = (part){split, match, seams, text, start, end, NULL};
        REQUIRE((i == 0 ? bpe_counts_new(&parts[i].counts)
                        : bpe_counts_new_beside(parts[0].counts, &parts[i].counts)) == BPE_OK);
        start = end;
    }
    for (size_t i = 0; i < N_THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, count_part, &parts[i]) == 0);
    for (size_t i = 0; i < N_THREADS; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    for (size_t i = 1; i < N_THREADS; i++) {
        merge(parts[0].counts, parts[i].counts);
        bpe_counts_free(parts[i].counts);
    }
    size_t n = export(whole, data[0], frequencies[0], positions[0]);
    CHECK_EQ(export(parts[0].counts, data[1], frequencies[1], positions[1]), n);
    CHECK(n > 1000);
    CHECK_MEM(data[1], bpe_counts_bytes(parts[0].counts), data[0], bpe_counts_bytes(whole));
    CHECK_MEM(frequencies[1], n * 8, frequencies[0], n * 8);
    CHECK_MEM(positions[1], n * 8, positions[0], n * 8);
    bpe_counts_free(parts[0].counts);
    bpe_counts_free(whole);
    bpe_seams_free(seams);
    bpe_match_free(match);
    bpe_split_free(split);
}

int main(void) {
    RUN(threads_count_one_text);
    return harness_end();
}
