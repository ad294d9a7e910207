#include "split.h"

#include <string.h>

#include "memory.h"
#include "utf8.h"

#define N_PAGES 0x1100u /* pages of 256 codepoints */
#define PAGE_SHIFT 8

/* A transition, ready for the loop: (offset of the next state's row) * 2 + (a match ends before
 * this character). */
typedef uint32_t step_t;

/* A transition of the quick loop: (offset of the next state's row) * 4 + FLOW_MATCH + FLOW_END; no
 * row (0) where the quick loop must stop. */
typedef uint32_t flow_t;

#define FLOW_MATCH 1u /* a match ends before this character, a longer one may come */
#define FLOW_END 2u   /* the match ends before this character, which begins the next one */

typedef struct stage {
    uint16_t page_of[N_PAGES]; /* codepoint >> 8 -> page */
    uint8_t ascii[128];        /* class of an ASCII character */
    uint8_t *pages;            /* 256 classes each */
    step_t *steps;             /* n_states rows of `width` */
    flow_t *flow;              /* the same for reading on behind the end of a match */
    uint32_t width;            /* classes and the end of text */
    uint32_t n_states;
    uint32_t behavior; /* BPE_SPLIT_* */
    bool over_bytes;
} stage;

struct bpe_split {
    size_t n_stages;
    bool drops; /* a stage makes text vanish */
    stage stages[];
};

/* ---------------------------------------------------------------- building */

/* The class of every codepoint of one page; `run` is the run that holds its first codepoint and is
 * moved on. */
static void fill_page(uint8_t *page, const bpe_split_stage *spec, uint32_t first, size_t *run) {
    for (uint32_t i = 0; i < 256; i++) {
        while (*run + 1 < spec->n_runs && spec->class_starts[*run + 1] <= first + i)
            (*run)++;
        page[i] = spec->class_ids[*run];
    }
}

static bpe_status build_pages(stage *s, const bpe_split_stage *spec) {
    uint8_t *all = bpe_mem_array(N_PAGES, 256);
    if (!all)
        return BPE_ERR_NOMEM;
    size_t n = 0;
    size_t run = 0;
    for (uint32_t p = 0; p < N_PAGES; p++) {
        uint8_t *page = all + n * 256;
        fill_page(page, spec, p << PAGE_SHIFT, &run);
        /* Long stretches share one class, so comparing with the last page alone finds nearly all
         * repeats. */
        if (n > 0 && memcmp(page, page - 256, 256) == 0) {
            s->page_of[p] = (uint16_t)(n - 1);
        } else {
            s->page_of[p] = (uint16_t)n++;
        }
    }
    s->pages = bpe_mem_copy(all, n * 256, 1);
    bpe_mem_free(all);
    if (!s->pages)
        return BPE_ERR_NOMEM;
    memcpy(s->ascii, s->pages, 128); /* page 0 */
    return BPE_OK;
}

static bpe_status check_stage(const bpe_split_stage *spec, size_t index, bpe_error *err) {
    if (spec->n_classes < 1 || spec->n_classes > 255 || spec->n_states < 2 ||
        spec->n_states > BPE_MAX_STATES) {
        return bpe_fail(err, BPE_ERR_LIMIT, index);
    }
    if (spec->n_runs == 0 || spec->class_starts[0] != 0)
        return bpe_fail(err, BPE_ERR_SPLIT, 0);
    for (size_t i = 0; i < spec->n_runs; i++) {
        if (spec->class_ids[i] >= spec->n_classes || spec->class_starts[i] >= 0x110000 ||
            (i > 0 && spec->class_starts[i] <= spec->class_starts[i - 1])) {
            return bpe_fail(err, BPE_ERR_SPLIT, i);
        }
    }
    size_t width = spec->n_classes + 1;
    for (size_t i = 0; i < spec->n_states * width; i++) {
        uint16_t t = spec->transitions[i];
        bool dead_row = i < width;
        bool end_column = i % width == width - 1;
        /* A flag on the start row would end a match where it begins. */
        bool start_row = i / width == 1;
        if ((t & 0x7FFF) >= spec->n_states || (dead_row && t != 0) ||
            (end_column && (t & 0x7FFF) != 0) || (start_row && (t & 0x8000) != 0)) {
            return bpe_fail(err, BPE_ERR_SPLIT, i);
        }
    }
    return BPE_OK;
}

