#include "cache.h"

#include "harness.h"
#include "memory.h"
#include "random.h"

static bpe_cache_key key_of(const uint8_t *p, size_t n) {
    return n > BPE_CACHE_KEY_BYTES ? bpe_cache_long_key(p, n) : bpe_cache_key_of(p, n, p + n);
}

/* The ids of p[0, n) in the cache, copied; SIZE_MAX when it is not there. */
static size_t look_up(const bpe_cache *cache, const uint8_t *p, size_t n, uint32_t *ids) {
    bpe_cache_key key = key_of(p, n);
    const bpe_cache_entry *e = bpe_cache_find(bpe_cache_bucket(cache, bpe_cache_hash(&key)), &key);
    if (!e)
        return SIZE_MAX;
    size_t n_ids = bpe_cache_count(e);
    if (n_ids == BPE_CACHE_STORED) {
        const uint32_t *stored = bpe_cache_stored(cache, e, p, n, &n_ids);
        if (!stored)
            return SIZE_MAX;
        memcpy(ids, stored, n_ids * sizeof *ids);
        return n_ids;
    }
    memcpy(ids, e->ids, n_ids * sizeof *ids);
    if (n_ids > 0)
        ids[0] &= BPE_CACHE_ID_MASK;
    return n_ids;
}

static void put(bpe_cache *cache, const uint8_t *p, size_t n, const uint32_t *ids, size_t n_ids) {
    bpe_cache_key key = key_of(p, n);
    bpe_cache_put_any(cache, bpe_cache_bucket(cache, bpe_cache_hash(&key)), &key, p, n, ids, n_ids);
}

/* Whatever is evicted and overwritten: what comes back is what was put, or nothing. */
TEST(answers_are_those_that_were_given) {
    enum { N = 3000 };
    static uint8_t texts[N][BPE_CACHE_BYTES];
    static uint32_t ids[N][BPE_CACHE_BYTES];
    static size_t n[N], n_ids[N];
    uint64_t seed = 41;
    for (size_t n_store = 0; n_store <= 1024; n_store += 256) {
        if (n_store == 768)
            continue;
        bpe_cache cache = {0};
        REQUIRE(bpe_cache_init(&cache, 8, n_store));
        size_t found_long = 0, found_short = 0, lost = 0;
        for (uint32_t i = 0; i < N; i++) {
            n[i] = 4 + random_below(&seed, BPE_CACHE_BYTES - 3);
            memset(texts[i], 0, n[i]);
            texts[i][0] = (uint8_t)i; /* what comes last is none of these: texts differ */
            texts[i][1] = (uint8_t)(i >> 8);
            texts[i][n[i] - 1] ^= (uint8_t)random_next(&seed);
            n_ids[i] = random_below(&seed, (uint32_t)n[i] + 1);
            for (size_t k = 0; k < n_ids[i]; k++)
                ids[i][k] = random_below(&seed, BPE_CACHE_ID_MASK + 1);
            put(&cache, texts[i], n[i], ids[i], n_ids[i]);
            for (uint32_t back = 0; back <= i && back < 40; back++) {
                uint32_t j = i - back;
                uint32_t got[BPE_CACHE_BYTES];
                size_t n_got = look_up(&cache, texts[j], n[j], got);
                if (n_got == SIZE_MAX) {
                    lost++;
                    continue;
                }
                CHECK_MEM(got, 4 * n_got, ids[j], 4 * n_ids[j]);
                found_long += n[j] > BPE_CACHE_KEY_BYTES;
                found_short += n[j] <= BPE_CACHE_KEY_BYTES;
                CHECK(back > 0 || n_store == 0 || n_got == n_ids[j]);
            }
        }
        CHECK(lost > 0);
        CHECK(found_short > 1000);
        CHECK(n_store == 0 ? found_long == 0 : found_long > 1000);
        bpe_cache_free(&cache);
    }
}

