#include <string.h>

#include "memory.h"
#include "pieces_batch.h"
#include "utf8.h"

/*
 * Text is cut where no join can cross, and each part is looked up in the cache or joined. Where
 * normalising leaves it as it is, no copy is made; otherwise a model without user-defined pieces is
 * served in portions of text that stay in a near cache.
 */

/* Text is normalised this many bytes at a time. */
#define PORTION 32768

/* An unused piece is taken apart so many times, and no more. */
#define MAX_DEPTH 100

/* One running call. The ids made so far are w->ids[0, parts.n_ids), with w->spans if they are
 * wanted. */
typedef struct call {
    const bpe_pieces *m;
    bpe_pieces_workspace *w;
    bool with_spans;
    bpe_chance *chance; /* NULL: nothing is skipped */
    bpe_parts parts;
} call;

static void begin_call(call *c, const bpe_pieces *m, bpe_pieces_workspace *w, bool with_spans) {
    c->m = m;
    c->w = w;
    c->with_spans = with_spans;
    c->chance = NULL;
    bpe_parts_begin(&c->parts, m, w);
}

/* ---------------------------------------------------------------- symbols -> ids */

/* Room for the ids of text[0, n), whatever they are. */
static bool reserve_ids(call *c, size_t n) {
    bpe_pieces_workspace *w = c->w;
    return bpe_parts_reserve(&c->parts, n) &&
           (!c->with_spans ||
            bpe_mem_grow((void **)&w->spans, &w->spans_cap, c->parts.n_ids + BPE_IDS_PER_BYTE * n,
                         sizeof *w->spans));
}

static inline void put_id(call *c, uint32_t id, size_t start, size_t end) {
    if (c->with_spans) {
        const size_t *offsets = c->w->text.offsets;
        c->w->spans[c->parts.n_ids] = (bpe_span){offsets[start], offsets[end], start, end};
    }
    c->w->ids[c->parts.n_ids++] = id;
}

static void put_bytes(call *c, size_t start, size_t end) {
    size_t n = end - start;
    const uint8_t *p = bpe_char_spelt(c->m, c->w->text.bytes + start, &n);
    for (size_t i = 0; i < n; i++)
        put_id(c, c->m->byte_ids[p[i]], start, i + 1 < n ? start : end);
}

/* A symbol that no piece covers. Within a word unknowns run together here, and at its start in
 * run_together; `first` is its first id. */
static void put_unknown(call *c, size_t first, size_t start, size_t end) {
    if (c->m->byte_fallback) {
        put_bytes(c, start, end);
    } else if (c->parts.n_ids > first && c->w->ids[c->parts.n_ids - 1] == c->m->unk) {
        if (c->with_spans) {
            c->w->spans[c->parts.n_ids - 1].end = c->w->text.offsets[end];
            c->w->spans[c->parts.n_ids - 1].text_end = end;
        }
    } else {
        put_id(c, c->m->unk, start, end);
    }
}

static void run_together(call *c, size_t first) {
    uint32_t *ids = c->w->ids;
    if (c->m->byte_fallback || first == c->parts.first_id || first == c->parts.n_ids ||
        ids[first] != c->m->unk || ids[first - 1] != c->m->unk) {
        return;
    }
    size_t n = c->parts.n_ids - first - 1;
    memmove(ids + first, ids + first + 1, n * sizeof *ids);
    if (c->with_spans) {
        bpe_span *spans = c->w->spans;
        spans[first - 1].end = spans[first].end;
        spans[first - 1].text_end = spans[first].text_end;
        memmove(spans + first, spans + first + 1, n * sizeof *spans);
    }
    c->parts.n_ids--;
}

static size_t symbol_length(const call *c, uint32_t symbol, size_t at) {
    size_t n;
    if (symbol & BPE_FROZEN)
        return c->m->text_users.lengths[symbol & ~BPE_FROZEN];
    if (symbol == BPE_NO_SYMBOL)
        return bpe_char_length(c->w->text.bytes[at], c->w->text.n - at);
    bpe_intern_bytes(&c->m->symbols, symbol, &n);
    return n;
}

/*
 * One symbol; the result is where it ends in the text. `back` says what unused pieces were made of:
 * a depth-first walk that the depth bounds.
 */
