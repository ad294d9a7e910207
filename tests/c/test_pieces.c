#include "pieces.h"

#include "charsmap.h"
#include "harness.h"
#include "random.h"

enum { MAX_PIECES = 400, PIECE_BYTES = 8192 };

typedef struct parts {
    uint8_t data[PIECE_BYTES];
    uint32_t lengths[MAX_PIECES];
    float scores[MAX_PIECES];
    uint8_t types[MAX_PIECES];
    bpe_pieces_spec spec;
} parts;

static void add_bytes(parts *p, const uint8_t *text, size_t n, float score, uint8_t type) {
    size_t i = p->spec.n_pieces++;
    REQUIRE(i < MAX_PIECES && p->spec.piece_data_size + n <= PIECE_BYTES);
    memcpy(p->data + p->spec.piece_data_size, text, n);
    p->spec.piece_data_size += n;
    p->lengths[i] = (uint32_t)n;
    p->scores[i] = score;
    p->types[i] = type;
}

static void add(parts *p, const char *text, float score, uint8_t type) {
    add_bytes(p, (const uint8_t *)text, strlen(text), score, type);
}

static void parts_init(parts *p, uint32_t flags, bool byte_fallback) {
    memset(p, 0, sizeof *p);
    p->spec.piece_data = p->data;
    p->spec.piece_lengths = p->lengths;
    p->spec.scores = p->scores;
    p->spec.types = p->types;
    p->spec.normalizer.flags = flags;
    p->spec.byte_fallback = byte_fallback;
    p->spec.unk_surface = (const uint8_t *)"?";
    p->spec.unk_surface_size = 1;
    add(p, "<unk>", 0, BPE_PIECE_UNKNOWN);
    for (int b = 0; byte_fallback && b < 256; b++) {
        char text[8];
        snprintf(text, sizeof text, "<0x%02X>", b);
        add(p, text, 0, BPE_PIECE_BYTE);
    }
}

static bool holds(const parts *p, const uint8_t *text, size_t n) {
    const uint8_t *at = p->data;
    for (size_t i = 0; i < p->spec.n_pieces; at += p->lengths[i], i++) {
        if (p->lengths[i] == n && memcmp(at, text, n) == 0)
            return true;
    }
    return false;
}

/* The last one is U+FFFD, which bytes that are not UTF-8 become. */
static const char *const LETTERS[] = {
    "a", "b", "c", "\xE2\x96\x81", "\xC3\xA9", "\xE4\xB8\xAD", "\xEF\xBF\xBD"};
enum { N_LETTERS = sizeof LETTERS / sizeof *LETTERS };

/* Random strings over few characters, of types that depend on `kinds`. */
static void random_parts(parts *p, uint64_t *seed, bool with_unused, bool with_users) {
    static const float scores[] = {0.0f, -0.0f, -1.0f, -1.0f, 2.0f};
    parts_init(p, random_below(seed, 8) | BPE_NORMALIZE_ESCAPE, random_below(seed, 2));
    for (int i = 0; i < 60; i++) {
        uint8_t text[64];
        size_t n = 0;
        for (uint32_t k = 0, length = 1 + random_below(seed, 4); k < length; k++) {
            const char *letter = LETTERS[random_below(seed, N_LETTERS)];
            memcpy(text + n, letter, strlen(letter));
            n += strlen(letter);
        }
        if (holds(p, text, n))
            continue;
        uint8_t type = BPE_PIECE_NORMAL;
        if (with_unused && random_below(seed, 6) == 0)
            type = BPE_PIECE_UNUSED;
        if (with_users && random_below(seed, 6) == 0)
            type = BPE_PIECE_USER;
        float score =
            random_below(seed, 3) ? -(float)random_below(seed, 40) : scores[random_below(seed, 5)];
        add_bytes(p, text, n, score, type);
    }
}

static size_t random_text(uint64_t *seed, uint8_t *data, size_t cap) {
    size_t n = 0;
    size_t wanted = random_below(seed, (uint32_t)cap / 4);
    while (n < wanted) {
        const char *part =
            random_below(seed, 6) == 0 ? " " : LETTERS[random_below(seed, N_LETTERS)];
        if (random_below(seed, 20) == 0)
            part = "\xFF";
        memcpy(data + n, part, strlen(part));
        n += strlen(part);
    }
    return n;
}

