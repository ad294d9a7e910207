#define _DEFAULT_SOURCE /* mmap */
#include <sys/mman.h>

#include "pretokens.h"

#include "models.h"

static model_parts m; /* large */

enum { TEXT = 700 };

/* Splits runs of the letter z from everything else. */
static bpe_split *z_split(void) {
    static const uint32_t starts[] = {0, 'z', 'z' + 1};
    static const uint8_t ids[] = {0, 1, 0};
    static const uint16_t t[3 * 3] = {0, 0, 0, 0, 2, 0, 0x8000, 2, 0x8000};
    bpe_split_stage stage = {starts, ids, 3, 2, 3, t, 0, 0};
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

/* Many pretokens in one call, some of them again and again, so that the cache answers for short and
 * long ones, with few ids and many; the buffer is no longer than it has to be. */
TEST(pretokens_of_all_lengths_against_the_definition) {
    enum { PRETOKENS = 900, ROOM = PRETOKENS * 150 };
    static uint8_t text[ROOM];
    static uint32_t want[ROOM], got[ROOM];
    static size_t ends[PRETOKENS];
    uint64_t seed = 27;
    for (int round = 0; round < 24; round++) {
        uint32_t letters = 1 + random_below(&seed, 4);
        if (round % 2)
            random_ranks(&m, &seed, letters);
        else
            random_merges(&m, &seed, letters);
        size_t size = 0, n_want = 0;
        for (size_t i = 0; i < PRETOKENS; i++) {
            size_t from = size, n = 1 + random_below(&seed, i % 8 ? 16 : 150);
            uint32_t old = random_below(&seed, i > 0 ? (uint32_t)i : 1);
            if (i > 0 && random_below(&seed, 2)) {
                from = old ? ends[old - 1] : 0;
                n = ends[old] - from;
                memcpy(text + size, text + from, n);
            } else {
                for (size_t k = 0; k < n; k++)
                    text[size + k] = (uint8_t)('a' + random_below(&seed, letters));
            }
            n_want += slow_encode(&m, text + size, n, UINT32_MAX, want + n_want);
            ends[i] = size += n;
        }
        bpe_model *model;
        REQUIRE(bpe_model_new(&m.spec, &model, NULL) == BPE_OK);
        for (uint32_t k = 0; k < 7; k++) {
            bpe_workspace *w;
            REQUIRE(bpe_workspace_new(model, &w) == BPE_OK);
            CHECK_EQ(bpe_workspace_configure(w, k % 3, k < 3 || k > 5), BPE_OK);
            if (k > 5) /* hardly any cache: what is put in is soon overwritten */
                CHECK_EQ(bpe_workspace_resize(w, 0), BPE_OK);
            for (int again = 0; again < 2; again++) {
                size_t n_got = 0, counted = 0;
                uint32_t *exact = bpe_mem_array(size, sizeof *exact);
                REQUIRE(exact != NULL);
                CHECK_EQ(bpe_encode_pretokens(model, w, text, size, ends, PRETOKENS, exact, size,
                                              &n_got, NULL),
                         BPE_OK);
                memcpy(got, exact, 4 * n_got);
                bpe_mem_free(exact);
                CHECK_MEM(got, 4 * n_got, want, 4 * n_want);
                CHECK_EQ(bpe_encode_pretokens(model, w, text, size, ends, PRETOKENS, NULL, 0,
                                              &counted, NULL),
                         BPE_OK);
                CHECK_EQ(counted, n_want);
            }
            bpe_workspace_free(w);
        }
        bpe_model_free(model);
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
    /* What a call that failed left in the cache must not answer for the next one. */
    static const size_t ends[] = {40, 80, 120};
    uint32_t want[120];
    size_t n_want = 0;
    memcpy(text + 40, text, 40);
    memcpy(text + 80, text, 40);
    for (int i = 0; i < 3; i++)
        n_want += slow_encode(&m, text, 40, UINT32_MAX, want + n_want);
    FOR_EACH_FAILING_ALLOCATION {
        bpe_workspace *w = NULL;
        if (bpe_workspace_new(model, &w) != BPE_OK)
            continue;
        bpe_status resized = bpe_workspace_resize(w, 1000000);
        CHECK(resized == BPE_OK || resized == BPE_ERR_NOMEM);
        CHECK_EQ(w->kept.cache.mask + 64 == (size_t)64 << 13, resized == BPE_OK);
        bpe_workspace_configure(w, BPE_PATH_LONG, 1);
        size_t n = 0;
        bpe_status status = bpe_encode_pretokens(model, w, text, 120, ends, 3, ids, 120, &n, NULL);
        if (status != BPE_OK) {
            CHECK_EQ(status, BPE_ERR_NOMEM);
            bpe_test_fail_after = -1;
            CHECK_EQ(bpe_encode_pretokens(model, w, text, 120, ends, 3, ids, 120, &n, NULL),
                     BPE_OK);
        }
        CHECK_MEM(ids, 4 * n, want, 4 * n_want);
        bpe_workspace_free(w);
    }
    bpe_match_free(match);
    bpe_split_free(split);
    bpe_model_free(model);
}

/* Tokens of characters, some of them bytes of others; not all bytes are tokens. */
enum { A, B, E_ACUTE, AB, UNKNOWN, B_END, FIRST_BYTE };

static void character_parts(void) {
    memset(&m, 0, sizeof m);
    m.spec.semantics = BPE_SEMANTICS_MERGES;
    m.spec.token_data = m.data;
    m.spec.token_lengths = m.lengths;
    m.spec.token_ids = m.ids;
    m.spec.merges = m.merges;
    m.spec.merge_ids = m.merge_ids;
    static const char *const tokens[] = {"a", "b", "\xC3\xA9", "ab", "<unk>", "b."};
    for (size_t i = 0; i < 6; i++)
        parts_add(&m, (const uint8_t *)tokens[i], strlen(tokens[i]));
    m.merges[0] = A;
    m.merges[1] = B;
    m.merge_ids[0] = AB;
    m.spec.n_merges = 1;
    m.spec.symbols = BPE_SYMBOLS_CHARACTERS;
    m.spec.unknown = UNKNOWN;
}

static size_t encode_characters(const char *text, uint32_t *ids) {
    bpe_model *model;
    bpe_workspace *w;
    bpe_split *split = no_split();
    REQUIRE(bpe_model_new(&m.spec, &model, NULL) == BPE_OK);
    REQUIRE(bpe_workspace_new(model, &w) == BPE_OK);
    size_t n = 99, counted = 99;
    CHECK_EQ(bpe_encode(model, split, NULL, NULL, w, (const uint8_t *)text, strlen(text), ids,
                        strlen(text), &n, NULL),
             BPE_OK);
    CHECK_EQ(bpe_encode(model, split, NULL, NULL, w, (const uint8_t *)text, strlen(text), NULL, 0,
                        &counted, NULL),
             BPE_OK);
    CHECK_EQ(n, counted);
    bpe_workspace_free(w);
    bpe_model_free(model);
    bpe_split_free(split);
    return n;
}

#define CHECK_IDS(text, ...)                                                                       \
    do {                                                                                           \
        static const uint32_t want[] = {__VA_ARGS__};                                              \
        uint32_t got[64];                                                                          \
        size_t n = encode_characters(text, got);                                                   \
        CHECK_MEM(got, 4 * n, want, sizeof want);                                                  \
    } while (0)

TEST(symbols_that_are_no_tokens) {
    character_parts();
    CHECK_IDS("ab\xC3\xA9", AB, E_ACUTE);
    CHECK_IDS("azzb", A, UNKNOWN, UNKNOWN, B);
    CHECK_IDS("a\xC3", A, UNKNOWN); /* a byte that begins a character and none follows */
    m.spec.fuse_unknown = 1;
    CHECK_IDS("azzbz", A, UNKNOWN, B, UNKNOWN);
    m.spec.unknown = BPE_NO_ID;
    CHECK_IDS("azzb", AB);
    uint32_t ids[8];
    CHECK_EQ(encode_characters("zz", ids), 0);
    m.spec.symbols = BPE_SYMBOLS_SOME_BYTES;
    CHECK_IDS("a\xC3\xA9", A);
    m.spec.word_suffix = (const uint8_t *)".";
    m.spec.word_suffix_size = 1;
    CHECK_IDS("abb", AB, B_END);
    CHECK_EQ(encode_characters("a", ids), 0);
}

TEST(a_suffix_although_all_bytes_are_tokens) {
    parts_init(&m, BPE_SEMANTICS_MERGES);
    parts_add(&m, (const uint8_t *)"b.", 2);
    parts_add(&m, (const uint8_t *)"ab.", 3);
    parts_add(&m, (const uint8_t *)"ab", 2);
    static const uint32_t merges[] = {'a', 256, 'a', 'b'}, made[] = {257, 258};
    m.spec.merges = merges;
    m.spec.merge_ids = made;
    m.spec.n_merges = 2;
    m.spec.symbols = BPE_SYMBOLS_SOME_BYTES;
    m.spec.word_suffix = (const uint8_t *)".";
    m.spec.word_suffix_size = 1;
    CHECK_IDS("ab", 257);
    CHECK_IDS("abab", 258, 257);
    CHECK_IDS("abb", 258, 256);
}

TEST(unknown_characters_in_bytes) {
    static uint32_t fallback[256];
    character_parts();
    for (uint32_t b = 0; b < 256; b++) {
        fallback[b] = b == 0xFF ? BPE_NO_ID : FIRST_BYTE + b;
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)b);
        parts_add(&m, (const uint8_t *)name, 6);
    }
    m.spec.fallback_ids = fallback;
    CHECK_IDS("a\xC3\xAA", A, FIRST_BYTE + 0xC3, FIRST_BYTE + 0xAA);
    /* An unknown one waits for the next that is known: bytes overtake it. */
    CHECK_IDS("\xFFza", FIRST_BYTE + 'z', UNKNOWN, A);
    bpe_model *model = NULL;
    bpe_error err;
    fallback[7] = 5000;
    CHECK_EQ(bpe_model_new(&m.spec, &model, &err), BPE_ERR_MODEL);
    CHECK_EQ(err.pos, (size_t)BPE_PART_FALLBACK << 32 | 7);
    m.spec.fallback_ids = NULL;
    m.spec.unknown = 5000;
    CHECK_EQ(bpe_model_new(&m.spec, &model, &err), BPE_ERR_MODEL);
    CHECK_EQ(err.pos, (size_t)BPE_PART_UNKNOWN << 32 | 5000);
    m.spec.unknown = UNKNOWN;
    m.spec.symbols = BPE_SYMBOLS_CHARACTERS + 1;
    CHECK_EQ(bpe_model_new(&m.spec, &model, &err), BPE_ERR_ARG);
    m.spec.symbols = BPE_SYMBOLS_CHARACTERS;
    m.spec.word_suffix = m.data;
    m.spec.word_suffix_size = BPE_MAX_SUFFIX + 1;
    CHECK_EQ(bpe_model_new(&m.spec, &model, &err), BPE_ERR_ARG);
    m.spec.word_suffix_size = 1;
    m.spec.fallback_ids = fallback;
    CHECK_EQ(bpe_model_new(&m.spec, &model, &err), BPE_ERR_ARG);
    CHECK(model == NULL);
}

