#include "order.h"

#include "bits.h"
#include "memory.h"

/* Runs of up to this many items are sorted by insertion. */
#define FEW 32

#define HEAD_BYTES 8

/* Items that have all bytes before some depth in common, and more than that many. */
typedef struct bpe_order_run {
    size_t first;
    size_t n;
    size_t depth;
} run;

/* ---------------------------------------------------------------- reading */

static inline uint64_t load_first_high(const uint8_t *p) {
    return (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 |
           (uint64_t)p[3] << 32 | (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 |
           (uint64_t)p[6] << 8 | p[7];
}

static inline uint64_t load_last_high(const uint8_t *p) {
    return (uint64_t)p[7] << 56 | (uint64_t)p[6] << 48 | (uint64_t)p[5] << 40 |
           (uint64_t)p[4] << 32 | (uint64_t)p[3] << 24 | (uint64_t)p[2] << 16 |
           (uint64_t)p[1] << 8 | p[0];
}

/*
 * Eight bytes from `depth` on in reading direction, the first in the high bits, zeros behind the
 * end; depth <= length. Neighbouring strings of the table may be read and masked away.
 */
static inline uint64_t head_at(const bpe_intern *table, const bpe_order_item *x, size_t depth,
                               bool backwards) {
    size_t n;
    const uint8_t *p = bpe_intern_bytes(table, x->index, &n);
    size_t left = n - depth;
    size_t before = (size_t)(p - table->data);
    size_t total = table->ends[table->n - 1];
    if (left == 0)
        return 0;
    uint64_t keep = left < HEAD_BYTES ? ~(uint64_t)0 << 8 * (HEAD_BYTES - left) : ~(uint64_t)0;
    if (backwards && before + left >= HEAD_BYTES)
        return load_last_high(p + left - HEAD_BYTES) & keep;
    if (!backwards && before + depth + HEAD_BYTES <= total)
        return load_first_high(p + depth) & keep;
    uint64_t head = 0; /* at the very beginning or end of the table */
    for (size_t i = 0; i < HEAD_BYTES; i++) {
        uint8_t byte = 0;
        if (i < left)
            byte = backwards ? p[left - 1 - i] : p[depth + i];
        head = head << 8 | byte;
    }
    return head;
}

static inline size_t equal_bytes(uint64_t x, uint64_t y) {
    uint64_t differ = x ^ y;
    return differ ? (63 - bpe_highest_bit(differ)) / 8 : HEAD_BYTES;
}

static size_t common_from(const bpe_intern *table, const bpe_order_item *x, const bpe_order_item *y,
                          size_t depth, bool backwards) {
    size_t shorter = x->length < y->length ? x->length : y->length;
    for (; depth < shorter; depth += HEAD_BYTES) {
        size_t n =
            equal_bytes(head_at(table, x, depth, backwards), head_at(table, y, depth, backwards));
        if (n < HEAD_BYTES)
            return depth + n < shorter ? depth + n : shorter;
    }
    return shorter;
}

size_t bpe_order_common(const bpe_intern *table, const bpe_order_item *x, const bpe_order_item *y,
                        bool backwards) {
    size_t n = equal_bytes(x->head, y->head);
    if (n == HEAD_BYTES)
        return common_from(table, x, y, HEAD_BYTES, backwards);
    size_t shorter = x->length < y->length ? x->length : y->length;
    return n < shorter ? n : shorter;
}

/* ---------------------------------------------------------------- sorting */

/* By head, least significant byte first; equal heads keep their order. Ends in `items`. */
static void sort_by_head(bpe_order_item *items, bpe_order_item *spare, size_t n) {
    if (n <= FEW) {
        for (size_t i = 1; i < n; i++) {
            bpe_order_item x = items[i];
            size_t j = i;
            for (; j > 0 && items[j - 1].head > x.head; j--)
                items[j] = items[j - 1];
            items[j] = x;
        }
        return;
    }
    uint32_t counts[HEAD_BYTES][256] = {{0}};
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < HEAD_BYTES; k++)
            counts[k][items[i].head >> 8 * k & 0xFF]++;
    }
    bpe_order_item *from = items;
    bpe_order_item *to = spare;
    for (size_t k = 0; k < HEAD_BYTES; k++) {
        if (counts[k][items[0].head >> 8 * k & 0xFF] == n)
            continue; /* all have the same byte here */
        size_t places[256];
        size_t place = 0;
        for (size_t b = 0; b < 256; b++) {
            places[b] = place;
            place += counts[k][b];
        }
        for (size_t i = 0; i < n; i++)
            to[places[from[i].head >> 8 * k & 0xFF]++] = from[i];
        bpe_order_item *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != items)
        memcpy(items, from, n * sizeof *items);
}

