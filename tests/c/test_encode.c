#include "encode.h"

#include "models.h"

static model_parts m; /* large */

enum { TEXT = 700 };

/* Splits runs of the letter z from everything else. */
static bpe_split *z_split(void) {
    static const uint32_t starts[] = {0, 'z', 'z' + 1};
    static const uint8_t ids[] = {0, 1, 0};
    static const uint16_t t[3 * 3] = {0, 0, 0, 0, 2, 0, 0x8000, 2, 0x8000};
    bpe_split_stage stage = {starts, ids, 3, 2, 3, t};
    bpe_split *split;
    REQUIRE(bpe_split_new(&stage, 1, &split, NULL) == BPE_OK);
    return split;
}

static bpe_split *no_split(void) {
    bpe_split *split;
    REQUIRE(bpe_split_new(NULL, 0, &split, NULL) == BPE_OK);
    return split;
}

TEST(every_path_against_the_definition) {
    uint64_t seed = 21;
    bpe_split *split = no_split();
    for (int round = 0; round < 80; round++) {
        uint32_t letters = 1 + random_below(&seed, 4);
        if (round % 2)
            random_ranks(&m, &seed, letters);
        else
            random_merges(&m, &seed, letters);
        bpe_model *model;
        REQUIRE(bpe_model_new(&m.spec, &model, NULL) == BPE_OK);
        bpe_workspace *w[4];
        for (uint32_t k = 0; k < 4; k++) {
            REQUIRE(bpe_workspace_new(model, &w[k]) == BPE_OK);
            CHECK_EQ(bpe_workspace_configure(w[k], k % 3, k == 3), BPE_OK);
        }
        for (int i = 0; i < 30; i++) {
            uint8_t text[TEXT];
            uint32_t want[TEXT], got[TEXT];
            size_t n = 1 + random_below(&seed, i < 25 ? 20 : i < 29 ? 130 : TEXT);
            for (size_t p = 0; p < n; p++)
                text[p] = (uint8_t)('a' + random_below(&seed, letters));
            size_t n_want = slow_encode(&m, text, n, UINT32_MAX, want);
            for (uint32_t k = 0; k < 4; k++) {
                for (int again = 0; again < 2; again++) { /* the second time from the cache */
                    size_t n_got = 0, counted = 0;
                    CHECK_EQ(
                        bpe_encode(model, split, NULL, NULL, w[k], text, n, got, n, &n_got, NULL),
                        BPE_OK);
                    CHECK_MEM(got, 4 * n_got, want, 4 * n_want);
                    CHECK_EQ(bpe_encode(model, split, NULL, NULL, w[k], text, n, NULL, 0, &counted,
                                        NULL),
                             BPE_OK);
                    CHECK_EQ(counted, n_want);
                }
            }
            uint8_t back[TEXT];
            size_t size = 0, written = 0;
            CHECK_EQ(bpe_decoded_size(model, want, n_want, &size, NULL), BPE_OK);
            CHECK_EQ(bpe_decode(model, want, n_want, back, size, &written, NULL), BPE_OK);
            CHECK_MEM(back, written, text, n);
            CHECK_EQ(bpe_decode(model, want, n_want, back, size - 1, &written, NULL),
                     BPE_ERR_CAPACITY);
        }
        for (int k = 0; k < 4; k++)
            bpe_workspace_free(w[k]);
        bpe_model_free(model);
    }
    bpe_split_free(split);
}

