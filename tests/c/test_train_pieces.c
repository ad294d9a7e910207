/* Training of codepoint models: merges are compared with the simplest way to find them, which keeps
 * strings and looks at every one of them again for every merge. */
#include "bpe.h"
#include "harness.h"
#include "joins.h"
#include "random.h"
#include "train.h"
#include "utf8.h"

enum { MAX_WORDS = 24, MAX_LENGTH = 400, MAX_IDS = 600, N_ALPHABET = 9 };

/* Ascending; with two scripts, digits, a character without a script, and the mark. */
static const uint32_t ALPHABET[N_ALPHABET] = {'1',   '2',   'a',    'b',   0x301,
                                              0x434, 0x436, 0x2581, 0x4E2D};
static uint8_t classes[N_ALPHABET];

/* ---------------------------------------------------------------- the simple way */

/* A string of characters, by their places in the alphabet. */
typedef struct piece {
    uint8_t characters[MAX_LENGTH];
    size_t n;
} piece;

static piece pieces[MAX_IDS];
static size_t n_pieces;
static uint32_t words[MAX_WORDS][MAX_LENGTH];
static size_t word_lengths[MAX_WORDS];
static uint64_t word_counts[MAX_WORDS];
static size_t n_words;
static uint64_t counts[MAX_IDS][MAX_IDS];
static bool known[MAX_IDS][MAX_IDS]; /* pairs that were there at some time */
static bool taken[MAX_IDS][MAX_IDS];

static piece joined(size_t a, size_t b) {
    piece out = pieces[a];
    memcpy(out.characters + out.n, pieces[b].characters, pieces[b].n);
    out.n += pieces[b].n;
    return out;
}

static bool mark_is_fine(const piece *p, size_t i, uint32_t rules) {
    bool last = i + 1 == p->n;
    if (rules & BPE_JOIN_MARK_AFTER)
        return last || (!(rules & BPE_JOIN_MARK_EDGE) && i > 0);
    return i == 0 || (!(rules & BPE_JOIN_MARK_EDGE) && !last);
}

/* Whether a string of two characters or more may be a piece: as sentencepiece has it. */
static bool allowed(const piece *p, uint32_t rules, size_t longest) {
    bool only_marks = true;
    uint8_t before = BPE_CLASS_ANY;
    for (size_t i = 0; i < p->n; i++)
        only_marks = only_marks && ALPHABET[p->characters[i]] == BPE_MARK_CODEPOINT;
    for (size_t i = 0; i < p->n; i++) {
        uint8_t c = p->characters[i];
        if (ALPHABET[c] == BPE_MARK_CODEPOINT) {
            if (!(only_marks && rules & BPE_JOIN_MARK_RUNS) && !mark_is_fine(p, i, rules))
                return false;
            continue;
        }
        uint8_t class = classes[c] == BPE_CLASS_INHERITED ? before : classes[c];
        if (class == BPE_CLASS_LONE)
            return false;
        if (class != BPE_CLASS_ANY && before != BPE_CLASS_ANY && class != before) {
            return false;
        }
        before = class;
    }
    return p->n <= longest;
}

/* Shorter pieces come first, then those whose characters do: the order of UTF-8. */
static int compare(const piece *a, const piece *b) {
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    return memcmp(a->characters, b->characters, a->n); /* the alphabet ascends */
}

static void count_pairs(void) {
    memset(counts, 0, sizeof counts);
    for (size_t w = 0; w < n_words; w++) {
        for (size_t i = 0; i + 1 < word_lengths[w]; i++) {
            counts[words[w][i]][words[w][i + 1]] += word_counts[w];
            known[words[w][i]][words[w][i + 1]] = true;
        }
    }
}

