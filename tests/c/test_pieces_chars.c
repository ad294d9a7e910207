#include "pieces_chars.h"

#include "harness.h"
#include "random.h"

/* ASCII, two bytes, three bytes on both sides of what is decoded the short way, four. The mark is
 * taken for a space. */
static const char *const CHARS[] = {
    "a",
    "b",
    "c",
    "7",
    ".",
    " ",
    "\xE2\x96\x81",
    "\xC3\xA9",
    "\xD0\xB6",
    "\xE4\xB8\xAD",
    "\xE6\x96\x87",
    "\xE3\x81\xAE",
    "\xED\x95\x9C",
    "\xEF\xBC\xA1",
    "\xEF\xBF\xBD",
    "\xF0\x9F\x98\x80",
    "\n",
    "\xE5\x80\x80",
};

enum {
    N_CHARS = sizeof CHARS / sizeof *CHARS,
    N_SYMBOLS = N_CHARS - 3, /* the last two have no symbol, and the mark has that of the space */
    MARK = 6,
    MAX_TEXT = 3000,
};

static uint32_t class_of(uint32_t c) { return c == MARK ? MARK - 1 : c; }

/* Symbols of one character each, and a few longer ones; pairs[][] are those in them. */
static void make_symbols(bpe_intern *symbols, uint64_t *seed, bool pairs[N_CHARS][N_CHARS]) {
    memset(pairs, 0, N_CHARS * sizeof *pairs);
    REQUIRE(bpe_intern_init(symbols, 64));
    for (uint32_t c = 0; c < N_CHARS - 2; c++) {
        const uint8_t *p = (const uint8_t *)CHARS[c];
        if (c != MARK)
            bpe_intern_add(symbols, p, strlen(CHARS[c]),
                           bpe_intern_hash(symbols, p, strlen(CHARS[c])));
    }
    CHECK_EQ(symbols->n, N_SYMBOLS);
    for (uint32_t i = 0, n_long = random_below(seed, 12); i < n_long; i++) {
        uint8_t text[64];
        size_t n = 0;
        uint32_t before = N_CHARS;
        for (uint32_t k = 0, length = 2 + random_below(seed, 4); k < length; k++) {
            uint32_t c = class_of(random_below(seed, N_CHARS - 2));
            memcpy(text + n, CHARS[c], strlen(CHARS[c]));
            n += strlen(CHARS[c]);
            if (before < N_CHARS)
                pairs[before][c] = true;
            before = c;
        }
        bpe_intern_add(symbols, text, n, bpe_intern_hash(symbols, text, n));
    }
}

typedef struct read_char {
    uint32_t c;
    size_t start;
} read_char;

/* Runs of one character, or of any, with broken bytes, which are U+FFFD. */
static size_t make_text(uint64_t *seed, uint8_t *text, read_char *chars, size_t *n_chars) {
    size_t n = 0;
    size_t wanted = 1 + random_below(seed, MAX_TEXT - 300);
    *n_chars = 0;
    while (n < wanted) {
        uint32_t from = random_below(seed, N_CHARS);
        uint32_t range = 1 + random_below(seed, 6);
        for (uint32_t k = random_below(seed, 60); k > 0 && n < wanted; k--) {
            uint32_t c = (from + random_below(seed, range)) % N_CHARS;
            chars[(*n_chars)++] = (read_char){c, n};
            if (c == 14 && random_below(seed, 2)) {
                text[n++] = 0xFF;
            } else {
                memcpy(text + n, CHARS[c], strlen(CHARS[c]));
                n += strlen(CHARS[c]);
            }
        }
    }
    return n;
}

/* Cut in steps of any size, and all of it again one step at a time. */
static void check_text(const bpe_chars *chars, bool pairs[N_CHARS][N_CHARS], uint64_t *seed) {
    static uint8_t text[MAX_TEXT];
    static read_char list[MAX_TEXT];
    static bool is_cut[MAX_TEXT + 1];
    size_t n_chars;
    size_t n = make_text(seed, text, list, &n_chars);
    memset(is_cut, 0, sizeof is_cut);
    bpe_cutter cutter;
    bpe_cutter_begin(&cutter, chars, text, 0, n);
    size_t start = 0;
    size_t limit = random_below(seed, 2) ? n : list[random_below(seed, (uint32_t)n_chars)].start;
    size_t k = 0;
    while (cutter.at < n) {
        size_t ends[BPE_MAX_CUTS];
        uint32_t kinds[BPE_MAX_CUTS];
        size_t enough = 1 + random_below(seed, BPE_MIN_CUTS);
        size_t n_ends = bpe_cutter_more(&cutter, limit, ends, kinds, enough);
        CHECK(n_ends >= enough || cutter.at >= limit);
        limit = cutter.at >= limit ? n : limit;
        REQUIRE(n_ends <= BPE_MAX_CUTS);
        for (size_t i = 0; i < n_ends; start = ends[i], i++) {
            REQUIRE(ends[i] > start && ends[i] < n);
            is_cut[ends[i]] = true;
            while (list[k].start < start)
                k++;
            uint32_t c = list[k].c;
            uint32_t id = c < N_CHARS - 2 ? class_of(c) : c == N_CHARS - 2 ? 500 : BPE_CHAR_NO_ID;
            bool one = list[k + 1].start == ends[i];
            if (one && (text[start] >= 128 || kinds[i] != BPE_PART_LONG))
                CHECK_EQ(kinds[i], id);
            else
                CHECK_EQ(kinds[i], BPE_PART_LONG);
        }
        CHECK_EQ(cutter.start, start);
    }
    CHECK_EQ(bpe_cutter_kind(&cutter) != BPE_PART_LONG,
             start == list[n_chars - 1].start && text[start] >= 128);
    for (size_t i = 1; i < n_chars; i++) {
        uint32_t left = list[i - 1].c;
        uint32_t right = list[i].c;
        bool may_join = pairs[class_of(left)][class_of(right)];
        bool known = left < N_CHARS - 2 && right < N_CHARS - 2;
        bool ascii = text[list[i - 1].start] < 128 && text[list[i].start] < 128;
        if (may_join)
            CHECK(!is_cut[list[i].start]);
        else if (!known || ascii)
            CHECK(is_cut[list[i].start]);
    }
    size_t n_inside = 0; /* of characters */
    for (size_t i = 0, c = 0; i < n; i++) {
        while (c + 1 < n_chars && list[c + 1].start <= i)
            c++;
        n_inside += is_cut[i] && list[c].start != i;
    }
    CHECK_EQ(n_inside, 0);
}