TEST(pretokens_that_do_not_lie_side_by_side) {
    static const uint32_t starts[] = {0, 'z', 'z' + 1};
    static const uint8_t ids[] = {0, 1, 0};
    static const uint16_t t[3 * 3] = {0, 0, 0, 0, 2, 0, 0x8000, 2, 0x8000};
    bpe_split_stage stage = {starts, ids, 3, 2, 3, t, BPE_SPLIT_DROP_MATCHES, 0};
    bpe_split *split;
    bpe_model *model;
    bpe_workspace *w;
    character_parts();
    REQUIRE(bpe_split_new(&stage, 1, &split, NULL) == BPE_OK);
    REQUIRE(bpe_model_new(&m.spec, &model, NULL) == BPE_OK);
    REQUIRE(bpe_workspace_new(model, &w) == BPE_OK);
    uint8_t text[3000]; /* more than fit in one batch */
    uint32_t got[sizeof text];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)"abz"[i % 3];
    size_t n = 0;
    CHECK_EQ(bpe_encode(model, split, NULL, NULL, w, text, sizeof text, got, sizeof text, &n, NULL),
             BPE_OK);
    CHECK_EQ(n, sizeof text / 3);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(got[i], AB);
    bpe_workspace_free(w);
    bpe_model_free(model);
    bpe_split_free(split);
}