/* Whether x, which is equal to y before `depth` and in its head, comes first. */
static bool comes_first(const bpe_intern *table, const bpe_order_item *x, const bpe_order_item *y,
                        size_t depth, bool backwards) {
    size_t common = common_from(table, y, x, depth, backwards);
    if (common == y->length)
        return false;
    return common == x->length ||
           head_at(table, x, common, backwards) < head_at(table, y, common, backwards);
}

/* A few items that are equal before `depth`, and have the same head, by what follows. Each is
 * read once, but for those that are equal for eight bytes more. */
static void sort_few(const bpe_intern *table, bpe_order_item *items, size_t n, size_t depth,
                     bool backwards) {
    if (n < 2)
        return;
    uint64_t same = items[0].head;
    for (size_t i = 0; i < n; i++)
        items[i].head = head_at(table, &items[i], depth, backwards);
    for (size_t i = 1; i < n; i++) {
        bpe_order_item x = items[i];
        size_t j = i;
        for (; j > 0; j--) {
            const bpe_order_item *y = &items[j - 1];
            if (y->head < x.head ||
                (y->head == x.head && !comes_first(table, &x, y, depth, backwards)))
                break;
            items[j] = *y;
        }
        items[j] = x;
    }
    for (size_t i = 0; i < n; i++)
        items[i].head = same;
}

/*
 * Order items whose heads at `depth` are equal. Those that end within the head come first, by
 * length: there are at most eight of them. The others differ further on; if they are many, they
 * become a run behind the n_runs that are there.
 */
static bool part_equals(bpe_order *o, const bpe_intern *table, size_t first, size_t n, size_t depth,
                        bool backwards, size_t *n_runs) {
    bpe_order_item *items = o->items + first;
    size_t further = depth + HEAD_BYTES;
    size_t n_short = 0;
    for (size_t i = 0; i < n; i++) {
        bpe_order_item x = items[i];
        if (x.length > further)
            continue;
        size_t j = n_short++;
        items[i] = items[j];
        for (; j > 0 && items[j - 1].length > x.length; j--)
            items[j] = items[j - 1];
        items[j] = x;
    }
    if (n - n_short <= FEW) {
        sort_few(table, items + n_short, n - n_short, further, backwards);
        return true;
    }
    if (!bpe_mem_grow((void **)&o->runs, &o->runs_cap, *n_runs + 1, sizeof *o->runs))
        return false;
    o->runs[(*n_runs)++] = (run){first + n_short, n - n_short, further};
    return true;
}

/* Order a run's items by their heads at its depth, and note the runs within it. */
static bool sort_run(bpe_order *o, const bpe_intern *table, run r, bool backwards, size_t *n_runs) {
    bpe_order_item *items = o->items + r.first;
    for (size_t i = 0; i < r.n; i++)
        items[i].head = head_at(table, &items[i], r.depth, backwards);
    sort_by_head(items, o->spare, r.n);
    for (size_t i = 0, j; i < r.n; i = j) {
        for (j = i + 1; j < r.n && items[j].head == items[i].head;)
            j++;
        if (j - i > 1 && !part_equals(o, table, r.first + i, j - i, r.depth, backwards, n_runs))
            return false;
    }
    return true;
}

/* Items and scratch are one table, for the sake of large pages. */
static bool make_room(bpe_order *order, size_t n) {
    if (n <= order->cap && order->items)
        return true;
    bpe_mem_free(order->items);
    order->cap = 0;
    order->items = n <= SIZE_MAX / 2 ? bpe_mem_table(2 * n, sizeof *order->items) : NULL;
    if (!order->items)
        return false;
    order->cap = n;
    order->spare = order->items + n;
    return true;
}

bool bpe_order_sort(bpe_order *order, const bpe_intern *table, size_t n, bool backwards) {
    if (!make_room(order, n))
        return false;
    order->n = n;
    for (size_t i = 0; i < n; i++) {
        size_t length;
        bpe_intern_bytes(table, i, &length);
        order->items[i] = (bpe_order_item){0, (uint32_t)i, (uint32_t)length};
    }
    size_t n_runs = 0;
    if (!sort_run(order, table, (run){0, n, 0}, backwards, &n_runs))
        return false;
    while (n_runs > 0) {
        run r = order->runs[--n_runs];
        if (!sort_run(order, table, r, backwards, &n_runs))
            return false;
        /* The heads were those of a greater depth. */
        for (size_t i = r.first; i < r.first + r.n; i++)
            order->items[i].head = head_at(table, &order->items[i], 0, backwards);
    }
    return true;
}

void bpe_order_free(bpe_order *order) {
    bpe_mem_free(order->items);
    bpe_mem_free(order->runs);
    *order = (bpe_order){0};
}
