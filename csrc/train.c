/*
 * How training works.
 *
 * Words. The distinct pretokens, as ids, in an array where merging is local and nothing moves:
 * see words.h.
 *
 * Pairs. A table holds count and positions of each pair. Merging (a, b) into c visits the positions
 * of (a, b) in ascending order; at each, "x a b y" becomes "x c y". What moves from (x, a) to
 * (x, c), and from (b, y) to (c, y), is added up for each distinct neighbour in arrays indexed by
 * id, and only then is the table touched, once or twice for each neighbour. In "a b a b" the first
 * merge counts (c, a) and the second, seeing c on its left, takes that back and counts (c, c).
 *
 * The next pair. After the step that creates a token, no new occurrence of a pair can appear: its
 * count never grows, and its first position never moves to the left. So an entry of the heap is at
 * worst too good, and it is enough to correct it when it comes up.
 *
 * Rare pairs. Most pairs are rare and will never be merged. Pairs whose count is below a threshold
 * are not in the table at all: as counts never grow, no such pair can be missed while the best
 * count is at or above the threshold. When nothing is left there, all pairs are counted anew and
 * the threshold is lowered at least eightfold, so this happens a few times at most.
 *
 * Unwanted pairs. Whether a pair would make a token that is too long, or one that the initial model
 * has already, depends on the pair alone. Such a pair is treated as a rare one: it is never in the
 * table.
 *
 * Codepoint models differ in what the slots of words are, characters; in which pairs are unwanted
 * (joins.h); and in which of several pairs with the same count comes first: the one with the
 * shorter piece, then the one whose piece sorts first. The heap goes by the length; pairs that are
 * equal in it leave the heap together and are sorted. If asked to, the trainer keeps every pair it
 * has ever met, and merges those that are left with a count of 0 in the end.
 */
#include "train.h"

#include <assert.h>
#include <string.h>

#include "memory.h"
#include "train_pairs.h"

#define NOT_KEPT UINT32_MAX /* in bpe_neighbour.next */
#define AHEAD 24            /* positions to prefetch ahead */

/* ---------------------------------------------------------------- one merge */

/* Note that a neighbour takes part, and with what weight. */
static inline void add_neighbour(bpe_neighbour *all, uint32_t *ids, size_t *n, uint32_t id,
                                 uint64_t weight) {
    bpe_neighbour *one = &all[id];
    if (one->n++ == 0)
        ids[(*n)++] = id;
    one->weight += weight;
}

/* Ask for what merging at p will need: the slots around it, among them the neighbours and, in most
 * words, the frequency. Two lines at most. */
static inline void prefetch_word(const bpe_trainer *t, uint32_t p) {
    const uint32_t *slot = &t->words.slots[p];
    bpe_prefetch(slot - (p < BPE_SLOTS_SPARE ? p : BPE_SLOTS_SPARE));
    bpe_prefetch(slot + BPE_SLOTS_SPARE);
}

/* Merge (a, b) into c at all of the record's positions where the pair still is; note what
 * happened there. Room for an event at each position is there. */
static void replace_pair(bpe_trainer *t, const bpe_pair_record *record, uint32_t c) {
    uint32_t a = (uint32_t)(record->key >> 32), b = (uint32_t)record->key;
    size_t la = t->lengths[a], lb = t->lengths[b];
    const uint32_t *list = t->arena + record->start;
    for (size_t i = record->skip; i < record->n && i < record->skip + AHEAD; i++)
        prefetch_word(t, list[i]);
    for (size_t i = record->skip; i < record->n; i++) {
        if (i + AHEAD < record->n)
            prefetch_word(t, list[i + AHEAD]);
        uint32_t p = list[i];
        size_t q = p + la, end = q + lb;
        if (bpe_slot_id(&t->words, p) != a || bpe_slot_id(&t->words, q) != b)
            continue;
        uint32_t start = bpe_word_start(&t->words, p);
        uint64_t frequency = bpe_word_frequency(&t->words, start);
        bpe_merge_event event = {p, BPE_SLOT_NONE, bpe_slot_id(&t->words, end)};
        if (p != start) {
            event.left = bpe_slot_id(&t->words, p - 1);
            add_neighbour(t->left, t->left_ids, &t->n_left, event.left, frequency);
        }
        if (event.right != BPE_SLOT_NONE) {
            add_neighbour(t->right, t->right_ids, &t->n_right, event.right, frequency);
        }
        bpe_slot_set(&t->words, q - 1, BPE_SLOT_NONE);
        bpe_slot_set(&t->words, q, BPE_SLOT_NONE);
        bpe_slot_set(&t->words, p, c);
        bpe_slot_set(&t->words, end - 1, c);
        t->events[t->n_events++] = event;
    }
    t->work += record->n - record->skip;
}

