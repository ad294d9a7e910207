/* Training: after every merge, the trainer's words, pair counts and positions are compared with
 * words and counts that are kept in the simplest way. */
#include "train.h"

#include "bpe.h"
#include "count.h"
#include "harness.h"

static uint32_t identity[256];

/* ---------------------------------------------------------------- the simple way */

enum { MAX_WORDS = 40, MAX_LENGTH = 700, MAX_NAIVE = 256 + 800 };

typedef struct naive_word {
    uint32_t ids[MAX_LENGTH];
    size_t n;
    uint64_t count;
} naive_word;

static naive_word words[MAX_WORDS];
static size_t n_words;
static uint64_t naive_counts[MAX_NAIVE][MAX_NAIVE];

static void naive_merge(uint32_t a, uint32_t b, uint32_t c) {
    for (size_t w = 0; w < n_words; w++) {
        size_t out = 0;
        for (size_t i = 0; i < words[w].n; i++) {
            bool here = i + 1 < words[w].n && words[w].ids[i] == a && words[w].ids[i + 1] == b;
            words[w].ids[out++] = here ? c : words[w].ids[i];
            i += here;
        }
        words[w].n = out;
    }
}

/* Pairs that make a longer token than this are never merged. */
static size_t naive_longest = SIZE_MAX;

static bool naive_allows(const bpe_trainer *t, size_t a, size_t b) {
    return (size_t)t->lengths[a] + t->lengths[b] <= naive_longest;
}

/* Add `sign` times the count of every pair. */
static void naive_count(int sign) {
    for (size_t w = 0; w < n_words; w++) {
        for (size_t i = 0; i + 1 < words[w].n; i++) {
            uint64_t *count = &naive_counts[words[w].ids[i]][words[w].ids[i + 1]];
            *count = sign > 0 ? *count + words[w].count : 0;
        }
    }
}

/* ---------------------------------------------------------------- the invariants */

static uint32_t slot_id(const bpe_trainer *t, size_t p) { return bpe_slot_id(&t->words, p); }

/* The slots hold the naive words, with ids at both ends of a token and nothing between. */
static void check_words(const bpe_trainer *t) {
    size_t p = 0;
    for (size_t w = 0; w < n_words; w++) {
        if (words[w].n == 0)
            continue;
        uint64_t frequency = t->words.slots[p++];
        if (frequency == UINT32_MAX) {
            for (size_t i = 0; i < t->words.n_heavy; i++) {
                if (t->words.heavy_starts[i] == p)
                    frequency = t->words.heavy_counts[i];
            }
        }
        CHECK_EQ(frequency, words[w].count);
        size_t start = p;
        for (size_t i = 0; i < words[w].n; i++) {
            uint32_t id = words[w].ids[i], length = t->lengths[id];
            for (uint32_t k = 0; k < length; k++, p++) {
                bool edge = k == 0 || k == length - 1;
                CHECK_EQ(slot_id(t, p), edge ? id : BPE_SLOT_NONE);
                CHECK_EQ(t->words.slots[p] >> 24, p - start < 255 ? p - start : 255);
            }
        }
        CHECK_EQ(slot_id(t, p++), BPE_SLOT_NONE);
    }
    CHECK_EQ(p, t->words.n_slots);
}

/* A record's positions ascend, and those that are not out of date are all there are. */
static void check_positions(const bpe_trainer *t, const bpe_pair_record *record) {
    uint32_t a = (uint32_t)(record->key >> 32), b = (uint32_t)record->key;
    size_t found = 0, there = 0;
    for (uint32_t i = 0; i < record->n; i++) {
        uint32_t p = t->arena[record->start + i];
        if (i > 0)
            CHECK(p > t->arena[record->start + i - 1]);
        bool valid = slot_id(t, p) == a && slot_id(t, p + t->lengths[a]) == b;
        found += valid;
        if (i < record->skip)
            CHECK(!valid);
    }
    for (size_t w = 0; w < n_words; w++) {
        for (size_t i = 0; i + 1 < words[w].n; i++) {
            there += words[w].ids[i] == a && words[w].ids[i + 1] == b;
        }
    }
    CHECK_EQ(found, there);
}

