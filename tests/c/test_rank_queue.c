#include "rank_queue.h"

#include "harness.h"
#include "random.h"

enum { ENTRIES = 400 };

/* The queue must give what a search for the minimum gives, pushes and pops mixed as they come. */
TEST(random_use_against_a_plain_array) {
    uint64_t seed = 31;
    bpe_rank_queue q = {0};
    for (int round = 0; round < 2000; round++) {
        uint32_t n_ranks = 1 + random_below(&seed, round % 2 ? 5 : round % 4 ? 300 : 9000);
        uint64_t live[ENTRIES];
        size_t n_live = 0;
        REQUIRE(bpe_rank_queue_begin(&q, n_ranks, ENTRIES));
        uint32_t pushes = random_below(&seed, ENTRIES + 1);
        uint32_t pushed = 0;
        while (pushed < pushes || n_live > 0) {
            /* First mostly pushes, then a mixture, in which late ones come too. */
            bool push = pushed < pushes && random_below(&seed, 8) < (pushed < pushes / 2 ? 7 : 3);
            if (push) {
                uint32_t rank = random_below(&seed, n_ranks);
                uint32_t position = random_below(&seed, 100);
                bpe_rank_queue_push(&q, rank, position);
                live[n_live++] = (uint64_t)rank << 32 | position;
                pushed++;
            } else if (n_live > 0) {
                size_t best = 0;
                for (size_t i = 1; i < n_live; i++) {
                    if (live[i] < live[best])
                        best = i;
                }
                uint32_t rank, position, soon;
                REQUIRE(bpe_rank_queue_pop(&q, &rank, &position, &soon));
                CHECK_EQ((uint64_t)rank << 32 | position, live[best]);
                CHECK(soon < 100);
                live[best] = live[--n_live];
            }
        }
        uint32_t none;
        CHECK(!bpe_rank_queue_pop(&q, &none, &none, &none));
        for (size_t i = 0; i < q.n_ranks; i++)
            CHECK_EQ(q.heads[i], 0);
        for (size_t i = 0; i < (q.n_ranks + 63) / 64; i++)
            CHECK_EQ(q.filled[i], 0);
        for (size_t i = 0; i < (q.n_ranks + 4095) / 4096; i++)
            CHECK_EQ(q.words[i], 0);
    }
    bpe_rank_queue_free(&q);
}

TEST(failing_allocations) {
    FOR_EACH_FAILING_ALLOCATION {
        bpe_rank_queue q = {0};
        uint32_t rank = 9, position = 9, soon;
        if (bpe_rank_queue_begin(&q, 10, 5) && bpe_rank_queue_begin(&q, 1000, 500)) {
            bpe_rank_queue_push(&q, 999, 3);
            CHECK(bpe_rank_queue_pop(&q, &rank, &position, &soon));
            CHECK_EQ(rank, 999);
        }
        bpe_rank_queue_free(&q);
    }
}

int main(void) {
    RUN(random_use_against_a_plain_array);
    RUN(failing_allocations);
    return harness_end();
}
