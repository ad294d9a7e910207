#include <string.h>

#include "memory.h"
#include "pieces_workspace.h"
#include "utf8.h"

/*
 * Text is normalised, cut into words, and each word is looked up in the cache or joined. A model
 * without user-defined pieces is served in portions of text that stay in a near cache.
 */

/* Words are looked up this many at a time; see encode.c. */
#define BATCH 256

/* Text is normalised this many bytes at a time. */
#define PORTION 32768

/* An unused piece is taken apart so many times, and no more. */
#define MAX_DEPTH 100

/* One running call. The ids made so far are w->ids[0, n_ids), with w->spans if they are wanted. */
typedef struct call {
    const bpe_pieces *m;
    bpe_pieces_workspace *w;
    bool with_spans;
    bpe_chance *chance; /* NULL: nothing is skipped */
    size_t n_ids;
    size_t first_id; /* of the stretch at hand: unknowns do not run together across it */
    /* Words found, and not yet encoded: from `start` to each of the ends. */
    size_t start;
    size_t n_ends;
    size_t ends[BATCH];
} call;

/* ---------------------------------------------------------------- symbols -> ids */

/* Room for the ids of text[0, n), whatever they are: a byte piece for each byte, where marks have
 * three. */
static bool reserve_ids(call *c, size_t n) {
    bpe_pieces_workspace *w = c->w;
    if (n > SIZE_MAX / 64)
        return false;
    size_t need = c->n_ids + BPE_MARK_BYTES * n;
    if (!bpe_mem_grow((void **)&w->ids, &w->ids_cap, need, sizeof *w->ids))
        return false;
    return !c->with_spans ||
           bpe_mem_grow((void **)&w->spans, &w->spans_cap, need, sizeof *w->spans);
}

static inline void put_id(call *c, uint32_t id, size_t start, size_t end) {
    if (c->with_spans) {
        const size_t *offsets = c->w->text.offsets;
        c->w->spans[c->n_ids] = (bpe_span){offsets[start], offsets[end], start, end};
    }
    c->w->ids[c->n_ids++] = id;
}

static void put_bytes(call *c, size_t start, size_t end) {
    const bpe_pieces *m = c->m;
    static const uint8_t mark[BPE_MARK_BYTES] = {0xE2, 0x96, 0x81};
    const uint8_t *p = c->w->text.bytes + start;
    size_t n = end - start;
    if (m->compact && m->escapes && *p == ' ') {
        p = mark;
        n = BPE_MARK_BYTES;
    }
    for (size_t i = 0; i < n; i++)
        put_id(c, m->byte_ids[p[i]], start, i + 1 < n ? start : end);
}

/* A symbol that no piece covers. Within a word unknowns run together here, and at its start in
 * run_together; `first` is its first id. */
static void put_unknown(call *c, size_t first, size_t start, size_t end) {
    if (c->m->byte_fallback) {
        put_bytes(c, start, end);
    } else if (c->n_ids > first && c->w->ids[c->n_ids - 1] == c->m->unk) {
        if (c->with_spans) {
            c->w->spans[c->n_ids - 1].end = c->w->text.offsets[end];
            c->w->spans[c->n_ids - 1].text_end = end;
        }
    } else {
        put_id(c, c->m->unk, start, end);
    }
}