/* Every way to encode gives the same ids, spans cover the text, and decoding does not fail. */
static void check_ways(const bpe_pieces *m, bpe_pieces_workspace *w[7], const uint8_t *data,
                       size_t n) {
    const uint32_t *want;
    size_t n_want;
    CHECK_EQ(bpe_pieces_encode(m, NULL, NULL, NULL, w[6], data, n, &want, &n_want, NULL), BPE_OK);
    for (size_t i = 0; i < 6; i++) {
        const uint32_t *ids;
        size_t n_ids;
        CHECK_EQ(bpe_pieces_encode(m, NULL, NULL, NULL, w[i], data, n, &ids, &n_ids, NULL), BPE_OK);
        CHECK_MEM(ids, 4 * n_ids, want, 4 * n_want);
    }
    const uint32_t *ids;
    const bpe_span *spans;
    const uint8_t *text;
    size_t n_ids, n_text;
    uint32_t compact;
    CHECK_EQ(bpe_pieces_encode_spans(m, NULL, w[0], data, n, &ids, &spans, &n_ids, &text, &n_text,
                                     &compact, NULL),
             BPE_OK);
    CHECK_MEM(ids, 4 * n_ids, want, 4 * n_want);
    size_t at = 0;
    for (size_t i = 0; i < n_ids; i++) {
        CHECK_EQ(spans[i].text_begin, at);
        CHECK(spans[i].begin <= spans[i].end && spans[i].end <= n);
        at = spans[i].text_end;
    }
    CHECK_EQ(at, n_text);
    uint8_t *out;
    size_t size;
    uint32_t at_start = 1;
    CHECK_EQ(bpe_pieces_decode(m, want, n_want, 1, &at_start, &out, &size, NULL), BPE_OK);
    bpe_pieces_free_text(out);
}

static void start_ways(const bpe_pieces *m, bpe_pieces_workspace *w[7]) {
    for (uint32_t i = 0; i < 7; i++) {
        REQUIRE(bpe_pieces_workspace_new(m, &w[i]) == BPE_OK);
        if (i < 6)
            CHECK_EQ(bpe_pieces_workspace_configure(w[i], 1 + i / 2, i & 1), BPE_OK);
    }
}

TEST(all_ways_agree_on_random_models) {
    uint64_t seed = 21;
    uint8_t blob[CHARSMAP_SIZE];
    charsmap_make(blob);
    for (int round = 0; round < 150; round++) {
        static parts p;
        random_parts(&p, &seed, round % 5 == 0, round % 2);
        if (round % 3 == 0) {
            p.spec.normalizer.charsmap = blob;
            p.spec.normalizer.charsmap_size = sizeof blob;
        }
        bpe_pieces *m;
        REQUIRE(bpe_pieces_new(&p.spec, &m, NULL) == BPE_OK);
        bpe_pieces_workspace *w[7];
        start_ways(m, w);
        for (int k = 0; k < 25; k++) {
            uint8_t data[320];
            check_ways(m, w, data, random_text(&seed, data, sizeof data - 8));
        }
        for (size_t i = 0; i < 7; i++) {
            bpe_pieces_workspace_trim(w[i]);
            bpe_pieces_workspace_free(w[i]);
        }
        bpe_pieces_free(m);
    }
}

/* Longer than a portion, with words that are longer than one, too. */
TEST(long_texts) {
    static parts p;
    static uint8_t data[200000];
    uint64_t seed = 22;
    for (int round = 0; round < 6; round++) {
        parts_init(
            &p, BPE_NORMALIZE_MARK | BPE_NORMALIZE_ESCAPE | (round & 1 ? BPE_NORMALIZE_SQUEEZE : 0),
            true);
        const char *pieces[] = {"a",
                                "b",
                                "ab",
                                "abab",
                                "aa",
                                "\xE2\x96\x81",
                                "\xE2\x96\x81"
                                "a",
                                "\xE2\x96\x81\xE2\x96\x81"};
        for (int i = 0; i < 8; i++)
            add(&p, pieces[i], -(float)i, BPE_PIECE_NORMAL);
        size_t n = 0;
        while (n < sizeof data) {
            size_t left = sizeof data - n;
            size_t length =
                random_below(&seed, 20) ? random_below(&seed, 9) : random_below(&seed, 90000);
            length = length < left ? length : left;
            for (size_t i = 0; i < length; i++)
                data[n + i] = (uint8_t)("ab"[random_below(&seed, 2)]);
            n += length;
            length = random_below(&seed, 30) ? 1 : random_below(&seed, 40000);
            length = length < sizeof data - n ? length : sizeof data - n;
            memset(data + n, ' ', length);
            n += length;
        }
        bpe_pieces *m;
        REQUIRE(bpe_pieces_new(&p.spec, &m, NULL) == BPE_OK);
        bpe_pieces_workspace *w[7];
        start_ways(m, w);
        check_ways(m, w, data, n - (size_t)round);
        for (size_t i = 0; i < 7; i++)
            bpe_pieces_workspace_free(w[i]);
        bpe_pieces_free(m);
    }
}

