#include "count.h"

#include <string.h>

#include "count_key.h"
#include "maps.h"
#include "memory.h"
#include "split.h"

bpe_status bpe_counts_new(bpe_counts **out) {
    bpe_counts *counts = bpe_mem_zeroed(1, sizeof *counts);
    if (!counts)
        return BPE_ERR_NOMEM;
    counts->bits = 10;
    counts->most = SIZE_MAX;
    counts->slots = bpe_mem_zeroed((size_t)1 << counts->bits, sizeof *counts->slots);
    counts->seed = bpe_seed(counts->slots);
    if (!counts->slots) {
        bpe_mem_free(counts);
        return BPE_ERR_NOMEM;
    }
    *out = counts;
    return BPE_OK;
}

bpe_status bpe_counts_new_beside(const bpe_counts *other, bpe_counts **out) {
    bpe_status status = bpe_counts_new(out);
    if (status == BPE_OK)
        (*out)->seed = other->seed;
    return status;
}

void bpe_counts_limit(bpe_counts *counts, size_t most) { counts->most = most; }

void bpe_counts_free(bpe_counts *counts) {
    if (!counts)
        return;
    bpe_mem_free(counts->slots);
    bpe_mem_free(counts->longs);
    bpe_mem_free(counts->long_ends);
    bpe_hits_free(&counts->hits);
    bpe_mem_free(counts);
}

/* ---------------------------------------------------------------- keys */

/* What a short key of n bytes keeps of the 16 bytes loaded, and what it adds: the length in the
 * last byte. As bytes, so that the machine's byte order plays no part. */
typedef struct short_mask {
    uint8_t keep[16];
    uint8_t add[16];
} short_mask;

#define KEEP(n, i) ((i) < (n) ? 0xFF : 0)
#define ROW(n)                                                                                     \
    {                                                                                              \
        {KEEP(n, 0),  KEEP(n, 1),  KEEP(n, 2),  KEEP(n, 3), KEEP(n, 4),  KEEP(n, 5),               \
         KEEP(n, 6),  KEEP(n, 7),  KEEP(n, 8),  KEEP(n, 9), KEEP(n, 10), KEEP(n, 11),              \
         KEEP(n, 12), KEEP(n, 13), KEEP(n, 14), 0},                                                \
        {                                                                                          \
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (n)                                       \
        }                                                                                          \
    }

static const short_mask SHORT_MASKS[16] = {ROW(0),  ROW(1),  ROW(2),  ROW(3), ROW(4),  ROW(5),
                                           ROW(6),  ROW(7),  ROW(8),  ROW(9), ROW(10), ROW(11),
                                           ROW(12), ROW(13), ROW(14), ROW(15)};

/* The key of p[0, n); bytes up to `end` may be read. A long one has the number 0. */
static inline bpe_count_key make_key(const uint8_t *p, size_t n, const uint8_t *end,
                                     uint64_t seed) {
    if (n > BPE_COUNT_SHORT)
        return bpe_count_key_long(bpe_hash_bytes(p, n, seed), 0);
    bpe_count_key key;
    if (end - p >= 16) {
        memcpy(&key, p, 16);
    } else {
        memset(&key, 0, 16);
        memcpy(&key, p, n);
    }
    bpe_count_key keep, add;
    memcpy(&keep, SHORT_MASKS[n].keep, 16);
    memcpy(&add, SHORT_MASKS[n].add, 16);
    key.word[0] &= keep.word[0];
    key.word[1] = (key.word[1] & keep.word[1]) | add.word[1];
    return key;
}

const uint8_t *bpe_count_bytes(const bpe_counts *counts, const bpe_count_entry *entry, size_t *n) {
    if (bpe_count_key_is_long(&entry->key)) {
        return bpe_count_long_bytes(counts, bpe_count_key_number(&entry->key), n);
    }
    *n = bpe_count_key_mark(&entry->key);
    return (const uint8_t *)&entry->key;
}

/* ---------------------------------------------------------------- the table */

