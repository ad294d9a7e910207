#include "split.h"

#include <string.h>

#include "memory.h"
#include "stage.h"
#include "utf8.h"

struct bpe_split {
    size_t n_stages;
    bool drops;    /* a stage makes text vanish */
    uint32_t simd; /* BPE_SIMD_*: how stages with a stream are walked through */
    bpe_stream *streams[BPE_MAX_STAGES]; /* NULL where a stage has none */
    bpe_stage stages[];
};

bpe_status bpe_split_use_simd(bpe_split *split, uint32_t simd) {
    const bpe_stream_kernel *kernel = bpe_stream_kernel_of(simd);
    if (simd != BPE_SIMD_SCALAR && !kernel)
        return BPE_ERR_ARG;
    split->simd = simd;
    for (size_t i = 0; i < split->n_stages; i++) {
        if (split->streams[i])
            split->streams[i]->kernel = kernel;
    }
    return BPE_OK;
}

uint32_t bpe_split_simd(const bpe_split *split) {
    return split->n_stages > 0 && split->streams[split->n_stages - 1] ? split->simd
                                                                      : BPE_SIMD_SCALAR;
}

static void choose_fastest(bpe_split *split) {
    uint32_t simd = BPE_SIMD_NEON; /* the last one; no machine has those of two families */
    while (bpe_split_use_simd(split, simd) != BPE_OK)
        simd--;
}

bpe_status bpe_split_new(const bpe_split_stage *stages, size_t n_stages, bpe_split **out,
                         bpe_error *err) {
    if (n_stages > BPE_MAX_STAGES)
        return bpe_fail(err, BPE_ERR_LIMIT, n_stages);
    bpe_split *split = bpe_mem_zeroed(1, sizeof *split + n_stages * sizeof split->stages[0]);
    if (!split)
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    split->n_stages = n_stages;
    for (size_t i = 0; i < n_stages; i++) {
        bpe_status status = bpe_stage_init(&split->stages[i], &stages[i], i, err);
        if (status == BPE_OK && stages[i].behavior == BPE_SPLIT_ISOLATED) {
            status = bpe_stream_new(&split->stages[i], &split->streams[i]);
            if (status != BPE_OK)
                bpe_fail(err, status, i);
        }
        if (status != BPE_OK) {
            bpe_split_free(split);
            return status;
        }
        uint32_t behavior = stages[i].behavior;
        if (behavior == BPE_SPLIT_DROP_MATCHES || behavior == BPE_SPLIT_DROP_GAPS)
            split->drops = true;
    }
    choose_fastest(split);
    *out = split;
    return BPE_OK;
}

void bpe_split_free(bpe_split *split) {
    if (!split)
        return;
    for (size_t i = 0; i < split->n_stages; i++) {
        bpe_stage_free(&split->stages[i]);
        bpe_stream_free(split->streams[i]);
    }
    bpe_mem_free(split);
}

/* ---------------------------------------------------------------- one match */

/* What reading from a position found. */
typedef struct found {
    size_t matched; /* the match ends here; 0: none (no match ends at or before its start, so 0 is
                       free) */
    size_t reached; /* reading stopped before this position */
    bool unsettled; /* the text known so far ended while a state was alive */
} found;

/* The bit of a pair (16-byte window, state) in a level's failed pairs. */
static inline size_t failed_bit(const bpe_stage *s, size_t window, bpe_step row) {
    return window * s->n_states + row / s->width;
}

/*
 * Read from `start` until nothing can match any more. Inlined twice: with `remember`, it also stops
 * at pairs (state, first boundary of a window) from which an earlier reading found nothing.
 */