/* Few pieces over many characters: text falls into many parts, of one character and more, in
 * scripts that join and in scripts that do not. */
TEST(many_cuts) {
    static const char *const chars[] = {"a",
                                        "b",
                                        "c",
                                        "7",
                                        ".",
                                        ",",
                                        " ",
                                        "\n",
                                        "\xE2\x96\x81",
                                        "\xC3\xA9",
                                        "\xD0\xB6",
                                        "\xD0\xB4",
                                        "\xE4\xB8\xAD",
                                        "\xE6\x96\x87",
                                        "\xE3\x81\xAE",
                                        "\xEF\xBC\xA1",
                                        "\xEF\xBF\xBD",
                                        "\xF0\x9F\x98\x80",
                                        "\xFF"};
    enum { N = sizeof chars / sizeof *chars };
    uint64_t seed = 24;
    for (int round = 0; round < 200; round++) {
        static parts p;
        static uint8_t data[6000];
        parts_init(&p, random_below(&seed, 16), random_below(&seed, 2));
        for (uint32_t i = 0, n_pieces = 4 + random_below(&seed, 30); i < n_pieces; i++) {
            uint8_t text[64];
            size_t n = 0;
            uint32_t from = random_below(&seed, N);
            for (uint32_t k = 0, length = 1 + random_below(&seed, 4); k < length; k++) {
                uint32_t which = (from + random_below(&seed, 4)) % (N - 1);
                if (*chars[which] == ' ')
                    which++;
                memcpy(text + n, chars[which], strlen(chars[which]));
                n += strlen(chars[which]);
            }
            uint8_t type = random_below(&seed, 20) == 0 ? BPE_PIECE_USER : BPE_PIECE_NORMAL;
            if (!holds(&p, text, n))
                add_bytes(&p, text, n, -(float)random_below(&seed, 30), type);
        }
        bpe_pieces *m;
        REQUIRE(bpe_pieces_new(&p.spec, &m, NULL) == BPE_OK);
        bpe_pieces_workspace *w[7];
        start_ways(m, w);
        for (int k = 0; k < 6; k++) {
            size_t n = 0;
            size_t wanted = random_below(&seed, k == 0 ? sizeof data - 8 : 700);
            while (n < wanted) {
                uint32_t from = random_below(&seed, N);
                uint32_t range = 1 + random_below(&seed, 5);
                for (uint32_t i = random_below(&seed, 90); i > 0 && n < wanted; i--) {
                    const char *c = chars[(from + random_below(&seed, range)) % N];
                    memcpy(data + n, c, strlen(c));
                    n += strlen(c);
                }
            }
            check_ways(m, w, data, n);
        }
        for (size_t i = 0; i < 7; i++)
            bpe_pieces_workspace_free(w[i]);
        bpe_pieces_free(m);
    }
}

/* Typed marks at the end are trimmed, however many portions they fill, and though no piece keeps
 * them together. */