static void check_pairs(const bpe_trainer *t) {
    size_t frequent = 0, recorded = 0, n_records = 0;
    naive_count(1);
    for (size_t i = 0; i < (size_t)1 << t->pairs.bits; i++) {
        const bpe_pair_record *record = &t->pairs.slots[i];
        if (record->key == BPE_NO_PAIR)
            continue;
        uint32_t a = (uint32_t)(record->key >> 32), b = (uint32_t)record->key;
        CHECK_EQ(record->count, naive_counts[a][b]);
        CHECK(bpe_pair_table_find(&t->pairs, record->key) == record);
        if (record->count > 0)
            check_positions(t, record);
        recorded += record->count >= t->threshold;
        n_records++;
    }
    CHECK_EQ(n_records, t->pairs.n);
    for (size_t a = 0; a < t->n_ids; a++) {
        for (size_t b = 0; b < t->n_ids; b++)
            frequent += naive_counts[a][b] >= t->threshold && naive_allows(t, a, b);
    }
    CHECK_EQ(recorded, frequent);
    naive_count(-1);
}

/* Every frequent pair has an entry in the heap that is not worse than the pair is. */
static void check_heap(const bpe_trainer *t) {
    size_t n = 0, frequent = 0;
    for (size_t i = 0; i < t->heap.n; i++) {
        const bpe_pair_job *job = &t->heap.items[i], *above = &t->heap.items[i ? (i - 1) / 2 : 0];
        CHECK(job->count < above->count || (job->count == above->count && job->tie >= above->tie));
        const bpe_pair_record *record = bpe_pair_table_find(&t->pairs, job->key);
        REQUIRE(record != NULL);
        CHECK(job->count >= record->count);
        n += record->count >= t->threshold;
    }
    for (size_t i = 0; i < (size_t)1 << t->pairs.bits; i++) {
        const bpe_pair_record *record = &t->pairs.slots[i];
        frequent += record->key != BPE_NO_PAIR && record->count >= t->threshold;
    }
    CHECK_EQ(n, frequent);
}

static void check_scratch(const bpe_trainer *t) {
    CHECK_EQ(t->n_left + t->n_right + t->n_events, 0);
    for (size_t i = 0; i < t->ids_cap; i++) {
        CHECK(t->left[i].weight == 0 && t->left[i].n == 0);
        CHECK(t->right[i].weight == 0 && t->right[i].n == 0);
    }
}

static void check_all(const bpe_trainer *t) {
    check_words(t);
    if (!t->pairs.slots) { /* before the first run */
        CHECK(t->heap.n == 0 && t->arena_n == 0 && t->threshold == UINT64_MAX);
        return;
    }
    check_pairs(t);
    check_heap(t);
    check_scratch(t);
}

/* ---------------------------------------------------------------- training step by step */

static bpe_status new_trainer(const bpe_counts *counts, size_t n_merges, uint32_t ties,
                              uint64_t min_frequency, bpe_trainer **out) {
    size_t longest = naive_longest == SIZE_MAX ? 0 : naive_longest;
    bpe_trainer_options options = {n_merges, min_frequency, ties, identity, longest, NULL};
    return bpe_trainer_new(counts, &options, out, NULL);
}

static bpe_status add_word(bpe_counts *counts, const uint8_t *data, size_t n, uint64_t frequency,
                           uint64_t position) {
    size_t offsets[2] = {0, n};
    return bpe_counts_add_frequencies(counts, data, offsets, &frequency, 1, position, NULL);
}

/* Make the naive words the table's: distinct pretokens of two bytes or more, in order. */
static void load_naive(const bpe_counts *counts) {
    const bpe_count_entry **entries = bpe_counts_ordered(counts);
    REQUIRE(entries != NULL);
    n_words = 0;
    for (size_t i = 0; i < counts->n; i++) {
        size_t n;
        const uint8_t *bytes = bpe_count_bytes(counts, entries[i], &n);
        if (n < 2)
            continue;
        REQUIRE(n_words < MAX_WORDS && n <= MAX_LENGTH);
        naive_word *word = &words[n_words++];
        for (size_t k = 0; k < n; k++)
            word->ids[k] = bytes[k];
        word->n = n;
        word->count = entries[i]->count;
    }
    bpe_mem_free((void *)entries);
}

/* The largest count of any pair that may be merged. */
static uint64_t naive_best(const bpe_trainer *t, size_t n_ids) {
    uint64_t best = 0;
    naive_count(1);
    for (size_t a = 0; a < n_ids; a++) {
        for (size_t b = 0; b < n_ids; b++) {
            if (naive_counts[a][b] > best && naive_allows(t, a, b))
                best = naive_counts[a][b];
        }
    }
    naive_count(-1);
    return best;
}

/* Whether two tokens are adjacent anywhere. */
static bool naive_any(void) {
    for (size_t w = 0; w < n_words; w++) {
        if (words[w].n > 1)
            return true;
    }
    return false;
}

