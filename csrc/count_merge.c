/*
 * How tables merge.
 *
 * Both hash alike, and in both the search for a pretoken begins at the upper bits of its hash. So
 * a stretch of slots holds the pretokens of one range of hashes in either, and different ranges
 * can be merged by different threads: what each reads and writes of the table is its own.
 *
 * But for the edges. Where the search for a place reaches the end of a stretch, the entry is put
 * off: those few are added in the end, by one thread. And an entry that was pushed beyond the end
 * of its stretch is read by the part it belongs to, and passed over by the next one.
 *
 * A table that has to grow is laid out anew by the same threads, for filling pages for the first
 * time is what takes most of the time. How much room there must be is estimated from a sample;
 * nothing but time depends on it.
 *
 * Long pretokens keep their order: those of the other table go behind all of ours at once, so that
 * their new numbers are known beforehand. Those that were in both stay there unused.
 */
#include <string.h>

#include "count.h"
#include "maps.h"
#include "memory.h"

#define BLOCK 64                /* entries whose slots are asked for together */
#define SAMPLE 4096             /* slots to estimate from */
#define PART_SLOTS ((size_t)64) /* the fewest that a part has */

/* What one thread does, and what came of it. */
typedef struct merge_part {
    size_t n; /* new entries, their bytes, and all occurrences that were added */
    size_t n_bytes;
    uint64_t total;
    bpe_count_entry *put_off; /* as they will be in the table; first come the table's own */
    size_t n_put_off;
    size_t n_own_put_off;
    size_t put_off_cap;
    bool done;
} merge_part;

struct bpe_merging {
    bpe_counts *counts;
    const bpe_counts *other;
    uint32_t first_long;    /* the number that the other table's first long one gets */
    bpe_count_entry *slots; /* that are filled: those of the table, or new ones */
    unsigned bits;
    unsigned part_bits;
    size_t n_parts;
    merge_part *parts;
    bool ended;
};

/* ---------------------------------------------------------------- beginning */

/* About how many entries of `other` are new, from the first few. Those are as good as any: they are
 * in the order of their hashes. Long ones with one hash are taken for the same. */
static size_t estimate_new(const bpe_counts *counts, const bpe_counts *other) {
    size_t n = 0, n_new = 0, mask = ((size_t)1 << counts->bits) - 1;
    size_t n_slots = (size_t)1 << other->bits;
    for (size_t i = 0; i < n_slots && i < SAMPLE; i++) {
        const bpe_count_entry *entry = &other->slots[i];
        if (entry->count == 0)
            continue;
        n++;
        bool is_long = bpe_count_key_is_long(&entry->key);
        size_t k = bpe_count_key_home(&entry->key, counts->seed, counts->bits);
        for (; counts->slots[k].count != 0; k = (k + 1) & mask) {
            const bpe_count_key *key = &counts->slots[k].key;
            if (key->word[0] == entry->key.word[0] &&
                (is_long ? bpe_count_key_is_long(key) : key->word[1] == entry->key.word[1])) {
                break;
            }
        }
        n_new += counts->slots[k].count == 0;
    }
    if (n_slots <= SAMPLE || n == 0)
        return n_slots <= SAMPLE ? n_new : other->n;
    double share = (double)n_new / (double)n + 0.05;
    return share < 1 ? (size_t)(share * (double)other->n) : other->n;
}

/* Copy the long pretokens of `other` behind those of the table. */
static bpe_status append_longs(bpe_counts *counts, const bpe_counts *other) {
    size_t n = other->n_longs, used = counts->n_longs ? counts->long_ends[counts->n_longs - 1] : 0;
    if (n == 0)
        return BPE_OK;
    size_t n_bytes = other->long_ends[n - 1];
    if (n > BPE_NO_ID - counts->n_longs || n_bytes > SIZE_MAX - used ||
        !bpe_mem_grow((void **)&counts->longs, &counts->longs_cap, used + n_bytes, 1) ||
        !bpe_mem_grow((void **)&counts->long_ends, &counts->long_ends_cap, counts->n_longs + n,
                      sizeof *counts->long_ends)) {
        return BPE_ERR_NOMEM;
    }
    memcpy(counts->longs + used, other->longs, n_bytes);
    for (size_t i = 0; i < n; i++)
        counts->long_ends[counts->n_longs + i] = used + other->long_ends[i];
    counts->n_longs += n;
    return BPE_OK;
}

static unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

/* Decide how large the table has to be, and into how many parts the work falls. */
static bpe_status prepare(bpe_merging *m, size_t n_parts) {
    const bpe_counts *counts = m->counts, *other = m->other;
    m->bits = counts->bits;
    m->slots = counts->slots;
    if (bpe_counts_bits(counts, counts->n + other->n) > counts->bits)
        m->bits = bpe_counts_bits(counts, counts->n + estimate_new(counts, other));
    if (m->bits > counts->bits) {
        m->slots = bpe_mem_table((size_t)1 << m->bits, sizeof *m->slots);
        if (!m->slots)
            return BPE_ERR_NOMEM;
    }
    unsigned most = smaller(counts->bits, other->bits);
    /* As many parts as a power of two: those beyond have nothing to do. */
    while (n_parts >> m->part_bits > 1 && PART_SLOTS << m->part_bits < (size_t)1 << most)
        m->part_bits++;
    m->n_parts = n_parts;
    m->parts = bpe_mem_zeroed(n_parts, sizeof *m->parts);
    if (!m->parts)
        return BPE_ERR_NOMEM;
    m->first_long = (uint32_t)m->counts->n_longs;
    return append_longs(m->counts, other);
}

