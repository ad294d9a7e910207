#include "json_lines.h"

#include <stdbool.h>
#include <string.h>

#include "utf8.h"

/* How deep arrays and objects may be nested; a bit for each level says which of both it is. */
#define MAX_DEPTH 4096

#define ONES UINT64_C(0x0101010101010101)
#define HIGH UINT64_C(0x8080808080808080)

/*
 * What is read: no function goes beyond `end`, where the line ends. Strings that nobody wants are
 * written out like those that are, to `scratch`: there is always as much room as there is left to
 * read, for no string is longer than what it is written as.
 */
typedef struct cursor {
    const uint8_t *p;
    const uint8_t *end;
    uint8_t *scratch;
} cursor;

static void skip_space(cursor *c) {
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\r'))
        c->p++;
}

static bool take(cursor *c, uint8_t byte) {
    if (c->p == c->end || *c->p != byte)
        return false;
    c->p++;
    return true;
}

static bool take_word(cursor *c, const char *word) {
    size_t n = strlen(word);
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
        return false;
    c->p += n;
    return true;
}

/* ---------------------------------------------------------------- strings */

/*
 * The bytes of eight that are a quote, a backslash, a control character or not ASCII: their highest
 * bits are set, and perhaps some of bytes above them, never of one below the first.
 */
static uint64_t special_bytes(uint64_t v) {
    uint64_t quote = v ^ (ONES * '"'), backslash = v ^ (ONES * '\\');
    uint64_t zero = ((quote - ONES) & ~quote) | ((backslash - ONES) & ~backslash);
    return (zero | ((v - ONES * 0x20) & ~v) | v) & HIGH;
}

/* Which of eight bytes is the first that has its highest bit set, or one before it. */
static size_t first_byte(uint64_t bits) {
#if (defined(__GNUC__) || defined(__clang__)) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (size_t)__builtin_ctzll(bits) / 8;
#else
    (void)bits;
    return 0; /* the caller takes them one by one */
#endif
}

/* Copy what is plain ASCII; `*to` is where the copy ends. There is room for as much as is read. */
static void plain(cursor *c, uint8_t **to) {
    const uint8_t *p = c->p;
    uint8_t *q = *to;
    while (c->end - p >= 8) {
        uint64_t v, special;
        memcpy(&v, p, 8);
        memcpy(q, &v, 8);
        special = special_bytes(v);
        if (special != 0) {
            p += first_byte(special);
            q += first_byte(special);
            break;
        }
        p += 8;
        q += 8;
    }
    c->p = p;
    *to = q;
}

static bool hex4(cursor *c, uint32_t *unit) {
    if (c->end - c->p < 4)
        return false;
    uint32_t found = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t b = *c->p++;
        uint32_t letter = b | 0x20;
        if (b >= '0' && b <= '9')
            found = found << 4 | (b - '0');
        else if (letter >= 'a' && letter <= 'f')
            found = found << 4 | (letter - 'a' + 10);
        else
            return false;
    }
    *unit = found;
    return true;
}

static uint8_t *put(uint32_t cp, uint8_t *out) {
    if (cp < 0x80) {
        *out++ = (uint8_t)cp;
        return out;
    }
    if (cp < 0x800) {
        *out++ = (uint8_t)(0xC0 | cp >> 6);
    } else {
        if (cp < 0x10000) {
            *out++ = (uint8_t)(0xE0 | cp >> 12);
        } else {
            *out++ = (uint8_t)(0xF0 | cp >> 18);
            *out++ = (uint8_t)(0x80 | (cp >> 12 & 0x3F));
        }
        *out++ = (uint8_t)(0x80 | (cp >> 6 & 0x3F));
    }
    *out++ = (uint8_t)(0x80 | (cp & 0x3F));
    return out;
}

/* Read four hexadecimal digits, and the second half of a surrogate pair if it follows. */
static bool unicode_escape(cursor *c, uint32_t *cp) {
    if (!hex4(c, cp))
        return false;
    if (*cp < 0xD800 || *cp > 0xDFFF)
        return true;
    uint32_t high = *cp, low;
    *cp = 0xFFFD; /* half a pair alone */
    if (high > 0xDBFF || c->end - c->p < 6 || c->p[0] != '\\' || c->p[1] != 'u')
        return true;
    cursor ahead = {c->p + 2, c->end, NULL};
    if (!hex4(&ahead, &low))
        return false;
    if (low >= 0xDC00 && low <= 0xDFFF) {
        *cp = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        c->p = ahead.p;
    }
    return true;
}

/* Read what follows a backslash. */
static bool escape(cursor *c, uint32_t *cp) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (c->p == c->end)
        return false;
    uint8_t letter = *c->p++;
    if (letter == 'u')
        return unicode_escape(c, cp);
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (found == NULL)
        return false;
    *cp = (uint8_t)meanings[found - letters];
    return true;
}

/*
 * Read a string behind its first quote, and the last one; what it means goes to `to`. The result
 * is where that ends, or NULL for what is no string.
 */
static uint8_t *string(cursor *c, uint8_t *to) {
    for (;;) {
        plain(c, &to);
        uint32_t cp;
        do {
            if (c->p == c->end || *c->p < 0x20)
                return NULL;
            size_t size = bpe_utf8_decode(c->p, c->end, &cp);
            if (cp >= 0x80 && size == 1)
                return NULL;
            for (size_t i = 0; i < size; i++)
                to[i] = c->p[i];
            c->p += size;
            if (cp == '"')
                return to;
            if (cp == '\\')
                break;
            to += size;
        } while (cp >= 0x80);
        if (cp == '\\') {
            if (!escape(c, &cp))
                return NULL;
            to = put(cp, to);
        }
    }
}

