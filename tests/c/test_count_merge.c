/* Merging tables of counts: in one part and in many, tables that grow, edges, limits, failures. */
#include <time.h>

#include "bpe.h"
#include "count.h"
#include "harness.h"
#include "memory.h"
#include "random.h"

static bpe_counts *new_counts(void) {
    bpe_counts *counts = NULL;
    REQUIRE(bpe_counts_new(&counts) == BPE_OK);
    return counts;
}

static bpe_counts *new_beside(const bpe_counts *other) {
    bpe_counts *counts = NULL;
    REQUIRE(bpe_counts_new_beside(other, &counts) == BPE_OK);
    return counts;
}

/* Add a pretoken that is made of a number; one in three is long. */
static bpe_status add(bpe_counts *counts, uint32_t number, uint64_t frequency, uint64_t position) {
    char text[40];
    int length = snprintf(text, sizeof text, number % 3 ? "%" PRIu32 : "%020" PRIu32, number);
    size_t at[2] = {0, (size_t)length};
    return bpe_counts_add_frequencies(counts, (const uint8_t *)text, at, &frequency, 1, position,
                                      NULL);
}

/* Merge in parts, in an order of their own. */
static bpe_status merge(bpe_counts *counts, const bpe_counts *other, size_t n_parts,
                        uint64_t *seed) {
    bpe_merging *merging = NULL;
    bpe_status status = bpe_merging_new(counts, other, n_parts, &merging);
    if (status != BPE_OK) {
        CHECK(merging == NULL);
        return status;
    }
    size_t first = random_below(seed, (uint32_t)n_parts);
    for (size_t i = 0; i < n_parts && status == BPE_OK; i++) {
        CHECK_EQ(bpe_merging_end(merging), BPE_ERR_ARG); /* not all are done */
        status = bpe_merging_part(merging, (first + i) % n_parts);
    }
    if (status == BPE_OK) {
        status = bpe_merging_end(merging);
        CHECK_EQ(bpe_merging_end(merging), BPE_ERR_ARG);
    }
    bpe_merging_free(merging);
    return status;
}

/* Every entry can be found where a search for it leads, and the sums are right. */
static void check_sound(const bpe_counts *counts) {
    size_t n = 0, n_bytes = 0, mask = ((size_t)1 << counts->bits) - 1;
    uint64_t total = 0;
    CHECK(4 * counts->n <= (size_t)3 << counts->bits);
    for (size_t i = 0; i <= mask; i++) {
        const bpe_count_entry *entry = &counts->slots[i];
        if (entry->count == 0)
            continue;
        size_t length, k = bpe_count_key_home(&entry->key, counts->seed, counts->bits);
        const uint8_t *p = bpe_count_bytes(counts, entry, &length);
        while (counts->slots[k].count != 0 &&
               !bpe_count_is(counts, &counts->slots[k], &entry->key, p, length)) {
            k = (k + 1) & mask;
        }
        CHECK_EQ(k, i);
        n++;
        n_bytes += length;
        total += entry->count;
    }
    CHECK_EQ(n, bpe_counts_size(counts));
    CHECK_EQ(n_bytes, bpe_counts_bytes(counts));
    CHECK_EQ(total, bpe_counts_total(counts));
}

static void check_equal(const bpe_counts *got, const bpe_counts *want) {
    check_sound(got);
    REQUIRE(got->n == want->n);
    CHECK_EQ(got->total, want->total);
    const bpe_count_entry **a = bpe_counts_ordered(got), **b = bpe_counts_ordered(want);
    REQUIRE(a && b);
    for (size_t i = 0; i < want->n; i++) {
        size_t n, m;
        const uint8_t *p = bpe_count_bytes(got, a[i], &n), *q = bpe_count_bytes(want, b[i], &m);
        CHECK_MEM(p, n, q, m);
        CHECK_EQ(a[i]->count, b[i]->count);
        CHECK_EQ(a[i]->first, b[i]->first);
    }
    bpe_mem_free((void *)a);
    bpe_mem_free((void *)b);
}

