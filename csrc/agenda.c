#include "agenda.h"

#include "memory.h"
#include "pieces.h"

#define NO_PART 0xFFFFFFFFu

/* A symbol in a doubly linked list over an array. */
typedef struct bpe_agenda_part {
    uint32_t symbol;
    uint32_t prev;
    uint32_t next;
    uint32_t made; /* by joining this and the next; BPE_NO_SYMBOL: they do not, or not any more */
} part;

/* A join that is due. It is good while the part at its place still has the same neighbour and would
 * make the same symbol with it. */
typedef struct bpe_agenda_entry {
    uint64_t key; /* rank << 32 | place, so that the order is "lowest rank, then leftmost" */
    uint32_t next;
    uint32_t made;
} entry;

void bpe_agenda_free(bpe_agenda *agenda) {
    bpe_mem_free(agenda->parts);
    bpe_mem_free(agenda->heap);
    *agenda = (bpe_agenda){0};
}

/* One running call. */
typedef struct joining {
    const bpe_rules *rules;
    part *parts;
    entry *heap;
    size_t n_heap;
    const uint8_t *kinds;
    bpe_pair_map *back;
} joining;

static void push(joining *j, entry e) {
    size_t i = j->n_heap++;
    while (i > 0 && j->heap[(i - 1) / 2].key > e.key) {
        j->heap[i] = j->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    j->heap[i] = e;
}

static entry pop(joining *j) {
    entry top = j->heap[0];
    entry last = j->heap[--j->n_heap];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= j->n_heap)
            break;
        if (child + 1 < j->n_heap && j->heap[child + 1].key < j->heap[child].key)
            child++;
        if (j->heap[child].key >= last.key)
            break;
        j->heap[i] = j->heap[child];
        i = child;
    }
    j->heap[i] = last;
    return top;
}

/* Consider joining the part at `at` with the next one. False when out of memory. */
static bool consider(joining *j, uint32_t at) {
    part *left = &j->parts[at];
    left->made = BPE_NO_SYMBOL;
    if (left->next == NO_PART)
        return true;
    uint32_t right = j->parts[left->next].symbol;
    if (left->symbol >= BPE_NO_SYMBOL || right >= BPE_NO_SYMBOL) /* or frozen */
        return true;
    uint32_t made;
    uint32_t rank = bpe_rules_find(j->rules, left->symbol, right, &made);
    if (rank == BPE_NO_RANK)
        return true;
    left->made = made;
    push(j, (entry){(uint64_t)rank << 32 | at, left->next, made});
    if (j->back && j->kinds[made] == BPE_SYMBOL_UNUSED) {
        bool is_new;
        bpe_pair_entry *halves = bpe_pair_map_add(j->back, made, &is_new);
        if (!halves)
            return false;
        halves->a = left->symbol;
        halves->b = right;
    }
    return true;
}

static bool skips(bpe_chance *chance) {
    chance->state += 0x9E3779B97F4A7C15u;
    uint64_t z = chance->state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return z >> 11 < chance->threshold;
}

bpe_status bpe_agenda_join(bpe_agenda *agenda, const bpe_rules *rules, uint32_t *symbols,
                           size_t *starts, size_t n, bpe_chance *chance, const uint8_t *kinds,
                           bpe_pair_map *back, size_t *n_left) {
    /* At most n pairs at the start, and two new ones for each of at most n joins. */
    if (n > SIZE_MAX / 3 ||
        !bpe_mem_grow((void **)&agenda->parts, &agenda->parts_cap, n, sizeof *agenda->parts) ||
        !bpe_mem_grow((void **)&agenda->heap, &agenda->heap_cap, 3 * n, sizeof *agenda->heap)) {
        return BPE_ERR_NOMEM;
    }
    joining j = {rules, agenda->parts, agenda->heap, 0, kinds, back};
    for (size_t i = 0; i < n; i++) {
        j.parts[i] = (part){symbols[i], i > 0 ? (uint32_t)i - 1 : NO_PART,
                            i + 1 < n ? (uint32_t)i + 1 : NO_PART, BPE_NO_SYMBOL};
    }
    for (size_t i = 0; i + 1 < n; i++) {
        if (!consider(&j, (uint32_t)i))
            return BPE_ERR_NOMEM;
    }
    while (j.n_heap > 0) {
        entry e = pop(&j);
        uint32_t at = (uint32_t)e.key;
        part *x = &j.parts[at];
        if (x->made != e.made || x->next != e.next)
            continue;
        if (chance && skips(chance)) {
            x->made = BPE_NO_SYMBOL;
            continue;
        }
        part *gone = &j.parts[x->next];
        x->symbol = x->made;
        x->next = gone->next;
        gone->made = BPE_NO_SYMBOL;
        if (x->next != NO_PART)
            j.parts[x->next].prev = at;
        if ((x->prev != NO_PART && !consider(&j, x->prev)) || !consider(&j, at))
            return BPE_ERR_NOMEM;
    }
    size_t left = 0;
    for (uint32_t i = 0; n > 0 && i != NO_PART; i = j.parts[i].next) {
        symbols[left] = j.parts[i].symbol;
        starts[left++] = starts[i];
    }
    *n_left = left;
    return BPE_OK;
}
