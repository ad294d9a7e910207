/* Training that goes on from a model: what it learns, what it leaves alone, and failures. */
#include "bpe.h"
#include "harness.h"
#include "models.h"
#include "random.h"

enum { MOST_MERGES = 60 };

static uint32_t identity[256];

/* Some words over three letters, of all lengths, some of them frequent. */
static bpe_counts *random_words(uint64_t seed) {
    bpe_counts *counts = NULL;
    REQUIRE(bpe_counts_new(&counts) == BPE_OK);
    for (uint64_t i = 0; i < 12; i++) {
        uint8_t data[400];
        size_t n = 1 + random_below(&seed, i % 4 == 0 ? 400 : 12), offsets[2] = {0, n};
        uint64_t frequency = i % 5 == 0 ? UINT32_MAX + i : 1 + random_below(&seed, 3);
        for (size_t k = 0; k < n; k++)
            data[k] = (uint8_t)('a' + random_below(&seed, 3));
        CHECK_EQ(bpe_counts_add_frequencies(counts, data, offsets, &frequency, 1, i, NULL), BPE_OK);
    }
    return counts;
}

static bpe_status train(const bpe_counts *counts, size_t n_merges, uint32_t ties,
                        const bpe_model *initial, bpe_trainer **out) {
    bpe_trainer_options options = {n_merges, 1, ties, initial ? NULL : identity, 0, initial};
    bpe_status status = bpe_trainer_new(counts, &options, out, NULL);
    while (status == BPE_OK && bpe_trainer_stop(*out) == BPE_STOP_NONE)
        status = bpe_trainer_run(*out, 100);
    return status;
}

/* Make the model of the first n merges, with `extra` ids behind them for special tokens. */
static bpe_model *model_of(const bpe_trainer *t, size_t n, uint32_t extra) {
    static uint8_t data[1 << 20];
    static uint32_t lengths[256 + MOST_MERGES], starts[256 + MOST_MERGES];
    uint32_t ids[256 + MOST_MERGES], made[MOST_MERGES];
    size_t size = 0;
    const uint32_t *merges = bpe_trainer_merges(t);
    for (uint32_t i = 0; i < 256 + n; i++) {
        ids[i] = i;
        starts[i] = (uint32_t)size;
        lengths[i] = 1;
        data[size] = (uint8_t)i;
        if (i >= 256) {
            uint32_t a = merges[2 * (i - 256)], b = merges[2 * (i - 256) + 1];
            lengths[i] = lengths[a] + lengths[b];
            REQUIRE(size + lengths[i] <= sizeof data);
            memcpy(data + size, data + starts[a], lengths[a]);
            memcpy(data + size + lengths[a], data + starts[b], lengths[b]);
            made[i - 256] = i;
        }
        size += lengths[i];
    }
    uint32_t extra_length = 1, extra_id = (uint32_t)(255 + n + extra);
    bpe_model_spec spec = {
        .semantics = BPE_SEMANTICS_MERGES,
        .token_data = data,
        .token_data_size = size,
        .token_lengths = lengths,
        .token_ids = ids,
        .n_tokens = 256 + n,
        .merges = merges,
        .merge_ids = made,
        .n_merges = n,
        .extra_data = (const uint8_t *)"$",
        .extra_data_size = extra > 0,
        .extra_lengths = &extra_length,
        .extra_ids = &extra_id,
        .n_extra = extra > 0,
    };
    bpe_model *model = NULL;
    REQUIRE(bpe_model_new(&spec, &model, NULL) == BPE_OK);
    CHECK_EQ(bpe_model_n_vocab(model), 256 + n + extra);
    return model;
}

TEST(going_on_gives_what_one_run_gives) {
    for (uint32_t seed = 0; seed < 60; seed++) {
        bpe_counts *counts = random_words(seed);
        uint32_t ties = seed % 2 ? BPE_TIES_FIRST : BPE_TIES_LOWEST, extra = seed % 3;
        bpe_trainer *whole = NULL, *rest = NULL;
        REQUIRE(train(counts, MOST_MERGES, ties, NULL, &whole) == BPE_OK);
        size_t n = bpe_trainer_n_merges(whole), k = seed % (n + 1);
        bpe_model *model = model_of(whole, k, extra);
        REQUIRE(train(counts, MOST_MERGES - k, ties, model, &rest) == BPE_OK);
        CHECK_EQ(bpe_trainer_n_merges(rest), n - k);
        CHECK_EQ(bpe_trainer_stop(rest), bpe_trainer_stop(whole));
        const uint32_t *want = bpe_trainer_merges(whole) + 2 * k, *got = bpe_trainer_merges(rest);
        for (size_t i = 0; i < 2 * (n - k); i++)
            CHECK_EQ(got[i], want[i] + (want[i] >= 256 + k ? extra : 0));
        CHECK_MEM(bpe_trainer_merge_counts(rest), 8 * (n - k), bpe_trainer_merge_counts(whole) + k,
                  8 * (n - k));
        bpe_model_free(model);
        bpe_trainer_free(whole);
        bpe_trainer_free(rest);
        bpe_counts_free(counts);
    }
}

