#include "pieces.h"

#include <stdlib.h>

#include "memory.h"
#include "utf8.h"

static bpe_status fail_piece(bpe_error *err, uint32_t part, size_t index) {
    return bpe_fail(err, BPE_ERR_MODEL, (size_t)((uint64_t)part << 32 | index));
}

/* ---------------------------------------------------------------- user-defined pieces */

/* Of user-defined pieces that begin one another, so many of the shortest are seen. */
#define MAX_NESTED 64

typedef struct user {
    const uint8_t *p;
    size_t n;
    uint32_t id;
} user;

static int compare_users(const void *left, const void *right) {
    const user *a = left;
    const user *b = right;
    int order = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);
    if (order != 0)
        return order;
    return a->n < b->n ? -1 : a->n > b->n;
}

static bool begins(const user *a, const user *b) {
    return a->n <= b->n && memcmp(a->p, b->p, a->n) == 0;
}

/* In sorted order, the strings that begin a string come right before it or before another such
 * string: a stack holds them. */
static void limit_nesting(bpe_users *users, const user *list, size_t n, size_t *stack) {
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        while (depth > 0 && !begins(&list[stack[depth - 1]], &list[i]))
            depth--;
        stack[depth++] = i;
        const user *taken = depth > MAX_NESTED ? &list[stack[MAX_NESTED - 1]] : &list[i];
        users->taken[list[i].id] = taken->id;
        users->lengths[list[i].id] = (uint32_t)taken->n;
        users->shortens = users->shortens || taken->n != list[i].n;
    }
}

static bpe_status users_init(bpe_users *users, user *list, size_t n, size_t n_pieces) {
    if (n == 0)
        return BPE_OK;
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += list[i].n;
    users->taken = bpe_mem_zeroed(n_pieces, sizeof *users->taken);
    users->lengths = bpe_mem_zeroed(n_pieces, sizeof *users->lengths);
    uint8_t *data = bpe_mem_array(total, 1);
    uint32_t *lengths = bpe_mem_array(n, sizeof *lengths);
    uint32_t *ids = bpe_mem_array(n, sizeof *ids);
    size_t *stack = bpe_mem_array(n, sizeof *stack);
    bool ok = users->taken && users->lengths && data && lengths && ids && stack;
    bpe_status status = ok ? BPE_OK : BPE_ERR_NOMEM;
    if (status == BPE_OK) {
        qsort(list, n, sizeof *list, compare_users);
        limit_nesting(users, list, n, stack);
        size_t used = 0;
        for (size_t i = 0; i < n; i++) {
            memcpy(data + used, list[i].p, list[i].n);
            used += list[i].n;
            lengths[i] = (uint32_t)list[i].n;
            ids[i] = list[i].id;
        }
        status = bpe_match_new(data, lengths, ids, n, &users->match, NULL);
    }
    bpe_mem_free(data);
    bpe_mem_free(lengths);
    bpe_mem_free(ids);
    bpe_mem_free(stack);
    return status;
}

static void users_free(bpe_users *users) {
    bpe_match_free(users->match);
    bpe_mem_free(users->taken);
    bpe_mem_free(users->lengths);
}

bool bpe_users_find(const bpe_users *users, const uint8_t *data, size_t n, bpe_hits *hits) {
    hits->n = 0;
    if (!users->match)
        return true;
    if (!bpe_match_scan_all(users->match, data, n, hits))
        return false;
    for (size_t i = 0; users->shortens && i < hits->n; i++) {
        bpe_hit *hit = &hits->items[i];
        hit->end = hit->start + users->lengths[hit->id];
        hit->id = users->taken[hit->id];
    }
    return true;
}

/* ---------------------------------------------------------------- vocabulary */

