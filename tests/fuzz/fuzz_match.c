/* Match: strings of the input's making, compared with trying every string everywhere. */
#include "match.h"

#include "fuzz.h"

enum { STRINGS = 24, TEXT = 2000 };

typedef struct strings {
    uint8_t *data;
    uint32_t starts[STRINGS];
    uint32_t lengths[STRINGS];
    uint32_t ids[STRINGS];
    size_t n;
} strings;

/* The longest string at text[p], the first of equal ones; n for none. */
static size_t slow_longest(const strings *s, const uint8_t *text, size_t n_text, size_t p) {
    size_t best = s->n;
    for (size_t i = 0; i < s->n; i++) {
        if (s->lengths[i] <= n_text - p &&
            memcmp(s->data + s->starts[i], text + p, s->lengths[i]) == 0 &&
            (best == s->n || s->lengths[i] > s->lengths[best])) {
            best = i;
        }
    }
    return best;
}

static void check_find(const bpe_match *match, const strings *s, const uint8_t *text, size_t n) {
    size_t n_want = 0, n_got = 0;
    bpe_hit *want = fuzz_array(n, sizeof *want);
    for (size_t p = 0; p < n;) {
        size_t i = slow_longest(s, text, n, p);
        if (i < s->n)
            want[n_want++] = (bpe_hit){p, p + s->lengths[i], s->ids[i]};
        p += i < s->n ? s->lengths[i] : 1;
    }
    for (size_t cap = 0; cap <= n_want; cap += n_want > 0 && cap == 0 ? n_want : n_want + 1) {
        size_t *starts = fuzz_array(cap, sizeof *starts), *ends = fuzz_array(cap, sizeof *ends);
        uint32_t *ids = fuzz_array(cap, sizeof *ids);
        FUZZ_CHECK(bpe_match_find(match, text, n, starts, ends, ids, cap, &n_got) == BPE_OK);
        FUZZ_CHECK(n_got == n_want);
        for (size_t i = 0; i < cap; i++) {
            FUZZ_CHECK(starts[i] == want[i].start && ends[i] == want[i].end);
            FUZZ_CHECK(ids[i] == want[i].id);
        }
        free(starts);
        free(ends);
        free(ids);
    }
    free(want);
}

static void check_scan_all(const bpe_match *match, const strings *s, const uint8_t *text,
                           size_t n) {
    bpe_hits hits = {0};
    FUZZ_CHECK(bpe_match_scan_all(match, text, n, &hits));
    size_t found = 0;
    for (size_t p = 0; p < n; p++) {
        size_t i = slow_longest(s, text, n, p);
        if (i == s->n)
            continue;
        FUZZ_CHECK(found < hits.n && hits.items[found].start == p);
        FUZZ_CHECK(hits.items[found].end == p + s->lengths[i] && hits.items[found].id == s->ids[i]);
        found++;
    }
    FUZZ_CHECK(found == hits.n);
    bpe_hits_free(&hits);
}

static void fuzz(fuzz_input *in) {
    strings s = {.n = fuzz_below(in, STRINGS + 1)};
    size_t size = 0, n_data, n_text;
    bool empty = false;
    for (size_t i = 0; i < s.n; i++) {
        uint32_t x = fuzz_byte(in);
        s.lengths[i] = x < 250 ? 1 + x % 12 : x == 255 ? 0 : x;
        s.ids[i] = fuzz_byte(in);
        s.starts[i] = (uint32_t)size;
        size += s.lengths[i];
        empty |= s.lengths[i] == 0;
    }
    s.data = fuzz_bytes(in, size, &n_data);
    if (n_data == size) {
        bpe_match *match = NULL;
        bpe_status status = bpe_match_new(s.data, s.lengths, s.ids, s.n, &match, NULL);
        FUZZ_CHECK(status == (empty ? BPE_ERR_ARG : BPE_OK));
        uint8_t *text = fuzz_bytes(in, TEXT, &n_text);
        if (status == BPE_OK) {
            check_find(match, &s, text, n_text);
            check_scan_all(match, &s, text, n_text);
        }
        free(text);
        bpe_match_free(match);
    }
    free(s.data);
}

FUZZ_TARGET(fuzz)
