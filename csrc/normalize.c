#include "normalize.h"

#include "maps.h"
#include "memory.h"
#include "utf8.h"

/* ---------------------------------------------------------------- character map */

/*
 * Cells of the double array: bits 0-7 label, bit 8 "a value hangs here", bit 9 "the offset is
 * scaled by 256", bits 10-30 offset; or bit 31 and a value. The child of the node at index i by
 * byte b is the cell i ^ b, if its label is b; its own node index is (i ^ b) ^ offset, and there
 * lies the cell of its value, if it has one.
 */
#define LABEL_BITS 0x800000FFu
#define HAS_VALUE 0x100u
#define IS_VALUE 0x80000000u
#define VALUE_BITS 0x7FFFFFFFu

/* Of rules that begin one another, so many of the shortest are seen. */
#define MAX_NESTED 32

static inline uint32_t cell_offset(uint32_t cell) { return (cell >> 10) << ((cell & 0x200) >> 6); }

static inline uint32_t read_le32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Afterwards no walk can leave the array: from every node all 256 children are cells. */
static bool cells_are_sound(const bpe_charsmap *map) {
    const uint32_t *cells = map->cells;
    uint32_t n = (uint32_t)map->n_cells;
    uint32_t root = cell_offset(cells[0]);
    if ((cells[0] & (LABEL_BITS | HAS_VALUE)) != 0 || root == 0 || (root | 255) >= n)
        return false;
    for (uint32_t i = 1; i < n; i++) {
        if (cells[i] & IS_VALUE) {
            if ((cells[i] & VALUE_BITS) >= map->pool_size)
                return false;
            continue;
        }
        uint32_t node = i ^ cell_offset(cells[i]);
        if ((node | 255) >= n || (cells[i] & HAS_VALUE && !(cells[node] & IS_VALUE)))
            return false;
    }
    return true;
}

bpe_status bpe_charsmap_init(bpe_charsmap *map, const uint8_t *blob, size_t size) {
    *map = (bpe_charsmap){0};
    if (size == 0)
        return BPE_OK;
    if (size <= 4)
        return BPE_ERR_MODEL;
    size_t trie_size = read_le32(blob);
    if (trie_size < 1024 || trie_size % 1024 != 0 || trie_size >= size - 4)
        return BPE_ERR_MODEL;
    map->n_cells = trie_size / 4;
    map->pool_size = size - 4 - trie_size;
    map->cells = bpe_mem_array(map->n_cells, sizeof *map->cells);
    map->pool = bpe_mem_copy(blob + 4 + trie_size, map->pool_size, 1);
    if (!map->cells || !map->pool)
        return BPE_ERR_NOMEM;
    for (size_t i = 0; i < map->n_cells; i++)
        map->cells[i] = read_le32(blob + 4 + 4 * i);
    if (map->pool[map->pool_size - 1] != 0 || !cells_are_sound(map))
        return BPE_ERR_MODEL;
    return BPE_OK;
}

void bpe_charsmap_free(bpe_charsmap *map) {
    bpe_mem_free(map->cells);
    bpe_mem_free(map->pool);
    *map = (bpe_charsmap){0};
}

bool bpe_is_utf8(const uint8_t *p, size_t n) {
    const uint8_t *end = p + n;
    while (p < end) {
        uint32_t cp;
        size_t length = bpe_utf8_decode(p, end, &cp);
        if (length == 1 && *p >= 0x80)
            return false;
        p += length;
    }
    return true;
}

bool bpe_charsmap_is_utf8(const bpe_charsmap *map) {
    if (map->n_cells == 0)
        return true;
    if (!bpe_is_utf8(map->pool, map->pool_size))
        return false;
    /* And none begins within a character. */
    for (size_t i = 1; i < map->n_cells; i++) {
        uint32_t cell = map->cells[i];
        if (cell & IS_VALUE && (map->pool[cell & VALUE_BITS] & 0xC0) == 0x80)
            return false;
    }
    return true;
}

