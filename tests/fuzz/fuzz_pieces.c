/* Pieces: codepoint models of the input's making, right and wrong ones, with character maps. All
 * ways to encode a text agree, spans cover it, and what was encoded is decoded again. */
#include "pieces.h"

#include "charsmap.h"
#include "fuzz.h"

enum { PIECES = 257 + 48, PIECE = 24, TEXT = 300, WAYS = 7 };

static struct {
    uint8_t data[PIECES * PIECE];
    uint32_t lengths[PIECES];
    float scores[PIECES];
    uint8_t types[PIECES];
    bpe_pieces_spec spec;
} m;

static const char *const LETTERS[] = {"a", "b",  " ",    "\xE2\x96\x81", "\xC3\xA9",     "c",
                                      "A", "\t", "\xE2", "\xFF",         "\xE4\xB8\xAD", "ab"};

/* One letter of few, so that pieces come up; or the byte itself. */
static size_t letter(uint8_t x, uint8_t out[4]) {
    if (x >= 0xC0) {
        out[0] = (uint8_t)(x << 2 | x >> 6);
        return 1;
    }
    const char *s = LETTERS[x % 12];
    memcpy(out, s, strlen(s));
    return strlen(s);
}

static void add(const uint8_t *text, size_t n, float score, uint8_t type) {
    size_t i = m.spec.n_pieces++;
    memcpy(m.data + m.spec.piece_data_size, text, n);
    m.spec.piece_data_size += n;
    m.lengths[i] = (uint32_t)n;
    m.scores[i] = score;
    m.types[i] = type;
}

static bool holds(const uint8_t *text, size_t n) {
    const uint8_t *at = m.data;
    for (size_t i = 0; i < m.spec.n_pieces; at += m.lengths[i], i++) {
        if (m.lengths[i] == n && memcmp(at, text, n) == 0)
            return true;
    }
    return false;
}

static void read_pieces(fuzz_input *in, bool wild) {
    static const float scores[] = {0.0f, -0.0f, -1.0f, 1.0f, -1e30f, 1e30f};
    m.spec.byte_fallback = fuzz_below(in, 2);
    uint32_t odd_types = fuzz_byte(in);
    add((const uint8_t *)"<unk>", 5, 0, BPE_PIECE_UNKNOWN);
    for (int b = 0; m.spec.byte_fallback && b < 256; b++) {
        char text[8];
        snprintf(text, sizeof text, "<0x%02X>", b);
        add((const uint8_t *)text, 6, 0, BPE_PIECE_BYTE);
    }
    for (uint32_t i = fuzz_below(in, 48); i > 0; i--) {
        uint8_t text[PIECE];
        size_t n = 0;
        for (uint32_t k = fuzz_below(in, 5) + !wild; k > 0; k--)
            n += letter(fuzz_byte(in), text + n);
        uint8_t x = fuzz_byte(in), type = BPE_PIECE_NORMAL;
        if (x < odd_types) /* a few, or none, or most */
            type = (uint8_t)(wild ? x % 9 : 3 + x % 3);
        float score = x % 8 < 6 ? scores[x % 8] : -(float)fuzz_byte(in);
        if (wild && x == 255)
            score = strtof("nan", NULL);
        if (wild || !holds(text, n))
            add(text, n, score, type);
    }
}

/* A working map, one with bytes changed, or none. */
static void read_map(fuzz_input *in, bpe_normalizer_spec *norm, uint8_t blob[CHARSMAP_SIZE]) {
    uint32_t kind = fuzz_byte(in);
    norm->flags = kind & 15;
    if (kind >> 4 & 1)
        return;
    charsmap_make(blob);
    norm->charsmap = blob;
    norm->charsmap_size = CHARSMAP_SIZE;
    for (uint32_t i = kind >> 5; i > 4; i--) {
        size_t at = (size_t)fuzz_byte(in) << 8;
        at |= fuzz_byte(in);
        at = at & 0x8000 ? 4 + 4 * 256 + at % (4 * 300) : at % CHARSMAP_SIZE;
        blob[at] = fuzz_byte(in);
    }
}

