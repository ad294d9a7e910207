#include "pieces_batch.h"

#include <string.h>

#include "memory.h"

/* bpe_gaps knows these by the names of the others. */
_Static_assert((int)BPE_PIECES_PATH_AUTO == (int)BPE_PATH_AUTO, "the same way");
_Static_assert((int)BPE_PIECES_PATH_LONG == (int)BPE_PATH_LONG, "the same way");

void bpe_parts_begin(bpe_parts *b, const bpe_pieces *m, bpe_pieces_workspace *w) {
    b->m = m;
    b->w = w;
    b->n_ids = b->first = b->first_id = 0;
    bpe_gaps_begin(&b->gaps, &w->kept, &m->rules, BPE_IDS_PER_BYTE);
}

bool bpe_parts_reserve(bpe_parts *b, size_t n) {
    bpe_pieces_workspace *w = b->w;
    if (n > SIZE_MAX / 64)
        return false;
    size_t need = b->n_ids + BPE_IDS_PER_BYTE * n + BPE_CACHE_IDS;
    if (need > w->ids_cap && !bpe_mem_grow((void **)&w->ids, &w->ids_cap, need, sizeof *w->ids))
        return false;
    b->gaps.ids = w->ids;
    return true;
}

/* ---------------------------------------------------------------- symbols -> ids */

size_t bpe_parts_spell(const bpe_pieces *m, const uint8_t *p, size_t n, uint32_t *to) {
    if (!m->byte_fallback) {
        *to = m->unk;
        return 1;
    }
    p = bpe_char_spelt(m, p, &n);
    for (size_t i = 0; i < n; i++)
        to[i] = m->byte_ids[p[i]];
    return n;
}

/* The symbols of a part. Returns how many; *certain: all of them are pieces; *is_ascii: all of the
 * characters are ASCII. */
static size_t find_symbols(const bpe_pieces *m, const uint8_t *p, size_t n, uint32_t *symbols,
                           bool *certain, bool *is_ascii) {
    const bpe_char *ascii = bpe_chars_at(&m->chars, 0);
    const uint8_t *end = p + n;
    size_t n_symbols = 0;
    uint32_t worst = 0;
    *is_ascii = true;
    while (p < end) {
        const bpe_char *c = &ascii[*p & 127];
        if (*p < 128) {
            p++;
        } else {
            uint32_t cp;
            p += bpe_utf8_decode(p, end, &cp);
            c = bpe_chars_at(&m->chars, cp);
            *is_ascii = false;
        }
        uint32_t id = bpe_char_id(c);
        worst = id > worst ? id : worst;
        symbols[n_symbols++] = c->symbol;
    }
    *certain = worst != BPE_CHAR_NO_ID;
    return n_symbols;
}

/* Turn the symbols that are left of a part into ids in place; returns how many. Symbols that are no
 * pieces are characters, and those of one part are not many. */
static size_t make_ids(const bpe_pieces *m, uint32_t *ids, size_t n, bool certain) {
    if (certain) {
        for (size_t i = 0; i < n; i++)
            ids[i] = m->symbol_pieces[ids[i]];
        return n;
    }
    uint32_t symbols[BPE_MANY_BYTES];
    memcpy(symbols, ids, n * sizeof *ids);
    size_t n_ids = 0;
    for (size_t i = 0; i < n; i++) {
        if (m->symbol_kinds[symbols[i]] == BPE_SYMBOL_PIECE) {
            ids[n_ids++] = m->symbol_pieces[symbols[i]];
        } else {
            size_t length;
            const uint8_t *p = bpe_intern_bytes(&m->symbols, symbols[i], &length);
            n_ids += bpe_parts_spell(m, p, length, ids + n_ids);
        }
    }
    return n_ids;
}

/* A part that is too long for a batch; no gap is open. */
static bpe_status join_long(bpe_parts *b, const uint8_t *p, size_t n) {
    bpe_pieces_workspace *w = b->w;
    if (!bpe_parts_reserve(b, n) ||
        !bpe_mem_grow((void **)&w->symbols, &w->symbols_cap, n, sizeof *w->symbols))
        return BPE_ERR_NOMEM;
    bool certain;
    bool is_ascii;
    size_t n_symbols = find_symbols(b->m, p, n, w->symbols, &certain, &is_ascii);
    if (n_symbols >= BPE_MAX_PRETOKEN)
        return BPE_ERR_LIMIT;
    bpe_status status = bpe_gaps_merge_one(&b->gaps, w->symbols, n_symbols, &n_symbols);
    if (status != BPE_OK)
        return status;
    for (size_t i = 0; i < n_symbols;) {
        size_t n_few = n_symbols - i < BPE_MANY_BYTES ? n_symbols - i : BPE_MANY_BYTES;
        memcpy(w->ids + b->n_ids, w->symbols + i, n_few * sizeof *w->ids);
        b->n_ids += make_ids(b->m, w->ids + b->n_ids, n_few, certain);
        i += n_few;
    }
    return BPE_OK;
}

/* ---------------------------------------------------------------- gaps */

