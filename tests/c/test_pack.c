/* Counts as bytes and back: all lengths and numbers, every way to cut, everything damaged. */
#include "bpe.h"
#include "count.h"
#include "harness.h"
#include "random.h"

static bpe_counts *new_counts(void) {
    bpe_counts *counts = NULL;
    REQUIRE(bpe_counts_new(&counts) == BPE_OK);
    return counts;
}

static bpe_status put(bpe_counts *counts, const void *data, size_t n, uint64_t frequency,
                      uint64_t position) {
    size_t offsets[2] = {0, n};
    return bpe_counts_add_frequencies(counts, data, offsets, &frequency, 1, position, NULL);
}

/* All records of a table, written with so much room at a time (the longest one's if that is
 * less). */
static uint8_t *packed(const bpe_counts *counts, size_t room, size_t *n) {
    bpe_packer *packer = NULL;
    REQUIRE(bpe_packer_new(counts, &packer) == BPE_OK);
    size_t size = (size_t)bpe_packer_size(packer), used = 0, wrote;
    if (room < bpe_packer_longest(packer))
        room = (size_t)bpe_packer_longest(packer);
    uint8_t *out = malloc(size + room + 1);
    REQUIRE(out);
    while ((wrote = bpe_packer_next(packer, out + used, room)) > 0) {
        CHECK(wrote <= room);
        used += wrote;
    }
    CHECK_EQ(used, size);
    bpe_packer_free(packer);
    *n = size;
    return out;
}

/* Add records from memory that ends where they do, so that a sanitizer sees any reading beyond. */
static bpe_status unpack(bpe_counts *counts, const uint8_t *data, size_t n, uint64_t base,
                         uint64_t size, bpe_packed_place *place, size_t *consumed, bpe_error *err) {
    uint8_t *copy = malloc(n + (n == 0));
    REQUIRE(copy);
    memcpy(copy, data, n);
    bpe_status status = bpe_counts_add_packed(counts, copy, n, base, size, place, consumed, err);
    free(copy);
    return status;
}

static void check_same(const bpe_counts *a, const bpe_counts *b) {
    size_t n, m;
    uint8_t *one = packed(a, 1, &n), *other = packed(b, 1 << 20, &m);
    CHECK_MEM(one, n, other, m);
    CHECK_EQ(bpe_counts_total(a), bpe_counts_total(b));
    free(one);
    free(other);
}

TEST(the_bytes_are_those_that_the_header_promises) {
    bpe_counts *counts = new_counts();
    CHECK_EQ(put(counts, "ab", 2, 300, 5), BPE_OK);
    CHECK_EQ(put(counts, "c", 1, 1, 0), BPE_OK);
    CHECK_EQ(put(counts, "a", 1, UINT64_MAX - 301, 7 + 127), BPE_OK);
    static const uint8_t want[] = {
        1, 1,    0,    'c',                                                  /* at 0 */
        2, 0xAC, 2,    4,    'a',  'b',                                      /* at 5 */
        1, 0xD2, 0xFD, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 127, 'a' /* at 7 + 127 */
    };
    size_t n;
    uint8_t *got = packed(counts, 1, &n);
    CHECK_MEM(got, n, want, sizeof want);
    bpe_counts *back = new_counts();
    bpe_packed_place place = {0, 0};
    size_t consumed = 0;
    CHECK_EQ(unpack(back, got, n, 0, 135, &place, &consumed, NULL), BPE_OK);
    CHECK_EQ(consumed, n);
    CHECK_EQ(place.n, 3);
    CHECK_EQ(place.end, 135);
    check_same(counts, back);
    free(got);
    bpe_counts_free(counts);
    bpe_counts_free(back);
}

/* A table of random pretokens that lie in a text of *size bytes. */
static bpe_counts *random_counts(uint64_t *state, size_t n, uint64_t *size) {
    bpe_counts *counts = new_counts();
    uint8_t data[300];
    uint64_t position = 0;
    for (size_t i = 0; i < n; i++) {
        size_t length = random_below(state, 10) ? 1 + random_below(state, 20)
                                                : 1 + random_below(state, (uint32_t)sizeof data);
        for (size_t k = 0; k < length; k++)
            data[k] = (uint8_t)('a' + random_below(state, 3));
        position += random_below(state, 4) ? 0 : random_below(state, 1u << random_below(state, 25));
        CHECK_EQ(put(counts, data, length, 1 + random_below(state, 1u << random_below(state, 30)),
                     position),
                 BPE_OK);
        position += length;
    }
    *size = position;
    return counts;
}

