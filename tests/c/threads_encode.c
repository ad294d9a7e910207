/*
 * Many threads, one model, one split, one matcher: what bpe.h says of const objects. Run under
 * ThreadSanitizer (`make tsan`), which reports any access that two threads do not agree on.
 */
#include <pthread.h>

#include "harness.h"

#include "bpe.h"

#define N_THREADS 4
#define N_ROUNDS 50
#define N_TEXT 3000

static const char *const made[] = {"ab", "abab", "ba", "aa", "aaaa", "  ", "\n\n"};
static const uint8_t special[] = "<|end|>";

typedef struct shared {
    const bpe_model *model;
    const bpe_split *split;
    const bpe_match *match;
    uint8_t text[N_TEXT];
    uint32_t ids[N_TEXT];
    size_t n_ids;
} shared;

static bpe_model *new_model(void) {
    uint8_t data[512];
    uint32_t lengths[300], ids[300], special_length = 7, special_id = 1000;
    size_t size = 0, n = 0;
    for (; n < 256; n++) {
        data[size++] = (uint8_t)n;
        lengths[n] = 1;
    }
    for (size_t i = 0; i < sizeof made / sizeof *made; i++, n++) {
        lengths[n] = (uint32_t)strlen(made[i]);
        memcpy(data + size, made[i], lengths[n]);
        size += lengths[n];
    }
    for (size_t i = 0; i < n; i++)
        ids[i] = (uint32_t)i;
    bpe_model_spec spec = {
        .semantics = BPE_SEMANTICS_RANKS,
        .whole_pretoken = 1,
        .token_data = data,
        .token_data_size = size,
        .token_lengths = lengths,
        .token_ids = ids,
        .n_tokens = n,
        .extra_data = special,
        .extra_data_size = 7,
        .extra_lengths = &special_length,
        .extra_ids = &special_id,
        .n_extra = 1,
    };
    bpe_model *model = NULL;
    REQUIRE(bpe_model_new(&spec, &model, NULL) == BPE_OK);
    return model;
}

/* Encode with a workspace of its own, decode, and compare with what one thread found before. */
static void *work(void *argument) {
    const shared *all = argument;
    uint32_t ids[N_TEXT];
    uint8_t back[N_TEXT];
    bpe_workspace *workspace = NULL;
    REQUIRE(bpe_workspace_new(all->model, &workspace) == BPE_OK);
    for (int round = 0; round < N_ROUNDS; round++) {
        size_t n = 0, size = 0;
        REQUIRE(bpe_encode(all->model, all->split, all->match, NULL, workspace, all->text, N_TEXT,
                           ids, N_TEXT, &n, NULL) == BPE_OK);
        REQUIRE(n == all->n_ids && memcmp(ids, all->ids, n * sizeof *ids) == 0);
        REQUIRE(bpe_decode(all->model, ids, n, back, N_TEXT, &size, NULL) == BPE_OK);
        REQUIRE(size == N_TEXT && memcmp(back, all->text, size) == 0);
    }
    bpe_workspace_free(workspace);
    return NULL;
}

TEST(threads_share_a_model) {
    static shared all;
    const char *const parts[] = {"ab", "a", "b", " ", "\n", "<|end|>", "<|e", "\xC3\xA9", "\xFF"};
    uint32_t length = 7, id = 1000, draw = 1;
    for (size_t n = 0; n < N_TEXT;) {
        draw = draw * 1664525u + 1013904223u;
        const char *part = parts[(draw >> 16) % (sizeof parts / sizeof *parts)];
        for (; *part && n < N_TEXT; part++)
            all.text[n++] = (uint8_t)*part;
    }
    bpe_model *model = new_model();
    bpe_split *split = NULL;
    bpe_match *match = NULL;
    bpe_workspace *workspace = NULL;
    REQUIRE(bpe_split_new(NULL, 0, &split, NULL) == BPE_OK);
    REQUIRE(bpe_match_new(special, &length, &id, 1, &match, NULL) == BPE_OK);
    REQUIRE(bpe_workspace_new(model, &workspace) == BPE_OK);
    REQUIRE(bpe_encode(model, split, match, NULL, workspace, all.text, N_TEXT, all.ids, N_TEXT,
                       &all.n_ids, NULL) == BPE_OK);
    CHECK(all.n_ids > 0 && all.n_ids < N_TEXT);
    bpe_workspace_free(workspace);
    all.model = model;
    all.split = split;
    all.match = match;

    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work, &all) == 0);
    for (int i = 0; i < N_THREADS; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    bpe_match_free(match);
    bpe_split_free(split);
    bpe_model_free(model);
}

int main(void) {
    RUN(threads_share_a_model);
    return harness_end();
}