/* Fill the gaps with ids, those of repeated parts excepted. */
static bpe_status fill_gaps(bpe_parts *b) {
    bpe_gaps *g = &b->gaps;
    bool certain[BPE_MAX_GAPS];
    for (size_t i = 0; i < g->n; i++) {
        const bpe_missed *x = &g->missed[i];
        uint32_t *ids = g->ids + x->at;
        bool is_ascii = false;
        size_t n = 0;
        if (x->same_as == i)
            n = find_symbols(b->m, x->p, x->n, ids, &certain[i], &is_ascii);
        g->jobs[i] = (bpe_merge_job){is_ascii ? x->p : NULL, ids, (uint32_t)n};
    }
    size_t failed;
    bpe_status status = bpe_gaps_merge(g, &failed);
    for (size_t i = 0; i < g->n && status == BPE_OK; i++) {
        bpe_merge_job *job = &g->jobs[i];
        if (g->missed[i].same_as == i)
            job->n = (uint32_t)make_ids(b->m, job->ids, job->n, certain[i]);
    }
    return status;
}

/* One unknown piece for several in a row. */
static void run_together(bpe_parts *b) {
    uint32_t *ids = b->w->ids;
    uint32_t unk = b->m->unk;
    size_t n = b->first;
    for (size_t i = b->first; i < b->n_ids; i++) {
        bool again = ids[i] == unk && n > b->first_id && ids[n - 1] == unk;
        ids[n] = ids[i];
        n += !again;
    }
    b->n_ids = n;
}

bpe_status bpe_parts_finish(bpe_parts *b) {
    bpe_status status = fill_gaps(b);
    if (status != BPE_OK)
        return status;
    b->n_ids = bpe_gaps_close(&b->gaps, b->n_ids);
    if (!b->m->byte_fallback)
        run_together(b);
    b->first = b->n_ids;
    return BPE_OK;
}

/* ---------------------------------------------------------------- looking up */

/* The entry of a part of one character; its key is nothing but equal to that of the part. */
static inline void enter_char(bpe_parts *b, size_t i, bpe_cache_key key, uint32_t id) {
    uint32_t count = id != BPE_CHAR_NO_ID ? 1 : BPE_CACHE_MARK;
    b->gaps.keys[i] = b->chars[i].key = key;
    b->chars[i].ids[0] = count << BPE_CACHE_ID_BITS | (id & BPE_CHAR_ID_MASK);
}

/* Make the keys of the first parts and ask for their buckets, up to one that is too long for a
 * batch. Returns how many. A part of one character gets an entry of its own, so that nothing
 * branches on that later; not even here if it is ASCII, for those come where nobody expects them,
 * while others come in runs. */
static size_t make_keys(bpe_parts *b, const uint8_t *text, const uint8_t *readable, size_t start,
                        const size_t *ends, const uint32_t *kinds, size_t n) {
    bpe_gaps *g = &b->gaps;
    const bpe_char *ascii = bpe_chars_at(&b->m->chars, 0);
    for (size_t i = 0; i < n; start = ends[i], i++) {
        if (kinds[i] != BPE_PART_LONG) {
            enter_char(b, i, (bpe_cache_key){0, 0}, kinds[i]);
            g->buckets[i] = &b->chars[i];
            continue;
        }
        const uint8_t *p = text + start;
        size_t length = ends[i] - start;
        bpe_cache_key key;
        if (!bpe_gaps_key(p, length, readable, &key))
            return i;
        bpe_cache_entry *bucket = bpe_cache_bucket(&g->known, bpe_cache_hash(&key));
        enter_char(b, i, key, bpe_char_id(&ascii[*p & 127]));
        g->buckets[i] = length == 1 ? &b->chars[i] : bucket;
        bpe_prefetch(g->buckets[i]);
    }
    return n;
}

/* Put out the ids of n parts, or leave gaps. There is room. */
static void look_up(bpe_parts *b, const uint8_t *text, size_t start, const size_t *ends, size_t n) {
    bpe_gaps *g = &b->gaps;
    uint32_t *to = g->ids + b->n_ids;
    for (size_t i = 0; i < n; start = ends[i], i++) {
        bool one = g->buckets[i] == &b->chars[i];
        const bpe_cache_entry *e = bpe_cache_find(g->buckets[i], &g->keys[i]);
        if (e && bpe_cache_count(e) <= BPE_CACHE_IDS) {
            to += bpe_cache_copy(e, to);
            continue;
        }
        const uint8_t *p = text + start;
        size_t length = ends[i] - start;
        to += one ? bpe_parts_spell(b->m, p, length, to) : bpe_gaps_put(g, i, e, p, length, to);
    }
    b->n_ids = (size_t)(to - g->ids);
}

bpe_status bpe_parts_add(bpe_parts *b, const uint8_t *text, const uint8_t *readable, size_t start,
                         const size_t *ends, const uint32_t *kinds, size_t n) {
    while (n > 0) {
        bpe_status status = BPE_OK;
        size_t n_short = make_keys(b, text, readable, start, ends, kinds, n);
        if (n_short > 0) {
            if (!bpe_parts_reserve(b, ends[n_short - 1] - start))
                return BPE_ERR_NOMEM;
            look_up(b, text, start, ends, n_short);
            if (b->gaps.n >= BPE_ENOUGH_GAPS)
                status = bpe_parts_finish(b);
        } else {
            n_short = 1;
            status = bpe_parts_finish(b);
            if (status == BPE_OK)
                status = join_long(b, text + start, ends[0] - start);
        }
        if (status != BPE_OK)
            return status;
        start = ends[n_short - 1];
        ends += n_short;
        kinds += n_short;
        n -= n_short;
    }
    return BPE_OK;
}