size_t bpe_charsmap_longest(const bpe_charsmap *map, const uint8_t *p, const uint8_t *end,
                            const uint8_t **replacement, size_t *n) {
    const uint32_t *cells = map->cells;
    uint32_t node = cell_offset(cells[0]);
    size_t best = 0;
    uint32_t value = 0;
    int seen = 0;
    for (const uint8_t *q = p; q < end; q++) {
        node ^= *q;
        uint32_t cell = cells[node];
        if ((cell & LABEL_BITS) != *q)
            break;
        node ^= cell_offset(cell);
        if (cell & HAS_VALUE && ++seen <= MAX_NESTED) {
            value = cells[node] & VALUE_BITS;
            best = (size_t)(q - p) + 1;
        }
    }
    if (best > 0) {
        *replacement = map->pool + value;
        *n = strlen((const char *)*replacement);
    }
    return best;
}

/* ---------------------------------------------------------------- normaliser */

/* Whether some rule begins with these two bytes. */
static bool rules_begin(const bpe_charsmap *map, uint8_t first, uint8_t second) {
    uint32_t node = cell_offset(map->cells[0]) ^ first;
    if ((map->cells[node] & LABEL_BITS) != first)
        return false;
    node ^= cell_offset(map->cells[node]) ^ second;
    return (map->cells[node] & LABEL_BITS) == second;
}

static uint8_t ascii_action(const bpe_charsmap *map, uint8_t byte) {
    uint8_t self = byte == ' ' ? BPE_ASCII_SPACE : BPE_ASCII_COPY;
    if (map->n_cells == 0)
        return self;
    const uint8_t *replacement;
    size_t n;
    if (bpe_charsmap_longest(map, &byte, &byte + 1, &replacement, &n) > 0 &&
        (n != 1 || *replacement != byte)) {
        return BPE_ASCII_STEP;
    }
    for (uint8_t second = 0; second < 128; second++) {
        if (rules_begin(map, byte, second))
            return BPE_ASCII_STEP;
    }
    return self;
}

bpe_status bpe_normalizer_init(bpe_normalizer *norm, const bpe_normalizer_spec *spec) {
    norm->flags = spec->flags;
    bpe_status status = bpe_charsmap_init(&norm->map, spec->charsmap, spec->charsmap_size);
    if (status != BPE_OK)
        return status;
    for (uint8_t b = 0; b < 128; b++)
        norm->ascii[b] = ascii_action(&norm->map, b);
    norm->copies_ascii = norm->map.n_cells == 0;
    return BPE_OK;
}

void bpe_normalizer_free(bpe_normalizer *norm) { bpe_charsmap_free(&norm->map); }

void bpe_text_free(bpe_text *text) {
    bpe_mem_free(text->bytes);
    bpe_mem_free(text->offsets);
    *text = (bpe_text){0};
}

/* ---------------------------------------------------------------- output */

static bool reserve(bpe_normalize_cursor *c, size_t more) {
    bpe_text *out = c->out;
    if (more > SIZE_MAX / 2 - out->n)
        return false;
    if (!bpe_mem_grow((void **)&out->bytes, &out->cap, out->n + more + BPE_TEXT_PADDING, 1))
        return false;
    return !c->with_offsets || bpe_mem_grow((void **)&out->offsets, &out->offsets_cap,
                                            out->n + more + 1, sizeof *out->offsets);
}

/* One byte, when there is room. */
static inline void put_byte(bpe_normalize_cursor *c, uint8_t byte, size_t at) {
    if (c->with_offsets)
        c->out->offsets[c->out->n] = at;
    c->out->bytes[c->out->n++] = byte;
}

static inline bool escapes(const bpe_normalize_cursor *c) {
    return (c->norm->flags & BPE_NORMALIZE_ESCAPE) != 0;
}

static void put_space(bpe_normalize_cursor *c, size_t at) {
    if (c->compact || !escapes(c)) {
        put_byte(c, ' ', at);
        return;
    }
    for (size_t i = 0; i < BPE_MARK_BYTES; i++)
        put_byte(c, BPE_MARK[i], at);
}

