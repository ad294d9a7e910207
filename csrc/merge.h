/*
 * Merge: the rules by which neighbouring parts of a pretoken become one token, and ways to apply
 * them to one pretoken, short, long or huge. merge_many.h has one for many pretokens at once.
 *
 * Both merge semantics are one table pair -> (rank, id). A merge list is that table. Under ranks
 * any two parts whose concatenation is a token may merge; parts are tokens themselves, so the table
 * holds, for every token, each of its cuts into two tokens, with the token's place in the
 * vocabulary as rank.
 */
#ifndef BPE_MERGE_H
#define BPE_MERGE_H

#include "bpe.h"
#include "maps.h"
#include "rank_queue.h"
#include "rank_table.h"
#include "vocab.h"

/* More pairs than this are refused (o200k_base has 446,000): the table would outgrow its use. */
#define BPE_MAX_PAIRS ((size_t)1 << 24)

/* What bpe_merge_short takes at most; bpe_merge leaves pretokens of up to so many symbols to it. */
#define BPE_SHORT_BYTES 64

/* One of two tables is in use: the small one where ids and ranks fit in it and nearly all ranks
 * tell the id that is made; otherwise the map, with a = rank, b = id made. */
typedef struct bpe_rules {
    bpe_rank_table table; /* table.slots is NULL where the map is in use */
    bpe_pair_map pairs;   /* with the table: the pairs of ranks that make several ids, if any */
    uint32_t *made;       /* with the table: the id that each rank makes; NULL: the rank itself */
    uint64_t *several;    /* with the table: a bit for each rank, set if it makes several ids, which
                             `pairs` knows; NULL: none does */
    uint32_t *byte_ranks; /* with the table, if not NULL: the rank of the pair of what two bytes
                             stand for, in place first << 8 | second, where bytes are symbols */
    bpe_rank_table first; /* the pairs of `table` that stand in text before anything is merged, and
                             maybe others: far fewer, so in a near cache; slots NULL: not known */
    size_t n_ranks;       /* every rank is below */
} bpe_rules;

static inline bool bpe_rules_several(const bpe_rules *rules, uint32_t rank) {
    return rules->several && rules->several[rank >> 6] >> (rank & 63) & 1;
}

/* What a pair makes that has this rank by the rank table. */
static inline uint32_t bpe_rules_made(const bpe_rules *rules, uint32_t rank, uint32_t left,
                                      uint32_t right) {
    if (bpe_rules_several(rules, rank))
        return bpe_pair_map_find(&rules->pairs, bpe_pair_key(left, right))->b;
    return rules->made ? rules->made[rank] : rank;
}

/* The rank of a pair, or BPE_NO_RANK; otherwise *id is what it makes. */
static inline uint32_t bpe_rules_find(const bpe_rules *rules, uint32_t left, uint32_t right,
                                      uint32_t *id) {
    if (rules->table.slots) {
        uint32_t rank = bpe_rank_table_find(&rules->table, left, right);
        if (rank != BPE_NO_RANK)
            *id = bpe_rules_made(rules, rank, left, right);
        return rank;
    }
    const bpe_pair_entry *e = bpe_pair_map_find(&rules->pairs, bpe_pair_key(left, right));
    if (!e)
        return BPE_NO_RANK;
    *id = e->b;
    return e->a;
}

/* Fill zeroed rules; statuses as bpe_model_new, BPE_ERR_LIMIT above BPE_MAX_PAIRS. On failure free
 * it all the same. */
bpe_status bpe_rules_from_merges(bpe_rules *rules, const bpe_vocab *vocab,
                                 const bpe_model_spec *spec, bpe_error *err);
bpe_status bpe_rules_from_ranks(bpe_rules *rules, const bpe_vocab *vocab, bpe_error *err);

/*
 * The same for any distinct strings: each cut of a string into two strings is a pair.
 *
 * strings   the first n of a table
 * ids       of each string; NULL: its index
 * ranks     of the pairs that make each string, BPE_NO_RANK where none does; NULL: its index
 * max_pairs at most BPE_MAX_PAIRS
 * made      with `ranks`: the id that each rank below n_ranks makes, or BPE_NO_ID if it makes
 * several; NULL: not known
 */
typedef struct bpe_ranked_strings {
    const bpe_intern *strings;
    const uint32_t *ids;
    const uint32_t *ranks;
    size_t n;
    size_t max_pairs;
    const uint32_t *made;
    size_t n_ranks;
} bpe_ranked_strings;

/* Fill zeroed rules; BPE_OK, BPE_ERR_NOMEM, or BPE_ERR_LIMIT above max_pairs. On failure free
 * it all the same. */
bpe_status bpe_rules_from_strings(bpe_rules *rules, const bpe_ranked_strings *list, bpe_error *err);
void bpe_rules_free(bpe_rules *rules);

/*
 * Merge ids[0, n) in place, lowest rank first, leftmost first among equals, with ranks below
 * `limit` only; returns how many ids are left. n <= BPE_SHORT_BYTES. O(n^2) steps over an array
 * that fits in the first-level cache.
 */
size_t bpe_merge_short(const bpe_rules *rules, uint32_t *ids, size_t n, uint32_t limit);

/* Scratch of bpe_merge_long and bpe_merge_windows; zero it before first use. */
typedef struct bpe_merge_scratch {
    struct bpe_part *parts;
    size_t parts_cap;
    uint32_t *found; /* by bpe_merge_windows */
    size_t found_cap;
    bpe_rank_queue queue;
} bpe_merge_scratch;

void bpe_merge_scratch_free(bpe_merge_scratch *scratch);

/* Free scratch with room for more than this many symbols. */
void bpe_merge_scratch_trim(bpe_merge_scratch *scratch, size_t n);

/* The same for any n from 1 to BPE_MAX_PRETOKEN - 1, O(n log n). *n_left receives how many ids are
 * left; BPE_OK or BPE_ERR_NOMEM (ids are then as they were). */
bpe_status bpe_merge_long(const bpe_rules *rules, bpe_merge_scratch *scratch, uint32_t *ids,
                          size_t n, uint32_t limit, size_t *n_left);

/* Pretokens of more symbols than this are merged in windows. */
#define BPE_MERGE_WINDOW 16384

/*
 * The same without a limit, one window after the other: the memory in use stays in a near cache, so
 * this takes a half to a quarter of the time for a long pretoken. Where windows do not fit
 * together, which takes a text made for the purpose, all is done again by bpe_merge_long.
 */
bpe_status bpe_merge_windows(const bpe_rules *rules, bpe_merge_scratch *scratch, uint32_t *ids,
                             size_t n, size_t window, size_t *n_left);

/* Merge all there is to merge, in the way that suits n. */
bpe_status bpe_merge(const bpe_rules *rules, bpe_merge_scratch *scratch, uint32_t *ids, size_t n,
                     size_t *n_left);

#endif
