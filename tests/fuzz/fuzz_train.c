/* Count and train: a text cut into pretokens, whole or in blocks, or words with frequencies. Every
 * merge is the one that counting anew gives, and the merges do not depend on how work is divided.
 */
#include "fuzz.h"

enum { WORDS = 60, TEXT = 400, MERGES = 40, IDS = 256 + MERGES };

typedef struct word {
    uint32_t ids[TEXT];
    size_t n;
    uint64_t count;
} word;

static word words[TEXT]; /* in the order of first positions */
static size_t n_words;

/* Spaces begin words. */
static bpe_split *space_split(void) {
    static const uint32_t starts[] = {0, ' ', ' ' + 1};
    static const uint8_t ids[] = {0, 1, 0};
    static const uint16_t t[3 * 3] = {0, 0, 0, 2, 2, 0, 2, 0x8000, 0x8000};
    bpe_split_stage stage = {starts, ids, 3, 2, 3, t, 0, 0};
    bpe_split *split = NULL;
    FUZZ_CHECK(bpe_split_new(&stage, 1, &split, NULL) == BPE_OK);
    return split;
}

/* ---------------------------------------------------------------- counts of the input */

static void count_text(bpe_counts *counts, const bpe_split *split, const uint8_t *text, size_t n,
                       size_t block) {
    size_t begin = 0, known = 0;
    while (known < n) {
        known = n - known > block ? known + block : n;
        uint8_t *part = fuzz_array(known - begin, 1);
        memcpy(part, text + begin, known - begin);
        size_t consumed = 0;
        FUZZ_CHECK(bpe_counts_add_text(counts, split, NULL, part, known - begin, begin, known < n,
                                       &consumed) == BPE_OK);
        FUZZ_CHECK(consumed <= known - begin && (known < n || consumed == known - begin));
        begin += consumed;
        free(part);
    }
}

/* Words with frequencies from 1 to huge; their positions run backwards if `backwards`. */
static void count_words(bpe_counts *counts, const uint8_t *text, size_t n, bool backwards) {
    for (size_t i = 0, at = 0; i < WORDS && at < n; i++) {
        uint8_t x = text[at++];
        size_t length = x % 16u + (x % 16 == 15 ? 40 : 0);
        uint64_t frequency = x < 0xC0 ? 1u + (x >> 4) : (uint64_t)x << (x % 40);
        length = length < n - at ? length : n - at;
        size_t offsets[2] = {at, at + length};
        FUZZ_CHECK(bpe_counts_add_frequencies(counts, text, offsets, &frequency, 1,
                                              backwards ? WORDS - i : i, NULL) == BPE_OK);
        at += length;
    }
}

static void load_words(const bpe_counts *counts, const bpe_counts *same) {
    size_t n = bpe_counts_size(counts), size = bpe_counts_bytes(counts);
    uint8_t *data = fuzz_array(size, 1), *data2 = fuzz_array(size, 1);
    size_t *offsets = fuzz_array(n + 1, sizeof *offsets);
    uint64_t *numbers = fuzz_array(4 * n, sizeof *numbers), total = 0;
    FUZZ_CHECK(bpe_counts_export(counts, data, offsets, numbers, numbers + n) == BPE_OK);
    n_words = n;
    FUZZ_CHECK(n <= TEXT && offsets[n] == size);
    for (size_t i = 0; i < n; i++) {
        words[i].n = offsets[i + 1] - offsets[i];
        words[i].count = numbers[i];
        total += numbers[i];
        for (size_t k = 0; k < words[i].n; k++)
            words[i].ids[k] = data[offsets[i] + k];
        FUZZ_CHECK(words[i].n > 0 && (i == 0 || numbers[n + i] > numbers[n + i - 1]));
    }
    FUZZ_CHECK(bpe_counts_total(counts) == total);
    /* Another table, filled in another way, holds the same. */
    FUZZ_CHECK(bpe_counts_size(same) == n && bpe_counts_bytes(same) == size);
    FUZZ_CHECK(bpe_counts_export(same, data2, offsets, numbers + 2 * n, numbers + 3 * n) == BPE_OK);
    FUZZ_CHECK(fuzz_same(data, size, data2, size));
    FUZZ_CHECK(fuzz_same(numbers, 16 * n, numbers + 2 * n, 16 * n));
    free(data);
    free(data2);
    free(offsets);
    free(numbers);
}

/* ---------------------------------------------------------------- the slow way */

static uint64_t pair_counts[IDS][IDS];
static size_t lengths[IDS]; /* of tokens in bytes */