static bool put(bpe_normalize_cursor *c, const uint8_t *p, size_t n, size_t at) {
    if (n > SIZE_MAX / 8 || !reserve(c, BPE_MARK_BYTES * n))
        return false;
    bool shortens = c->compact && escapes(c);
    const uint8_t *end = p + n;
    while (p < end) {
        if (*p == ' ') {
            put_space(c, at);
            p++;
        } else if (shortens && bpe_is_mark(p, end)) {
            put_byte(c, ' ', at);
            p += BPE_MARK_BYTES;
        } else {
            put_byte(c, *p++, at);
        }
    }
    return true;
}

/* ---------------------------------------------------------------- one step */

/* The first user-defined symbol that does not begin before c->at, or c->n. */
static size_t next_user(bpe_normalize_cursor *c) {
    if (!c->user)
        return c->n;
    while (c->next_hit < c->user->n && c->user->items[c->next_hit].start < c->at)
        c->next_hit++;
    return c->next_hit < c->user->n ? c->user->items[c->next_hit].start : c->n;
}

/* What stands at a place: `n` bytes of it become `to`. */
typedef struct step {
    const uint8_t *to;
    size_t n_to;
    size_t n;
} step;

static const uint8_t REPLACEMENT[3] = {0xEF, 0xBF, 0xBD};

static step read_step(bpe_normalize_cursor *c) {
    const uint8_t *p = c->data + c->at;
    const uint8_t *end = c->data + c->n;
    if (next_user(c) == c->at) {
        size_t n = c->user->items[c->next_hit].end - c->at;
        return (step){p, n, n};
    }
    if (c->norm->map.n_cells > 0) {
        step s;
        s.n = bpe_charsmap_longest(&c->norm->map, p, end, &s.to, &s.n_to);
        if (s.n > 0)
            return s;
    }
    uint32_t cp;
    size_t n = bpe_utf8_decode(p, end, &cp);
    if (n == 1 && *p >= 0x80 && !c->keeps_invalid)
        return (step){REPLACEMENT, sizeof REPLACEMENT, 1};
    return (step){p, n, n};
}

/* Do the step at c->at with the white space rules. */
static bool take_step(bpe_normalize_cursor *c) {
    step s = read_step(c);
    if (c->after_space) {
        while (s.n_to > 0 && *s.to == ' ') {
            s.to++;
            s.n_to--;
        }
    }
    if (s.n_to > 0) {
        if (!put(c, s.to, s.n_to, c->at))
            return false;
        c->after_space = s.to[s.n_to - 1] == ' ';
    }
    c->at += s.n;
    if (!(c->norm->flags & BPE_NORMALIZE_SQUEEZE))
        c->after_space = false;
    return true;
}

/* ---------------------------------------------------------------- ASCII, quickly */

/* ASCII text is looked for in stretches of this many bytes. */
#define ASCII_STRETCH 4096

/* Where the ASCII text that begins at c->at ends, as far as was looked. */
static size_t ascii_end(bpe_normalize_cursor *c) {
    if (c->at < c->ascii_end)
        return c->ascii_end;
    size_t at = c->at;
    size_t limit = c->n - at < ASCII_STRETCH ? c->n : at + ASCII_STRETCH;
    while (limit - at >= 8 && (bpe_load64(c->data + at) & 0x8080808080808080u) == 0)
        at += 8;
    while (at < limit && c->data[at] < 0x80)
        at++;
    c->ascii_end = at;
    return at;
}

/*
 * Take as much as goes without a look-up, and possibly nothing: ASCII text whose bytes stand for
 * themselves. With a map, the last ASCII byte before another character may be part of a rule and is
 * left.
 */
