#include "encode.h"

#include "memory.h"
#include "split.h"

/* Buckets of a workspace's cache: 2^17 of 64 bytes, 8 MB. */
#define CACHE_BITS 17

/* Pretoken ends are fetched this many at a time: enough to hide the cost of a call, few enough for
 * the first-level cache. */
#define BATCH 256

/* Where pretokens that are tokens are taken whole, the vocabulary's short tokens are known
 * pretokens from the start: two milliseconds for 100,000 of them, less than finding each one out.
 */
static void seed_cache(bpe_cache *cache, const bpe_vocab *vocab) {
    for (size_t i = vocab->n_ordinary; i-- > 0;) { /* low ids are frequent: last, so in front */
        size_t n;
        const uint8_t *p = bpe_intern_bytes(&vocab->strings, i, &n);
        if (n > BPE_CACHE_KEY_BYTES)
            continue;
        bpe_cache_key key = bpe_cache_key_of(p, n, p + n);
        bpe_cache_put(bpe_cache_bucket(cache, &key), &key, &vocab->ids[i], 1);
    }
}

bpe_status bpe_workspace_new(const bpe_model *model, bpe_workspace **out) {
    bpe_workspace *w = bpe_mem_zeroed(1, sizeof *w);
    if (!w)
        return BPE_ERR_NOMEM;
    w->model = model;
    w->path = BPE_PATH_AUTO;
    w->use_cache = true;
    if (!bpe_cache_init(&w->cache, CACHE_BITS)) {
        bpe_workspace_free(w);
        return BPE_ERR_NOMEM;
    }
    if (model->whole_pretoken)
        seed_cache(&w->cache, &model->vocab);
    *out = w;
    return BPE_OK;
}

void bpe_workspace_free(bpe_workspace *w) {
    if (!w)
        return;
    bpe_cache_free(&w->cache);
    bpe_merge_scratch_free(&w->merge);
    bpe_hits_free(&w->hits);
    bpe_mem_free(w->ids);
    bpe_mem_free(w);
}

bpe_status bpe_workspace_configure(bpe_workspace *w, uint32_t path, uint32_t use_cache) {
    if (path > BPE_PATH_LONG || use_cache > 1)
        return BPE_ERR_ARG;
    w->path = path;
    w->use_cache = use_cache != 0;
    return BPE_OK;
}

/* ---------------------------------------------------------------- one pretoken */

/* Where the ids of a call go. */
typedef struct sink {
    uint32_t *ids; /* NULL: count only */
    size_t n;
} sink;

/* One running call: text that may be read up to data + n. */
typedef struct call {
    const bpe_model *model;
    const bpe_split *split;
    const bpe_match *match;
    const bpe_match *forbidden;
    bpe_workspace *w;
    const uint8_t *data;
    size_t n;
    sink out;
    bpe_error *err;
} call;

static bool merges_short(const bpe_workspace *w, size_t n) {
    return n <= BPE_SHORT_BYTES && w->path != BPE_PATH_LONG;
}

/* The ids of a pretoken of n bytes into room for n ids. */
static bpe_status merge_pretoken(const bpe_model *m, bpe_workspace *w, const uint8_t *p, size_t n,
                                 uint32_t *ids, size_t *n_ids) {
    if (m->whole_pretoken) {
        ids[0] = bpe_vocab_find(&m->vocab, p, n);
        *n_ids = 1;
        if (ids[0] != BPE_NO_ID)
            return BPE_OK;
    }
    if (m->symbols == BPE_SYMBOLS_BYTES) {
        for (size_t i = 0; i < n; i++)
            ids[i] = m->vocab.byte_ids[p[i]];
    } else {
        n = bpe_model_symbols(m, p, n, ids);
        *n_ids = n;
        if (n == 0)
            return BPE_OK;
    }
    if (merges_short(w, n)) {
        *n_ids = bpe_merge_short(&m->rules, ids, n, BPE_NO_RANK);
        return BPE_OK;
    }
    return bpe_merge_long(&m->rules, &w->merge, ids, n, BPE_NO_RANK, n_ids);
}

/* Not in the cache: merge straight into the output (it has room for an id per byte), or into
 * scratch when counting. */
