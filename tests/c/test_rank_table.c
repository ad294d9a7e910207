#include "rank_table.h"

#include "harness.h"
#include "random.h"

TEST(rank_table_against_a_dense_table) {
    enum { N = 60 };
    static uint32_t dense[N][N];
    memset(dense, 255, sizeof dense);
    uint64_t seed = 1;
    bpe_rank_table table = {0};
    REQUIRE(bpe_rank_table_init(&table, N, 6000, 0)); /* it grows, and buckets overflow */
    size_t n = 0;
    for (uint32_t step = 0; step < 6000; step++) {
        uint32_t a = random_below(&seed, N), b = random_below(&seed, N);
        CHECK(bpe_rank_table_add(&table, a, b, step));
        if (dense[a][b] == BPE_NO_RANK) {
            dense[a][b] = step; /* the first counts */
            n++;
        }
    }
    CHECK_EQ(table.n, n);
    CHECK((size_t)BPE_BUCKET_PAIRS << table.bits >= 2 * n);
    size_t n_full = 0;
    for (size_t i = BPE_BUCKET_PAIRS - 1; i < (size_t)BPE_BUCKET_PAIRS << table.bits;
         i += BPE_BUCKET_PAIRS)
        n_full += table.slots[i] != 0;
    CHECK(n_full > 0);
    for (uint32_t a = 0; a < N; a++) {
        for (uint32_t b = 0; b < N; b++)
            CHECK_EQ(bpe_rank_table_find(&table, a, b), dense[a][b]);
        CHECK_EQ(bpe_rank_table_find(&table, a, ((uint32_t)1 << table.id_bits) - 1), BPE_NO_RANK);
    }
    bpe_rank_table_free(&table);
}

TEST(the_largest_numbers_that_fit) {
    static const size_t limits[][2] = {
        {1, 1}, {100256, 100256}, {262143, 262144}, {2097151, 2097151}, {16777216, 16383}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        uint32_t id = (uint32_t)limits[i][0] - 1, rank = (uint32_t)limits[i][1] - 1;
        bpe_rank_table table = {0};
        CHECK(bpe_rank_table_fits(limits[i][0], limits[i][1]));
        REQUIRE(bpe_rank_table_init(&table, limits[i][0], limits[i][1], 1));
        CHECK_EQ(bpe_rank_table_find(&table, id, id), BPE_NO_RANK);
        CHECK_EQ(bpe_rank_table_find(&table, 0, 0), BPE_NO_RANK);
        CHECK(bpe_rank_table_add(&table, id, id, rank));
        CHECK_EQ(bpe_rank_table_find(&table, id, id), rank);
        if (id > 0) {
            CHECK(bpe_rank_table_add(&table, 0, 0, 0));
            CHECK_EQ(bpe_rank_table_find(&table, 0, 0), 0);
            CHECK_EQ(bpe_rank_table_find(&table, 0, id), BPE_NO_RANK);
            CHECK_EQ(bpe_rank_table_find(&table, id, 0), BPE_NO_RANK);
        }
        bpe_rank_table_free(&table);
    }
    CHECK(!bpe_rank_table_fits(2097152, 2097152));
    CHECK(!bpe_rank_table_fits(16777216, 16384));
}

TEST(failing_allocations_leave_a_table_usable) {
    FOR_EACH_FAILING_ALLOCATION {
        bpe_rank_table table = {0};
        bool started = bpe_rank_table_init(&table, 1000, 1000, 0);
        uint32_t n = 0;
        for (uint32_t i = 0; started && i < 100; i++)
            n += bpe_rank_table_add(&table, i, i, i);
        if (started) {
            CHECK_EQ(table.n, n);
            uint32_t found = 0;
            for (uint32_t i = 0; i < 100; i++)
                found += bpe_rank_table_find(&table, i, i) == i;
            CHECK_EQ(found, n);
        }
        bpe_rank_table_free(&table);
    }
}

int main(void) {
    RUN(rank_table_against_a_dense_table);
    RUN(the_largest_numbers_that_fit);
    RUN(failing_allocations_leave_a_table_usable);
    return harness_end();
}