/* An old pair has become rarer. */
static inline void lose(bpe_trainer *t, uint64_t key, uint64_t weight) {
    bpe_pair_record *record = bpe_pair_table_find(&t->pairs, key);
    if (!record)
        return; /* rare before, or unwanted */
    assert(record->count >= weight);
    record->count -= weight;
}

/* Make the record of a new pair with a neighbour, unless it is rare or unwanted. */
static bool gain(bpe_trainer *t, uint64_t key, uint64_t count, bpe_neighbour *neighbour,
                 size_t *base) {
    neighbour->next = NOT_KEPT;
    if (!bpe_trainer_is_candidate(t, key, count))
        return true;
    bpe_pair_record *record = bpe_pair_table_add(&t->pairs, key);
    if (!record)
        return false;
    *record = (bpe_pair_record){key, count, t->arena_n + *base, neighbour->n, 0};
    neighbour->next = (uint32_t)*base;
    *base += neighbour->n;
    return true;
}

/* Bring the table up to date with what replace_pair did. *n_new = positions of new pairs. */
static bool update_pairs(bpe_trainer *t, uint64_t merged, uint32_t c, size_t *n_new) {
    uint32_t a = (uint32_t)(merged >> 32), b = (uint32_t)merged;
    /* (c, a) pairs that became (c, c) pairs later in the same step. */
    uint64_t taken_back = t->left[c].weight;
    *n_new = 0;
    for (size_t i = 0; i < t->n_left; i++) {
        uint32_t x = t->left_ids[i];
        bpe_neighbour *one = &t->left[x];
        if (x != c)
            lose(t, bpe_pair_key(x, a), one->weight);
        if (!gain(t, bpe_pair_key(x, c), one->weight, one, n_new))
            return false;
    }
    for (size_t i = 0; i < t->n_right; i++) {
        uint32_t y = t->right_ids[i];
        bpe_neighbour *one = &t->right[y];
        if (bpe_pair_key(b, y) != merged)
            lose(t, bpe_pair_key(b, y), one->weight);
        uint64_t count = one->weight - (y == a ? taken_back : 0);
        if (!gain(t, bpe_pair_key(c, y), count, one, n_new))
            return false;
    }
    t->work += t->n_left + t->n_right;
    return true;
}

/* Write the positions of the new pairs, in ascending order. */
static void list_positions(bpe_trainer *t) {
    uint32_t *end = t->arena + t->arena_n;
    for (size_t i = 0; i < t->n_events; i++) {
        bpe_merge_event event = t->events[i];
        if (event.left != BPE_SLOT_NONE && t->left[event.left].next != NOT_KEPT) {
            end[t->left[event.left].next++] = event.pos - t->lengths[event.left];
        }
        if (event.right != BPE_SLOT_NONE && t->right[event.right].next != NOT_KEPT) {
            end[t->right[event.right].next++] = event.pos;
        }
    }
}

static bool push_new(bpe_trainer *t, uint64_t key, const bpe_neighbour *neighbour) {
    return neighbour->next == NOT_KEPT || bpe_trainer_push(t, bpe_pair_table_find(&t->pairs, key));
}