TEST(any_parts_merge_to_what_one_pass_gives) {
    /* Of random entries, long and short, some in both tables, so that the one merged into has room
     * for all, or for what is new, or has to grow; more parts than a table has room for, too. */
    uint64_t seed = 1;
    static const size_t n_parts[] = {1, 2, 3, 4, 8, 16, 100};
    for (int round = 0; round < 400; round++) {
        bpe_counts *one = new_counts(), *first = new_counts(), *second = new_beside(first);
        uint32_t range = 1 + random_below(&seed, 6000), n = random_below(&seed, 5000);
        uint32_t in_second = random_below(&seed, 5);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t number = random_below(&seed, range);
            uint64_t frequency = 1 + random_below(&seed, 5);
            bpe_counts *half = random_below(&seed, 4) < in_second ? second : first;
            CHECK_EQ(add(half, number, frequency, i), BPE_OK);
            CHECK_EQ(add(one, number, frequency, i), BPE_OK);
        }
        CHECK_EQ(merge(first, second, n_parts[round % 7], &seed), BPE_OK);
        check_equal(first, one);
        bpe_counts_free(one);
        bpe_counts_free(first);
        bpe_counts_free(second);
    }
}

TEST(tables_merge_one_after_another) {
    uint64_t seed = 2;
    bpe_counts *one = new_counts(), *all = new_counts();
    for (uint32_t table = 0; table < 12; table++) {
        bpe_counts *next = new_beside(all);
        uint32_t n = random_below(&seed, 3000);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t number = random_below(&seed, 20000);
            CHECK_EQ(add(next, number, 1, 3000 * table + i), BPE_OK);
            CHECK_EQ(add(one, number, 1, 3000 * table + i), BPE_OK);
        }
        CHECK_EQ(merge(all, next, 4, &seed), BPE_OK);
        bpe_counts_free(next);
    }
    check_equal(all, one);
    bpe_counts_free(one);
    bpe_counts_free(all);
}

TEST(an_estimate_may_be_wrong) {
    /* What is in the first slots, from which is estimated, is in both tables, and all the rest is
     * not: so the table is too small for it, its stretches fill up, and much is put off. */
    uint64_t seed = 3;
    bpe_counts *first = new_counts(), *second = new_beside(first), *one = new_counts();
    enum { N = 12000 };
    for (uint32_t number = 0; second->n < N; number++) {
        CHECK_EQ(add(second, number, 1, number), BPE_OK);
        CHECK_EQ(add(one, number, 1, number), BPE_OK);
    }
    REQUIRE(second->bits == 14);
    for (size_t i = 0; i < 6000; i++) {
        const bpe_count_entry *entry = &second->slots[i];
        if (entry->count != 0)
            CHECK_EQ(add(first, (uint32_t)entry->first, 1, entry->first), BPE_OK);
        if (entry->count != 0)
            CHECK_EQ(add(one, (uint32_t)entry->first, 1, entry->first), BPE_OK);
    }
    for (uint32_t number = N; first->n < 11500; number++) {
        CHECK_EQ(add(first, number, 1, number), BPE_OK);
        CHECK_EQ(add(one, number, 1, number), BPE_OK);
    }
    REQUIRE(first->bits == 14 && one->n > 16384);
    CHECK_EQ(merge(first, second, 8, &seed), BPE_OK);
    CHECK_EQ(first->bits, 15);
    check_equal(first, one);
    bpe_counts_free(one);
    bpe_counts_free(first);
    bpe_counts_free(second);
}

/* How many of the first table's entries are there, with at least their counts. */
static size_t count_kept(const bpe_counts *counts, const bpe_counts *first) {
    size_t n_kept = 0, mask = ((size_t)1 << counts->bits) - 1;
    for (size_t i = 0; i < (size_t)1 << first->bits; i++) {
        const bpe_count_entry *entry = &first->slots[i];
        if (entry->count == 0)
            continue;
        size_t length, k = bpe_count_key_home(&entry->key, counts->seed, counts->bits);
        const uint8_t *p = bpe_count_bytes(first, entry, &length);
        for (size_t n = 0; n <= mask && counts->slots[k].count != 0; n++, k = (k + 1) & mask) {
            if (bpe_count_is(counts, &counts->slots[k], &entry->key, p, length)) {
                n_kept += counts->slots[k].count >= entry->count;
                break;
            }
        }
    }
    return n_kept;
}

