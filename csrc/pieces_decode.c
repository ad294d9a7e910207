#include <string.h>

#include "memory.h"
#include "pieces.h"
#include "utf8.h"

/* Decoding, one running call. The buffer has room for all that may come. */
typedef struct decoding {
    const bpe_pieces *m;
    uint8_t *out;
    size_t n;
    bool replaces;
    bool at_start; /* a mark that comes now is dropped */
} decoding;

static const uint8_t *decoded(const bpe_pieces *m, uint32_t id, size_t *n) {
    size_t start = id ? m->decoded_ends[id - 1] : 0;
    *n = m->decoded_ends[id] - start;
    return m->decoded + start;
}

static void put(decoding *d, const uint8_t *p, size_t n) {
    if (n > 0)
        memcpy(d->out + d->n, p, n);
    d->n += n;
}

/* The byte pieces at the start of ids[0, n); how many there are. */
static size_t put_byte_run(decoding *d, const uint32_t *ids, size_t n) {
    size_t run = 0;
    while (run < n && d->m->types[ids[run]] == BPE_PIECE_BYTE)
        run++;
    for (size_t i = 0; i < run;) {
        uint8_t window[4] = {0};
        size_t filled = 0;
        for (; filled < sizeof window && i + filled < run; filled++) {
            size_t one;
            window[filled] = *decoded(d->m, ids[i + filled], &one);
        }
        uint32_t cp;
        size_t length = bpe_utf8_decode(window, window + filled, &cp);
        if (d->replaces && length == 1 && window[0] >= 0x80)
            put(d, (const uint8_t *)"\xEF\xBF\xBD", 3);
        else
            put(d, window, length);
        i += length;
    }
    return run;
}

static void put_piece(decoding *d, uint32_t id) {
    const bpe_pieces *m = d->m;
    size_t n;
    const uint8_t *p = decoded(m, id, &n);
    bool ate = false;
    uint32_t drops = m->normalizer.flags & (BPE_NORMALIZE_MARK | BPE_NORMALIZE_SQUEEZE);
    if (d->at_start && drops != 0) {
        size_t n_text;
        const uint8_t *text = bpe_intern_bytes(&m->by_text, id, &n_text);
        if (bpe_is_mark(text, text + n_text)) {
            if (m->types[id] != BPE_PIECE_UNKNOWN) {
                p++;
                n--;
            }
            ate = !(drops & BPE_NORMALIZE_SQUEEZE);
        }
    }
    put(d, p, n);
    if (ate)
        d->at_start = false;
}

/* How many bytes the ids decode to at most. */
static bpe_status bound(const bpe_pieces *m, const uint32_t *ids, size_t n_ids, size_t *size,
                        bpe_error *err) {
    size_t total = 0;
    for (size_t i = 0; i < n_ids; i++) {
        if (ids[i] >= m->n_pieces)
            return bpe_fail(err, BPE_ERR_ID, i);
        size_t n;
        decoded(m, ids[i], &n);
        total += m->types[ids[i]] == BPE_PIECE_BYTE ? 3 : n;
        if (total > SIZE_MAX / 8)
            return bpe_fail(err, BPE_ERR_NOMEM, i);
    }
    *size = total;
    return BPE_OK;
}

/* Replace *out by what the denormaliser makes of it. */
static bpe_status denormalize(const bpe_pieces *m, bool replaces, uint8_t **out, size_t *size) {
    bpe_text text = {0};
    bpe_normalize_cursor c;
    bpe_status status =
        bpe_normalize_begin(&c, &m->denormalizer, *out, *size, NULL, false, false, &text);
    c.keeps_invalid = !replaces;
    if (status == BPE_OK)
        status = bpe_normalize_more(&c, SIZE_MAX);
    bpe_mem_free(*out);
    if (status != BPE_OK)
        bpe_text_free(&text);
    *out = text.bytes;
    *size = text.n;
    return status;
}

bpe_status bpe_pieces_decode(const bpe_pieces *pieces, const uint32_t *ids, size_t n_ids,
                             uint32_t replace, uint32_t *at_start, uint8_t **out, size_t *size,
                             bpe_error *err) {
    size_t cap = 0;
    bpe_status status = bound(pieces, ids, n_ids, &cap, err);
    if (status != BPE_OK)
        return status;
    decoding d = {pieces, bpe_mem_array(cap, 1), 0, replace != 0, *at_start != 0};
    if (!d.out)
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    for (size_t i = 0; i < n_ids;) {
        if (d.n > 0)
            d.at_start = false;
        uint8_t type = pieces->types[ids[i]];
        if (type == BPE_PIECE_BYTE) {
            i += put_byte_run(&d, ids + i, n_ids - i);
            continue;
        }
        if (type != BPE_PIECE_CONTROL)
            put_piece(&d, ids[i]);
        i++;
    }
    uint8_t *text = d.out;
    size_t n = d.n;
    if (pieces->denormalizer.map.n_cells > 0)
        status = denormalize(pieces, d.replaces, &text, &n);
    if (status != BPE_OK)
        return bpe_fail(err, status, 0);
    *out = text;
    *size = n;
    *at_start = d.at_start && d.n == 0;
    return BPE_OK;
}

void bpe_pieces_free_text(uint8_t *text) { bpe_mem_free(text); }
