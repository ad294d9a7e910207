#include "match.h"

#include "maps.h"
#include "memory.h"

/*
 * A trie of the reversed strings. Node 0 is the root. Edges live in one hash map (node, byte) ->
 * node, so memory is proportional to the strings, not to 256 times their length.
 */
typedef struct node {
    uint32_t fail;   /* the longest proper suffix of this node's string that is a node */
    uint32_t length; /* of the longest string of the set that is a suffix of this node's string; 0:
                        none */
    uint32_t id;     /* of that string */
} node;

struct bpe_match {
    node *nodes;
    size_t n_nodes;
    size_t longest;
    bpe_pair_map edges;      /* (node, byte) -> a = child */
    uint32_t from_root[256]; /* child of the root, 0 where there is none: the state most text is
                                read in */
};

/* Scanning: the next state after reading byte b. */
static inline uint32_t step(const bpe_match *m, uint32_t state, uint8_t b) {
    while (state != 0) {
        const bpe_pair_entry *e = bpe_pair_map_find(&m->edges, bpe_pair_key(state, b));
        if (e)
            return e->a;
        state = m->nodes[state].fail;
    }
    return m->from_root[b];
}

static bpe_status insert(bpe_match *m, const uint8_t *string, size_t n, uint32_t id) {
    uint32_t at = 0;
    for (size_t i = n; i-- > 0;) {
        bool is_new;
        bpe_pair_entry *e = bpe_pair_map_add(&m->edges, bpe_pair_key(at, string[i]), &is_new);
        if (!e)
            return BPE_ERR_NOMEM;
        if (is_new) {
            e->a = (uint32_t)m->n_nodes++;
            m->nodes[e->a] = (node){0, 0, 0};
            if (at == 0)
                m->from_root[string[i]] = e->a;
        }
        at = e->a;
    }
    if (m->nodes[at].length == 0) {
        m->nodes[at].length = (uint32_t)n;
        m->nodes[at].id = id;
    }
    if (n > m->longest)
        m->longest = n;
    return BPE_OK;
}

/*
 * Fail links, and the best string inherited along them, level by level. Children were numbered
 * after their parents within a string but not level by level across strings, so the nodes are first
 * put in order of depth.
 */
static bpe_status link_nodes(bpe_match *m) {
    size_t n = m->n_nodes;
    uint32_t *parent = bpe_mem_array(n, sizeof *parent);
    uint32_t *depth = bpe_mem_array(n, sizeof *depth);
    uint32_t *order = bpe_mem_array(n, sizeof *order);
    size_t *first = bpe_mem_zeroed(m->longest + 2, sizeof *first);
    uint8_t *via = bpe_mem_array(n, 1);
    bpe_status status = parent && depth && order && first && via ? BPE_OK : BPE_ERR_NOMEM;
    if (status == BPE_OK) {
        for (size_t i = 0; i < (size_t)1 << m->edges.bits; i++) {
            const bpe_pair_entry *e = &m->edges.slots[i];
            if (e->key == BPE_NO_PAIR)
                continue;
            parent[e->a] = (uint32_t)(e->key >> 32);
            via[e->a] = (uint8_t)e->key;
        }
        depth[0] = 0;
        for (size_t i = 1; i < n; i++) { /* a parent always has the smaller number */
            depth[i] = depth[parent[i]] + 1;
            first[depth[i] + 1]++;
        }
        for (size_t d = 1; d <= m->longest + 1; d++)
            first[d] += first[d - 1];
        for (size_t i = 1; i < n; i++)
            order[first[depth[i]]++] = (uint32_t)i;
        for (size_t i = 0; i + 1 < n; i++) {
            node *x = &m->nodes[order[i]];
            uint32_t p = parent[order[i]];
            x->fail = p == 0 ? 0 : step(m, m->nodes[p].fail, via[order[i]]);
            if (x->length == 0) {
                x->length = m->nodes[x->fail].length;
                x->id = m->nodes[x->fail].id;
            }
        }
    }
    bpe_mem_free(parent);
    bpe_mem_free(depth);
    bpe_mem_free(order);
    bpe_mem_free(first);
    bpe_mem_free(via);
    return status;
}