TEST(any_table_comes_back_however_it_is_cut) {
    uint64_t state = 1;
    for (size_t round = 0; round < 60; round++) {
        uint64_t size;
        bpe_counts *counts = random_counts(&state, random_below(&state, 900), &size);
        size_t n, at = 0, known = 0;
        uint8_t *data = packed(counts, 1 + random_below(&state, 5000), &n);
        bpe_counts *back = new_counts();
        bpe_packed_place place = {0, 0};
        while (at < n) {
            size_t consumed;
            known += 1 + random_below(&state, 700);
            known = known < n ? known : n;
            REQUIRE(unpack(back, data + at, known - at, 0, size, &place, &consumed, NULL) ==
                    BPE_OK);
            at += consumed;
        }
        CHECK_EQ(place.n, bpe_counts_size(counts));
        check_same(counts, back);
        free(data);
        bpe_counts_free(counts);
        bpe_counts_free(back);
    }
}

TEST(parts_one_behind_the_other_are_the_whole) {
    uint64_t state = 2, sizes[3], base = 0;
    bpe_counts *whole = new_counts(), *sum = new_counts();
    for (int i = 0; i < 3; i++) {
        bpe_counts *part = random_counts(&state, 400, &sizes[i]);
        size_t n, m = bpe_counts_size(part), consumed;
        uint8_t *data = packed(part, 1000, &n);
        bpe_packed_place place = {0, 0};
        CHECK_EQ(unpack(sum, data, n, base, sizes[i], &place, &consumed, NULL), BPE_OK);
        /* The same from what the table exports. */
        uint8_t *bytes = malloc(bpe_counts_bytes(part) + 1);
        size_t *offsets = malloc((m + 1) * sizeof *offsets);
        uint64_t *frequencies = malloc(2 * (m + 1) * sizeof *frequencies);
        REQUIRE(bytes && offsets && frequencies);
        uint64_t *positions = frequencies + m + 1;
        CHECK_EQ(bpe_counts_export(part, bytes, offsets, frequencies, positions), BPE_OK);
        for (size_t k = 0; k < m; k++) {
            CHECK_EQ(put(whole, bytes + offsets[k], offsets[k + 1] - offsets[k], frequencies[k],
                         base + positions[k]),
                     BPE_OK);
        }
        base += sizes[i];
        free(bytes);
        free(offsets);
        free(frequencies);
        free(data);
        bpe_counts_free(part);
    }
    check_same(whole, sum);
    bpe_counts_free(whole);
    bpe_counts_free(sum);
}

static void check_refused(const char *why, const void *data, size_t n, uint64_t base, uint64_t size,
                          size_t pos) {
    bpe_counts *counts = new_counts();
    bpe_packed_place place = {0, 0};
    size_t consumed = 99;
    bpe_error err = {BPE_OK, 0};
    if (unpack(counts, data, n, base, size, &place, &consumed, &err) != BPE_ERR_ARG)
        harness_fail(__FILE__, __LINE__, "%s is not refused", why);
    CHECK_EQ(err.code, BPE_ERR_ARG);
    CHECK_EQ(err.pos, pos);
    CHECK_EQ(consumed, 99);
    CHECK_EQ(place.n + place.end, 0);
    bpe_counts_free(counts);
}

TEST(damaged_records_are_refused) {
    check_refused("a length of 0", "\0\1\0", 3, 0, 9, 0);
    check_refused("a frequency of 0", "\1\0\0x", 4, 0, 9, 0);
    check_refused("a text that ends before", "\2\1\0xx", 5, 0, 1, 0);
    check_refused("the second one behind the text", "\1\1\0x\1\1\1y", 8, 0, 2, 4);
    check_refused("a place behind the text", "\1\1\12x", 4, 0, 10, 0);
    check_refused("a longer varint than needed", "\1\x81\0\0x", 5, 0, 9, 0);
    check_refused("more than 64 bits", "\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\2\0x", 13, 0, 9, 0);
    check_refused("11 bytes", "\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\0x", 14, 0, 9, 0);
    check_refused("positions beyond 64 bits", "\1\1\0x", 4, UINT64_MAX - 8, 9, 0);
    check_refused("a place so far that it wraps", "\1\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1x", 13,
                  0, 9, 0);
    check_refused("a length that wraps", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1\1", 12, 0,
                  UINT64_MAX, 0);
}