/* Train one merge at a time and check everything after each. */
static void train_checked(const bpe_counts *counts, size_t n_merges, uint32_t ties,
                          uint64_t min_frequency) {
    bpe_trainer *t = NULL;
    REQUIRE(new_trainer(counts, n_merges, ties, min_frequency, &t) == BPE_OK);
    load_naive(counts);
    check_all(t);
    size_t n = 0;
    while (bpe_trainer_stop(t) == BPE_STOP_NONE) {
        uint64_t best = naive_best(t, 256 + n);
        CHECK_EQ(bpe_trainer_run(t, 1), BPE_OK);
        if (bpe_trainer_n_merges(t) == n)
            continue;
        CHECK_EQ(bpe_trainer_n_merges(t), n + 1);
        const uint32_t *merge = bpe_trainer_merges(t) + 2 * n;
        CHECK_EQ(bpe_trainer_merge_counts(t)[n], best);
        naive_merge(merge[0], merge[1], (uint32_t)(256 + n));
        n++;
        check_all(t);
    }
    uint64_t best = naive_best(t, 256 + n);
    if (n == n_merges) {
        CHECK_EQ(bpe_trainer_stop(t), BPE_STOP_REACHED);
    } else if (best == 0 && naive_any()) {
        CHECK_EQ(bpe_trainer_stop(t), BPE_STOP_TOKEN_BYTES);
    } else if (best == 0) {
        CHECK_EQ(bpe_trainer_stop(t), BPE_STOP_EXHAUSTED);
    } else {
        CHECK(best < min_frequency);
        CHECK_EQ(bpe_trainer_stop(t), BPE_STOP_MIN_FREQUENCY);
    }
    bpe_trainer_free(t);
}

static uint32_t random_state;

static uint32_t random_below(uint32_t n) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

/* A few words over few letters, long and short, with small, large and huge frequencies. */
static bpe_counts *random_counts(uint32_t seed) {
    static const uint64_t frequencies[] = {1, 1, 1, 2, 70, UINT32_MAX - 1, UINT32_MAX, 1ull << 40};
    static const uint32_t lengths[] = {2, 5, 20, 600};
    bpe_counts *counts = NULL;
    REQUIRE(bpe_counts_new(&counts) == BPE_OK);
    random_state = seed;
    uint32_t letters = 1 + random_below(4), n = 1 + random_below(15);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t data[MAX_LENGTH];
        uint32_t length = 1 + random_below(lengths[random_below(4)]);
        for (uint32_t k = 0; k < length; k++)
            data[k] = (uint8_t)("ab\0\xff"[random_below(letters)]);
        CHECK_EQ(add_word(counts, data, length, frequencies[random_below(8)], i), BPE_OK);
    }
    return counts;
}

TEST(invariants_after_every_merge) {
    for (uint32_t seed = 0; seed < 40; seed++) {
        bpe_counts *counts = random_counts(seed);
        uint32_t ties = seed % 2 ? BPE_TIES_FIRST : BPE_TIES_LOWEST;
        train_checked(counts, seed % 3 ? 30 : 700, ties, seed % 5 ? 0 : 3);
        bpe_counts_free(counts);
    }
}

TEST(no_token_is_longer_than_allowed) {
    for (uint32_t seed = 0; seed < 40; seed++) {
        bpe_counts *counts = random_counts(seed);
        naive_longest = 1 + seed % 9;
        train_checked(counts, 60, seed % 2 ? BPE_TIES_FIRST : BPE_TIES_LOWEST, seed % 5 ? 0 : 3);
        bpe_counts_free(counts);
    }
    naive_longest = SIZE_MAX;
}

TEST(runs_of_one_letter) {
    for (uint32_t n = 1; n < 40; n++) {
        bpe_counts *counts = NULL;
        uint8_t data[64];
        memset(data, 'a', sizeof data);
        REQUIRE(bpe_counts_new(&counts) == BPE_OK);
        CHECK_EQ(add_word(counts, data, n, 1, 0), BPE_OK);
        CHECK_EQ(add_word(counts, data, n / 2, 3, 1), BPE_OK);
        train_checked(counts, 20, BPE_TIES_LOWEST, 1);
        train_checked(counts, 20, BPE_TIES_FIRST, 1);
        bpe_counts_free(counts);
    }
}

