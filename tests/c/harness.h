/* The harness of the C tests: checks, a run loop, and a count of live allocations.
 *
 * A test file is a program of its own:
 *
 *     TEST(maps_grow) {
 *         CHECK_EQ(bpe_map_count(m), 3);
 *         CHECK_MEM(got, got_size, "abc", 3);
 *     }
 *
 *     int main(void) {
 *         RUN(maps_grow);
 *         return harness_end();
 *     }
 *
 * A test that main() does not run is an unused static function, which the compiler reports. A
 * failing check prints its place and its values, and the program goes on: one run shows all
 * failures. REQUIRE stops the program where going on would only crash.
 *
 * After every test no allocation made through csrc/memory.h may be left alive, so a leak is
 * reported with the name of the test that made it.
 *
 * FOR_EACH_FAILING_ALLOCATION runs its block with the 1st, 2nd, 3rd ... allocation failing until
 * the block gets through without reaching the one that would fail:
 *
 *     FOR_EACH_FAILING_ALLOCATION {
 *         status = bpe_thing_new(&thing);
 *         if (status == BPE_OK)
 *             bpe_thing_free(thing);
 *         else
 *             CHECK_EQ(status, BPE_ERR_NOMEM);
 *     }
 *
 * Every turn must free what it allocated; leave the block early with `continue`, never with
 * `break`.
 */
#ifndef BPE_TEST_HARNESS_H
#define BPE_TEST_HARNESS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static int harness_tests;
static int harness_failed_tests;
static int harness_failures; /* in the test that runs now */

#define TEST(name) static void test_##name(void)

#define RUN(name) harness_run(#name, test_##name)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            harness_fail(__FILE__, __LINE__, "%s", #condition);                                    \
    } while (0)

/* Integers of any type up to 64 bits; negative ones are shown as such. */
#define CHECK_EQ(got, want)                                                                        \
    do {                                                                                           \
        intmax_t got_ = (intmax_t)(got), want_ = (intmax_t)(want);                                 \
        if (got_ != want_)                                                                         \
            harness_fail(__FILE__, __LINE__, "%s is %" PRIdMAX ", not %" PRIdMAX, #got, got_,      \
                         want_);                                                                   \
    } while (0)

/* Two stretches of memory, with their sizes in bytes. */
#define CHECK_MEM(got, got_size, want, want_size)                                                  \
    harness_check_mem(__FILE__, __LINE__, #got, (got), (got_size), (want), (want_size))

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            harness_fail(__FILE__, __LINE__, "%s (required)", #condition);                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void harness_fail(const char *file, int line, const char *format, ...);

#include <stdarg.h>

static void harness_fail(const char *file, int line, const char *format, ...) {
    va_list args;
    harness_failures++;
    if (harness_failures > 20)
        return; /* a check in a loop: the first ones tell all there is to tell */
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

static inline void harness_check_mem(const char *file, int line, const char *what, const void *got,
                                     size_t got_size, const void *want, size_t want_size) {
    const uint8_t *a = got, *b = want;
    size_t i = 0, n = got_size < want_size ? got_size : want_size;
    while (i < n && a[i] == b[i])
        i++;
    if (i < n)
        harness_fail(file, line, "%s: byte %zu is 0x%02x, not 0x%02x", what, i, a[i], b[i]);
    else if (got_size != want_size)
        harness_fail(file, line, "%s: %zu bytes, not %zu", what, got_size, want_size);
}

#ifdef BPE_TEST_ALLOC

/* Arm the next failure; false when the last turn no longer reached the one that was armed. */
static inline bool harness_next_failure(long *n, long live) {
    long left = bpe_test_fail_after;
    bpe_test_fail_after = -1;
    if (*n > 0)
        CHECK_EQ(bpe_test_live_allocations, live);
    if (*n > 0 && left > 0)
        return false;
    bpe_test_fail_after = (*n)++;
    return true;
}

#define FOR_EACH_FAILING_ALLOCATION                                                                \
    for (long nth_ = 0, live_ = bpe_test_live_allocations; harness_next_failure(&nth_, live_);)

#endif

/* How many rounds of random cases to do instead of `all`: PYBPE_TEST_PART=10 asks for a tenth,
 * where the machine is slow, as an emulated one is. */
static inline uint32_t harness_rounds(uint32_t all) {
    const char *asked = getenv("PYBPE_TEST_PART");
    uint32_t part = asked ? (uint32_t)strtoul(asked, NULL, 10) : 1;
    return part > 1 ? (all + part - 1) / part : all;
}

static inline void harness_run(const char *name, void (*test)(void)) {
    harness_failures = 0;
    test();
#ifdef BPE_TEST_ALLOC
    bpe_test_fail_after = -1;
    CHECK_EQ(bpe_test_live_allocations, 0);
    bpe_test_live_allocations = 0; /* the next test answers for itself only */
#endif
    harness_tests++;
    if (harness_failures) {
        harness_failed_tests++;
        fprintf(stderr, "FAILED %s\n", name);
    }
}

/* Print the result and return main's exit status. */
static inline int harness_end(void) {
    printf("%d passed, %d failed\n", harness_tests - harness_failed_tests, harness_failed_tests);
    return harness_failed_tests != 0;
}

#endif