static size_t put_symbol(call *c, uint32_t symbol, const bpe_pair_map *back, unsigned depth,
                         size_t first, size_t at) {
    const bpe_pieces *m = c->m;
    size_t end = at + symbol_length(c, symbol, at);
    if (symbol & BPE_FROZEN) {
        put_id(c, symbol & ~BPE_FROZEN, at, end);
        return end;
    }
    uint8_t kind = symbol == BPE_NO_SYMBOL ? BPE_SYMBOL_UNKNOWN : m->symbol_kinds[symbol];
    uint32_t piece = symbol == BPE_NO_SYMBOL ? BPE_NO_ID : m->symbol_pieces[symbol];
    if (kind == BPE_SYMBOL_PIECE || (depth > MAX_DEPTH && piece != BPE_NO_ID)) {
        put_id(c, piece, at, end);
        return end;
    }
    if (kind == BPE_SYMBOL_UNUSED) {
        const bpe_pair_entry *halves = back ? bpe_pair_map_find(back, symbol) : NULL;
        if (halves) {
            uint32_t right = halves->b;
            at = put_symbol(c, halves->a, back, depth + 1, first, at);
            return put_symbol(c, right, back, depth + 1, first, at);
        }
    }
    put_unknown(c, first, at, end);
    return end;
}

/* ---------------------------------------------------------------- one part, with its places */

/* Join text[start, end) and append its ids. Nothing is cached: caches know of no places. */
static bpe_status join_part(call *c, size_t start, size_t end) {
    const bpe_pieces *m = c->m;
    bpe_pieces_workspace *w = c->w;
    if (!reserve_ids(c, end - start) ||
        !bpe_mem_grow((void **)&w->symbols, &w->symbols_cap, end - start, sizeof *w->symbols))
        return BPE_ERR_NOMEM;
    uint32_t *symbols = w->symbols;
    size_t n = 0;
    for (size_t at = start; at < end;) {
        uint32_t cp;
        at += bpe_utf8_decode(w->text.bytes + at, w->text.bytes + end, &cp);
        symbols[n++] = bpe_chars_at(&m->chars, cp)->symbol;
    }
    if (n >= BPE_MAX_PRETOKEN)
        return BPE_ERR_LIMIT;
    bpe_status status = bpe_gaps_merge_one(&c->parts.gaps, symbols, n, &n);
    if (status != BPE_OK)
        return status;
    size_t first = c->parts.n_ids;
    for (size_t i = 0; i < n; i++)
        start = put_symbol(c, symbols[i], NULL, 0, first, start);
    run_together(c, first);
    return BPE_OK;
}

/* ---------------------------------------------------------------- text -> parts */

/* Add the parts of the first n bytes of a text as far as they are certain to end. */
static bpe_status add_parts(call *c, bpe_cutter *cutter, size_t n, const uint8_t *readable) {
    size_t ends[BPE_MAX_CUTS];
    uint32_t kinds[BPE_MAX_CUTS];
    size_t n_ends;
    do {
        size_t start = cutter->start;
        n_ends = bpe_cutter_more(cutter, n, ends, kinds, BPE_MIN_CUTS);
        bpe_status status = BPE_OK;
        if (n_ends > 0 && !c->with_spans)
            status = bpe_parts_add(&c->parts, cutter->text, readable, start, ends, kinds, n_ends);
        for (size_t i = 0; c->with_spans && i < n_ends && status == BPE_OK; start = ends[i], i++)
            status = join_part(c, start, ends[i]);
        if (status != BPE_OK)
            return status;
    } while (n_ends >= BPE_MIN_CUTS);
    return BPE_OK;
}

/* Add what is left of the first n bytes of a text, after that. */
static bpe_status add_last(call *c, const bpe_cutter *cutter, size_t n, const uint8_t *readable) {
    if (c->with_spans)
        return join_part(c, cutter->start, n);
    uint32_t kind = bpe_cutter_kind(cutter);
    return bpe_parts_add(&c->parts, cutter->text, readable, cutter->start, &n, &kind, 1);
}

/* Add all parts of text[start, n). */
static bpe_status add_all(call *c, const uint8_t *text, size_t start, size_t n,
                          const uint8_t *readable) {
    if (start == n)
        return BPE_OK;
    bpe_cutter cutter;
    bpe_cutter_begin(&cutter, &c->m->chars, text, start, n);
    bpe_status status = add_parts(c, &cutter, n, readable);
    return status == BPE_OK ? add_last(c, &cutter, n, readable) : status;
}

