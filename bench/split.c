/*
 * How fast text is split, for profiling:
 *
 *     cc -std=c11 -O3 -g -Icsrc bench/split.c csrc/[a-z]*.c -o build/split
 *     python bench/dump.py cl100k build/cl100k.split
 *     build/split build/cl100k.split TEXT [BYTES [WAY ...]]
 *
 * The text is cut into texts of BYTES (0, or nothing: a single one).
 * Each way (BPE_SIMD_*; all that the machine has, if none is named) goes over the text in turn, as
 * encoding does, 256 pretokens at a time; twenty rounds, the best one counts. The text is read as a
 * whole first. Prints MB/s and the sum of the ends, which all ways must share.
 */
#include <inttypes.h>

#include "driver.h"
#include "split.h"

#define ROUNDS 20
#define BATCH 256
#define WAYS (BPE_SIMD_NEON + 1)

static bpe_split *read_split(const char *name) {
    size_t n;
    uint8_t *data = read_file(name, &n);
    const uint8_t *at = data;
    bpe_split *split = take_split(&at);
    free(data);
    return split;
}

static double walk(const bpe_split *split, const uint8_t *data, size_t n, size_t piece,
                   uint64_t *sum, size_t *count) {
    size_t starts[BATCH], ends[BATCH];
    double begun = now();
    *sum = *count = 0;
    for (size_t from = 0; from < n; from += piece) {
        bpe_split_cursor cursor;
        size_t to = n - from < piece ? n : from + piece, got;
        bpe_split_begin(&cursor, split, data, from, to, false);
        do {
            got = bpe_split_drops(split) ? bpe_split_next_spans(&cursor, starts, ends, BATCH)
                                         : bpe_split_next(&cursor, ends, BATCH);
            for (size_t i = 0; i < got; i++)
                *sum += ends[i];
            *count += got;
        } while (got == BATCH);
        bpe_split_end(&cursor);
    }
    return now() - begun;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "split TABLES TEXT [bytes to a text [way ...]]\n");
        return 2;
    }
    double begun = now();
    bpe_split *split = read_split(argv[1]);
    printf("built in %.2f ms\n", (now() - begun) * 1e3);
    size_t n;
    uint8_t *data = read_file(argv[2], &n);
    size_t piece = argc > 3 ? (size_t)strtoull(argv[3], NULL, 10) : 0;
    if (piece == 0)
        piece = n;
    double best[WAYS] = {0};
    uint64_t sums[WAYS];
    size_t counts[WAYS];
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t way = 0; way < WAYS; way++) {
            bool wanted = argc <= 4;
            for (int i = 4; i < argc; i++)
                wanted |= (uint32_t)atoi(argv[i]) == way;
            if (!wanted || bpe_split_use_simd(split, way) != BPE_OK ||
                (way && bpe_split_simd(split) == BPE_SIMD_SCALAR))
                continue;
            double t = walk(split, data, n, piece, &sums[way], &counts[way]);
            best[way] = best[way] == 0 || t < best[way] ? t : best[way];
        }
    }
    for (int way = 0; way < WAYS; way++) {
        if (best[way] > 0)
            printf("way %d: %7.0f MB/s  %zu pretokens  %016" PRIx64 "\n", way,
                   (double)n / best[way] / 1e6, counts[way], sums[way]);
    }
    free(data);
    bpe_split_free(split);
    return 0;
}
