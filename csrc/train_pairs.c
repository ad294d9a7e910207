#include "train_pairs.h"

#include <string.h>

#include "memory.h"

#define PAIR_BLOCK 64

/* ---------------------------------------------------------------- one pair */

/* Whether the pair (a, b) still is at p. */
static inline bool is_at(const bpe_trainer *t, uint32_t p, uint32_t a, uint32_t b) {
    return bpe_slot_id(&t->words, p) == a && bpe_slot_id(&t->words, (size_t)p + t->lengths[a]) == b;
}

uint32_t bpe_trainer_first_position(bpe_trainer *t, bpe_pair_record *record) {
    uint32_t a = (uint32_t)(record->key >> 32), b = (uint32_t)record->key;
    const uint32_t *list = t->arena + record->start;
    while (record->skip + 1 < record->n && !is_at(t, list[record->skip], a, b)) {
        record->skip++;
        t->work++;
    }
    return list[record->skip];
}

/* Write what a token stands for to `out`, and return where it ends. */
static uint8_t *spell(const bpe_trainer *t, uint32_t id, uint8_t *out) {
    uint32_t *stack = t->spell_stack;
    size_t n = 0;
    stack[n++] = id;
    while (n > 0) {
        id = stack[--n];
        if (id >= t->first_id) {
            const uint32_t *merge = t->merges + 2 * (id - t->first_id);
            stack[n++] = merge[1];
            stack[n++] = merge[0];
            continue;
        }
        const bpe_vocab *vocab = &t->initial->vocab;
        memcpy(out, vocab->strings.data + vocab->by_id[id].start, t->lengths[id]);
        out += t->lengths[id];
    }
    return out;
}

bool bpe_trainer_knows(const bpe_trainer *t, uint64_t key, size_t length) {
    if (!t->initial || length > t->longest_known)
        return false;
    spell(t, (uint32_t)key, spell(t, (uint32_t)(key >> 32), t->spelling));
    return bpe_vocab_find(&t->initial->vocab, t->spelling, length) != BPE_NO_ID;
}

/* ---------------------------------------------------------------- all pairs */

/* Pairs that a walk passes: several, so that waiting for their records overlaps. */
typedef struct pair_block {
    uint64_t keys[PAIR_BLOCK];
    uint64_t frequencies[PAIR_BLOCK];
    uint32_t positions[PAIR_BLOCK];
    size_t n;
} pair_block;

/* The pairs that come next, whose records in the table are asked for; false when there are none. */
static bool next_pairs(bpe_trainer *t, bpe_words_walk *walk, const bpe_pair_table *table,
                       pair_block *block) {
    size_t n = 0;
    while (n < PAIR_BLOCK && bpe_words_walk_next(&t->words, t->lengths, walk, &block->keys[n],
                                                 &block->positions[n])) {
        block->frequencies[n] = walk->frequency;
        bpe_pair_table_prefetch(table, block->keys[n++]);
    }
    block->n = n;
    t->work += n;
    return n > 0;
}

/* Count every pair. */
static bool count_pairs(bpe_trainer *t, bpe_pair_table *all) {
    bpe_words_walk walk;
    pair_block block;
    bpe_words_walk_to(&t->words, &walk, 1);
    while (next_pairs(t, &walk, all, &block)) {
        for (size_t i = 0; i < block.n; i++) {
            bpe_pair_record *record = bpe_pair_table_add(all, block.keys[i]);
            if (!record)
                return false;
            record->count += block.frequencies[i];
            record->n++;
        }
    }
    return true;
}

/* The threshold for counts of which the best is `best`: low enough that the pairs above it will
 * probably do for all merges still wanted. In real text counts fall about like 1 / rank; half of
 * what that foretells costs little, and counting all pairs anew is seldom needed. */
static uint64_t choose_threshold(const bpe_trainer *t, uint64_t best) {
    if (t->floor == 0)
        return 0;
    uint64_t wanted = t->n_wanted - t->n_merges;
    uint64_t threshold = best / (wanted < 4 ? 8 : 2 * wanted);
    return threshold < t->floor ? t->floor : threshold;
}

/* Take over the pairs that are frequent enough and give each its stretch of the arena. */
static bool keep_pairs(bpe_trainer *t, const bpe_pair_table *all) {
    uint64_t best = 0;
    size_t n_slots = (size_t)1 << all->bits, n_kept = 0;
    for (size_t i = 0; i < n_slots; i++) {
        const bpe_pair_record *record = &all->slots[i];
        if (record->key != BPE_NO_PAIR && record->count > best && bpe_trainer_wants(t, record->key))
            best = record->count;
    }
    t->threshold = choose_threshold(t, best);
    for (size_t i = 0; i < n_slots; i++) {
        const bpe_pair_record *record = &all->slots[i];
        n_kept +=
            record->key != BPE_NO_PAIR && bpe_trainer_is_candidate(t, record->key, record->count);
    }
    if (!bpe_pair_table_init(&t->pairs, n_kept))
        return false;
    t->arena_n = 0;
    for (size_t i = 0; i < n_slots; i++) {
        const bpe_pair_record *record = &all->slots[i];
        if (record->key == BPE_NO_PAIR || !bpe_trainer_is_candidate(t, record->key, record->count))
            continue;
        bpe_pair_record *kept = bpe_pair_table_add(&t->pairs, record->key);
        if (!kept)
            return false;
        kept->count = record->count;
        kept->start = t->arena_n;
        t->arena_n += record->n;
    }
    return bpe_mem_grow((void **)&t->arena, &t->arena_cap, t->arena_n, sizeof *t->arena);
}

bpe_status bpe_trainer_build_pairs(bpe_trainer *t) {
    bpe_pair_table all;
    bpe_pair_table_free(&t->pairs);
    t->heap.n = 0;
    if (!bpe_pair_table_init(&all, 1024))
        return BPE_ERR_NOMEM;
    bool done = count_pairs(t, &all) && keep_pairs(t, &all);
    bpe_pair_table_free(&all);
    if (!done)
        return BPE_ERR_NOMEM;
    bpe_words_walk walk;
    pair_block block;
    bpe_words_walk_to(&t->words, &walk, 1);
    while (next_pairs(t, &walk, &t->pairs, &block)) {
        for (size_t i = 0; i < block.n; i++) {
            bpe_pair_record *record = bpe_pair_table_find(&t->pairs, block.keys[i]);
            if (record)
                t->arena[record->start + record->n++] = block.positions[i];
        }
    }
    for (size_t i = 0; i < (size_t)1 << t->pairs.bits; i++) {
        if (t->pairs.slots[i].key == BPE_NO_PAIR)
            continue;
        if (!bpe_trainer_push(t, &t->pairs.slots[i]))
            return BPE_ERR_NOMEM;
    }
    return BPE_OK;
}