static inline found read_match(const bpe_stage *s, const uint8_t *data,
                               const bpe_split_level *level, size_t start, bool open,
                               bool remember) {
    size_t end = level->end;
    size_t p = start;
    bpe_step row = s->width; /* state 1 */
    found f = {0, start, false};
    size_t window = (start - level->start) >> 4;
    while (p < end) {
        if (remember && (p - level->start) >> 4 != window) {
            window = (p - level->start) >> 4;
            size_t bit = failed_bit(s, window, row);
            if (level->failed[bit >> 6] >> (bit & 63) & 1)
                break;
        }
        size_t length;
        uint32_t c = bpe_stage_class_at(s, data, p, end, &length);
        bpe_step t = s->steps[row + c];
        f.matched = t & 1 ? p : f.matched; /* a conditional move: whether is hard to foresee */
        row = t >> 1;
        if (row == 0)
            break;
        p += length;
    }
    f.reached = p;
    if (p < end)
        return f;
    if (open) {
        f.unsettled = true;
    } else if (s->steps[row + s->width - 1] & 1) {
        f.matched = end;
    }
    return f;
}

/* Remember the pairs that a reading from `start` went through after its match, in vain. */
static bool remember_failure(const bpe_stage *s, const uint8_t *data, bpe_split_level *level,
                             size_t start, const found *f) {
    if (!level->failed) {
        size_t windows = ((level->end - level->start) >> 4) + 1;
        if (windows > SIZE_MAX / s->n_states)
            return false;
        level->failed = bpe_mem_zeroed((windows * s->n_states + 63) >> 6, sizeof *level->failed);
        if (!level->failed)
            return false;
    }
    size_t kept = f->matched ? f->matched : start;
    size_t p = start;
    bpe_step row = s->width;
    size_t window = (kept - level->start) >> 4;
    while (p < f->reached) {
        if (p > kept && (p - level->start) >> 4 != window) {
            window = (p - level->start) >> 4;
            size_t bit = failed_bit(s, window, row);
            level->failed[bit >> 6] |= (uint64_t)1 << (bit & 63);
        }
        size_t length;
        uint32_t c = bpe_stage_class_at(s, data, p, level->end, &length);
        row = s->steps[row + c] >> 1;
        p += length;
    }
    return true;
}

/* Reading this many bytes past a match in vain is ordinary; further, it is worth remembering. */
#define LONG_FAILURE 64

static inline found match_at(bpe_split_cursor *cursor, const bpe_stage *s, bpe_split_level *level,
                             size_t start, bool open) {
    found f = level->failed ? read_match(s, cursor->data, level, start, open, true)
                            : read_match(s, cursor->data, level, start, open, false);
    size_t kept = f.matched ? f.matched : start;
    if (!f.unsettled && f.reached > kept + LONG_FAILURE) {
        cursor->nomem = !remember_failure(s, cursor->data, level, start, &f);
    }
    return f;
}

/* ---------------------------------------------------------------- the cursor */

static void enter(bpe_split_level *level, size_t start, size_t end) {
    bpe_mem_free(level->failed);
    *level = (bpe_split_level){start, start, end, 0, 0, NULL};
}

/*
 * Find the first match at or after p in a level with text left. Returns where it begins, with its
 * end in *matched: 0, and the level's end, when there is none. With `stop`, only p itself is looked
 * at. False when that is not settled or memory ran out.
 */
static bool find_match(bpe_split_cursor *cursor, const bpe_stage *s, bpe_split_level *level,
                       size_t p, bool open, bool stop, size_t *begin, size_t *matched) {
    *matched = 0;
    while (p < level->end) {
        found f = match_at(cursor, s, level, p, open);
        if (f.unsettled || cursor->nomem)
            return false;
        *matched = f.matched;
        if (f.matched || stop)
            break;
        size_t length;
        bpe_stage_class_at(s, cursor->data, p, level->end, &length);
        p += length;
    }
    *begin = p;
    return p < level->end || !open;
}

/* What lies between level->pos and the end that `cut` returns. */
typedef enum piece { GAP, MATCH } piece;

/*
 * Cut the next match, or the gap before the next match, off a level with text left. A match that is
 * found too early is kept for the next call. Returns where the piece ends, 0 when it is not settled
 * or memory ran out.
 */
