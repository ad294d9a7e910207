#include "pretokens.h"

#include "memory.h"

void bpe_batch_begin(bpe_batch *b, const bpe_model *model, bpe_workspace *w, const uint8_t *data,
                     size_t n, bpe_sink *out, bpe_error *err) {
    b->model = model;
    b->w = w;
    b->data = data;
    b->n = n;
    b->out = out;
    b->err = err;
    b->ids = NULL;
    b->cap = b->n_ids = b->n_missed = 0;
}

/* ---------------------------------------------------------------- merging */

/* Merge the n symbols of a pretoken in place; n > 0. */
static bpe_status merge_symbols(const bpe_batch *b, uint32_t *ids, size_t n, size_t *n_ids) {
    const bpe_rules *rules = &b->model->rules;
    if (b->w->path == BPE_PATH_LONG)
        return bpe_merge_long(rules, &b->w->merge, ids, n, BPE_NO_RANK, n_ids);
    return bpe_merge(rules, &b->w->merge, ids, n, n_ids);
}

/* Whether a pretoken is a token that is taken whole, *id. */
static inline bool is_whole(const bpe_model *m, const uint8_t *p, size_t n, uint32_t *id) {
    *id = m->whole_pretoken ? bpe_vocab_find(&m->vocab, p, n) : BPE_NO_ID;
    return *id != BPE_NO_ID;
}

/* A pretoken that is too long for a batch: straight into the output, which has room for an id
 * per byte, or into scratch when counting. No gap is open. */
static bpe_status encode_long(bpe_batch *b, size_t start, size_t n) {
    bpe_workspace *w = b->w;
    bpe_sink *out = b->out;
    if (n >= BPE_MAX_PRETOKEN)
        return bpe_fail(b->err, BPE_ERR_LIMIT, start);
    if (!out->ids && !bpe_mem_grow((void **)&w->ids, &w->ids_cap, n, sizeof *w->ids))
        return bpe_fail(b->err, BPE_ERR_NOMEM, start);
    uint32_t *ids = out->ids ? out->ids + out->n : w->ids;
    size_t n_ids = 1;
    if (!is_whole(b->model, b->data + start, n, ids)) {
        n_ids = bpe_model_symbols(b->model, b->data + start, n, ids);
        bpe_status status = n_ids > 0 ? merge_symbols(b, ids, n_ids, &n_ids) : BPE_OK;
        if (status != BPE_OK)
            return bpe_fail(b->err, status, start);
    }
    out->n += n_ids;
    return BPE_OK;
}

/* ---------------------------------------------------------------- gaps */

/* Fill a gap with what a pretoken is taken apart into, or with the token that it is as a whole.
 * Returns the number of symbols that are left to be merged, or 0. */
static size_t take_apart(const bpe_batch *b, bpe_missed *x) {
    const bpe_model *m = b->model;
    uint32_t *ids = b->ids + x->at;
    x->n_ids = 1;
    bool known = x->n <= BPE_CACHE_BYTES; /* to the filter */
    if ((!known || bpe_may_be_token(b->w, bpe_cache_hash(&x->key))) && is_whole(m, x->p, x->n, ids))
        return 0;
    x->n_ids = (uint32_t)bpe_model_symbols(m, x->p, x->n, ids);
    return x->n_ids;
}

/* Fill the gaps, those of repeated pretokens excepted. */
static bpe_status fill_gaps(bpe_batch *b) {
    const bpe_rules *rules = &b->model->rules;
    bool in_bytes = b->model->symbols == BPE_SYMBOLS_BYTES;
    bool together = b->w->path == BPE_PATH_AUTO && bpe_merge_many_can(rules);
    for (size_t i = 0; i < b->n_missed; i++) {
        bpe_missed *x = &b->missed[i];
        uint32_t *ids = b->ids + x->at;
        size_t n = x->same_as == i ? take_apart(b, x) : 0;
        b->jobs[i] = (bpe_merge_job){in_bytes ? x->p : NULL, ids, (uint32_t)n};
        if (n == 0 || together)
            continue;
        bpe_status status = merge_symbols(b, ids, n, &n);
        if (status != BPE_OK)
            return bpe_fail(b->err, status, (size_t)(x->p - b->data));
        b->jobs[i].n = (uint32_t)n;
    }
    if (together)
        bpe_merge_many(rules, b->jobs, b->n_missed);
    return BPE_OK;
}

/* What was merged becomes known, and goes to where the same pretokens came again. */
static void remember_missed(bpe_batch *b) {
    bpe_cache *cache = &b->w->cache;
    for (size_t i = 0; i < b->n_missed; i++) {
        bpe_missed *x = &b->missed[i];
        uint32_t *ids = b->ids + x->at;
        if (x->same_as != i) {
            const bpe_missed *first = &b->missed[x->same_as];
            x->n_ids = first->n_ids;
            memcpy(ids, b->ids + first->at, x->n_ids * sizeof *ids);
            continue;
        }
        if (b->jobs[i].n > 0)
            x->n_ids = b->jobs[i].n;
        if (b->w->use_cache && x->n <= BPE_CACHE_BYTES)
            bpe_cache_put_any(cache, bpe_cache_bucket(cache, bpe_cache_hash(&x->key)), &x->key,
                              x->p, x->n, ids, x->n_ids);
    }
}

static void close_gaps(bpe_batch *b) {
    if (b->n_missed == 0)
        return;
    uint32_t *to = b->ids + b->missed[0].at;
    for (size_t i = 0; i < b->n_missed; i++) {
        const bpe_missed *x = &b->missed[i];
        const uint32_t *from = b->ids + x->at;
        memmove(to, from, x->n_ids * sizeof *to);
        to += x->n_ids;
        from += x->n;
        size_t n = (i + 1 < b->n_missed ? b->missed[i + 1].at : b->n_ids) - (x->at + x->n);
        memmove(to, from, n * sizeof *to);
        to += n;
    }
    b->n_ids = (size_t)(to - b->ids);
}

