#include "utf8.h"

#include "harness.h"

static size_t put(uint32_t cp, uint8_t *out) {
    if (cp < 0x80) {
        out[0] = (uint8_t)cp;
        return 1;
    }
    size_t n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; cp >>= 6)
        out[i] = (uint8_t)(0x80 | (cp & 0x3F));
    out[0] = (uint8_t)((n == 2 ? 0xC0u : n == 3 ? 0xE0u : 0xF0u) | cp);
    return n;
}

TEST(every_codepoint_and_each_of_its_beginnings) {
    uint8_t s[4];
    for (uint32_t cp = 0; cp < 0x110000; cp++) {
        size_t n = put(cp, s);
        uint32_t got;
        bool surrogate = cp >= 0xD800 && cp <= 0xDFFF;
        size_t used = bpe_utf8_decode(s, s + n, &got);
        if (used != (surrogate ? 1 : n) || got != (surrogate ? 0xFFFD : cp)) {
            CHECK_EQ(cp, 0xFFFFFFFF);
        }
        for (size_t cut = 1; cut < n; cut++) {
            used = bpe_utf8_decode(s, s + cut, &got);
            if (used != 1 || got != 0xFFFD)
                CHECK_EQ(cp, 0xFFFFFFFF);
        }
    }
}

TEST(malformed_bytes_are_one_replacement_character_each) {
    static const char *const bad[] = {
        "\x80",
        "\xBF",
        "\xC0\x80",
        "\xC1\xBF",
        "\xE0\x80\x80",
        "\xE0\x9F\xBF",
        "\xED\xA0\x80",
        "\xED\xBF\xBF",
        "\xF0\x80\x80\x80",
        "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80",
        "\xF8\x88\x80\x80",
        "\xFE",
        "\xFF",
        "\xE2\x28\xA1",
        "\xE2\x82\x28",
        "\xF0\x9F\x98\x28",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const uint8_t *s = (const uint8_t *)bad[i];
        uint32_t got;
        CHECK_EQ(bpe_utf8_decode(s, s + strlen(bad[i]), &got), 1);
        CHECK_EQ(got, 0xFFFD);
    }
}

TEST(open_tail_is_what_more_bytes_could_complete) {
    const uint8_t *s = (const uint8_t *)"a\xE2\x82\xAC";
    CHECK_EQ(bpe_utf8_open_tail(s, 0), 0);
    CHECK_EQ(bpe_utf8_open_tail(s, 1), 0);
    CHECK_EQ(bpe_utf8_open_tail(s, 2), 1);
    CHECK_EQ(bpe_utf8_open_tail(s, 3), 2);
    CHECK_EQ(bpe_utf8_open_tail(s, 4), 0);
    const uint8_t *four = (const uint8_t *)"\xF0\x9F\x98\x80\x80";
    CHECK_EQ(bpe_utf8_open_tail(four, 3), 3);
    CHECK_EQ(bpe_utf8_open_tail(four, 4), 0);
    CHECK_EQ(bpe_utf8_open_tail(four, 5), 0);
    const uint8_t *stray = (const uint8_t *)"\x80\x80\x80\x80";
    CHECK_EQ(bpe_utf8_open_tail(stray, 4), 0);
}

int main(void) {
    RUN(every_codepoint_and_each_of_its_beginnings);
    RUN(malformed_bytes_are_one_replacement_character_each);
    RUN(open_tail_is_what_more_bytes_could_complete);
    return harness_end();
}
