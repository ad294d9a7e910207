#include "json_lines.h"

#include "harness.h"

/* The texts of some lines, each between bars; "?" and the place of the first bad line. */
static const char *read_lines(const char *data, const char *key) {
    static char shown[4096];
    static uint8_t texts[4096];
    size_t n = strlen(data), offsets[64], n_texts = 99;
    bpe_error err = {0, 0};
    /* Just as much room as is asked for, so that sanitizers see what goes beyond. */
    uint8_t *copy = malloc(n ? n : 1), *exact = malloc(n ? n : 1);
    REQUIRE(copy != NULL && exact != NULL && n < sizeof texts);
    memcpy(copy, data, n);
    bpe_status status = bpe_json_lines(copy, n, (const uint8_t *)key, strlen(key), exact, n,
                                       offsets, 63, &n_texts, &err);
    char *to = shown;
    if (status == BPE_OK) {
        memcpy(texts, exact, offsets[n_texts]);
        *to++ = '|';
        for (size_t i = 0; i < n_texts; i++) {
            size_t size = offsets[i + 1] - offsets[i];
            memcpy(to, texts + offsets[i], size);
            to += size;
            *to++ = '|';
        }
        *to = 0;
    } else {
        CHECK_EQ(status, BPE_ERR_JSON);
        CHECK_EQ(err.code, BPE_ERR_JSON);
        CHECK_EQ(n_texts, 99);
        snprintf(shown, sizeof shown, "?%zu", err.pos);
    }
    free(copy);
    free(exact);
    return shown;
}

#define CHECK_LINES(data, want)                                                                    \
    do {                                                                                           \
        const char *got_ = read_lines((data), "text");                                             \
        CHECK_MEM(got_, strlen(got_), (want), strlen(want));                                       \
    } while (0)

TEST(texts_are_found_wherever_they_stand) {
    CHECK_LINES("", "|");
    CHECK_LINES("{\"text\":\"\"}", "||");
    CHECK_LINES("{\"text\":\"a\"}\n{\"text\":\"longer than eight bytes\"}\n",
                "|a|longer than eight bytes|");
    CHECK_LINES(
        " \t\r\n\n{ \"x\" : [1, {\"text\": \"no\"}] ,\t\"text\" : \"yes\" , \"z\":{} }\r\n ",
        "|yes|");
    CHECK_LINES("{\"text\":\"first\",\"text\":\"second\"}", "|second|");
    CHECK_LINES("{\"text\":\"first\",\"text\":\"2\",\"texts\":\"a long string\"}", "|2|");
    CHECK_LINES("{\"text\":[1,\"text\"],\"text\":\"x\",\"text\":null,\"text\":\"y\"}", "|y|");
    CHECK_LINES("{\"te\\u0078t\":\"x\"}", "|x|");
}

TEST(escapes_mean_what_they_mean) {
    CHECK_LINES("{\"text\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "|\"\\/\b\f\n\r\t|");
    CHECK_LINES("{\"text\":\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"}",
                "|A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80|");
    /* Half a pair, two halves in the wrong order, a half and a whole one. */
    CHECK_LINES("{\"text\":\"\\ud83dx\\ude00\\ud83d\\ud83d\\ude00\"}",
                "|\xEF\xBF\xBDx\xEF\xBF\xBD\xEF\xBF\xBD\xF0\x9F\x98\x80|");
    CHECK_LINES("{\"text\":\"\\ud83d\\n\"}", "|\xEF\xBF\xBD\n|");
}

