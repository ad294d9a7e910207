/*
 * Building the streaming automaton of a stage.
 *
 * A state of it, before minimising, is
 *   state      the stage's state since the pretoken at hand began; NOTHING when nothing of it is
 *              read yet;
 *   age        0: nothing has matched yet; 1: the last match ended just before the last character;
 *              2: earlier;
 *   shadow     another state of this automaton: what it would be in had it started afresh where the
 *              last match ended (age 0: behind the first character, which then is a gap) and read
 *              the characters since. Needed only where the stage's automaton can still fail;
 *   dirty      the shadow has passed a boundary since it started;
 *   after_gap  a gap lies before the pretoken at hand, and whether it ends there depends on whether
 *              the pretoken matches;
 *   marked     where the last match ended was told by a MARK, which no shadow does.
 * feed() is the transition function. When the stage's automaton fails, its shadow takes over.
 */
#include <string.h>

#include "memory.h"
#include "stream.h"

#define MAX_RAW 1024
#define HASH_SLOTS 4096
#define MAX_STAGE_STATES 256

#define NO_SHADOW UINT16_MAX
#define NOTHING 0 /* the stage's dead state stands for "nothing read yet" */

/* The two states that have read nothing: behind a boundary, and behind a character that is a gap.
 */
enum { AFTER_BOUNDARY = 0, AFTER_GAP = 1 };

/* What a transition tells: BPE_STREAM_* and this. */
enum { NONE = 0, BEFORE = 8 }; /* a boundary before this character */
enum {
    MARK = BPE_STREAM_MARK,
    PREVIOUS = BPE_STREAM_PREVIOUS,
    COMMIT = BPE_STREAM_COMMIT,
    HARD = BPE_STREAM_HARD
};

typedef struct raw {
    uint16_t state;
    uint16_t shadow;
    uint8_t age;
    uint8_t dirty;
    uint8_t after_gap;
    uint8_t marked;
} raw;

typedef struct edge {
    uint16_t to;
    uint16_t event;
} edge;

typedef struct builder {
    const bpe_stage *stage;
    uint32_t n_classes; /* of the stage */
    uint32_t n;
    bool full; /* more states than there is room for */
    bool can_fail[MAX_STAGE_STATES];
    bool uncertain[MAX_STAGE_STATES];
    raw raws[MAX_RAW];
    uint16_t slots[HASH_SLOTS]; /* raw + 1 */
    edge edges[MAX_RAW][BPE_STREAM_CLASSES];
    /* minimising */
    bool uses_mark[MAX_RAW];
    bool reached[MAX_RAW];
    uint16_t group[MAX_RAW];
    uint16_t refined[MAX_RAW];
    uint16_t first[MAX_RAW]; /* group -> its first state */
    uint32_t n_groups;
} builder;

static uint32_t hash_of(const raw *r) {
    uint64_t x = (uint64_t)r->state << 32 | (uint64_t)r->shadow << 8 | (uint64_t)r->age << 4 |
                 (uint64_t)r->dirty << 2 | (uint64_t)r->after_gap << 1 | r->marked;
    x *= 0x9E3779B97F4A7C15u;
    return (uint32_t)(x >> 40);
}

static uint16_t intern(builder *b, raw r) {
    for (uint32_t h = hash_of(&r);; h++) {
        uint16_t *slot = &b->slots[h % HASH_SLOTS];
        if (*slot == 0) {
            if (b->n == MAX_RAW) {
                b->full = true;
                return AFTER_BOUNDARY;
            }
            b->raws[b->n++] = r;
            *slot = (uint16_t)b->n;
            return (uint16_t)(b->n - 1);
        }
        const raw *have = &b->raws[*slot - 1];
        if (have->state == r.state && have->shadow == r.shadow && have->age == r.age &&
            have->dirty == r.dirty && have->after_gap == r.after_gap && have->marked == r.marked)
            return (uint16_t)(*slot - 1);
    }
}

/* A transition of the stage. */
static uint16_t stage_step(const builder *b, uint32_t state, uint32_t c, bool *match) {
    bpe_step t = b->stage->steps[state * b->stage->width + c];
    *match = t & 1;
    return (uint16_t)((t >> 1) / b->stage->width);
}

