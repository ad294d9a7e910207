/* JSON lines: texts, good and bad lines and places as a reader finds them that first takes a line
 * apart into characters, and then reads these by recursion, as RFC 8259 has them. */
#include "json_lines.h"

#include "fuzz.h"

enum { MOST = 3000, LINES = MOST + 1 };

/* What is under the key so far. */
typedef struct slow_text {
    uint32_t units[MOST]; /* characters, or halves of pairs */
    size_t n;
} slow_text;

/* A line as characters. */
typedef struct slow_line {
    uint32_t c[MOST + 1]; /* a 0 behind the last */
    size_t n;
    size_t at;
} slow_line;

static slow_line line;
static slow_text text, name, key;
static bool has_text;

/* ---------------------------------------------------------------- characters */

/* How many bytes a character takes, and which it is: by trying all lengths and writing it again. */
static size_t write_utf8(uint32_t c, uint8_t *out) {
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; c >>= 6)
        out[i] = (uint8_t)(0x80 | (c & 0x3F));
    out[0] = (uint8_t)(leads[n] | c);
    return n;
}

static size_t read_utf8(const uint8_t *p, size_t n, uint32_t *c) {
    for (size_t length = 1; length <= 4 && length <= n; length++) {
        uint32_t found = length == 1 ? p[0] : p[0] & (0x7Fu >> length);
        uint8_t again[4];
        for (size_t i = 1; i < length; i++)
            found = found << 6 | (p[i] & 0x3F);
        if (found > 0x10FFFF || (found >= 0xD800 && found <= 0xDFFF))
            continue;
        if (write_utf8(found, again) == length && memcmp(again, p, length) == 0) {
            *c = found;
            return length;
        }
    }
    return 0;
}

static bool take_apart(const uint8_t *p, size_t n) {
    line.n = line.at = 0;
    for (size_t i = 0, length; i < n; i += length) {
        length = read_utf8(p + i, n - i, &line.c[line.n++]);
        if (length == 0)
            return false;
    }
    line.c[line.n] = 0;
    return true;
}

static bool ends(void) { return line.at == line.n; }

static bool next_is(const char *one_of) {
    uint32_t c = line.c[line.at];
    return !ends() && c > 0 && c < 0x80 && strchr(one_of, (int)c) != NULL;
}

static bool eat(const char *word) {
    for (size_t i = 0; word[i]; i++) {
        if (line.at + i >= line.n || line.c[line.at + i] != (uint8_t)word[i])
            return false;
    }
    line.at += strlen(word);
    return true;
}

static void eat_space(void) {
    while (next_is(" \t\r"))
        line.at++;
}

/* ---------------------------------------------------------------- values */

static bool slow_escape(uint32_t *unit) {
    if (eat("u")) {
        char digits[5] = {0};
        for (int i = 0; i < 4; i++) {
            if (!next_is("0123456789abcdefABCDEF"))
                return false;
            digits[i] = (char)line.c[line.at++];
        }
        *unit = (uint32_t)strtoul(digits, NULL, 16);
        return true;
    }
    static const char *const pairs[] = {"\"\"", "\\\\", "//", "b\b", "f\f", "n\n", "r\r", "t\t"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (!ends() && line.c[line.at] == (uint8_t)pairs[i][0]) {
            line.at++;
            *unit = (uint8_t)pairs[i][1];
            return true;
        }
    }
    return false;
}

/* Halves become a pair, or U+FFFD. */
static void join_halves(slow_text *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        uint32_t unit = s->units[i], low = i + 1 < s->n ? s->units[i + 1] : 0;
        if (unit >= 0xD800 && unit <= 0xDBFF && low >= 0xDC00 && low <= 0xDFFF) {
            unit = 0x10000 + (unit - 0xD800) * 0x400 + (low - 0xDC00);
            i++;
        } else if (unit >= 0xD800 && unit <= 0xDFFF) {
            unit = 0xFFFD;
        }
        s->units[n++] = unit;
    }
    s->n = n;
}

static bool slow_string(slow_text *s) {
    s->n = 0;
    if (!eat("\""))
        return false;
    while (!eat("\"")) {
        if (ends() || line.c[line.at] < 0x20)
            return false;
        uint32_t unit = line.c[line.at++];
        if (unit == '\\' && !slow_escape(&unit))
            return false;
        s->units[s->n++] = unit;
    }
    join_halves(s);
    return true;
}

static bool slow_digits(void) {
    size_t begin = line.at;
    while (next_is("0123456789"))
        line.at++;
    return line.at > begin;
}

static bool slow_number(void) {
    eat("-");
    if (eat("Infinity"))
        return true;
    if (!eat("0") && !slow_digits())
        return false;
    if (eat(".") && !slow_digits())
        return false;
    if (next_is("eE")) {
        line.at++;
        if (next_is("+-"))
            line.at++;
        return slow_digits();
    }
    return true;
}

static bool slow_value(bool outermost);

/* What is in an array or object, behind its first character. */
static bool slow_inside(bool object, bool outermost) {
    const char *last = object ? "}" : "]";
    eat_space();
    if (eat(last))
        return true;
    for (;;) {
        bool wanted = false;
        eat_space();
        if (object) {
            static slow_text ignored;
            if (!slow_string(outermost ? &name : &ignored))
                return false;
            wanted = outermost && fuzz_same(name.units, 4 * name.n, key.units, 4 * key.n);
            eat_space();
            if (!eat(":"))
                return false;
            eat_space();
        }
        if (wanted)
            has_text = next_is("\"");
        if (wanted && has_text ? !slow_string(&text) : !slow_value(false))
            return false;
        eat_space();
        if (eat(last))
            return true;
        if (!eat(","))
            return false;
    }
}

