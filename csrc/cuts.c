#include "cuts.h"

#include "memory.h"
#include "order.h"

#define NONE 0xFFFFFFFFu

/* A string of the table: the longest one it begins with, other than itself, or NONE. */
typedef struct link {
    uint32_t beginning;
    uint32_t length;
} link;

/* A string on the stack. Each is a part of the one above it. */
typedef struct held {
    uint32_t index;
    uint32_t length;
} held;

typedef struct walk {
    const bpe_intern *table;
    bpe_order order;
    link *links;
    held *stack;
    bpe_cut cuts[BPE_CUTS_BATCH];
    size_t n_cuts;
    bpe_status (*take)(void *context, const bpe_cut *cuts, size_t n_cuts);
    void *context;
} walk;

/* Take off the stack what item i of the order does not have in common with the one before it. */
static inline size_t unstack(const walk *w, size_t i, size_t depth, bool backwards) {
    if (i == 0)
        return 0;
    const bpe_order_item *items = w->order.items;
    size_t common = bpe_order_common(w->table, &items[i - 1], &items[i], backwards);
    while (depth > 0 && w->stack[depth - 1].length > common)
        depth--;
    return depth;
}

/* Links are in the order of indexes, items are not: they are asked for so many items ahead, and
 * what they lead to half as many. */
#define AHEAD 16

/* The link of item i, or of some other one behind the end. */
static inline const link *link_of(const walk *w, size_t i) {
    return &w->links[w->order.items[i < w->order.n ? i : 0].index];
}

static void find_beginnings(walk *w) {
    size_t depth = 0;
    for (size_t i = 0; i < w->order.n; i++) {
        const bpe_order_item *x = &w->order.items[i];
        depth = unstack(w, i, depth, false);
        w->links[x->index] = (link){depth > 0 ? w->stack[depth - 1].index : NONE, x->length};
        w->stack[depth++] = (held){x->index, x->length};
    }
}

static bpe_status hand_over(walk *w) {
    size_t n = w->n_cuts;
    w->n_cuts = 0;
    return n > 0 ? w->take(w->context, w->cuts, n) : BPE_OK;
}

/* The cuts of a string whose ends the stack holds: beginnings from the longest down meet ends from
 * the shortest up. */
static bpe_status cut_string(walk *w, const bpe_order_item *x, size_t depth) {
    uint32_t left = w->links[x->index].beginning;
    size_t k = 0;
    while (left != NONE && k < depth) {
        size_t length = (size_t)w->links[left].length + w->stack[k].length;
        if (length == x->length) {
            w->cuts[w->n_cuts++] = (bpe_cut){x->index, left, w->stack[k].index};
            if (w->n_cuts == BPE_CUTS_BATCH) {
                bpe_status status = hand_over(w);
                if (status != BPE_OK)
                    return status;
            }
        }
        if (length >= x->length)
            left = w->links[left].beginning;
        if (length <= x->length)
            k++;
    }
    return BPE_OK;
}

static bpe_status find_cuts(walk *w) {
    size_t depth = 0;
    for (size_t i = 0; i < w->order.n; i++) {
        const bpe_order_item *x = &w->order.items[i];
        bpe_prefetch(link_of(w, i + AHEAD));
        uint32_t soon = link_of(w, i + AHEAD / 2)->beginning;
        bpe_prefetch(&w->links[soon != NONE ? soon : 0]);
        depth = unstack(w, i, depth, true);
        bpe_status status = cut_string(w, x, depth);
        if (status != BPE_OK)
            return status;
        w->stack[depth++] = (held){x->index, x->length};
    }
    return hand_over(w);
}

bpe_status bpe_cuts_find(const bpe_intern *table, size_t n,
                         bpe_status (*take)(void *context, const bpe_cut *cuts, size_t n_cuts),
                         void *context) {
    walk w = {.table = table, .take = take, .context = context};
    bpe_status status = BPE_ERR_NOMEM;
    w.links = bpe_mem_array(n, sizeof *w.links);
    w.stack = bpe_mem_array(n, sizeof *w.stack);
    if (w.links && w.stack && bpe_order_sort(&w.order, table, n, false)) {
        find_beginnings(&w);
        if (bpe_order_sort(&w.order, table, n, true))
            status = find_cuts(&w);
    }
    bpe_order_free(&w.order);
    bpe_mem_free(w.links);
    bpe_mem_free(w.stack);
    return status;
}