/* A state can fail when some text takes it to the dead state without a match on the way; it is
 * certain to match when not even the end of the text does so. */
static void find_failing(builder *b) {
    bool changed = true;
    for (uint32_t s = 1; s < b->stage->n_states; s++) {
        bool match;
        stage_step(b, s, b->n_classes, &match);
        b->uncertain[s] = !match;
    }
    while (changed) {
        changed = false;
        for (uint32_t s = b->stage->n_states - 1; s > 0; s--) {
            bool failed = b->can_fail[s], unsure = b->uncertain[s];
            for (uint32_t c = 0; c < b->n_classes && !(failed && unsure); c++) {
                bool match;
                uint16_t to = stage_step(b, s, c, &match);
                failed |= !match && (to == 0 || b->can_fail[to]);
                unsure |= !match && (to == 0 || b->uncertain[to]);
            }
            changed |= failed != b->can_fail[s] || unsure != b->uncertain[s];
            b->can_fail[s] = failed;
            b->uncertain[s] = unsure;
        }
    }
}

static edge edge_to(builder *b, raw r, uint16_t event) {
    if (!b->can_fail[r.state]) {
        r.shadow = NO_SHADOW;
        r.dirty = 0;
        r.marked = 0;
        event &= (uint16_t)~MARK;
    }
    return (edge){intern(b, r), event};
}

/* The first character of a pretoken, or of a gap. */
static edge feed_first(builder *b, const raw *r, uint32_t c) {
    bool match;
    uint16_t to = stage_step(b, 1, c, &match);
    if (to == 0)
        return (edge){AFTER_GAP, NONE};
    raw next = {to, AFTER_GAP, 0, 0, r->after_gap, 0};
    if (!b->uncertain[to] && r->after_gap) {
        next.after_gap = 0; /* it will match, so the gap ends here */
        return edge_to(b, next, BEFORE);
    }
    return edge_to(b, next, NONE);
}

/* The pretoken at hand ends where it last matched, and its shadow goes on. */
static edge take_over(builder *b, const raw *r, edge shadow) {
    raw next = b->raws[shadow.to];
    next.marked = (shadow.event & MARK) != 0; /* it told nobody of the marks before */
    uint16_t event = shadow.event;
    if (r->dirty || (r->age && r->after_gap) || (r->age == 2 && !r->marked) ||
        (event & (COMMIT | HARD)))
        event = HARD | (event & MARK);
    else if (r->age)
        event |= r->age == 1 ? PREVIOUS : COMMIT;
    return next.state == NOTHING ? (edge){shadow.to, event} : edge_to(b, next, event);
}

/* The transition of a state whose shadow's transitions are known, as AFTER_BOUNDARY's are. */
static edge feed(builder *b, raw r, uint32_t c) {
    if (r.state == NOTHING)
        return feed_first(b, &r, c);
    bool match;
    uint16_t to = stage_step(b, r.state, c, &match);
    uint16_t fresh = b->edges[AFTER_BOUNDARY][c].to;
    if (match && to != 0)
        return edge_to(b, (raw){to, fresh, 1, 0, r.after_gap, 1}, MARK);
    if (match)
        return (edge){fresh, r.after_gap ? HARD : BEFORE};
    edge shadow = r.shadow == NO_SHADOW ? (edge){NO_SHADOW, NONE} : b->edges[r.shadow][c];
    if (to == 0)
        return take_over(b, &r, shadow);
    bool dirty = r.dirty || (shadow.event & ~MARK) != NONE;
    return edge_to(b, (raw){to, shadow.to, r.age ? 2 : 0, dirty, r.after_gap, r.marked}, NONE);
}

/* All states and transitions. A shadow is interned before any state that has it, so its transitions
 * are there when they are needed. */
static void explore(builder *b) {
    intern(b, (raw){NOTHING, NO_SHADOW, 0, 0, 0, 0});
    intern(b, (raw){NOTHING, NO_SHADOW, 0, 0, 1, 0});
    for (uint32_t i = 0; i < b->n && !b->full; i++) {
        for (uint32_t c = 0; c < b->n_classes; c++)
            b->edges[i][c] = feed(b, b->raws[i], c);
    }
}