TEST(equal_hashes_of_unequal_pretokens) {
    bpe_cache cache = {0};
    REQUIRE(bpe_cache_init(&cache, 4, 256));
    uint8_t a[20] = "aaaaaaaaaaaaaaaaaaa", b[20] = "bbbbbbbbbbbbbbbbbbb";
    const uint32_t ids[] = {1, 2};
    bpe_cache_key key = key_of(a, 20);
    bpe_cache_entry *bucket = bpe_cache_bucket(&cache, bpe_cache_hash(&key));
    bpe_cache_put_any(&cache, bucket, &key, a, 20, ids, 2);
    const bpe_cache_entry *e = bpe_cache_find(bucket, &key);
    REQUIRE(e != NULL);
    size_t n = 0;
    CHECK(bpe_cache_stored(&cache, e, a, 20, &n) != NULL);
    CHECK_EQ(n, 2);
    CHECK(bpe_cache_stored(&cache, e, b, 20, &n) == NULL);
    bpe_cache_free(&cache);
}

TEST(the_entry_used_last_stays) {
    bpe_cache cache = {0};
    REQUIRE(bpe_cache_init(&cache, 4, 0));
    bpe_cache_entry *bucket = cache.entries;
    bpe_cache_key keys[3];
    uint32_t ids[4] = {5, 6, 7, 8};
    for (uint32_t i = 0; i < 3; i++) {
        uint8_t byte = (uint8_t)i;
        keys[i] = key_of(&byte, 1);
    }
    bpe_cache_put(bucket, &keys[0], ids, 4);
    bpe_cache_put(bucket, &keys[1], ids, 1);
    bpe_cache_put(bucket, &keys[1], ids, 2); /* again: no second entry */
    CHECK(bpe_cache_find(bucket, &keys[0]) != NULL);
    bpe_cache_put(bucket, &keys[2], ids, 3);
    CHECK(bpe_cache_find(bucket, &keys[1]) == NULL);
    const bpe_cache_entry *e = bpe_cache_find(bucket, &keys[0]);
    REQUIRE(e != NULL);
    CHECK_EQ(bpe_cache_count(e), 4);
    bpe_cache_free(&cache);
}

TEST(keys_differ) {
    /* Zeros at the end and lengths must show in the key, and no key is that of a free entry. */
    uint8_t zeros[BPE_CACHE_BYTES] = {0};
    for (size_t n = 1; n <= BPE_CACHE_BYTES; n++) {
        bpe_cache_key key = key_of(zeros, n);
        CHECK(key.high != 0 || key.low != 0);
        CHECK_EQ(bpe_cache_key_is_long(&key), n > BPE_CACHE_KEY_BYTES);
        for (size_t k = 1; k < n; k++) {
            bpe_cache_key other = key_of(zeros, k);
            CHECK(other.high != key.high || other.low != key.low);
        }
        for (size_t k = 0; k < n; k++) { /* every byte counts */
            uint8_t text[BPE_CACHE_BYTES] = {0};
            text[k] = 1;
            bpe_cache_key other = key_of(text, n);
            CHECK(other.high != key.high || other.low != key.low);
        }
    }
}

TEST(keys_are_the_same_at_the_end_of_memory) {
    /* A pretoken's key must not depend on whether 16 bytes could be read at once. */
    for (size_t n = 1; n <= BPE_CACHE_KEY_BYTES; n++) {
        uint8_t *exact = bpe_mem_array(n, 1);
        uint8_t roomy[40];
        memset(roomy, 0xEE, sizeof roomy);
        REQUIRE(exact != NULL);
        for (size_t i = 0; i < n; i++)
            exact[i] = roomy[i] = (uint8_t)(i + 1);
        bpe_cache_key a = bpe_cache_key_of(exact, n, exact + n);
        bpe_cache_key b = bpe_cache_key_of(roomy, n, roomy + sizeof roomy);
        CHECK(a.low == b.low && a.high == b.high);
        bpe_mem_free(exact);
    }
}

int main(void) {
    RUN(answers_are_those_that_were_given);
    RUN(equal_hashes_of_unequal_pretokens);
    RUN(the_entry_used_last_stays);
    RUN(keys_differ);
    RUN(keys_are_the_same_at_the_end_of_memory);
    return harness_end();
}