/* Merge, noting the pairs that are there for a moment only. */
static void merge(uint32_t a, uint32_t b, uint32_t c) {
    for (size_t w = 0; w < n_words; w++) {
        uint32_t *word = words[w];
        for (size_t i = 0; i + 1 < word_lengths[w]; i++) {
            if (word[i] != a || word[i + 1] != b)
                continue;
            word[i] = c;
            size_t behind = word_lengths[w] - i - 2;
            memmove(word + i + 1, word + i + 2, behind * sizeof *word);
            word_lengths[w]--;
            if (i > 0)
                known[word[i - 1]][c] = true;
            if (behind > 0)
                known[c][word[i + 1]] = true;
        }
    }
}

/* The best pair; false when there is none. */
static bool best_pair(const bpe_pieces_trainer_spec *spec, uint32_t *left, uint32_t *right) {
    piece best = {{0}, 0};
    uint64_t count = 0;
    for (uint32_t a = 0; a < n_pieces; a++) {
        for (uint32_t b = 0; b < n_pieces; b++) {
            if (!known[a][b] || taken[a][b] || (counts[a][b] == 0 && !spec->keeps_all))
                continue;
            if (best.n > 0 && counts[a][b] < count)
                continue;
            piece made = joined(a, b);
            if (!allowed(&made, spec->rules, spec->longest))
                continue;
            if (best.n > 0 && counts[a][b] == count && compare(&made, &best) >= 0)
                continue;
            best = made;
            count = counts[a][b];
            *left = a;
            *right = b;
        }
    }
    return best.n > 0;
}

static bool is_piece(const piece *p) {
    for (size_t i = 0; i < n_pieces; i++) {
        if (compare(&pieces[i], p) == 0)
            return true;
    }
    return false;
}

static void start_naive(void) {
    n_pieces = N_ALPHABET;
    for (uint8_t i = 0; i < N_ALPHABET; i++)
        pieces[i] = (piece){{i}, 1};
    memset(known, 0, sizeof known);
    memset(taken, 0, sizeof taken);
}

/* ---------------------------------------------------------------- words */

static size_t spell(uint32_t c, uint8_t *out) {
    /* Words have a space for the mark. */
    static const char *const TEXTS[N_ALPHABET] = {
        "1", "2", "a", "b", "\xCC\x81", "\xD0\xB4", "\xD0\xB6", " ", "\xE4\xB8\xAD"};
    size_t n = strlen(TEXTS[c]);
    memcpy(out, TEXTS[c], n);
    return n;
}

static bpe_status add_word(bpe_counts *table, const uint8_t *data, size_t n, uint64_t count) {
    size_t offsets[2] = {0, n};
    return bpe_counts_add_frequencies(table, data, offsets, &count, 1, 0, NULL);
}

/* Random words, in the table and in `words`, which sees them as they are, uncut. */
static bpe_counts *random_words(uint64_t *seed) {
    bpe_counts *table;
    REQUIRE(bpe_counts_new(&table) == BPE_OK);
    n_words = 1 + random_below(seed, MAX_WORDS);
    uint32_t used = 2 + random_below(seed, N_ALPHABET - 1), shift = random_below(seed, N_ALPHABET);
    for (size_t w = 0; w < n_words; w++) {
        uint8_t text[4 * MAX_LENGTH];
        size_t n = 0;
        size_t length = random_below(seed, 20) == 0 ? 300 : 1 + random_below(seed, 12);
        for (size_t i = 0; i < length; i++) {
            words[w][i] = (random_below(seed, used) + shift) % N_ALPHABET;
            n += spell(words[w][i], text + n);
        }
        word_lengths[w] = length;
        word_counts[w] = random_below(seed, 9) == 0 ? (uint64_t)1 << 33 : 1 + random_below(seed, 3);
        REQUIRE(add_word(table, text, n, word_counts[w]) == BPE_OK);
    }
    return table;
}

