#include "walk.h"

/* Fewer bytes than these at the end of a text are not worth a block. */
#define LEAST_BLOCK 64

/* What reading from a position found: a match up to `matched`, 0 for none; not `settled` when the
 * text read ended while a longer match was possible. */
typedef struct reading {
    size_t matched;
    bool settled;
} reading;

static reading read_on(const bpe_stage *s, const uint8_t *data, size_t p, size_t end) {
    bpe_step row = s->width; /* state 1 */
    reading r = {0, false};
    while (p < end) {
        size_t length;
        bpe_step t = s->steps[row + bpe_stage_class_at(s, data, p, end, &length)];
        r.matched = t & 1 ? p : r.matched;
        row = t >> 1;
        if (row == 0) {
            r.settled = true;
            break;
        }
        p += length;
    }
    return r;
}

/* The next piece from p on, if the text up to `end` settles it as far as the automaton tells; 0 if
 * not. A gap ends, too, where a match is certain to begin. */
static size_t settled_piece(const bpe_stream *stream, const uint8_t *data, size_t p, size_t end) {
    const bpe_stage *s = stream->stage;
    for (size_t q = p; q < end;) {
        reading r = read_on(s, data, q, end);
        if (r.matched && r.settled)
            return q == p ? r.matched : q;
        size_t length;
        uint32_t c = bpe_stage_class_at(s, data, q, end, &length);
        if (!r.settled)
            return q > p && stream->certain[c] ? q : 0;
        q += length;
    }
    return 0;
}

/* Where the character before p begins. */
static size_t previous_character(const bpe_walk *w, size_t p) {
    const uint8_t *data = w->data;
    size_t q = p - 1;
    if (w->stream->stage->over_bytes || (data[q] & 0xC0) != 0x80)
        return q;
    for (size_t back = 1; back <= 3 && q - w->start >= back; back++) {
        uint32_t cp;
        if (bpe_utf8_decode(data + q - back, data + p, &cp) == back + 1)
            return q - back;
    }
    return q;
}

static void set_bit(uint64_t *words, size_t i) { words[i >> 6] |= (uint64_t)1 << (i & 63); }

/* The last set bit before bit i; false if there is none. */
static bool last_before(const uint64_t *words, size_t i, size_t *at) {
    size_t w = i >> 6;
    uint64_t bits = words[w] & (((uint64_t)1 << (i & 63)) - 1);
    while (bits == 0 && w > 0)
        bits = words[--w];
    if (bits == 0)
        return false;
    *at = w * 64 + bpe_highest_bit(bits);
    return true;
}

/* A rare event at byte i of the block whose boundaries need the stage's own automaton. */
static void find_hard(bpe_walk *w, size_t i) {
    size_t length, at;
    bpe_stage_class_at(w->stream->stage, w->data, w->from + i, w->end, &length);
    size_t end = w->from + i + length;
    size_t pos = last_before(w->block.ends, i, &at) ? w->from + at : w->pos;
    while ((pos = settled_piece(w->stream, w->data, pos, end)) != 0) {
        if (pos < w->from)
            w->early = end;
        else
            set_bit(w->block.ends, pos - w->from);
    }
}

/* Turn what is told at byte i of the block into boundaries. */
static void resolve(bpe_walk *w, size_t i, uint32_t told) {
    bpe_stream_block *b = &w->block;
    size_t mark = 0;
    size_t previous = w->from;
    bool hard = told & BPE_STREAM_HARD;
    if (told & BPE_STREAM_COMMIT)
        hard = !last_before(b->marks, i, &mark); /* it is before the block */
    if (told & BPE_STREAM_PREVIOUS)
        previous = previous_character(w, w->from + i);
    if (hard || previous < w->from) {
        find_hard(w, i);
        return;
    }
    if (told & BPE_STREAM_COMMIT)
        set_bit(b->ends, mark);
    if (told & BPE_STREAM_PREVIOUS)
        set_bit(b->ends, previous - w->from);
}

/* Scan the next block; false when the rest is not worth one. */
static bool next_block(bpe_walk *w) {
    if (w->end - w->to < LEAST_BLOCK)
        return false;
    w->from = w->to;
    w->to = bpe_stream_scan(w->stream, w->data, w->from, w->end, &w->state, &w->block);
    w->word = 0;
    w->n_words = (w->to - w->from + 63) / 64;
    if (w->block.n_rare == 0)
        return true;
    /* In the order of the text: what is told later may settle a boundary that lies before the place
     * of something told earlier. */
    const uint8_t *told = w->block.told;
    for (size_t k = 0; k < w->n_words; k++) {
        for (uint64_t bits = w->block.rare[k]; bits != 0; bits &= bits - 1)
            resolve(w, k * 64 + bpe_lowest_bit(bits), *told++);
    }
    return true;
}

/* Pretokens that end before the block. */
static size_t early_ends(bpe_walk *w, size_t *ends, size_t cap) {
    size_t pos = w->pos;
    size_t n = 0;
    while (n < cap) {
        pos = settled_piece(w->stream, w->data, pos, w->early);
        if (pos == 0 || pos >= w->from) {
            w->early = 0;
            break;
        }
        ends[n++] = pos;
    }
    return n;
}

/* What is left of the block, up to `cap` ends. */
static size_t block_ends(bpe_walk *w, size_t *ends, size_t cap) {
    size_t n;
    w->word += w->stream->kernel->positions(w->block.ends + w->word, w->n_words - w->word,
                                            w->from + 64 * w->word, ends, cap, &n);
    while (w->word < w->n_words && n < cap) {
        uint64_t *bits = &w->block.ends[w->word];
        for (; *bits != 0 && n < cap; *bits &= *bits - 1)
            ends[n++] = w->from + 64 * w->word + bpe_lowest_bit(*bits);
        if (*bits != 0)
            break;
        w->word++;
    }
    return n;
}

void bpe_walk_begin(bpe_walk *w, const bpe_stream *stream, const uint8_t *data, size_t start,
                    size_t end) {
    w->phase = BPE_WALK_ON;
    w->state = stream->start;
    w->stream = stream;
    w->data = data;
    w->end = end;
    w->start = w->pos = w->from = w->to = start;
    w->early = w->word = w->n_words = 0;
}

size_t bpe_walk_next(bpe_walk *w, size_t *ends, size_t cap) {
    size_t n = 0;
    while (n < cap) {
        if (w->word == w->n_words && !next_block(w)) {
            w->phase = BPE_WALK_OVER;
            break;
        }
        if (w->early != 0)
            n += early_ends(w, ends + n, cap - n);
        n += block_ends(w, ends + n, cap - n);
        if (n > 0)
            w->pos = ends[n - 1]; /* where a rare event of the next block goes on from */
    }
    return n;
}

size_t bpe_walk_searched(const bpe_walk *w) {
    return w->stream->has_gap && w->state == w->stream->gap ? w->to : 0;
}
