#include "cuts.h"
#include "order.h"

#include "harness.h"
#include "random.h"

/* Tables of `n` distinct strings of bytes below `letters`, many with long beginnings or ends in
 * common; strings of up to 3 + `longest` bytes. */
static bool random_table(bpe_intern *table, uint64_t *seed, size_t n, uint32_t letters,
                         uint32_t longest) {
    uint8_t s[512];
    bool ok = bpe_intern_init(table, 0);
    for (size_t tries = 0; ok && table->n < n && tries < 4 * n; tries++) {
        size_t size = 1 + random_below(seed, longest);
        size_t same = random_below(seed, 3) ? 0 : random_below(seed, (uint32_t)size + 1);
        bool at_end = random_below(seed, 2);
        for (size_t i = 0; i < size; i++) {
            bool shared = at_end ? size - i <= same : i < same;
            s[i] = (uint8_t)(shared ? 0 : random_below(seed, letters));
        }
        ok = bpe_intern_add(table, s, size, bpe_intern_hash(table, s, size)) != BPE_NO_ID;
    }
    return ok;
}

/* Plain comparison, byte by byte. */
static int compare(const bpe_intern *table, size_t x, size_t y, bool backwards, size_t *common) {
    size_t n, m;
    const uint8_t *p = bpe_intern_bytes(table, x, &n);
    const uint8_t *q = bpe_intern_bytes(table, y, &m);
    for (size_t i = 0; i < n && i < m; i++) {
        uint8_t a = backwards ? p[n - 1 - i] : p[i];
        uint8_t b = backwards ? q[m - 1 - i] : q[i];
        *common = i;
        if (a != b)
            return a < b ? -1 : 1;
    }
    *common = n < m ? n : m;
    return n < m ? -1 : n > m;
}

static void check_order(const bpe_intern *table, bpe_order *order, bool backwards) {
    REQUIRE(bpe_order_sort(order, table, table->n, backwards));
    REQUIRE(order->n == table->n);
    for (size_t i = 0; i + 1 < order->n; i++) {
        size_t common;
        const bpe_order_item *x = &order->items[i];
        CHECK_EQ(compare(table, x[0].index, x[1].index, backwards, &common), -1);
        CHECK_EQ(bpe_order_common(table, &x[0], &x[1], backwards), common);
    }
    for (size_t i = 0; i < order->n; i++) {
        size_t n;
        bpe_intern_bytes(table, order->items[i].index, &n);
        CHECK_EQ(order->items[i].length, n);
    }
}

TEST(orders_are_ascending) {
    uint64_t seed = 1;
    bpe_order order = {0};
    for (uint32_t round = 0; round < 60; round++) {
        bpe_intern table;
        uint32_t letters = (uint32_t[]){1, 2, 4, 256}[round % 4];
        uint32_t longest = (uint32_t[]){3, 9, 40, 300}[round / 4 % 4];
        REQUIRE(random_table(&table, &seed, round < 30 ? 1 + round : 2000, letters, longest));
        check_order(&table, &order, false);
        check_order(&table, &order, true);
        bpe_intern_free(&table);
    }
    bpe_order_free(&order);
}

typedef struct seen {
    const bpe_intern *table;
    size_t n;
    uint64_t sum;
    size_t stop_after; /* this many cuts end the walk */
} seen;

static uint64_t cut_number(uint64_t whole, uint64_t left, uint64_t right) {
    return bpe_mix64(bpe_mix64(bpe_mix64(whole + 1) + left) + right);
}

static bpe_status take(void *context, const bpe_cut *cuts, size_t n_cuts) {
    seen *s = context;
    CHECK(n_cuts >= 1 && n_cuts <= BPE_CUTS_BATCH);
    for (size_t i = 0; i < n_cuts; i++) {
        size_t n, a, b;
        const uint8_t *p = bpe_intern_bytes(s->table, cuts[i].whole, &n);
        const uint8_t *l = bpe_intern_bytes(s->table, cuts[i].left, &a);
        const uint8_t *r = bpe_intern_bytes(s->table, cuts[i].right, &b);
        CHECK(a + b == n && memcmp(p, l, a) == 0 && memcmp(p + a, r, b) == 0);
        s->sum += cut_number(cuts[i].whole, cuts[i].left, cuts[i].right);
        if (++s->n == s->stop_after)
            return BPE_ERR_LIMIT;
    }
    return BPE_OK;
}

/* Every cut of the first n strings, by looking up both halves. */
static seen plain_cuts(const bpe_intern *table, size_t n) {
    seen s = {table, 0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        size_t size;
        const uint8_t *p = bpe_intern_bytes(table, i, &size);
        for (size_t k = 1; k < size; k++) {
            uint32_t left = bpe_intern_find(table, p, k, bpe_intern_hash(table, p, k));
            uint32_t right =
                bpe_intern_find(table, p + k, size - k, bpe_intern_hash(table, p + k, size - k));
            if (left < n && right < n) {
                s.n++;
                s.sum += cut_number(i, left, right);
            }
        }
    }
    return s;
}

TEST(cuts_are_all_there) {
    uint64_t seed = 2;
    for (uint32_t round = 0; round < 100; round++) {
        bpe_intern table;
        uint32_t letters = (uint32_t[]){1, 2, 3, 256}[round % 4];
        uint32_t longest = (uint32_t[]){3, 8, 17, 100}[round / 4 % 4];
        REQUIRE(random_table(&table, &seed, 1 + 40 * round, letters, longest));
        /* Strings behind the first n play no part. */
        size_t n = round % 2 ? table.n : table.n - table.n / 3;
        seen expected = plain_cuts(&table, n);
        seen found = {&table, 0, 0, 0};
        CHECK_EQ(bpe_cuts_find(&table, n, take, &found), BPE_OK);
        CHECK_EQ(found.n, expected.n);
        CHECK_EQ(found.sum, expected.sum);
        if (expected.n > 1) {
            found = (seen){&table, 0, 0, expected.n / 2};
            CHECK_EQ(bpe_cuts_find(&table, n, take, &found), BPE_ERR_LIMIT);
            CHECK_EQ(found.n, expected.n / 2);
        }
        bpe_intern_free(&table);
    }
}

TEST(no_strings_have_no_cuts) {
    bpe_intern table;
    seen found = {&table, 0, 0, 0};
    REQUIRE(bpe_intern_init(&table, 0));
    CHECK_EQ(bpe_cuts_find(&table, 0, take, &found), BPE_OK);
    CHECK_EQ(found.n, 0);
    bpe_intern_free(&table);
}

TEST(failing_allocations_are_reported) {
    uint64_t seed = 3;
    bpe_intern table;
    REQUIRE(random_table(&table, &seed, 300, 1, 300));
    seen expected = plain_cuts(&table, table.n);
    FOR_EACH_FAILING_ALLOCATION {
        seen found = {&table, 0, 0, 0};
        bpe_status status = bpe_cuts_find(&table, table.n, take, &found);
        CHECK(status == BPE_OK || status == BPE_ERR_NOMEM);
        if (status == BPE_OK)
            CHECK_EQ(found.n, expected.n);
    }
    bpe_intern_free(&table);
}

int main(void) {
    RUN(orders_are_ascending);
    RUN(cuts_are_all_there);
    RUN(no_strings_have_no_cuts);
    RUN(failing_allocations_are_reported);
    return harness_end();
}