/* "abc" has an id that no merge leads to; only a whole pretoken gets it, if the model says so. */
static void train_beside_abc(uint32_t whole_pretoken) {
    static model_parts parts;
    const uint8_t *data = (const uint8_t *)"abcxabcabc";
    uint64_t frequencies[] = {5, 9}; /* of "abc" and of "xabcabc" */
    size_t offsets[] = {0, 3, 10};
    bpe_counts *counts = NULL;
    bpe_model *model = NULL;
    bpe_trainer *t = NULL;
    parts_init(&parts, BPE_SEMANTICS_MERGES);
    parts_add(&parts, data, 3);
    parts.spec.whole_pretoken = whole_pretoken;
    REQUIRE(bpe_model_new(&parts.spec, &model, NULL) == BPE_OK);
    REQUIRE(bpe_counts_new(&counts) == BPE_OK);
    CHECK_EQ(bpe_counts_add_frequencies(counts, data, offsets, frequencies, 2, 0, NULL), BPE_OK);
    REQUIRE(train(counts, 20, BPE_TIES_LOWEST, model, &t) == BPE_OK);
    /* ab, then c-ab and not ab-c, then what is left of "xabcabc"; "ab c" stays two tokens. */
    const uint32_t want[] = {'a', 'b', 'c', 257, 'x', 257, 258, 'c', 259, 260};
    CHECK_MEM(bpe_trainer_merges(t), 8 * bpe_trainer_n_merges(t), want, sizeof want);
    CHECK_EQ(bpe_trainer_merge_counts(t)[0], whole_pretoken ? 18 : 23);
    CHECK_EQ(bpe_trainer_stop(t), BPE_STOP_EXHAUSTED);
    bpe_trainer_free(t);
    bpe_counts_free(counts);
    bpe_model_free(model);
}

TEST(no_token_is_made_twice) {
    train_beside_abc(0);
    train_beside_abc(1);
}

TEST(models_and_ids_are_checked) {
    static model_parts parts;
    bpe_counts *counts = NULL;
    bpe_trainer *t = NULL;
    bpe_error err = {0, 0};
    REQUIRE(bpe_counts_new(&counts) == BPE_OK);
    for (uint32_t symbols = 0; symbols < 3; symbols++) {
        bpe_model *model = NULL;
        parts_init(&parts, BPE_SEMANTICS_MERGES);
        parts.spec.symbols = symbols;
        parts.spec.unknown = BPE_NO_ID;
        parts.ids[255] = 1000; /* the next id is 1001 */
        REQUIRE(bpe_model_new(&parts.spec, &model, NULL) == BPE_OK);
        bpe_trainer_options options = {BPE_MAX_IDS - 1 - 1000, 1, BPE_TIES_FIRST, NULL, 0, model};
        bpe_status want = symbols == BPE_SYMBOLS_BYTES ? BPE_ERR_LIMIT : BPE_ERR_ARG;
        CHECK_EQ(bpe_trainer_new(counts, &options, &t, &err), want);
        CHECK_EQ(err.pos, symbols == BPE_SYMBOLS_BYTES ? 0 : 257);
        CHECK(t == NULL);
        options.n_merges--;
        if (symbols == BPE_SYMBOLS_BYTES)
            CHECK_EQ(bpe_trainer_new(counts, &options, &t, &err), BPE_OK);
        bpe_trainer_free(t);
        t = NULL;
        bpe_model_free(model);
    }
    bpe_counts_free(counts);
}

TEST(failing_allocations) {
    bpe_counts *counts = random_words(7);
    bpe_trainer *whole = NULL;
    REQUIRE(train(counts, MOST_MERGES, BPE_TIES_FIRST, NULL, &whole) == BPE_OK);
    bpe_model *model = model_of(whole, 20, 0);
    FOR_EACH_FAILING_ALLOCATION {
        bpe_trainer *t = NULL;
        bpe_status status = train(counts, MOST_MERGES - 20, BPE_TIES_FIRST, model, &t);
        CHECK(status == BPE_OK || status == BPE_ERR_NOMEM);
        bpe_trainer_free(t);
    }
    bpe_model_free(model);
    bpe_trainer_free(whole);
    bpe_counts_free(counts);
}

int main(void) {
    for (uint32_t i = 0; i < 256; i++)
        identity[i] = i;
    RUN(going_on_gives_what_one_run_gives);
    RUN(no_token_is_made_twice);
    RUN(models_and_ids_are_checked);
    RUN(failing_allocations);
    return harness_end();
}
