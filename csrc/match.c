#include "match.h"

#include "maps.h"
#include "memory.h"
#include "order.h"

/*
 * A trie of the reversed strings. Its nodes are numbered level by level, and within a level in the
 * order of what they spell; node 0 is the root. So the children of a node have consecutive numbers,
 * by ascending label, and those of the next node follow: one number for each node says where they
 * are, and neither building nor scanning needs a hash table.
 */
typedef struct node {
    uint32_t fail;   /* the longest proper suffix of this node's string that is a node */
    uint32_t length; /* of the longest string of the set that is a suffix of this node's string; 0:
                        none */
    uint32_t id;     /* of that string */
    uint32_t first;  /* its first child; the children end where those of the next node begin */
} node;

struct bpe_match {
    node *nodes;     /* n_nodes of them, and one more for its `first` */
    uint8_t *labels; /* the byte that leads to each node */
    size_t n_nodes;
    size_t longest;
    uint32_t from_root[256]; /* child of the root, 0 where there is none: the state most text is
                                read in */
    size_t n_ends;           /* how many bytes there are that a string ends with */
    uint8_t ends[2];         /* if they are no more than two: these */
};

/* The child that a byte leads to, 0 for none. */
static inline uint32_t child(const bpe_match *m, uint32_t state, uint8_t b) {
    uint32_t low = m->nodes[state].first;
    uint32_t high = m->nodes[state + 1].first;
    while (high - low > 8) {
        uint32_t middle = low + (high - low) / 2;
        if (m->labels[middle] <= b)
            low = middle;
        else
            high = middle;
    }
    for (; low < high; low++) {
        if (m->labels[low] == b)
            return low;
    }
    return 0;
}

/* Scanning: the next state after reading byte b. */
static inline uint32_t step(const bpe_match *m, uint32_t state, uint8_t b) {
    while (state != 0) {
        uint32_t next = child(m, state, b);
        if (next != 0)
            return next;
        state = m->nodes[state].fail;
    }
    return m->from_root[b];
}

/* ---------------------------------------------------------------- building */

/* What a matcher is built from. */
typedef struct sorted_set {
    bpe_intern strings; /* each once */
    uint32_t *ids;      /* of each: that of the first of equal ones */
    bpe_order order;    /* read from the back */
    uint32_t *common;   /* bytes that each string of the order shares with the one before it */
    size_t *next;       /* for each depth, the number of the next node there */
    uint32_t *path;     /* for each depth, the node of the current string */
} sorted_set;

static void free_set(sorted_set *set) {
    bpe_intern_free(&set->strings);
    bpe_order_free(&set->order);
    bpe_mem_free(set->ids);
    bpe_mem_free(set->common);
    bpe_mem_free(set->next);
    bpe_mem_free(set->path);
}

static bpe_status sort_set(sorted_set *set, const uint8_t *data, const uint32_t *lengths,
                           const uint32_t *ids, size_t n_strings) {
    set->ids = bpe_mem_array(n_strings, sizeof *set->ids);
    set->common = bpe_mem_array(n_strings, sizeof *set->common);
    if (!set->ids || !set->common || !bpe_intern_init(&set->strings, n_strings))
        return BPE_ERR_NOMEM;
    for (size_t i = 0; i < n_strings; data += lengths[i], i++) {
        size_t before = set->strings.n;
        uint64_t hash = bpe_intern_hash(&set->strings, data, lengths[i]);
        if (bpe_intern_add(&set->strings, data, lengths[i], hash) == BPE_NO_ID)
            return BPE_ERR_NOMEM;
        if (set->strings.n > before)
            set->ids[before] = ids[i];
    }
    if (!bpe_order_sort(&set->order, &set->strings, set->strings.n, true))
        return BPE_ERR_NOMEM;
    for (size_t i = 0; i < set->order.n; i++) {
        const bpe_order_item *x = &set->order.items[i];
        set->common[i] = i == 0 ? 0 : (uint32_t)bpe_order_common(&set->strings, x - 1, x, true);
    }
    return BPE_OK;
}

/* Each string has nodes of its own for all but what it shares with the one before it: so many, and
 * so it is known where each level begins. */