/* Offer the new pairs for merging, and clear the scratch arrays. */
static bool finish_merge(bpe_trainer *t, uint32_t c) {
    bool pushed = true;
    for (size_t i = 0; i < t->n_left; i++) {
        uint32_t x = t->left_ids[i];
        pushed = pushed && push_new(t, bpe_pair_key(x, c), &t->left[x]);
        t->left[x] = (bpe_neighbour){0, 0, 0};
    }
    for (size_t i = 0; i < t->n_right; i++) {
        uint32_t y = t->right_ids[i];
        pushed = pushed && push_new(t, bpe_pair_key(c, y), &t->right[y]);
        t->right[y] = (bpe_neighbour){0, 0, 0};
    }
    t->n_left = t->n_right = t->n_events = 0;
    return pushed;
}

/* Give an array with room for `have` elements room for `want`. The capacity is the caller's: of
 * several arrays of one capacity some may have grown when memory runs out. */
static bool grow(void **p, size_t have, size_t want, size_t size) {
    return bpe_mem_grow(p, &have, want, size);
}

bool bpe_trainer_reserve_id(bpe_trainer *t) {
    size_t have = t->ids_cap, want = have ? 2 * have : 1024;
    if (t->n_ids < have)
        return true;
    if (want <= t->n_ids)
        want = t->n_ids + 1024;
    if (!grow((void **)&t->lengths, have, want, sizeof *t->lengths) ||
        !grow((void **)&t->left, have, want, sizeof *t->left) ||
        !grow((void **)&t->right, have, want, sizeof *t->right) ||
        !grow((void **)&t->left_ids, have, want, sizeof *t->left_ids) ||
        !grow((void **)&t->right_ids, have, want, sizeof *t->right_ids) ||
        !grow((void **)&t->merges, 2 * have, 2 * want, sizeof *t->merges) ||
        !grow((void **)&t->merge_counts, have, want, sizeof *t->merge_counts)) {
        return false;
    }
    memset(t->left + have, 0, (want - have) * sizeof *t->left);
    memset(t->right + have, 0, (want - have) * sizeof *t->right);
    t->ids_cap = want;
    return true;
}

static bpe_status merge_pair(bpe_trainer *t, bpe_pair_record *found) {
    bpe_pair_record record = *found;
    size_t n = record.n - record.skip;
    uint32_t a = (uint32_t)(record.key >> 32), b = (uint32_t)record.key;
    if (!bpe_trainer_reserve_id(t) || (t->joins && !bpe_joins_add(t->joins, a, b)) ||
        !bpe_mem_grow((void **)&t->events, &t->events_cap, n, sizeof *t->events) ||
        !bpe_mem_grow((void **)&t->arena, &t->arena_cap, t->arena_n + 2 * n, sizeof *t->arena)) {
        return BPE_ERR_NOMEM;
    }
    uint32_t c = (uint32_t)t->n_ids;
    size_t n_new;
    found->count = 0; /* "aaa" -> "ca": not one (a, b) is left, even when a = b */
    t->lengths[c] = t->lengths[a] + t->lengths[b];
    t->merges[2 * t->n_merges] = a; /* now, for new pairs with c may have to be spelt */
    t->merges[2 * t->n_merges + 1] = b;
    replace_pair(t, &record, c);
    if (!update_pairs(t, record.key, c, &n_new))
        return BPE_ERR_NOMEM;
    list_positions(t);
    t->arena_n += n_new;
    if (!finish_merge(t, c))
        return BPE_ERR_NOMEM;
    t->merge_counts[t->n_merges++] = record.count;
    t->n_ids++;
    return BPE_OK;
}

/* ---------------------------------------------------------------- the trainer */

void bpe_trainer_free(bpe_trainer *t) {
    if (!t)
        return;
    bpe_words_free(&t->words);
    bpe_mem_free(t->spelling);
    bpe_mem_free(t->spell_stack);
    if (t->joins)
        bpe_joins_free(t->joins);
    bpe_mem_free(t->joins);
    bpe_equals_free(&t->equals);
    bpe_pair_table_free(&t->pairs);
    bpe_mem_free(t->heap.items);
    bpe_mem_free(t->arena);
    bpe_mem_free(t->lengths);
    bpe_mem_free(t->merges);
    bpe_mem_free(t->merge_counts);
    bpe_mem_free(t->left);
    bpe_mem_free(t->right);
    bpe_mem_free(t->left_ids);
    bpe_mem_free(t->right_ids);
    bpe_mem_free(t->events);
    bpe_mem_free(t);
}