bpe_status bpe_match_new(const uint8_t *data, const uint32_t *lengths, const uint32_t *ids,
                         size_t n_strings, bpe_match **out, bpe_error *err) {
    size_t total = 0;
    for (size_t i = 0; i < n_strings; i++) {
        if (lengths[i] == 0)
            return bpe_fail(err, BPE_ERR_ARG, i);
        total += lengths[i];
        if (total >= (size_t)1 << 31)
            return bpe_fail(err, BPE_ERR_LIMIT, i);
    }
    bpe_match *m = bpe_mem_zeroed(1, sizeof *m);
    if (!m)
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    m->nodes = bpe_mem_array(total + 1, sizeof *m->nodes);
    bpe_status status = m->nodes && bpe_pair_map_init(&m->edges, 16) ? BPE_OK : BPE_ERR_NOMEM;
    if (status == BPE_OK) {
        m->nodes[0] = (node){0, 0, 0};
        m->n_nodes = 1;
    }
    for (size_t i = 0; status == BPE_OK && i < n_strings; data += lengths[i], i++) {
        status = insert(m, data, lengths[i], ids[i]);
    }
    if (status == BPE_OK)
        status = link_nodes(m);
    if (status != BPE_OK) {
        bpe_match_free(m);
        return bpe_fail(err, status, 0);
    }
    *out = m;
    return BPE_OK;
}

void bpe_match_free(bpe_match *m) {
    if (!m)
        return;
    bpe_mem_free(m->nodes);
    bpe_pair_map_free(&m->edges);
    bpe_mem_free(m);
}

size_t bpe_match_longest(const bpe_match *match) { return match->longest; }

void bpe_hits_free(bpe_hits *hits) {
    bpe_mem_free(hits->items);
    *hits = (bpe_hits){0};
}

/* Drop the candidates, ascending in start, that overlap one kept before. */
static void keep_leftmost(bpe_hits *hits) {
    size_t kept = 0;
    size_t free_from = 0;
    for (size_t i = 0; i < hits->n; i++) {
        if (hits->items[i].start < free_from)
            continue;
        free_from = hits->items[i].end;
        hits->items[kept++] = hits->items[i];
    }
    hits->n = kept;
}

/* They were found from the end of the text. */
static void reverse(bpe_hits *hits) {
    for (size_t i = 0, j = hits->n; i + 1 < j; i++) {
        j--;
        bpe_hit swap = hits->items[i];
        hits->items[i] = hits->items[j];
        hits->items[j] = swap;
    }
}

bool bpe_match_scan_all(const bpe_match *m, const uint8_t *data, size_t n, bpe_hits *hits) {
    hits->n = 0;
    uint32_t state = 0;
    for (size_t p = n; p-- > 0;) {
        if (state == 0) {
            /* Nearly all text: bytes that end no string of the set. */
            while (m->from_root[data[p]] == 0 && p > 0)
                p--;
            state = m->from_root[data[p]];
        } else {
            state = step(m, state, data[p]);
        }
        const node *x = &m->nodes[state];
        if (x->length == 0)
            continue;
        if (!bpe_mem_grow((void **)&hits->items, &hits->cap, hits->n + 1, sizeof *hits->items))
            return false;
        hits->items[hits->n++] = (bpe_hit){p, p + x->length, x->id};
    }
    reverse(hits);
    return true;
}

bool bpe_match_scan(const bpe_match *m, const uint8_t *data, size_t n, bpe_hits *hits) {
    if (!bpe_match_scan_all(m, data, n, hits))
        return false;
    keep_leftmost(hits);
    return true;
}

bpe_status bpe_match_find(const bpe_match *match, const uint8_t *data, size_t n, size_t *starts,
                          size_t *ends, uint32_t *ids, size_t cap, size_t *n_found) {
    bpe_hits hits = {0};
    if (!bpe_match_scan(match, data, n, &hits)) {
        bpe_hits_free(&hits);
        return BPE_ERR_NOMEM;
    }
    for (size_t i = 0; i < hits.n && i < cap; i++) {
        starts[i] = hits.items[i].start;
        ends[i] = hits.items[i].end;
        ids[i] = hits.items[i].id;
    }
    *n_found = hits.n;
    bpe_hits_free(&hits);
    return BPE_OK;
}
