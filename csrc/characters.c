#include "characters.h"

#include <string.h>

#include "memory.h"
#include "utf8.h"

#define N_CODEPOINTS 0x110000
#define MAX_SLOTS UINT32_MAX
#define BATCH 4096

/* A space stands for the mark. */
static inline size_t read_character(const uint8_t *p, const uint8_t *end, uint32_t *c) {
    size_t n = bpe_utf8_decode(p, end, c);
    if (*c == ' ')
        *c = BPE_MARK_CODEPOINT;
    return n;
}

/* ---------------------------------------------------------------- counting characters */

static bpe_status count_characters(const bpe_counts *counts, uint64_t *table) {
    uint64_t total = 0;
    for (size_t i = 0; i < (size_t)1 << counts->bits; i++) {
        const bpe_count_entry *entry = &counts->slots[i];
        if (entry->count == 0)
            continue;
        size_t n;
        const uint8_t *p = bpe_count_bytes(counts, entry, &n), *end = p + n;
        if (entry->count > (UINT64_MAX - total) / n)
            return BPE_ERR_LIMIT;
        total += entry->count * n;
        while (p < end) {
            uint32_t c;
            size_t length = read_character(p, end, &c);
            if (length > 1 || *p < 0x80)
                table[c] += entry->count;
            p += length;
        }
    }
    return BPE_OK;
}

bpe_status bpe_counts_characters(const bpe_counts *counts, uint32_t *codepoints,
                                 uint64_t *frequencies, size_t *n) {
    uint64_t *table = bpe_mem_zeroed(N_CODEPOINTS, sizeof *table);
    if (!table)
        return BPE_ERR_NOMEM;
    bpe_status status = count_characters(counts, table);
    size_t found = 0;
    for (uint32_t c = 0; c < N_CODEPOINTS && status == BPE_OK; c++) {
        if (table[c] == 0)
            continue;
        codepoints[found] = c;
        frequencies[found++] = table[c];
    }
    bpe_mem_free(table);
    if (status == BPE_OK)
        *n = found;
    return status;
}

/* ---------------------------------------------------------------- cutting words */

/* id + 1 of each character; 0: not in the alphabet. */
static uint32_t *make_ids(const bpe_pieces_trainer_spec *spec) {
    uint32_t *ids = bpe_mem_zeroed(N_CODEPOINTS, sizeof *ids);
    for (size_t i = 0; ids && i < spec->n_characters; i++)
        ids[spec->codepoints[i]] = (uint32_t)i + 1;
    return ids;
}

/* Whether no piece has b right behind a. */
static bool parts(const bpe_joins *joins, uint32_t a, uint32_t b) {
    const bpe_join_symbol *left = &joins->symbols[a], *right = &joins->symbols[b];
    if (joins->rules & BPE_JOIN_NO_DIGITS && (left->has_digit || right->has_digit))
        return true;
    return joins->rules & BPE_JOIN_SCRIPTS && left->last != BPE_CLASS_ANY &&
           right->first < BPE_CLASS_ANY && left->last != right->first;
}

/* Parts of words on their way into a table. */
typedef struct part_batch {
    uint8_t *bytes;
    size_t n_bytes;
    size_t cap;
    size_t offsets[BATCH + 1];
    uint64_t frequencies[BATCH];
    size_t n;
} part_batch;

static bpe_status flush(part_batch *batch, bpe_counts *out) {
    bpe_status status = bpe_counts_add_frequencies(out, batch->bytes, batch->offsets,
                                                   batch->frequencies, batch->n, 0, NULL);
    batch->n = batch->n_bytes = 0;
    return status;
}

static bpe_status add_part(part_batch *batch, bpe_counts *out, const uint8_t *p, size_t n,
                           uint64_t frequency) {
    if (!bpe_mem_grow((void **)&batch->bytes, &batch->cap, batch->n_bytes + n, 1))
        return BPE_ERR_NOMEM;
    memcpy(batch->bytes + batch->n_bytes, p, n);
    batch->n_bytes += n;
    batch->frequencies[batch->n] = frequency;
    batch->offsets[++batch->n] = batch->n_bytes;
    return batch->n == BATCH ? flush(batch, out) : BPE_OK;
}

/* Cut one word. */
static bpe_status cut_word(const bpe_joins *joins, const uint32_t *ids, const uint8_t *p, size_t n,
                           uint64_t frequency, part_batch *batch, bpe_counts *out) {
    const uint8_t *end = p + n, *start = p;
    size_t n_characters = 0; /* since start */
    uint32_t before = 0;
    bpe_status status = BPE_OK;
    while (p < end && status == BPE_OK) {
        uint32_t c;
        size_t length = read_character(p, end, &c);
        uint32_t id = length > 1 || *p < 0x80 ? ids[c] : 0;
        if (id == 0 || (n_characters > 0 && parts(joins, before - 1, id - 1))) {
            if (n_characters > 1)
                status = add_part(batch, out, start, (size_t)(p - start), frequency);
            n_characters = 0;
            start = id == 0 ? p + length : p;
        }
        n_characters += id != 0;
        before = id;
        p += length;
    }
    if (n_characters > 1 && status == BPE_OK)
        status = add_part(batch, out, start, (size_t)(p - start), frequency);
    return status;
}