bpe_status bpe_merging_new(bpe_counts *counts, const bpe_counts *other, size_t n_parts,
                           bpe_merging **out) {
    if (counts == other || counts->seed != other->seed || n_parts == 0)
        return BPE_ERR_ARG;
    if (other->total > UINT64_MAX - counts->total)
        return BPE_ERR_LIMIT;
    /* A merging that was given up may have left no free slot for a search to end at. */
    if (!bpe_counts_reserve(counts, 0))
        return BPE_ERR_NOMEM;
    bpe_merging *m = bpe_mem_zeroed(1, sizeof *m);
    if (!m)
        return BPE_ERR_NOMEM;
    m->counts = counts;
    m->other = other;
    bpe_status status = prepare(m, n_parts);
    if (status != BPE_OK) {
        bpe_merging_free(m);
        return status;
    }
    *out = m;
    return BPE_OK;
}

/* ---------------------------------------------------------------- a part */

/* The entries of one part of a table, in order. */
typedef struct part_walk {
    const bpe_count_entry *slots;
    size_t mask;
    size_t at;   /* goes on beyond the last slot, for entries that were pushed to the first ones */
    size_t end;  /* of the part's stretch; its last entries may be behind that, up to a free slot */
    size_t once; /* when every slot was seen */
} part_walk;

static part_walk walk_part(const bpe_merging *m, const bpe_count_entry *slots, unsigned bits,
                           size_t part) {
    size_t n = (size_t)1 << (bits - m->part_bits);
    size_t begin = part * n, n_slots = (size_t)1 << bits;
    return (part_walk){slots, n_slots - 1, begin, begin + n, begin + n_slots};
}

/* Up to BLOCK of them that come next, with their homes in the slots that are filled, which are
 * asked for; 0 at the end. */
static size_t next_block(const bpe_merging *m, part_walk *walk, const bpe_count_entry **entries,
                         size_t *homes, size_t begin, size_t end) {
    size_t n = 0;
    while (n < BLOCK && walk->at < walk->once) {
        const bpe_count_entry *entry = &walk->slots[walk->at & walk->mask];
        if (entry->count == 0 && walk->at >= walk->end)
            break;
        walk->at++;
        if (entry->count == 0)
            continue;
        size_t home = bpe_count_key_home(&entry->key, m->counts->seed, m->bits);
        if (home < begin || home >= end)
            continue; /* another part's */
        bpe_prefetch_write(&m->slots[home]);
        entries[n] = entry;
        homes[n++] = home;
    }
    return n;
}

static bool put_off(merge_part *part, const bpe_count_entry *entry) {
    if (!bpe_mem_grow((void **)&part->put_off, &part->put_off_cap, part->n_put_off + 1,
                      sizeof *part->put_off)) {
        return false;
    }
    part->put_off[part->n_put_off++] = *entry;
    return true;
}

/* Lay the table's own entries out anew. Their number and sums are known. */
static bool move_own(const bpe_merging *m, size_t part, size_t begin, size_t end) {
    const bpe_count_entry *entries[BLOCK];
    size_t homes[BLOCK], n;
    bpe_mem_touch(m->slots + begin, (end - begin) * sizeof *m->slots);
    part_walk walk = walk_part(m, m->counts->slots, m->counts->bits, part);
    while ((n = next_block(m, &walk, entries, homes, begin, end)) > 0) {
        for (size_t i = 0; i < n; i++) {
            size_t k = homes[i];
            while (k < end && m->slots[k].count != 0)
                k++;
            if (k < end) {
                m->slots[k] = *entries[i];
            } else if (!put_off(&m->parts[part], entries[i])) {
                return false;
            }
        }
    }
    m->parts[part].n_own_put_off = m->parts[part].n_put_off;
    return true;
}

/* Add an entry of the other table, if a place for it is found before `end`. */
static bool add_other(const bpe_merging *m, merge_part *part, const bpe_count_entry *entry,
                      size_t home, size_t end) {
    size_t n, k = home;
    const uint8_t *p = bpe_count_bytes(m->other, entry, &n);
    for (; k < end && m->slots[k].count != 0; k++) {
        bpe_count_entry *found = &m->slots[k];
        if (bpe_count_is(m->counts, found, &entry->key, p, n)) {
            found->count += entry->count;
            if (entry->first < found->first)
                found->first = entry->first;
            part->total += entry->count;
            return true;
        }
    }
    bpe_count_entry added = *entry;
    if (n > BPE_COUNT_SHORT) {
        added.key = bpe_count_key_long(entry->key.word[0],
                                       m->first_long + bpe_count_key_number(&entry->key));
    }
    if (k == end)
        return put_off(part, &added);
    m->slots[k] = added;
    part->n++;
    part->n_bytes += n;
    part->total += entry->count;
    return true;
}

