/* Encode: vocabularies and merges of the input's making, right and wrong ones. All ways to encode a
 * text agree with the definition, and the ids give the text back. */
#include "fuzz.h"

#include "models.h"

enum { TEXT = 200, MAX_TOKEN = 32, WILD = 40 };

static model_parts m; /* large */
static uint32_t fallback[256];
static bool alphabet; /* text and tokens are made of few letters, so that tokens come up */

static uint8_t letter(uint8_t x) { return alphabet ? (uint8_t)("aaabbc\xC3\xA9"[x % 8]) : x; }

/* ---------------------------------------------------------------- models of the input */

static void read_ranks(fuzz_input *in) {
    parts_init(&m, BPE_SEMANTICS_RANKS);
    for (uint32_t i = fuzz_below(in, 49); i > 0; i--) {
        uint8_t token[MAX_TOKEN];
        size_t n = 2 + fuzz_below(in, 9);
        for (size_t k = 0; k < n; k++)
            token[k] = letter(fuzz_byte(in));
        if (!parts_hold(&m, token, n))
            parts_add(&m, token, n);
    }
}

/* Merges of tokens made before; an id names a byte or, from the other end, a merge. */
static void read_merges(fuzz_input *in) {
    for (uint32_t i = fuzz_below(in, 49); i > 0; i--) {
        uint32_t pair[2], n = (uint32_t)m.spec.n_tokens;
        for (int k = 0; k < 2; k++) {
            uint32_t x = fuzz_byte(in);
            pair[k] = x < 128 ? letter((uint8_t)x) % n : n - 1 - (x - 128) % n;
        }
        uint8_t made[2 * MAX_TOKEN];
        size_t a = m.lengths[pair[0]], b = m.lengths[pair[1]];
        if (a + b > 24 || m.spec.token_data_size + a + b > MODEL_BYTES)
            continue;
        memcpy(made, m.data + m.starts[pair[0]], a);
        memcpy(made + a, m.data + m.starts[pair[1]], b);
        uint32_t id = n;
        for (uint32_t j = 0; j < n && fuzz_below(in, 2); j++) { /* or a token of the same bytes */
            if (m.lengths[j] == a + b && memcmp(m.data + m.starts[j], made, a + b) == 0)
                id = j;
        }
        if (id == n)
            parts_add(&m, made, a + b);
        m.merges[2 * m.spec.n_merges] = pair[0];
        m.merges[2 * m.spec.n_merges + 1] = pair[1];
        m.merge_ids[m.spec.n_merges++] = id;
    }
}

/* Tokens of characters; some bytes and characters are none. */
static void read_characters(fuzz_input *in) {
    static const char *const characters[] = {"a", "b", "\xC3\xA9", "\xC3", "c.", "b.", "\xA9."};
    parts_init(&m, BPE_SEMANTICS_MERGES);
    m.spec.n_tokens = m.spec.token_data_size = 0;
    parts_add(&m, (const uint8_t *)"<unk>", 5);
    uint32_t options = fuzz_byte(in), some = fuzz_byte(in);
    for (uint32_t i = 0; i < 7; i++) {
        if (some >> i & 1)
            parts_add(&m, (const uint8_t *)characters[i], strlen(characters[i]));
    }
    m.spec.symbols = options & 1 ? BPE_SYMBOLS_CHARACTERS : BPE_SYMBOLS_SOME_BYTES;
    m.spec.unknown = options & 2 ? 0 : BPE_NO_ID;
    m.spec.fuse_unknown = options >> 2 & 1;
    if (options & 8) {
        uint32_t missing = fuzz_byte(in);
        for (uint32_t b = 0; b < 256; b++)
            fallback[b] = b == missing ? BPE_NO_ID : b % (uint32_t)m.spec.n_tokens;
        m.spec.fallback_ids = fallback;
    } else if (options & 16) {
        m.spec.word_suffix = (const uint8_t *)".";
        m.spec.word_suffix_size = 1;
    }
    read_merges(in);
}