TEST(words_around_the_length_that_a_slot_can_tell) {
    for (uint32_t n = 254; n <= 258; n++) {
        bpe_counts *counts = NULL;
        REQUIRE(bpe_counts_new(&counts) == BPE_OK);
        for (uint64_t i = 0; i < 3; i++) {
            uint8_t data[258];
            for (uint32_t k = 0; k < n; k++)
                data[k] = (uint8_t)(k % (n - 7) % 5 + i);
            CHECK_EQ(add_word(counts, data, n - (i == 1), 1 + i, i), BPE_OK);
        }
        train_checked(counts, 40, n % 2 ? BPE_TIES_FIRST : BPE_TIES_LOWEST, 1);
        bpe_counts_free(counts);
    }
}

TEST(the_threshold_is_lowered_as_far_as_needed) {
    /* Counts fall much faster than 1 / rank, so all pairs are counted anew time and again. */
    bpe_counts *counts = NULL;
    REQUIRE(bpe_counts_new(&counts) == BPE_OK);
    for (uint8_t i = 0; i < 18; i++) {
        uint8_t data[2] = {(uint8_t)('a' + i), (uint8_t)('A' + i)};
        CHECK_EQ(add_word(counts, data, 2, 1ull << (3 * i), i), BPE_OK);
    }
    train_checked(counts, 3, BPE_TIES_LOWEST, 1);
    train_checked(counts, 18, BPE_TIES_FIRST, 1);
    train_checked(counts, 100, BPE_TIES_LOWEST, 1);
    train_checked(counts, 100, BPE_TIES_LOWEST, 1 << 10);
    bpe_counts_free(counts);
}

/* ---------------------------------------------------------------- options and limits */

TEST(options_are_checked) {
    bpe_counts *counts = NULL;
    bpe_trainer *t = NULL;
    bpe_error err = {0, 0};
    uint32_t ids[256];
    memcpy(ids, identity, sizeof ids);
    REQUIRE(bpe_counts_new(&counts) == BPE_OK);
    bpe_trainer_options options = {10, 1, BPE_TIES_LOWEST, ids, 0, NULL};
    ids[7] = 256;
    CHECK_EQ(bpe_trainer_new(counts, &options, &t, &err), BPE_ERR_ARG);
    CHECK_EQ(err.pos, 7);
    ids[7] = 3;
    CHECK_EQ(bpe_trainer_new(counts, &options, &t, &err), BPE_ERR_ARG);
    CHECK_EQ(err.pos, 7);
    ids[7] = 7;
    options.ties = 3;
    CHECK_EQ(bpe_trainer_new(counts, &options, &t, &err), BPE_ERR_ARG);
    CHECK_EQ(err.pos, 256);
    options.ties = BPE_TIES_FIRST;
    options.n_merges = BPE_MAX_IDS - 256;
    CHECK_EQ(bpe_trainer_new(counts, &options, &t, &err), BPE_ERR_LIMIT);
    CHECK(t == NULL);
    options.n_merges--;
    CHECK_EQ(bpe_trainer_new(counts, &options, &t, &err), BPE_OK);
    CHECK_EQ(bpe_trainer_run(t, 0), BPE_OK);
    CHECK_EQ(bpe_trainer_stop(t), BPE_STOP_NONE);
    CHECK_EQ(bpe_trainer_run(t, 1000), BPE_OK);
    CHECK_EQ(bpe_trainer_stop(t), BPE_STOP_EXHAUSTED);
    CHECK_EQ(bpe_trainer_run(t, 1000), BPE_OK);
    CHECK_EQ(bpe_trainer_n_merges(t), 0);
    bpe_trainer_free(t);
    bpe_counts_free(counts);
}

TEST(pairs_of_all_words_must_fit_63_bits) {
    const uint8_t *abc = (const uint8_t *)"abc";
    for (int more = 0; more < 2; more++) {
        bpe_counts *counts = NULL;
        bpe_trainer *t = NULL;
        REQUIRE(bpe_counts_new(&counts) == BPE_OK);
        CHECK_EQ(add_word(counts, abc, 3, (uint64_t)1 << 62, 0), BPE_OK);
        CHECK_EQ(new_trainer(counts, 2, BPE_TIES_LOWEST, 1, &t), BPE_ERR_LIMIT);
        bpe_counts_free(counts);

        REQUIRE(bpe_counts_new(&counts) == BPE_OK);
        CHECK_EQ(add_word(counts, abc, 3, ((uint64_t)1 << 62) - 1, 0), BPE_OK);
        CHECK_EQ(add_word(counts, abc, 1, UINT64_MAX / 2, 1), BPE_OK); /* has no pairs */
        CHECK_EQ(add_word(counts, abc + 1, 2, 1 + (uint64_t)more, 2), BPE_OK);
        bpe_status want = more ? BPE_ERR_LIMIT : BPE_OK;
        CHECK_EQ(new_trainer(counts, 2, BPE_TIES_LOWEST, 1, &t), want);
        if (!more) {
            CHECK_EQ(bpe_trainer_run(t, 1000), BPE_OK);
            CHECK_EQ(bpe_trainer_merge_counts(t)[0], (uint64_t)1 << 62);
            CHECK_EQ(bpe_trainer_merge_counts(t)[1], ((uint64_t)1 << 62) - 1);
        }
        bpe_trainer_free(t);
        bpe_counts_free(counts);
    }
}