static bpe_status count_nodes(bpe_match *m, sorted_set *set) {
    size_t n = set->order.n;
    for (size_t i = 0; i < n; i++) {
        if (set->order.items[i].length > m->longest)
            m->longest = set->order.items[i].length;
    }
    set->next = bpe_mem_zeroed(m->longest + 2, sizeof *set->next);
    set->path = bpe_mem_zeroed(m->longest + 1, sizeof *set->path);
    if (!set->next || !set->path)
        return BPE_ERR_NOMEM;
    /* First by how much a level is larger than the one above it; sums wrap around and back. */
    for (size_t i = 0; i < n; i++) {
        set->next[set->common[i] + 1]++;
        set->next[set->order.items[i].length + 1]--;
    }
    size_t width = 0;
    m->n_nodes = 1;
    for (size_t depth = 1; depth <= m->longest; depth++) {
        width += set->next[depth];
        set->next[depth] = m->n_nodes;
        m->n_nodes += width;
    }
    m->nodes = bpe_mem_zeroed(m->n_nodes + 1, sizeof *m->nodes);
    m->labels = bpe_mem_array(m->n_nodes, 1);
    return m->nodes && m->labels ? BPE_OK : BPE_ERR_NOMEM;
}

static void add_nodes(bpe_match *m, sorted_set *set) {
    for (size_t i = 0; i < set->order.n; i++) {
        const bpe_order_item *x = &set->order.items[i];
        size_t length;
        const uint8_t *string = bpe_intern_bytes(&set->strings, x->index, &length);
        for (size_t depth = set->common[i] + 1; depth <= length; depth++) {
            uint32_t new = (uint32_t)set->next[depth]++;
            node *parent = &m->nodes[set->path[depth - 1]];
            if (parent->first == 0)
                parent->first = new;
            m->labels[new] = string[length - depth];
            set->path[depth] = new;
        }
        node *last = &m->nodes[set->path[length]];
        last->length = (uint32_t)length;
        last->id = set->ids[x->index];
    }
    m->nodes[m->n_nodes].first = (uint32_t)m->n_nodes;
    for (size_t i = m->n_nodes; i-- > 0;) {
        if (m->nodes[i].first == 0)
            m->nodes[i].first = m->nodes[i + 1].first;
    }
    for (uint32_t i = m->nodes[0].first; i < m->nodes[1].first; i++)
        m->from_root[m->labels[i]] = i;
    m->n_ends = m->nodes[1].first - m->nodes[0].first;
    if (m->n_ends > 0) {
        m->ends[0] = m->labels[m->nodes[0].first];
        m->ends[1] = m->labels[m->nodes[1].first - 1];
    }
}

/* Fail links, and the best string inherited along them: those of lower levels come first. */
static void link_nodes(bpe_match *m) {
    for (uint32_t parent = 1; parent < m->n_nodes; parent++) {
        for (uint32_t i = m->nodes[parent].first; i < m->nodes[parent + 1].first; i++) {
            node *x = &m->nodes[i];
            x->fail = step(m, m->nodes[parent].fail, m->labels[i]);
            if (x->length == 0) {
                x->length = m->nodes[x->fail].length;
                x->id = m->nodes[x->fail].id;
            }
        }
    }
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
    sorted_set set = {0};
    bpe_status status = sort_set(&set, data, lengths, ids, n_strings);
    if (status == BPE_OK)
        status = count_nodes(m, &set);
    if (status == BPE_OK) {
        add_nodes(m, &set);
        link_nodes(m);
    }
    free_set(&set);
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
    bpe_mem_free(m->labels);
    bpe_mem_free(m);
}

/* ---------------------------------------------------------------- scanning */

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

/* Bytes that are looked at together; compilers know how. */
#define BLOCK 32

/* The last byte of data[0, p] that some string ends with, or its first byte. */
static inline size_t last_end(const bpe_match *m, const uint8_t *data, size_t p) {
    while (m->n_ends <= 2 && p >= BLOCK) {
        const uint8_t *block = data + p + 1 - BLOCK;
        uint8_t found = 0;
        for (size_t i = 0; i < BLOCK; i++)
            found |= (block[i] == m->ends[0]) | (block[i] == m->ends[1]);
        if (found)
            break;
        p -= BLOCK;
    }
    while (m->from_root[data[p]] == 0 && p > 0)
        p--;
    return p;
}

bool bpe_match_scan_all(const bpe_match *m, const uint8_t *data, size_t n, bpe_hits *hits) {
    hits->n = 0;
    uint32_t state = 0;
    for (size_t p = n; p-- > 0;) {
        if (state == 0) {
            p = last_end(m, data, p); /* nearly all text is passed over so */
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
