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
    b->cap = b->n_ids = 0;
    bpe_gaps_begin(&b->gaps, &w->kept, &model->rules, 1);
}

/* ---------------------------------------------------------------- long ones */

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
        bpe_status status = BPE_OK;
        if (n_ids > 0)
            status = bpe_gaps_merge_one(&b->gaps, ids, n_ids, &n_ids);
        if (status != BPE_OK)
            return bpe_fail(b->err, status, start);
    }
    out->n += n_ids;
    return BPE_OK;
}

/* ---------------------------------------------------------------- gaps */

/* Fill a gap with what a pretoken is taken apart into, or with the token that it is as a whole.
 * Returns how many ids that are. */
static size_t take_apart(const bpe_batch *b, const bpe_missed *x, uint32_t *ids) {
    const bpe_model *m = b->model;
    bool known = x->n <= BPE_CACHE_BYTES; /* to the filter */
    if ((!known || bpe_may_be_token(b->w, bpe_cache_hash(&x->key))) && is_whole(m, x->p, x->n, ids))
        return 1;
    return bpe_model_symbols(m, x->p, x->n, ids);
}

/* Fill the gaps, those of repeated pretokens excepted. */
static bpe_status fill_gaps(bpe_batch *b) {
    bpe_gaps *g = &b->gaps;
    bool in_bytes = b->model->symbols == BPE_SYMBOLS_BYTES;
    for (size_t i = 0; i < g->n; i++) {
        const bpe_missed *x = &g->missed[i];
        uint32_t *ids = g->ids + x->at;
        size_t n = x->same_as == i ? take_apart(b, x, ids) : 0;
        g->jobs[i] = (bpe_merge_job){in_bytes ? x->p : NULL, ids, (uint32_t)n};
    }
    size_t failed;
    bpe_status status = bpe_gaps_merge(g, &failed);
    return status == BPE_OK ? status
                            : bpe_fail(b->err, status, (size_t)(g->missed[failed].p - b->data));
}

bpe_status bpe_batch_finish(bpe_batch *b) {
    bpe_status status = fill_gaps(b);
    if (status != BPE_OK)
        return status;
    uint32_t *ids = b->gaps.ids;
    b->n_ids = bpe_gaps_close(&b->gaps, b->n_ids);
    if (b->out->ids && ids == b->w->chunk_ids)
        memcpy(b->out->ids + b->out->n, ids, b->n_ids * sizeof *ids);
    b->out->n += b->n_ids;
    b->gaps.ids = NULL;
    b->cap = b->n_ids = 0;
    return BPE_OK;
}

/* ---------------------------------------------------------------- looking up */

/* Make the keys of the first pretokens and ask for their buckets, up to one that is too long for a
 * batch. Returns how many. */
static size_t make_keys(bpe_batch *b, size_t start, const size_t *ends, size_t n) {
    bpe_gaps *g = &b->gaps;
    const uint8_t *text_end = b->data + b->n;
    for (size_t i = 0; i < n; start = ends[i], i++) {
        if (!bpe_gaps_key(b->data + start, ends[i] - start, text_end, &g->keys[i]))
            return i;
        g->buckets[i] = bpe_cache_bucket(&g->known, bpe_cache_hash(&g->keys[i]));
        bpe_prefetch(g->buckets[i]);
    }
    return n;
}

/* Put out the ids of n pretokens, or leave gaps. */
static void look_up(bpe_batch *b, size_t start, const size_t *ends, size_t n) {
    bpe_gaps *g = &b->gaps;
    uint32_t *to = g->ids + b->n_ids;
    for (size_t i = 0; i < n; start = ends[i], i++) {
        const bpe_cache_entry *e = bpe_cache_find(g->buckets[i], &g->keys[i]);
        if (e && bpe_cache_count(e) <= BPE_CACHE_IDS) {
            to += bpe_cache_copy(e, to);
            continue;
        }
        to += bpe_gaps_put(g, i, e, b->data + start, ends[i] - start, to);
    }
    b->n_ids = (size_t)(to - g->ids);
}

/* See that n more ids and an entry's have room, in the output or else in scratch. */
static bpe_status make_room(bpe_batch *b, size_t n) {
    n += BPE_CACHE_IDS;
    if (b->gaps.ids && n <= b->cap - b->n_ids)
        return BPE_OK;
    bpe_status status = bpe_batch_finish(b);
    const bpe_sink *out = b->out;
    bool direct = out->ids && n <= out->cap - out->n;
    b->gaps.ids = direct ? out->ids + out->n : b->w->chunk_ids;
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
            if (b->gaps.n >= BPE_ENOUGH_GAPS)
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
