#include "vocab.h"

#include "memory.h"

bpe_status bpe_fail_part(bpe_error *err, uint32_t part, size_t index) {
    return bpe_fail(err, BPE_ERR_MODEL, (size_t)part << 32 | (index & 0xFFFFFFFFu));
}

/* n_vocab, the arrays by id and by string. Ids are checked here, before anything is sized by them.
 */
static bpe_status allocate(bpe_vocab *v, const bpe_model_spec *spec, bpe_error *err) {
    uint32_t n_vocab = 0;
    for (size_t i = 0; i < spec->n_tokens; i++) {
        uint32_t id = spec->token_ids[i];
        if (id >= BPE_MAX_IDS || (i > 0 && id <= spec->token_ids[i - 1])) {
            return bpe_fail_part(err, BPE_PART_TOKEN, i);
        }
        n_vocab = id + 1;
    }
    for (size_t i = 0; i < spec->n_extra; i++) {
        uint32_t id = spec->extra_ids[i];
        if (id >= BPE_MAX_IDS)
            return bpe_fail_part(err, BPE_PART_EXTRA, i);
        if (id >= n_vocab)
            n_vocab = id + 1;
    }
    v->n_vocab = n_vocab;
    v->by_id = bpe_mem_zeroed(n_vocab, sizeof *v->by_id);
    v->ids = bpe_mem_array(spec->n_tokens + spec->n_extra, sizeof *v->ids);
    bpe_intern *strings = &v->strings;
    if (!v->by_id || !v->ids || !bpe_intern_init(strings, spec->n_tokens) ||
        !bpe_mem_grow((void **)&strings->data, &strings->data_cap, spec->token_data_size, 1) ||
        !bpe_mem_grow((void **)&strings->ends, &strings->ends_cap, spec->n_tokens,
                      sizeof *strings->ends))
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    return BPE_OK;
}

/* Enter the id and place of the string that was appended last. */
static void enter(bpe_vocab *v, uint32_t id) {
    size_t length;
    size_t last = v->strings.n - 1;
    const uint8_t *bytes = bpe_intern_bytes(&v->strings, last, &length);
    v->ids[last] = id;
    v->by_id[id] = (bpe_token_span){(uint32_t)(bytes - v->strings.data), (uint32_t)length};
}

/* Hash so many tokens, and ask for their slots, before the first is entered: one after the other
 * would wait for each. */
#define GROUP 16

/* The hashes of the tokens from i on, which begin at `start`; where lengths make no sense, none. */
static void hash_group(const bpe_vocab *v, const bpe_model_spec *spec, size_t i, size_t start,
                       uint64_t *hashes) {
    for (size_t k = 0; k < GROUP && i + k < spec->n_tokens; k++) {
        size_t n = spec->token_lengths[i + k];
        if (n > spec->token_data_size - start)
            return;
        hashes[k] = bpe_intern_hash(&v->strings, spec->token_data + start, n);
        bpe_prefetch(bpe_intern_home(&v->strings, hashes[k]));
        start += n;
    }
}

static bpe_status add_ordinary(bpe_vocab *v, const bpe_model_spec *spec, bpe_error *err) {
    size_t start = 0;
    uint64_t hashes[GROUP];
    for (size_t i = 0; i < spec->n_tokens; i++) {
        size_t n = spec->token_lengths[i];
        if (n == 0 || n > spec->token_data_size - start)
            return bpe_fail_part(err, BPE_PART_TOKEN, i);
        if (i % GROUP == 0)
            hash_group(v, spec, i, start, hashes);
        const uint8_t *p = spec->token_data + start;
        size_t before = v->strings.n;
        uint32_t at = bpe_intern_add(&v->strings, p, n, hashes[i % GROUP]);
        if (at != BPE_NO_ID && v->strings.n == before) {
            if (spec->semantics == BPE_SEMANTICS_RANKS)
                return bpe_fail_part(err, BPE_PART_DUPLICATE, i);
            at = bpe_intern_append(&v->strings, p, n);
        }
        if (at == BPE_NO_ID)
            return bpe_fail(err, BPE_ERR_NOMEM, i);
        enter(v, spec->token_ids[i]);
        start += n;
    }
    if (start != spec->token_data_size)
        return bpe_fail_part(err, BPE_PART_TOKEN, spec->n_tokens);
    v->n_ordinary = spec->n_tokens;
    return BPE_OK;
}

static bpe_status add_extra(bpe_vocab *v, const bpe_model_spec *spec, bpe_error *err) {
    size_t start = 0;
    for (size_t i = 0; i < spec->n_extra; i++) {
        size_t n = spec->extra_lengths[i];
        uint32_t id = spec->extra_ids[i];
        if (n == 0 || n > spec->extra_data_size - start)
            return bpe_fail_part(err, BPE_PART_EXTRA, i);
        const uint8_t *p = spec->extra_data + start;
        start += n;
        size_t taken;
        const uint8_t *other = bpe_vocab_bytes(v, id, &taken);
        if (other) {
            if (taken != n || memcmp(other, p, n) != 0)
                return bpe_fail_part(err, BPE_PART_EXTRA_ID, i);
            continue;
        }
        if (bpe_intern_append(&v->strings, p, n) == BPE_NO_ID)
            return bpe_fail(err, BPE_ERR_NOMEM, i);
        enter(v, id);
    }
    return BPE_OK;
}

bpe_status bpe_vocab_init(bpe_vocab *v, const bpe_model_spec *spec, bpe_error *err) {
    if (spec->token_data_size > BPE_MAX_TOKEN_BYTES || spec->extra_data_size > BPE_MAX_TOKEN_BYTES)
        return bpe_fail(err, BPE_ERR_LIMIT, 0);
    bpe_status status = allocate(v, spec, err);
    if (status == BPE_OK)
        status = add_ordinary(v, spec, err);
    for (size_t b = 0; status == BPE_OK && b < 256; b++) {
        uint8_t byte = (uint8_t)b;
        v->byte_ids[b] = bpe_vocab_find(v, &byte, 1);
        if (v->byte_ids[b] == BPE_NO_ID && spec->symbols == BPE_SYMBOLS_BYTES)
            status = bpe_fail_part(err, BPE_PART_BYTE, b);
    }
    if (status == BPE_OK)
        status = add_extra(v, spec, err);
    return status;
}

void bpe_vocab_free(bpe_vocab *v) {
    bpe_intern_free(&v->strings);
    bpe_mem_free(v->ids);
    bpe_mem_free(v->by_id);
}