TEST(memory_that_runs_out_in_the_end_loses_nothing) {
    /* The table is to grow, but by far too little, as its estimate is wrong: it fills up to the
     * last slot, and some of its own entries, too, are put off. Then it cannot grow. */
    enum { N = 24000, N_PARTS = 64 };
    bpe_counts *first = new_counts(), *second = new_beside(first), *empty = new_beside(first);
    for (uint32_t number = 0; second->n < N; number++)
        REQUIRE(add(second, number, 1, number) == BPE_OK);
    for (size_t i = 0; i < 5000; i++) {
        const bpe_count_entry *entry = &second->slots[i];
        if (entry->count != 0)
            REQUIRE(add(first, (uint32_t)entry->first, 1, entry->first) == BPE_OK);
    }
    for (uint32_t number = N; first->n < 6100; number++)
        REQUIRE(add(first, number, 1, number) == BPE_OK);
    REQUIRE(second->bits == 15 && first->bits == 13);
    for (int up_to_end = 0; up_to_end < 2; up_to_end++) {
        bpe_counts *counts = new_beside(first);
        bpe_merging *merging = NULL;
        REQUIRE(bpe_counts_merge(counts, first) == BPE_OK && counts->bits == 13);
        REQUIRE(bpe_merging_new(counts, second, N_PARTS, &merging) == BPE_OK);
        for (size_t i = 0; i < N_PARTS; i++)
            REQUIRE(bpe_merging_part(merging, i) == BPE_OK);
        bpe_test_fail_after = 0;
        if (up_to_end)
            CHECK_EQ(bpe_merging_end(merging), BPE_ERR_NOMEM);
        bpe_merging_free(merging);
        bpe_test_fail_after = -1;
        check_sound(counts);
        check_equal(counts, first);
        /* Where it was to stay in its slots there is none left, and still all goes on. */
        bpe_counts *full = new_beside(first);
        REQUIRE(bpe_counts_reserve(full, 9000) && full->bits == 14);
        REQUIRE(bpe_counts_merge(full, first) == BPE_OK && full->bits == 14);
        REQUIRE(bpe_merging_new(full, second, N_PARTS, &merging) == BPE_OK);
        for (size_t i = 0; i < N_PARTS; i++)
            REQUIRE(bpe_merging_part(merging, i) == BPE_OK);
        bpe_test_fail_after = 0;
        if (up_to_end)
            CHECK_EQ(bpe_merging_end(merging), BPE_ERR_NOMEM);
        bpe_merging_free(merging);
        CHECK_EQ(bpe_counts_merge(full, empty), BPE_ERR_NOMEM);
        bpe_test_fail_after = -1;
        CHECK_EQ(count_kept(full, first), first->n);
        CHECK_EQ(bpe_counts_merge(full, empty), BPE_OK);
        CHECK_EQ(count_kept(full, first), first->n);
        check_sound(full);
        bpe_counts_free(full);
        bpe_counts_free(counts);
    }
    bpe_counts_free(empty);
    bpe_counts_free(first);
    bpe_counts_free(second);
}

TEST(what_cannot_be_merged_is_refused) {
    bpe_counts *counts = new_counts(), *other = new_beside(counts), *stranger = new_counts();
    bpe_merging *merging = NULL;
    stranger->seed = counts->seed + 1;
    CHECK_EQ(add(counts, 1, UINT64_MAX - 10, 0), BPE_OK);
    CHECK_EQ(add(other, 2, 11, 1), BPE_OK);
    CHECK_EQ(bpe_counts_merge(counts, other), BPE_ERR_LIMIT);
    CHECK_EQ(bpe_counts_merge(counts, stranger), BPE_ERR_ARG);
    CHECK_EQ(bpe_counts_merge(counts, counts), BPE_ERR_ARG);
    CHECK_EQ(bpe_merging_new(other, counts, 0, &merging), BPE_ERR_ARG);
    CHECK(merging == NULL);
    CHECK_EQ(bpe_counts_size(counts), 1);
    bpe_counts_free(stranger);
    bpe_counts_free(other);

    /* One too many is found in the end. */
    other = new_beside(counts);
    CHECK_EQ(add(other, 3, 10, 1), BPE_OK);
    for (size_t most = 1; most < 3; most++) {
        bpe_counts *copy = new_beside(counts);
        CHECK_EQ(bpe_counts_merge(copy, counts), BPE_OK);
        bpe_counts_limit(copy, most);
        CHECK_EQ(bpe_counts_merge(copy, other), most < 2 ? BPE_ERR_CAPACITY : BPE_OK);
        CHECK_EQ(bpe_counts_total(copy), UINT64_MAX);
        check_sound(copy);
        bpe_counts_free(copy);
    }
    CHECK_EQ(bpe_merging_new(counts, other, 3, &merging), BPE_OK);
    CHECK_EQ(bpe_merging_part(merging, 3), BPE_ERR_ARG);
    bpe_merging_free(merging);
    bpe_counts_free(other);
    bpe_counts_free(counts);
}

