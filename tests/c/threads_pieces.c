/*
 * Many threads, one codepoint model: what bpe.h says of const objects. Run under ThreadSanitizer
 * (`make tsan`).
 */
#include <pthread.h>

#include "harness.h"

#include "bpe.h"

#define N_THREADS 8
#define N_ROUNDS 20
#define N_TEXT 3000

typedef struct shared {
    const bpe_pieces *pieces;
    const bpe_match *match;
    uint8_t text[N_TEXT];
    uint32_t *ids;
    size_t n_ids;
} shared;

static bpe_pieces *new_pieces(void) {
    static const char *const texts[] = {"<unk>", "<s>", "a",    "b",      "ab",      "\xE2\x96\x81",
                                        "abab",  "aa",  "ab a", "<user>", "\xC3\xA9"};
    enum { N = sizeof texts / sizeof *texts };
    uint8_t data[256];
    uint32_t lengths[N];
    float scores[N];
    uint8_t types[N];
    size_t size = 0;
    for (size_t i = 0; i < N; i++) {
        lengths[i] = (uint32_t)strlen(texts[i]);
        memcpy(data + size, texts[i], lengths[i]);
        size += lengths[i];
        scores[i] = -(float)i;
        types[i] = BPE_PIECE_NORMAL;
    }
    types[0] = BPE_PIECE_UNKNOWN;
    types[1] = BPE_PIECE_CONTROL;
    types[9] = BPE_PIECE_USER;
    bpe_pieces_spec spec = {
        .piece_data = data,
        .piece_data_size = size,
        .piece_lengths = lengths,
        .scores = scores,
        .types = types,
        .n_pieces = N,
        .normalizer = {.flags = BPE_NORMALIZE_MARK | BPE_NORMALIZE_ESCAPE},
    };
    bpe_pieces *pieces = NULL;
    REQUIRE(bpe_pieces_new(&spec, &pieces, NULL) == BPE_OK);
    return pieces;
}

/* Encode with a workspace of its own in all ways, decode, and compare with what one thread found
 * before. */
static void *work(void *argument) {
    const shared *all = argument;
    bpe_pieces_workspace *workspace = NULL;
    REQUIRE(bpe_pieces_workspace_new(all->pieces, &workspace) == BPE_OK);
    for (uint32_t round = 0; round < N_ROUNDS; round++) {
        const uint32_t *ids;
        size_t n = 0, size = 0;
        REQUIRE(bpe_pieces_workspace_configure(workspace, round % 4, 1) == BPE_OK);
        REQUIRE(bpe_pieces_encode(all->pieces, all->match, NULL, NULL, workspace, all->text, N_TEXT,
                                  &ids, &n, NULL) == BPE_OK);
        REQUIRE(n == all->n_ids && memcmp(ids, all->ids, n * sizeof *ids) == 0);
        uint32_t at_start = 1;
        uint8_t *text;
        REQUIRE(bpe_pieces_decode(all->pieces, ids, n, 1, &at_start, &text, &size, NULL) == BPE_OK);
        bpe_pieces_free_text(text);
        bpe_dropout dropout = {0.3, round};
        REQUIRE(bpe_pieces_encode(all->pieces, NULL, NULL, &dropout, workspace, all->text, N_TEXT,
                                  &ids, &n, NULL) == BPE_OK);
    }
    bpe_pieces_workspace_free(workspace);
    return NULL;
}

TEST(threads_share_codepoint_models) {
    static shared all;
    const char *const parts[] = {"ab", "a", "b", " ", "\n", "<s>", "<user>", "\xC3\xA9", "\xFF"};
    uint32_t length = 3, id = 1, draw = 1;
    for (size_t n = 0; n < N_TEXT;) {
        draw = draw * 1664525u + 1013904223u;
        const char *part = parts[(draw >> 16) % (sizeof parts / sizeof *parts)];
        for (; *part && n < N_TEXT; part++)
            all.text[n++] = (uint8_t)*part;
    }
    bpe_pieces *pieces = new_pieces();
    bpe_match *match = NULL;
    bpe_pieces_workspace *workspace = NULL;
    const uint32_t *ids;
    REQUIRE(bpe_match_new((const uint8_t *)"<s>", &length, &id, 1, &match, NULL) == BPE_OK);
    REQUIRE(bpe_pieces_workspace_new(pieces, &workspace) == BPE_OK);
    REQUIRE(bpe_pieces_encode(pieces, match, NULL, NULL, workspace, all.text, N_TEXT, &ids,
                              &all.n_ids, NULL) == BPE_OK);
    all.ids = malloc(all.n_ids * sizeof *ids);
    REQUIRE(all.ids && all.n_ids > 0);
    memcpy(all.ids, ids, all.n_ids * sizeof *ids);
    bpe_pieces_workspace_free(workspace);
    all.pieces = pieces;
    all.match = match;

    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work, &all) == 0);
    for (int i = 0; i < N_THREADS; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    free(all.ids);
    bpe_match_free(match);
    bpe_pieces_free(pieces);
}

int main(void) {
    RUN(threads_share_codepoint_models);
    return harness_end();
}