TEST(typed_marks_are_trimmed) {
    static parts p;
    static uint8_t data[400000];
    uint64_t seed = 25;
    for (int round = 0; round < 12; round++) {
        parts_init(
            &p, BPE_NORMALIZE_SQUEEZE | BPE_NORMALIZE_ESCAPE | (round & 1 ? BPE_NORMALIZE_MARK : 0),
            round & 2);
        add(&p, "a", 0, BPE_PIECE_NORMAL);
        add(&p, "aa", 0, BPE_PIECE_NORMAL);
        add(&p, "\xE2\x96\x81", 0, BPE_PIECE_NORMAL);
        if (round & 4)
            add(&p, "\xE2\x96\x81\xE2\x96\x81", 0, BPE_PIECE_NORMAL);
        size_t n = 0;
        for (int part = 0; part < (round < 8 ? 4 : 1); part++) {
            size_t n_a = round < 8 ? random_below(&seed, 40000) : 0;
            memset(data + n, 'a', n_a);
            n += n_a;
            for (size_t k = random_below(&seed, 16000); k > 0; k--, n += 3)
                memcpy(data + n, "\xE2\x96\x81", 3);
        }
        bpe_pieces *m;
        REQUIRE(bpe_pieces_new(&p.spec, &m, NULL) == BPE_OK);
        bpe_pieces_workspace *w[7];
        start_ways(m, w);
        check_ways(m, w, data, n);
        for (size_t i = 0; i < 7; i++)
            bpe_pieces_workspace_free(w[i]);
        bpe_pieces_free(m);
    }
}

static void check_refused(const parts *p, uint32_t part, size_t index) {
    bpe_pieces *m;
    bpe_error err = {BPE_OK, 0};
    CHECK_EQ(bpe_pieces_new(&p->spec, &m, &err), BPE_ERR_MODEL);
    CHECK_EQ(err.pos >> 32, part);
    CHECK_EQ(err.pos & 0xFFFFFFFFu, index);
}

TEST(what_breaks_a_rule_is_named) {
    static parts p;
    parts_init(&p, 0, false);
    add(&p, "", 0, BPE_PIECE_NORMAL);
    check_refused(&p, BPE_PIECES_EMPTY, 1);
    p.lengths[1] = 10; /* past the end */
    check_refused(&p, BPE_PIECES_EMPTY, 1);
    parts_init(&p, 0, false);
    add(&p, "a", 0, BPE_PIECE_NORMAL);
    add(&p, "a", 0, BPE_PIECE_CONTROL);
    check_refused(&p, BPE_PIECES_TWICE, 2);
    p.types[1] = 7;
    check_refused(&p, BPE_PIECES_TYPE, 1);
    p.types[1] = BPE_PIECE_UNKNOWN;
    check_refused(&p, BPE_PIECES_UNKNOWN, 1);
    p.types[1] = BPE_PIECE_BYTE;
    check_refused(&p, BPE_PIECES_BYTE, 1);
    p.types[1] = BPE_PIECE_NORMAL;
    p.scores[1] = strtof("nan", NULL);
    check_refused(&p, BPE_PIECES_SCORE, 1);
    parts_init(&p, 0, true);
    add(&p, "<0x0a>", 0, BPE_PIECE_BYTE);
    check_refused(&p, BPE_PIECES_BYTE_TEXT, 257);
    parts_init(&p, 0, true);
    p.types[256] = BPE_PIECE_NORMAL;
    check_refused(&p, BPE_PIECES_BYTE_MISSING, 255);
    parts_init(&p, 0, false);
    p.types[0] = BPE_PIECE_CONTROL;
    check_refused(&p, BPE_PIECES_NO_UNKNOWN, 0);
    parts_init(&p, 0, false);
    p.spec.denormalizer.charsmap = p.data;
    p.spec.denormalizer.charsmap_size = 5;
    check_refused(&p, BPE_PIECES_CHARSMAP, 1);
}

TEST(arguments_are_checked) {
    static parts p;
    parts_init(&p, 0, false);
    bpe_pieces *m, *other;
    REQUIRE(bpe_pieces_new(&p.spec, &m, NULL) == BPE_OK);
    REQUIRE(bpe_pieces_new(&p.spec, &other, NULL) == BPE_OK);
    bpe_pieces_workspace *w;
    REQUIRE(bpe_pieces_workspace_new(m, &w) == BPE_OK);
    const uint32_t *ids;
    size_t n;
    const uint8_t *data = (const uint8_t *)"abc";
    bpe_error err;
    CHECK_EQ(bpe_pieces_encode(other, NULL, NULL, NULL, w, data, 3, &ids, &n, &err), BPE_ERR_ARG);
    bpe_dropout dropout = {strtod("nan", NULL), 1};
    CHECK_EQ(bpe_pieces_encode(m, NULL, NULL, &dropout, w, data, 3, &ids, &n, &err), BPE_ERR_ARG);
    CHECK_EQ(bpe_pieces_workspace_configure(w, 4, 0), BPE_ERR_ARG);
    CHECK_EQ(bpe_pieces_workspace_configure(w, 0, 2), BPE_ERR_ARG);
    size_t offsets[3] = {0, 3, 1};
    size_t id_offsets[3];
    CHECK_EQ(
        bpe_pieces_encode_batch(m, NULL, NULL, NULL, w, data, offsets, 2, &ids, id_offsets, &err),
        BPE_ERR_ARG);
    CHECK_EQ(err.pos, 1);
    uint32_t bad[] = {0, 1};
    uint32_t at_start = 1;
    uint8_t *out;
    CHECK_EQ(bpe_pieces_decode(m, bad, 2, 0, &at_start, &out, &n, &err), BPE_ERR_ID);
    CHECK_EQ(err.pos, 1);
    bpe_pieces_workspace_free(w);
    bpe_pieces_free(m);
    bpe_pieces_free(other);
}

