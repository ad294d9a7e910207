#include "stage.h"

#include <string.h>

#include "memory.h"

/* The class of every codepoint of one page; `run` is the run that holds its first codepoint and is
 * moved on. */
static void fill_page(uint8_t *page, const bpe_split_stage *spec, uint32_t first, size_t *run) {
    for (uint32_t i = 0; i < 256;) {
        while (*run + 1 < spec->n_runs && spec->class_starts[*run + 1] <= first + i)
            (*run)++;
        uint32_t end = 256;
        if (*run + 1 < spec->n_runs && spec->class_starts[*run + 1] - first < end)
            end = spec->class_starts[*run + 1] - first;
        memset(page + i, spec->class_ids[*run], end - i);
        i = end;
    }
}

static bpe_status build_pages(bpe_stage *s, const bpe_split_stage *spec) {
    uint8_t *all = bpe_mem_array(BPE_PAGES, 256);
    if (!all)
        return BPE_ERR_NOMEM;
    size_t n = 0;
    size_t run = 0;
    for (uint32_t p = 0; p < BPE_PAGES; p++) {
        uint8_t *page = all + n * 256;
        fill_page(page, spec, p << BPE_PAGE_SHIFT, &run);
        /* Long stretches share one class, so comparing with the last page alone finds nearly all
         * repeats. */
        if (n > 0 && memcmp(page, page - 256, 256) == 0) {
            s->page_of[p] = (uint16_t)(n - 1);
        } else {
            s->page_of[p] = (uint16_t)n++;
        }
    }
    s->pages = bpe_mem_copy(all, n * 256, 1);
    bpe_mem_free(all);
    if (!s->pages)
        return BPE_ERR_NOMEM;
    memcpy(s->ascii, s->pages, 128); /* page 0 */
    return BPE_OK;
}

static bpe_status check_stage(const bpe_split_stage *spec, size_t index, bpe_error *err) {
    if (spec->n_classes < 1 || spec->n_classes > 255 || spec->n_states < 2 ||
        spec->n_states > BPE_MAX_STATES) {
        return bpe_fail(err, BPE_ERR_LIMIT, index);
    }
    if (spec->n_runs == 0 || spec->class_starts[0] != 0)
        return bpe_fail(err, BPE_ERR_SPLIT, 0);
    for (size_t i = 0; i < spec->n_runs; i++) {
        if (spec->class_ids[i] >= spec->n_classes || spec->class_starts[i] >= 0x110000 ||
            (i > 0 && spec->class_starts[i] <= spec->class_starts[i - 1])) {
            return bpe_fail(err, BPE_ERR_SPLIT, i);
        }
    }
    size_t width = spec->n_classes + 1;
    for (size_t i = 0; i < spec->n_states * width; i++) {
        uint16_t t = spec->transitions[i];
        bool dead_row = i < width;
        bool end_column = i % width == width - 1;
        /* A flag on the start row would end a match where it begins. */
        bool start_row = i / width == 1;
        if ((t & 0x7FFF) >= spec->n_states || (dead_row && t != 0) ||
            (end_column && (t & 0x7FFF) != 0) || (start_row && (t & 0x8000) != 0)) {
            return bpe_fail(err, BPE_ERR_SPLIT, i);
        }
    }
    return BPE_OK;
}

/*
 * Most matches end where no longer one can come: the transition is dead and says that a match ends
 * here. There the quick loop goes on at once in the state that the character leads to from the
 * start, so that the ends of pretokens are no branches.
 */
static bpe_flow flow_of(const bpe_stage *s, uint32_t row, uint32_t c) {
    bpe_step t = s->steps[row + c];
    if (t >> 1 != 0)
        return (t >> 1) * 4 + (t & 1 ? BPE_FLOW_MATCH : 0);
    bpe_step fresh = s->steps[s->width + c] >> 1;
    return (t & 1) && fresh != 0 ? fresh * 4 + BPE_FLOW_END : 0;
}

bpe_status bpe_stage_init(bpe_stage *s, const bpe_split_stage *spec, size_t index, bpe_error *err) {
    bpe_status status = check_stage(spec, index, err);
    if (status != BPE_OK)
        return status;
    if (spec->behavior > BPE_SPLIT_CONTIGUOUS || spec->over_bytes > 1)
        return bpe_fail(err, BPE_ERR_ARG, index);
    s->behavior = spec->behavior;
    s->over_bytes = spec->over_bytes != 0;
    s->width = spec->n_classes + 1;
    s->n_states = spec->n_states;
    size_t n = (size_t)s->n_states * s->width;
    s->steps = bpe_mem_array(n, sizeof *s->steps);
    s->flow = bpe_mem_zeroed(n, sizeof *s->flow);
    if (!s->steps || !s->flow)
        return bpe_fail(err, BPE_ERR_NOMEM, index);
    for (size_t i = 0; i < n; i++) {
        uint16_t t = spec->transitions[i];
        s->steps[i] = (bpe_step)(t & 0x7FFF) * s->width * 2 + (t >> 15);
    }
    for (uint32_t row = s->width; row < n; row += s->width) {
        for (uint32_t c = 0; c < s->width; c++)
            s->flow[row + c] = flow_of(s, row, c);
    }
    status = build_pages(s, spec);
    return status == BPE_OK ? BPE_OK : bpe_fail(err, status, index);
}

void bpe_stage_free(bpe_stage *s) {
    bpe_mem_free(s->steps);
    bpe_mem_free(s->flow);
    bpe_mem_free(s->pages);
}