static int hex_digit(uint8_t c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte that a text such as "<0x0A>" names, or -1. */
static int byte_named(const uint8_t *p, size_t n) {
    if (n != 6 || memcmp(p, "<0x", 3) != 0 || p[5] != '>')
        return -1;
    int high = hex_digit(p[3]);
    int low = hex_digit(p[4]);
    return high < 0 || low < 0 ? -1 : 16 * high + low;
}

static bool joins_make(uint8_t type) {
    return type == BPE_PIECE_NORMAL || type == BPE_PIECE_USER || type == BPE_PIECE_UNUSED;
}

static bpe_status enter_piece(bpe_pieces *m, const bpe_pieces_spec *spec, uint32_t i,
                              const uint8_t *p, size_t n, bpe_error *err) {
    uint8_t type = spec->types[i];
    if (n == 0)
        return fail_piece(err, BPE_PIECES_EMPTY, i);
    if (n >= BPE_MAX_PIECE_BYTES)
        return fail_piece(err, BPE_PIECES_LONG, i);
    if (type < BPE_PIECE_NORMAL || type > BPE_PIECE_BYTE)
        return fail_piece(err, BPE_PIECES_TYPE, i);
    if (m->byte_fallback && n == 1 && *p == 0) {
        m->types[i] = BPE_PIECE_UNUSED;
        return bpe_intern_append(&m->by_text, p, n) == BPE_NO_ID ? bpe_fail(err, BPE_ERR_NOMEM, i)
                                                                 : BPE_OK;
    }
    m->types[i] = type;
    uint32_t index = bpe_intern_add(&m->by_text, p, n, bpe_intern_hash(&m->by_text, p, n));
    if (index == BPE_NO_ID)
        return bpe_fail(err, BPE_ERR_NOMEM, i);
    if (index != i)
        return fail_piece(err, BPE_PIECES_TWICE, i);
    if (joins_make(type) && spec->scores[i] != spec->scores[i])
        return fail_piece(err, BPE_PIECES_SCORE, i);
    if (type == BPE_PIECE_UNKNOWN) {
        if (m->unk != BPE_NO_ID)
            return fail_piece(err, BPE_PIECES_UNKNOWN, i);
        m->unk = i;
    }
    if (type == BPE_PIECE_BYTE) {
        int byte = byte_named(p, n);
        if (!m->byte_fallback)
            return fail_piece(err, BPE_PIECES_BYTE, i);
        if (byte < 0)
            return fail_piece(err, BPE_PIECES_BYTE_TEXT, i);
        m->byte_ids[byte] = i;
    }
    return BPE_OK;
}

static bpe_status enter_pieces(bpe_pieces *m, const bpe_pieces_spec *spec, bpe_error *err) {
    m->types = bpe_mem_array(spec->n_pieces, 1);
    if (!m->types || !bpe_intern_init(&m->by_text, spec->n_pieces))
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    size_t at = 0;
    for (uint32_t i = 0; i < m->n_pieces; i++) {
        size_t n = spec->piece_lengths[i];
        if (n > spec->piece_data_size - at)
            return fail_piece(err, BPE_PIECES_EMPTY, i);
        bpe_status status = enter_piece(m, spec, i, spec->piece_data + at, n, err);
        if (status != BPE_OK)
            return status;
        at += n;
    }
    if (m->unk == BPE_NO_ID && !m->byte_fallback)
        return fail_piece(err, BPE_PIECES_NO_UNKNOWN, 0);
    for (size_t b = 0; m->byte_fallback && b < 256; b++) {
        if (m->byte_ids[b] == BPE_NO_ID)
            return fail_piece(err, BPE_PIECES_BYTE_MISSING, b);
    }
    return BPE_OK;
}

/* ---------------------------------------------------------------- symbols */

/*
 * A piece as it looks in text, or NULL if it never does: in compact text a mark is a space, there
 * are no real spaces when they are escaped, and everything is UTF-8. `buffer` has room for
 * BPE_MAX_PIECE_BYTES.
 */
static const uint8_t *in_text(const bpe_pieces *m, const uint8_t *p, size_t n, uint8_t *buffer,
                              size_t *n_out) {
    *n_out = n;
    if (!m->compact)
        return p;
    if (!bpe_is_utf8(p, n))
        return NULL;
    if (!m->escapes)
        return p;
    const uint8_t *end = p + n;
    size_t used = 0;
    while (p < end) {
        if (*p == ' ')
            return NULL;
        bool mark = bpe_is_mark(p, end);
        buffer[used++] = mark ? ' ' : *p;
        p += mark ? BPE_MARK_BYTES : 1;
    }
    *n_out = used;
    return buffer;
}

/* Raw and text forms of all user-defined pieces. */
static bpe_status enter_users(bpe_pieces *m) {
    size_t n_users = 0;
    size_t n_bytes = 0;
    for (uint32_t i = 0; i < m->n_pieces; i++) {
        size_t n;
        bpe_intern_bytes(&m->by_text, i, &n);
        n_users += m->types[i] == BPE_PIECE_USER;
        n_bytes += m->types[i] == BPE_PIECE_USER ? n : 0;
    }
    if (n_users == 0)
        return BPE_OK;
    user *raw = bpe_mem_array(n_users, sizeof *raw);
    user *text = bpe_mem_array(n_users, sizeof *text);
    uint8_t *bytes = bpe_mem_array(n_bytes, 1);
    bpe_status status = raw && text && bytes ? BPE_OK : BPE_ERR_NOMEM;
    size_t n_raw = 0;
    size_t n_text = 0;
    size_t used = 0;
    for (uint32_t i = 0; status == BPE_OK && i < m->n_pieces; i++) {
        if (m->types[i] != BPE_PIECE_USER)
            continue;
        size_t n;
        const uint8_t *p = bpe_intern_bytes(&m->by_text, i, &n);
        raw[n_raw++] = (user){p, n, i};
        p = in_text(m, p, n, bytes + used, &n);
        if (p)
            text[n_text++] = (user){p, n, i};
        used += n;
    }
    if (status == BPE_OK)
        status = users_init(&m->raw_users, raw, n_raw, m->n_pieces);
    if (status == BPE_OK)
        status = users_init(&m->text_users, text, n_text, m->n_pieces);
    bpe_mem_free(raw);
    bpe_mem_free(text);
    bpe_mem_free(bytes);
    return status;
}

/* A further symbol; false when out of memory. */
static bool add_symbol(bpe_pieces *m, size_t *cap, size_t *kinds_cap, const uint8_t *p, size_t n,
                       uint32_t piece, uint8_t kind) {
    if (!bpe_mem_grow((void **)&m->symbol_pieces, cap, m->symbols.n + 1,
                      sizeof *m->symbol_pieces) ||
        !bpe_mem_grow((void **)&m->symbol_kinds, kinds_cap, m->symbols.n + 1, 1)) {
        return false;
    }
    uint32_t symbol = bpe_intern_add(&m->symbols, p, n, bpe_intern_hash(&m->symbols, p, n));
    if (symbol == BPE_NO_ID)
        return false;
    m->symbol_pieces[symbol] = piece;
    m->symbol_kinds[symbol] = kind;
    return true;
}

/* The piece that looks like a character in text. */
static uint32_t find_char_piece(const bpe_pieces *m, const uint8_t *p, size_t n) {
    p = bpe_char_spelt(m, p, &n);
    return bpe_pieces_find(m, p, n);
}

/* Descending floats as ascending numbers, with -0.0 behind +0.0. */
static uint32_t score_key(float score) {
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    return bits & 0x80000000u ? bits : ~bits & 0x7FFFFFFFu;
}

static int compare_keys(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Behind all scores. */
#define NO_SCORE 0xFFFFFFFFu

/* The pieces that joins can make, by score, then those of one character, which joins do not make:
 * their scores, often equal, do not matter. Each is its score as a key in the high bits, and its
 * id. User-defined pieces are not among them: where one begins it is found, and what is found does
 * not join. Only if some are too deeply nested to be found can joins make them. Returns how many.
 */
static size_t order_pieces(const bpe_pieces *m, const float *scores, uint64_t *order) {
    size_t n_order = 0;
    bool sorted = true;
    for (uint32_t i = 0; i < m->n_pieces; i++) {
        size_t n;
        const uint8_t *p = bpe_intern_bytes(&m->by_text, i, &n);
        if (!joins_make(m->types[i]) || bpe_pieces_find(m, p, n) != i)
            continue;
        if (m->types[i] == BPE_PIECE_USER && !m->text_users.shortens)
            continue;
        bool one = m->compact && bpe_char_length(*p, n) == n;
        order[n_order] = (uint64_t)(one ? NO_SCORE : score_key(scores[i])) << 32 | i;
        sorted = sorted && (n_order == 0 || order[n_order - 1] < order[n_order]);
        n_order++;
    }
    if (!sorted)
        qsort(order, n_order, sizeof *order, compare_keys);
    return n_order;
}

typedef struct symbol_room {
    size_t pieces;
    size_t kinds;
} symbol_room;

/* Enter pieces in this order as symbols, whose ranks become ranks[]: their own numbers, or that of
 * the first one of the same score. */
static bool enter_ranked(bpe_pieces *m, symbol_room *room, const uint64_t *order, size_t n_order,
                         uint32_t *ranks) {
    uint8_t buffer[BPE_MAX_PIECE_BYTES];
    uint32_t key = NO_SCORE;
    uint32_t rank = 0;
    for (size_t i = 0; i < n_order; i++) {
        uint32_t id = (uint32_t)order[i];
        size_t n;
        const uint8_t *p = bpe_intern_bytes(&m->by_text, id, &n);
        bool unused = m->types[id] == BPE_PIECE_UNUSED;
        m->whole = m->whole || unused;
        p = in_text(m, p, n, buffer, &n);
        if (!p)
            continue;
        uint32_t symbol = (uint32_t)m->symbols.n;
        if (!add_symbol(m, &room->pieces, &room->kinds, p, n, id,
                        unused ? BPE_SYMBOL_UNUSED : BPE_SYMBOL_PIECE))
            return false;
        rank = order[i] >> 32 == key ? rank : symbol;
        key = (uint32_t)(order[i] >> 32);
        ranks[symbol] = key == NO_SCORE ? BPE_NO_RANK : rank;
    }
    return true;
}

/* Enter the characters of pieces that are no pieces. */
static bool enter_parts(bpe_pieces *m, symbol_room *room) {
    uint8_t buffer[BPE_MAX_PIECE_BYTES];
    size_t n_made = m->symbols.n;
    for (size_t i = 0; i < n_made; i++) {
        size_t n;
        bpe_intern_bytes(&m->symbols, i, &n);
        for (size_t at = 0, length; at < n; at += length) {
            /* Adding moves the strings. */
            const uint8_t *p = bpe_intern_bytes(&m->symbols, i, &n) + at;
            length = bpe_char_length(*p, n - at);
            if (length == n ||
                bpe_intern_find(&m->symbols, p, length, bpe_intern_hash(&m->symbols, p, length)) !=
                    BPE_NO_ID) {
                continue;
            }
            memcpy(buffer, p, length);
            if (!add_symbol(m, &room->pieces, &room->kinds, buffer, length,
                            find_char_piece(m, buffer, length), BPE_SYMBOL_UNKNOWN)) {
                return false;
            }
        }
    }
    return true;
}

/* The characters, and the id of each that is a piece. Only compact text is cut. */
static bool enter_chars(bpe_pieces *m) {
    if (!m->compact)
        return bpe_chars_init_empty(&m->chars);
    uint32_t *ids = bpe_mem_array(m->symbols.n, sizeof *ids);
    if (!ids)
        return false;
    for (size_t i = 0; i < m->symbols.n; i++)
        ids[i] = m->symbol_kinds[i] == BPE_SYMBOL_PIECE ? m->symbol_pieces[i] : BPE_CHAR_NO_ID;
    uint32_t ascii_ids[128];
    for (size_t b = 0; b < 128; b++) /* a space may have to be spelt as a mark */
        ascii_ids[b] = m->byte_fallback && b != ' ' ? m->byte_ids[b] : BPE_CHAR_NO_ID;
    bool ok = bpe_chars_init(&m->chars, &m->symbols, ids, ascii_ids, m->escapes);
    bpe_mem_free(ids);
    return ok;
}

/* ---------------------------------------------------------------- rules */

/* More pairs that join than this are refused. A vocabulary of a million pieces has some 4 million;
 * what has more was made so that the table gets large. */
#define MAX_PAIRS ((size_t)1 << 23)

/* The characters of a symbol that has just two. */
static bool two_chars(const bpe_pieces *m, size_t symbol, uint32_t cps[2]) {
    size_t n;
    const uint8_t *p = bpe_intern_bytes(&m->symbols, symbol, &n);
    size_t first = bpe_utf8_decode(p, p + n, &cps[0]);
    return first < n && first + bpe_utf8_decode(p + first, p + n, &cps[1]) == n;
}

/* The pairs of characters that join: those of ASCII in an array. */
static bool enter_first(bpe_pieces *m, const uint32_t *ranks, size_t n) {
    uint32_t cps[2];
    size_t n_pairs = 0;
    for (size_t i = 0; i < n; i++)
        n_pairs += ranks[i] != BPE_NO_RANK && two_chars(m, i, cps);
    m->rules.byte_ranks = bpe_mem_array(256 * 256, sizeof *m->rules.byte_ranks);
    if (!m->rules.byte_ranks ||
        !bpe_rank_table_init(&m->rules.first, m->symbols.n, m->rules.n_ranks, n_pairs))
        return false;
    memset(m->rules.byte_ranks, 255, 128 * 256 * sizeof *m->rules.byte_ranks); /* BPE_NO_RANK */
    for (size_t i = 0; i < n; i++) {
        if (ranks[i] == BPE_NO_RANK || !two_chars(m, i, cps))
            continue;
        if (cps[0] < 128 && cps[1] < 128)
            m->rules.byte_ranks[cps[0] << 8 | cps[1]] = ranks[i];
        if (!bpe_rank_table_add(&m->rules.first, bpe_chars_at(&m->chars, cps[0])->symbol,
                                bpe_chars_at(&m->chars, cps[1])->symbol, ranks[i]))
            return false;
    }
    return true;
}

/* The rules that make the first n symbols, of these ranks; n <= n_pieces. */
static bpe_status make_rules(bpe_pieces *m, uint32_t *ranks, size_t n, bpe_error *err) {
    uint32_t *made = bpe_mem_array(n, sizeof *made);
    if (!made)
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    for (size_t i = 0; i < n; i++) {
        made[i] = (uint32_t)i;
        if (ranks[i] != BPE_NO_RANK && ranks[i] != i)
            made[ranks[i]] = BPE_NO_ID;
    }
    bpe_ranked_strings list = {&m->symbols, NULL, ranks, m->symbols.n, MAX_PAIRS, made, n};
    bpe_status status = bpe_rules_from_strings(&m->rules, &list, err);
    bpe_mem_free(made);
    if (status == BPE_OK && m->compact && m->rules.table.slots && !enter_first(m, ranks, n))
        status = bpe_fail(err, BPE_ERR_NOMEM, 0);
    return status;
}

/* Symbols, characters, rules. */
static bpe_status enter_symbols(bpe_pieces *m, const float *scores, bpe_error *err) {
    symbol_room room = {0, 0};
    uint64_t *order = bpe_mem_array(m->n_pieces, sizeof *order);
    uint32_t *ranks = NULL;
    size_t ranks_cap = 0;
    size_t n = 0;
    bool ok = order && bpe_mem_grow((void **)&ranks, &ranks_cap, m->n_pieces, sizeof *ranks) &&
              bpe_intern_init(&m->symbols, m->n_pieces);
    if (ok) {
        size_t n_order = order_pieces(m, scores, order);
        ok = enter_ranked(m, &room, order, n_order, ranks);
        n = m->symbols.n;
    }
    bpe_mem_free(order);
    ok = ok && enter_parts(m, &room) && enter_chars(m) &&
         bpe_mem_grow((void **)&ranks, &ranks_cap, m->symbols.n, sizeof *ranks);
    for (size_t i = n; ok && i < m->symbols.n; i++)
        ranks[i] = BPE_NO_RANK;
    bpe_status status = ok ? make_rules(m, ranks, n, err) : bpe_fail(err, BPE_ERR_NOMEM, 0);
    bpe_mem_free(ranks);
    return status;
}

/* ---------------------------------------------------------------- what pieces decode to */

static bool enter_decoded(bpe_pieces *m, const bpe_pieces_spec *spec) {
    size_t n_bytes = m->n_pieces ? m->by_text.ends[m->n_pieces - 1] : 0;
    if (spec->unk_surface_size > SIZE_MAX - n_bytes)
        return false;
    m->decoded = bpe_mem_array(n_bytes + spec->unk_surface_size, 1);
    m->decoded_ends = bpe_mem_array(m->n_pieces, sizeof *m->decoded_ends);
    if (!m->decoded || !m->decoded_ends)
        return false;
    size_t used = 0;
    for (uint32_t i = 0; i < m->n_pieces; i++) {
        size_t n;
        const uint8_t *p = bpe_intern_bytes(&m->by_text, i, &n);
        const uint8_t *end = p + n;
        if (m->types[i] == BPE_PIECE_BYTE) {
            m->decoded[used++] = (uint8_t)byte_named(p, n);
        } else if (m->types[i] == BPE_PIECE_UNKNOWN) {
            if (spec->unk_surface_size > 0)
                memcpy(m->decoded + used, spec->unk_surface, spec->unk_surface_size);
            used += spec->unk_surface_size;
        } else if (m->types[i] != BPE_PIECE_CONTROL) {
            while (p < end) {
                bool mark = bpe_is_mark(p, end);
                m->decoded[used++] = mark ? ' ' : *p;
                p += mark ? BPE_MARK_BYTES : 1;
            }
        }
        m->decoded_ends[i] = used;
    }
    return true;
}

/* ---------------------------------------------------------------- building */

static bpe_status init_normalizers(bpe_pieces *m, const bpe_pieces_spec *spec, bpe_error *err) {
    bpe_status status = bpe_normalizer_init(&m->normalizer, &spec->normalizer);
    if (status == BPE_ERR_MODEL)
        return fail_piece(err, BPE_PIECES_CHARSMAP, 0);
    if (status == BPE_OK)
        status = bpe_normalizer_init(&m->denormalizer, &spec->denormalizer);
    if (status == BPE_ERR_MODEL)
        return fail_piece(err, BPE_PIECES_CHARSMAP, 1);
    if (status != BPE_OK)
        return bpe_fail(err, status, 0);
    m->escapes = (spec->normalizer.flags & BPE_NORMALIZE_ESCAPE) != 0;
    m->compact = bpe_charsmap_is_utf8(&m->normalizer.map);
    for (uint32_t i = 0; i < m->n_pieces; i++) {
        size_t n;
        const uint8_t *p = bpe_intern_bytes(&m->by_text, i, &n);
        if (m->types[i] == BPE_PIECE_USER && !bpe_is_utf8(p, n))
            m->compact = false;
    }
    return BPE_OK;
}

/* Whether normalising leaves nothing to do but to put a mark before a text. */
static bool is_direct(const bpe_pieces *m) {
    uint32_t flags = m->normalizer.flags;
    uint32_t marks = BPE_NORMALIZE_MARK | BPE_NORMALIZE_MARK_AFTER;
    return m->normalizer.map.n_cells == 0 && !(flags & BPE_NORMALIZE_SQUEEZE) &&
           (flags & marks) != marks && !m->raw_users.match && !m->text_users.match;
}

/*
 * Text is taken as a whole where its parts are not independent: unused pieces are taken apart into
 * what their text was last joined from, anywhere in the text; and where text need not be UTF-8,
 * what is a character depends on the bytes around it.
 */
static bpe_status build(bpe_pieces *m, const bpe_pieces_spec *spec, bpe_error *err) {
    bpe_status status = enter_pieces(m, spec, err);
    if (status == BPE_OK)
        status = init_normalizers(m, spec, err);
    if (status != BPE_OK)
        return status;
    status = enter_users(m);
    if (status != BPE_OK)
        return bpe_fail(err, status, 0);
    status = enter_symbols(m, spec->scores, err);
    if (status != BPE_OK)
        return status;
    m->whole = m->whole || !m->compact;
    m->direct = !m->whole && is_direct(m);
    return enter_decoded(m, spec) ? BPE_OK : bpe_fail(err, BPE_ERR_NOMEM, 0);
}

bpe_status bpe_pieces_new(const bpe_pieces_spec *spec, bpe_pieces **out, bpe_error *err) {
    if (spec->n_pieces >= BPE_MAX_IDS)
        return bpe_fail(err, BPE_ERR_LIMIT, spec->n_pieces);
    bpe_pieces *m = bpe_mem_zeroed(1, sizeof *m);
    if (!m)
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    m->n_pieces = (uint32_t)spec->n_pieces;
    m->byte_fallback = spec->byte_fallback != 0;
    m->unk = BPE_NO_ID;
    for (size_t b = 0; b < 256; b++)
        m->byte_ids[b] = BPE_NO_ID;
    bpe_status status = build(m, spec, err);
    if (status != BPE_OK) {
        bpe_pieces_free(m);
        return status;
    }
    *out = m;
    return BPE_OK;
}

void bpe_pieces_free(bpe_pieces *m) {
    if (!m)
        return;
    bpe_mem_free(m->types);
    bpe_intern_free(&m->by_text);
    bpe_normalizer_free(&m->normalizer);
    bpe_normalizer_free(&m->denormalizer);
    users_free(&m->raw_users);
    users_free(&m->text_users);
    bpe_intern_free(&m->symbols);
    bpe_mem_free(m->symbol_pieces);
    bpe_mem_free(m->symbol_kinds);
    bpe_rules_free(&m->rules);
    bpe_chars_free(&m->chars);
    bpe_mem_free(m->decoded);
    bpe_mem_free(m->decoded_ends);
    bpe_mem_free(m);
}

uint32_t bpe_pieces_find(const bpe_pieces *pieces, const uint8_t *data, size_t n) {
    return bpe_intern_find(&pieces->by_text, data, n, bpe_intern_hash(&pieces->by_text, data, n));
}
