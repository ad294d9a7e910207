#include "merge_many.h"

#include "model.h"
#include "models.h"

static model_parts m; /* large */

enum { JOBS = 40, MAX = BPE_MANY_BYTES };

static uint8_t texts[JOBS][MAX];
static uint32_t want[JOBS][MAX], got[JOBS][MAX];
static size_t lengths[JOBS], n_want[JOBS];

/* Token i of `m` has the id i * gap + OFFSET in the model that is tested. */
enum { OFFSET = 3 };

static bpe_model *spaced_model(uint32_t gap) {
    static uint32_t ids[MODEL_TOKENS], merges[2 * 64], merge_ids[64];
    bpe_model_spec spec = m.spec;
    for (size_t i = 0; i < spec.n_tokens; i++)
        ids[i] = (uint32_t)i * gap + OFFSET;
    for (size_t i = 0; i < 2 * spec.n_merges; i++)
        merges[i] = ids[m.merges[i]];
    for (size_t i = 0; i < spec.n_merges; i++)
        merge_ids[i] = ids[m.merge_ids[i]];
    spec.token_ids = ids;
    spec.merges = merges;
    spec.merge_ids = merge_ids;
    bpe_model *model;
    REQUIRE(bpe_model_new(&spec, &model, NULL) == BPE_OK);
    return model;
}

static void make_texts(uint64_t *seed, uint32_t letters, uint32_t longest, uint32_t gap) {
    for (size_t i = 0; i < JOBS; i++) {
        lengths[i] = 1 + random_below(seed, longest);
        for (size_t k = 0; k < lengths[i]; k++)
            texts[i][k] = (uint8_t)('a' + random_below(seed, letters));
        /* With a limit, so that no pretoken is taken whole. */
        n_want[i] = slow_encode(&m, texts[i], lengths[i], UINT32_MAX - 1, want[i]);
        for (size_t k = 0; k < n_want[i]; k++)
            want[i][k] = want[i][k] * gap + OFFSET;
    }
}

enum { MANY, MANY_PLAIN, SHORT, LONG, WINDOWS, N_WAYS };

static bool with_bytes = true;

static void check(const bpe_rules *rules, const bpe_vocab *vocab, int way) {
    bpe_merge_job jobs[JOBS];
    bpe_merge_scratch scratch = {0};
    for (size_t i = 0; i < JOBS; i++) {
        for (size_t k = 0; k < lengths[i]; k++)
            got[i][k] = vocab->byte_ids[texts[i][k]];
        size_t n = lengths[i];
        if (way == SHORT && n <= BPE_SHORT_BYTES)
            n = bpe_merge_short(rules, got[i], n, BPE_NO_RANK);
        else if (way == SHORT || way == LONG)
            CHECK_EQ(bpe_merge_long(rules, &scratch, got[i], n, BPE_NO_RANK, &n), BPE_OK);
        else if (way == WINDOWS)
            CHECK_EQ(bpe_merge_windows(rules, &scratch, got[i], n, 1 + i % 40, &n), BPE_OK);
        jobs[i] = (bpe_merge_job){with_bytes ? texts[i] : NULL, got[i], (uint32_t)n};
    }
    bpe_merge_scratch_free(&scratch);
    if (way == MANY)
        bpe_merge_many(rules, jobs, JOBS);
    if (way == MANY_PLAIN)
        bpe_merge_many_plain(rules, jobs, JOBS);
    for (size_t i = 0; i < JOBS; i++)
        CHECK_MEM(got[i], 4 * jobs[i].n, want[i], 4 * n_want[i]);
}

TEST(all_ways_against_the_definition) {
    uint64_t seed = 31;
    for (uint32_t round = 0; round < 160; round++) {
        uint32_t letters = 1 + random_below(&seed, 4);
        uint32_t gap = round % 4 < 2 ? 1 : 1 + random_below(&seed, 50000);
        if (round % 2)
            random_ranks(&m, &seed, letters);
        else
            random_merges(&m, &seed, letters);
        bpe_model *model = spaced_model(gap);
        const bpe_vocab *vocab = &model->vocab;
        REQUIRE(bpe_merge_many_can(&model->rules));
        make_texts(&seed, letters, round % 3 ? 20 : MAX, gap);
        for (int way = 0; way < N_WAYS; way++)
            check(&model->rules, vocab, way);
        with_bytes = false;
        check(&model->rules, vocab, MANY);
        check(&model->rules, vocab, MANY_PLAIN);
        with_bytes = true;
        if (m.spec.semantics == BPE_SEMANTICS_RANKS) {
            /* Ranks of the caller's: these rules have the map, not the table. */
            uint32_t ranks[MODEL_TOKENS];
            for (uint32_t i = 0; i < MODEL_TOKENS; i++)
                ranks[i] = i;
            bpe_ranked_strings list = {&vocab->strings, vocab->ids, ranks, vocab->n_ordinary,
                                       10000,           NULL,       0};
            bpe_rules mapped = {0};
            REQUIRE(bpe_rules_from_strings(&mapped, &list, NULL) == BPE_OK);
            CHECK(!bpe_merge_many_can(&mapped));
            check(&mapped, vocab, SHORT);
            check(&mapped, vocab, LONG);
            bpe_rules_free(&mapped);
        }
        bpe_model_free(model);
    }
}

