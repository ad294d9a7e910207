#include "sentences.h"

#include <string.h>

#include "memory.h"
#include "utf8.h"

/* Words go to the table when so many bytes are there. */
#define PORTION ((size_t)1 << 16)

#define SEPARATOR 0x1F
#define N_CODEPOINTS 0x110000

/* ---------------------------------------------------------------- making and freeing */

static bpe_status init_cut_out(bpe_cut_out *cut_out, const uint8_t *data, const uint32_t *lengths,
                               size_t n) {
    cut_out->only_first = -1;
    if (n == 0)
        return BPE_OK;
    uint32_t *ids = bpe_mem_zeroed(n, sizeof *ids);
    if (!ids)
        return BPE_ERR_NOMEM;
    bpe_status status = bpe_match_new(data, lengths, ids, n, &cut_out->match, NULL);
    bpe_mem_free(ids);
    if (status != BPE_OK)
        return status;
    size_t n_first = 0;
    for (size_t i = 0; i < n; i++) {
        n_first += !cut_out->first[*data];
        cut_out->first[*data] = true;
        cut_out->only_first = *data;
        data += lengths[i];
    }
    if (n_first > 1)
        cut_out->only_first = -1;
    return BPE_OK;
}

static bpe_status init(bpe_sentences *s, const bpe_sentences_spec *spec) {
    bpe_status status = bpe_normalizer_init(&s->norm, &spec->normalizer);
    if (status != BPE_OK)
        return status;
    if (!bpe_charsmap_is_utf8(&s->norm.map))
        return BPE_ERR_MODEL;
    s->words = spec->words;
    if (spec->classes) {
        s->classes = bpe_mem_copy(spec->classes, N_CODEPOINTS, 1);
        if (!s->classes)
            return BPE_ERR_NOMEM;
    }
    s->longest = spec->longest;
    status = init_cut_out(&s->cut, spec->cut_data, spec->cut_lengths, spec->n_cut);
    if (status != BPE_OK)
        return status;
    if (spec->delimiter_size > UINT32_MAX)
        return BPE_ERR_LIMIT;
    uint32_t length = (uint32_t)spec->delimiter_size;
    status = init_cut_out(&s->delimiter, spec->delimiter, &length, length > 0);
    if (status != BPE_OK)
        return status;
    if (!bpe_mem_grow((void **)&s->ends, &s->ends_cap, 1, sizeof *s->ends))
        return BPE_ERR_NOMEM;
    s->ends[0] = 0;
    return BPE_OK;
}

bpe_status bpe_sentences_new(const bpe_sentences_spec *spec, bpe_sentences **out) {
    uint32_t how = spec->words & ~(uint32_t)BPE_WORDS_RUNS;
    if (how > BPE_WORDS_AFTER || !(spec->normalizer.flags & BPE_NORMALIZE_ESCAPE))
        return BPE_ERR_ARG;
    bpe_sentences *s = bpe_mem_zeroed(1, sizeof *s);
    if (!s)
        return BPE_ERR_NOMEM;
    bpe_status status = init(s, spec);
    if (status != BPE_OK) {
        bpe_sentences_free(s);
        return status;
    }
    *out = s;
    return BPE_OK;
}

void bpe_sentences_free(bpe_sentences *s) {
    if (!s)
        return;
    bpe_normalizer_free(&s->norm);
    bpe_match_free(s->cut.match);
    bpe_match_free(s->delimiter.match);
    bpe_hits_free(&s->cut.hits);
    bpe_hits_free(&s->delimiter.hits);
    bpe_text_free(&s->text);
    bpe_mem_free(s->classes);
    bpe_mem_free(s->bytes);
    bpe_mem_free(s->ends);
    bpe_mem_free(s->weights);
    bpe_mem_free(s);
}

/* ---------------------------------------------------------------- words */

/* Hand over the words that are waiting. */
static bpe_status flush(bpe_sentences *s, bpe_counts *counts) {
    bpe_status status = BPE_OK;
    if (s->n_ends > 0 && s->weighted) {
        status =
            bpe_counts_add_frequencies(counts, s->bytes, s->ends, s->weights, s->n_ends, 0, NULL);
    } else if (s->n_ends > 0) {
        status =
            bpe_counts_add_pretokens(counts, s->bytes, s->n_bytes, s->ends + 1, s->n_ends, 0, NULL);
    }
    s->n_ends = s->n_bytes = 0;
    return status;
}