static bpe_pieces_trainer_spec random_spec(uint64_t *seed) {
    bpe_pieces_trainer_spec spec = {
        .n_merges = random_below(seed, 120),
        .codepoints = ALPHABET,
        .classes = classes,
        .n_characters = N_ALPHABET,
        .rules = random_below(seed, 8),
        .longest = 1 + random_below(seed, 12),
        .keeps_all = random_below(seed, 2),
    };
    static const uint8_t scripts[N_ALPHABET] = {0, 0, 1, 1, BPE_CLASS_INHERITED, 2, 2, 0, 3};
    static const uint8_t digits[] = {0, BPE_CLASS_ANY, BPE_CLASS_LONE};
    memcpy(classes, scripts, sizeof classes);
    if (random_below(seed, 4) == 0)
        memset(classes, BPE_CLASS_ANY, sizeof classes);
    classes[0] = classes[1] = digits[random_below(seed, 3)];
    return spec;
}

/* ---------------------------------------------------------------- comparing */

static void check_merges(const bpe_trainer *t, const bpe_pieces_trainer_spec *spec) {
    const uint32_t *merges = bpe_trainer_merges(t);
    size_t n = bpe_trainer_n_merges(t), done = 0;
    start_naive();
    for (;;) {
        uint32_t a = 0, b = 0;
        count_pairs();
        if (done == spec->n_merges || !best_pair(spec, &a, &b))
            break;
        taken[a][b] = true;
        piece made = joined(a, b);
        if (is_piece(&made))
            continue;
        REQUIRE(done < n);
        CHECK_EQ(merges[2 * done], a);
        CHECK_EQ(merges[2 * done + 1], b);
        CHECK_EQ(bpe_trainer_merge_counts(t)[done], counts[a][b]);
        pieces[n_pieces++] = made;
        merge(a, b, (uint32_t)(n_pieces - 1));
        done++;
    }
    CHECK_EQ(n, done);
    CHECK_EQ(bpe_trainer_stop(t) == BPE_STOP_REACHED, done == spec->n_merges);
}

TEST(random_words_by_random_rules) {
    uint64_t seed = 6;
    for (int round = 0; round < 400; round++) {
        bpe_counts *table = random_words(&seed);
        bpe_pieces_trainer_spec spec = random_spec(&seed);
        bpe_trainer *t;
        REQUIRE(bpe_trainer_new_pieces(table, &spec, &t, NULL) == BPE_OK);
        bpe_counts_free(table);
        while (bpe_trainer_stop(t) == BPE_STOP_NONE)
            REQUIRE(bpe_trainer_run(t, 1 + random_below(&seed, 50)) == BPE_OK);
        check_merges(t, &spec);
        bpe_trainer_free(t);
    }
}

/* Pairs that are gone are merged, the shortest piece first. */
TEST(what_is_gone_comes_last) {
    static const uint32_t letters[] = {'a', 'b', 'c', 'd'};
    static const uint8_t zeros[4];
    bpe_pieces_trainer_spec spec = {.n_merges = 9,
                                    .codepoints = letters,
                                    .classes = zeros,

                                    .n_characters = 4,
                                    .rules = BPE_JOIN_MARK_EDGE,
                                    .longest = 16,
                                    .keeps_all = 1};
    static const uint32_t want[] = {0, 1, 2, 3, 4, 5, 1, 2, 4, 2}; /* ab cd abcd bc abc */
    bpe_counts *table;
    bpe_trainer *t;
    REQUIRE(bpe_counts_new(&table) == BPE_OK);
    REQUIRE(add_word(table, (const uint8_t *)"abcd", 4, 1) == BPE_OK);
    REQUIRE(bpe_trainer_new_pieces(table, &spec, &t, NULL) == BPE_OK);
    REQUIRE(bpe_trainer_run(t, UINT64_MAX) == BPE_OK);
    CHECK_MEM(bpe_trainer_merges(t), 2 * sizeof *want * bpe_trainer_n_merges(t), want, sizeof want);
    CHECK(bpe_trainer_stop(t) != BPE_STOP_REACHED);
    bpe_trainer_free(t);
    bpe_counts_free(table);
}