/* Keep only the marks that something may be committed to. */
static void drop_idle_marks(builder *b) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t x = b->n; x-- > 0;) {
            for (uint32_t c = 0; c < b->n_classes && b->raws[x].marked && !b->uses_mark[x]; c++) {
                edge e = b->edges[x][c];
                b->uses_mark[x] = (e.event & COMMIT) || (!(e.event & MARK) && b->uses_mark[e.to]);
                changed |= b->uses_mark[x];
            }
        }
    }
    for (uint32_t x = 0; x < b->n; x++) {
        for (uint32_t c = 0; c < b->n_classes; c++) {
            if (!b->uses_mark[b->edges[x][c].to])
                b->edges[x][c].event &= (uint16_t)~MARK;
        }
    }
}

/* Which states the start leads to: not those that are only ever shadows. */
static void mark_reached(builder *b) {
    uint16_t *todo = b->refined; /* not in use yet */
    uint32_t n = 0;
    todo[n++] = AFTER_BOUNDARY;
    b->reached[AFTER_BOUNDARY] = true;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t c = 0; c < b->n_classes; c++) {
            uint16_t to = b->edges[todo[i]][c].to;
            if (!b->reached[to]) {
                b->reached[to] = true;
                todo[n++] = to;
            }
        }
    }
}

static bool same_row(const builder *b, uint32_t x, uint32_t y) {
    if (b->group[x] != b->group[y])
        return false;
    for (uint32_t c = 0; c < b->n_classes; c++) {
        const edge *p = &b->edges[x][c], *q = &b->edges[y][c];
        if (p->event != q->event || b->group[p->to] != b->group[q->to])
            return false;
    }
    return true;
}

static uint32_t row_hash(const builder *b, uint32_t x) {
    uint64_t h = b->group[x];
    for (uint32_t c = 0; c < b->n_classes; c++) {
        const edge *e = &b->edges[x][c];
        h = (h ^ ((uint64_t)b->group[e->to] << 4 | e->event)) * 0x9E3779B97F4A7C15u;
        h ^= h >> 29;
    }
    return (uint32_t)(h >> 32);
}

/* Moore's algorithm: refine the groups of states that behave alike until nothing changes. */
static void minimise(builder *b) {
    uint32_t before;
    /* The state in a gap stays by itself, for the walk asks whether it is in it: a pretoken that
     * only the end of the text would make a match behaves like a gap otherwise. */
    b->group[AFTER_GAP] = 1;
    b->n_groups = b->reached[AFTER_GAP] ? 2 : 1;
    do {
        before = b->n_groups;
        b->n_groups = 0;
        memset(b->slots, 0, sizeof b->slots);
        for (uint32_t x = 0; x < b->n; x++) {
            if (!b->reached[x])
                continue;
            uint32_t h = row_hash(b, x);
            while (b->slots[h % HASH_SLOTS] != 0 && !same_row(b, b->slots[h % HASH_SLOTS] - 1u, x))
                h++;
            uint16_t *slot = &b->slots[h % HASH_SLOTS];
            if (*slot == 0) {
                *slot = (uint16_t)(x + 1);
                b->first[b->n_groups] = (uint16_t)x;
                b->refined[x] = (uint16_t)b->n_groups++;
            } else {
                b->refined[x] = b->refined[*slot - 1];
            }
        }
        memcpy(b->group, b->refined, sizeof b->group);
    } while (b->n_groups != before);
}

/* ---------------------------------------------------------------- numbers and tables */

/* Numbers of the states: one for each group, and one more for each group and what is told on a way
 * to it. */
typedef struct numbers {
    uint32_t n;
    uint8_t group_of[BPE_STREAM_NUMBERS];
    uint8_t event_of[BPE_STREAM_NUMBERS];
} numbers;

static uint8_t number_of(const numbers *num, uint32_t group, uint32_t event) {
    uint32_t i = 0;
    while (i < num->n && (num->group_of[i] != group || num->event_of[i] != event))
        i++;
    return (uint8_t)i;
}

/* Number the groups that edges with exactly this event lead to. */
static bool add_numbers(const builder *b, uint32_t event, numbers *num) {
    for (uint32_t g = 0; g < b->n_groups; g++) {
        for (uint32_t c = 0; c < b->n_classes; c++) {
            edge e = b->edges[b->first[g]][c];
            uint16_t to = b->group[e.to];
            if ((e.event & ~BEFORE) != event || number_of(num, to, event) < num->n)
                continue;
            if (num->n == BPE_STREAM_NUMBERS)
                return false;
            num->group_of[num->n] = (uint8_t)to;
            num->event_of[num->n++] = (uint8_t)event;
        }
    }
    return true;
}

