#include "pieces_workspace.h"

#include "memory.h"

/* Buffers above this many bytes are given back by bpe_pieces_workspace_trim. */
#define KEEP_BYTES ((size_t)16 << 20)
/* Scratch for merging above this many symbols likewise. */
#define KEEP_SYMBOLS ((size_t)1 << 20)

bpe_status bpe_pieces_workspace_new(const bpe_pieces *pieces, bpe_pieces_workspace **out) {
    bpe_pieces_workspace *w = bpe_mem_zeroed(1, sizeof *w);
    if (!w)
        return BPE_ERR_NOMEM;
    w->pieces = pieces;
    w->kept.path = BPE_PIECES_PATH_AUTO;
    w->kept.use_cache = true;
    if (!bpe_cache_fit(&w->kept.cache, BPE_CACHE_BYTES_DEFAULT)) {
        bpe_pieces_workspace_free(w);
        return BPE_ERR_NOMEM;
    }
    *out = w;
    return BPE_OK;
}

bpe_status bpe_pieces_workspace_resize(bpe_pieces_workspace *w, size_t bytes) {
    return bpe_cache_resize(&w->kept.cache, bytes) ? BPE_OK : BPE_ERR_NOMEM;
}

void bpe_pieces_workspace_free(bpe_pieces_workspace *w) {
    if (!w)
        return;
    bpe_cache_free(&w->kept.cache);
    bpe_merge_scratch_free(&w->kept.merge);
    bpe_agenda_free(&w->agenda);
    bpe_hits_free(&w->special);
    bpe_hits_free(&w->raw_users);
    bpe_hits_free(&w->text_users);
    bpe_text_free(&w->text);
    bpe_mem_free(w->symbols);
    bpe_mem_free(w->starts);
    bpe_mem_free(w->ids);
    bpe_mem_free(w->spans);
    bpe_mem_free(w);
}

void bpe_pieces_workspace_trim(bpe_pieces_workspace *w) {
    if (w->text.cap > KEEP_BYTES || w->text.offsets_cap > KEEP_BYTES / sizeof(size_t))
        bpe_text_free(&w->text);
    bpe_merge_scratch_trim(&w->kept.merge, KEEP_SYMBOLS);
    if (w->symbols_cap > KEEP_BYTES / sizeof *w->symbols)
        bpe_agenda_free(&w->agenda);
    bpe_mem_trim((void **)&w->symbols, &w->symbols_cap, KEEP_BYTES / sizeof *w->symbols);
    bpe_mem_trim((void **)&w->starts, &w->starts_cap, KEEP_BYTES / sizeof *w->starts);
    bpe_mem_trim((void **)&w->ids, &w->ids_cap, KEEP_BYTES / sizeof *w->ids);
    bpe_mem_trim((void **)&w->spans, &w->spans_cap, KEEP_BYTES / sizeof *w->spans);
    bpe_hits *hits[] = {&w->special, &w->raw_users, &w->text_users};
    for (size_t i = 0; i < sizeof hits / sizeof *hits; i++) {
        if (hits[i]->cap > KEEP_BYTES / sizeof(bpe_hit))
            bpe_hits_free(hits[i]);
    }
}

bpe_status bpe_pieces_workspace_configure(bpe_pieces_workspace *w, uint32_t path,
                                          uint32_t use_cache) {
    if (path > BPE_PIECES_PATH_WHOLE || use_cache > 1)
        return BPE_ERR_ARG;
    w->kept.path = path;
    w->kept.use_cache = use_cache != 0;
    return BPE_OK;
}

bpe_status bpe_pieces_normalize(const bpe_pieces *pieces, bpe_pieces_workspace *workspace,
                                const uint8_t *data, size_t n, const uint8_t **text, size_t *n_text,
                                const size_t **offsets) {
    if (workspace->pieces != pieces)
        return BPE_ERR_ARG;
    bpe_text *out = &workspace->text;
    out->n = 0;
    if (!bpe_users_find(&pieces->raw_users, data, n, &workspace->raw_users))
        return BPE_ERR_NOMEM;
    bpe_normalize_cursor cursor;
    bpe_status status = bpe_normalize_begin(&cursor, &pieces->normalizer, data, n,
                                            &workspace->raw_users, false, true, out);
    if (status == BPE_OK)
        status = bpe_normalize_more(&cursor, SIZE_MAX);
    if (status != BPE_OK)
        return status;
    *text = out->bytes;
    *n_text = out->n;
    *offsets = out->offsets;
    return BPE_OK;
}
