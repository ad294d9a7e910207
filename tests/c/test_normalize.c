#include "normalize.h"

#include "charsmap.h"
#include "harness.h"
#include "random.h"
#include "utf8.h"

enum { TEXT = 80, OUT = 3 * 3 * TEXT + 16 };

static void start_text(bpe_text *text) { *text = (bpe_text){0}; }

/* Everything in one go, or in portions of `want` bytes. */
static bpe_status normalize(const bpe_normalizer *norm, const uint8_t *data, size_t n, bool compact,
                            bool with_offsets, size_t want, bpe_text *text) {
    bpe_normalize_cursor c;
    bpe_status status = bpe_normalize_begin(&c, norm, data, n, NULL, compact, with_offsets, text);
    while (status == BPE_OK && !c.done)
        status = bpe_normalize_more(&c, want);
    return status;
}

static bpe_normalizer make(uint32_t flags, const uint8_t *map, size_t size) {
    bpe_normalizer norm = {0};
    bpe_normalizer_spec spec = {flags, map, size};
    REQUIRE(bpe_normalizer_init(&norm, &spec) == BPE_OK);
    return norm;
}

static void check(uint32_t flags, bool mapped, const char *data, const char *want) {
    uint8_t blob[CHARSMAP_SIZE];
    charsmap_make(blob);
    bpe_normalizer norm = make(flags, blob, mapped ? sizeof blob : 0);
    bpe_text text;
    start_text(&text);
    CHECK_EQ(normalize(&norm, (const uint8_t *)data, strlen(data), true, false, SIZE_MAX, &text),
             BPE_OK);
    CHECK_MEM(text.bytes, text.n, want, strlen(want));
    bpe_text_free(&text);
    bpe_normalizer_free(&norm);
}

