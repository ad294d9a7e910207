#include "joins.h"

#include <string.h>

#include "memory.h"

/* ---------------------------------------------------------------- the alphabet */

static size_t write_utf8(uint32_t c, uint8_t *out) {
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (uint8_t)(0xC0 | c >> 6);
        out[1] = (uint8_t)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (uint8_t)(0xE0 | c >> 12);
        out[1] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        out[2] = (uint8_t)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (uint8_t)(0xF0 | c >> 18);
    out[1] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
    out[2] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
    out[3] = (uint8_t)(0x80 | (c & 0x3F));
    return 4;
}

static bool is_character(uint32_t c) { return c < 0x110000 && (c < 0xD800 || c > 0xDFFF); }

/* Add a symbol, whose text is nobody else's. */
static bool append(bpe_joins *joins, bpe_join_symbol symbol, const uint8_t *text, size_t n) {
    size_t id = joins->texts.n;
    if (!bpe_mem_grow((void **)&joins->symbols, &joins->symbols_cap, id + 1,
                      sizeof *joins->symbols)) {
        return false;
    }
    joins->symbols[id] = symbol;
    return bpe_intern_add(&joins->texts, text, n, bpe_intern_hash(&joins->texts, text, n)) !=
           BPE_NO_ID;
}

static bpe_join_symbol character(uint32_t codepoint, uint8_t class) {
    bool mark = codepoint == BPE_MARK_CODEPOINT;
    bool inherits = mark || class == BPE_CLASS_INHERITED;
    return (bpe_join_symbol){
        .length = 1,
        .first = inherits ? BPE_CLASS_NONE : class,
        .last = inherits ? BPE_CLASS_ANY : class,
        .lone = class == BPE_CLASS_LONE,
        .mark_first = mark,
        .mark_last = mark,
        .all_marks = mark,
    };
}

bpe_status bpe_joins_init(bpe_joins *joins, const bpe_pieces_trainer_spec *spec, bpe_error *err) {
    if (spec->longest > BPE_MAX_JOIN)
        return bpe_fail(err, BPE_ERR_ARG, spec->n_characters);
    joins->rules = spec->rules;
    joins->longest = spec->longest;
    if (!bpe_intern_init(&joins->texts, spec->n_characters))
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    for (size_t i = 0; i < spec->n_characters; i++) {
        uint32_t c = spec->codepoints[i];
        uint8_t text[4];
        if (!is_character(c) || (i > 0 && c <= spec->codepoints[i - 1]))
            return bpe_fail(err, BPE_ERR_ARG, i);
        bpe_join_symbol symbol = character(c, spec->classes[i]);
        if (!append(joins, symbol, text, write_utf8(c, text)))
            return bpe_fail(err, BPE_ERR_NOMEM, 0);
    }
    return BPE_OK;
}

void bpe_joins_free(bpe_joins *joins) {
    bpe_mem_free(joins->symbols);
    bpe_intern_free(&joins->texts);
}

/* ---------------------------------------------------------------- joining */

static bool marks_allow(uint32_t rules, const bpe_join_symbol *a, const bpe_join_symbol *b) {
    if (rules & BPE_JOIN_MARK_RUNS && a->all_marks && b->all_marks)
        return true;
    if (rules & BPE_JOIN_MARK_EDGE) {
        if (rules & BPE_JOIN_MARK_AFTER)
            return !a->mark_first && !a->mark_inner && !b->mark_early;
        return !a->mark_inner && !b->mark_first && !b->mark_inner;
    }
    return rules & BPE_JOIN_MARK_AFTER ? !a->mark_first : !b->mark_last;
}

bool bpe_joins_allow(const bpe_joins *joins, uint32_t left, uint32_t right) {
    const bpe_join_symbol *a = &joins->symbols[left], *b = &joins->symbols[right];
    uint32_t rules = joins->rules;
    if ((size_t)a->length + b->length > joins->longest)
        return false;
    if (a->lone || b->lone)
        return false;
    if (a->last != BPE_CLASS_ANY && b->first < BPE_CLASS_ANY && a->last != b->first) {
        return false;
    }
    return marks_allow(rules, a, b);
}