TEST(what_is_not_there_yet_is_left) {
    bpe_counts *counts = new_counts();
    bpe_packed_place place = {0, 0};
    static const uint8_t data[] = {1, 1, 0, 'x', 3, 0x85, 1, 0, 'a', 'b', 'c'};
    for (size_t n = 4; n < sizeof data; n++) {
        size_t consumed;
        bpe_packed_place now = {0, 0};
        CHECK_EQ(unpack(counts, data, n, 0, 9, &now, &consumed, NULL), BPE_OK);
        CHECK_EQ(consumed, 4);
        CHECK_EQ(now.n, 1);
    }
    CHECK_EQ(bpe_counts_size(counts), 1);
    size_t consumed;
    CHECK_EQ(unpack(counts, data, 0, 0, 9, &place, &consumed, NULL), BPE_OK);
    CHECK_EQ(consumed, 0);
    bpe_counts_free(counts);
}

TEST(limits_hold) {
    bpe_counts *counts = new_counts();
    size_t consumed;
    bpe_packed_place place = {0, 0};
    bpe_error err;
    static const uint8_t two[] = {1, 1, 0, 'x', 1, 1, 0, 'y'};
    bpe_counts_limit(counts, 1);
    CHECK_EQ(unpack(counts, two, sizeof two, 0, 9, &place, &consumed, &err), BPE_ERR_CAPACITY);
    CHECK_EQ(place.n, 0);
    bpe_counts_limit(counts, 9);
    CHECK_EQ(put(counts, "z", 1, UINT64_MAX - 2, 0), BPE_OK);
    CHECK_EQ(unpack(counts, two, sizeof two, 0, 9, &place, &consumed, &err), BPE_ERR_LIMIT);
    bpe_counts_free(counts);
}

TEST(positions_that_are_no_bytes_are_refused) {
    bpe_counts *counts = new_counts();
    bpe_packer *packer = NULL;
    CHECK_EQ(put(counts, "abc", 3, 1, 0), BPE_OK);
    CHECK_EQ(put(counts, "d", 1, 1, 2), BPE_OK);
    CHECK_EQ(bpe_packer_new(counts, &packer), BPE_ERR_ARG);
    CHECK(packer == NULL);
    bpe_counts_free(counts);
    counts = new_counts();
    CHECK_EQ(put(counts, "ab", 2, 1, UINT64_MAX - 1), BPE_OK);
    CHECK_EQ(bpe_packer_new(counts, &packer), BPE_ERR_ARG);
    bpe_counts_free(counts);
}

TEST(failing_allocations) {
    uint64_t state = 3, size;
    bpe_counts *counts = random_counts(&state, 2000, &size);
    size_t n, consumed;
    uint8_t *data = packed(counts, 1000, &n);
    FOR_EACH_FAILING_ALLOCATION {
        bpe_packer *packer = NULL;
        bpe_status status = bpe_packer_new(counts, &packer);
        if (status != BPE_OK) {
            CHECK_EQ(status, BPE_ERR_NOMEM);
            CHECK(packer == NULL);
        }
        bpe_packer_free(packer);
    }
    FOR_EACH_FAILING_ALLOCATION {
        bpe_counts *back = NULL;
        bpe_packed_place place = {0, 0};
        if (bpe_counts_new(&back) != BPE_OK)
            continue;
        bpe_status status = bpe_counts_add_packed(back, data, n, 0, size, &place, &consumed, NULL);
        if (status != BPE_OK) {
            CHECK_EQ(status, BPE_ERR_NOMEM);
            CHECK_EQ(place.n, 0);
        }
        bpe_counts_free(back);
    }
    free(data);
    bpe_counts_free(counts);
}

int main(void) {
    RUN(the_bytes_are_those_that_the_header_promises);
    RUN(any_table_comes_back_however_it_is_cut);
    RUN(parts_one_behind_the_other_are_the_whole);
    RUN(damaged_records_are_refused);
    RUN(what_is_not_there_yet_is_left);
    RUN(limits_hold);
    RUN(positions_that_are_no_bytes_are_refused);
    RUN(failing_allocations);
    bpe_packer_free(NULL);
    return harness_end();
}
