#include "characters.h"

#include "memory.h"
#include "utf8.h"

#define N_CODEPOINTS 0x110000
#define MAX_SLOTS UINT32_MAX
#define BLOCK 128

/* A space stands for the mark. */
static inline size_t read_character(const uint8_t *p, const uint8_t *end, uint32_t *c) {
    size_t n = bpe_utf8_decode(p, end, c);
    if (*c == ' ')
        *c = BPE_MARK_CODEPOINT;
    return n;
}

/* ---------------------------------------------------------------- counted words */

/* Some words of a table. Most of the time goes into waiting for the bytes of long ones, which lie
 * anywhere; so those of a block are all asked for before one is read. */
typedef struct word_block {
    const uint8_t *bytes[BLOCK];
    size_t sizes[BLOCK];
    uint64_t frequencies[BLOCK];
    size_t n;
    size_t at; /* in the table */
} word_block;

/* Fill the block with the words that come next; false when there are none. */
static bool next_words(const bpe_counts *counts, word_block *block) {
    size_t n_slots = (size_t)1 << counts->bits;
    block->n = 0;
    for (; block->at < n_slots && block->n < BLOCK; block->at++) {
        const bpe_count_entry *entry = &counts->slots[block->at];
        if (entry->count == 0)
            continue;
        size_t i = block->n++;
        block->bytes[i] = bpe_count_bytes(counts, entry, &block->sizes[i]);
        block->frequencies[i] = entry->count;
        bpe_prefetch(block->bytes[i]);
    }
    return block->n > 0;
}

/* ---------------------------------------------------------------- counting characters */

/* Add the characters of a word that occurs `frequency` times. */
static void add_characters(uint64_t *table, const uint8_t *p, size_t n, uint64_t frequency) {
    const uint8_t *end = p + n;
    while (p < end) {
        uint32_t c;
        size_t length = read_character(p, end, &c);
        if (length > 1 || *p < 0x80)
            table[c] += frequency;
        p += length;
    }
}

static bpe_status count_characters(const bpe_counts *counts, uint64_t *table) {
    uint64_t total = 0;
    word_block block = {.at = 0};
    while (next_words(counts, &block)) {
        for (size_t i = 0; i < block.n; i++) {
            uint64_t n = block.sizes[i], frequency = block.frequencies[i];
            if (frequency > (UINT64_MAX - total) / n)
                return BPE_ERR_LIMIT;
            total += frequency * n;
            add_characters(table, block.bytes[i], block.sizes[i], frequency);
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

/* ---------------------------------------------------------------- laying out words */

/* Words on their way into slots. */
typedef struct layout {
    bpe_words *words;
    size_t slots_cap;
    size_t long_cap;
    size_t heavy_cap;
    size_t counts_cap;
    uint64_t n_pairs;
    uint32_t *ids; /* id + 1 of each character; 0: not in the alphabet */
} layout;

static bool make_ids(layout *to, const bpe_pieces_trainer_spec *spec) {
    to->ids = bpe_mem_zeroed(N_CODEPOINTS, sizeof *to->ids);
    for (size_t i = 0; to->ids && i < spec->n_characters; i++)
        to->ids[spec->codepoints[i]] = (uint32_t)i + 1;
    return to->ids != NULL;
}

/* Make room for a word of up to n characters. */
static bpe_status reserve(layout *to, size_t n) {
    bpe_words *words = to->words;
    if (n > MAX_SLOTS - 2 || words->n_slots > MAX_SLOTS - 2 - n)
        return BPE_ERR_LIMIT;
    return bpe_mem_grow((void **)&words->slots, &to->slots_cap,
                        words->n_slots + n + 2 + BPE_SLOTS_SPARE, sizeof *words->slots)
               ? BPE_OK
               : BPE_ERR_NOMEM;
}

/* Note that the word whose first slot is `start` is long. */
static bool add_long(layout *to, uint32_t start) {
    bpe_words *words = to->words;
    if (!bpe_mem_grow((void **)&words->long_starts, &to->long_cap, words->n_long + 1,
                      sizeof *words->long_starts)) {
        return false;
    }
    words->long_starts[words->n_long++] = start;
    return true;
}

static bool add_heavy(layout *to, uint32_t start, uint64_t frequency) {
    bpe_words *words = to->words;
    if (!bpe_mem_grow((void **)&words->heavy_starts, &to->heavy_cap, words->n_heavy + 1,
                      sizeof *words->heavy_starts) ||
        !bpe_mem_grow((void **)&words->heavy_counts, &to->counts_cap, words->n_heavy + 1,
                      sizeof *words->heavy_counts)) {
        return false;
    }
    words->heavy_starts[words->n_heavy] = start;
    words->heavy_counts[words->n_heavy++] = frequency;
    return true;
}

/* End the word whose first slot is `start`; it goes if it is too short to have pairs. Its last
 * slot is the last one there is. */
static bpe_status end_word(layout *to, size_t start, uint64_t frequency) {
    bpe_words *words = to->words;
    size_t n = words->n_slots - start;
    if (n < 2) {
        words->n_slots = start - 1;
        return BPE_OK;
    }
    if (frequency > ((uint64_t)INT64_MAX - to->n_pairs) / (n - 1))
        return BPE_ERR_LIMIT;
    to->n_pairs += frequency * (n - 1);
    bool heavy = frequency >= BPE_HEAVY;
    words->slots[start - 1] = heavy ? BPE_HEAVY : (uint32_t)frequency;
    words->slots[words->n_slots++] = BPE_SLOT_NONE;
    if ((heavy && !add_heavy(to, (uint32_t)start, frequency)) ||
        (n > BPE_DISTANCE_MAX && !add_long(to, (uint32_t)start))) {
        return BPE_ERR_NOMEM;
    }
    return BPE_OK;
}

/* Lay out one word, or several: a character without an id parts what is beside it. */
static bpe_status lay_word(layout *to, const uint8_t *p, size_t size, uint64_t frequency) {
    bpe_words *words = to->words;
    const uint8_t *end = p + size;
    /* Each word takes a slot more than its characters, and two have a byte between them. */
    bpe_status status = reserve(to, size + size / 2 + 1);
    size_t start = ++words->n_slots; /* behind the frequency */
    while (p < end && status == BPE_OK) {
        uint32_t c;
        size_t length = read_character(p, end, &c);
        uint32_t id = length > 1 || *p < 0x80 ? to->ids[c] : 0;
        p += length;
        if (id == 0) {
            status = end_word(to, start, frequency);
            start = ++words->n_slots;
            continue;
        }
        size_t distance = words->n_slots - start;
        if (distance > BPE_DISTANCE_MAX)
            distance = BPE_DISTANCE_MAX;
        words->slots[words->n_slots++] = (uint32_t)distance << BPE_DISTANCE_SHIFT | (id - 1);
    }
    return status == BPE_OK ? end_word(to, start, frequency) : status;
}

bpe_status bpe_words_init_characters(bpe_words *words, const bpe_counts *counts,
                                     const bpe_pieces_trainer_spec *spec) {
    layout to = {.words = words};
    bpe_status status = make_ids(&to, spec) ? BPE_OK : BPE_ERR_NOMEM;
    /* Even if there are no words, as for any other trainer. */
    if (status == BPE_OK)
        status = reserve(&to, 0);
    word_block block = {.at = 0};
    while (status == BPE_OK && next_words(counts, &block)) {
        for (size_t i = 0; i < block.n && status == BPE_OK; i++)
            status = lay_word(&to, block.bytes[i], block.sizes[i], block.frequencies[i]);
    }
    bpe_mem_free(to.ids);
    return status;
}