bpe_status bpe_batch_finish(bpe_batch *b) {
    bpe_status status = fill_gaps(b);
    if (status == BPE_OK) {
        remember_missed(b);
        close_gaps(b);
        if (b->out->ids && b->ids == b->w->chunk_ids)
            memcpy(b->out->ids + b->out->n, b->ids, b->n_ids * sizeof *b->ids);
        b->out->n += b->n_ids;
    }
    b->w->n_batches++; /* marks of this one are not valid any more */
    b->ids = NULL;
    b->cap = b->n_ids = b->n_missed = 0;
    return status;
}

/* ---------------------------------------------------------------- looking up */

/* A key that no pretoken has: of those that are too long for the cache. */
static const bpe_cache_key no_key = {UINT64_MAX, UINT64_MAX};

/* Make the keys of the first pretokens and ask for their buckets, up to one that is too long for a
 * batch. Returns how many. */
static size_t make_keys(bpe_batch *b, size_t start, const size_t *ends, size_t n) {
    const uint8_t *text_end = b->data + b->n;
    for (size_t i = 0; i < n; start = ends[i], i++) {
        size_t length = ends[i] - start;
        if (length <= BPE_CACHE_KEY_BYTES) /* most */
            b->keys[i] = bpe_cache_key_of(b->data + start, length, text_end);
        else if (length <= BPE_CACHE_BYTES)
            b->keys[i] = bpe_cache_long_key(b->data + start, length);
        else if (length <= BPE_MANY_BYTES)
            b->keys[i] = no_key;
        else
            return i;
        b->buckets[i] = bpe_cache_bucket(&b->w->cache, bpe_cache_hash(&b->keys[i]));
        bpe_prefetch(b->buckets[i]);
    }
    return n;
}

/* Leave a gap. The cache is given a mark in place of the ids, by which the same pretoken is known
 * when it comes again before they are there. */
static void miss(bpe_batch *b, size_t i, const bpe_cache_entry *e, const uint8_t *p, size_t n,
                 size_t at) {
    bpe_missed *x = &b->missed[b->n_missed];
    uint32_t which = (uint32_t)b->n_missed++;
    *x = (bpe_missed){b->keys[i], p, at, (uint32_t)n, 0, which};
    if (!b->w->use_cache || n > BPE_CACHE_BYTES)
        return;
    if (e && bpe_cache_count(e) == BPE_CACHE_MARK && bpe_cache_mark(e) == b->w->n_batches) {
        const bpe_missed *first = &b->missed[e->ids[0] & BPE_CACHE_ID_MASK];
        if (memcmp(first->p, p, n) == 0)
            x->same_as = (uint32_t)(first - b->missed);
        return;
    }
    bpe_cache_put_mark(b->buckets[i], &x->key, which, b->w->n_batches);
}

/* Put out the ids of n pretokens, or leave gaps. */
static void look_up(bpe_batch *b, size_t start, const size_t *ends, size_t n) {
    const bpe_cache *cache = &b->w->cache;
    bool use_cache = b->w->use_cache;
    uint32_t *to = b->ids + b->n_ids;
    for (size_t i = 0; i < n; start = ends[i], i++) {
        const bpe_cache_entry *e = use_cache ? bpe_cache_find(b->buckets[i], &b->keys[i]) : NULL;
        if (e && bpe_cache_count(e) <= BPE_CACHE_IDS) {
            memcpy(to, e->ids, sizeof e->ids);
            to[0] = e->ids[0] & BPE_CACHE_ID_MASK;
            to += bpe_cache_count(e);
            continue;
        }
        const uint8_t *p = b->data + start;
        size_t length = ends[i] - start;
        size_t n_ids;
        const uint32_t *ids = NULL;
        if (e && bpe_cache_count(e) == BPE_CACHE_STORED)
            ids = bpe_cache_stored(cache, e, p, length, &n_ids);
        if (ids) {
            for (size_t k = 0; k < n_ids; k++)
                to[k] = ids[k];
            to += n_ids;
            continue;
        }
        miss(b, i, e, p, length, (size_t)(to - b->ids));
        to += length;
    }
    b->n_ids = (size_t)(to - b->ids);
}

/* See that n more ids and an entry's have room, in the output or else in scratch. */
static bpe_status make_room(bpe_batch *b, size_t n) {
    n += BPE_CACHE_IDS;
    if (b->ids && n <= b->cap - b->n_ids)
        return BPE_OK;
    bpe_status status = bpe_batch_finish(b);
    const bpe_sink *out = b->out;
    bool direct = out->ids && n <= out->cap - out->n;
    b->ids = direct ? out->ids + out->n : b->w->chunk_ids;
    b->cap = direct ? out->cap - out->n : BPE_CHUNK_IDS;
    return status;
}

bpe_status bpe_batch_add(bpe_batch *b, size_t start, const size_t *ends, size_t n) {
    bpe_status status = BPE_OK;
    while (n > 0 && status == BPE_OK) {
        size_t n_short = make_keys(b, start, ends, n);
        if (n_short > 0) {
            status = make_room(b, ends[n_short - 1] - start);
            if (status != BPE_OK)
                break;
            look_up(b, start, ends, n_short);
            if (b->n_missed >= BPE_ENOUGH_MISSED)
                status = bpe_batch_finish(b);
        } else {
            n_short = 1;
            status = bpe_batch_finish(b);
            if (status == BPE_OK)
                status = encode_long(b, start, ends[0] - start);
        }
        start = ends[n_short - 1];
        ends += n_short;
        n -= n_short;
    }
    return status;
}
