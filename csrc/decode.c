#include <string.h>

#include "memory.h"
#include "model.h"

bpe_status bpe_decoded_size(const bpe_model *model, const uint32_t *ids, size_t n_ids, size_t *size,
                            bpe_error *err) {
    size_t total = 0;
    for (size_t i = 0; i < n_ids; i++) {
        size_t n;
        if (!bpe_vocab_bytes(&model->vocab, ids[i], &n))
            return bpe_fail(err, BPE_ERR_ID, i);
        total += n;
    }
    *size = total;
    return BPE_OK;
}

bpe_status bpe_decode(const bpe_model *model, const uint32_t *ids, size_t n_ids, uint8_t *out,
                      size_t cap, size_t *size, bpe_error *err) {
    size_t used = 0;
    for (size_t i = 0; i < n_ids; i++) {
        size_t n;
        const uint8_t *bytes = bpe_vocab_bytes(&model->vocab, ids[i], &n);
        if (!bytes)
            return bpe_fail(err, BPE_ERR_ID, i);
        if (n > cap - used)
            return bpe_fail(err, BPE_ERR_CAPACITY, i);
        memcpy(out + used, bytes, n);
        used += n;
    }
    *size = used;
    return BPE_OK;
}