static size_t cut(bpe_split_cursor *cursor, const bpe_stage *s, bpe_split_level *level, bool open,
                  piece *kind) {
    size_t from = level->pos;
    size_t begin = from;
    size_t matched = level->matched_end;
    size_t search = level->searched > from ? level->searched : from;
    if (!matched && !find_match(cursor, s, level, search, open, false, &begin, &matched))
        return 0;
    level->matched_end = 0;
    *kind = begin == from ? MATCH : GAP;
    if (begin == from)
        return matched;
    if (s->behavior == BPE_SPLIT_WITH_PREVIOUS)
        return matched ? matched : begin;
    level->matched_end = matched;
    return begin;
}

/* Take in what belongs to a match that ends at `end`: the gap behind it, or the matches. Returns
 * the new end, or 0 as `cut`. */
static size_t extend(bpe_split_cursor *cursor, const bpe_stage *s, bpe_split_level *level,
                     size_t end, bool open) {
    size_t begin;
    size_t matched;
    if (s->behavior == BPE_SPLIT_WITH_NEXT) {
        if (!find_match(cursor, s, level, end, open, false, &begin, &matched))
            return 0;
        level->matched_end = matched;
        return begin;
    }
    do {
        if (!find_match(cursor, s, level, end, open, true, &begin, &matched))
            return 0;
        if (matched)
            end = matched;
    } while (matched);
    return end;
}

/* The next piece as the stage's behaviour has it, from level->pos, which is moved behind it; false
 * as `cut`. */
static bool next_piece(bpe_split_cursor *cursor, const bpe_stage *s, bpe_split_level *level,
                       bool open, size_t *end, bool *dropped) {
    piece kind = GAP;
    *end = cut(cursor, s, level, open, &kind);
    if (*end && kind == MATCH &&
        (s->behavior == BPE_SPLIT_WITH_NEXT || s->behavior == BPE_SPLIT_CONTIGUOUS)) {
        *end = extend(cursor, s, level, *end, open);
    }
    if (*end == 0)
        return false;
    *dropped = (s->behavior == BPE_SPLIT_DROP_MATCHES && kind == MATCH) ||
               (s->behavior == BPE_SPLIT_DROP_GAPS && kind == GAP);
    level->pos = *end;
    return true;
}

/*
 * The quick loop: write the ends of pretokens from level->pos on, which is moved behind the last
 * one written, and return how many. Stops early at what only `cut` can settle: a gap, the end of
 * the text, a long failure. Every step leads to the next one by a table alone; the rare match that
 * ends before the character that ruled out a longer one is read on from again.
 */
static size_t flow_ends(const bpe_stage *s, const uint8_t *data, bpe_split_level *level,
                        size_t *ends, size_t cap) {
    size_t end = level->end;
    size_t n = 0;
    size_t p = level->pos;
    size_t matched = 0;
    bpe_flow row = s->width; /* state 1 */
    while (p < end && n < cap) {
        size_t length;
        uint32_t c = bpe_stage_class_at(s, data, p, end, &length);
        bpe_flow t = s->flow[row + c];
        if (t != 0) {
            matched = t & BPE_FLOW_MATCH ? p : matched;
            ends[n] = p;
            n += t / BPE_FLOW_END & 1;
            row = t >> 2;
            p += length;
            continue;
        }
        size_t start = n > 0 ? ends[n - 1] : level->pos;
        if (s->steps[row + c] & 1)
            matched = p;
        if (matched <= start || p > matched + LONG_FAILURE)
            break;
        ends[n++] = p = matched;
        row = s->width;
    }
    if (n > 0)
        level->pos = ends[n - 1];
    return n;
}

/* Fewer bytes than these are not worth a walk by the streaming automaton. */
#define LEAST_STREAM 128

/*
 * Write up to `cap` ends that the streaming automaton of stage k finds from level->pos on; a walk
 * that has found some is not disturbed by level->pos following them. None: the walk is over, or not
 * worth it.
 */