TEST(white_space_rules) {
    uint32_t mark = BPE_NORMALIZE_MARK;
    uint32_t after = mark | BPE_NORMALIZE_MARK_AFTER;
    uint32_t squeeze = BPE_NORMALIZE_SQUEEZE;
    uint32_t escape = BPE_NORMALIZE_ESCAPE;
    check(escape, false, "a  b ", "a  b ");
    check(escape | mark, false, "a b", " a b");
    check(escape | after, false, "a b", "a b ");
    check(escape | mark, false, "", "");
    check(escape | mark | squeeze, false, "  a   b  ", " a b");
    check(escape | after | squeeze, false, "  a   b  ", "a b ");
    check(escape | mark | squeeze, false, "   ", "");
    check(escape, false,
          "a\xE2\x96\x81"
          "b",
          "a b");                                          /* a typed mark */
    check(escape | squeeze, false, "a\xE2\x96\x81 ", "a"); /* trimmed at the end ... */
    check(escape | squeeze, false,
          "\xE2\x96\x81"
          "a",
          " a"); /* ... and not at the start */
    check(0, false, "a\xE2\x96\x81 ", "a\xE2\x96\x81 ");
    check(escape, false,
          "\xFF"
          "a\xE2\x96",
          "\xEF\xBF\xBD"
          "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(rules_of_the_map) {
    uint32_t escape = BPE_NORMALIZE_ESCAPE;
    check(escape, true, "xAy", "xaay");
    check(escape, true, "xABy", "xy");
    check(escape, true, "xA", "xaa");
    check(escape, true,
          "\xC3\xA9"
          "\tz",
          "e  z");
    check(escape | BPE_NORMALIZE_SQUEEZE, true,
          "\t\xC3\xA9"
          "\tz\t",
          "e z");
    check(escape, true, "\xC3\xAA\xC3", "\xC3\xAA\xEF\xBF\xBD");
    check(escape, true, "A\xC3\xA9", "aae ");
}

/* A random text of what matters to normalisation. */
static size_t random_text(uint64_t *seed, uint8_t *data) {
    static const char *parts[] = {
        " ",    "  ",           "a",    "A",        "AB",           "\t",  "\xC3\xA9", "\xC3\xAA",
        "\xC3", "\xE2\x96\x81", "\xFF", "bcdefghi", "\xE4\xB8\xAD", "\xA9"};
    size_t n = 0;
    size_t wanted = random_below(seed, 20);
    for (size_t i = 0; i < wanted; i++) {
        const char *part = parts[random_below(seed, sizeof parts / sizeof *parts)];
        if (n + strlen(part) > TEXT)
            break;
        memcpy(data + n, part, strlen(part));
        n += strlen(part);
    }
    return n;
}

TEST(portions_make_the_same_text) {
    uint8_t blob[CHARSMAP_SIZE];
    charsmap_make(blob);
    uint64_t seed = 11;
    for (int round = 0; round < 20000; round++) {
        bool mapped = random_below(&seed, 2);
        bpe_normalizer norm = make(random_below(&seed, 16), blob, mapped ? sizeof blob : 0);
        uint8_t data[TEXT];
        size_t n = random_text(&seed, data);
        bool compact = random_below(&seed, 2);
        bpe_text whole;
        bpe_text parts;
        start_text(&whole);
        start_text(&parts);
        CHECK_EQ(normalize(&norm, data, n, compact, false, SIZE_MAX, &whole), BPE_OK);
        CHECK_EQ(normalize(&norm, data, n, compact, true, 1 + random_below(&seed, 9), &parts),
                 BPE_OK);
        CHECK_MEM(parts.bytes, parts.n, whole.bytes, whole.n);
        CHECK(bpe_is_utf8(whole.bytes, whole.n));
        for (size_t i = 0; parts.n > 0 && i <= parts.n; i++) {
            CHECK(parts.offsets[i] <= n);
            CHECK(i == 0 || parts.offsets[i] >= parts.offsets[i - 1]);
        }
        bpe_text_free(&whole);
        bpe_text_free(&parts);
        bpe_normalizer_free(&norm);
    }
}

/* The compact form is the full one with a space for every mark. */
TEST(compact_text_stands_for_the_full_one) {
    uint8_t blob[CHARSMAP_SIZE];
    charsmap_make(blob);
    uint64_t seed = 12;
    for (int round = 0; round < 5000; round++) {
        bpe_normalizer norm =
            make(random_below(&seed, 8) | BPE_NORMALIZE_ESCAPE, blob, sizeof blob);
        uint8_t data[TEXT];
        size_t n = random_text(&seed, data);
        bpe_text full;
        bpe_text compact;
        start_text(&full);
        start_text(&compact);
        CHECK_EQ(normalize(&norm, data, n, false, false, SIZE_MAX, &full), BPE_OK);
        CHECK_EQ(normalize(&norm, data, n, true, false, SIZE_MAX, &compact), BPE_OK);
        uint8_t shortened[OUT];
        size_t used = 0;
        for (const uint8_t *p = full.bytes, *end = p + full.n; p < end;) {
            bool mark = bpe_is_mark(p, end);
            CHECK(*p != ' ');
            shortened[used++] = mark ? ' ' : *p;
            p += mark ? 3 : 1;
        }
        CHECK_MEM(compact.bytes, compact.n, shortened, used);
        bpe_text_free(&full);
        bpe_text_free(&compact);
        bpe_normalizer_free(&norm);
    }
}

/* A damaged map is refused, or every walk stays inside it: the sanitizer sees to that. */
TEST(damaged_maps_are_refused_or_safe) {
    uint8_t good[CHARSMAP_SIZE];
    charsmap_make(good);
    uint64_t seed = 13;
    int refused = 0;
    int used = 0;
    for (int round = 0; round < 20000; round++) {
        uint8_t *blob = malloc(CHARSMAP_SIZE);
        REQUIRE(blob);
        memcpy(blob, good, CHARSMAP_SIZE);
        size_t size = CHARSMAP_SIZE;
        for (uint32_t k = random_below(&seed, 2) ? 3 : random_below(&seed, 4); k < 4; k++) {
            size_t at = random_below(&seed, 2) ? random_below(&seed, CHARSMAP_SIZE)
                                               : 4 + 4 * (256 + random_below(&seed, 300));
            blob[at] = (uint8_t)(random_below(&seed, 2) ? random_next(&seed)
                                                        : blob[at] ^ 1u << random_below(&seed, 8));
        }
        if (random_below(&seed, 10) == 0)
            size = random_below(&seed, CHARSMAP_SIZE);
        bpe_charsmap map;
        bpe_status status = bpe_charsmap_init(&map, blob, size);
        free(blob);
        if (status == BPE_OK) {
            used += size != 0;
            bpe_charsmap_is_utf8(&map);
            for (uint32_t i = 0; size != 0 && i < 300; i++) {
                uint8_t text[6];
                for (size_t k = 0; k < sizeof text; k++) {
                    static const uint8_t bytes[] = {'A', 'B', '\t', 0xC3, 0xA9, 0, 255};
                    text[k] = i < 256 && k == 0 ? (uint8_t)i : bytes[random_below(&seed, 7)];
                }
                const uint8_t *to;
                size_t n;
                bpe_charsmap_longest(&map, text, text + sizeof text, &to, &n);
            }
        } else {
            CHECK_EQ(status, BPE_ERR_MODEL);
            refused++;
        }
        bpe_charsmap_free(&map);
    }
    CHECK(refused > 1000);
    CHECK(used > 300);
}

TEST(failing_allocations) {
    uint8_t blob[CHARSMAP_SIZE];
    charsmap_make(blob);
    uint8_t data[200];
    memset(data, 'A', sizeof data);
    FOR_EACH_FAILING_ALLOCATION {
        bpe_normalizer norm = {0};
        bpe_normalizer_spec spec = {15, blob, sizeof blob};
        bpe_status status = bpe_normalizer_init(&norm, &spec);
        bpe_text text;
        start_text(&text);
        if (status == BPE_OK)
            status = normalize(&norm, data, sizeof data, false, true, 10, &text);
        CHECK(status == BPE_OK || status == BPE_ERR_NOMEM);
        bpe_text_free(&text);
        bpe_normalizer_free(&norm);
    }
}

int main(void) {
    RUN(white_space_rules);
    RUN(rules_of_the_map);
    RUN(portions_make_the_same_text);
    RUN(compact_text_stands_for_the_full_one);
    RUN(damaged_maps_are_refused_or_safe);
    RUN(failing_allocations);
    return harness_end();
}