/* In the order that bpe_stream describes; false if there are too many. */
static bool number_states(const builder *b, bpe_stream *s, numbers *num) {
    static const uint8_t rare[] = {PREVIOUS, COMMIT, COMMIT | PREVIOUS, HARD};
    memset(num, 0, sizeof *num);
    if (b->n_groups > BPE_STREAM_NUMBERS)
        return false;
    for (uint32_t g = 0; g < b->n_groups; g++)
        num->group_of[num->n++] = (uint8_t)g;
    s->first_mark = (uint8_t)num->n;
    bool fits = add_numbers(b, MARK, num);
    s->first_rare = (uint8_t)num->n;
    for (size_t i = 0; i < sizeof rare; i++)
        fits = fits && add_numbers(b, rare[i] | MARK, num);
    s->last_mark = (uint8_t)num->n;
    for (size_t i = 0; i < sizeof rare; i++)
        fits = fits && add_numbers(b, rare[i], num);
    s->n_numbers = num->n;
    memcpy(s->events, num->event_of, sizeof s->events);
    return fits;
}

/* The number of the state that an edge leads to, with the boundary bit. */
static uint8_t target_of(const builder *b, const numbers *num, edge e) {
    uint8_t n = number_of(num, b->group[e.to], e.event & ~(uint32_t)BEFORE);
    return (uint8_t)(n | (e.event & BEFORE ? BPE_STREAM_NUMBERS : 0));
}

static void fill_next(bpe_stream *s, const builder *b, const numbers *num) {
    for (uint32_t c = 0; c < b->n_classes; c++) {
        for (uint32_t g = 0; g < b->n_groups; g++)
            s->next[c][g] = target_of(b, num, b->edges[b->first[g]][c]);
    }
    for (uint32_t v = 0; v < sizeof s->next[0]; v++) {
        uint32_t n = v & (BPE_STREAM_NUMBERS - 1);
        uint8_t g = n < num->n ? num->group_of[n] : 0;
        for (uint32_t c = 0; c < b->n_classes; c++)
            s->next[c][v] = s->next[c][g];
        s->next[b->n_classes][v] = g; /* a continuation byte */
    }
    for (uint32_t i = 0; i < 64; i++) {
        memcpy(s->rows[i], s->next[s->bytes[i]], sizeof s->rows[i]);
        memcpy(s->rows[64 + i], s->next[s->bytes[64 + i]], sizeof s->rows[i]);
        memcpy(s->rows[128 + i], s->next[b->n_classes], sizeof s->rows[i]);
        memcpy(s->rows[192 + i], s->next[i], sizeof s->rows[i]);
    }
}

/* The tables of the vector kernels: 16 or 32 entries to a class; as many as there are states. */
static void fill_wide(bpe_stream *s, const builder *b) {
    if (b->n_groups > 32)
        return;
    uint32_t width = b->n_groups > 16 ? 32 : 16;
    uint32_t per_chunk = 128 / width;
    s->wide_mask = (uint8_t)(width - 1);
    s->n_chunks = (s->n_classes + per_chunk - 1) / per_chunk;
    if (s->n_classes * b->n_groups <= BPE_STREAM_DENSE)
        s->dense_width = (uint8_t)b->n_groups;
    for (uint32_t c = 0; c < s->n_classes; c++) {
        s->chunk_of[c] = (uint8_t)(c / per_chunk);
        s->offset_of[c] = (uint8_t)(c % per_chunk * width);
        uint8_t *entries = &s->chunks[s->chunk_of[c]][s->offset_of[c]];
        for (uint32_t g = 0; g < b->n_groups; g++) {
            edge e = {(uint16_t)b->first[g], NONE}; /* a continuation byte */
            if (c < b->n_classes)
                e = b->edges[b->first[g]][c];
            uint32_t rare = e.event & (PREVIOUS | COMMIT | HARD);
            entries[g] =
                (uint8_t)(b->group[e.to] | (e.event & MARK ? BPE_WIDE_MARK : 0) |
                          (rare ? BPE_WIDE_RARE : 0) | (e.event & BEFORE ? BPE_WIDE_BOUNDARY : 0));
            s->tells[c][g] = (uint8_t)(e.event & ~BEFORE);
        }
        if (s->dense_width)
            memcpy(s->dense + c * s->dense_width, entries, s->dense_width);
    }
}