static bpe_status check_options(const bpe_trainer_options *options, bpe_error *err) {
    bool seen[256] = {false};
    const bpe_model *initial = options->initial;
    size_t first_id = initial ? initial->vocab.n_vocab : 256;
    if (options->ties != BPE_TIES_LOWEST && options->ties != BPE_TIES_FIRST) {
        return bpe_fail(err, BPE_ERR_ARG, 256);
    }
    if (initial && (initial->symbols != BPE_SYMBOLS_BYTES || initial->suffix_size > 0)) {
        return bpe_fail(err, BPE_ERR_ARG, 257);
    }
    for (size_t i = 0; i < 256 && !initial; i++) {
        uint32_t id = options->byte_ids[i];
        if (id > 255 || seen[id])
            return bpe_fail(err, BPE_ERR_ARG, i);
        seen[id] = true;
    }
    /* BPE_SLOT_NONE is no id. */
    if (first_id > BPE_MAX_IDS - 1 || options->n_merges > BPE_MAX_IDS - 1 - first_id)
        return bpe_fail(err, BPE_ERR_LIMIT, 0);
    return BPE_OK;
}

/* The lengths of the tokens that are there from the start, and room to spell theirs and others. */
static bpe_status init_tokens(bpe_trainer *t) {
    t->n_ids = t->first_id = t->initial ? t->initial->vocab.n_vocab : 256;
    if (!bpe_trainer_reserve_id(t))
        return BPE_ERR_NOMEM;
    for (size_t i = 0; i < t->n_ids; i++) {
        t->lengths[i] = t->initial ? t->initial->vocab.by_id[i].length : 1;
        if (t->lengths[i] > t->longest_known)
            t->longest_known = t->lengths[i];
    }
    if (!t->initial)
        return BPE_OK;
    t->spelling = bpe_mem_array(t->longest_known, sizeof *t->spelling);
    /* Each token on the stack stands for a byte, or more, that is not written yet. */
    t->spell_stack = bpe_mem_array(t->longest_known, sizeof *t->spell_stack);
    return t->spelling && t->spell_stack ? BPE_OK : BPE_ERR_NOMEM;
}

bpe_status bpe_trainer_new(const bpe_counts *counts, const bpe_trainer_options *options,
                           bpe_trainer **out, bpe_error *err) {
    bpe_status status = check_options(options, err);
    if (status != BPE_OK)
        return status;
    bpe_trainer *t = bpe_mem_zeroed(1, sizeof *t);
    if (!t)
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    t->n_wanted = options->n_merges;
    t->ties = options->ties;
    t->floor = options->min_frequency ? options->min_frequency : 1;
    t->longest = options->max_token_bytes ? options->max_token_bytes : SIZE_MAX;
    t->initial = options->initial;
    t->has_unwanted = t->initial || options->max_token_bytes;
    status = init_tokens(t);
    if (status == BPE_OK)
        status = bpe_words_init(&t->words, counts, options->byte_ids, t->initial);
    t->threshold = UINT64_MAX; /* no pairs are known; the first run counts them */
    if (status != BPE_OK) {
        bpe_trainer_free(t);
        return bpe_fail(err, status, 0);
    }
    *out = t;
    return BPE_OK;
}

/* Why no pair can be merged any more. */
static uint32_t why_none(const bpe_trainer *t) {
    bpe_words_walk walk;
    uint64_t key;
    uint32_t pos, why = BPE_STOP_EXHAUSTED;
    bpe_words_walk_to(&t->words, &walk, 1);
    while (bpe_words_walk_next(&t->words, t->lengths, &walk, &key, &pos)) {
        if (bpe_trainer_wants(t, key))
            return BPE_STOP_MIN_FREQUENCY;
        if (bpe_trainer_merged_length(t, key) > t->longest)
            why = BPE_STOP_TOKEN_BYTES;
    }
    return why;
}

/* Take a pair from those that are sorted, or NULL when there is none; some have become rarer and
 * go back to the heap. */
