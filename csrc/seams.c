#include "seams.h"

#include <string.h>

#include "memory.h"
#include "split.h"

/* More than this many look-ups are not worth it: tables so large are not those of a split that is
 * in use. */
#define MOST_WORK ((size_t)1 << 26)

/* ---------------------------------------------------------------- which pairs of classes */

static inline bool matches_in_any_case(const bpe_stage *s, uint32_t c) {
    bpe_step row = s->steps[s->width + c] >> 1;
    bool certain = row != 0;
    for (uint32_t next = 0; next < s->width && certain; next++)
        certain = s->steps[row + next] & 1;
    return certain;
}

/* Fill one row: which classes may stand behind `a`. `seen` has room for a flag for each state. */
static void find_pairs(const bpe_stage *s, uint32_t a, bool *row, bool *seen) {
    uint32_t n_classes = s->width - 1, end_of_text = n_classes;
    bool any = false;
    memset(seen, 0, s->n_states * sizeof *seen);
    memset(row, true, n_classes * sizeof *row);
    for (uint32_t state = 1; state < s->n_states; state++) {
        bpe_step reached = s->steps[state * s->width + a] >> 1;
        if (reached == 0 || seen[reached / s->width])
            continue;
        any = seen[reached / s->width] = true;
        bool ends = s->steps[reached + end_of_text] & 1;
        for (uint32_t b = 0; b < n_classes; b++)
            row[b] = row[b] && ends && s->steps[reached + b] == 1; /* dead, behind a match */
    }
    bool begins = s->steps[s->width + a] >> 1 != 0;
    for (uint32_t b = 0; b < n_classes; b++)
        row[b] = row[b] && (any ? begins : matches_in_any_case(s, b));
}

static void note_strings(bpe_seams *seams, const uint8_t *data, const uint32_t *lengths, size_t n) {
    for (size_t i = 0; i < n; data += lengths[i++]) {
        for (uint32_t k = 1; k < lengths[i]; k++) {
            uint32_t two = (uint32_t)data[k - 1] << 8 | data[k];
            seams->inside[two >> 6] |= (uint64_t)1 << (two & 63);
        }
    }
}

bpe_status bpe_seams_new(const bpe_split *split, const uint8_t *data, const uint32_t *lengths,
                         size_t n_strings, bpe_seams **out) {
    const bpe_stage *s = bpe_split_first_stage(split);
    uint32_t n_classes = s ? s->width - 1 : 0;
    *out = NULL;
    if (!s || s->behavior != BPE_SPLIT_ISOLATED ||
        (size_t)n_classes * n_classes > MOST_WORK / s->n_states) {
        return BPE_OK;
    }
    bpe_seams *seams = bpe_mem_zeroed(1, sizeof *seams);
    bool *pairs = bpe_mem_array((size_t)n_classes * n_classes, sizeof *pairs);
    bool *seen = bpe_mem_array(s->n_states, sizeof *seen);
    if (!seams || !pairs || !seen) {
        bpe_mem_free(seams);
        bpe_mem_free(pairs);
        bpe_mem_free(seen);
        return BPE_ERR_NOMEM;
    }
    for (uint32_t a = 0; a < n_classes; a++)
        find_pairs(s, a, pairs + (size_t)a * n_classes, seen);
    bpe_mem_free(seen);
    seams->stage = s;
    seams->n_classes = n_classes;
    seams->pairs = pairs;
    note_strings(seams, data, lengths, n_strings);
    *out = seams;
    return BPE_OK;
}

void bpe_seams_free(bpe_seams *seams) {
    if (!seams)
        return;
    bpe_mem_free(seams->pairs);
    bpe_mem_free(seams);
}

/* ---------------------------------------------------------------- looking for one */

static inline bool is_inside(const bpe_seams *seams, const uint8_t *p) {
    uint32_t two = (uint32_t)p[-1] << 8 | p[0];
    return seams->inside[two >> 6] >> (two & 63) & 1;
}

/* The last seam in data[begin, end), at or behind a character boundary; 0 when there is none. What
 * is known of the text ends at n. */
static size_t last_between(const bpe_seams *seams, const uint8_t *data, size_t begin, size_t end,
                           size_t n) {
    const bpe_stage *s = seams->stage;
    size_t last = 0, p = begin;
    /* Whatever comes before, a byte that continues no character begins one. */
    while (!s->over_bytes && p < end && (data[p] & 0xC0) == 0x80)
        p++;
    if (p >= end)
        return 0;
    size_t length;
    uint32_t before = bpe_stage_class_at(s, data, p, n, &length);
    for (p += length; p < end; p += length) {
        /* What is not ASCII may need up to three bytes that are not known yet. */
        if (data[p] >= 0x80 && n - p < 4 && !s->over_bytes)
            break;
        uint32_t behind = bpe_stage_class_at(s, data, p, n, &length);
        if (seams->pairs[(size_t)before * seams->n_classes + behind] && !is_inside(seams, data + p))
            last = p;
        before = behind;
    }
    return last;
}

size_t bpe_seams_last(const bpe_seams *seams, const uint8_t *data, size_t n) {
    /* From the end, a window after the other: nearly always the first one holds a seam. Windows
     * overlap by more than a character, for the one before the first place of each. */
    enum { WINDOW = 512, OVERLAP = 8 };
    size_t end = n;
    while (end > 0) {
        size_t begin = end > WINDOW ? end - WINDOW : 0;
        size_t seam = last_between(seams, data, begin, end, n);
        if (seam > 0 || begin == 0)
            return seam;
        end = begin + OVERLAP;
    }
    return 0;
}