static uint32_t slice_at(const bpe_stage *stage, uint32_t cp) {
    return (uint32_t)stage->page_of[cp >> BPE_PAGE_SHIFT] << 8 | (cp & 0xC0);
}

/* The one class of 64 characters; 0xFF when there are several. */
static uint8_t uniform_class(const uint8_t *slice) {
    for (uint32_t i = 1; i < 64; i++) {
        if (slice[i] != slice[0])
            return 0xFF;
    }
    return slice[0];
}

/* Where the classes of characters of two and three bytes are. */
static void fill_slices(bpe_stream *s) {
    const bpe_stage *stage = s->stage;
    memset(s->uniform, 0xFF, sizeof s->uniform);
    s->slice2[0] = s->slice2[1] = BPE_STREAM_NO_SLICE;
    for (uint32_t lead = 2; lead < 32; lead++) {
        s->slice2[lead] = slice_at(stage, lead << 6); /* 0 and 1 would be overlong */
        s->uniform[lead] = uniform_class(stage->pages + s->slice2[lead]);
    }
    for (uint32_t i = 0; i < 1024; i++) {
        uint32_t cp = i << 6;
        if (cp < 0x800 || (cp >= 0xD800 && cp <= 0xDFFF)) {
            s->slice3[i] = BPE_STREAM_NO_SLICE;
            s->pairs[i >> 6][i & 63] = s->pairs[i >> 6][0]; /* never looked up */
        } else {
            s->slice3[i] = slice_at(stage, cp);
            s->pairs[i >> 6][i & 63] = uniform_class(stage->pages + s->slice3[i]);
        }
    }
    memset(s->pairs[0], s->pairs[0][32], 32);
    for (uint32_t lead = 0; lead < 16; lead++)
        s->uniform[32 + lead] = uniform_class(s->pairs[lead]);
}

static bpe_status make_tables(const builder *b, bpe_stream **out) {
    uint32_t n_classes = b->n_classes + 1;
    bpe_stream *s = bpe_mem_zeroed(1, sizeof *s);
    if (!s)
        return BPE_ERR_NOMEM;
    numbers num;
    if (!number_states(b, s, &num)) {
        bpe_mem_free(s);
        return BPE_OK;
    }
    s->stage = b->stage;
    s->n_classes = n_classes;
    s->start = (uint8_t)b->group[AFTER_BOUNDARY];
    s->has_gap = b->reached[AFTER_GAP];
    s->gap = (uint8_t)b->group[AFTER_GAP];
    s->bad = s->stage->pages[(uint32_t)s->stage->page_of[0xFF] << 8 | 0xFD];
    memcpy(s->bytes, s->stage->pages, sizeof s->bytes);
    for (uint32_t c = 0; c < b->n_classes; c++) {
        bool match;
        uint16_t to = stage_step(b, 1, c, &match);
        s->certain[c] = to != 0 && !b->uncertain[to];
    }
    fill_next(s, b, &num);
    fill_wide(s, b);
    fill_slices(s);
    *out = s;
    return BPE_OK;
}

bpe_status bpe_stream_new(const bpe_stage *stage, bpe_stream **out) {
    *out = NULL;
    if (stage->n_states > MAX_STAGE_STATES || stage->width > BPE_STREAM_CLASSES)
        return BPE_OK;
    builder *b = bpe_mem_zeroed(1, sizeof *b);
    if (!b)
        return BPE_ERR_NOMEM;
    b->stage = stage;
    b->n_classes = stage->width - 1;
    find_failing(b);
    explore(b);
    bpe_status status = BPE_OK;
    if (!b->full) {
        drop_idle_marks(b);
        mark_reached(b);
        minimise(b);
        status = make_tables(b, out);
    }
    bpe_mem_free(b);
    return status;
}

void bpe_stream_free(bpe_stream *stream) { bpe_mem_free(stream); }