/* ---------------------------------------------------------------- other values */

static bool digits(cursor *c) {
    const uint8_t *start = c->p;
    while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
        c->p++;
    return c->p > start;
}

static bool number(cursor *c) {
    if (take(c, '-') && take_word(c, "Infinity"))
        return true;
    if (!take(c, '0') && !digits(c))
        return false;
    if (take(c, '.') && !digits(c))
        return false;
    if (take(c, 'e') || take(c, 'E')) {
        if (!take(c, '+'))
            take(c, '-');
        return digits(c);
    }
    return true;
}

/* Read a value that is neither an object nor an array. */
static bool scalar(cursor *c) {
    if (c->p == c->end)
        return false;
    switch (*c->p) {
    case '"':
        c->p++;
        return string(c, c->scratch) != NULL;
    case 't':
        return take_word(c, "true");
    case 'f':
        return take_word(c, "false");
    case 'n':
        return take_word(c, "null");
    case 'N':
        return take_word(c, "NaN");
    case 'I':
        return take_word(c, "Infinity");
    default:
        return number(c);
    }
}

static bool key_and_colon(cursor *c) {
    skip_space(c);
    if (!take(c, '"') || !string(c, c->scratch))
        return false;
    skip_space(c);
    return take(c, ':');
}

/* Read any value and skip it: no recursion, for lines come from anybody. */
static bool skip_value(cursor *c) {
    uint64_t objects[MAX_DEPTH / 64];
    size_t depth = 0;
    for (;;) {
        skip_space(c);
        bool object = take(c, '{');
        if (object || take(c, '[')) {
            if (depth == MAX_DEPTH)
                return false;
            uint64_t bit = UINT64_C(1) << depth % 64;
            uint64_t others = depth % 64 ? objects[depth / 64] & ~bit : 0;
            objects[depth / 64] = others | (object ? bit : 0);
            depth++;
            skip_space(c);
            if (!take(c, object ? '}' : ']')) {
                if (object && !key_and_colon(c))
                    return false;
                continue;
            }
            depth--;
        } else if (!scalar(c)) {
            return false;
        }
        /* Behind a value: close what it ends, or go on to the next. */
        for (;;) {
            if (depth == 0)
                return true;
            object = objects[(depth - 1) / 64] >> (depth - 1) % 64 & 1;
            skip_space(c);
            if (take(c, ',')) {
                if (object && !key_and_colon(c))
                    return false;
                break;
            }
            if (!take(c, object ? '}' : ']'))
                return false;
            depth--;
        }
    }
}

/* ---------------------------------------------------------------- lines */

/*
 * Read a line that is one object; the text under the key goes to `out`. Returns where it ends, or
 * NULL when the line is no object or has no text there.
 */
static uint8_t *line(cursor *c, const uint8_t *key, size_t key_size, uint8_t *out) {
    uint8_t *text_end = NULL;
    skip_space(c);
    if (!take(c, '{'))
        return NULL;
    skip_space(c);
    if (take(c, '}'))
        return NULL;
    do {
        skip_space(c);
        c->scratch = text_end ? text_end : out;
        uint8_t *name_end;
        if (!take(c, '"') || !(name_end = string(c, c->scratch)))
            return NULL;
        size_t name_size = (size_t)(name_end - c->scratch);
        bool found = name_size == key_size && memcmp(c->scratch, key, key_size) == 0;
        skip_space(c);
        if (!take(c, ':'))
            return NULL;
        skip_space(c);
        if (found && take(c, '"')) {
            text_end = string(c, out);
            if (text_end == NULL)
                return NULL;
        } else if (!skip_value(c)) {
            return NULL;
        } else if (found) {
            text_end = NULL; /* the last value counts, and this one is no text */
        }
        skip_space(c);
    } while (take(c, ','));
    if (!take(c, '}'))
        return NULL;
    skip_space(c);
    return c->p == c->end ? text_end : NULL;
}

bpe_status bpe_json_lines(const uint8_t *data, size_t n, const uint8_t *key, size_t key_size,
                          uint8_t *texts, size_t cap, size_t *offsets, size_t max_texts,
                          size_t *n_texts, bpe_error *err) {
    if (cap < n)
        return BPE_ERR_CAPACITY;
    const uint8_t *p = data, *end = data + n;
    uint8_t *out = texts;
    size_t found = 0;
    offsets[0] = 0;
    while (p < end) {
        const uint8_t *newline = memchr(p, '\n', (size_t)(end - p));
        cursor c = {p, newline ? newline : end, out};
        skip_space(&c);
        if (c.p < c.end) {
            if (found == max_texts)
                return BPE_ERR_CAPACITY;
            uint8_t *text_end = line(&c, key, key_size, out);
            if (text_end == NULL) {
                if (err)
                    *err = (bpe_error){BPE_ERR_JSON, (size_t)(p - data)};
                return BPE_ERR_JSON;
            }
            out = text_end;
            offsets[++found] = (size_t)(out - texts);
        }
        p = newline ? newline + 1 : end;
    }
    *n_texts = found;
    return BPE_OK;
}