TEST(cuts_are_where_no_symbol_crosses) {
    uint64_t seed = 31;
    for (int round = 0; round < 150; round++) {
        bool pairs[N_CHARS][N_CHARS];
        bpe_intern symbols = {0};
        make_symbols(&symbols, &seed, pairs);
        uint32_t ids[64];
        uint32_t ascii_ids[128];
        for (uint32_t i = 0; i < 64; i++)
            ids[i] = i < MARK ? i : i + 1;
        for (size_t b = 0; b < 128; b++)
            ascii_ids[b] = 500;
        bpe_chars *chars = bpe_mem_zeroed(1, sizeof *chars);
        REQUIRE(chars && bpe_chars_init(chars, &symbols, ids, ascii_ids, true));
        CHECK_EQ(bpe_char_id(bpe_chars_at(chars, 'a')), 0);
        CHECK_EQ(bpe_char_id(bpe_chars_at(chars, '\n')), 500);
        CHECK_EQ(bpe_char_id(bpe_chars_at(chars, 0x2581)), bpe_char_id(bpe_chars_at(chars, ' ')));
        CHECK_EQ(bpe_char_id(bpe_chars_at(chars, 0x10FFFF)), BPE_CHAR_NO_ID);
        CHECK_EQ(bpe_chars_at(chars, '\n')->symbol, BPE_NO_SYMBOL);
        for (int i = 0; i < 12; i++)
            check_text(chars, pairs, &seed);
        bpe_chars_free(chars);
        bpe_mem_free(chars);
        bpe_intern_free(&symbols);
    }
}

/* Where few pairs are known, nearly all others are told from them. */
TEST(few_cuts_are_missed) {
    bpe_intern symbols = {0};
    REQUIRE(bpe_intern_init(&symbols, 16));
    uint32_t ids[1024];
    for (uint32_t i = 0; i < 300; i++) { /* 300 characters, each in a pair with the next one */
        uint8_t text[4] = {(uint8_t)(0xC4 + i / 64), (uint8_t)(0x80 + i % 64),
                           (uint8_t)(0xC4 + (i + 1) / 64), (uint8_t)(0x80 + (i + 1) % 64)};
        bpe_intern_add(&symbols, text, 2, bpe_intern_hash(&symbols, text, 2));
        bpe_intern_add(&symbols, text, 4, bpe_intern_hash(&symbols, text, 4));
    }
    uint8_t last[2] = {0xC4 + 300 / 64, 0x80 + 300 % 64};
    bpe_intern_add(&symbols, last, 2, bpe_intern_hash(&symbols, last, 2));
    uint32_t ascii_ids[128] = {0};
    for (uint32_t i = 0; i < symbols.n; i++)
        ids[i] = i;
    bpe_chars *chars = bpe_mem_zeroed(1, sizeof *chars);
    REQUIRE(chars && bpe_chars_init(chars, &symbols, ids, ascii_ids, false));
    uint64_t seed = 32;
    static uint8_t text[200000];
    for (size_t i = 0; i < sizeof text; i += 2) {
        uint32_t c = random_below(&seed, 301);
        text[i] = (uint8_t)(0xC4 + c / 64);
        text[i + 1] = (uint8_t)(0x80 + c % 64);
    }
    bpe_cutter cutter;
    bpe_cutter_begin(&cutter, chars, text, 0, sizeof text);
    size_t n_cuts = 0;
    while (cutter.at < sizeof text) {
        size_t ends[BPE_MAX_CUTS];
        uint32_t kinds[BPE_MAX_CUTS];
        n_cuts += bpe_cutter_more(&cutter, sizeof text, ends, kinds, BPE_MIN_CUTS);
    }
    CHECK(n_cuts > sizeof text / 2 / 100 * 85 && n_cuts < sizeof text / 2);
    bpe_chars_free(chars);
    bpe_mem_free(chars);
    bpe_intern_free(&symbols);
}

int main(void) {
    RUN(cuts_are_where_no_symbol_crosses);
    RUN(few_cuts_are_missed);
    return harness_end();
}