/* Whatever the bytes say. */
static void read_wild(fuzz_input *in) {
    parts_init(&m, 1 + fuzz_below(in, 2));
    size_t n = m.spec.n_tokens;
    for (uint32_t i = fuzz_below(in, WILD); i > 0; i--, n++) {
        m.lengths[n] = fuzz_byte(in) % 12u;
        m.ids[n] = fuzz_byte(in) < 240 ? (uint32_t)n : fuzz_u32(in);
    }
    m.spec.n_tokens = n;
    for (uint32_t i = fuzz_below(in, WILD); i > 0; i--) {
        uint32_t *pair = m.merges + 2 * m.spec.n_merges;
        pair[0] = fuzz_byte(in) * 2u;
        pair[1] = fuzz_byte(in) * 2u;
        m.merge_ids[m.spec.n_merges++] =
            fuzz_byte(in) < 240 ? 256u + fuzz_below(in, 48) : fuzz_u32(in);
    }
    for (size_t k = fuzz_byte(in); k > 0; k--)
        m.data[m.spec.token_data_size++] = letter(fuzz_byte(in));
    m.spec.symbols = fuzz_below(in, 4);
    m.spec.unknown = fuzz_byte(in) < 128 ? BPE_NO_ID : fuzz_byte(in);
}

/* ---------------------------------------------------------------- the definition */

static uint32_t slow_find(const uint8_t *p, size_t n) {
    for (uint32_t i = 0; i < m.spec.n_tokens; i++) {
        if (m.lengths[i] == n && memcmp(m.data + m.starts[i], p, n) == 0)
            return m.ids[i];
    }
    return BPE_NO_ID;
}

static size_t symbol_length(const uint8_t *p, size_t n) {
    if (m.spec.symbols != BPE_SYMBOLS_CHARACTERS || p[0] < 0xC2 || p[0] >= 0xF5)
        return 1;
    size_t length = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (length > n)
        return 1;
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 1;
    }
    uint32_t second = p[1];
    if ((p[0] == 0xE0 && second < 0xA0) || (p[0] == 0xED && second > 0x9F) ||
        (p[0] == 0xF0 && second < 0x90) || (p[0] == 0xF4 && second > 0x8F))
        return 1;
    return length;
}

static size_t slow_symbols(const uint8_t *p, size_t n, uint32_t *ids) {
    size_t n_ids = 0;
    bool pending = false;
    for (size_t i = 0, length; i < n; i += length) {
        uint8_t symbol[8];
        length = symbol_length(p + i, n - i);
        memcpy(symbol, p + i, length);
        size_t size = length;
        if (m.spec.word_suffix_size > 0 && i + length == n)
            symbol[size++] = '.';
        uint32_t id = slow_find(symbol, size);
        bool falls_back = m.spec.fallback_ids != NULL;
        for (size_t k = 0; falls_back && k < length; k++)
            falls_back = fallback[p[i + k]] != BPE_NO_ID;
        if (id == BPE_NO_ID && falls_back) {
            for (size_t k = 0; k < length; k++)
                ids[n_ids++] = fallback[p[i + k]];
            continue;
        }
        if (id == BPE_NO_ID && m.spec.unknown == BPE_NO_ID)
            continue;
        if (pending && !(id == BPE_NO_ID && m.spec.fuse_unknown))
            ids[n_ids++] = m.spec.unknown;
        pending = id == BPE_NO_ID;
        if (!pending)
            ids[n_ids++] = id;
    }
    if (pending)
        ids[n_ids++] = m.spec.unknown;
    return n_ids;
}