bpe_status bpe_merging_part(bpe_merging *m, size_t number) {
    if (number >= m->n_parts)
        return BPE_ERR_ARG;
    merge_part *part = &m->parts[number];
    if (number < (size_t)1 << m->part_bits) {
        const bpe_count_entry *entries[BLOCK];
        size_t homes[BLOCK], n, size = (size_t)1 << (m->bits - m->part_bits);
        size_t begin = number * size, end = begin + size;
        if (m->slots != m->counts->slots && !move_own(m, number, begin, end))
            return BPE_ERR_NOMEM;
        part_walk walk = walk_part(m, m->other->slots, m->other->bits, number);
        while ((n = next_block(m, &walk, entries, homes, begin, end)) > 0) {
            for (size_t i = 0; i < n; i++) {
                if (!add_other(m, part, entries[i], homes[i], end))
                    return BPE_ERR_NOMEM;
            }
        }
    }
    part->done = true;
    return BPE_OK;
}

/* ---------------------------------------------------------------- the end */

/* Put an entry that was put off where it belongs; one of the table's own is in all sums but the
 * number of entries. There is room. */
static void place(bpe_counts *counts, const bpe_count_entry *entry, bool own) {
    size_t n, mask = ((size_t)1 << counts->bits) - 1;
    const uint8_t *p = bpe_count_bytes(counts, entry, &n);
    size_t k = bpe_count_key_home(&entry->key, counts->seed, counts->bits);
    for (; counts->slots[k].count != 0; k = (k + 1) & mask) {
        bpe_count_entry *found = &counts->slots[k];
        if (bpe_count_is(counts, found, &entry->key, p, n)) {
            found->count += entry->count;
            if (entry->first < found->first)
                found->first = entry->first;
            counts->total += entry->count;
            return;
        }
    }
    counts->slots[k] = *entry;
    counts->n++;
    if (!own) {
        counts->n_bytes += n;
        counts->total += entry->count;
    }
}

/* Add up what the parts did, as far as it is in the slots that were filled, which are the table's
 * from now on; those it had are not freed. */
static void take_over(bpe_merging *m) {
    bpe_counts *counts = m->counts;
    for (size_t i = 0; i < m->n_parts; i++) {
        const merge_part *part = &m->parts[i];
        counts->n += part->n;
        counts->n -= part->n_own_put_off;
        counts->n_bytes += part->n_bytes;
        counts->total += part->total;
    }
    counts->slots = m->slots;
    counts->bits = m->bits;
    m->ended = true;
}

/* Take over what the parts did, and make room for what they put off. When out of memory a table
 * that was to be laid out anew is as it was: some of its own entries would have no place. */
static bool finish_parts(bpe_merging *m) {
    bpe_counts *counts = m->counts, before = *counts;
    size_t n_put_off = 0;
    for (size_t i = 0; i < m->n_parts; i++)
        n_put_off += m->parts[i].n_put_off;
    take_over(m);
    /* The table may be fuller than it should be, but then it grows here. */
    bool done = bpe_counts_reserve(counts, n_put_off);
    if (m->slots == before.slots)
        return done;
    if (done) {
        bpe_mem_free(before.slots);
    } else {
        *counts = before;
        bpe_mem_free(m->slots);
    }
    return done;
}

bpe_status bpe_merging_end(bpe_merging *m) {
    bpe_counts *counts = m->counts;
    if (m->ended)
        return BPE_ERR_ARG;
    for (size_t i = 0; i < m->n_parts; i++) {
        if (!m->parts[i].done)
            return BPE_ERR_ARG;
    }
    if (!finish_parts(m))
        return BPE_ERR_NOMEM;
    for (int own = 1; own >= 0; own--) {
        for (size_t i = 0; i < m->n_parts; i++) {
            const merge_part *part = &m->parts[i];
            size_t k = own ? 0 : part->n_own_put_off;
            for (; k < (own ? part->n_own_put_off : part->n_put_off); k++)
                place(counts, &part->put_off[k], own);
        }
    }
    return counts->n > counts->most ? BPE_ERR_CAPACITY : BPE_OK;
}

void bpe_merging_free(bpe_merging *m) {
    if (!m)
        return;
    if (!m->ended && m->slots != m->counts->slots) {
        bpe_mem_free(m->slots); /* nothing has happened to the table */
    } else if (!m->ended && m->parts) {
        take_over(m); /* it holds a part of the other one */
    }
    for (size_t i = 0; m->parts && i < m->n_parts; i++)
        bpe_mem_free(m->parts[i].put_off);
    bpe_mem_free(m->parts);
    bpe_mem_free(m);
}

bpe_status bpe_counts_merge(bpe_counts *counts, const bpe_counts *other) {
    bpe_merging *m;
    bpe_status status = bpe_merging_new(counts, other, 1, &m);
    if (status != BPE_OK)
        return status;
    status = bpe_merging_part(m, 0);
    if (status == BPE_OK)
        status = bpe_merging_end(m);
    bpe_merging_free(m);
    return status;
}
