/* Counts: tables filled, merged in parts, packed and read again, in steps that the input says, with
 * memory that runs out now and then. What is in a table is compared with a list of all that was
 * added to it; what bytes mean as records, with reading them one by one.
 */
#include "count.h"

#include "fuzz.h"

enum { POOL = 1 << 20, EVENTS = 10000, STEPS = 16 };

/* What was added: some bytes of the pool, so many times. */
typedef struct event {
    const uint8_t *p;
    size_t n;
    uint64_t count, first;
} event;

typedef struct log_of_events {
    event events[EVENTS];
    size_t n;
    uint64_t total;
} log_of_events;

static uint8_t pool[POOL];
static size_t pool_n;
static log_of_events logs[2], summed, high, low;

/* Of the two tables the second hashes as the first does. */
typedef struct tables {
    bpe_counts *table[2];
    uint64_t position; /* of what is added next */
} tables;

/* ---------------------------------------------------------------- lists */

static bool is_room(const log_of_events *log, size_t events, size_t bytes) {
    return events <= EVENTS - log->n && bytes <= POOL - pool_n;
}

/* Note an event, if the sum stays below 2^64. */
static bool note(log_of_events *log, const uint8_t *p, size_t n, uint64_t count, uint64_t first) {
    if (count > UINT64_MAX - log->total)
        return false;
    FUZZ_CHECK(is_room(log, 1, n));
    memcpy(pool + pool_n, p, n);
    log->events[log->n++] = (event){pool + pool_n, n, count, first};
    log->total += count;
    pool_n += n;
    return true;
}