bool bpe_counts_reserve(bpe_counts *counts, size_t more) {
    unsigned bits = bpe_counts_bits(counts, counts->n + more);
    if (bits == counts->bits)
        return true;
    bpe_count_entry *slots = bpe_mem_table((size_t)1 << bits, sizeof *slots);
    if (!slots)
        return false;
    bpe_mem_touch(slots, sizeof *slots << bits);
    size_t mask = ((size_t)1 << bits) - 1;
    for (size_t i = 0; i < (size_t)1 << counts->bits; i++) {
        const bpe_count_entry *entry = &counts->slots[i];
        if (entry->count == 0)
            continue;
        size_t j = bpe_count_key_home(&entry->key, counts->seed, bits);
        while (slots[j].count != 0)
            j = (j + 1) & mask;
        slots[j] = *entry;
    }
    bpe_mem_free(counts->slots);
    counts->slots = slots;
    counts->bits = bits;
    return true;
}

static bool append_long(bpe_counts *counts, const uint8_t *p, size_t n) {
    size_t used = counts->n_longs ? counts->long_ends[counts->n_longs - 1] : 0;
    if (counts->n_longs >= BPE_NO_ID || n > SIZE_MAX - used)
        return false;
    if (!bpe_mem_grow((void **)&counts->longs, &counts->longs_cap, used + n, 1) ||
        !bpe_mem_grow((void **)&counts->long_ends, &counts->long_ends_cap, counts->n_longs + 1,
                      sizeof *counts->long_ends)) {
        return false;
    }
    memcpy(counts->longs + used, p, n);
    counts->long_ends[counts->n_longs++] = used + n;
    return true;
}

/* Add `count` > 0 occurrences of p[0, n). There is room for one more entry. */
static inline bpe_status add_keyed(bpe_counts *counts, const bpe_count_key *key, size_t home,
                                   const uint8_t *p, size_t n, uint64_t count, uint64_t first) {
    if (count > UINT64_MAX - counts->total)
        return BPE_ERR_LIMIT;
    size_t mask = ((size_t)1 << counts->bits) - 1;
    size_t i = home;
    bpe_count_entry *entry;
    for (;; i = (i + 1) & mask) {
        entry = &counts->slots[i];
        if (entry->count == 0)
            break;
        if (bpe_count_is(counts, entry, key, p, n)) {
            entry->count += count;
            if (first < entry->first)
                entry->first = first;
            counts->total += count;
            return BPE_OK;
        }
    }
    if (counts->n >= counts->most)
        return BPE_ERR_CAPACITY;
    entry->key = *key;
    if (n > BPE_COUNT_SHORT) {
        if (!append_long(counts, p, n))
            return BPE_ERR_NOMEM;
        entry->key = bpe_count_key_long(key->word[0], (uint32_t)(counts->n_longs - 1));
    }
    entry->count = count;
    entry->first = first;
    counts->total += count;
    counts->n++;
    counts->n_bytes += n;
    return BPE_OK;
}

/* Add one occurrence each of up to BPE_COUNT_BLOCK pretokens: [start, ends[0]), [ends[0], ...
 * The text is data[0, size); the one at offset i has the position `base` + i. */
static bpe_status add_block(bpe_counts *counts, const uint8_t *data, size_t size, size_t start,
                            const size_t *ends, size_t n_ends, uint64_t base) {
    bpe_count_key keys[BPE_COUNT_BLOCK];
    size_t homes[BPE_COUNT_BLOCK];
    if (!bpe_counts_reserve(counts, n_ends))
        return BPE_ERR_NOMEM;
    size_t at = start;
    for (size_t i = 0; i < n_ends; i++) {
        keys[i] = make_key(data + at, ends[i] - at, data + size, counts->seed);
        homes[i] = bpe_count_key_home(&keys[i], counts->seed, counts->bits);
        bpe_prefetch_write(&counts->slots[homes[i]]);
        at = ends[i];
    }
    at = start;
    for (size_t i = 0; i < n_ends; i++) {
        bpe_status status =
            add_keyed(counts, &keys[i], homes[i], data + at, ends[i] - at, 1, base + at);
        if (status != BPE_OK)
            return status;
        at = ends[i];
    }
    return BPE_OK;
}

/* ---------------------------------------------------------------- adding text */

/* Split data[begin, end) and add its pretokens. With `open`, what further text could still change
 * is left; *settled says where that begins. */
