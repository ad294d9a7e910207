/* Lines to words: every step of it on lines made for the purpose. */
#include "bpe.h"
#include "harness.h"
#include "random.h"

enum { PLAIN = BPE_NORMALIZE_ESCAPE, SQUEEZE = BPE_NORMALIZE_ESCAPE | BPE_NORMALIZE_SQUEEZE };

static bpe_sentences_spec make_spec(uint32_t flags, uint32_t how) {
    return (bpe_sentences_spec){.normalizer = {flags, NULL, 0}, .words = how, .longest = 1000};
}

/* What words a table holds, as text: word*count|word*count|... in the order of their bytes. */
static const char *shown(const bpe_counts *counts) {
    static char out[4096];
    uint8_t data[2048];
    size_t offsets[65];
    uint64_t frequencies[64], positions[64];
    size_t n = bpe_counts_size(counts), used = 0;
    bool done[64] = {false};
    REQUIRE(n <= 64 && bpe_counts_bytes(counts) <= sizeof data);
    REQUIRE(bpe_counts_export(counts, data, offsets, frequencies, positions) == BPE_OK);
    for (size_t k = 0; k < n; k++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++) {
            if (done[i])
                continue;
            size_t length = offsets[i + 1] - offsets[i];
            size_t other = best < n ? offsets[best + 1] - offsets[best] : 0;
            int order = best == n ? -1
                                  : memcmp(data + offsets[i], data + offsets[best],
                                           length < other ? length : other);
            if (order < 0 || (order == 0 && length < other))
                best = i;
        }
        done[best] = true;
        int length = (int)(offsets[best + 1] - offsets[best]);
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%.*s*%d", k ? "|" : "", length,
                                 (const char *)data + offsets[best], (int)frequencies[best]);
    }
    out[used] = '\0';
    return out;
}

static bpe_sentences_report last;

/* The words of some lines. */
static const char *words_of(const bpe_sentences_spec *spec, const char *text) {
    bpe_sentences *s;
    bpe_counts *counts;
    size_t consumed;
    REQUIRE(bpe_sentences_new(spec, &s) == BPE_OK && bpe_counts_new(&counts) == BPE_OK);
    REQUIRE(bpe_sentences_add_lines(s, counts, (const uint8_t *)text, strlen(text), 0, &consumed) ==
            BPE_OK);
    CHECK_EQ(consumed, strlen(text));
    const char *out = shown(counts);
    bpe_sentences_get_report(s, &last);
    bpe_sentences_free(s);
    bpe_counts_free(counts);
    return out;
}

#define CHECK_WORDS(spec, text, want)                                                              \
    do {                                                                                           \
        const char *got_ = words_of((spec), (text));                                               \
        CHECK_MEM(got_, strlen(got_), (want), strlen(want));                                       \
    } while (0)

TEST(words) {
    bpe_sentences_spec spec = make_spec(PLAIN, BPE_WORDS_BEFORE);
    CHECK_WORDS(&spec, "ab  c\n d ", " *2| c*1| d*1|ab*1");
    spec.words |= BPE_WORDS_RUNS;
    CHECK_WORDS(&spec, "ab  c\n d ", " *1|  c*1| d*1|ab*1");
    spec.words = BPE_WORDS_AFTER;
    CHECK_WORDS(&spec, "ab  c\n d ", " *2|ab *1|c*1|d *1");
    spec.words |= BPE_WORDS_RUNS;
    CHECK_WORDS(&spec, "ab  c\n d ", " *1|ab  *1|c*1|d *1");
    spec.words = BPE_WORDS_WHOLE;
    CHECK_WORDS(&spec, "ab  c\n d ", " d *1|ab  c*1");
}

