/* What the C drivers share: reading files and the tables of a split, and a clock. */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bpe.h"

static inline uint8_t *read_file(const char *name, size_t *n) {
    FILE *f = fopen(name, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        perror(name);
        exit(1);
    }
    *n = (size_t)ftell(f);
    rewind(f);
    uint8_t *data = malloc(*n + 1);
    if (!data || fread(data, 1, *n, f) != *n) {
        perror(name);
        exit(1);
    }
    fclose(f);
    return data;
}

/* A copy of n bytes of a file that stands where any type may. */
static inline void *copied(const uint8_t **at, size_t n) {
    void *out = malloc(n + 1);
    if (!out) {
        perror("memory");
        exit(1);
    }
    memcpy(out, *at, n);
    *at += n;
    return out;
}

static inline uint32_t take_number(const uint8_t **at) {
    uint32_t number;
    memcpy(&number, *at, sizeof number);
    *at += sizeof number;
    return number;
}

/* Make a split of what dump.py wrote at *at, and go behind it. The file is believed: it was made a
 * moment ago, on this machine. */
static inline bpe_split *take_split(const uint8_t **at) {
    bpe_split_stage stages[BPE_MAX_STAGES] = {0};
    uint32_t *starts[BPE_MAX_STAGES];
    uint16_t *steps[BPE_MAX_STAGES];
    uint8_t *ids[BPE_MAX_STAGES];
    uint32_t n_stages = take_number(at);
    if (n_stages > BPE_MAX_STAGES) {
        fprintf(stderr, "this is no dump, or one of another version\n");
        exit(1);
    }
    for (uint32_t i = 0; i < n_stages; i++) {
        uint32_t n[6]; /* runs, classes, states, transitions, behaviour, over bytes */
        for (int k = 0; k < 6; k++)
            n[k] = take_number(at);
        starts[i] = copied(at, n[0] * sizeof *starts[i]);
        steps[i] = copied(at, n[3] * sizeof *steps[i]);
        ids[i] = copied(at, n[0]);
        stages[i] = (bpe_split_stage){starts[i], ids[i], n[0], n[1], n[2], steps[i], n[4], n[5]};
    }
    bpe_split *split;
    bpe_error err;
    if (bpe_split_new(stages, n_stages, &split, &err) != BPE_OK) {
        fprintf(stderr, "no split (%d at %zu)\n", (int)err.code, err.pos);
        exit(1);
    }
    for (uint32_t i = 0; i < n_stages; i++) {
        free(starts[i]);
        free(steps[i]);
        free(ids[i]);
    }
    return split;
}

/* Processor time: the machine may be busy with other things. */
static inline double now(void) { return (double)clock() / CLOCKS_PER_SEC; }

#endif