/* ---------------------------------------------------------------- checks */

static uint32_t *check_ways(const bpe_pieces *pieces, bpe_pieces_workspace *w, const uint8_t *data,
                            size_t n, size_t *n_ids) {
    uint32_t *first = NULL;
    for (uint32_t way = 0; way < WAYS; way++) {
        const uint32_t *ids;
        size_t got = 0;
        FUZZ_CHECK(bpe_pieces_workspace_configure(w, way / 2, way & 1) == BPE_OK);
        FUZZ_CHECK(bpe_pieces_encode(pieces, NULL, NULL, NULL, w, data, n, &ids, &got, NULL) ==
                   BPE_OK);
        if (way == 0) {
            *n_ids = got;
            first = fuzz_array(got, sizeof *first);
            if (got)
                memcpy(first, ids, got * sizeof *first);
        }
        FUZZ_CHECK(fuzz_same(ids, got * 4, first, *n_ids * 4));
    }
    return first;
}

static void check_spans(const bpe_pieces *pieces, bpe_pieces_workspace *w, const uint8_t *data,
                        size_t n, const uint32_t *want, size_t n_want) {
    const uint32_t *ids;
    const bpe_span *spans;
    const uint8_t *text;
    size_t n_ids, n_text, at = 0, begin = 0;
    uint32_t compact;
    FUZZ_CHECK(bpe_pieces_encode_spans(pieces, NULL, w, data, n, &ids, &spans, &n_ids, &text,
                                       &n_text, &compact, NULL) == BPE_OK);
    FUZZ_CHECK(fuzz_same(ids, n_ids * 4, want, n_want * 4));
    for (size_t i = 0; i < n_ids; i++) {
        FUZZ_CHECK(spans[i].text_begin == at && spans[i].text_end >= at);
        FUZZ_CHECK(spans[i].begin >= begin && spans[i].begin <= spans[i].end && spans[i].end <= n);
        at = spans[i].text_end;
        begin = spans[i].begin;
    }
    FUZZ_CHECK(at == n_text);
}

/* Two halves in a batch are the halves apart; dropout is the same for the same seed. */
static void check_batch(const bpe_pieces *pieces, bpe_pieces_workspace *w, const uint8_t *data,
                        size_t n, const bpe_dropout *dropout) {
    size_t half = n / 2, offsets[3] = {0, half, n}, id_offsets[3];
    const uint32_t *ids;
    FUZZ_CHECK(bpe_pieces_encode_batch(pieces, NULL, NULL, dropout, w, data, offsets, 2, &ids,
                                       id_offsets, NULL) == BPE_OK);
    FUZZ_CHECK(id_offsets[0] == 0 && id_offsets[1] <= id_offsets[2]);
    size_t total = id_offsets[2];
    uint32_t *want = fuzz_array(total, sizeof *want);
    if (total)
        memcpy(want, ids, total * sizeof *want);
    for (size_t i = 0; i < 2; i++) {
        bpe_dropout own = dropout ? *dropout : (bpe_dropout){0};
        own.seed += i;
        size_t got = 0, n_want = id_offsets[i + 1] - id_offsets[i];
        FUZZ_CHECK(bpe_pieces_encode(pieces, NULL, NULL, dropout ? &own : NULL, w,
                                     data + offsets[i], offsets[i + 1] - offsets[i], &ids, &got,
                                     NULL) == BPE_OK);
        FUZZ_CHECK(fuzz_same(ids, got * 4, want + id_offsets[i], n_want * 4));
    }
    free(want);
}