/* Windows of one long text, where most fit together, against merging it at once. */
TEST(windows_of_long_texts) {
    enum { N = 8000 };
    static uint32_t symbols[N], at_once[N], in_windows[N];
    uint64_t seed = 41;
    for (uint32_t round = 0; round < 60; round++) {
        uint32_t letters = 1 + random_below(&seed, 4);
        if (round % 2)
            random_ranks(&m, &seed, letters);
        else
            random_merges(&m, &seed, letters);
        bpe_model *model = spaced_model(1);
        uint32_t period = 1 + random_below(&seed, round % 3 ? N : 7);
        for (size_t i = 0; i < N; i++)
            symbols[i] = i < period ? model->vocab.byte_ids['a' + random_below(&seed, letters)]
                                    : symbols[i - period];
        bpe_merge_scratch scratch = {0};
        size_t n_at_once, n_in_windows;
        memcpy(at_once, symbols, sizeof symbols);
        CHECK_EQ(bpe_merge_long(&model->rules, &scratch, at_once, N, BPE_NO_RANK, &n_at_once),
                 BPE_OK);
        static const size_t sizes[] = {1, 7, 16, 33, 100, 257, 1024, N - 1, N};
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            memcpy(in_windows, symbols, sizeof symbols);
            CHECK_EQ(
                bpe_merge_windows(&model->rules, &scratch, in_windows, N, sizes[k], &n_in_windows),
                BPE_OK);
            CHECK_MEM(in_windows, 4 * n_in_windows, at_once, 4 * n_at_once);
        }
        bpe_merge_scratch_free(&scratch);
        bpe_model_free(model);
    }
}

TEST(windows_without_memory) {
    enum { N = 300 };
    uint32_t symbols[N];
    uint64_t seed = 43;
    random_ranks(&m, &seed, 3);
    bpe_model *model = spaced_model(1);
    FOR_EACH_FAILING_ALLOCATION {
        bpe_merge_scratch scratch = {0};
        for (size_t i = 0; i < N; i++)
            symbols[i] = model->vocab.byte_ids['a' + i % 3];
        size_t n = 0;
        bpe_status status = bpe_merge_windows(&model->rules, &scratch, symbols, N, 40, &n);
        CHECK(status == BPE_ERR_NOMEM || (status == BPE_OK && n > 0));
        bpe_merge_scratch_free(&scratch);
    }
    bpe_model_free(model);
}

TEST(jobs_with_nothing_to_do) {
    parts_init(&m, BPE_SEMANTICS_RANKS);
    parts_add(&m, (const uint8_t *)"ab", 2);
    bpe_model *model = spaced_model(1);
    const uint8_t *text = (const uint8_t *)"abab";
    uint32_t ids[6] = {7, 'a' + OFFSET, 'a' + OFFSET, 'b' + OFFSET, 8, 9};
    bpe_merge_job jobs[] = {{text, ids, 0}, {text, ids + 1, 1}, {text, ids + 2, 2}, {text, ids, 0}};
    bpe_merge_many(&model->rules, jobs, 0);
    bpe_merge_many(&model->rules, jobs, 2);
    CHECK_EQ(ids[1], 'a' + OFFSET);
    bpe_merge_many(&model->rules, jobs, 4);
    static const uint32_t after[] = {7, 'a' + OFFSET, 256 + OFFSET, 'b' + OFFSET, 8, 9};
    CHECK_MEM(ids, sizeof ids, after, sizeof after);
    CHECK_EQ(jobs[0].n, 0);
    CHECK_EQ(jobs[1].n, 1);
    CHECK_EQ(jobs[2].n, 1);
    bpe_model_free(model);
}

int main(void) {
    RUN(all_ways_against_the_definition);
    RUN(windows_of_long_texts);
    RUN(windows_without_memory);
    RUN(jobs_with_nothing_to_do);
    return harness_end();
}