static bool end_word(bpe_sentences *s, size_t end) {
    /* One more end than words. */
    if (s->n_ends + 2 > s->ends_cap &&
        !bpe_mem_grow((void **)&s->ends, &s->ends_cap, s->n_ends + 2, sizeof *s->ends)) {
        return false;
    }
    if (s->weighted) {
        if (!bpe_mem_grow((void **)&s->weights, &s->weights_cap, s->n_ends + 1,
                          sizeof *s->weights)) {
            return false;
        }
        s->weights[s->n_ends] = s->weight;
    }
    s->ends[++s->n_ends] = end;
    return true;
}

/* Whether no piece has a character of class b right behind one of class a. */
static inline bool parts(uint8_t a, uint8_t b) {
    return (a != b && a < BPE_CLASS_ANY && b < BPE_CLASS_ANY) || a == BPE_CLASS_LONE ||
           b == BPE_CLASS_LONE;
}

/* Whether a word ends between p[at - 1] and p[at], one of which is a mark, by the rule for marks.
 */
static bool ends_at_mark(const bpe_sentences *s, const uint8_t *p, size_t at) {
    uint32_t how = s->words & ~(uint32_t)BPE_WORDS_RUNS;
    if (how == BPE_WORDS_WHOLE)
        return false;
    bool mark = p[how == BPE_WORDS_BEFORE ? at : at - 1] == ' ';
    bool run = s->words & BPE_WORDS_RUNS && p[at - 1] == ' ' && p[at] == ' ';
    return mark && !run;
}

/* Cut p[0, n) into words, which go to s->bytes as they are. */
static bool add_words(bpe_sentences *s, const uint8_t *p, size_t n) {
    if (n == 0)
        return true;
    if (!bpe_mem_grow((void **)&s->bytes, &s->bytes_cap, s->n_bytes + n, 1))
        return false;
    size_t base = s->n_bytes;
    memcpy(s->bytes + base, p, n);
    s->n_bytes += n;
    uint8_t before = BPE_CLASS_ANY;
    for (size_t at = 0; at < n;) {
        uint32_t c = p[at];
        size_t length = c < 0x80 ? 1 : bpe_utf8_decode(p + at, p + n, &c);
        uint8_t class = s->classes ? s->classes[c] : BPE_CLASS_ANY;
        if (at > 0) {
            bool by_mark = c == ' ' || p[at - 1] == ' ';
            if ((by_mark ? ends_at_mark(s, p, at) : parts(before, class)) &&
                !end_word(s, base + at))
                return false;
        }
        before = class;
        at += length;
    }
    return end_word(s, base + n);
}

/* ---------------------------------------------------------------- cutting out */

/* Whether a cut_out may find something. */
static bool may_cut(const bpe_cut_out *cut_out, const uint8_t *p, size_t n) {
    if (!cut_out->match)
        return false;
    if (cut_out->only_first >= 0)
        return memchr(p, cut_out->only_first, n) != NULL;
    for (size_t i = 0; i < n; i++) {
        if (cut_out->first[p[i]])
            return true;
    }
    return false;
}

/* Note that something was cut out. */
static void add_cut(bpe_sentences *s) {
    uint64_t room = UINT64_MAX - s->report.cuts;
    s->report.cuts += s->weight < room ? s->weight : room;
}

/* Cut at U+001F. */
static bool cut_separators(bpe_sentences *s, const uint8_t *p, size_t n) {
    const uint8_t *q;
    while (n > 0 && (q = memchr(p, SEPARATOR, n))) {
        if (!add_words(s, p, (size_t)(q - p)))
            return false;
        add_cut(s);
        n -= (size_t)(q - p) + 1;
        p = q + 1;
    }
    return add_words(s, p, n);
}

typedef bool (*cut_part)(bpe_sentences *s, const uint8_t *p, size_t n);