static size_t stream_ends(bpe_split_cursor *cursor, size_t k, bpe_walk *w, size_t *ends,
                          size_t cap) {
    bpe_split_level *level = &cursor->levels[k];
    if (w->phase == BPE_WALK_FRESH && level->end - level->pos >= LEAST_STREAM)
        bpe_walk_begin(w, cursor->split->streams[k], cursor->data, level->pos, level->end);
    if (w->phase != BPE_WALK_ON)
        return 0;
    size_t n = bpe_walk_next(w, ends, cap);
    if (n < cap)
        level->searched = bpe_walk_searched(w);
    return n;
}

/* Whether the quick ways may go on in a level: nothing is left that only `cut` knows about. */
static bool is_plain(const bpe_split_cursor *cursor, size_t k) {
    const bpe_split_level *level = &cursor->levels[k];
    return cursor->split->stages[k].behavior == BPE_SPLIT_ISOLATED && !level->failed &&
           !level->matched_end;
}

static bool has_stream(const bpe_split *split, size_t k) {
    return split->simd != BPE_SIMD_SCALAR && split->streams[k];
}

/* The end of the next piece of a level before the last one, if the streaming automaton tells. */
static bool piece_ahead(bpe_split_cursor *cursor, size_t k, size_t *end) {
    const bpe_split_level *level = &cursor->levels[k];
    if (!has_stream(cursor->split, k) || !is_plain(cursor, k))
        return false;
    if (!cursor->ahead && level->end - level->pos >= LEAST_STREAM)
        cursor->ahead = bpe_mem_zeroed(cursor->split->n_stages - 1, sizeof *cursor->ahead);
    if (!cursor->ahead)
        return false; /* the plain loop needs no memory */
    bpe_split_ahead *a = &cursor->ahead[k];
    if (a->at == a->n) {
        a->at = 0;
        a->n = stream_ends(cursor, k, &a->walk, a->ends, sizeof a->ends / sizeof a->ends[0]);
    }
    if (a->at == a->n)
        return false;
    *end = a->ends[a->at++];
    return true;
}

/* The span [start, end) is the next level's. */
static void descend(bpe_split_cursor *cursor, size_t k, size_t start, size_t end) {
    enter(&cursor->levels[k], start, end);
    if (k + 1 == cursor->split->n_stages)
        cursor->walk.phase = BPE_WALK_FRESH;
    else if (cursor->ahead)
        cursor->ahead[k].walk.phase = BPE_WALK_FRESH;
}

void bpe_split_begin(bpe_split_cursor *cursor, const bpe_split *split, const uint8_t *data,
                     size_t begin, size_t n, bool open) {
    cursor->split = split;
    cursor->data = data;
    cursor->n = n;
    cursor->settled = begin;
    cursor->open = open;
    cursor->nomem = false;
    cursor->walk.phase = BPE_WALK_FRESH;
    cursor->ahead = NULL;
    for (size_t k = 0; k < split->n_stages; k++)
        cursor->levels[k] = (bpe_split_level){0, 0, 0, 0, 0, NULL};
    size_t end = open ? n - bpe_utf8_open_tail(data + begin, n - begin) : n;
    cursor->levels[0] = (bpe_split_level){begin, begin, end, 0, 0, NULL};
}

/* No stages: one pretoken, if the text is known to its end. */
static size_t next_whole(bpe_split_cursor *cursor, size_t *ends, size_t cap) {
    bpe_split_level *level = &cursor->levels[0];
    if (cursor->open || cap == 0 || level->pos >= level->end)
        return 0;
    level->pos = level->end;
    cursor->settled = level->end;
    ends[0] = level->end;
    return 1;
}