TEST(pretokens_specials_and_batches_agree) {
    uint64_t seed = 22;
    bpe_split *split = z_split();
    random_ranks(&m, &seed, 2);
    bpe_model *model;
    bpe_workspace *w;
    REQUIRE(bpe_model_new(&m.spec, &model, NULL) == BPE_OK);
    REQUIRE(bpe_workspace_new(model, &w) == BPE_OK);
    const uint32_t lengths[] = {2, 3}, special_ids[] = {900, 901};
    bpe_match *match;
    REQUIRE(bpe_match_new((const uint8_t *)"<><>z", lengths, special_ids, 2, &match, NULL) ==
            BPE_OK);
    const uint8_t *text = (const uint8_t *)"abzz<>zab<><>bzzza";
    const size_t n = 18;
    /* abzz | <>z | ab | <> | <> | bzzza, cut at the edges of runs of z */
    static const size_t edges[] = {0, 2, 4, 7, 9, 11, 13, 14, 17, 18};
    uint32_t want[18], got[18];
    size_t n_want = 0;
    for (int i = 0; i < 9; i++) {
        if (text[edges[i]] == '<')
            want[n_want++] = edges[i] == 4 ? 901 : 900;
        else
            n_want += slow_encode(&m, text + edges[i], edges[i + 1] - edges[i], UINT32_MAX,
                                  want + n_want);
    }
    size_t n_got;
    CHECK_EQ(bpe_encode(model, split, match, NULL, w, text, n, got, n, &n_got, NULL), BPE_OK);
    CHECK_MEM(got, 4 * n_got, want, 4 * n_want);
    CHECK_EQ(bpe_encode(model, split, match, NULL, w, text, n, got, n - 1, &n_got, NULL),
             BPE_ERR_CAPACITY);
    bpe_error err = {0};
    CHECK_EQ(bpe_encode(model, split, NULL, match, w, text, n, got, n, &n_got, &err),
             BPE_ERR_FORBIDDEN);
    CHECK_EQ(err.pos, 4);

    const size_t offsets[] = {0, 4, 4, 18};
    size_t id_offsets[4];
    CHECK_EQ(
        bpe_encode_batch(model, split, match, NULL, w, text, offsets, 3, got, n, id_offsets, NULL),
        BPE_OK);
    CHECK_MEM(got, 4 * id_offsets[3], want, 4 * n_want);
    CHECK_EQ(id_offsets[1], id_offsets[2]);
    CHECK_EQ(
        bpe_encode_batch(model, split, NULL, match, w, text, offsets, 3, got, n, id_offsets, &err),
        BPE_ERR_FORBIDDEN);
    CHECK_EQ(err.pos, 4);
    const size_t descending[] = {0, 4, 3};
    CHECK_EQ(bpe_encode_batch(model, split, NULL, NULL, w, text, descending, 2, got, n, id_offsets,
                              &err),
             BPE_ERR_ARG);
    CHECK_EQ(err.pos, 1);

    static const size_t ends[] = {2, 4, 6, 7, 9, 13, 14, 17, 18}, bad[] = {2, 2, 18}, early[] = {2};
    size_t n_plain;
    CHECK_EQ(bpe_encode(model, split, NULL, NULL, w, text, n, want, n, &n_want, NULL), BPE_OK);
    CHECK_EQ(bpe_encode_pretokens(model, w, text, n, ends, 9, got, n, &n_plain, NULL), BPE_OK);
    CHECK_MEM(got, 4 * n_plain, want, 4 * n_want);
    CHECK_EQ(bpe_encode_pretokens(model, w, text, n, bad, 3, got, n, &n_plain, &err), BPE_ERR_ARG);
    CHECK_EQ(err.pos, 1);
    CHECK_EQ(bpe_encode_pretokens(model, w, text, n, early, 1, got, n, &n_plain, &err),
             BPE_ERR_ARG);

    const uint32_t unknown[] = {97, 5000};
    size_t size = 77;
    CHECK_EQ(bpe_decoded_size(model, unknown, 2, &size, &err), BPE_ERR_ID);
    CHECK_EQ(err.pos, 1);
    CHECK_EQ(size, 77);
    bpe_match_free(match);
    bpe_workspace_free(w);
    bpe_model_free(model);
    bpe_split_free(split);
}

TEST(keys_are_the_same_at_the_end_of_memory) {
    /* A pretoken's key must not depend on whether 16 bytes could be read at once. */
    for (size_t n = 1; n <= 16; n++) {
        uint8_t *exact = bpe_mem_array(n, 1);
        uint8_t roomy[40];
        memset(roomy, 0xEE, sizeof roomy);
        REQUIRE(exact != NULL);
        for (size_t i = 0; i < n; i++)
            exact[i] = roomy[i] = (uint8_t)(i + 1);
        bpe_cache_key a = bpe_cache_key_of(exact, n, exact + n);
        bpe_cache_key b = bpe_cache_key_of(roomy, n, roomy + sizeof roomy);
        CHECK(a.low == b.low && a.high == b.high && a.length == b.length);
        bpe_mem_free(exact);
    }
}

TEST(failing_allocations) {
    uint64_t seed = 23;
    random_merges(&m, &seed, 2);
    bpe_model *model;
    REQUIRE(bpe_model_new(&m.spec, &model, NULL) == BPE_OK);
    bpe_split *split = no_split();
    const uint32_t length = 2, id = 900;
    bpe_match *match;
    REQUIRE(bpe_match_new((const uint8_t *)"<>", &length, &id, 1, &match, NULL) == BPE_OK);
    uint8_t text[120];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)('a' + random_below(&seed, 2));
    text[60] = '<';
    text[61] = '>';
    uint32_t ids[120];
    FOR_EACH_FAILING_ALLOCATION {
        bpe_workspace *w = NULL;
        bpe_status status = bpe_workspace_new(model, &w);
        size_t n = 0, counted = 0;
        if (status == BPE_OK) {
            bpe_workspace_configure(w, BPE_PATH_LONG, 1);
            status = bpe_encode(model, split, match, NULL, w, text, sizeof text, ids, sizeof text,
                                &n, NULL);
        }
        if (status == BPE_OK) {
            status = bpe_encode(model, split, match, NULL, w, text, sizeof text, NULL, 0, &counted,
                                NULL);
        }
        if (status == BPE_OK)
            CHECK_EQ(n, counted);
        else
            CHECK_EQ(status, BPE_ERR_NOMEM);
        bpe_workspace_free(w);
    }
    bpe_match_free(match);
    bpe_split_free(split);
    bpe_model_free(model);
}

int main(void) {
    RUN(every_path_against_the_definition);
    RUN(pretokens_specials_and_batches_agree);
    RUN(keys_are_the_same_at_the_end_of_memory);
    RUN(failing_allocations);
    return harness_end();
}
