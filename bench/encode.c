/*
 * How fast text is encoded, for profiling without Python:
 *
 *     cc -std=c11 -O3 -g -Icsrc bench/encode.c csrc/[a-z]*.c -o build/encode
 *     python bench/dump.py MODEL build/model.dump
 *     build/encode build/model.dump TEXT [BYTES [CACHE [ROUNDS]]]
 *
 * The text is cut into texts of BYTES (0, or nothing: a single one), cut between two characters,
 * and goes through once with a new workspace, whose cache has CACHE bytes (0, or nothing: the
 * default). The best of ROUNDS counts (nothing: 5), each with a workspace of its own. Prints MB/s,
 * the number of ids and a checksum of them, which must not change when the code does.
 */
#include <inttypes.h>

#include "driver.h"

static bpe_model *take_model(const uint8_t **at) {
    uint32_t ranks = take_number(at), whole = take_number(at), n_data = take_number(at);
    uint32_t n_tokens = take_number(at), n_merges = take_number(at);
    uint32_t *lengths = copied(at, n_tokens * sizeof *lengths);
    uint32_t *ids = copied(at, n_tokens * sizeof *ids);
    uint32_t *merges = copied(at, 2 * (size_t)n_merges * sizeof *merges);
    uint32_t *merge_ids = copied(at, n_merges * sizeof *merge_ids);
    bpe_model_spec spec = {
        .semantics = ranks ? BPE_SEMANTICS_RANKS : BPE_SEMANTICS_MERGES,
        .whole_pretoken = whole,
        .token_data = *at,
        .token_data_size = n_data,
        .token_lengths = lengths,
        .token_ids = ids,
        .n_tokens = n_tokens,
        .merges = merges,
        .merge_ids = merge_ids,
        .n_merges = n_merges,
        .symbols = BPE_SYMBOLS_BYTES,
        .unknown = BPE_NO_ID,
    };
    bpe_model *model;
    bpe_error err;
    if (bpe_model_new(&spec, &model, &err) != BPE_OK) {
        fprintf(stderr, "no model (%d at %zu)\n", (int)err.code, err.pos);
        exit(1);
    }
    free(lengths);
    free(ids);
    free(merges);
    free(merge_ids);
    return model;
}

typedef struct sums {
    size_t n_ids;
    uint64_t checksum;
    double seconds; /* without the checksum's */
} sums;

/* Where the text of `piece` bytes from `from` on ends: not within a character. */
static size_t end_of(const uint8_t *data, size_t from, size_t n, size_t piece) {
    size_t to = n - from <= piece ? n : from + piece;
    while (to < n && (data[to] & 0xC0) == 0x80)
        to++;
    return to;
}

static sums encode(const bpe_model *model, const bpe_split *split, const uint8_t *data, size_t n,
                   size_t piece, size_t cache, uint32_t *ids) {
    sums s = {0, 0, 0};
    bpe_workspace *workspace;
    if (bpe_workspace_new(model, &workspace) != BPE_OK ||
        (cache && bpe_workspace_resize(workspace, cache) != BPE_OK)) {
        fprintf(stderr, "no memory for a workspace\n");
        exit(1);
    }
    for (size_t from = 0, to; from < n; from = to) {
        to = end_of(data, from, n, piece);
        size_t got;
        bpe_error err;
        double begun = now();
        if (bpe_encode(model, split, NULL, NULL, workspace, data + from, to - from, ids, to - from,
                       &got, &err) != BPE_OK) {
            fprintf(stderr, "not encoded (%d at %zu)\n", (int)err.code, from + err.pos);
            exit(1);
        }
        s.seconds += now() - begun;
        for (size_t i = 0; i < got; i++)
            s.checksum = (s.checksum ^ ids[i]) * 0x100000001B3u;
        s.n_ids += got;
    }
    bpe_workspace_free(workspace);
    return s;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "encode DUMP TEXT [bytes to a text [bytes of cache [rounds]]]\n");
        return 2;
    }
    size_t given[3] = {0, 0, 5};
    for (int i = 3; i < argc && i < 6; i++)
        given[i - 3] = (size_t)strtoull(argv[i], NULL, 10);
    size_t n_dump, n;
    uint8_t *dump = read_file(argv[1], &n_dump), *data = read_file(argv[2], &n);
    const uint8_t *at = dump;
    bpe_split *split = take_split(&at);
    if (at == dump + n_dump) {
        fprintf(stderr, "%s has a split, but no model\n", argv[1]);
        return 1;
    }
    double begun = now();
    bpe_model *model = take_model(&at);
    printf("model built in %.1f ms\n", (now() - begun) * 1e3);
    size_t piece = given[0] ? given[0] : n;
    uint32_t *ids = malloc((n + 1) * sizeof *ids);
    if (!ids) {
        perror("memory");
        return 1;
    }
    memset(ids, 0, (n + 1) * sizeof *ids); /* the first round should not wait for pages */
    sums best = {0, 0, 0};
    for (size_t round = 0; round < given[2] || round == 0; round++) {
        sums s = encode(model, split, data, n, piece, given[1], ids);
        if (round == 0 || s.seconds < best.seconds)
            best = s;
    }
    printf("%.0f MB/s  %zu ids  %016" PRIx64 "\n", (double)n / best.seconds / 1e6, best.n_ids,
           best.checksum);
    free(ids);
    free(data);
    free(dump);
    bpe_model_free(model);
    bpe_split_free(split);
    return 0;
}