/* Inlined twice: with `starts` and without. */
static inline size_t next_spans(bpe_split_cursor *cursor, size_t *starts, size_t *ends,
                                size_t cap) {
    const bpe_split *split = cursor->split;
    size_t last = split->n_stages - 1;
    size_t n = 0;
    while (n < cap) {
        size_t k = last;
        while (k > 0 && cursor->levels[k].pos >= cursor->levels[k].end)
            k--;
        bpe_split_level *level = &cursor->levels[k];
        if (k == 0)
            cursor->settled = level->pos; /* what vanished at the end of a piece, too */
        if (level->pos >= level->end)
            break;
        size_t start = level->pos;
        if (k == last && is_plain(cursor, k)) {
            size_t quick =
                has_stream(split, k) ? stream_ends(cursor, k, &cursor->walk, ends + n, cap - n) : 0;
            if (quick > 0)
                level->pos = ends[n + quick - 1];
            if (n + quick < cap)
                quick += flow_ends(&split->stages[k], cursor->data, level, ends + n + quick,
                                   cap - n - quick);
            for (size_t i = n; starts && i < n + quick; start = ends[i], i++)
                starts[i] = start;
            n += quick;
            cursor->settled = level->pos;
            if (n == cap || level->pos >= level->end)
                continue;
            start = level->pos;
        }
        size_t end;
        bool dropped;
        if (k < last && piece_ahead(cursor, k, &end)) {
            level->pos = end;
            descend(cursor, k + 1, start, end);
            continue;
        }
        if (!next_piece(cursor, &split->stages[k], level, cursor->open && k == 0, &end, &dropped))
            break;
        if (dropped)
            continue;
        if (k < last) {
            descend(cursor, k + 1, start, end);
            continue;
        }
        if (starts)
            starts[n] = start;
        ends[n++] = end;
        cursor->settled = end;
    }
    return n;
}

size_t bpe_split_next(bpe_split_cursor *cursor, size_t *ends, size_t cap) {
    if (cursor->split->n_stages == 0)
        return next_whole(cursor, ends, cap);
    return next_spans(cursor, NULL, ends, cap);
}

size_t bpe_split_next_spans(bpe_split_cursor *cursor, size_t *starts, size_t *ends, size_t cap) {
    if (cursor->split->n_stages == 0) {
        size_t start = cursor->levels[0].pos;
        size_t n = next_whole(cursor, ends, cap);
        if (n > 0)
            starts[0] = start;
        return n;
    }
    return next_spans(cursor, starts, ends, cap);
}

const bpe_stage *bpe_split_first_stage(const bpe_split *split) {
    return split->n_stages > 0 ? &split->stages[0] : NULL;
}

uint32_t bpe_split_drops(const bpe_split *split) { return split->drops; }

void bpe_split_end(bpe_split_cursor *cursor) {
    bpe_mem_free(cursor->ahead);
    cursor->ahead = NULL;
    for (size_t k = 0; k < cursor->split->n_stages; k++) {
        bpe_mem_free(cursor->levels[k].failed);
        cursor->levels[k].failed = NULL;
    }
}

/* All pretokens at once; `starts` may be NULL. */
static bpe_status all_spans(const bpe_split *split, const uint8_t *data, size_t n, size_t *starts,
                            size_t *ends, size_t cap, size_t *n_spans) {
    bpe_split_cursor cursor;
    bpe_split_begin(&cursor, split, data, 0, n, false);
    size_t found_spans = starts ? bpe_split_next_spans(&cursor, starts, ends, cap)
                                : bpe_split_next(&cursor, ends, cap);
    /* Whether there are more: text that vanishes may follow the last one. */
    size_t start;
    size_t end;
    size_t more = found_spans < cap ? 0 : bpe_split_next_spans(&cursor, &start, &end, 1);
    bool nomem = cursor.nomem;
    bpe_split_end(&cursor);
    if (nomem)
        return BPE_ERR_NOMEM;
    if (more > 0)
        return BPE_ERR_CAPACITY;
    *n_spans = found_spans;
    return BPE_OK;
}

bpe_status bpe_split_ends(const bpe_split *split, const uint8_t *data, size_t n, size_t *ends,
                          size_t cap, size_t *n_ends) {
    if (split->drops)
        return BPE_ERR_ARG;
    return all_spans(split, data, n, NULL, ends, cap, n_ends);
}

bpe_status bpe_split_spans(const bpe_split *split, const uint8_t *data, size_t n, size_t *starts,
                           size_t *ends, size_t cap, size_t *n_spans) {
    return all_spans(split, data, n, starts, ends, cap, n_spans);
}
