#include "workspace.h"

#include "memory.h"

/* How many tokens are entered at once: each waits for its bucket. */
#define SEED_GROUP 32

/* Where pretokens that are tokens are taken whole, the filter learns of the vocabulary's tokens,
 * and the short ones are known pretokens from the start: two milliseconds for 100,000 of them, less
 * than finding each one out. */
static void seed(bpe_workspace *w, const bpe_vocab *vocab) {
    const uint8_t *end =
        vocab->strings.data + (vocab->n_ordinary ? vocab->strings.ends[vocab->n_ordinary - 1] : 0);
    bpe_cache *cache = &w->kept.cache;
    if (cache->entries)
        memset(cache->entries, 0, cache->mask + 2 * sizeof *cache->entries); /* see bpe_mem_lines */
    bpe_cache_key keys[SEED_GROUP];
    uint64_t hashes[SEED_GROUP];
    size_t which[SEED_GROUP];
    size_t n_group = 0;
    for (size_t i = vocab->n_ordinary; i-- > 0;) { /* low ids are frequent: last, so in front */
        size_t n;
        const uint8_t *p = bpe_intern_bytes(&vocab->strings, i, &n);
        if (n <= BPE_CACHE_BYTES) {
            bpe_cache_key key = bpe_cache_any_key(p, n, end);
            uint64_t hash = bpe_cache_hash(&key);
            uint64_t bits;
            uint64_t *word = bpe_filter_word(w, hash, &bits);
            *word |= bits;
            if (n <= BPE_CACHE_KEY_BYTES && cache->entries) {
                bpe_prefetch(bpe_cache_bucket(cache, hash));
                keys[n_group] = key;
                hashes[n_group] = hash;
                which[n_group++] = i;
            }
        }
        if (n_group < SEED_GROUP && i > 0)
            continue;
        for (size_t k = 0; k < n_group; k++)
            bpe_cache_put(bpe_cache_bucket(cache, hashes[k]), &keys[k], &vocab->ids[which[k]], 1);
        n_group = 0;
    }
}

static bpe_status new_workspace(const bpe_model *model, bool use_cache, bpe_workspace **out) {
    bpe_workspace *w = bpe_mem_zeroed(1, sizeof *w);
    if (!w)
        return BPE_ERR_NOMEM;
    w->model = model;
    w->kept.path = BPE_PATH_AUTO;
    w->kept.use_cache = use_cache;
    w->chunk_ids = bpe_mem_array(BPE_CHUNK_IDS, sizeof *w->chunk_ids);
    if (model->whole_pretoken)
        w->filter = bpe_mem_zeroed((size_t)1 << BPE_FILTER_BITS, sizeof *w->filter);
    if (!w->chunk_ids || (model->whole_pretoken && !w->filter) ||
        (use_cache && !bpe_cache_fit(&w->kept.cache, BPE_CACHE_BYTES_DEFAULT))) {
        bpe_workspace_free(w);
        return BPE_ERR_NOMEM;
    }
    if (model->whole_pretoken)
        seed(w, &model->vocab);
    *out = w;
    return BPE_OK;
}

bpe_status bpe_workspace_new(const bpe_model *model, bpe_workspace **out) {
    return new_workspace(model, true, out);
}

bpe_status bpe_workspace_new_bare(const bpe_model *model, bpe_workspace **out) {
    return new_workspace(model, false, out);
}

void bpe_workspace_free(bpe_workspace *w) {
    if (!w)
        return;
    bpe_cache_free(&w->kept.cache);
    bpe_merge_scratch_free(&w->kept.merge);
    bpe_hits_free(&w->hits);
    bpe_mem_free(w->filter);
    bpe_mem_free(w->chunk_ids);
    bpe_mem_free(w->ids);
    bpe_mem_free(w);
}

bpe_status bpe_workspace_resize(bpe_workspace *w, size_t bytes) {
    if (!bpe_cache_resize(&w->kept.cache, bytes))
        return BPE_ERR_NOMEM;
    if (w->model->whole_pretoken)
        seed(w, &w->model->vocab);
    return BPE_OK;
}

bpe_status bpe_workspace_configure(bpe_workspace *w, uint32_t path, uint32_t use_cache) {
    if (path > BPE_PATH_LONG || use_cache > 1)
        return BPE_ERR_ARG;
    w->kept.path = path;
    w->kept.use_cache = use_cache != 0;
    return BPE_OK;
}