/* Text that is its source, with no copy but of its first part, if a mark comes before it. */
static bpe_status encode_direct(call *c, const uint8_t *data, size_t n) {
    size_t first = 0;
    if (c->m->normalizer.flags & BPE_NORMALIZE_MARK) {
        bpe_cutter cutter;
        bpe_cutter_begin(&cutter, &c->m->chars, data, 0, n);
        size_t ends[BPE_MAX_CUTS];
        uint32_t kinds[BPE_MAX_CUTS];
        first = bpe_cutter_more(&cutter, n, ends, kinds, 1) > 0 ? ends[0] : n;
        bpe_text *text = &c->w->text;
        if (!bpe_mem_grow((void **)&text->bytes, &text->cap, first + 1 + BPE_TEXT_PADDING, 1))
            return BPE_ERR_NOMEM;
        text->bytes[0] = ' ';
        memcpy(text->bytes + 1, data, first);
        memset(text->bytes + first + 1, 0, BPE_TEXT_PADDING);
        bpe_status status =
            add_all(c, text->bytes, 0, first + 1, text->bytes + first + 1 + BPE_TEXT_PADDING);
        if (status != BPE_OK)
            return status;
    }
    bpe_status status = add_all(c, data, first, n, data + n);
    return status == BPE_OK ? bpe_parts_finish(&c->parts) : status;
}

/* How much of a text that goes on is not followed by spaces alone, which may yet be trimmed. All
 * from `known` on is new; what lies before is known not to end later than `settled`. */
static size_t settle(const bpe_text *text, size_t known, size_t settled) {
    size_t n = text->n;
    while (n > known && text->bytes[n - 1] == ' ')
        n--;
    return n > known ? n : settled;
}

/* Text in portions. */
static bpe_status encode_portions(call *c, bpe_normalize_cursor *cursor) {
    bpe_text *text = &c->w->text;
    bpe_cutter cutter = {0};
    size_t known = 0;
    size_t settled = 0;
    do {
        bpe_status status = bpe_normalize_more(cursor, PORTION);
        if (status != BPE_OK)
            return status;
        const uint8_t *readable = text->bytes + text->n + BPE_TEXT_PADDING;
        settled = cursor->done ? text->n : settle(text, known, settled);
        known = text->n;
        if (settled == 0)
            continue;
        if (cutter.at == 0)
            bpe_cutter_begin(&cutter, &c->m->chars, text->bytes, 0, settled);
        bpe_cutter_move(&cutter, text->bytes, 0);
        status = add_parts(c, &cutter, settled, readable);
        if (status == BPE_OK && cursor->done)
            status = add_last(c, &cutter, settled, readable);
        if (status == BPE_OK)
            status = bpe_parts_finish(&c->parts);
        if (status != BPE_OK)
            return status;
        size_t start = cutter.start;
        if (start > 0) { /* otherwise a long part grows, and is not moved again and again */
            memmove(text->bytes, text->bytes + start, text->n - start);
            text->n -= start;
            settled -= start;
            known -= start;
            bpe_cutter_move(&cutter, text->bytes, start);
        }
    } while (!cursor->done);
    return BPE_OK;
}

/* ---------------------------------------------------------------- whole text */

/* The symbols of the text in w->symbols and w->starts, user-defined pieces frozen. */
static bpe_status find_all_symbols(call *c, size_t *n_symbols) {
    const bpe_pieces *m = c->m;
    bpe_pieces_workspace *w = c->w;
    const bpe_text *text = &w->text;
    if (!bpe_mem_grow((void **)&w->symbols, &w->symbols_cap, text->n, sizeof *w->symbols) ||
        !bpe_mem_grow((void **)&w->starts, &w->starts_cap, text->n, sizeof *w->starts)) {
        return BPE_ERR_NOMEM;
    }
    size_t n = 0;
    size_t hit = 0;
    for (size_t at = 0; at < text->n;) {
        w->starts[n] = at;
        while (hit < w->text_users.n && w->text_users.items[hit].start < at)
            hit++;
        if (hit < w->text_users.n && w->text_users.items[hit].start == at) {
            w->symbols[n++] = BPE_FROZEN | w->text_users.items[hit].id;
            at = w->text_users.items[hit].end;
            continue;
        }
        const uint8_t *p = text->bytes + at;
        size_t length = bpe_char_length(*p, text->n - at);
        uint32_t symbol =
            bpe_intern_find(&m->symbols, p, length, bpe_intern_hash(&m->symbols, p, length));
        w->symbols[n++] = symbol == BPE_NO_ID ? BPE_NO_SYMBOL : symbol;
        at += length;
    }
    *n_symbols = n;
    return n < 0xFFFFFFFEu ? BPE_OK : BPE_ERR_LIMIT;
}