static size_t slow_ids(const uint8_t *p, size_t n, uint32_t *ids) {
    if (m.spec.symbols == BPE_SYMBOLS_BYTES)
        return slow_encode(&m, p, n, UINT32_MAX, ids);
    uint32_t whole = m.spec.whole_pretoken ? slow_find(p, n) : BPE_NO_ID;
    if (whole != BPE_NO_ID)
        return ids[0] = whole, 1;
    size_t n_ids = slow_symbols(p, n, ids);
    for (;;) {
        uint32_t best = UINT32_MAX, best_made = 0;
        size_t at = 0;
        for (size_t i = 0; i + 1 < n_ids; i++) {
            uint32_t made = 0, rank = slow_rank(&m, ids[i], ids[i + 1], &made);
            if (rank < best) {
                best = rank;
                best_made = made;
                at = i;
            }
        }
        if (best == UINT32_MAX)
            return n_ids;
        ids[at] = best_made;
        n_ids--;
        memmove(ids + at + 1, ids + at + 2, (n_ids - at - 1) * sizeof *ids);
    }
}

/* ---------------------------------------------------------------- checks */

typedef struct job {
    const bpe_model *model;
    const bpe_split *split;
    const bpe_match *match; /* strings that the text is cut at; their ids are 0 */
    bpe_workspace *w;
    const uint8_t *text;
    size_t n;
} job;

/* Every path, cached or not, twice; all the same. Returns the ids, which the caller frees. */
static uint32_t *check_paths(const job *j, size_t *n_ids) {
    uint32_t *first = NULL;
    for (uint32_t way = 0; way < 7; way++) {
        FUZZ_CHECK(bpe_workspace_configure(j->w, way % 3, way >= 3) == BPE_OK);
        uint32_t *ids = fuzz_array(j->n, sizeof *ids);
        size_t n = 0, counted = 0;
        FUZZ_CHECK(bpe_encode(j->model, j->split, j->match, NULL, j->w, j->text, j->n, ids, j->n,
                              &n, NULL) == BPE_OK);
        FUZZ_CHECK(bpe_encode(j->model, j->split, j->match, NULL, j->w, j->text, j->n, NULL, 0,
                              &counted, NULL) == BPE_OK);
        FUZZ_CHECK(n == counted && n <= j->n);
        if (way == 0) {
            first = ids;
            *n_ids = n;
            continue;
        }
        FUZZ_CHECK(fuzz_same(ids, n * sizeof *ids, first, *n_ids * sizeof *ids));
        free(ids);
    }
    return first;
}

static void check_decode(const job *j, const uint32_t *ids, size_t n_ids) {
    uint8_t *back = fuzz_array(j->n, 1);
    size_t size = 0;
    FUZZ_CHECK(bpe_decode(j->model, ids, n_ids, back, j->n, &size, NULL) == BPE_OK);
    FUZZ_CHECK(fuzz_same(back, size, j->text, j->n));
    free(back);
}

/* Two halves as a batch, and as pretokens, are the halves encoded apart. */
static void check_halves(const job *j) {
    size_t half = j->n / 2, offsets[3] = {0, half, j->n}, id_offsets[3], n = 0, n_second = 0;
    uint32_t *want = fuzz_array(j->n, sizeof *want), *got = fuzz_array(j->n, sizeof *got);
    FUZZ_CHECK(bpe_encode(j->model, j->split, j->match, NULL, j->w, j->text, half, want, half, &n,
                          NULL) == BPE_OK);
    FUZZ_CHECK(bpe_encode(j->model, j->split, j->match, NULL, j->w, j->text + half, j->n - half,
                          want + n, j->n - half, &n_second, NULL) == BPE_OK);
    FUZZ_CHECK(bpe_encode_batch(j->model, j->split, j->match, NULL, j->w, j->text, offsets, 2, got,
                                j->n, id_offsets, NULL) == BPE_OK);
    FUZZ_CHECK(id_offsets[0] == 0 && id_offsets[1] == n && id_offsets[2] == n + n_second);
    FUZZ_CHECK(fuzz_same(got, (n + n_second) * 4, want, (n + n_second) * 4));
    if (!j->match && half > 0) {
        size_t n_got = 0;
        FUZZ_CHECK(bpe_encode_pretokens(j->model, j->w, j->text, j->n, offsets + 1, 2, got, j->n,
                                        &n_got, NULL) == BPE_OK);
        FUZZ_CHECK(fuzz_same(got, n_got * 4, want, (n + n_second) * 4));
    }
    free(want);
    free(got);
}

