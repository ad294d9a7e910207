/* Small random models for the tests of merge, model and encode. */
#ifndef BPE_TEST_MODELS_H
#define BPE_TEST_MODELS_H

#include "bpe.h"
#include "harness.h"
#include "random.h"

enum { MODEL_TOKENS = 256 + 64, MODEL_BYTES = 256 * 8 };

typedef struct model_parts {
    uint8_t data[MODEL_BYTES];
    uint32_t lengths[MODEL_TOKENS];
    uint32_t ids[MODEL_TOKENS];
    uint32_t starts[MODEL_TOKENS];
    uint32_t merges[2 * 64];
    uint32_t merge_ids[64];
    bpe_model_spec spec;
} model_parts;

static inline void parts_add(model_parts *m, const uint8_t *bytes, size_t n) {
    size_t i = m->spec.n_tokens++;
    memcpy(m->data + m->spec.token_data_size, bytes, n);
    m->starts[i] = (uint32_t)m->spec.token_data_size;
    m->lengths[i] = (uint32_t)n;
    m->ids[i] = (uint32_t)i;
    m->spec.token_data_size += n;
}

static inline void parts_init(model_parts *m, uint32_t semantics) {
    memset(m, 0, sizeof *m);
    m->spec.semantics = semantics;
    m->spec.token_data = m->data;
    m->spec.token_lengths = m->lengths;
    m->spec.token_ids = m->ids;
    m->spec.merges = m->merges;
    m->spec.merge_ids = m->merge_ids;
    for (uint32_t b = 0; b < 256; b++) {
        uint8_t byte = (uint8_t)b;
        parts_add(m, &byte, 1);
    }
}

static inline bool parts_hold(const model_parts *m, const uint8_t *p, size_t n) {
    for (size_t i = 0; i < m->spec.n_tokens; i++) {
        if (m->lengths[i] == n && memcmp(m->data + m->starts[i], p, n) == 0)
            return true;
    }
    return false;
}

/* Ranks of random strings over a few letters: most tables are not closed under merges. */
static inline void random_ranks(model_parts *m, uint64_t *seed, uint32_t letters) {
    parts_init(m, BPE_SEMANTICS_RANKS);
    m->spec.whole_pretoken = random_below(seed, 2);
    for (int i = 0; i < 40; i++) {
        uint8_t s[12];
        size_t n = 2 + random_below(seed, random_below(seed, 2) ? 3 : 10);
        for (size_t k = 0; k < n; k++)
            s[k] = (uint8_t)('a' + random_below(seed, letters));
        if (!parts_hold(m, s, n))
            parts_add(m, s, n);
    }
}

/* Merges of random earlier tokens, in random order of use. */
static inline void random_merges(model_parts *m, uint64_t *seed, uint32_t letters) {
    parts_init(m, BPE_SEMANTICS_MERGES);
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t pool = letters + i;
        uint32_t pick[2];
        for (int k = 0; k < 2; k++) {
            uint32_t x = random_below(seed, pool);
            pick[k] = x < letters ? 'a' + x : 256 + x - letters;
        }
        uint8_t s[32];
        size_t n = 0;
        if (m->lengths[pick[0]] + m->lengths[pick[1]] > 16) {
            pick[0] = 'a';
            pick[1] = 'a' + random_below(seed, letters);
        }
        for (int k = 0; k < 2; k++) {
            memcpy(s + n, m->data + m->starts[pick[k]], m->lengths[pick[k]]);
            n += m->lengths[pick[k]];
        }
        parts_add(m, s, n);
        m->merges[2 * i] = pick[0];
        m->merges[2 * i + 1] = pick[1];
        m->merge_ids[i] = 256 + i;
        m->spec.n_merges++;
    }
}

/* Rank and made id of a pair by the definition: search everything. */
static inline uint32_t slow_rank(const model_parts *m, uint32_t left, uint32_t right,
                                 uint32_t *made) {
    if (m->spec.semantics == BPE_SEMANTICS_MERGES) {
        for (uint32_t i = 0; i < m->spec.n_merges; i++) {
            if (m->merges[2 * i] == left && m->merges[2 * i + 1] == right) {
                *made = m->merge_ids[i];
                return i;
            }
        }
        return UINT32_MAX;
    }
    size_t a = m->lengths[left], b = m->lengths[right];
    for (uint32_t i = 0; i < m->spec.n_tokens; i++) {
        const uint8_t *p = m->data + m->starts[i];
        if (m->lengths[i] == a + b && memcmp(p, m->data + m->starts[left], a) == 0 &&
            memcmp(p + a, m->data + m->starts[right], b) == 0) {
            *made = i;
            return i;
        }
    }
    return UINT32_MAX;
}

/* Encode one pretoken by the definition. Returns how many ids. */
static inline size_t slow_encode(const model_parts *m, const uint8_t *p, size_t n, uint32_t limit,
                                 uint32_t *ids) {
    if (m->spec.whole_pretoken && limit == UINT32_MAX) {
        for (uint32_t i = 0; i < m->spec.n_tokens; i++) {
            if (m->lengths[i] == n && memcmp(m->data + m->starts[i], p, n) == 0) {
                ids[0] = i;
                return 1;
            }
        }
    }
    for (size_t i = 0; i < n; i++)
        ids[i] = p[i];
    for (;;) {
        uint32_t best = UINT32_MAX, best_made = 0;
        size_t at = 0;
        for (size_t i = 0; i + 1 < n; i++) {
            uint32_t made = 0, rank = slow_rank(m, ids[i], ids[i + 1], &made);
            if (rank < best && rank < limit) {
                best = rank;
                best_made = made;
                at = i;
            }
        }
        if (best == UINT32_MAX)
            return n;
        ids[at] = best_made;
        n--;
        for (size_t i = at + 1; i < n; i++)
            ids[i] = ids[i + 1];
    }
}

#endif