/*
 * Most matches end where no longer one can come: the transition is dead and says that a match ends
 * here. There the quick loop goes on at once in the state that the character leads to from the
 * start, so that the ends of pretokens are no branches.
 */
static flow_t flow_of(const stage *s, uint32_t row, uint32_t c) {
    step_t t = s->steps[row + c];
    if (t >> 1 != 0)
        return (t >> 1) * 4 + (t & 1 ? FLOW_MATCH : 0);
    step_t fresh = s->steps[s->width + c] >> 1;
    return (t & 1) && fresh != 0 ? fresh * 4 + FLOW_END : 0;
}

static bpe_status build_stage(stage *s, const bpe_split_stage *spec, size_t index, bpe_error *err) {
    bpe_status status = check_stage(spec, index, err);
    if (status != BPE_OK)
        return status;
    if (spec->behavior > BPE_SPLIT_CONTIGUOUS || spec->over_bytes > 1)
        return bpe_fail(err, BPE_ERR_ARG, index);
    s->behavior = spec->behavior;
    s->over_bytes = spec->over_bytes != 0;
    s->width = spec->n_classes + 1;
    s->n_states = spec->n_states;
    size_t n = (size_t)s->n_states * s->width;
    s->steps = bpe_mem_array(n, sizeof *s->steps);
    s->flow = bpe_mem_zeroed(n, sizeof *s->flow);
    if (!s->steps || !s->flow)
        return bpe_fail(err, BPE_ERR_NOMEM, index);
    for (size_t i = 0; i < n; i++) {
        uint16_t t = spec->transitions[i];
        s->steps[i] = (step_t)(t & 0x7FFF) * s->width * 2 + (t >> 15);
    }
    for (uint32_t row = s->width; row < n; row += s->width) {
        for (uint32_t c = 0; c < s->width; c++)
            s->flow[row + c] = flow_of(s, row, c);
    }
    status = build_pages(s, spec);
    return status == BPE_OK ? BPE_OK : bpe_fail(err, status, index);
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
        bpe_status status = build_stage(&split->stages[i], &stages[i], i, err);
        if (status != BPE_OK) {
            bpe_split_free(split);
            return status;
        }
        uint32_t behavior = stages[i].behavior;
        if (behavior == BPE_SPLIT_DROP_MATCHES || behavior == BPE_SPLIT_DROP_GAPS)
            split->drops = true;
    }
    *out = split;
    return BPE_OK;
}

