#include "match.h"
#include "memory.h"
#include "pretokens.h"
#include "split.h"

/* One running call: text that may be read up to data + n. */
typedef struct call {
    const bpe_model *model;
    const bpe_split *split;
    const bpe_match *match;
    const bpe_match *forbidden;
    bpe_workspace *w;
    const uint8_t *data;
    size_t n;
    bpe_sink out;
    bpe_error *err;
} call;

/* ---------------------------------------------------------------- one text */

/* A stretch whose split drops text: pretokens one by one, for they do not lie side by side. */
static bpe_status encode_spans(bpe_batch *batch, bpe_split_cursor *cursor) {
    size_t starts[BPE_CHUNK];
    size_t ends[BPE_CHUNK];
    size_t n;
    bpe_status status = BPE_OK;
    do {
        n = bpe_split_next_spans(cursor, starts, ends, BPE_CHUNK);
        for (size_t i = 0; i < n && status == BPE_OK; i++)
            status = bpe_batch_add(batch, starts[i], ends + i, 1);
    } while (n == BPE_CHUNK && status == BPE_OK);
    return status;
}

/* A stretch whose pretokens lie side by side from `start` on. */
static bpe_status encode_ends(bpe_batch *batch, bpe_split_cursor *cursor, size_t start) {
    size_t ends[BPE_CHUNK];
    size_t n;
    bpe_status status = BPE_OK;
    do {
        n = bpe_split_next(cursor, ends, BPE_CHUNK);
        if (n == 0)
            break;
        status = bpe_batch_add(batch, start, ends, n);
        start = ends[n - 1];
    } while (n == BPE_CHUNK && status == BPE_OK);
    return status;
}

/* A stretch without added or special tokens, as a text of its own. */
static bpe_status encode_stretch(call *c, size_t start, size_t end) {
    if (start == end)
        return BPE_OK;
    bpe_batch batch;
    bpe_batch_begin(&batch, c->model, c->w, c->data, c->n, &c->out, c->err);
    bpe_split_cursor cursor;
    bpe_split_begin(&cursor, c->split, c->data, start, end, false);
    bpe_status status = bpe_split_drops(c->split) ? encode_spans(&batch, &cursor)
                                                  : encode_ends(&batch, &cursor, start);
    if (status == BPE_OK)
        status = bpe_batch_finish(&batch);
    if (status == BPE_OK && cursor.nomem)
        status = bpe_fail(c->err, BPE_ERR_NOMEM, cursor.settled);
    bpe_split_end(&cursor);
    return status;
}

/* Scratch for more than this many items is given back after the call that needed it. */
#define KEEP_ITEMS ((size_t)1 << 16)

static void trim(bpe_workspace *w) {
    bpe_merge_scratch_trim(&w->kept.merge, KEEP_ITEMS);
    if (w->hits.cap > KEEP_ITEMS)
        bpe_hits_free(&w->hits);
    bpe_mem_trim((void **)&w->ids, &w->ids_cap, KEEP_ITEMS);
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
    call c = {model, split, match, forbidden, workspace, data, n, {ids, cap, 0}, err};
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
    bpe_sink out = {ids, cap, 0};
    bpe_batch batch;
    bpe_batch_begin(&batch, model, workspace, data, n, &out, err);
    size_t start = 0;
    bpe_status status = BPE_OK;
    for (size_t i = 0; i < n_ends && status == BPE_OK; i += BPE_CHUNK) {
        size_t n_chunk = n_ends - i < BPE_CHUNK ? n_ends - i : BPE_CHUNK;
        status = bpe_batch_add(&batch, start, ends + i, n_chunk);
        start = ends[i + n_chunk - 1];
    }
    if (status == BPE_OK)
        status = bpe_batch_finish(&batch);
    trim(workspace);
    if (status == BPE_OK)
        *n_ids = out.n;
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
    call c = {model, split, match, forbidden, workspace, NULL, 0, {ids, cap, 0}, &inner};
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