static void check_decode(const bpe_pieces *pieces, const uint32_t *ids, size_t n_ids) {
    uint8_t *whole = NULL, *part = NULL;
    size_t n_whole = 0, n_part = 0, at = 0;
    uint32_t at_start = 1, bad = (uint32_t)m.spec.n_pieces;
    FUZZ_CHECK(bpe_pieces_decode(pieces, ids, n_ids, 0, &at_start, &whole, &n_whole, NULL) ==
               BPE_OK);
    at_start = 1;
    bool mapped = m.spec.denormalizer.charsmap != NULL;
    /* And bit by bit, unless there are rules for what is decoded, which may span ids. */
    for (size_t i = 0; i < n_ids && !mapped; i++, at += n_part) {
        FUZZ_CHECK(bpe_pieces_decode(pieces, ids + i, 1, 0, &at_start, &part, &n_part, NULL) ==
                   BPE_OK);
        FUZZ_CHECK(n_part <= n_whole - at && fuzz_same(part, n_part, whole + at, n_part));
        bpe_pieces_free_text(part);
    }
    FUZZ_CHECK(mapped || at == n_whole);
    bpe_pieces_free_text(whole);
    at_start = 1;
    FUZZ_CHECK(bpe_pieces_decode(pieces, ids, n_ids, 1, &at_start, &whole, &n_whole, NULL) ==
               BPE_OK);
    bpe_pieces_free_text(whole);
    bpe_error err = {0};
    at_start = 1;
    FUZZ_CHECK(bpe_pieces_decode(pieces, &bad, 1, 0, &at_start, &whole, &n_whole, &err) ==
               BPE_ERR_ID);
    FUZZ_CHECK(err.pos == 0 && at_start == 1);
}

static void check_all(const bpe_pieces *pieces, const uint8_t *data, size_t n,
                      const bpe_dropout *dropout) {
    bpe_pieces_workspace *w = NULL;
    FUZZ_CHECK(bpe_pieces_workspace_new(pieces, &w) == BPE_OK);
    size_t n_ids, n_text;
    uint32_t *ids = check_ways(pieces, w, data, n, &n_ids);
    check_spans(pieces, w, data, n, ids, n_ids);
    check_batch(pieces, w, data, n, NULL);
    check_batch(pieces, w, data, n, dropout);
    check_decode(pieces, ids, n_ids);
    const uint8_t *text;
    const size_t *where;
    FUZZ_CHECK(bpe_pieces_normalize(pieces, w, data, n, &text, &n_text, &where) == BPE_OK);
    for (size_t i = 0; i <= n_text && n_text > 0; i++)
        FUZZ_CHECK(where[i] <= n && (i == 0 || where[i] >= where[i - 1]));
    free(ids);
    bpe_pieces_workspace_free(w);
}

static void fuzz(fuzz_input *in) {
    static uint8_t maps[2][CHARSMAP_SIZE];
    uint32_t kind = fuzz_byte(in);
    bool wild = kind % 8 == 7;
    memset(&m, 0, sizeof m);
    m.spec.piece_data = m.data;
    m.spec.piece_lengths = m.lengths;
    m.spec.scores = m.scores;
    m.spec.types = m.types;
    m.spec.unk_surface = (const uint8_t *)" \xE2\x81\x87 ";
    m.spec.unk_surface_size = kind & 8 ? 5 : 0;
    read_map(in, &m.spec.normalizer, maps[0]);
    if (kind & 16)
        read_map(in, &m.spec.denormalizer, maps[1]);
    read_pieces(in, wild);
    bpe_dropout dropout = {fuzz_byte(in) / 200.0, fuzz_byte(in)};
    size_t n = 0;
    uint8_t typed[TEXT + 4];
    while (in->n > 0 && n < TEXT)
        n += letter(fuzz_byte(in), typed + n);
    bpe_pieces *pieces = NULL;
    bpe_error err = {0};
    bpe_status status = bpe_pieces_new(&m.spec, &pieces, &err);
    if (status != BPE_OK) {
        FUZZ_CHECK(status == BPE_ERR_MODEL && pieces == NULL && err.code == status);
        FUZZ_CHECK(wild || err.pos >> 32 == BPE_PIECES_CHARSMAP);
        return;
    }
    fuzz_input exact = {typed, n};
    uint8_t *data = fuzz_bytes(&exact, n, &n);
    check_all(pieces, data, n, &dropout);
    free(data);
    bpe_pieces_free(pieces);
}

FUZZ_TARGET(fuzz)