TEST(more_ids_than_32_bits_count) {
    /* As after 2^32 ids without a gap. Of so much memory the system gives what is touched. */
    const size_t before = ((size_t)1 << 32) + 5, cap = before + 1000;
    uint32_t *ids = mmap(NULL, cap * sizeof *ids, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ids == MAP_FAILED) {
        printf("(no address space for %s) ", __func__);
        return;
    }
    uint64_t seed = 23;
    bpe_model *model;
    bpe_workspace *w;
    random_ranks(&m, &seed, 2);
    REQUIRE(bpe_model_new(&m.spec, &model, NULL) == BPE_OK);
    REQUIRE(bpe_workspace_new(model, &w) == BPE_OK);
    static const uint8_t text[] = "abbabbaababbab";
    static const size_t ends[] = {5, 9, 14}; /* the first and the last are the same */
    uint32_t want[14];
    size_t n_want = 0;
    bpe_sink out = {ids, cap, 0};
    bpe_batch batch;
    bpe_batch_begin(&batch, model, w, text, 14, &out, NULL);
    batch.gaps.ids = ids;
    batch.cap = cap;
    batch.n_ids = before;
    CHECK_EQ(bpe_batch_add(&batch, 0, ends, 3), BPE_OK);
    CHECK_EQ(bpe_batch_finish(&batch), BPE_OK);
    for (size_t i = 0, start = 0; i < 3; start = ends[i], i++)
        n_want += slow_encode(&m, text + start, ends[i] - start, UINT32_MAX, want + n_want);
    CHECK_EQ(out.n, before + n_want);
    CHECK_MEM(ids + before, 4 * n_want, want, 4 * n_want);
    bpe_workspace_free(w);
    bpe_model_free(model);
    munmap(ids, cap * sizeof *ids);
}

int main(void) {
    RUN(every_path_against_the_definition);
    RUN(pretokens_specials_and_batches_agree);
    RUN(pretokens_of_all_lengths_against_the_definition);
    RUN(symbols_that_are_no_tokens);
    RUN(a_suffix_although_all_bytes_are_tokens);
    RUN(unknown_characters_in_bytes);
    RUN(pretokens_that_do_not_lie_side_by_side);
    RUN(more_ids_than_32_bits_count);
    RUN(failing_allocations);
    return harness_end();
}
