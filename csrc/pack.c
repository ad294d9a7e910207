/*
 * Pack: a table of counts as bytes, and back; bpe.h says what they are.
 *
 * Reading collects records into blocks before they are looked up in the table, so that the cache
 * misses of a large one overlap, as they do in counting. Nothing that the bytes say is believed:
 * lengths are held against what is there, positions against the size of the text.
 */
#include <string.h>

#include "bpe.h"
#include "count.h"
#include "memory.h"

#define MAX_VARINT 10 /* bytes */
#define MAX_HEAD (3 * MAX_VARINT)

struct bpe_packer {
    const bpe_counts *counts;
    const bpe_count_entry **entries; /* in the order of first positions */
    size_t next;                     /* the entry that is written next */
    uint64_t end;                    /* where the pretoken of the one before ends */
    uint64_t size, longest;
};

static size_t varint_size(uint64_t value) {
    size_t n = 1;
    while (value >>= 7)
        n++;
    return n;
}

static size_t write_varint(uint8_t *out, uint64_t value) {
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        out[n++] = (uint8_t)(value | 0x80);
    out[n++] = (uint8_t)value;
    return n;
}

/* ---------------------------------------------------------------- writing */

/* Add up the records' sizes; false where a pretoken begins before the one before it ends. */
static bool measure(bpe_packer *packer) {
    uint64_t end = 0;
    for (size_t i = 0; i < packer->counts->n; i++) {
        const bpe_count_entry *entry = packer->entries[i];
        size_t n;
        bpe_count_bytes(packer->counts, entry, &n);
        if (entry->first < end || n > UINT64_MAX - entry->first)
            return false;
        uint64_t size =
            varint_size(n) + varint_size(entry->count) + varint_size(entry->first - end) + n;
        packer->size += size;
        if (size > packer->longest)
            packer->longest = size;
        end = entry->first + n;
    }
    return true;
}

bpe_status bpe_packer_new(const bpe_counts *counts, bpe_packer **out) {
    bpe_packer *packer = bpe_mem_zeroed(1, sizeof *packer);
    if (!packer)
        return BPE_ERR_NOMEM;
    packer->counts = counts;
    packer->entries = bpe_counts_ordered(counts);
    bpe_status status = !packer->entries ? BPE_ERR_NOMEM : measure(packer) ? BPE_OK : BPE_ERR_ARG;
    if (status == BPE_OK)
        *out = packer;
    else
        bpe_packer_free(packer);
    return status;
}

void bpe_packer_free(bpe_packer *packer) {
    if (!packer)
        return;
    bpe_mem_free((void *)packer->entries);
    bpe_mem_free(packer);
}

uint64_t bpe_packer_size(const bpe_packer *packer) { return packer->size; }

uint64_t bpe_packer_longest(const bpe_packer *packer) { return packer->longest; }

size_t bpe_packer_next(bpe_packer *packer, uint8_t *out, size_t cap) {
    size_t used = 0;
    for (; packer->next < packer->counts->n; packer->next++) {
        const bpe_count_entry *entry = packer->entries[packer->next];
        uint8_t head[MAX_HEAD];
        size_t n;
        const uint8_t *p = bpe_count_bytes(packer->counts, entry, &n);
        size_t n_head = write_varint(head, n);
        n_head += write_varint(head + n_head, entry->count);
        n_head += write_varint(head + n_head, entry->first - packer->end);
        if (n_head > cap - used || n > cap - used - n_head)
            break;
        memcpy(out + used, head, n_head);
        memcpy(out + used + n_head, p, n);
        used += n_head + n;
        packer->end = entry->first + n;
    }
    return used;
}

/* ---------------------------------------------------------------- reading */

typedef enum parsed { PARSED, CUT_SHORT, WRONG } parsed;

/* Read a varint at data[*at], up to data[n), and step over it. */
static inline parsed read_varint(const uint8_t *data, size_t n, size_t *at, uint64_t *value) {
    uint64_t sum = 0;
    for (unsigned shift = 0; shift < 7 * MAX_VARINT; shift += 7) {
        if (*at == n)
            return CUT_SHORT;
        uint8_t byte = data[(*at)++];
        /* The tenth byte has one bit to give. */
        if (shift == 63 && byte > 1)
            return WRONG;
        sum |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *value = sum;
            /* Bits that are all zero at the end would have been left out. */
            return byte == 0 && shift > 0 ? WRONG : PARSED;
        }
    }
    return WRONG;
}

/* Read the record at data[*at] and step over it. Its pretoken must lie in a text of `size` bytes,
 * behind `end`. */
static inline parsed read_record(const uint8_t *data, size_t n, size_t *at, uint64_t size,
                                 uint64_t end, bpe_count_record *record) {
    uint64_t length, gap;
    parsed how = read_varint(data, n, at, &length);
    if (how == PARSED)
        how = read_varint(data, n, at, &record->count);
    if (how == PARSED)
        how = read_varint(data, n, at, &gap);
    if (how != PARSED)
        return how;
    if (length == 0 || record->count == 0 || gap > size - end || length > size - end - gap)
        return WRONG;
    if (length > n - *at)
        return CUT_SHORT;
    record->p = data + *at;
    record->n = (size_t)length;
    record->first = end + gap;
    *at += record->n;
    return PARSED;
}

bpe_status bpe_counts_add_packed(bpe_counts *counts, const uint8_t *data, size_t n, uint64_t base,
                                 uint64_t size, bpe_packed_place *place, size_t *consumed,
                                 bpe_error *err) {
    bpe_count_record records[BPE_COUNT_BLOCK];
    bpe_packed_place now = *place;
    size_t at = 0;
    parsed how = PARSED;
    if (base > UINT64_MAX - size || now.end > size)
        return bpe_fail(err, BPE_ERR_ARG, 0);
    while (how == PARSED) {
        size_t m = 0, begin = at, added;
        for (; m < BPE_COUNT_BLOCK; m++) {
            size_t next = at;
            how = next == n ? CUT_SHORT : read_record(data, n, &next, size, now.end, &records[m]);
            if (how != PARSED)
                break;
            now.end = records[m].first + records[m].n;
            records[m].first += base;
            at = next;
        }
        bpe_status status = bpe_counts_add_records(counts, records, m, data + n, &added);
        if (status != BPE_OK)
            return bpe_fail(err, status, begin);
        now.n += m;
    }
    if (how == WRONG)
        return bpe_fail(err, BPE_ERR_ARG, at);
    *place = now;
    *consumed = at;
    return BPE_OK;
}