static bool slow_value(bool outermost) {
    static slow_text ignored;
    eat_space();
    if (eat("{"))
        return slow_inside(true, outermost);
    if (eat("["))
        return slow_inside(false, outermost);
    if (next_is("\""))
        return slow_string(&ignored);
    return eat("true") || eat("false") || eat("null") || eat("NaN") || slow_number();
}

/* Whether a line is an object with a text under the key, which is in `text`. */
static bool slow_read(const uint8_t *p, size_t n) {
    has_text = false;
    if (!take_apart(p, n))
        return false;
    eat_space();
    if (!next_is("{") || !slow_value(true))
        return false;
    eat_space();
    return ends() && has_text;
}

/* ---------------------------------------------------------------- comparing */

/* What is to be found in data[0, n). */
typedef struct expected {
    uint8_t texts[MOST];
    size_t offsets[LINES + 1];
    size_t n;    /* texts before the first bad line, or all */
    size_t pos;  /* where that begins */
    bool is_bad; /* whether there is one */
} expected;

static void expect(const uint8_t *data, size_t n, expected *e) {
    e->n = e->offsets[0] = 0;
    e->is_bad = false;
    for (size_t begin = 0; begin < n && !e->is_bad;) {
        size_t end = begin, at = e->offsets[e->n];
        bool blank = true;
        for (; end < n && data[end] != '\n'; end++)
            blank &= data[end] == ' ' || data[end] == '\t' || data[end] == '\r';
        if (!blank && slow_read(data + begin, end - begin)) {
            for (size_t i = 0; i < text.n; i++)
                at += write_utf8(text.units[i], e->texts + at);
            e->offsets[++e->n] = at;
        } else if (!blank) {
            e->is_bad = true;
            e->pos = begin;
        }
        begin = end + 1;
    }
}

static void check(const uint8_t *data, size_t n, const uint8_t *key_bytes, size_t key_size,
                  size_t max_texts, const expected *e) {
    bpe_status want = e->n > max_texts || (e->is_bad && e->n == max_texts) ? BPE_ERR_CAPACITY
                      : e->is_bad                                          ? BPE_ERR_JSON
                                                                           : BPE_OK;
    uint8_t *texts = fuzz_array(n, 1);
    size_t *offsets = fuzz_array(max_texts + 1, sizeof *offsets), n_texts = SIZE_MAX;
    bpe_error err = {0, 0};
    FUZZ_CHECK(bpe_json_lines(data, n, key_bytes, key_size, texts, n, offsets, max_texts, &n_texts,
                              &err) == want);
    FUZZ_CHECK(want != BPE_ERR_JSON || (err.code == want && err.pos == e->pos));
    FUZZ_CHECK(want == BPE_OK ? n_texts == e->n : n_texts == SIZE_MAX);
    if (want == BPE_OK) {
        size_t size = (e->n + 1) * sizeof *offsets;
        FUZZ_CHECK(fuzz_same(offsets, size, e->offsets, size));
        FUZZ_CHECK(fuzz_same(texts, offsets[e->n], e->texts, e->offsets[e->n]));
    }
    free(texts);
    free(offsets);
}

/* Bytes that are put together from what such lines are made of, one for each byte of the input. */
static uint8_t *spell_out(fuzz_input *in, size_t *n) {
    static const char *const parts[] = {
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\n",
        "\"a\":",
        "\"text\":",
        "{\"a\"",
        "\"x\"}",
        "\\",
        "\\u",
        "d83d",
        "\\ude00",
        "\\ud83d",
        "\\uD83",
        "\\u0061",
        "\\u000A",
        "\\\"",
        "\\n",
        "\\/",
        " ",
        "\t",
        "\r",
        "\r\n",
        "-",
        "0",
        "12",
        ".",
        "e+",
        "E",
        "true",
        "false",
        "null",
        "NaN",
        "Infinity",
        "tru",
        "\xC3\xA9",
        "\xE2\x82\xAC",
        "\xF0\x9F\x98\x80",
        "\xED\xA0\x80",
        "\xC0\x80",
        "\xEF\xBB\xBF",
        "\x7F",
        "\x1F",
        "longer than eight bytes",
    };
    uint8_t *out = fuzz_array(MOST, 1);
    *n = 0;
    while (in->n > 0) {
        const char *part = parts[fuzz_byte(in) % (sizeof parts / sizeof *parts)];
        size_t length = strlen(part);
        if (length > MOST - *n)
            break;
        memcpy(out + *n, part, length);
        *n += length;
    }
    uint8_t *exact = fuzz_array(*n, 1);
    memcpy(exact, out, *n);
    free(out);
    return exact;
}

static void fuzz(fuzz_input *in) {
    static const char *const keys[] = {"text", "a", "", "\xC3\xA9", "\n", "\xF0\x9F\x98\x80"};
    static expected e;
    const char *chosen = keys[fuzz_below(in, sizeof keys / sizeof *keys)];
    size_t n, key_size = strlen(chosen);
    uint8_t *key_bytes = fuzz_array(key_size, 1);
    memcpy(key_bytes, chosen, key_size);
    FUZZ_CHECK(take_apart(key_bytes, key_size));
    memcpy(key.units, line.c, line.n * sizeof *line.c);
    key.n = line.n;
    uint8_t *data = fuzz_byte(in) & 1 ? spell_out(in, &n) : fuzz_bytes(in, MOST, &n);
    expect(data, n, &e);
    check(data, n, key_bytes, key_size, e.n + 1, &e);
    check(data, n, key_bytes, key_size, e.n, &e);
    if (e.n > 0)
        check(data, n, key_bytes, key_size, e.n - 1, &e);
    free(data);
    free(key_bytes);
}

FUZZ_TARGET(fuzz)