static bool take_ascii(bpe_normalize_cursor *c) {
    size_t end = ascii_end(c);
    size_t user = next_user(c);
    if (user < end)
        end = user;
    if (!c->norm->copies_ascii && end < c->n && c->data[end] >= 0x80 && end > c->at)
        end--;
    if (end == c->at)
        return true;
    if (!reserve(c, BPE_MARK_BYTES * (end - c->at)))
        return false;
    bool squeezes = (c->norm->flags & BPE_NORMALIZE_SQUEEZE) != 0;
    if (c->norm->copies_ascii && !squeezes && (c->compact || !escapes(c)) && !c->with_offsets) {
        memcpy(c->out->bytes + c->out->n, c->data + c->at, end - c->at);
        c->out->n += end - c->at;
        c->at = end;
        return true;
    }
    for (; c->at < end; c->at++) {
        uint8_t b = c->data[c->at];
        uint8_t action = c->norm->ascii[b];
        if (action == BPE_ASCII_COPY) {
            put_byte(c, b, c->at);
            c->after_space = false;
        } else if (action == BPE_ASCII_STEP) {
            break;
        } else if (!c->after_space) {
            put_space(c, c->at);
            c->after_space = squeezes;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- one text */

bpe_status bpe_normalize_begin(bpe_normalize_cursor *c, const bpe_normalizer *norm,
                               const uint8_t *data, size_t n, const bpe_hits *user, bool compact,
                               bool with_offsets, bpe_text *out) {
    *c = (bpe_normalize_cursor){
        .norm = norm,
        .data = data,
        .n = n,
        .user = user && user->n > 0 ? user : NULL,
        .out = out,
        .compact = compact,
        .with_offsets = with_offsets,
        .after_space = (norm->flags & BPE_NORMALIZE_SQUEEZE) != 0,
    };
    if (!reserve(c, BPE_MARK_BYTES))
        return BPE_ERR_NOMEM;
    if (norm->flags & BPE_NORMALIZE_SQUEEZE) {
        while (c->at < n) {
            step s = read_step(c);
            if (s.n_to != 1 || *s.to != ' ')
                break;
            c->at += s.n;
        }
    }
    c->done = c->at == n; /* an empty text gets no mark either */
    if (c->done && with_offsets)
        out->offsets[out->n] = 0;
    uint32_t marks = norm->flags & (BPE_NORMALIZE_MARK | BPE_NORMALIZE_MARK_AFTER);
    if (!c->done && marks == BPE_NORMALIZE_MARK)
        put_space(c, c->at);
    return BPE_OK;
}

/* The text is trimmed of marks at its end, and of typed ones too. */
static bool finish(bpe_normalize_cursor *c) {
    bpe_text *out = c->out;
    bool one_byte = c->compact || !escapes(c);
    size_t end = c->at;
    if (c->norm->flags & BPE_NORMALIZE_SQUEEZE) {
        for (;;) {
            size_t n = one_byte ? 1 : BPE_MARK_BYTES;
            if (out->n < n)
                break;
            const uint8_t *last = out->bytes + out->n - n;
            if (one_byte ? *last != ' ' : !bpe_is_mark(last, last + n))
                break;
            out->n -= n;
            if (c->with_offsets)
                end = out->offsets[out->n];
        }
    }
    if (!reserve(c, BPE_MARK_BYTES))
        return false;
    uint32_t marks = BPE_NORMALIZE_MARK | BPE_NORMALIZE_MARK_AFTER;
    if ((c->norm->flags & marks) == marks)
        put_space(c, end);
    if (c->with_offsets)
        out->offsets[out->n] = end;
    memset(out->bytes + out->n, 0, BPE_TEXT_PADDING);
    c->done = true;
    return true;
}

bpe_status bpe_normalize_more(bpe_normalize_cursor *c, size_t want) {
    if (c->done)
        return BPE_OK;
    size_t stop = want < SIZE_MAX - c->out->n ? c->out->n + want : SIZE_MAX;
    while (c->at < c->n && c->out->n < stop) {
        size_t before = c->at;
        if (!take_ascii(c))
            return BPE_ERR_NOMEM;
        if (c->at == before && !take_step(c))
            return BPE_ERR_NOMEM;
    }
    if (c->at < c->n) {
        if (!reserve(c, 0))
            return BPE_ERR_NOMEM;
        memset(c->out->bytes + c->out->n, 0, BPE_TEXT_PADDING);
        return BPE_OK;
    }
    return finish(c) ? BPE_OK : BPE_ERR_NOMEM;
}
