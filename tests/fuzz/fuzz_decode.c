/* Decode: ids of the input's making, known and unknown, against the tokens one by one. */
#include "fuzz.h"

enum { TOKENS = 256 + 48, EXTRA = 8, IDS = 400, MAX_TOKEN = 9 };

static bpe_model *read_model(fuzz_input *in) {
    static uint8_t data[TOKENS * MAX_TOKEN], extra[EXTRA * MAX_TOKEN];
    uint32_t lengths[TOKENS], ids[TOKENS], extra_lengths[EXTRA], extra_ids[EXTRA];
    size_t n = 0, n_extra = 0, size = 0, extra_size = 0;
    uint32_t id = 0, more = fuzz_below(in, TOKENS - 256 + 1), extras = fuzz_below(in, EXTRA + 1);
    for (; n < 256 + more; n++) {
        lengths[n] = n < 256 ? 1 : 1 + fuzz_below(in, MAX_TOKEN);
        for (uint32_t k = 0; k < lengths[n]; k++)
            data[size++] = n < 256 ? (uint8_t)n : fuzz_byte(in);
        id += n < 256 ? 0 : fuzz_below(in, 4); /* gaps among the ids */
        ids[n] = id++;
    }
    for (; n_extra < extras; n_extra++) {
        extra_lengths[n_extra] = 1 + fuzz_below(in, MAX_TOKEN);
        for (uint32_t k = 0; k < extra_lengths[n_extra]; k++)
            extra[extra_size++] = fuzz_byte(in);
        extra_ids[n_extra] = fuzz_byte(in) < 128 ? id + fuzz_byte(in) : fuzz_u32(in);
    }
    bpe_model_spec spec = {.semantics = BPE_SEMANTICS_MERGES,
                           .token_data = data,
                           .token_data_size = size,
                           .token_lengths = lengths,
                           .token_ids = ids,
                           .n_tokens = n,
                           .extra_data = extra,
                           .extra_data_size = extra_size,
                           .extra_lengths = extra_lengths,
                           .extra_ids = extra_ids,
                           .n_extra = n_extra,
                           .unknown = BPE_NO_ID};
    bpe_model *model = NULL;
    bpe_error err = {0};
    bpe_status status = bpe_model_new(&spec, &model, &err);
    if (status != BPE_OK) {
        FUZZ_CHECK(status == BPE_ERR_MODEL && model == NULL && err.code == status);
        FUZZ_CHECK(err.pos >> 32 == BPE_PART_EXTRA || err.pos >> 32 == BPE_PART_EXTRA_ID);
        FUZZ_CHECK((err.pos & 0xFFFFFFFFu) < n_extra);
        return NULL;
    }
    for (size_t i = 0, at = 0; i < n; at += lengths[i++]) {
        size_t got;
        const uint8_t *token = bpe_model_token(model, ids[i], &got);
        FUZZ_CHECK(token && fuzz_same(token, got, data + at, lengths[i]));
        FUZZ_CHECK(bpe_model_find(model, data + at, lengths[i]) <= ids[i]);
    }
    return model;
}

static void check_decode(const bpe_model *model, const uint32_t *ids, size_t n_ids) {
    uint8_t *want = fuzz_array(n_ids * MAX_TOKEN, 1);
    size_t size = 0, known = 0, announced = 77, written = 77;
    for (; known < n_ids; known++) {
        size_t n = 0;
        const uint8_t *token = bpe_model_token(model, ids[known], &n);
        FUZZ_CHECK((ids[known] < bpe_model_n_vocab(model)) || token == NULL);
        if (token == NULL)
            break;
        FUZZ_CHECK(n <= MAX_TOKEN);
        memcpy(want + size, token, n);
        size += n;
    }
    bpe_error err = {0};
    bpe_status status = bpe_decoded_size(model, ids, n_ids, &announced, &err);
    uint8_t *out = fuzz_array(size, 1);
    if (known < n_ids) {
        FUZZ_CHECK(status == BPE_ERR_ID && err.pos == known && announced == 77);
        err = (bpe_error){0};
        uint8_t *large = fuzz_array(n_ids * MAX_TOKEN, 1);
        status = bpe_decode(model, ids, n_ids, large, n_ids * MAX_TOKEN, &written, &err);
        FUZZ_CHECK(status == BPE_ERR_ID && err.pos == known && written == 77);
        free(large);
    } else {
        FUZZ_CHECK(status == BPE_OK && announced == size);
        FUZZ_CHECK(bpe_decode(model, ids, n_ids, out, size, &written, &err) == BPE_OK);
        FUZZ_CHECK(fuzz_same(out, written, want, size));
        if (size > 0) {
            status = bpe_decode(model, ids, n_ids, out, size - 1, &written, &err);
            FUZZ_CHECK(status == BPE_ERR_CAPACITY);
        }
    }
    free(out);
    free(want);
}

static void fuzz(fuzz_input *in) {
    bpe_model *model = read_model(in);
    if (!model)
        return;
    uint32_t ids[IDS];
    size_t n = 0;
    while (in->n > 0 && n < IDS) {
        uint32_t x = fuzz_byte(in);
        ids[n++] = x < 254 ? x : x == 254 ? 256u + fuzz_byte(in) : fuzz_u32(in);
    }
    check_decode(model, ids, n);
    bpe_model_free(model);
}

FUZZ_TARGET(fuzz)