static bpe_status cut_words(const bpe_counts *counts, const bpe_joins *joins, const uint32_t *ids,
                            bpe_counts *out) {
    part_batch *batch = bpe_mem_zeroed(1, sizeof *batch);
    if (!batch)
        return BPE_ERR_NOMEM;
    bpe_status status = BPE_OK;
    for (size_t i = 0; i < (size_t)1 << counts->bits && status == BPE_OK; i++) {
        const bpe_count_entry *entry = &counts->slots[i];
        if (entry->count == 0)
            continue;
        size_t n;
        const uint8_t *p = bpe_count_bytes(counts, entry, &n);
        status = cut_word(joins, ids, p, n, entry->count, batch, out);
    }
    if (status == BPE_OK)
        status = flush(batch, out);
    bpe_mem_free(batch->bytes);
    bpe_mem_free(batch);
    return status;
}

/* ---------------------------------------------------------------- laying them out */

static size_t count_utf8(const uint8_t *p, size_t n) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += (p[i] & 0xC0) != 0x80;
    return found;
}

/* What the words will need. */
static bpe_status measure(bpe_words *words, const bpe_counts *counts) {
    uint64_t n_slots = 0, n_pairs = 0;
    for (size_t i = 0; i < (size_t)1 << counts->bits; i++) {
        const bpe_count_entry *entry = &counts->slots[i];
        if (entry->count == 0)
            continue;
        size_t size;
        const uint8_t *p = bpe_count_bytes(counts, entry, &size);
        uint64_t n = count_utf8(p, size);
        uint64_t room = (uint64_t)INT64_MAX - n_pairs;
        if (n > MAX_SLOTS - 2 || n_slots > MAX_SLOTS - 2 - n || entry->count > room / (n - 1))
            return BPE_ERR_LIMIT;
        n_slots += n + 2;
        n_pairs += entry->count * (n - 1);
        words->n_long += n > BPE_DISTANCE_MAX;
        words->n_heavy += entry->count >= BPE_HEAVY;
    }
    words->n_slots = (size_t)n_slots;
    return BPE_OK;
}

/* Write one word's slots from p on; return where the next word's begin. */
static uint32_t lay_word(bpe_words *words, uint32_t p, const uint8_t *bytes, size_t size,
                         const uint32_t *ids) {
    const uint8_t *end = bytes + size;
    for (uint32_t k = 0; bytes < end; k++) {
        uint32_t c, distance = k < BPE_DISTANCE_MAX ? k : BPE_DISTANCE_MAX;
        bytes += read_character(bytes, end, &c);
        words->slots[p++] = distance << BPE_DISTANCE_SHIFT | (ids[c] - 1);
    }
    words->slots[p++] = BPE_SLOT_NONE;
    return p;
}

static void lay(bpe_words *words, const bpe_counts *counts, const uint32_t *ids) {
    size_t n_long = 0, n_heavy = 0;
    uint32_t p = 0;
    for (size_t i = 0; i < (size_t)1 << counts->bits; i++) {
        const bpe_count_entry *entry = &counts->slots[i];
        if (entry->count == 0)
            continue;
        size_t size;
        const uint8_t *bytes = bpe_count_bytes(counts, entry, &size);
        bool heavy = entry->count >= BPE_HEAVY;
        words->slots[p++] = heavy ? BPE_HEAVY : (uint32_t)entry->count;
        if (heavy) {
            words->heavy_starts[n_heavy] = p;
            words->heavy_counts[n_heavy++] = entry->count;
        }
        uint32_t start = p;
        p = lay_word(words, p, bytes, size, ids);
        if (p - 1 - start > BPE_DISTANCE_MAX)
            words->long_starts[n_long++] = start;
    }
}

static bpe_status init_words(bpe_words *words, const bpe_counts *parts_of, const uint32_t *ids) {
    bpe_status status = measure(words, parts_of);
    if (status != BPE_OK)
        return status;
    words->slots = bpe_mem_array(words->n_slots, sizeof *words->slots);
    words->long_starts = bpe_mem_array(words->n_long, sizeof *words->long_starts);
    words->heavy_starts = bpe_mem_array(words->n_heavy, sizeof *words->heavy_starts);
    words->heavy_counts = bpe_mem_array(words->n_heavy, sizeof *words->heavy_counts);
    if (!words->slots || !words->long_starts || !words->heavy_starts || !words->heavy_counts)
        return BPE_ERR_NOMEM;
    lay(words, parts_of, ids);
    return BPE_OK;
}

bpe_status bpe_words_init_characters(bpe_words *words, const bpe_counts *counts,
                                     const bpe_joins *joins, const bpe_pieces_trainer_spec *spec) {
    bpe_counts *cut = NULL;
    uint32_t *ids = make_ids(spec);
    bpe_status status = ids ? bpe_counts_new(&cut) : BPE_ERR_NOMEM;
    if (status == BPE_OK)
        status = cut_words(counts, joins, ids, cut);
    if (status == BPE_OK)
        status = init_words(words, cut, ids);
    bpe_counts_free(cut);
    bpe_mem_free(ids);
    return status;
}