/* No piece has two scripts, or a lone digit beside anything else. */
TEST(words_cut_by_class) {
    static uint8_t classes[0x110000];
    memset(classes + 'a', 1, 26);
    memset(classes + '0', BPE_CLASS_LONE, 5);
    memset(classes + '5', BPE_CLASS_ANY, 5);
    memset(classes + 0x300, BPE_CLASS_INHERITED, 0x70);
    memset(classes + 0x430, 2, 0x30);
    bpe_sentences_spec spec = make_spec(PLAIN, BPE_WORDS_BEFORE);
    spec.classes = classes;
    CHECK_WORDS(&spec, "ab,cd .x5\xD0\xB4\xD0\xB5", " .*1|,*1|ab*1|cd*1|x5\xD0\xB4\xD0\xB5*1");
    CHECK_WORDS(&spec, "a\xD0\xB4\xCC\x81,x 12x", " 1*1|2*1|a*1|x*2|\xD0\xB4\xCC\x81,*1");
}

TEST(normalised) {
    bpe_sentences_spec spec = make_spec(SQUEEZE | BPE_NORMALIZE_MARK, BPE_WORDS_BEFORE);
    CHECK_WORDS(&spec, "  ab   c \n \xE2\x96\x81\n\xE2\x96\x81q", " *1| ab*1| c*1| q*1");
}

TEST(lines_left_out) {
    bpe_sentences_spec spec = make_spec(PLAIN, BPE_WORDS_WHOLE);
    spec.longest = 5;
    CHECK_WORDS(&spec, "\nabcde\nabcdef\na\xE2\x96\x85\r\n\xE2\x96\n\xE2\x96\x85",
                "abcde*1|\xEF\xBF\xBD\xEF\xBF\xBD*1");
    CHECK_EQ(last.used, 2);
    CHECK_EQ(last.empty, 1);
    CHECK_EQ(last.too_long, 1);
    CHECK_EQ(last.reserved, 2);
    CHECK_EQ(last.cuts, 0);
}

TEST(strings_cut_out) {
    bpe_sentences_spec spec = make_spec(PLAIN, BPE_WORDS_BEFORE);
    static const uint32_t lengths[] = {3, 4, 2};
    spec.cut_data = (const uint8_t *)"<s><ss> x";
    spec.cut_lengths = lengths;
    spec.n_cut = 3;
    CHECK_WORDS(&spec, "a<s>b <ss>c xd\x1f\x1f<s", " *1|<s*1|a*1|b*1|c*1|d*1");
    CHECK_EQ(last.cuts, 5);
    spec.n_cut = 2; /* all of one first byte */
    CHECK_WORDS(&spec, "a<s>b <ss>c xd", " *1| xd*1|a*1|b*1|c*1");
    spec.delimiter = (const uint8_t *)"bb";
    spec.delimiter_size = 2;
    CHECK_WORDS(&spec, "ab<s>bbbb", "ab*1");
    CHECK_EQ(last.cuts, 3);
}

TEST(batches_with_weights) {
    bpe_sentences_spec spec = make_spec(PLAIN, BPE_WORDS_BEFORE);
    static const char data[] = "a b\r\n\na\nbc\x1f";
    static const size_t offsets[] = {0, 6, 8, 9, 11};
    static const uint64_t weights[] = {2, 9, 3, 4};
    bpe_sentences *s;
    bpe_counts *counts;
    REQUIRE(bpe_sentences_new(&spec, &s) == BPE_OK && bpe_counts_new(&counts) == BPE_OK);
    const uint8_t *bytes = (const uint8_t *)data;
    REQUIRE(bpe_sentences_add_batch(s, counts, bytes, offsets, weights, 4, 1) == BPE_OK);
    CHECK(strcmp(shown(counts), " b*2|a*11|b*3|c*4") == 0);
    REQUIRE(bpe_sentences_add_batch(s, counts, bytes, offsets, NULL, 2, 0) == BPE_OK);
    CHECK(strcmp(shown(counts), " b*2| b\r\n\n*1|a*12|a\n*1|b*3|c*4") == 0);
    bpe_sentences_get_report(s, &last);
    CHECK_EQ(last.cuts, 4);
    bpe_sentences_free(s);
    bpe_counts_free(counts);
}

