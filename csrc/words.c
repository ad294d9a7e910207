#include "words.h"

#include "memory.h"
#include "workspace.h"

#define MAX_SLOTS UINT32_MAX
#define AHEAD 16 /* entries to prefetch ahead */

/* ---------------------------------------------------------------- looking up */

/* The index of the last of n ascending starts that is not after p; there is one. */
static size_t last_start(const uint32_t *starts, size_t n, uint32_t p) {
    size_t low = 0, high = n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (starts[middle] <= p) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

uint32_t bpe_words_long_start(bpe_words *words, uint32_t p) {
    /* Positions come in ascending order, so the word that was asked for last is a good guess. */
    const uint32_t *starts = words->long_starts;
    size_t i = words->last_long;
    if (starts[i] > p || (i + 1 < words->n_long && starts[i + 1] <= p)) {
        i = last_start(starts, words->n_long, p);
        words->last_long = i;
    }
    return starts[i];
}

uint64_t bpe_words_heavy_count(const bpe_words *words, uint32_t start) {
    return words->heavy_counts[last_start(words->heavy_starts, words->n_heavy, start)];
}

/* ---------------------------------------------------------------- building */

/* What the words will need: slots, and how many of them are long or heavy. */
static bpe_status measure(bpe_words *words, const bpe_counts *counts,
                          const bpe_count_entry **entries) {
    uint64_t n_slots = 0, n_pairs = 0;
    for (size_t i = 0; i < counts->n; i++) {
        size_t n;
        bpe_count_bytes(counts, entries[i], &n);
        if (n < 2)
            continue; /* nothing to merge */
        uint64_t room = (uint64_t)INT64_MAX - n_pairs;
        if (n > MAX_SLOTS - 2 || n_slots > MAX_SLOTS - 2 - n ||
            entries[i]->count > room / (n - 1)) {
            return BPE_ERR_LIMIT;
        }
        n_slots += n + 2;
        n_pairs += entries[i]->count * (n - 1);
        words->n_long += n > BPE_DISTANCE_MAX;
        words->n_heavy += entries[i]->count >= BPE_HEAVY;
    }
    words->n_slots = (size_t)n_slots;
    return BPE_OK;
}

static void lay(bpe_words *words, const bpe_counts *counts, const bpe_count_entry **entries,
                const uint32_t *byte_ids) {
    size_t n_long = 0, n_heavy = 0;
    uint32_t *slots = words->slots;
    uint32_t p = 0;
    for (size_t i = 0; i < counts->n; i++) {
        if (i + AHEAD < counts->n)
            bpe_prefetch(entries[i + AHEAD]);
        size_t n;
        const uint8_t *bytes = bpe_count_bytes(counts, entries[i], &n);
        if (n < 2)
            continue;
        uint64_t count = entries[i]->count;
        bool heavy = count >= BPE_HEAVY;
        slots[p++] = heavy ? BPE_HEAVY : (uint32_t)count;
        if (n > BPE_DISTANCE_MAX)
            words->long_starts[n_long++] = p;
        if (heavy) {
            words->heavy_starts[n_heavy] = p;
            words->heavy_counts[n_heavy++] = count;
        }
        for (size_t k = 0; k < n; k++) {
            uint32_t distance = k < BPE_DISTANCE_MAX ? (uint32_t)k : BPE_DISTANCE_MAX;
            slots[p++] = distance << BPE_DISTANCE_SHIFT | byte_ids[bytes[k]];
        }
        slots[p++] = BPE_SLOT_NONE;
    }
}

/* Put the tokens of a word over its bytes. Its first slot is p. */
static void lay_tokens(bpe_words *words, size_t p, const uint32_t *ids, size_t n_ids,
                       const bpe_vocab *vocab) {
    for (size_t i = 0; i < n_ids; i++) {
        size_t length = vocab->by_id[ids[i]].length, end = p + length;
        bpe_slot_set(words, p, ids[i]);
        for (p++; p < end; p++)
            bpe_slot_set(words, p, BPE_SLOT_NONE);
        bpe_slot_set(words, end - 1, ids[i]);
    }
}

/* Encode every word; no two are equal. */
static bpe_status encode_words(bpe_words *words, const bpe_counts *counts,
                               const bpe_count_entry **entries, const bpe_model *model) {
    bpe_workspace *workspace = NULL;
    uint32_t *ids = NULL;
    size_t cap = 0, n_ids, p = 1;
    bpe_status status = bpe_workspace_new_bare(model, &workspace);
    for (size_t i = 0; i < counts->n && status == BPE_OK; i++) {
        size_t n;
        const uint8_t *bytes = bpe_count_bytes(counts, entries[i], &n);
        if (n < 2)
            continue;
        if (!bpe_mem_grow((void **)&ids, &cap, n, sizeof *ids)) {
            status = BPE_ERR_NOMEM;
            break;
        }
        status = bpe_encode_pretokens(model, workspace, bytes, n, &n, 1, ids, n, &n_ids, NULL);
        if (status == BPE_OK)
            lay_tokens(words, p, ids, n_ids, &model->vocab);
        p += n + 2;
    }
    bpe_workspace_free(workspace);
    bpe_mem_free(ids);
    return status;
}

static bpe_status init_in_order(bpe_words *words, const bpe_counts *counts,
                                const bpe_count_entry **entries, const uint32_t *byte_ids,
                                const bpe_model *initial) {
    bpe_status status = measure(words, counts, entries);
    if (status != BPE_OK)
        return status;
    words->slots = bpe_mem_table(words->n_slots + BPE_SLOTS_SPARE, sizeof *words->slots);
    words->long_starts = bpe_mem_array(words->n_long, sizeof *words->long_starts);
    words->heavy_starts = bpe_mem_array(words->n_heavy, sizeof *words->heavy_starts);
    words->heavy_counts = bpe_mem_array(words->n_heavy, sizeof *words->heavy_counts);
    if (!words->slots || !words->long_starts || !words->heavy_starts || !words->heavy_counts) {
        return BPE_ERR_NOMEM;
    }
    lay(words, counts, entries, initial ? initial->vocab.byte_ids : byte_ids);
    return initial ? encode_words(words, counts, entries, initial) : BPE_OK;
}

bpe_status bpe_words_init(bpe_words *words, const bpe_counts *counts, const uint32_t *byte_ids,
                          const bpe_model *initial) {
    const bpe_count_entry **entries = bpe_counts_ordered(counts);
    if (!entries)
        return BPE_ERR_NOMEM;
    bpe_status status = init_in_order(words, counts, entries, byte_ids, initial);
    bpe_mem_free((void *)entries);
    return status;
}

void bpe_words_free(bpe_words *words) {
    bpe_mem_free(words->slots);
    bpe_mem_free(words->long_starts);
    bpe_mem_free(words->heavy_starts);
    bpe_mem_free(words->heavy_counts);
}