static bpe_status encode_miss(call *c, size_t start, size_t n, bpe_cache_entry *bucket,
                              const bpe_cache_key *key) {
    bpe_workspace *w = c->w;
    if (n >= BPE_MAX_PRETOKEN)
        return bpe_fail(c->err, BPE_ERR_LIMIT, start);
    if (!c->out.ids && !bpe_mem_grow((void **)&w->ids, &w->ids_cap, n, sizeof *w->ids)) {
        return bpe_fail(c->err, BPE_ERR_NOMEM, start);
    }
    uint32_t *ids = c->out.ids ? c->out.ids + c->out.n : w->ids;
    size_t n_ids = 0;
    bpe_status status = merge_pretoken(c->model, w, c->data + start, n, ids, &n_ids);
    if (status != BPE_OK)
        return bpe_fail(c->err, status, start);
    if (bucket && n_ids >= 1 && n_ids <= BPE_CACHE_IDS)
        bpe_cache_put(bucket, key, ids, n_ids);
    c->out.n += n_ids;
    return BPE_OK;
}

static inline void emit(sink *out, const bpe_cache_entry *e) {
    if (out->ids) {
        uint32_t *to = out->ids + out->n;
        to[0] = e->ids[0];
        for (uint32_t i = 1; i < e->n_ids; i++)
            to[i] = e->ids[i];
    }
    out->n += e->n_ids;
}

/* Up to BATCH pretokens. All keys are made, and their buckets asked for, before the first is
 * looked at: a bucket that is not in a near cache arrives meanwhile. */
static bpe_status encode_batch(call *c, size_t start, const size_t *ends, size_t n) {
    bpe_cache_key keys[BATCH];
    bpe_cache_entry *buckets[BATCH];
    size_t from = start;
    for (size_t i = 0; i < n; from = ends[i], i++) {
        buckets[i] = NULL;
        if (ends[i] - from > BPE_CACHE_KEY_BYTES || !c->w->use_cache)
            continue;
        keys[i] = bpe_cache_key_of(c->data + from, ends[i] - from, c->data + c->n);
        buckets[i] = bpe_cache_bucket(&c->w->cache, &keys[i]);
        bpe_prefetch(buckets[i]);
    }
    for (size_t i = 0; i < n; start = ends[i], i++) {
        const bpe_cache_entry *e = buckets[i] ? bpe_cache_find(buckets[i], &keys[i]) : NULL;
        if (e) {
            emit(&c->out, e);
            continue;
        }
        bpe_status status = encode_miss(c, start, ends[i] - start, buckets[i], &keys[i]);
        if (status != BPE_OK)
            return status;
    }
    return BPE_OK;
}

/* ---------------------------------------------------------------- one text */

/* A stretch whose split drops text: pretokens one by one, for they do not lie side by side. */
static bpe_status encode_spans(call *c, bpe_split_cursor *cursor) {
    size_t starts[BATCH];
    size_t ends[BATCH];
    size_t n;
    do {
        n = bpe_split_next_spans(cursor, starts, ends, BATCH);
        for (size_t i = 0; i < n; i++) {
            bpe_status status = encode_batch(c, starts[i], ends + i, 1);
            if (status != BPE_OK)
                return status;
        }
    } while (n == BATCH);
    return BPE_OK;
}

/* A stretch whose pretokens lie side by side from `start` on. */
static bpe_status encode_ends(call *c, bpe_split_cursor *cursor, size_t start) {
    size_t ends[BATCH];
    size_t n;
    do {
        n = bpe_split_next(cursor, ends, BATCH);
        if (n == 0)
            break;
        bpe_status status = encode_batch(c, start, ends, n);
        if (status != BPE_OK)
            return status;
        start = ends[n - 1];
    } while (n == BATCH);
    return BPE_OK;
}

/* A stretch without added or special tokens, as a text of its own. */
static bpe_status encode_stretch(call *c, size_t start, size_t end) {
    if (start == end)
        return BPE_OK;
    bpe_split_cursor cursor;
    bpe_split_begin(&cursor, c->split, c->data, start, end, false);
    bpe_status status =
        bpe_split_drops_text(c->split) ? encode_spans(c, &cursor) : encode_ends(c, &cursor, start);
    if (status == BPE_OK && cursor.nomem)
        status = bpe_fail(c->err, BPE_ERR_NOMEM, cursor.settled);
    bpe_split_end(&cursor);
    return status;
}

/* Scratch for more than this many items is given back after the call that needed it. */
#define KEEP_ITEMS ((size_t)1 << 16)

static void trim(bpe_workspace *w) {
    if (w->merge.parts_cap > KEEP_ITEMS)
        bpe_merge_scratch_free(&w->merge);
    if (w->hits.cap > KEEP_ITEMS)
        bpe_hits_free(&w->hits);
    if (w->ids_cap > KEEP_ITEMS) {
        bpe_mem_free(w->ids);
        w->ids = NULL;
        w->ids_cap = 0;
    }
}