/* Cut anywhere, the lines are the same. */
TEST(lines_in_parts) {
    static const char text[] = "ab cd\n\nab\r\nef gh ab";
    size_t n = strlen(text);
    bpe_sentences_spec spec = make_spec(PLAIN | BPE_NORMALIZE_MARK, BPE_WORDS_BEFORE);
    char want[256];
    strcpy(want, words_of(&spec, text));
    for (size_t cut = 0; cut <= n; cut++) {
        bpe_sentences *s;
        bpe_counts *counts;
        size_t used, rest;
        const uint8_t *data = (const uint8_t *)text;
        REQUIRE(bpe_sentences_new(&spec, &s) == BPE_OK && bpe_counts_new(&counts) == BPE_OK);
        REQUIRE(bpe_sentences_add_lines(s, counts, data, cut, 1, &used) == BPE_OK);
        CHECK(used <= cut && (used == 0 || text[used - 1] == '\n'));
        REQUIRE(bpe_sentences_add_lines(s, counts, data + used, n - used, 0, &rest) == BPE_OK);
        CHECK(strcmp(shown(counts), want) == 0);
        bpe_sentences_free(s);
        bpe_counts_free(counts);
    }
}

TEST(bad_specifications) {
    bpe_sentences *s;
    bpe_sentences_spec spec = make_spec(0, BPE_WORDS_WHOLE);
    CHECK_EQ(bpe_sentences_new(&spec, &s), BPE_ERR_ARG);
    spec = make_spec(PLAIN, 3);
    CHECK_EQ(bpe_sentences_new(&spec, &s), BPE_ERR_ARG);
    spec = make_spec(PLAIN, BPE_WORDS_AFTER);
    spec.normalizer.charsmap = (const uint8_t *)"damaged";
    spec.normalizer.charsmap_size = 7;
    CHECK_EQ(bpe_sentences_new(&spec, &s), BPE_ERR_MODEL);
    static const uint32_t nothing[] = {0};
    spec = make_spec(PLAIN, BPE_WORDS_AFTER);
    spec.cut_data = (const uint8_t *)"";
    spec.cut_lengths = nothing;
    spec.n_cut = 1;
    CHECK_EQ(bpe_sentences_new(&spec, &s), BPE_ERR_ARG);
}

/* Long lines and many words, so that everything has to grow. */
TEST(memory_runs_out) {
    static uint8_t text[200000];
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)" ab<s>\x1f"[random_below(&seed, 7)];
    static const uint32_t length = 3;
    bpe_sentences_spec spec = make_spec(SQUEEZE, BPE_WORDS_BEFORE);
    spec.longest = sizeof text;
    spec.cut_data = (const uint8_t *)"<s>";
    spec.cut_lengths = &length;
    spec.n_cut = 1;
    spec.delimiter = (const uint8_t *)"ab";
    spec.delimiter_size = 2;
    size_t offsets[] = {0, sizeof text / 2, sizeof text};
    static const uint64_t weights[] = {2, 3};
    uint64_t used = 0;
    FOR_EACH_FAILING_ALLOCATION {
        bpe_sentences *s = NULL;
        bpe_counts *counts = NULL;
        bpe_status status = bpe_sentences_new(&spec, &s);
        if (status == BPE_OK)
            status = bpe_counts_new(&counts);
        if (status == BPE_OK)
            status = bpe_sentences_add_batch(s, counts, text, offsets, weights, 2, 1);
        if (status == BPE_OK)
            bpe_sentences_get_report(s, &last);
        else
            CHECK_EQ(status, BPE_ERR_NOMEM);
        used = status == BPE_OK ? last.used : 0;
        bpe_sentences_free(s);
        bpe_counts_free(counts);
    }
    CHECK_EQ(used, 2);
}

int main(void) {
    RUN(words);
    RUN(words_cut_by_class);
    RUN(normalised);
    RUN(lines_left_out);
    RUN(strings_cut_out);
    RUN(batches_with_weights);
    RUN(lines_in_parts);
    RUN(bad_specifications);
    RUN(memory_runs_out);
    return harness_end();
}