/* Everything a caller can do, with each allocation failing in turn. */
static void use_all(const parts *p, uint32_t path) {
    static uint8_t data[300];
    uint64_t seed = 5;
    size_t n_data = random_text(&seed, data, sizeof data - 8);
    const uint32_t special = 0;
    const uint32_t one = 1;
    FOR_EACH_FAILING_ALLOCATION {
        bpe_pieces *m = NULL;
        bpe_pieces_workspace *w = NULL;
        bpe_match *match = NULL;
        bpe_status status = bpe_pieces_new(&p->spec, &m, NULL);
        if (status == BPE_OK)
            status = bpe_pieces_workspace_new(m, &w);
        if (status == BPE_OK)
            status = bpe_pieces_workspace_configure(w, path, 1);
        if (status == BPE_OK)
            status = bpe_match_new((const uint8_t *)"b", &one, &special, 1, &match, NULL);
        bpe_dropout dropout = {0.5, 3};
        const uint32_t *ids;
        const bpe_span *spans;
        const uint8_t *text;
        const size_t *where;
        size_t n, n_text;
        uint32_t compact;
        if (status == BPE_OK)
            status = bpe_pieces_encode(m, match, NULL, NULL, w, data, n_data, &ids, &n, NULL);
        if (status == BPE_OK)
            status = bpe_pieces_encode(m, NULL, NULL, &dropout, w, data, n_data, &ids, &n, NULL);
        if (status == BPE_OK)
            status = bpe_pieces_encode_spans(m, NULL, w, data, n_data, &ids, &spans, &n, &text,
                                             &n_text, &compact, NULL);
        if (status == BPE_OK) {
            uint32_t at_start = 1;
            uint8_t *out;
            status = bpe_pieces_decode(m, ids, n, 1, &at_start, &out, &n_text, NULL);
            if (status == BPE_OK)
                bpe_pieces_free_text(out);
        }
        if (status == BPE_OK)
            status = bpe_pieces_normalize(m, w, data, n_data, &text, &n_text, &where);
        CHECK(status == BPE_OK || status == BPE_ERR_NOMEM);
        bpe_match_free(match);
        bpe_pieces_workspace_free(w);
        bpe_pieces_free(m);
    }
}

TEST(failing_allocations) {
    uint8_t blob[CHARSMAP_SIZE];
    charsmap_make(blob);
    uint64_t seed = 23;
    for (int round = 0; round < 4; round++) {
        static parts p;
        random_parts(&p, &seed, round == 1, round >= 1);
        if (round == 3) {
            add(&p, "a\xFF", 0, BPE_PIECE_USER); /* text need not be UTF-8 */
            p.spec.denormalizer.charsmap = blob;
            p.spec.denormalizer.charsmap_size = sizeof blob;
            p.spec.normalizer.charsmap = blob;
            p.spec.normalizer.charsmap_size = sizeof blob;
        }
        use_all(&p, round == 2 ? BPE_PIECES_PATH_LONG : BPE_PIECES_PATH_AUTO);
    }
}

int main(void) {
    RUN(all_ways_agree_on_random_models);
    RUN(long_texts);
    RUN(many_cuts);
    RUN(typed_marks_are_trimmed);
    RUN(what_breaks_a_rule_is_named);
    RUN(arguments_are_checked);
    RUN(failing_allocations);
    return harness_end();
}