static bpe_status encode_parts(call *c) {
    bpe_hits *hits = &c->w->hits;
    if (c->forbidden) {
        if (!bpe_match_scan(c->forbidden, c->data, c->n, hits))
            return bpe_fail(c->err, BPE_ERR_NOMEM, 0);
        if (hits->n > 0)
            return bpe_fail(c->err, BPE_ERR_FORBIDDEN, hits->items[0].start);
    }
    hits->n = 0;
    if (c->match && !bpe_match_scan(c->match, c->data, c->n, hits))
        return bpe_fail(c->err, BPE_ERR_NOMEM, 0);
    size_t start = 0;
    for (size_t i = 0; i < hits->n; i++) {
        bpe_status status = encode_stretch(c, start, hits->items[i].start);
        if (status != BPE_OK)
            return status;
        if (c->out.ids)
            c->out.ids[c->out.n] = hits->items[i].id;
        c->out.n++;
        start = hits->items[i].end;
    }
    return encode_stretch(c, start, c->n);
}

static bpe_status encode_text(call *c) {
    bpe_status status = encode_parts(c);
    trim(c->w);
    return status;
}

bpe_status bpe_encode(const bpe_model *model, const bpe_split *split, const bpe_match *match,
                      const bpe_match *forbidden, bpe_workspace *workspace, const uint8_t *data,
                      size_t n, uint32_t *ids, size_t cap, size_t *n_ids, bpe_error *err) {
    if (workspace->model != model)
        return bpe_fail(err, BPE_ERR_ARG, 0);
    if (ids && cap < n)
        return bpe_fail(err, BPE_ERR_CAPACITY, n);
    call c = {model, split, match, forbidden, workspace, data, n, {ids, 0}, err};
    bpe_status status = encode_text(&c);
    if (status == BPE_OK)
        *n_ids = c.out.n;
    return status;
}

bpe_status bpe_encode_pretokens(const bpe_model *model, bpe_workspace *workspace,
                                const uint8_t *data, size_t n, const size_t *ends, size_t n_ends,
                                uint32_t *ids, size_t cap, size_t *n_ids, bpe_error *err) {
    if (workspace->model != model)
        return bpe_fail(err, BPE_ERR_ARG, 0);
    if (ids && cap < n)
        return bpe_fail(err, BPE_ERR_CAPACITY, n);
    for (size_t i = 0; i < n_ends; i++) {
        if (ends[i] > n || ends[i] <= (i > 0 ? ends[i - 1] : 0))
            return bpe_fail(err, BPE_ERR_ARG, i);
    }
    if ((n_ends > 0 ? ends[n_ends - 1] : 0) != n)
        return bpe_fail(err, BPE_ERR_ARG, n_ends);
    call c = {model, NULL, NULL, NULL, workspace, data, n, {ids, 0}, err};
    size_t start = 0;
    bpe_status status = BPE_OK;
    for (size_t i = 0; i < n_ends; i += BATCH) {
        size_t n_batch = n_ends - i < BATCH ? n_ends - i : BATCH;
        status = encode_batch(&c, start, ends + i, n_batch);
        if (status != BPE_OK)
            break;
        start = ends[i + n_batch - 1];
    }
    trim(workspace);
    if (status == BPE_OK)
        *n_ids = c.out.n;
    return status;
}

bpe_status bpe_encode_batch(const bpe_model *model, const bpe_split *split, const bpe_match *match,
                            const bpe_match *forbidden, bpe_workspace *workspace,
                            const uint8_t *data, const size_t *offsets, size_t n_texts,
                            uint32_t *ids, size_t cap, size_t *id_offsets, bpe_error *err) {
    if (workspace->model != model)
        return bpe_fail(err, BPE_ERR_ARG, 0);
    for (size_t i = 0; i < n_texts; i++) {
        if (offsets[i + 1] < offsets[i])
            return bpe_fail(err, BPE_ERR_ARG, i);
    }
    if (ids && cap < offsets[n_texts] - offsets[0])
        return bpe_fail(err, BPE_ERR_CAPACITY, 0);
    bpe_error inner = {BPE_OK, 0};
    call c = {model, split, match, forbidden, workspace, NULL, 0, {ids, 0}, &inner};
    for (size_t i = 0; i < n_texts; i++) {
        id_offsets[i] = c.out.n;
        c.data = data + offsets[i];
        c.n = offsets[i + 1] - offsets[i];
        bpe_status status = encode_text(&c);
        if (status != BPE_OK)
            return bpe_fail(err, status, offsets[i] + inner.pos);
    }
    id_offsets[n_texts] = c.out.n;
    return BPE_OK;
}