static bpe_status encode_whole(call *c) {
    bpe_pieces_workspace *w = c->w;
    size_t n;
    bpe_status status = find_all_symbols(c, &n);
    if (status != BPE_OK)
        return status;
    bpe_pair_map back = {0};
    if (c->m->whole && !bpe_pair_map_init(&back, 16))
        return BPE_ERR_NOMEM;
    status = bpe_agenda_join(&w->agenda, &c->m->rules, w->symbols, w->starts, n, c->chance,
                             c->m->symbol_kinds, c->m->whole ? &back : NULL, &n);
    if (status == BPE_OK && !reserve_ids(c, w->text.n))
        status = BPE_ERR_NOMEM;
    for (size_t i = 0; status == BPE_OK && i < n; i++) {
        put_symbol(c, w->symbols[i], c->m->whole ? &back : NULL, 0, c->parts.first_id,
                   w->starts[i]);
    }
    bpe_pair_map_free(&back);
    return status;
}

/* ---------------------------------------------------------------- one text */

/* A stretch of the text in w->text. */
static bpe_status encode_between(call *c, size_t start, size_t end) {
    const bpe_text *text = &c->w->text;
    const uint8_t *readable = text->bytes + text->n + BPE_TEXT_PADDING;
    bpe_status status = add_all(c, text->bytes, start, end, readable);
    return status == BPE_OK && !c->with_spans ? bpe_parts_finish(&c->parts) : status;
}

/* The text in w->text, with user-defined pieces in it. */
static bpe_status encode_with_users(call *c) {
    bpe_hits *hits = &c->w->text_users;
    size_t at = 0;
    for (size_t i = 0; i < hits->n; i++) {
        const bpe_hit *hit = &hits->items[i];
        if (hit->start < at)
            continue;
        bpe_status status = encode_between(c, at, hit->start);
        if (status == BPE_OK && !reserve_ids(c, 1))
            status = BPE_ERR_NOMEM;
        if (status != BPE_OK)
            return status;
        put_id(c, hit->id, hit->start, hit->end);
        at = hit->end;
    }
    return encode_between(c, at, c->w->text.n);
}

/* A stretch between strings of `match`, as a text of its own. */
static bpe_status encode_stretch(call *c, const uint8_t *data, size_t n) {
    const bpe_pieces *m = c->m;
    bpe_pieces_workspace *w = c->w;
    c->parts.first = c->parts.first_id = c->parts.n_ids;
    bool whole = m->whole || c->chance || w->kept.path == BPE_PIECES_PATH_WHOLE;
    if (m->direct && !whole && !c->with_spans)
        return encode_direct(c, data, n);
    w->text.n = 0;
    if (!bpe_users_find(&m->raw_users, data, n, &w->raw_users))
        return BPE_ERR_NOMEM;
    bpe_normalize_cursor cursor;
    bpe_status status = bpe_normalize_begin(&cursor, &m->normalizer, data, n, &w->raw_users,
                                            m->compact, c->with_spans, &w->text);
    if (status != BPE_OK || cursor.done)
        return status;
    if (!whole && !m->text_users.match && !c->with_spans)
        return encode_portions(c, &cursor);
    status = bpe_normalize_more(&cursor, SIZE_MAX);
    if (status != BPE_OK)
        return status;
    if (!bpe_users_find(&m->text_users, w->text.bytes, w->text.n, &w->text_users))
        return BPE_ERR_NOMEM;
    return whole ? encode_whole(c) : encode_with_users(c);
}

static bpe_status encode_text(call *c, const bpe_match *match, const bpe_match *forbidden,
                              const uint8_t *data, size_t n, bpe_error *err) {
    bpe_hits *hits = &c->w->special;
    if (forbidden) {
        if (!bpe_match_scan(forbidden, data, n, hits))
            return bpe_fail(err, BPE_ERR_NOMEM, 0);
        if (hits->n > 0)
            return bpe_fail(err, BPE_ERR_FORBIDDEN, hits->items[0].start);
    }
    hits->n = 0;
    if (match && !bpe_match_scan(match, data, n, hits))
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    size_t start = 0;
    for (size_t i = 0; i <= hits->n; i++) {
        size_t end = i < hits->n ? hits->items[i].start : n;
        bpe_status status = end > start ? encode_stretch(c, data + start, end - start) : BPE_OK;
        if (status == BPE_OK && !reserve_ids(c, 1))
            status = BPE_ERR_NOMEM;
        if (status != BPE_OK)
            return bpe_fail(err, status, start);
        if (i < hits->n) {
            c->w->ids[c->parts.n_ids++] = hits->items[i].id;
            start = hits->items[i].end;
        }
    }
    return BPE_OK;
}