static int by_bytes(const void *a, const void *b) {
    const event *x = a, *y = b;
    int order = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

static int by_first(const void *a, const void *b) {
    const event *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Each pretoken once, by its bytes. */
static void add_up(const log_of_events *log, log_of_events *sum) {
    memcpy(sum->events, log->events, log->n * sizeof *log->events);
    qsort(sum->events, log->n, sizeof *sum->events, by_bytes);
    sum->n = 0;
    sum->total = log->total;
    for (size_t i = 0; i < log->n; i++) {
        event *last = &sum->events[sum->n], *x = &sum->events[i];
        if (sum->n > 0 && by_bytes(last - 1, x) == 0) {
            last--;
            last->count += x->count;
            last->first = x->first < last->first ? x->first : last->first;
        } else {
            *last = *x;
            sum->n++;
        }
    }
}

static void append(log_of_events *log, const log_of_events *other) {
    FUZZ_CHECK(is_room(log, other->n, 0));
    memcpy(log->events + log->n, other->events, other->n * sizeof *log->events);
    log->n += other->n;
    log->total += other->total;
}

static event event_of(const bpe_counts *counts, const bpe_count_entry *entry) {
    event x = {.count = entry->count, .first = entry->first};
    x.p = bpe_count_bytes(counts, entry, &x.n);
    return x;
}

/* ---------------------------------------------------------------- comparing */

/* Every entry is where a search for it ends, and the sums are those of the entries. */
static void check_sound(const bpe_counts *counts) {
    size_t n = 0, n_bytes = 0, n_slots = (size_t)1 << counts->bits;
    uint64_t total = 0;
    for (size_t i = 0; i < n_slots; i++) {
        const bpe_count_entry *entry = &counts->slots[i];
        if (entry->count == 0)
            continue;
        event x = event_of(counts, entry);
        size_t k = bpe_count_key_home(&entry->key, counts->seed, counts->bits);
        while (!bpe_count_is(counts, &counts->slots[k], &entry->key, x.p, x.n)) {
            FUZZ_CHECK(counts->slots[k].count != 0);
            k = (k + 1) % n_slots;
        }
        FUZZ_CHECK(k == i);
        n++;
        n_bytes += x.n;
        total += x.count;
    }
    FUZZ_CHECK(n == bpe_counts_size(counts) && n_bytes == bpe_counts_bytes(counts));
    FUZZ_CHECK(total == bpe_counts_total(counts));
}

static void check_equal(const bpe_counts *counts, const log_of_events *log) {
    check_sound(counts);
    add_up(log, &summed);
    qsort(summed.events, summed.n, sizeof *summed.events, by_first);
    FUZZ_CHECK(summed.n == bpe_counts_size(counts) && log->total == bpe_counts_total(counts));
    size_t n = summed.n;
    uint8_t *data = fuzz_array(bpe_counts_bytes(counts), 1);
    size_t *offsets = fuzz_array(n + 1, sizeof *offsets);
    uint64_t *frequencies = fuzz_array(n, 8), *positions = fuzz_array(n, 8);
    FUZZ_CHECK(bpe_counts_export(counts, data, offsets, frequencies, positions) == BPE_OK);
    for (size_t i = 0; i < n; i++) {
        const event *x = &summed.events[i];
        FUZZ_CHECK(fuzz_same(data + offsets[i], offsets[i + 1] - offsets[i], x->p, x->n));
        FUZZ_CHECK(frequencies[i] == x->count && positions[i] == x->first);
    }
    free(data);
    free(offsets);
    free(frequencies);
    free(positions);
}

/* After a failure: there is all that was there before, and nothing that neither was nor was to be
 * added. What there is now is noted. */
static void check_part(const bpe_counts *counts, log_of_events *before,
                       const log_of_events *after) {
    size_t n_before = 0;
    check_sound(counts);
    add_up(before, &low);
    add_up(after, &high);
    before->n = 0;
    before->total = 0;
    for (size_t i = 0; i < (size_t)1 << counts->bits; i++) {
        if (counts->slots[i].count == 0)
            continue;
        event x = event_of(counts, &counts->slots[i]);
        const event *most = bsearch(&x, high.events, high.n, sizeof x, by_bytes);
        const event *least = bsearch(&x, low.events, low.n, sizeof x, by_bytes);
        FUZZ_CHECK(most && x.count <= most->count && x.first >= most->first);
        FUZZ_CHECK(!least || (x.count >= least->count && x.first <= least->first));
        n_before += least != NULL;
        x.p = most->p;
        before->events[before->n++] = x;
        before->total += x.count;
    }
    FUZZ_CHECK(n_before == low.n);
}

/* ---------------------------------------------------------------- adding */

static void add_frequencies(tables *t, fuzz_input *in, uint32_t which, uint64_t fail_after) {
    log_of_events *log = &logs[which];
    size_t n = fuzz_below(in, 20), offsets[21] = {0}, size, j = 0;
    uint64_t frequencies[20];
    for (size_t i = 0; i < n; i++) {
        uint8_t x = fuzz_byte(in);
        offsets[i + 1] = offsets[i] + fuzz_below(in, 40);
        frequencies[i] = x < 200 ? x % 8 : (uint64_t)1 << x % 64;
    }
    uint8_t *data = fuzz_bytes(in, offsets[n], &size);
    if (size == offsets[n] && is_room(log, n, size)) {
        bpe_error err = {0, 0};
        bpe_test_fail_after = (long)fail_after;
        bpe_status status = bpe_counts_add_frequencies(t->table[which], data, offsets, frequencies,
                                                       n, t->position, &err);
        bpe_test_fail_after = -1;
        FUZZ_CHECK(status == BPE_OK || status == BPE_ERR_LIMIT || status == BPE_ERR_NOMEM);
        size_t added = status == BPE_OK ? n : err.pos;
        for (j = 0; j < added; j++) {
            size_t length = offsets[j + 1] - offsets[j];
            if (length > 0 && frequencies[j] > 0) {
                FUZZ_CHECK(note(log, data + offsets[j], length, frequencies[j], t->position + j));
            }
        }
        FUZZ_CHECK((status == BPE_ERR_LIMIT) ==
                   (j < n && frequencies[j] > UINT64_MAX - log->total));
        t->position += n;
    }
    free(data);
}

/* Numbers written out, one in three long. */
static void add_numbers(tables *t, fuzz_input *in, uint32_t which) {
    log_of_events *log = &logs[which];
    uint32_t begin = fuzz_byte(in) * 32u, n = (1u + fuzz_byte(in)) * 16,
             step = 1u + fuzz_byte(in) % 3;
    if (!is_room(log, n, (size_t)n * 24))
        return;
    char *data = fuzz_array((size_t)n * 24, 1);
    size_t *offsets = fuzz_array(n + 1, sizeof *offsets);
    uint64_t *ones = fuzz_array(n, sizeof *ones);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t number = begin + i * step;
        char *to = data + offsets[i];
        int length = snprintf(to, 24, number % 3 ? "%" PRIu32 : "%020" PRIu32, number);
        offsets[i + 1] = offsets[i] + (size_t)length;
        ones[i] = 1;
    }
    bpe_status status = bpe_counts_add_frequencies(t->table[which], (uint8_t *)data, offsets, ones,
                                                   n, t->position, NULL);
    uint32_t i = 0;
    for (; i < n; i++) {
        if (!note(log, (uint8_t *)data + offsets[i], offsets[i + 1] - offsets[i], 1,
                  t->position + i)) {
            break;
        }
    }
    FUZZ_CHECK(status == (i < n ? BPE_ERR_LIMIT : BPE_OK));
    t->position += n;
    free(data);
    free(offsets);
    free(ones);
}

static void add_pretokens(tables *t, fuzz_input *in, uint32_t which) {
    log_of_events *log = &logs[which];
    size_t longest = 1u + fuzz_byte(in), n, n_ends = 0, at = 0;
    uint8_t *data = fuzz_bytes(in, 1u + fuzz_byte(in), &n);
    size_t *ends = fuzz_array(n, sizeof *ends);
    while (at < n) {
        size_t length = 1 + data[at] % longest;
        at += length < n - at ? length : n - at;
        ends[n_ends++] = at;
    }
    if (is_room(log, n_ends, n)) {
        bpe_status status =
            bpe_counts_add_pretokens(t->table[which], data, n, ends, n_ends, t->position, NULL);
        size_t i = 0;
        for (at = 0; i < n_ends; at = ends[i++]) {
            if (!note(log, data + at, ends[i] - at, 1, t->position + at))
                break;
        }
        FUZZ_CHECK(status == (i < n_ends ? BPE_ERR_LIMIT : BPE_OK));
    }
    t->position += n;
    free(data);
    free(ends);
}

/* ---------------------------------------------------------------- merging */

/* Merge the second table into the first, in parts, in some order; perhaps not to the end. */
static bpe_status merge(tables *t, fuzz_input *in, uint64_t fail_after) {
    size_t n_parts = 1 + fuzz_below(in, 20), first = fuzz_below(in, (uint32_t)n_parts);
    uint8_t given_up = fuzz_byte(in);
    size_t n = given_up < 200 ? n_parts : given_up % n_parts;
    bpe_merging *merging = NULL;
    bpe_test_fail_after = (long)fail_after;
    bpe_status status = bpe_merging_new(t->table[0], t->table[1], n_parts, &merging);
    FUZZ_CHECK(merging != NULL || status != BPE_OK);
    for (size_t i = 0; i < n && status == BPE_OK; i++)
        status = bpe_merging_part(merging, (first + i) % n_parts);
    if (status == BPE_OK)
        status = bpe_merging_end(merging);
    bpe_merging_free(merging);
    bpe_test_fail_after = -1;
    return n < n_parts && status == BPE_OK ? BPE_ERR_LIMIT : status;
}

static void merge_tables(tables *t, fuzz_input *in, uint64_t fail_after) {
    static log_of_events both;
    if (!is_room(&logs[0], logs[1].n, 0))
        return;
    bool too_many = logs[1].total > UINT64_MAX - logs[0].total;
    bpe_status status = merge(t, in, fail_after);
    check_equal(t->table[1], &logs[1]);
    if (too_many) {
        FUZZ_CHECK(status == BPE_ERR_LIMIT || status == BPE_ERR_NOMEM);
        check_equal(t->table[0], &logs[0]);
    } else if (status == BPE_OK) {
        append(&logs[0], &logs[1]);
        check_equal(t->table[0], &logs[0]);
    } else {
        FUZZ_CHECK(status == BPE_ERR_NOMEM || status == BPE_ERR_ARG);
        memcpy(both.events, logs[0].events, logs[0].n * sizeof *both.events);
        both.n = logs[0].n;
        both.total = logs[0].total;
        append(&both, &logs[1]);
        check_part(t->table[0], &logs[0], &both);
    }
    bpe_counts_free(t->table[1]);
    FUZZ_CHECK(bpe_counts_new_beside(t->table[0], &t->table[1]) == BPE_OK);
    logs[1].n = 0;
    logs[1].total = 0;
}

/* ---------------------------------------------------------------- packing */

static size_t write_number(uint64_t x, uint8_t *out) {
    size_t n = 0;
    do {
        out[n++] = (uint8_t)(x % 128 + (x >= 128 ? 128 : 0));
        x /= 128;
    } while (x > 0);
    return n;
}

/* Read a number: 1, 0 if it is not whole, -1 if it would be written otherwise. */
static int read_number(const uint8_t *data, size_t n, size_t *at, uint64_t *x) {
    size_t length = 0;
    uint8_t again[10];
    *x = 0;
    while (length < 10) {
        if (*at + length == n)
            return 0;
        uint64_t byte = data[*at + length];
        *x |= byte % 128 << 7 * length++;
        if (byte < 128)
            break;
    }
    if (write_number(*x, again) != length || memcmp(again, data + *at, length) != 0)
        return -1;
    *at += length;
    return 1;
}

/* The same for a record. */
static int read_record(const uint8_t *data, size_t n, size_t *at, uint64_t size, uint64_t *end,
                       event *x) {
    uint64_t numbers[3];
    size_t now = *at;
    for (int i = 0; i < 3; i++) {
        int how = read_number(data, n, &now, &numbers[i]);
        if (how != 1)
            return how;
    }
    uint64_t left = size - *end;
    if (numbers[0] == 0 || numbers[1] == 0 || numbers[2] > left || numbers[0] > left - numbers[2])
        return -1;
    if (numbers[0] > n - now)
        return 0;
    *x = (event){data + now, (size_t)numbers[0], numbers[1], *end + numbers[2]};
    *end = x->first + x->n;
    *at = now + x->n;
    return 1;
}

/* Add bytes that may be records to an empty table. */
static void check_records(const uint8_t *data, size_t n, uint64_t base, uint64_t size) {
    static log_of_events log;
    bpe_counts *counts = NULL;
    bpe_packed_place place = {0, 0};
    size_t at = 0, consumed = SIZE_MAX;
    uint64_t end = 0, records = 0;
    int how = base > UINT64_MAX - size ? -1 : 1;
    bool fits = true;
    event x;
    log.n = 0;
    log.total = 0;
    for (size_t next = 0; how == 1 && is_room(&log, 1, n) && fits; records++) {
        how = next == n ? 0 : read_record(data, n, &next, size, &end, &x);
        if (how != 1)
            break;
        fits = note(&log, x.p, x.n, x.count, base + x.first);
        at = fits ? next : at;
    }
    if (how == 1 && fits)
        return; /* too many for the list */
    bpe_error err = {0, 0};
    FUZZ_CHECK(bpe_counts_new(&counts) == BPE_OK);
    bpe_status status = bpe_counts_add_packed(counts, data, n, base, size, &place, &consumed, &err);
    FUZZ_CHECK(status == (!fits ? BPE_ERR_LIMIT : how < 0 ? BPE_ERR_ARG : BPE_OK));
    if (status == BPE_OK) {
        FUZZ_CHECK(consumed == at && place.n == records && place.end == end);
    } else {
        FUZZ_CHECK(consumed == SIZE_MAX && place.n == 0 && place.end == 0);
        FUZZ_CHECK(status == BPE_ERR_LIMIT || err.pos == at);
    }
    check_equal(counts, &log);
    bpe_counts_free(counts);
}

/* The bytes of a table, and how many the text has at least; NULL where positions are not those of
 * bytes. */
static uint8_t *pack(const bpe_counts *counts, const log_of_events *log, size_t more, size_t *n,
                     uint64_t *size) {
    uint64_t end = 0, longest = 0;
    bool in_order = true;
    add_up(log, &summed);
    qsort(summed.events, summed.n, sizeof *summed.events, by_first);
    uint8_t *want = fuzz_array(1, bpe_counts_bytes(counts) + 30 * summed.n), *to = want;
    for (size_t i = 0; i < summed.n; i++) {
        const event *x = &summed.events[i];
        const uint8_t *from = to;
        in_order &= x->first >= end && x->n <= UINT64_MAX - x->first;
        to += write_number(x->n, to);
        to += write_number(x->count, to);
        to += write_number(x->first - end, to);
        memcpy(to, x->p, x->n);
        to += x->n;
        longest = (uint64_t)(to - from) > longest ? (uint64_t)(to - from) : longest;
        end = x->first + x->n;
    }
    *n = (size_t)(to - want);
    *size = end;
    bpe_packer *packer = NULL;
    FUZZ_CHECK(bpe_packer_new(counts, &packer) == (in_order ? BPE_OK : BPE_ERR_ARG));
    if (in_order) {
        FUZZ_CHECK(bpe_packer_size(packer) == *n && bpe_packer_longest(packer) == longest);
        size_t cap = (size_t)longest + more, at = 0, got;
        for (uint8_t *block; block = fuzz_array(cap, 1), true; at += got) {
            got = bpe_packer_next(packer, block, cap);
            FUZZ_CHECK(got <= *n - at && memcmp(block, want + at, got) == 0);
            free(block);
            if (got == 0)
                break;
        }
        FUZZ_CHECK(at == *n);
    }
    bpe_packer_free(packer);
    if (in_order)
        return want;
    free(want);
    return NULL;
}

/* Read a table back in pieces; what is left of one comes again with the next. */
static void read_back(const uint8_t *data, size_t n, size_t piece, uint64_t base, uint64_t size,
                      const log_of_events *log) {
    static log_of_events moved;
    bpe_counts *counts = NULL;
    bpe_packed_place place = {0, 0};
    FUZZ_CHECK(bpe_counts_new(&counts) == BPE_OK);
    for (size_t at = 0, known = 0; at < n;) {
        known = n - known > piece ? known + piece : n;
        size_t used;
        uint8_t *part = fuzz_array(known - at, 1);
        memcpy(part, data + at, known - at);
        FUZZ_CHECK(bpe_counts_add_packed(counts, part, known - at, base, size, &place, &used,
                                         NULL) == BPE_OK);
        FUZZ_CHECK(used <= known - at && (known < n || used == known - at));
        free(part);
        at += used;
    }
    moved.n = 0;
    moved.total = 0;
    append(&moved, log);
    for (size_t i = 0; i < moved.n; i++)
        moved.events[i].first += base;
    check_equal(counts, &moved);
    FUZZ_CHECK(place.n == bpe_counts_size(counts));
    bpe_counts_free(counts);
}

static void pack_and_damage(const tables *t, fuzz_input *in, uint32_t which) {
    size_t n, more = fuzz_byte(in), piece = 1u + fuzz_byte(in) * 16u;
    uint64_t base = fuzz_u32(in), size;
    uint8_t *data = pack(t->table[which], &logs[which], more, &n, &size);
    if (!data)
        return;
    /* The text may be larger than what was counted of it. */
    size += fuzz_byte(in);
    read_back(data, n, piece, base, size, &logs[which]);
    size_t pool_before = pool_n;
    if (n > 0) {
        for (uint32_t i = 0, changes = fuzz_below(in, 4); i <= changes; i++)
            data[fuzz_u32(in) % n] = fuzz_byte(in);
        size_t kept = n - (fuzz_byte(in) < 128 ? 0 : fuzz_u32(in) % n);
        uint8_t *exact = fuzz_array(kept, 1);
        memcpy(exact, data, kept);
        check_records(exact, kept, base, fuzz_byte(in) < 200 ? size : UINT64_MAX - base);
        free(exact);
    }
    pool_n = pool_before;
    free(data);
}

static void read_input(fuzz_input *in) {
    size_t n, pool_before = pool_n;
    uint64_t base = fuzz_byte(in) < 250 ? fuzz_byte(in) : UINT64_MAX - fuzz_byte(in);
    uint64_t size = (uint64_t)fuzz_byte(in) << fuzz_below(in, 57);
    uint8_t *data = fuzz_bytes(in, 1u + 4u * fuzz_byte(in), &n);
    check_records(data, n, base, size);
    pool_n = pool_before;
    free(data);
}

/* ---------------------------------------------------------------- steps */

static void step(tables *t, fuzz_input *in) {
    uint32_t kind = fuzz_below(in, 8), which = fuzz_byte(in);
    /* Seldom memory runs out, after so many allocations. */
    uint64_t fail_after = which >= 192 ? which % 8 : UINT64_MAX;
    which %= 2;
    if (kind == 0)
        add_frequencies(t, in, which, fail_after);
    else if (kind == 1)
        add_numbers(t, in, which);
    else if (kind == 2)
        add_pretokens(t, in, which);
    else if (kind == 3)
        t->position += (uint64_t)fuzz_byte(in) << fuzz_below(in, 50);
    else if (kind == 4)
        merge_tables(t, in, fail_after);
    else if (kind == 5)
        read_input(in);
    else
        pack_and_damage(t, in, which);
}

static void fuzz(fuzz_input *in) {
    tables t = {{NULL, NULL}, 0};
    pool_n = 0;
    FUZZ_CHECK(bpe_counts_new(&t.table[0]) == BPE_OK);
    t.table[0]->seed = fuzz_u32(in); /* so that an input means the same each time */
    FUZZ_CHECK(bpe_counts_new_beside(t.table[0], &t.table[1]) == BPE_OK);
    for (size_t i = 0; i < 2; i++)
        logs[i].n = logs[i].total = 0;
    for (int i = 0; i < STEPS && in->n > 0; i++)
        step(&t, in);
    for (size_t i = 0; i < 2; i++) {
        check_equal(t.table[i], &logs[i]);
        bpe_counts_free(t.table[i]);
    }
}

FUZZ_TARGET(fuzz)