static void run_together(call *c, size_t first) {
    uint32_t *ids = c->w->ids;
    if (c->m->byte_fallback || first == c->first_id || first == c->n_ids ||
        ids[first] != c->m->unk || ids[first - 1] != c->m->unk) {
        return;
    }
    size_t n = c->n_ids - first - 1;
    memmove(ids + first, ids + first + 1, n * sizeof *ids);
    if (c->with_spans) {
        bpe_span *spans = c->w->spans;
        spans[first - 1].end = spans[first].end;
        spans[first - 1].text_end = spans[first].text_end;
        memmove(spans + first, spans + first + 1, n * sizeof *spans);
    }
    c->n_ids--;
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

/* ---------------------------------------------------------------- one word */

/* The symbols of text[at, end), which is UTF-8, into `symbols`; how many there are. *certain: all
 * of them are pieces. */
static size_t find_symbols(const bpe_pieces *m, const uint8_t *p, const uint8_t *end,
                           uint32_t *symbols, bool *certain) {
    size_t n = 0;
    *certain = true;
    while (p < end) {
        uint32_t cp = *p;
        p += cp < 0x80 ? 1 : bpe_utf8_decode(p, end, &cp);
        uint32_t symbol = bpe_codepoint_symbol(m, cp);
        if (symbol == BPE_NO_SYMBOL || m->symbol_kinds[symbol] != BPE_SYMBOL_PIECE)
            *certain = false;
        symbols[n++] = symbol;
    }
    return n;
}

/* Join text[start, end) and append its ids. */
static bpe_status join_word(call *c, size_t start, size_t end) {
    const bpe_pieces *m = c->m;
    bpe_pieces_workspace *w = c->w;
    if (!reserve_ids(c, end - start))
        return BPE_ERR_NOMEM;
    uint32_t local[BPE_SHORT_BYTES];
    uint32_t *symbols = local;
    if (end - start > BPE_SHORT_BYTES) {
        if (!bpe_mem_grow((void **)&w->symbols, &w->symbols_cap, end - start, sizeof *symbols))
            return BPE_ERR_NOMEM;
        symbols = w->symbols;
    }
    bool certain;
    size_t n = find_symbols(m, w->text.bytes + start, w->text.bytes + end, symbols, &certain);
    if (n <= BPE_SHORT_BYTES && w->path != BPE_PIECES_PATH_LONG) {
        n = bpe_merge_short(&m->rules, symbols, n, BPE_NO_RANK);
    } else {
        if (n >= BPE_MAX_PRETOKEN)
            return BPE_ERR_LIMIT;
        bpe_status status = bpe_merge_long(&m->rules, &w->merge, symbols, n, BPE_NO_RANK, &n);
        if (status != BPE_OK)
            return status;
    }
    if (certain && !c->with_spans) {
        for (size_t i = 0; i < n; i++)
            w->ids[c->n_ids + i] = m->symbol_pieces[symbols[i]];
        c->n_ids += n;
        return BPE_OK;
    }
    size_t first = c->n_ids;
    for (size_t i = 0; i < n; i++)
        start = put_symbol(c, symbols[i], NULL, 0, first, start);
    return BPE_OK;
}

/* Encode the words that were found. As in encode.c, all buckets are asked for before the first is
 * looked at. */
static bpe_status flush(call *c) {
    bpe_pieces_workspace *w = c->w;
    bpe_cache_key keys[BATCH];
    bpe_cache_entry *buckets[BATCH];
    const uint8_t *text = w->text.bytes;
    const uint8_t *readable = text + w->text.n + BPE_TEXT_PADDING;
    bool use_cache = w->use_cache && !c->with_spans;
    size_t from = c->start;
    for (size_t i = 0; i < c->n_ends; from = c->ends[i], i++) {
        buckets[i] = NULL;
        if (c->ends[i] - from > BPE_CACHE_KEY_BYTES || !use_cache)
            continue;
        keys[i] = bpe_cache_key_of(text + from, c->ends[i] - from, readable);
        buckets[i] = bpe_cache_bucket(&w->cache, bpe_cache_hash(&keys[i]));
        bpe_prefetch(buckets[i]);
    }
    if (!reserve_ids(c, 2 * BATCH)) /* four ids for each word */
        return BPE_ERR_NOMEM;
    for (size_t i = 0; i < c->n_ends; c->start = c->ends[i], i++) {
        size_t first = c->n_ids;
        const bpe_cache_entry *e = buckets[i] ? bpe_cache_find(buckets[i], &keys[i]) : NULL;
        if (e) {
            uint32_t *to = w->ids + first;
            to[0] = e->ids[0] & BPE_CACHE_ID_MASK;
            to[1] = e->ids[1];
            to[2] = e->ids[2];
            to[3] = e->ids[3];
            c->n_ids += bpe_cache_count(e);
        } else {
            bpe_status status = join_word(c, c->start, c->ends[i]);
            if (status != BPE_OK)
                return status;
            size_t n = c->n_ids - first;
            if (buckets[i] && n <= BPE_CACHE_IDS)
                bpe_cache_put(buckets[i], &keys[i], w->ids + first, n);
            if (!reserve_ids(c, 2 * BATCH))
                return BPE_ERR_NOMEM;
        }
        run_together(c, first);
    }
    c->n_ends = 0;
    return BPE_OK;
}

static inline bpe_status add_word(call *c, size_t end) {
    c->ends[c->n_ends++] = end;
    return c->n_ends == BATCH ? flush(c) : BPE_OK;
}

/* ---------------------------------------------------------------- text -> words */

/* Cut text[start, end) wherever no join can cross. */
static bpe_status cut_finely(call *c, size_t start, size_t end) {
    const bpe_pieces *m = c->m;
    /* Encoding what was found does not move the text. */
    const uint8_t *text = c->w->text.bytes;
    uint32_t before = BPE_NO_SYMBOL;
    for (size_t at = start; at < end;) {
        uint32_t cp = text[at];
        size_t n = cp < 0x80 ? 1 : bpe_utf8_decode(text + at, text + end, &cp);
        uint32_t symbol = bpe_codepoint_symbol(m, cp);
        if (at > start && !bpe_may_join(m, before, symbol)) {
            bpe_status status = add_word(c, at);
            if (status != BPE_OK)
                return status;
        }
        before = symbol;
        at += n;
    }
    return add_word(c, end);
}

/* Where the word ends that begins at `start`: before the first space behind another character. It
 * does not end before `at`. */
static size_t word_end(const uint8_t *text, size_t start, size_t at, size_t n) {
    if (at <= start || text[at - 1] == ' ') {
        at = at > start ? at : start;
        while (at < n && text[at] == ' ')
            at++;
    }
#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    /* Padding behind the text makes eight bytes readable anywhere in it. */
    while (at < n) {
        uint64_t x = bpe_load64(text + at) ^ 0x2020202020202020u;
        uint64_t spaces = (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
        if (spaces != 0) { /* the lowest bit set is right, whatever the higher ones */
            at += (size_t)__builtin_ctzll(spaces) >> 3;
            break;
        }
        at += 8;
    }
    return at < n ? at : n;
#else
    while (at < n && text[at] != ' ')
        at++;
    return at;
#endif
}

/*
 * Cut text[start, end) into words and add them. A text that goes on (`open`) may go on within its
 * last word, which is left: *left says where it begins. Until *scanned no word ends that begins
 * there.
 */
static bpe_status add_words(call *c, size_t start, size_t end, bool open, size_t *left,
                            size_t *scanned) {
    const uint8_t *text = c->w->text.bytes;
    bool fine = !c->m->words;
    while (start < end) {
        size_t from = *scanned < end ? *scanned : end; /* trimming may have shortened the text */
        size_t stop = fine ? end : word_end(text, start, from, end);
        if (stop == end && open)
            break;
        bpe_status status =
            stop - start > BPE_CACHE_KEY_BYTES ? cut_finely(c, start, stop) : add_word(c, stop);
        if (status != BPE_OK)
            return status;
        start = stop;
    }
    *left = start;
    *scanned = end;
    return BPE_OK;
}

static bpe_status encode_words(call *c, size_t start, size_t end) {
    size_t left;
    size_t scanned = 0;
    c->start = start;
    bpe_status status = add_words(c, start, end, false, &left, &scanned);
    return status == BPE_OK ? flush(c) : status;
}

/* Words in portions of text. */
static bpe_status encode_portions(call *c, bpe_normalize_cursor *cursor) {
    bpe_text *text = &c->w->text;
    size_t scanned = 0;
    do {
        bpe_status status = bpe_normalize_more(cursor, PORTION);
        if (status != BPE_OK)
            return status;
        size_t left;
        c->start = 0;
        status = add_words(c, 0, text->n, !cursor->done, &left, &scanned);
        if (status == BPE_OK)
            status = flush(c);
        if (status != BPE_OK)
            return status;
        if (left > 0) { /* otherwise a long word grows, and is not moved again and again */
            memmove(text->bytes, text->bytes + left, text->n - left);
            text->n -= left;
            scanned -= left;
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
        put_symbol(c, w->symbols[i], c->m->whole ? &back : NULL, 0, c->first_id, w->starts[i]);
    }
    bpe_pair_map_free(&back);
    return status;
}

/* ---------------------------------------------------------------- one text */

/* The text in w->text, with user-defined pieces in it. */
static bpe_status encode_with_users(call *c) {
    bpe_hits *hits = &c->w->text_users;
    size_t at = 0;
    for (size_t i = 0; i < hits->n; i++) {
        const bpe_hit *hit = &hits->items[i];
        if (hit->start < at)
            continue;
        bpe_status status = encode_words(c, at, hit->start);
        if (status == BPE_OK && !reserve_ids(c, 1))
            status = BPE_ERR_NOMEM;
        if (status != BPE_OK)
            return status;
        put_id(c, hit->id, hit->start, hit->end);
        at = hit->end;
    }
    return encode_words(c, at, c->w->text.n);
}

/* A stretch between strings of `match`, as a text of its own. */
static bpe_status encode_stretch(call *c, const uint8_t *data, size_t n) {
    const bpe_pieces *m = c->m;
    bpe_pieces_workspace *w = c->w;
    c->first_id = c->n_ids;
    w->text.n = 0;
    if (!bpe_users_find(&m->raw_users, data, n, &w->raw_users))
        return BPE_ERR_NOMEM;
    bpe_normalize_cursor cursor;
    bpe_status status = bpe_normalize_begin(&cursor, &m->normalizer, data, n, &w->raw_users,
                                            m->compact, c->with_spans, &w->text);
    if (status != BPE_OK || cursor.done)
        return status;
    bool whole = m->whole || c->chance || w->path == BPE_PIECES_PATH_WHOLE;
    if (!whole && m->words && !m->text_users.match && !c->with_spans)
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
            c->w->ids[c->n_ids++] = hits->items[i].id;
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
    call c = {.m = pieces, .w = workspace};
    bpe_chance chance;
    if (workspace->pieces != pieces || !start_dropout(&c, &chance, dropout, 0))
        return bpe_fail(err, BPE_ERR_ARG, 0);
    bpe_status status = encode_text(&c, match, forbidden, data, n, err);
    if (status == BPE_OK) {
        *ids = workspace->ids;
        *n_ids = c.n_ids;
    }
    return status;
}

bpe_status bpe_pieces_encode_batch(const bpe_pieces *pieces, const bpe_match *match,
                                   const bpe_match *forbidden, const bpe_dropout *dropout,
                                   bpe_pieces_workspace *workspace, const uint8_t *data,
                                   const size_t *offsets, size_t n_texts, const uint32_t **ids,
                                   size_t *id_offsets, bpe_error *err) {
    call c = {.m = pieces, .w = workspace};
    bpe_chance chance;
    if (workspace->pieces != pieces)
        return bpe_fail(err, BPE_ERR_ARG, 0);
    for (size_t i = 0; i < n_texts; i++) {
        if (offsets[i + 1] < offsets[i])
            return bpe_fail(err, BPE_ERR_ARG, i);
    }
    bpe_error inner = {BPE_OK, 0};
    for (size_t i = 0; i < n_texts; i++) {
        id_offsets[i] = c.n_ids;
        if (!start_dropout(&c, &chance, dropout, i))
            return bpe_fail(err, BPE_ERR_ARG, i);
        bpe_status status = encode_text(&c, match, forbidden, data + offsets[i],
                                        offsets[i + 1] - offsets[i], &inner);
        if (status != BPE_OK)
            return bpe_fail(err, status, offsets[i] + inner.pos);
    }
    id_offsets[n_texts] = c.n_ids;
    *ids = workspace->ids;
    return BPE_OK;
}

bpe_status bpe_pieces_encode_spans(const bpe_pieces *pieces, const bpe_dropout *dropout,
                                   bpe_pieces_workspace *workspace, const uint8_t *data, size_t n,
                                   const uint32_t **ids, const bpe_span **spans, size_t *n_ids,
                                   const uint8_t **text, size_t *n_text, uint32_t *compact,
                                   bpe_error *err) {
    call c = {.m = pieces, .w = workspace, .with_spans = true};
    bpe_chance chance;
    if (workspace->pieces != pieces || !start_dropout(&c, &chance, dropout, 0))
        return bpe_fail(err, BPE_ERR_ARG, 0);
    bpe_status status = encode_stretch(&c, data, n);
    if (status != BPE_OK)
        return bpe_fail(err, status, 0);
    *ids = workspace->ids;
    *spans = workspace->spans;
    *n_ids = c.n_ids;
    *text = workspace->text.bytes;
    *n_text = workspace->text.n;
    *compact = pieces->compact;
    return BPE_OK;
}