/* Give what is left between the strings of a cut_out to `next`. */
static bool cut(bpe_sentences *s, bpe_cut_out *cut_out, const uint8_t *p, size_t n, cut_part next) {
    if (!may_cut(cut_out, p, n))
        return next(s, p, n);
    if (!bpe_match_scan(cut_out->match, p, n, &cut_out->hits))
        return false;
    size_t at = 0;
    for (size_t i = 0; i < cut_out->hits.n; i++) {
        if (!next(s, p + at, cut_out->hits.items[i].start - at))
            return false;
        at = cut_out->hits.items[i].end;
        add_cut(s);
    }
    return next(s, p + at, n - at);
}

static bool cut_delimiters(bpe_sentences *s, const uint8_t *p, size_t n) {
    return cut(s, &s->delimiter, p, n, cut_separators);
}

/* ---------------------------------------------------------------- lines */

/* U+2585 stands for characters without a piece in sentencepiece's trainer. */
static bool has_reserved(const uint8_t *p, size_t n) {
    const uint8_t *end = p + n;
    while (end - p >= 3 && (p = memchr(p, 0xE2, (size_t)(end - p) - 2))) {
        if (p[1] == 0x96 && p[2] == 0x85)
            return true;
        p++;
    }
    return false;
}

static bpe_status add_line(bpe_sentences *s, bpe_counts *counts, const uint8_t *p, size_t n) {
    if (n == 0) {
        s->report.empty++;
        return BPE_OK;
    }
    if (n > s->longest) {
        s->report.too_long++;
        return BPE_OK;
    }
    if (has_reserved(p, n)) {
        s->report.reserved++;
        return BPE_OK;
    }
    bpe_normalize_cursor cursor;
    s->text.n = 0;
    bpe_status status = bpe_normalize_begin(&cursor, &s->norm, p, n, NULL, true, false, &s->text);
    if (status == BPE_OK)
        status = bpe_normalize_more(&cursor, SIZE_MAX);
    if (status != BPE_OK)
        return status;
    s->report.used++;
    if (!cut(s, &s->cut, s->text.bytes, s->text.n, cut_delimiters))
        return BPE_ERR_NOMEM;
    return s->n_bytes >= PORTION ? flush(s, counts) : BPE_OK;
}

/* The words that wait go to the table, or after a failure nowhere. */
static bpe_status finish(bpe_sentences *s, bpe_counts *counts, bpe_status status) {
    if (status == BPE_OK)
        return flush(s, counts);
    s->n_ends = s->n_bytes = 0;
    return status;
}

bpe_status bpe_sentences_add_lines(bpe_sentences *s, bpe_counts *counts, const uint8_t *data,
                                   size_t n, uint32_t open, size_t *consumed) {
    bpe_status status = BPE_OK;
    size_t at = 0;
    s->weighted = false;
    s->weight = 1;
    while (at < n && status == BPE_OK) {
        const uint8_t *lf = memchr(data + at, '\n', n - at);
        if (!lf && open)
            break;
        size_t end = lf ? (size_t)(lf - data) : n;
        status = add_line(s, counts, data + at, end - at);
        at = lf ? end + 1 : n;
    }
    status = finish(s, counts, status);
    if (status == BPE_OK)
        *consumed = at;
    return status;
}

bpe_status bpe_sentences_add_batch(bpe_sentences *s, bpe_counts *counts, const uint8_t *data,
                                   const size_t *offsets, const uint64_t *weights, size_t n,
                                   uint32_t strip) {
    bpe_status status = BPE_OK;
    s->weighted = weights != NULL;
    for (size_t i = 0; i < n && status == BPE_OK; i++) {
        const uint8_t *p = data + offsets[i];
        size_t length = offsets[i + 1] - offsets[i];
        while (strip && length > 0 && (p[length - 1] == '\n' || p[length - 1] == '\r'))
            length--;
        s->weight = weights ? weights[i] : 1;
        status = add_line(s, counts, p, length);
    }
    return finish(s, counts, status);
}

void bpe_sentences_get_report(const bpe_sentences *s, bpe_sentences_report *out) {
    *out = s->report;
}