/* Set *chance, and c->chance if something is to be skipped. False for an alpha that is no number or
 * infinite. */
static bool start_dropout(call *c, bpe_chance *chance, const bpe_dropout *dropout, size_t text) {
    c->chance = NULL;
    if (!dropout)
        return true;
    if (dropout->alpha - dropout->alpha != 0)
        return false;
    if (dropout->alpha <= 0)
        return true;
    double alpha = dropout->alpha < 1 ? dropout->alpha : 1;
    chance->state = dropout->seed + text;
    chance->threshold = (uint64_t)(alpha * 9007199254740992.0);
    c->chance = chance;
    return true;
}

bpe_status bpe_pieces_encode(const bpe_pieces *pieces, const bpe_match *match,
                             const bpe_match *forbidden, const bpe_dropout *dropout,
                             bpe_pieces_workspace *workspace, const uint8_t *data, size_t n,
                             const uint32_t **ids, size_t *n_ids, bpe_error *err) {
    call c;
    begin_call(&c, pieces, workspace, false);
    bpe_chance chance;
    if (workspace->pieces != pieces || !start_dropout(&c, &chance, dropout, 0))
        return bpe_fail(err, BPE_ERR_ARG, 0);
    bpe_status status = encode_text(&c, match, forbidden, data, n, err);
    if (status == BPE_OK) {
        *ids = workspace->ids;
        *n_ids = c.parts.n_ids;
    }
    return status;
}

bpe_status bpe_pieces_encode_batch(const bpe_pieces *pieces, const bpe_match *match,
                                   const bpe_match *forbidden, const bpe_dropout *dropout,
                                   bpe_pieces_workspace *workspace, const uint8_t *data,
                                   const size_t *offsets, size_t n_texts, const uint32_t **ids,
                                   size_t *id_offsets, bpe_error *err) {
    call c;
    begin_call(&c, pieces, workspace, false);
    bpe_chance chance;
    if (workspace->pieces != pieces)
        return bpe_fail(err, BPE_ERR_ARG, 0);
    for (size_t i = 0; i < n_texts; i++) {
        if (offsets[i + 1] < offsets[i])
            return bpe_fail(err, BPE_ERR_ARG, i);
    }
    bpe_error inner = {BPE_OK, 0};
    for (size_t i = 0; i < n_texts; i++) {
        id_offsets[i] = c.parts.n_ids;
        if (!start_dropout(&c, &chance, dropout, i))
            return bpe_fail(err, BPE_ERR_ARG, i);
        bpe_status status = encode_text(&c, match, forbidden, data + offsets[i],
                                        offsets[i + 1] - offsets[i], &inner);
        if (status != BPE_OK)
            return bpe_fail(err, status, offsets[i] + inner.pos);
    }
    id_offsets[n_texts] = c.parts.n_ids;
    *ids = workspace->ids;
    return BPE_OK;
}

bpe_status bpe_pieces_encode_spans(const bpe_pieces *pieces, const bpe_dropout *dropout,
                                   bpe_pieces_workspace *workspace, const uint8_t *data, size_t n,
                                   const uint32_t **ids, const bpe_span **spans, size_t *n_ids,
                                   const uint8_t **text, size_t *n_text, uint32_t *compact,
                                   bpe_error *err) {
    call c;
    begin_call(&c, pieces, workspace, true);
    bpe_chance chance;
    if (workspace->pieces != pieces || !start_dropout(&c, &chance, dropout, 0))
        return bpe_fail(err, BPE_ERR_ARG, 0);
    bpe_status status = encode_stretch(&c, data, n);
    if (status != BPE_OK)
        return bpe_fail(err, status, 0);
    *ids = workspace->ids;
    *spans = workspace->spans;
    *n_ids = c.parts.n_ids;
    *text = workspace->text.bytes;
    *n_text = workspace->text.n;
    *compact = pieces->compact;
    return BPE_OK;
}
