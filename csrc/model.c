#include "model.h"

#include "memory.h"

bpe_status bpe_model_new(const bpe_model_spec *spec, bpe_model **out, bpe_error *err) {
    bool ranks = spec->semantics == BPE_SEMANTICS_RANKS;
    if ((!ranks && spec->semantics != BPE_SEMANTICS_MERGES) || (ranks && spec->n_merges != 0)) {
        return bpe_fail(err, BPE_ERR_ARG, 0);
    }
    bpe_model *m = bpe_mem_zeroed(1, sizeof *m);
    if (!m)
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    m->semantics = spec->semantics;
    m->whole_pretoken = spec->whole_pretoken;
    bpe_status status = bpe_vocab_init(&m->vocab, spec, err);
    if (status == BPE_OK) {
        status = ranks ? bpe_rules_from_ranks(&m->rules, &m->vocab, err)
                       : bpe_rules_from_merges(&m->rules, &m->vocab, spec, err);
    }
    if (status != BPE_OK) {
        bpe_model_free(m);
        return status;
    }
    *out = m;
    return BPE_OK;
}

void bpe_model_free(bpe_model *m) {
    if (!m)
        return;
    bpe_vocab_free(&m->vocab);
    bpe_rules_free(&m->rules);
    bpe_mem_free(m);
}

uint32_t bpe_model_n_vocab(const bpe_model *model) { return model->vocab.n_vocab; }

const uint8_t *bpe_model_token(const bpe_model *model, uint32_t id, size_t *n) {
    return bpe_vocab_bytes(&model->vocab, id, n);
}

uint32_t bpe_model_find(const bpe_model *model, const uint8_t *data, size_t n) {
    return bpe_vocab_find(&model->vocab, data, n);
}

bpe_status bpe_model_recover_merges(const bpe_model *model, uint32_t *left, uint32_t *right,
                                    size_t cap) {
    const bpe_vocab *vocab = &model->vocab;
    if (model->semantics != BPE_SEMANTICS_RANKS)
        return BPE_ERR_ARG;
    if (cap < vocab->n_ordinary)
        return BPE_ERR_CAPACITY;
    bpe_merge_scratch scratch = {0};
    uint32_t *ids = NULL;
    size_t ids_cap = 0;
    bpe_status status = BPE_OK;
    for (size_t i = 0; status == BPE_OK && i < vocab->n_ordinary; i++) {
        size_t n;
        const uint8_t *bytes = bpe_intern_bytes(&vocab->strings, i, &n);
        if (!bpe_mem_grow((void **)&ids, &ids_cap, n, sizeof *ids)) {
            status = BPE_ERR_NOMEM;
            break;
        }
        for (size_t k = 0; k < n; k++)
            ids[k] = vocab->byte_ids[bytes[k]];
        if (n <= BPE_SHORT_BYTES) {
            n = bpe_merge_short(&model->rules, ids, n, (uint32_t)i);
        } else {
            status = bpe_merge_long(&model->rules, &scratch, ids, n, (uint32_t)i, &n);
        }
        left[i] = n == 2 ? ids[0] : BPE_NO_ID;
        right[i] = n == 2 ? ids[1] : BPE_NO_ID;
    }
    bpe_mem_free(ids);
    bpe_merge_scratch_free(&scratch);
    return status;
}