/* The pair to merge, by counting anew; its count, or 0. */
static uint64_t slow_best(const bpe_trainer_options *options, uint32_t best[2]) {
    size_t longest = options->max_token_bytes ? options->max_token_bytes : SIZE_MAX;
    memset(pair_counts, 0, sizeof pair_counts);
    uint64_t most = 0;
    for (size_t w = 0; w < n_words; w++) {
        for (size_t i = 0; i + 1 < words[w].n; i++)
            pair_counts[words[w].ids[i]][words[w].ids[i + 1]] += words[w].count;
    }
    for (size_t w = 0; w < n_words; w++) {
        for (size_t i = 0; i + 1 < words[w].n; i++) {
            uint32_t a = words[w].ids[i], b = words[w].ids[i + 1];
            uint64_t count = pair_counts[a][b];
            bool lower = a < best[0] || (a == best[0] && b < best[1]);
            bool tied = count == most && options->ties == BPE_TIES_LOWEST && lower;
            if ((count > most || tied) && lengths[a] + lengths[b] <= longest) {
                most = count;
                best[0] = a;
                best[1] = b;
            }
        }
    }
    return most;
}

static void slow_merge(uint32_t a, uint32_t b, uint32_t made) {
    for (size_t w = 0; w < n_words; w++) {
        size_t out = 0;
        for (size_t i = 0; i < words[w].n; i++) {
            bool here = i + 1 < words[w].n && words[w].ids[i] == a && words[w].ids[i + 1] == b;
            words[w].ids[out++] = here ? made : words[w].ids[i];
            i += here;
        }
        words[w].n = out;
    }
}

static bool any_pair(void) {
    for (size_t w = 0; w < n_words; w++) {
        if (words[w].n > 1)
            return true;
    }
    return false;
}

static void check_training(const bpe_counts *counts, const bpe_trainer_options *options,
                           uint64_t budget) {
    bpe_trainer *t = NULL;
    FUZZ_CHECK(bpe_trainer_new(counts, options, &t, NULL) == BPE_OK);
    while (bpe_trainer_stop(t) == BPE_STOP_NONE)
        FUZZ_CHECK(bpe_trainer_run(t, budget) == BPE_OK);
    size_t n = bpe_trainer_n_merges(t);
    const uint32_t *merges = bpe_trainer_merges(t);
    const uint64_t *merge_counts = bpe_trainer_merge_counts(t);
    FUZZ_CHECK(n <= options->n_merges);
    uint64_t least = options->min_frequency ? options->min_frequency : 1, count;
    uint32_t best[2] = {0};
    for (size_t i = 0; i < n; i++) {
        count = slow_best(options, best);
        FUZZ_CHECK(count >= least && merge_counts[i] == count);
        FUZZ_CHECK(merges[2 * i] == best[0] && merges[2 * i + 1] == best[1]);
        slow_merge(best[0], best[1], (uint32_t)(256 + i));
        lengths[256 + i] = lengths[best[0]] + lengths[best[1]];
    }
    uint32_t stop = BPE_STOP_REACHED;
    if (n < options->n_merges) {
        count = slow_best(options, best);
        FUZZ_CHECK(count < least);
        stop = count > 0    ? BPE_STOP_MIN_FREQUENCY
               : any_pair() ? BPE_STOP_TOKEN_BYTES
                            : BPE_STOP_EXHAUSTED;
    }
    FUZZ_CHECK(bpe_trainer_stop(t) == stop);
    bpe_trainer_free(t);
}

static void fuzz(fuzz_input *in) {
    static uint32_t byte_ids[256];
    for (uint32_t b = 0; b < 256; b++) {
        byte_ids[b] = b;
        lengths[b] = 1;
    }
    uint32_t kind = fuzz_byte(in);
    bpe_trainer_options options = {
        .n_merges = fuzz_below(in, MERGES + 1),
        .min_frequency = fuzz_below(in, 6),
        .ties = kind & 1 ? BPE_TIES_FIRST : BPE_TIES_LOWEST,
        .byte_ids = byte_ids,
        .max_token_bytes = kind >> 4, /* 0: no limit */
    };
    uint64_t budget = 1u + fuzz_byte(in);
    size_t block = 1u + fuzz_byte(in), n;
    uint8_t *text = fuzz_bytes(in, TEXT, &n);
    for (size_t i = 0; kind & 2 && i < n; i++) /* few letters, so that pairs come up */
        text[i] = (uint8_t)(" aaabbc\xFF"[text[i] % 8]);
    bpe_counts *counts = NULL, *other = NULL, *merged = NULL;
    FUZZ_CHECK(bpe_counts_new(&counts) == BPE_OK && bpe_counts_new(&other) == BPE_OK);
    FUZZ_CHECK(bpe_counts_new_beside(other, &merged) == BPE_OK);
    bpe_split *split = space_split();
    if (kind & 4) {
        count_text(counts, split, text, n, n + 1);
        count_text(other, split, text, n, block);
    } else {
        count_words(counts, text, n, kind & 8);
        count_words(other, text, n, kind & 8);
    }
    FUZZ_CHECK(bpe_counts_merge(merged, other) == BPE_OK);
    load_words(counts, merged);
    check_training(counts, &options, budget);
    bpe_counts_free(counts);
    bpe_counts_free(other);
    bpe_counts_free(merged);
    bpe_split_free(split);
    free(text);
}

FUZZ_TARGET(fuzz)
