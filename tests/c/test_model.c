#include "model.h"

#include "models.h"

static model_parts m; /* large */

TEST(tokens_are_found_by_id_and_by_bytes) {
    uint64_t seed = 5;
    random_ranks(&m, &seed, 3);
    for (size_t i = 0; i < m.spec.n_tokens; i++)
        m.ids[i] = (uint32_t)(3 * i + 7); /* ids with gaps */
    static const uint8_t extra[] = "<e>\0x";
    static const uint32_t extra_lengths[] = {3, 2}, extra_ids[] = {5, 2000};
    m.spec.extra_data = extra;
    m.spec.extra_data_size = 5;
    m.spec.extra_lengths = extra_lengths;
    m.spec.extra_ids = extra_ids;
    m.spec.n_extra = 2;
    bpe_model *model;
    REQUIRE(bpe_model_new(&m.spec, &model, NULL) == BPE_OK);
    CHECK_EQ(bpe_model_n_vocab(model), 2001);
    size_t n;
    for (size_t i = 0; i < m.spec.n_tokens; i++) {
        const uint8_t *token = bpe_model_token(model, m.ids[i], &n);
        REQUIRE(token != NULL);
        CHECK_MEM(token, n, m.data + m.starts[i], m.lengths[i]);
        CHECK_EQ(bpe_model_find(model, token, n), m.ids[i]);
    }
    CHECK(bpe_model_token(model, 8, &n) == NULL);
    CHECK(bpe_model_token(model, 2001, &n) == NULL);
    CHECK(bpe_model_token(model, BPE_NO_ID, &n) == NULL);
    CHECK_MEM(bpe_model_token(model, 2000, &n), 2, "\0x", 2);
    CHECK_EQ(bpe_model_find(model, (const uint8_t *)"<e>", 3), BPE_NO_ID);
    bpe_model_free(model);
}

TEST(recovered_merges_against_the_definition) {
    uint64_t seed = 6;
    for (int round = 0; round < 60; round++) {
        random_ranks(&m, &seed, 2);
        bpe_model *model;
        REQUIRE(bpe_model_new(&m.spec, &model, NULL) == BPE_OK);
        uint32_t left[MODEL_TOKENS], right[MODEL_TOKENS], ids[16];
        CHECK_EQ(bpe_model_recover_merges(model, left, right, MODEL_TOKENS), BPE_OK);
        CHECK_EQ(bpe_model_recover_merges(model, left, right, 10), BPE_ERR_CAPACITY);
        for (uint32_t i = 0; i < m.spec.n_tokens; i++) {
            size_t n = slow_encode(&m, m.data + m.starts[i], m.lengths[i], i, ids);
            CHECK_EQ(left[i], n == 2 ? ids[0] : BPE_NO_ID);
            CHECK_EQ(right[i], n == 2 ? ids[1] : BPE_NO_ID);
        }
        bpe_model_free(model);
    }
}

/* Building must fail, about this part and index. */
static void refused(uint32_t part, uint32_t index) {
    bpe_model *model = NULL;
    bpe_error err = {0};
    CHECK_EQ(bpe_model_new(&m.spec, &model, &err), BPE_ERR_MODEL);
    CHECK_EQ(err.pos >> 32, part);
    CHECK_EQ(err.pos & 0xFFFFFFFF, index);
    CHECK(model == NULL);
}

static void fresh(void) {
    parts_init(&m, BPE_SEMANTICS_RANKS);
    parts_add(&m, (const uint8_t *)"ab", 2);
}

TEST(contradictions_are_refused_with_their_place) {
    fresh();
    m.lengths[256] = 0;
    refused(BPE_PART_TOKEN, 256);
    fresh();
    m.lengths[256] = 3;
    refused(BPE_PART_TOKEN, 256);
    fresh();
    m.lengths[256] = 1;
    refused(BPE_PART_DUPLICATE, 256);
    fresh();
    m.ids[256] = 255;
    refused(BPE_PART_TOKEN, 256);
    fresh();
    m.ids[256] = BPE_MAX_IDS;
    refused(BPE_PART_TOKEN, 256);
    fresh();
    m.spec.token_data_size++;
    refused(BPE_PART_TOKEN, 257);
    fresh();
    m.data[0x41] = 0x42;
    refused(BPE_PART_DUPLICATE, 0x42);
    parts_init(&m, BPE_SEMANTICS_MERGES);
    m.data[0x41] = 0x42;
    refused(BPE_PART_BYTE, 0x41);
    uint64_t seed = 1;
    random_merges(&m, &seed, 2);
    m.merge_ids[3] = 'a';
    refused(BPE_PART_MERGE, 3);
    m.merge_ids[3] = 259;
    m.merges[7] = 5000;
    refused(BPE_PART_MERGE, 3);
    fresh();
    uint32_t length = 1, id = 'b';
    m.spec.extra_data = (const uint8_t *)"a";
    m.spec.extra_data_size = 1;
    m.spec.extra_lengths = &length;
    m.spec.extra_ids = &id;
    m.spec.n_extra = 1;
    refused(BPE_PART_EXTRA_ID, 0);
    id = 'a'; /* the same bytes: an alias */
    bpe_model *model;
    CHECK_EQ(bpe_model_new(&m.spec, &model, NULL), BPE_OK);
    bpe_model_free(model);
    id = BPE_MAX_IDS;
    refused(BPE_PART_EXTRA, 0);
    id = 400;
    length = 2;
    refused(BPE_PART_EXTRA, 0);
    length = 0;
    refused(BPE_PART_EXTRA, 0);
    m.spec.semantics = 3;
    CHECK_EQ(bpe_model_new(&m.spec, &model, NULL), BPE_ERR_ARG);
    m.spec.semantics = BPE_SEMANTICS_RANKS;
    m.spec.n_merges = 1;
    CHECK_EQ(bpe_model_new(&m.spec, &model, NULL), BPE_ERR_ARG);
}

TEST(failing_allocations) {
    uint64_t seed = 9;
    for (uint32_t semantics = BPE_SEMANTICS_RANKS; semantics <= BPE_SEMANTICS_MERGES; semantics++) {
        if (semantics == BPE_SEMANTICS_RANKS)
            random_ranks(&m, &seed, 2);
        else
            random_merges(&m, &seed, 2);
        FOR_EACH_FAILING_ALLOCATION {
            bpe_model *model = NULL;
            bpe_status status = bpe_model_new(&m.spec, &model, NULL);
            if (status == BPE_OK && semantics == BPE_SEMANTICS_RANKS) {
                uint32_t left[MODEL_TOKENS], right[MODEL_TOKENS];
                status = bpe_model_recover_merges(model, left, right, MODEL_TOKENS);
            }
            if (status != BPE_OK)
                CHECK_EQ(status, BPE_ERR_NOMEM);
            bpe_model_free(model);
        }
    }
}

int main(void) {
    RUN(tokens_are_found_by_id_and_by_bytes);
    RUN(recovered_merges_against_the_definition);
    RUN(contradictions_are_refused_with_their_place);
    RUN(failing_allocations);
    return harness_end();
}