static bpe_status next_equal(bpe_trainer *t, bpe_pair_record **found) {
    bpe_equals *equals = &t->equals;
    *found = NULL;
    while (equals->at < equals->n) {
        t->work++;
        bpe_pair_record *record = bpe_pair_table_find(&t->pairs, equals->items[equals->at++].key);
        if (record->count != equals->count) {
            if (record->count >= t->threshold && !bpe_trainer_push(t, record))
                return BPE_ERR_NOMEM;
        } else if (!bpe_joins_known(t->joins, record->key)) {
            *found = record;
            return BPE_OK;
        }
    }
    equals->at = equals->n = 0;
    return BPE_OK;
}

/* Take all pairs from the heap that are as good as its first, which is `record`, and sort them. */
static bool gather_equals(bpe_trainer *t, const bpe_pair_record *record) {
    const bpe_pair_job first = {record->count, bpe_trainer_merged_length(t, record->key),
                                record->key};
    bpe_pair_heap *heap = &t->heap;
    t->equals.count = first.count;
    if (!bpe_equals_add(&t->equals, t->joins, first.key))
        return false;
    while (heap->n > 0 && heap->items[0].count == first.count && heap->items[0].tie == first.tie) {
        bpe_pair_job job = heap->items[0];
        const bpe_pair_record *other = bpe_pair_table_find(&t->pairs, job.key);
        t->work++;
        if (other->count == job.count) {
            if (!bpe_equals_add(&t->equals, t->joins, job.key))
                return false;
            bpe_pair_heap_pop(heap);
        } else if (other->count < t->threshold) {
            bpe_pair_heap_pop(heap);
        } else {
            job.count = other->count;
            bpe_pair_heap_replace(heap, job);
        }
    }
    return bpe_equals_sort(&t->equals, t->joins);
}

/* Find the pair to merge next, or set t->stop. */
static bpe_status next_pair(bpe_trainer *t, bpe_pair_record **found) {
    for (;;) {
        if (t->joins) {
            bpe_status status = next_equal(t, found);
            if (status != BPE_OK || *found)
                return status;
        }
        t->work++;
        if (t->heap.n == 0) {
            if (t->threshold <= t->floor) {
                t->stop = why_none(t);
                return BPE_OK;
            }
            bpe_status status = bpe_trainer_build_pairs(t);
            if (status != BPE_OK)
                return status;
            continue;
        }
        bpe_pair_job job = t->heap.items[0];
        bpe_pair_record *record = bpe_pair_table_find(&t->pairs, job.key);
        if (record->count < t->threshold) {
            bpe_pair_heap_pop(&t->heap);
            continue;
        }
        /* With the count the tie is unchanged, too: a first position that is no more takes its
         * word's frequency with it. */
        if (record->count != job.count) {
            bpe_pair_job now = {record->count, bpe_trainer_tie(t, record), job.key};
            bpe_pair_heap_replace(&t->heap, now);
            continue;
        }
        bpe_pair_heap_pop(&t->heap);
        if (t->joins) {
            if (!gather_equals(t, record))
                return BPE_ERR_NOMEM;
            continue;
        }
        *found = record;
        return BPE_OK;
    }
}

bpe_status bpe_trainer_run(bpe_trainer *t, uint64_t budget) {
    uint64_t begun = t->work;
    if (t->failed != BPE_OK)
        return t->failed;
    while (t->stop == BPE_STOP_NONE && t->work - begun < budget) {
        if (t->n_merges == t->n_wanted) {
            t->stop = BPE_STOP_REACHED;
            break;
        }
        bpe_pair_record *record = NULL;
        bpe_status status = next_pair(t, &record);
        if (status == BPE_OK && record)
            status = merge_pair(t, record);
        if (status != BPE_OK) {
            t->failed = status;
            return status;
        }
    }
    return BPE_OK;
}

uint32_t bpe_trainer_stop(const bpe_trainer *t) { return t->stop; }

size_t bpe_trainer_n_merges(const bpe_trainer *t) { return t->n_merges; }

uint64_t bpe_trainer_work(const bpe_trainer *t) { return t->work; }

const uint32_t *bpe_trainer_merges(const bpe_trainer *t) { return t->merges; }

const uint64_t *bpe_trainer_merge_counts(const bpe_trainer *t) { return t->merge_counts; }
