#include "model.h"

#include <string.h>

#include "memory.h"
#include "utf8.h"

/* How symbols that are no tokens are treated; the vocabulary is there already. */
static bpe_status init_symbols(bpe_model *m, const bpe_model_spec *spec, bpe_error *err) {
    size_t n;
    m->symbols = spec->symbols;
    m->unknown = spec->unknown;
    m->fuse_unknown = spec->fuse_unknown != 0;
    m->falls_back = spec->fallback_ids != NULL;
    m->suffix_size = spec->word_suffix_size;
    if (m->suffix_size > BPE_MAX_SUFFIX ||
        (m->suffix_size > 0 && (m->falls_back || m->symbols == BPE_SYMBOLS_BYTES)))
        return bpe_fail(err, BPE_ERR_ARG, 0);
    if (m->suffix_size > 0)
        memcpy(m->suffix, spec->word_suffix, m->suffix_size);
    if (m->symbols == BPE_SYMBOLS_BYTES)
        return BPE_OK;
    if (m->unknown != BPE_NO_ID && !bpe_vocab_bytes(&m->vocab, m->unknown, &n))
        return bpe_fail_part(err, BPE_PART_UNKNOWN, m->unknown);
    for (size_t b = 0; m->falls_back && b < 256; b++) {
        uint32_t id = spec->fallback_ids[b];
        if (id != BPE_NO_ID && !bpe_vocab_bytes(&m->vocab, id, &n))
            return bpe_fail_part(err, BPE_PART_FALLBACK, b);
        m->fallback_ids[b] = id;
    }
    return BPE_OK;
}

bpe_status bpe_model_new(const bpe_model_spec *spec, bpe_model **out, bpe_error *err) {
    bool ranks = spec->semantics == BPE_SEMANTICS_RANKS;
    if ((!ranks && spec->semantics != BPE_SEMANTICS_MERGES) || (ranks && spec->n_merges != 0) ||
        spec->symbols > BPE_SYMBOLS_CHARACTERS || (ranks && spec->symbols != BPE_SYMBOLS_BYTES)) {
        return bpe_fail(err, BPE_ERR_ARG, 0);
    }
    bpe_model *m = bpe_mem_zeroed(1, sizeof *m);
    if (!m)
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    m->semantics = spec->semantics;
    m->whole_pretoken = spec->whole_pretoken;
    bpe_status status = bpe_vocab_init(&m->vocab, spec, err);
    if (status == BPE_OK)
        status = init_symbols(m, spec, err);
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

/* The ids of the n bytes of a character that is no token, if all of them have one. */
static bool fall_back(const bpe_model *m, const uint8_t *p, size_t n, uint32_t *ids) {
    if (!m->falls_back)
        return false;
    for (size_t i = 0; i < n; i++) {
        ids[i] = m->fallback_ids[p[i]];
        if (ids[i] == BPE_NO_ID)
            return false;
    }
    return true;
}

/* The id of a symbol of n bytes, at most 4, that ends a pretoken. */
static uint32_t last_symbol(const bpe_model *m, const uint8_t *p, size_t n) {
    uint8_t joined[4 + BPE_MAX_SUFFIX];
    memcpy(joined, p, n);
    memcpy(joined + n, m->suffix, m->suffix_size);
    return bpe_vocab_find(&m->vocab, joined, n + m->suffix_size);
}

size_t bpe_model_symbols(const bpe_model *m, const uint8_t *p, size_t n, uint32_t *ids) {
    if (m->symbols == BPE_SYMBOLS_BYTES) {
        for (size_t i = 0; i < n; i++)
            ids[i] = m->vocab.byte_ids[p[i]];
        return n;
    }
    size_t n_ids = 0;
    bool pending = false; /* an unknown symbol that is not written yet: another may join it */
    for (size_t i = 0, length = 1; i < n; i += length) {
        uint32_t id = m->vocab.byte_ids[p[i]];
        if (m->symbols == BPE_SYMBOLS_CHARACTERS && p[i] >= 0x80) {
            uint32_t codepoint;
            length = bpe_utf8_decode(p + i, p + n, &codepoint);
            id = bpe_vocab_find(&m->vocab, p + i, length);
        } else {
            length = 1;
        }
        if (m->suffix_size > 0 && i + length == n)
            id = last_symbol(m, p + i, length);
        if (id != BPE_NO_ID) {
            if (pending)
                ids[n_ids++] = m->unknown;
            pending = false;
            ids[n_ids++] = id;
        } else if (fall_back(m, p + i, length, ids + n_ids)) {
            /* The unknown stays pending, and so comes after these bytes: Hugging Face's order. */
            n_ids += length;
        } else if (m->unknown != BPE_NO_ID) {
            if (pending && !m->fuse_unknown)
                ids[n_ids++] = m->unknown;
            pending = true;
        }
    }
    if (pending)
        ids[n_ids++] = m->unknown;
    return n_ids;
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