size_t bpe_joins_spell(const bpe_joins *joins, uint64_t pair, uint8_t *out) {
    size_t n, m;
    const uint8_t *left = bpe_intern_bytes(&joins->texts, (size_t)(pair >> 32), &n);
    const uint8_t *right = bpe_intern_bytes(&joins->texts, (size_t)(uint32_t)pair, &m);
    memcpy(out, left, n);
    memcpy(out + n, right, m);
    return n + m;
}

bool bpe_joins_add(bpe_joins *joins, uint32_t left, uint32_t right) {
    const bpe_join_symbol *a = &joins->symbols[left], *b = &joins->symbols[right];
    bpe_join_symbol symbol = {
        .length = (uint16_t)(a->length + b->length),
        .first = a->first != BPE_CLASS_NONE ? a->first : b->first,
        .last = b->first != BPE_CLASS_NONE ? b->last : a->last,
        .mark_first = a->mark_first,
        .mark_last = b->mark_last,
        .mark_inner = a->mark_inner || b->mark_first || b->mark_inner,
        .mark_early = a->mark_first || a->mark_inner || b->mark_early,
        .all_marks = a->all_marks && b->all_marks,
    };
    uint8_t text[BPE_JOIN_BYTES];
    size_t n = bpe_joins_spell(joins, bpe_pair_key(left, right), text);
    return append(joins, symbol, text, n);
}

bool bpe_joins_known(const bpe_joins *joins, uint64_t pair) {
    uint8_t text[BPE_JOIN_BYTES];
    size_t n = bpe_joins_spell(joins, pair, text);
    uint64_t hash = bpe_intern_hash(&joins->texts, text, n);
    return bpe_intern_find(&joins->texts, text, n, hash) != BPE_NO_ID;
}

/* ---------------------------------------------------------------- equals */

void bpe_equals_free(bpe_equals *equals) {
    bpe_mem_free(equals->items);
    bpe_mem_free(equals->spare);
}

bool bpe_equals_add(bpe_equals *equals, const bpe_joins *joins, uint64_t key) {
    if (!bpe_mem_grow((void **)&equals->items, &equals->cap, equals->n + 1, sizeof *equals->items))
        return false;
    uint8_t text[BPE_JOIN_BYTES];
    size_t n = bpe_joins_spell(joins, key, text);
    uint64_t prefix = 0;
    for (size_t i = 0; i < 8; i++)
        prefix = prefix << 8 | (i < n ? text[i] : 0);
    equals->items[equals->n++] = (bpe_equal_pair){prefix, key};
    return true;
}

static bool before(const bpe_joins *joins, const bpe_equal_pair *a, const bpe_equal_pair *b) {
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix;
    uint8_t one[BPE_JOIN_BYTES], other[BPE_JOIN_BYTES];
    size_t n = bpe_joins_spell(joins, a->key, one);
    size_t m = bpe_joins_spell(joins, b->key, other);
    int order = memcmp(one, other, n < m ? n : m);
    if (order == 0 && n == m)
        return a->key < b->key; /* the same piece: only one of them will be made */
    return order != 0 ? order < 0 : n < m;
}

/* Merge sort, from runs of one up. */
bool bpe_equals_sort(bpe_equals *equals, const bpe_joins *joins) {
    size_t n = equals->n;
    if (!bpe_mem_grow((void **)&equals->spare, &equals->spare_cap, n, sizeof *equals->spare))
        return false;
    for (size_t width = 1; width < n; width *= 2) {
        bpe_equal_pair *from = equals->items, *to = equals->spare;
        for (size_t start = 0; start < n; start += 2 * width) {
            size_t middle = n - start < width ? n : start + width;
            size_t end = n - middle < width ? n : middle + width;
            size_t i = start, k = middle, out = start;
            while (i < middle && k < end)
                to[out++] = before(joins, &from[k], &from[i]) ? from[k++] : from[i++];
            while (i < middle)
                to[out++] = from[i++];
            while (k < end)
                to[out++] = from[k++];
        }
        size_t cap = equals->cap;
        equals->items = to;
        equals->spare = from;
        equals->cap = equals->spare_cap;
        equals->spare_cap = cap;
    }
    equals->at = 0;
    return true;
}