static bpe_status add_span(bpe_counts *counts, const bpe_split *split, const uint8_t *data,
                           size_t begin, size_t end, bool open, uint64_t base, size_t *settled) {
    size_t ends[BPE_COUNT_BLOCK];
    bpe_split_cursor cursor;
    bpe_status status = BPE_OK;
    bpe_split_begin(&cursor, split, data, begin, end, open);
    size_t at = begin;
    for (;;) {
        size_t n_ends = bpe_split_next(&cursor, ends, BPE_COUNT_BLOCK);
        if (n_ends > 0) {
            status = add_block(counts, data, end, at, ends, n_ends, base);
            if (status != BPE_OK)
                break;
            at = ends[n_ends - 1];
        }
        if (n_ends < BPE_COUNT_BLOCK) {
            if (cursor.nomem)
                status = BPE_ERR_NOMEM;
            break;
        }
    }
    *settled = at;
    bpe_split_end(&cursor);
    return status;
}

bpe_status bpe_counts_add_text(bpe_counts *counts, const bpe_split *split, const bpe_match *match,
                               const uint8_t *data, size_t n, uint64_t position, uint32_t open,
                               size_t *consumed) {
    size_t begin = 0, end = n;
    bpe_status status;
    if (bpe_split_drops(split))
        return BPE_ERR_ARG;
    if (match) {
        size_t longest = bpe_match_longest(match);
        if (!bpe_match_scan(match, data, n, &counts->hits))
            return BPE_ERR_NOMEM;
        /* A longer text could have another string starting in the last longest - 1 bytes, or a
         * longer one where one was found there. Nothing else about it can change. */
        if (open && longest > 0)
            end = n >= longest ? n - longest + 1 : 0;
        for (size_t i = 0; i < counts->hits.n; i++) {
            bpe_hit hit = counts->hits.items[i];
            if (hit.start >= end && open)
                break;
            size_t settled;
            status = add_span(counts, split, data, begin, hit.start, false, position, &settled);
            if (status != BPE_OK)
                return status;
            begin = hit.end;
        }
    }
    /* An accepted string may reach past `end`: then nothing is known of what follows it. */
    if (begin < end) {
        status = add_span(counts, split, data, begin, end, open != 0, position, &begin);
        if (status != BPE_OK)
            return status;
    }
    *consumed = begin;
    return BPE_OK;
}

bpe_status bpe_counts_add_batch(bpe_counts *counts, const bpe_split *split, const bpe_match *match,
                                const uint8_t *data, const size_t *offsets, size_t n_texts,
                                uint64_t position, bpe_error *err) {
    for (size_t i = 0; i < n_texts; i++) {
        if (offsets[i + 1] < offsets[i])
            return bpe_fail(err, BPE_ERR_ARG, i);
        size_t consumed;
        bpe_status status = bpe_counts_add_text(counts, split, match, data + offsets[i],
                                                offsets[i + 1] - offsets[i],
                                                position + (offsets[i] - offsets[0]), 0, &consumed);
        if (status != BPE_OK)
            return bpe_fail(err, status, i);
    }
    return BPE_OK;
}

bpe_status bpe_counts_add_pretokens(bpe_counts *counts, const uint8_t *data, size_t n,
                                    const size_t *ends, size_t n_ends, uint64_t position,
                                    bpe_error *err) {
    size_t at = 0;
    for (size_t i = 0; i < n_ends; i++) {
        if (ends[i] <= at || ends[i] > n)
            return bpe_fail(err, BPE_ERR_ARG, i);
        at = ends[i];
    }
    if (at != n)
        return bpe_fail(err, BPE_ERR_ARG, n_ends);
    at = 0;
    for (size_t i = 0; i < n_ends; i += BPE_COUNT_BLOCK) {
        size_t m = n_ends - i < BPE_COUNT_BLOCK ? n_ends - i : BPE_COUNT_BLOCK;
        bpe_status status = add_block(counts, data, n, at, ends + i, m, position);
        if (status != BPE_OK)
            return bpe_fail(err, status, i);
        at = ends[i + m - 1];
    }
    return BPE_OK;
}

bpe_status bpe_counts_add_records(bpe_counts *counts, const bpe_count_record *records, size_t n,
                                  const uint8_t *end, size_t *added) {
    bpe_count_key keys[BPE_COUNT_BLOCK];
    size_t homes[BPE_COUNT_BLOCK];
    *added = 0;
    if (!bpe_counts_reserve(counts, n))
        return BPE_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        keys[i] = make_key(records[i].p, records[i].n, end, counts->seed);
        homes[i] = bpe_count_key_home(&keys[i], counts->seed, counts->bits);
        bpe_prefetch_write(&counts->slots[homes[i]]);
    }
    for (size_t i = 0; i < n; i++) {
        const bpe_count_record *record = &records[i];
        bpe_status status = add_keyed(counts, &keys[i], homes[i], record->p, record->n,
                                      record->count, record->first);
        if (status != BPE_OK)
            return status;
        ++*added;
    }
    return BPE_OK;
}

