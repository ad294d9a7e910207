/* Normalize: character maps of the input's making, sound and damaged ones, and any text. A damaged
 * map is refused, or every walk stays inside it: the sanitizers see to that. */
#include "normalize.h"

#include "charsmap.h"
#include "fuzz.h"

enum { TEXT = 500 };

/* A map that works, with some bytes changed; or the input's own bytes. */
static uint8_t *read_map(fuzz_input *in, uint32_t kind, size_t *size) {
    uint8_t *blob;
    if (kind % 4 == 0) {
        *size = 0;
        return fuzz_array(0, 1);
    }
    if (kind % 4 == 1)
        return fuzz_bytes(in, fuzz_byte(in) * 64u, size);
    *size = CHARSMAP_SIZE;
    blob = fuzz_array(*size, 1);
    charsmap_make(blob);
    for (uint32_t i = kind % 4 == 2 ? 0 : fuzz_byte(in) % 16u; i > 0; i--) {
        size_t at = (size_t)fuzz_byte(in) << 8;
        at |= fuzz_byte(in);
        /* Where the rules are, or anywhere. */
        at = at & 0x8000 ? 4 + 4 * 256 + at % (4 * 300) : at % *size;
        blob[at] = fuzz_byte(in);
    }
    return blob;
}

static void normalize(const bpe_normalizer *norm, const uint8_t *data, size_t n, bool compact,
                      bool with_offsets, size_t want, bpe_text *text) {
    bpe_normalize_cursor c;
    *text = (bpe_text){0};
    FUZZ_CHECK(bpe_normalize_begin(&c, norm, data, n, NULL, compact, with_offsets, text) == BPE_OK);
    while (!c.done)
        FUZZ_CHECK(bpe_normalize_more(&c, want) == BPE_OK);
}

/* The full text with a space for every mark. */
static void check_compact(const bpe_text *full, const bpe_text *compact) {
    size_t n = 0;
    for (const uint8_t *p = full->bytes, *end = p + full->n; full->n > 0 && p < end;) {
        bool mark = bpe_is_mark(p, end);
        FUZZ_CHECK(*p != ' ' && n < compact->n && compact->bytes[n] == (mark ? ' ' : *p));
        n++;
        p += mark ? BPE_MARK_BYTES : 1;
    }
    FUZZ_CHECK(n == compact->n);
}

static void check_text(const bpe_normalizer *norm, const uint8_t *data, size_t n, size_t portion) {
    bpe_text whole[2], parts;
    for (int compact = 0; compact < 2; compact++) {
        normalize(norm, data, n, compact, false, SIZE_MAX, &whole[compact]);
        normalize(norm, data, n, compact, true, portion, &parts);
        FUZZ_CHECK(fuzz_same(parts.bytes, parts.n, whole[compact].bytes, whole[compact].n));
        for (size_t i = 0; parts.n > 0 && i <= parts.n; i++)
            FUZZ_CHECK(parts.offsets[i] <= n &&
                       (i == 0 || parts.offsets[i] >= parts.offsets[i - 1]));
        bpe_text_free(&parts);
    }
    bool utf8 = bpe_charsmap_is_utf8(&norm->map);
    FUZZ_CHECK(!utf8 || bpe_is_utf8(whole[0].bytes, whole[0].n));
    /* Only then is a space in the full text never a real one, and a mark never made of parts. */
    if (utf8 && norm->flags & BPE_NORMALIZE_ESCAPE)
        check_compact(&whole[0], &whole[1]);
    bpe_text_free(&whole[0]);
    bpe_text_free(&whole[1]);
}

/* The longest rule is what a longer look finds, too, unless it is longer itself. */
static void check_rules(const bpe_charsmap *map, const uint8_t *data, size_t n) {
    for (size_t p = 0; map->n_cells > 0 && p < n; p++) {
        const uint8_t *to = NULL;
        size_t n_to = 0, length = bpe_charsmap_longest(map, data + p, data + n, &to, &n_to);
        FUZZ_CHECK(length <= n - p);
        if (length == 0)
            continue;
        const uint8_t *again = NULL;
        size_t n_again = 0;
        FUZZ_CHECK(to >= map->pool && to + n_to < map->pool + map->pool_size && to[n_to] == 0);
        FUZZ_CHECK(bpe_charsmap_longest(map, data + p, data + p + length, &again, &n_again) ==
                   length);
        FUZZ_CHECK(again == to && n_again == n_to);
    }
}

/* The rules of the map as charsmap.h makes it. */
static void check_known_rules(const bpe_charsmap *map, const uint8_t *data, size_t n) {
    static const struct {
        const char *from, *to;
    } rules[] = {{"AB", ""}, {"A", "aa"}, {"\xC3\xA9", "e "}, {"\t", " "}, {"", ""}};
    for (size_t p = 0; p < n; p++) {
        size_t i = 0, from = 0, n_to = 0;
        for (; (from = strlen(rules[i].from)) > 0; i++) {
            if (from <= n - p && memcmp(data + p, rules[i].from, from) == 0)
                break;
        }
        const uint8_t *to = NULL;
        FUZZ_CHECK(bpe_charsmap_longest(map, data + p, data + n, &to, &n_to) == from);
        FUZZ_CHECK(from == 0 || fuzz_same(to, n_to, rules[i].to, strlen(rules[i].to)));
    }
}

static void fuzz(fuzz_input *in) {
    uint32_t flags = fuzz_byte(in) % 16u;
    size_t portion = 1u + fuzz_byte(in), size, n;
    uint32_t kind = fuzz_byte(in);
    uint8_t *blob = read_map(in, kind, &size);
    bpe_normalizer norm = {0};
    bpe_normalizer_spec spec = {flags, blob, size};
    bpe_status status = bpe_normalizer_init(&norm, &spec);
    FUZZ_CHECK(status == BPE_OK || status == BPE_ERR_MODEL);
    free(blob);
    uint8_t *data = fuzz_bytes(in, TEXT, &n);
    if (status == BPE_OK) {
        check_text(&norm, data, n, portion);
        check_rules(&norm.map, data, n);
        if (kind % 4 == 2)
            check_known_rules(&norm.map, data, n);
    }
    free(data);
    bpe_normalizer_free(&norm);
}

FUZZ_TARGET(fuzz)
