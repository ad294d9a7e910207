#include "match.h"

#include "harness.h"
#include "random.h"

enum { FEW = 12, MAX_STRINGS = 400, MAX_LENGTH = 6, TEXT = 200 };

typedef struct set {
    uint8_t data[MAX_STRINGS * MAX_LENGTH];
    uint32_t lengths[MAX_STRINGS];
    uint32_t ids[MAX_STRINGS];
    size_t n;
} set;

static set random_set(uint64_t *seed, uint32_t most, uint32_t letters, uint32_t longest) {
    set s = {.n = 1 + random_below(seed, most)};
    size_t used = 0;
    for (size_t i = 0; i < s.n; i++) {
        s.lengths[i] = 1 + random_below(seed, longest);
        s.ids[i] = (uint32_t)i + 100;
        for (uint32_t k = 0; k < s.lengths[i]; k++) {
            s.data[used++] = (uint8_t)('a' + random_below(seed, letters));
        }
    }
    return s;
}

/* The string to take at the start of p[0, n): the longest, and the first of equal ones; SIZE_MAX
 * for none. */
static size_t longest_here(const set *s, const uint8_t *p, size_t n) {
    size_t best = SIZE_MAX;
    const uint8_t *string = s->data;
    for (size_t i = 0; i < s->n; string += s->lengths[i], i++) {
        if (s->lengths[i] > n || memcmp(string, p, s->lengths[i]) != 0)
            continue;
        if (best == SIZE_MAX || s->lengths[i] > s->lengths[best])
            best = i;
    }
    return best;
}

static void check_random_set(uint64_t *seed, uint32_t most, uint32_t letters, uint32_t longest) {
    set s = random_set(seed, most, letters, longest);
    uint8_t text[TEXT];
    size_t n = random_below(seed, random_below(seed, 2) ? 20 : TEXT + 1);
    uint32_t distance = random_below(seed, 2) ? 1 : 30; /* of what strings are made of */
    for (size_t i = 0; i < n; i++) {
        bool filler = random_below(seed, distance) > 0;
        text[i] = filler ? '~' : (uint8_t)('a' + random_below(seed, letters));
    }
    bpe_match *match;
    REQUIRE(bpe_match_new(s.data, s.lengths, s.ids, s.n, &match, NULL) == BPE_OK);
    size_t starts[TEXT], ends[TEXT], found;
    uint32_t ids[TEXT];
    CHECK_EQ(bpe_match_find(match, text, n, starts, ends, ids, TEXT, &found), BPE_OK);
    size_t k = 0;
    for (size_t p = 0; p < n;) {
        size_t i = longest_here(&s, text + p, n - p);
        if (i == SIZE_MAX) {
            p++;
            continue;
        }
        REQUIRE(k < found);
        CHECK_EQ(starts[k], p);
        CHECK_EQ(ends[k], p + s.lengths[i]);
        CHECK_EQ(ids[k], s.ids[i]);
        p += s.lengths[i];
        k++;
    }
    CHECK_EQ(found, k);
    bpe_match_free(match);
}

TEST(random_sets_against_trying_every_string_everywhere) {
    uint64_t seed = 7;
    for (int round = 0; round < 3000; round++)
        check_random_set(&seed, FEW, 1 + random_below(&seed, 3), MAX_LENGTH);
}

TEST(nodes_with_many_children) {
    uint64_t seed = 8;
    for (int round = 0; round < 300; round++) {
        uint32_t longest = 1 + random_below(&seed, 2);
        check_random_set(&seed, MAX_STRINGS, 9 + random_below(&seed, 248), longest);
    }
}

TEST(empty_strings_are_refused_by_index) {
    uint32_t lengths[] = {1, 0, 1}, ids[] = {0, 1, 2};
    bpe_match *match = NULL;
    bpe_error err = {0};
    CHECK_EQ(bpe_match_new((const uint8_t *)"ab", lengths, ids, 3, &match, &err), BPE_ERR_ARG);
    CHECK_EQ(err.pos, 1);
    CHECK(match == NULL);
}

TEST(no_strings_match_nothing) {
    bpe_match *match;
    REQUIRE(bpe_match_new(NULL, NULL, NULL, 0, &match, NULL) == BPE_OK);
    size_t start, end, found = 9;
    uint32_t id;
    CHECK_EQ(bpe_match_find(match, (const uint8_t *)"abc", 3, &start, &end, &id, 1, &found),
             BPE_OK);
    CHECK_EQ(found, 0);
    bpe_match_free(match);
}

TEST(failing_allocations) {
    const uint8_t *data = (const uint8_t *)"abcabcdbcd";
    uint32_t lengths[] = {3, 4, 3}, ids[] = {0, 1, 2};
    FOR_EACH_FAILING_ALLOCATION {
        bpe_match *match = NULL;
        bpe_status status = bpe_match_new(data, lengths, ids, 3, &match, NULL);
        if (status == BPE_OK) {
            size_t starts[8], ends[8], found;
            uint32_t got[8];
            status =
                bpe_match_find(match, (const uint8_t *)"xabcdx", 6, starts, ends, got, 8, &found);
            if (status == BPE_OK)
                CHECK_EQ(got[0], 1);
        }
        if (status != BPE_OK)
            CHECK_EQ(status, BPE_ERR_NOMEM);
        bpe_match_free(match);
    }
}

int main(void) {
    RUN(random_sets_against_trying_every_string_everywhere);
    RUN(nodes_with_many_children);
    RUN(empty_strings_are_refused_by_index);
    RUN(no_strings_match_nothing);
    RUN(failing_allocations);
    return harness_end();
}