TEST(a_merging_may_be_given_up) {
    /* After any number of its parts, where the table grows and where it does not. */
    for (uint32_t n = 100; n <= 1200; n += 1100) {
        for (size_t done = 0; done < 8; done++) {
            bpe_counts *counts = new_counts(), *other = new_beside(counts);
            for (uint32_t i = 0; i < n; i++) {
                CHECK_EQ(add(counts, i, 1, i), BPE_OK);
                CHECK_EQ(add(other, i + n / 2, 1, i + n / 2), BPE_OK);
            }
            bpe_merging *merging = NULL;
            REQUIRE(bpe_merging_new(counts, other, 8, &merging) == BPE_OK);
            for (size_t i = 0; i < done; i++)
                CHECK_EQ(bpe_merging_part(merging, i), BPE_OK);
            bpe_merging_free(merging);
            check_sound(counts);
            CHECK(counts->n >= n && counts->n <= n + n / 2);
            bpe_counts_free(other);
            bpe_counts_free(counts);
        }
    }
}

TEST(merging_large_tables_takes_linear_time) {
    /* Entries come out of a table in the order of their hashes. Put into a smaller table in that
     * order, they would take quadratic time, hundreds of times what filling the table took. Both
     * are tried again while merging seems slow: other programs can only make it seem slower. */
    enum { N = 200000, TRIES = 10 };
    clock_t filling = 0, merging = 0;
    for (int attempt = 0; attempt < TRIES && (attempt == 0 || merging > 10 * filling); attempt++) {
        bpe_counts *counts = new_counts(), *copy = new_beside(counts);
        clock_t start = clock();
        for (uint32_t i = 0; i < N; i++) {
            uint64_t frequency = 1;
            size_t at[2] = {0, sizeof i};
            REQUIRE(bpe_counts_add_frequencies(counts, (const uint8_t *)&i, at, &frequency, 1, i,
                                               NULL) == BPE_OK);
        }
        clock_t filled = clock();
        CHECK_EQ(bpe_counts_merge(copy, counts), BPE_OK);
        CHECK_EQ(bpe_counts_size(copy), N);
        clock_t merged = clock();
        if (attempt == 0 || filled - start < filling)
            filling = filled - start;
        if (attempt == 0 || merged - filled < merging)
            merging = merged - filled;
        bpe_counts_free(copy);
        bpe_counts_free(counts);
    }
    CHECK(merging <= 10 * filling);
}

TEST(failing_allocations) {
    /* The table grows, or not; long pretokens are in it, or not. */
    for (int kind = 0; kind < 4; kind++) {
        uint32_t n = kind & 1 ? 400 : 300, step = kind & 2 ? 3 : 1;
        FOR_EACH_FAILING_ALLOCATION {
            bpe_counts *counts = NULL, *other = NULL;
            bpe_status status = bpe_counts_new(&counts);
            if (status == BPE_OK)
                status = bpe_counts_new_beside(counts, &other);
            for (uint32_t i = 0; i < n && status == BPE_OK; i++) {
                status = add(counts, step * i + 1, 1, i);
                if (status == BPE_OK)
                    status = add(other, step * (i + n - 10) + 1, 1, i + n - 10);
            }
            if (status == BPE_OK) {
                uint64_t seed = 1;
                status = merge(counts, other, 16, &seed);
                check_sound(counts);
                if (status == BPE_OK)
                    CHECK_EQ(bpe_counts_size(counts), 2 * n - 10);
            }
            CHECK(status == BPE_OK || status == BPE_ERR_NOMEM);
            bpe_counts_free(other);
            bpe_counts_free(counts);
        }
    }
}

int main(void) {
    RUN(any_parts_merge_to_what_one_pass_gives);
    RUN(tables_merge_one_after_another);
    RUN(an_estimate_may_be_wrong);
    RUN(memory_that_runs_out_in_the_end_loses_nothing);
    RUN(what_cannot_be_merged_is_refused);
    RUN(a_merging_may_be_given_up);
    RUN(merging_large_tables_takes_linear_time);
    RUN(failing_allocations);
    bpe_merging_free(NULL);
    return harness_end();
}