void bpe_split_free(bpe_split *split) {
    if (!split)
        return;
    for (size_t i = 0; i < split->n_stages; i++) {
        bpe_mem_free(split->stages[i].steps);
        bpe_mem_free(split->stages[i].flow);
        bpe_mem_free(split->stages[i].pages);
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

static inline uint32_t class_at(const stage *s, const uint8_t *data, size_t p, size_t end,
                                size_t *length) {
    uint8_t b = data[p];
    if (b < 0x80) {
        *length = 1;
        return s->ascii[b];
    }
    if (s->over_bytes) {
        *length = 1;
        return s->pages[b]; /* page 0 is the first one */
    }
    uint32_t cp;
    *length = bpe_utf8_decode(data + p, data + end, &cp);
    return s->pages[(uint32_t)s->page_of[cp >> PAGE_SHIFT] << 8 | (cp & 0xFF)];
}

/* The bit of a pair (16-byte window, state) in a level's failed pairs. */
static inline size_t failed_bit(const stage *s, size_t window, step_t row) {
    return window * s->n_states + row / s->width;
}

/*
 * Read from `start` until nothing can match any more. Inlined twice: with `remember`, it also stops
 * at pairs (state, first boundary of a window) from which an earlier reading found nothing.
 */
static inline found read_match(const stage *s, const uint8_t *data, const bpe_split_level *level,
                               size_t start, bool open, bool remember) {
    size_t end = level->end;
    size_t p = start;
    step_t row = s->width; /* state 1 */
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
        uint32_t c = class_at(s, data, p, end, &length);
        step_t t = s->steps[row + c];
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
static bool remember_failure(const stage *s, const uint8_t *data, bpe_split_level *level,
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
    step_t row = s->width;
    size_t window = (kept - level->start) >> 4;
    while (p < f->reached) {
        if (p > kept && (p - level->start) >> 4 != window) {
            window = (p - level->start) >> 4;
            size_t bit = failed_bit(s, window, row);
            level->failed[bit >> 6] |= (uint64_t)1 << (bit & 63);
        }
        size_t length;
        uint32_t c = class_at(s, data, p, level->end, &length);
        row = s->steps[row + c] >> 1;
        p += length;
    }
    return true;
}

/* Reading this many bytes past a match in vain is ordinary; further, it is worth remembering. */
#define LONG_FAILURE 64

static inline found match_at(bpe_split_cursor *cursor, const stage *s, bpe_split_level *level,
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
    *level = (bpe_split_level){start, start, end, 0, NULL};
}

/*
 * Find the first match at or after p in a level with text left. Returns where it begins, with its
 * end in *matched: 0, and the level's end, when there is none. With `stop`, only p itself is looked
 * at. False when that is not settled or memory ran out.
 */
static bool find_match(bpe_split_cursor *cursor, const stage *s, bpe_split_level *level, size_t p,
                       bool open, bool stop, size_t *begin, size_t *matched) {
    *matched = 0;
    while (p < level->end) {
        found f = match_at(cursor, s, level, p, open);
        if (f.unsettled || cursor->nomem)
            return false;
        *matched = f.matched;
        if (f.matched || stop)
            break;
        size_t length;
        class_at(s, cursor->data, p, level->end, &length);
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
static size_t cut(bpe_split_cursor *cursor, const stage *s, bpe_split_level *level, bool open,
                  piece *kind) {
    size_t from = level->pos;
    size_t begin = from;
    size_t matched = level->matched_end;
    if (!matched && !find_match(cursor, s, level, from, open, false, &begin, &matched))
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
static size_t extend(bpe_split_cursor *cursor, const stage *s, bpe_split_level *level, size_t end,
                     bool open) {
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
static bool next_piece(bpe_split_cursor *cursor, const stage *s, bpe_split_level *level, bool open,
                       size_t *end, bool *dropped) {
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
static size_t flow_ends(const stage *s, const uint8_t *data, bpe_split_level *level, size_t *ends,
                        size_t cap) {
    size_t end = level->end;
    size_t n = 0;
    size_t p = level->pos;
    size_t matched = 0;
    flow_t row = s->width; /* state 1 */
    while (p < end && n < cap) {
        size_t length;
        uint32_t c = class_at(s, data, p, end, &length);
        flow_t t = s->flow[row + c];
        if (t != 0) {
            matched = t & FLOW_MATCH ? p : matched;
            ends[n] = p;
            n += t / FLOW_END & 1;
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

void bpe_split_begin(bpe_split_cursor *cursor, const bpe_split *split, const uint8_t *data,
                     size_t begin, size_t n, bool open) {
    cursor->split = split;
    cursor->data = data;
    cursor->n = n;
    cursor->settled = begin;
    cursor->open = open;
    cursor->nomem = false;
    for (size_t k = 0; k < split->n_stages; k++)
        cursor->levels[k] = (bpe_split_level){0, 0, 0, 0, NULL};
    size_t end = open ? n - bpe_utf8_open_tail(data + begin, n - begin) : n;
    cursor->levels[0] = (bpe_split_level){begin, begin, end, 0, NULL};
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
        if (k == last && split->stages[k].behavior == BPE_SPLIT_ISOLATED && !level->failed &&
            !level->matched_end) {
            size_t quick = flow_ends(&split->stages[k], cursor->data, level, ends + n, cap - n);
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
        if (!next_piece(cursor, &split->stages[k], level, cursor->open && k == 0, &end, &dropped))
            break;
        if (dropped)
            continue;
        if (k < last) {
            enter(&cursor->levels[k + 1], start, end);
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

bool bpe_split_drops_text(const bpe_split *split) { return split->drops; }

uint32_t bpe_split_drops(const bpe_split *split) { return split->drops; }

void bpe_split_end(bpe_split_cursor *cursor) {
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