/* The text cut at one string is its parts encoded apart; and as forbidden it is refused there. */
static void check_match(job *j, size_t size) {
    uint32_t length = (uint32_t)size, id = m.ids[0];
    bpe_match *match = NULL;
    FUZZ_CHECK(bpe_match_new(j->text, &length, &id, 1, &match, NULL) == BPE_OK);
    bpe_error err = {0};
    size_t n = 0, n_want = 0, n_got = 0, start = 0;
    FUZZ_CHECK(bpe_encode(j->model, j->split, NULL, match, j->w, j->text, j->n, NULL, 0, &n,
                          &err) == BPE_ERR_FORBIDDEN);
    FUZZ_CHECK(err.pos == 0); /* the text begins with it */
    uint32_t *want = fuzz_array(j->n, sizeof *want);
    for (size_t p = 0; p <= j->n;) {
        bool hit = j->n - p >= size && memcmp(j->text + p, j->text, size) == 0;
        if (!hit && p < j->n) {
            p++;
            continue;
        }
        if (p > start)
            n_want += slow_ids(j->text + start, p - start, want + n_want);
        if (!hit)
            break;
        want[n_want++] = id;
        start = p += size;
    }
    j->match = match;
    uint32_t *got = check_paths(j, &n_got);
    FUZZ_CHECK(fuzz_same(got, n_got * 4, want, n_want * 4));
    check_halves(j);
    free(got);
    free(want);
    bpe_match_free(match);
}

static void fuzz(fuzz_input *in) {
    uint32_t kind = fuzz_byte(in), match = fuzz_byte(in);
    bool wild = kind % 4 == 3;
    alphabet = kind & 4;
    if (kind % 4 == 0)
        read_ranks(in);
    if (kind % 4 == 1) {
        parts_init(&m, BPE_SEMANTICS_MERGES);
        read_merges(in);
    }
    if (kind % 4 == 2)
        read_characters(in);
    if (wild)
        read_wild(in);
    m.spec.whole_pretoken = kind >> 3 & 1;
    job j = {0};
    bpe_split *split = NULL;
    bpe_model *model = NULL;
    bpe_status status = bpe_model_new(&m.spec, &model, NULL);
    if (status != BPE_OK) {
        FUZZ_CHECK(wild && (status == BPE_ERR_MODEL || status == BPE_ERR_ARG) && model == NULL);
        return;
    }
    FUZZ_CHECK(bpe_split_new(NULL, 0, &split, NULL) == BPE_OK);
    FUZZ_CHECK(bpe_workspace_new(model, &j.w) == BPE_OK);
    uint8_t *text = fuzz_bytes(in, TEXT, &j.n);
    for (size_t i = 0; i < j.n; i++)
        text[i] = letter(text[i]);
    j.model = model;
    j.split = split;
    j.text = text;
    size_t n_ids;
    uint32_t *ids = check_paths(&j, &n_ids);
    if (m.spec.symbols == BPE_SYMBOLS_BYTES)
        check_decode(&j, ids, n_ids);
    check_halves(&j);
    if (!wild && j.n > 0) {
        uint32_t want[TEXT];
        size_t n_want = slow_ids(j.text, j.n, want);
        FUZZ_CHECK(fuzz_same(ids, n_ids * 4, want, n_want * 4));
        if (match % 8 >= 1 && match % 8 <= j.n)
            check_match(&j, match % 8);
    }
    free(ids);
    free(text);
    bpe_workspace_free(j.w);
    bpe_split_free(split);
    bpe_model_free(model);
}

FUZZ_TARGET(fuzz)