TEST(bad_alphabets) {
    static const uint32_t twice[] = {'a', 'a'}, surrogate[] = {0xD800}, high[] = {0x110000};
    static const uint8_t zeros[2];
    bpe_pieces_trainer_spec spec = {.classes = zeros, .longest = 16};
    bpe_counts *table;
    bpe_trainer *t;
    bpe_error err;
    REQUIRE(bpe_counts_new(&table) == BPE_OK);
    spec.codepoints = twice;
    spec.n_characters = 2;
    CHECK_EQ(bpe_trainer_new_pieces(table, &spec, &t, &err), BPE_ERR_ARG);
    CHECK_EQ(err.pos, 1);
    spec.n_characters = 1;
    spec.codepoints = surrogate;
    CHECK_EQ(bpe_trainer_new_pieces(table, &spec, &t, &err), BPE_ERR_ARG);
    spec.codepoints = high;
    CHECK_EQ(bpe_trainer_new_pieces(table, &spec, &t, &err), BPE_ERR_ARG);
    CHECK_EQ(err.pos, 0);
    spec.codepoints = twice;
    spec.longest = BPE_MAX_JOIN + 1;
    CHECK_EQ(bpe_trainer_new_pieces(table, &spec, &t, &err), BPE_ERR_ARG);
    spec.longest = 1;
    spec.n_merges = BPE_MAX_IDS;
    CHECK_EQ(bpe_trainer_new_pieces(table, &spec, &t, &err), BPE_ERR_LIMIT);
    bpe_counts_free(table);
}

TEST(characters_are_counted) {
    bpe_counts *table;
    static uint32_t codepoints[0x110000];
    static uint64_t frequencies[0x110000];
    static const uint32_t want[] = {'a', 0x301, 0x2581};
    size_t n;
    REQUIRE(bpe_counts_new(&table) == BPE_OK);
    REQUIRE(add_word(table, (const uint8_t *)" a\xCC\x81 ", 5, 3) == BPE_OK);
    REQUIRE(add_word(table, (const uint8_t *)"a\x80", 2, 2) == BPE_OK);
    REQUIRE(bpe_counts_characters(table, codepoints, frequencies, &n) == BPE_OK);
    CHECK_MEM(codepoints, n * sizeof *codepoints, want, sizeof want);
    CHECK(frequencies[0] == 5 && frequencies[1] == 3 && frequencies[2] == 6);
    REQUIRE(add_word(table, (const uint8_t *)"bc", 2, UINT64_MAX - 5) == BPE_OK);
    CHECK_EQ(bpe_counts_characters(table, codepoints, frequencies, &n), BPE_ERR_LIMIT);
    bpe_counts_free(table);
}

TEST(memory_runs_out) {
    uint64_t seed = 3;
    bpe_counts *table = random_words(&seed);
    bpe_pieces_trainer_spec spec = random_spec(&seed);
    spec.n_merges = 100;
    spec.rules = 0;
    spec.longest = 12;
    spec.keeps_all = 1;
    size_t n_merges = 0;
    FOR_EACH_FAILING_ALLOCATION {
        bpe_trainer *t = NULL;
        bpe_status status = bpe_trainer_new_pieces(table, &spec, &t, NULL);
        if (status == BPE_OK)
            status = bpe_trainer_run(t, UINT64_MAX);
        if (status != BPE_OK)
            CHECK_EQ(status, BPE_ERR_NOMEM);
        n_merges = status == BPE_OK ? bpe_trainer_n_merges(t) : 0;
        bpe_trainer_free(t);
    }
    CHECK(n_merges > 0);
    bpe_counts_free(table);
}

int main(void) {
    RUN(random_words_by_random_rules);
    RUN(what_is_gone_comes_last);
    RUN(bad_alphabets);
    RUN(characters_are_counted);
    RUN(memory_runs_out);
    return harness_end();
}
