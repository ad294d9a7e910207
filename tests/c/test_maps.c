#include "maps.h"

#include "harness.h"
#include "random.h"

TEST(pair_map_against_a_dense_table) {
    enum { N = 40 };
    static uint32_t dense[N][N];
    memset(dense, 0, sizeof dense);
    uint64_t seed = 1;
    bpe_pair_map map;
    REQUIRE(bpe_pair_map_init(&map, 0));
    size_t n = 0;
    for (int step = 0; step < 3000; step++) {
        uint32_t a = random_below(&seed, N), b = random_below(&seed, N);
        bool is_new;
        bpe_pair_entry *e = bpe_pair_map_add(&map, bpe_pair_key(a, b), &is_new);
        REQUIRE(e != NULL);
        CHECK_EQ(is_new, dense[a][b] == 0);
        CHECK_EQ(e->a, dense[a][b]);
        n += is_new;
        dense[a][b] = e->a = (uint32_t)step + 1;
    }
    CHECK_EQ(map.n, n);
    CHECK((size_t)1 << map.bits >= 2 * n);
    for (uint32_t a = 0; a < N; a++) {
        for (uint32_t b = 0; b < N; b++) {
            bpe_pair_entry *e = bpe_pair_map_find(&map, bpe_pair_key(a, b));
            CHECK_EQ(e ? e->a : 0, dense[a][b]);
        }
    }
    bpe_pair_map_free(&map);
}

static size_t number_string(uint8_t *out, uint32_t i) {
    /* Strings of many lengths, NULs included, none equal to another. */
    size_t n = 4 + i % 23;
    memset(out, 0, n);
    memcpy(out + n - 4, &i, 4);
    return n;
}

TEST(intern_numbers_strings_in_order) {
    bpe_intern table;
    uint8_t s[32];
    REQUIRE(bpe_intern_init(&table, 0));
    CHECK_EQ(bpe_intern_add(&table, s, 0, bpe_intern_hash(&table, s, 0)),
             0); /* the empty string is one */
    for (uint32_t i = 1; i < 5000; i++) {
        size_t n = number_string(s, i);
        uint64_t hash = bpe_intern_hash(&table, s, n);
        CHECK_EQ(bpe_intern_find(&table, s, n, hash), BPE_NO_ID);
        CHECK_EQ(bpe_intern_add(&table, s, n, hash), i);
        CHECK_EQ(bpe_intern_add(&table, s, n, hash), i);
    }
    CHECK_EQ(table.n, 5000);
    for (uint32_t i = 1; i < 5000; i++) {
        size_t n = number_string(s, i), stored;
        const uint8_t *bytes = bpe_intern_bytes(&table, i, &stored);
        CHECK_MEM(bytes, stored, s, n);
        CHECK_EQ(bpe_intern_find(&table, s, n, bpe_intern_hash(&table, s, n)), i);
    }
    bpe_intern_free(&table);
}

TEST(intern_never_finds_what_was_appended) {
    bpe_intern table;
    const uint8_t *s = (const uint8_t *)"token";
    REQUIRE(bpe_intern_init(&table, 4));
    CHECK_EQ(bpe_intern_append(&table, s, 5), 0);
    CHECK_EQ(bpe_intern_find(&table, s, 5, bpe_intern_hash(&table, s, 5)), BPE_NO_ID);
    CHECK_EQ(bpe_intern_add(&table, s, 5, bpe_intern_hash(&table, s, 5)), 1);
    CHECK_EQ(bpe_intern_find(&table, s, 5, bpe_intern_hash(&table, s, 5)), 1);
    bpe_intern_free(&table);
}

TEST(failing_allocations_leave_maps_usable) {
    FOR_EACH_FAILING_ALLOCATION {
        bpe_pair_map map = {0};
        bpe_intern table = {0};
        bool started = bpe_pair_map_init(&map, 0) && bpe_intern_init(&table, 0);
        uint32_t pairs = 0, strings = 0;
        uint8_t s[32];
        for (uint32_t i = 0; started && i < 40; i++) {
            bool is_new;
            if (bpe_pair_map_add(&map, i, &is_new))
                pairs++;
            size_t n = number_string(s, i);
            if (bpe_intern_add(&table, s, n, bpe_intern_hash(&table, s, n)) != BPE_NO_ID)
                strings++;
        }
        if (started) {
            CHECK_EQ(map.n, pairs);
            CHECK_EQ(table.n, strings);
            uint32_t found = 0;
            for (uint32_t i = 0; i < 40; i++)
                found += bpe_pair_map_find(&map, i) != NULL;
            CHECK_EQ(found, pairs);
        }
        bpe_pair_map_free(&map);
        bpe_intern_free(&table);
    }
}

/* Keys that all collide under one seed, as somebody might compute them who has read this code, must
 * spread under a table's own. */
TEST(keys_chosen_to_collide_do_not) {
    enum { N = 2000, TOP = 11 };
    static uint32_t homes[1 << 12];
    bpe_pair_map map;
    bpe_intern table;
    REQUIRE(bpe_pair_map_init(&map, N) && bpe_intern_init(&table, N));
    uint64_t chosen = 0;
    for (uint64_t key = 0; chosen < N; key++) {
        bool is_new;
        if (bpe_pair_slot(key, 0, TOP) != 0)
            continue;
        REQUIRE(bpe_pair_map_add(&map, key, &is_new) != NULL);
        chosen++;
        homes[bpe_pair_slot(key, map.seed, 12)]++;
    }
    uint32_t most = 0;
    for (size_t i = 0; i < 1 << 12; i++)
        most = homes[i] > most ? homes[i] : most;
    CHECK(most < 20);

    memset(homes, 0, sizeof homes);
    chosen = 0;
    for (uint32_t i = 0; chosen < N; i++) {
        uint8_t s[4];
        memcpy(s, &i, 4);
        if (bpe_hash_bytes(s, 4, 0) >> (64 - TOP) != 0)
            continue;
        uint64_t hash = bpe_intern_hash(&table, s, 4);
        CHECK_EQ(bpe_intern_add(&table, s, 4, hash), chosen);
        chosen++;
        homes[hash >> (64 - 12)]++;
    }
    most = 0;
    for (size_t i = 0; i < 1 << 12; i++)
        most = homes[i] > most ? homes[i] : most;
    CHECK(most < 20);
    bpe_pair_map_free(&map);
    bpe_intern_free(&table);
}

int main(void) {
    RUN(pair_map_against_a_dense_table);
    RUN(intern_numbers_strings_in_order);
    RUN(intern_never_finds_what_was_appended);
    RUN(keys_chosen_to_collide_do_not);
    RUN(failing_allocations_leave_maps_usable);
    return harness_end();
}