bpe_status bpe_counts_add_frequencies(bpe_counts *counts, const uint8_t *data,
                                      const size_t *offsets, const uint64_t *frequencies, size_t n,
                                      uint64_t position, bpe_error *err) {
    bpe_count_record records[BPE_COUNT_BLOCK];
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (offsets[i + 1] < offsets[i])
            return bpe_fail(err, BPE_ERR_ARG, i);
    }
    for (size_t i = 0; i < n;) {
        for (; i < n && m < BPE_COUNT_BLOCK; i++) {
            size_t length = offsets[i + 1] - offsets[i];
            if (length == 0 || frequencies[i] == 0)
                continue;
            records[m++] =
                (bpe_count_record){data + offsets[i], length, frequencies[i], position + i};
        }
        if (m == 0) /* and there are no more */
            break;
        size_t added;
        bpe_status status = bpe_counts_add_records(counts, records, m, data + offsets[n], &added);
        if (status != BPE_OK)
            return bpe_fail(err, status, (size_t)(records[added].first - position));
        m = 0;
    }
    return BPE_OK;
}

/* ---------------------------------------------------------------- reading */

size_t bpe_counts_size(const bpe_counts *counts) { return counts->n; }

size_t bpe_counts_bytes(const bpe_counts *counts) { return counts->n_bytes; }

uint64_t bpe_counts_total(const bpe_counts *counts) { return counts->total; }

typedef struct ordered {
    uint64_t first;
    const bpe_count_entry *entry;
} ordered;

/* Sort by `first`, least significant 11 bits first, skipping digits that are the same in all. The
 * result is in `items` or in `spare`; returns which. */
static ordered *radix_sort(ordered *items, ordered *spare, size_t n) {
    enum { DIGIT = 11, RADIX = 1 << DIGIT };
    uint64_t any = 0, all = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        any |= items[i].first;
        all &= items[i].first;
    }
    for (unsigned shift = 0; shift < 64; shift += DIGIT) {
        if (((any ^ all) >> shift & (RADIX - 1)) == 0)
            continue;
        size_t starts[RADIX] = {0};
        for (size_t i = 0; i < n; i++)
            starts[items[i].first >> shift & (RADIX - 1)]++;
        size_t sum = 0;
        for (size_t d = 0; d < RADIX; d++) {
            size_t here = starts[d];
            starts[d] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++) {
            spare[starts[items[i].first >> shift & (RADIX - 1)]++] = items[i];
        }
        ordered *swap = items;
        items = spare;
        spare = swap;
    }
    return items;
}

const bpe_count_entry **bpe_counts_ordered(const bpe_counts *counts) {
    ordered *items = bpe_mem_array(counts->n, sizeof *items);
    ordered *spare = bpe_mem_array(counts->n, sizeof *spare);
    const bpe_count_entry **entries = NULL;
    if (items && spare)
        entries = bpe_mem_array(counts->n, sizeof *entries);
    if (entries) {
        size_t n = 0;
        for (size_t i = 0; i < (size_t)1 << counts->bits; i++) {
            const bpe_count_entry *entry = &counts->slots[i];
            if (entry->count != 0)
                items[n++] = (ordered){entry->first, entry};
        }
        const ordered *sorted = radix_sort(items, spare, n);
        for (size_t i = 0; i < n; i++)
            entries[i] = sorted[i].entry;
    }
    bpe_mem_free(items);
    bpe_mem_free(spare);
    return entries;
}

bpe_status bpe_counts_export(const bpe_counts *counts, uint8_t *data, size_t *offsets,
                             uint64_t *frequencies, uint64_t *positions) {
    const bpe_count_entry **entries = bpe_counts_ordered(counts);
    if (!entries)
        return BPE_ERR_NOMEM;
    size_t used = 0;
    for (size_t i = 0; i < counts->n; i++) {
        size_t n;
        const uint8_t *p = bpe_count_bytes(counts, entries[i], &n);
        memcpy(data + used, p, n);
        offsets[i] = used;
        frequencies[i] = entries[i]->count;
        positions[i] = entries[i]->first;
        used += n;
    }
    offsets[counts->n] = used;
    bpe_mem_free((void *)entries);
    return BPE_OK;
}
