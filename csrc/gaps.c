#include "gaps.h"

void bpe_gaps_begin(bpe_gaps *g, bpe_kept *kept, const bpe_rules *rules, size_t per_byte) {
    g->kept = kept;
    g->rules = rules;
    g->ids = NULL;
    g->per_byte = per_byte;
    g->n = 0;
    g->known = kept->use_cache ? kept->cache : (bpe_cache){.entries = kept->none};
    kept->n_batches++;
}

/* ---------------------------------------------------------------- opening */

size_t bpe_gaps_put(bpe_gaps *g, size_t i, const bpe_cache_entry *e, const uint8_t *p, size_t n,
                    uint32_t *to) {
    const bpe_kept *kept = g->kept;
    uint32_t count = e ? bpe_cache_count(e) : 0;
    if (count == BPE_CACHE_STORED) {
        size_t n_ids;
        const uint32_t *ids = bpe_cache_stored(&kept->cache, e, p, n, &n_ids);
        if (ids) {
            for (size_t k = 0; k < n_ids; k++)
                to[k] = ids[k];
            return n_ids;
        }
    }
    uint32_t which = (uint32_t)g->n++;
    bpe_missed *x = &g->missed[which];
    *x = (bpe_missed){g->keys[i], p, (size_t)(to - g->ids), (uint32_t)n, which};
    if (count == BPE_CACHE_MARK && bpe_cache_mark(e) == kept->n_batches) {
        const bpe_missed *first = &g->missed[e->ids[0] & BPE_CACHE_ID_MASK];
        if (memcmp(first->p, p, n) == 0)
            x->same_as = (uint32_t)(first - g->missed);
    } else if (kept->use_cache && n <= BPE_CACHE_BYTES) {
        bpe_cache_put_mark(g->buckets[i], &x->key, which, kept->n_batches);
    }
    return n * g->per_byte;
}

/* ---------------------------------------------------------------- filling */

bpe_status bpe_gaps_merge_one(const bpe_gaps *g, uint32_t *symbols, size_t n, size_t *n_left) {
    if (g->kept->path == BPE_PATH_LONG)
        return bpe_merge_long(g->rules, &g->kept->merge, symbols, n, BPE_NO_RANK, n_left);
    return bpe_merge(g->rules, &g->kept->merge, symbols, n, n_left);
}

bpe_status bpe_gaps_merge(bpe_gaps *g, size_t *failed) {
    if (g->kept->path == BPE_PATH_AUTO && bpe_merge_many_can(g->rules)) {
        bpe_merge_many(g->rules, g->jobs, g->n);
        return BPE_OK;
    }
    for (size_t i = 0; i < g->n; i++) {
        bpe_merge_job *job = &g->jobs[i];
        size_t n = job->n;
        if (n < 2)
            continue;
        bpe_status status = bpe_gaps_merge_one(g, job->ids, n, &n);
        if (status != BPE_OK) {
            *failed = i;
            return status;
        }
        job->n = (uint32_t)n;
    }
    return BPE_OK;
}

/* ---------------------------------------------------------------- closing */

/* What was merged becomes known, and goes to where the same came again. */
static void remember(bpe_gaps *g) {
    bpe_cache *cache = &g->kept->cache;
    for (size_t i = 0; i < g->n; i++) {
        const bpe_missed *x = &g->missed[i];
        bpe_merge_job *job = &g->jobs[i];
        if (x->same_as != i) {
            const bpe_merge_job *first = &g->jobs[x->same_as];
            job->n = first->n;
            memcpy(job->ids, first->ids, first->n * sizeof *job->ids);
        } else if (g->kept->use_cache && x->n <= BPE_CACHE_BYTES && job->n <= BPE_CACHE_BYTES) {
            bpe_cache_put_any(cache, bpe_cache_bucket(cache, bpe_cache_hash(&x->key)), &x->key,
                              x->p, x->n, job->ids, job->n);
        }
    }
}

size_t bpe_gaps_close(bpe_gaps *g, size_t n_ids) {
    if (g->n == 0)
        return n_ids;
    remember(g);
    uint32_t *to = g->jobs[0].ids;
    for (size_t i = 0; i < g->n; i++) {
        const bpe_missed *x = &g->missed[i];
        const bpe_merge_job *job = &g->jobs[i];
        memmove(to, job->ids, job->n * sizeof *to);
        to += job->n;
        size_t end = x->at + x->n * g->per_byte;
        size_t n = (i + 1 < g->n ? g->missed[i + 1].at : n_ids) - end;
        memmove(to, g->ids + end, n * sizeof *to);
        to += n;
    }
    g->n = 0;
    g->kept->n_batches++; /* marks of this one are not valid any more */
    return (size_t)(to - g->ids);
}