TEST(byte_ids_are_a_permutation_that_decides_ties) {
    uint32_t reversed[256];
    for (uint32_t i = 0; i < 256; i++)
        reversed[i] = 255 - i;
    bpe_counts *counts = NULL;
    bpe_trainer *t = NULL;
    REQUIRE(bpe_counts_new(&counts) == BPE_OK);
    CHECK_EQ(add_word(counts, (const uint8_t *)"abxcdxef", 8, 1, 0), BPE_OK);
    bpe_trainer_options options = {1, 1, BPE_TIES_LOWEST, reversed, 0, NULL};
    REQUIRE(bpe_trainer_new(counts, &options, &t, NULL) == BPE_OK);
    CHECK_EQ(bpe_trainer_run(t, 1000), BPE_OK);
    CHECK_EQ(bpe_trainer_merges(t)[0], 255 - 'x');
    CHECK_EQ(bpe_trainer_merges(t)[1], 255 - 'e');
    bpe_trainer_free(t);
    bpe_counts_free(counts);
}

/* ---------------------------------------------------------------- failures */

TEST(failing_allocations) {
    bpe_counts *counts = random_counts(3);
    for (uint8_t i = 0; i < 200; i++) {
        uint8_t data[3] = {i, (uint8_t)(i + 1), (uint8_t)(7 * i)};
        CHECK_EQ(add_word(counts, data, 3, (uint64_t)i * i * i * i, 100u + i), BPE_OK);
    }
    bpe_trainer *whole = NULL;
    REQUIRE(new_trainer(counts, 1200, BPE_TIES_FIRST, 1, &whole) == BPE_OK);
    while (bpe_trainer_stop(whole) == BPE_STOP_NONE) {
        REQUIRE(bpe_trainer_run(whole, 1000) == BPE_OK);
    }
    size_t n = bpe_trainer_n_merges(whole);
    FOR_EACH_FAILING_ALLOCATION {
        bpe_trainer *t = NULL;
        bpe_status status = new_trainer(counts, 1200, BPE_TIES_FIRST, 1, &t);
        if (status != BPE_OK) {
            CHECK_EQ(status, BPE_ERR_NOMEM);
            CHECK(t == NULL);
            continue;
        }
        while (status == BPE_OK && bpe_trainer_stop(t) == BPE_STOP_NONE) {
            status = bpe_trainer_run(t, 1000);
        }
        /* What was learnt before the failure is right, and stays readable. */
        size_t learnt = bpe_trainer_n_merges(t);
        CHECK(learnt <= n);
        CHECK_MEM(bpe_trainer_merges(t), learnt * 8, bpe_trainer_merges(whole), learnt * 8);
        if (status == BPE_OK) {
            CHECK_EQ(learnt, n);
        } else {
            CHECK_EQ(status, BPE_ERR_NOMEM);
            CHECK_EQ(bpe_trainer_run(t, 1000), BPE_ERR_NOMEM);
            CHECK_EQ(bpe_trainer_n_merges(t), learnt);
        }
        bpe_trainer_free(t);
    }
    bpe_trainer_free(whole);
    bpe_counts_free(counts);
}

int main(void) {
    for (uint32_t i = 0; i < 256; i++)
        identity[i] = i;
    RUN(invariants_after_every_merge);
    RUN(no_token_is_longer_than_allowed);
    RUN(runs_of_one_letter);
    RUN(words_around_the_length_that_a_slot_can_tell);
    RUN(the_threshold_is_lowered_as_far_as_needed);
    RUN(options_are_checked);
    RUN(pairs_of_all_words_must_fit_63_bits);
    RUN(byte_ids_are_a_permutation_that_decides_ties);
    RUN(failing_allocations);
    bpe_trainer_free(NULL);
    return harness_end();
}