TEST(other_values_are_read_strictly) {
    CHECK_LINES("{\"a\":-0.5e+10,\"b\":true,\"c\":false,\"d\":null,\"text\":\"x\"}", "|x|");
    CHECK_LINES("{\"a\":[NaN,Infinity,-Infinity,0,-0,10E-2],\"text\":\"x\"}", "|x|");
    static const char *const bad[] = {
        "01",        "1.",       ".5",         "-",   "+1",      "1e",          "tru",
        "nul",       "[1,]",     "[,1]",       "[1",  "{\"a\"",  "{\"a\":",     "{,}",
        "{a:1}",     "[1 2]",    "{\"a\":1,}", "]",   "\"\\x\"", "\"\\u12g4\"", "\"\\ud83d\\u12\"",
        "\"\t\"",    "\"\x80\"", "\"\xC3\"",   "'a'", "",        "{\"a\" 1}",   "[1}",
        "{\"a\":1]", "\"\\",     "\"a"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[64];
        snprintf(line, sizeof line, "{\"text\":\"x\",\"a\":%s}", bad[i]);
        CHECK_LINES(line, "?0");
        snprintf(line, sizeof line, "{\"text\":\"x\"}\n{\"a\":%s,\"text\":\"x\"}", bad[i]);
        CHECK_LINES(line, "?13");
        snprintf(line, sizeof line, "{\"text\":%s}", bad[i]);
        CHECK_LINES(line, "?0");
    }
}

TEST(lines_that_are_no_objects_with_a_text) {
    static const char *const bad[] = {"{}",
                                      "[]",
                                      "\"text\"",
                                      "1",
                                      "{\"text\":1}",
                                      "{\"text\":null}",
                                      "{\"Text\":\"x\"}",
                                      "{\"text\":\"x\"",
                                      "{\"text\":\"x\"}}",
                                      "{\"text\":\"x\"},",
                                      "{\"text\":\"x\"\n}",
                                      "{\"text\":\"x\",\"text\":1}",
                                      "{\"text\":nul,\"text\":\"x\"}",
                                      "{\"text\":1 \"text\":\"x\"}",
                                      "{\"text\"",
                                      "{\"",
                                      "{"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_LINES(bad[i], "?0");
}

TEST(nesting_has_a_limit) {
    for (size_t depth = 4096; depth <= 4097; depth++) {
        size_t n = 2 * depth + 32, n_texts, offsets[2];
        char *line = malloc(n), *texts = malloc(n);
        REQUIRE(line != NULL && texts != NULL);
        char *p = line + snprintf(line, n, "{\"a\":");
        memset(p, '[', depth);
        memset(p + depth, ']', depth);
        snprintf(p + 2 * depth, n - 6 - 2 * depth, ",\"text\":\"x\"}");
        CHECK_EQ(bpe_json_lines((uint8_t *)line, strlen(line), (const uint8_t *)"text", 4,
                                (uint8_t *)texts, n, offsets, 1, &n_texts, NULL),
                 depth == 4096 ? BPE_OK : BPE_ERR_JSON);
        free(line);
        free(texts);
    }
}

TEST(room_is_checked) {
    const uint8_t *data = (const uint8_t *)"{\"text\":\"a\"}\n{\"text\":\"b\"}";
    uint8_t texts[25];
    size_t offsets[3], n_texts = 7, n = strlen((const char *)data);
    const uint8_t *key = (const uint8_t *)"text";
    CHECK_EQ(bpe_json_lines(data, n, key, 4, texts, n - 1, offsets, 2, &n_texts, NULL),
             BPE_ERR_CAPACITY);
    CHECK_EQ(bpe_json_lines(data, n, key, 4, texts, n, offsets, 1, &n_texts, NULL),
             BPE_ERR_CAPACITY);
    CHECK_EQ(n_texts, 7);
    CHECK_EQ(bpe_json_lines(data, n, key, 4, texts, n, offsets, 2, &n_texts, NULL), BPE_OK);
    CHECK_EQ(n_texts, 2);
}

int main(void) {
    RUN(texts_are_found_wherever_they_stand);
    RUN(escapes_mean_what_they_mean);
    RUN(other_values_are_read_strictly);
    RUN(lines_that_are_no_objects_with_a_text);
    RUN(nesting_has_a_limit);
    RUN(room_is_checked);
    return harness_end();
}
