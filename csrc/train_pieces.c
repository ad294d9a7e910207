/* Trainers of codepoint models: another beginning; train.c does the rest. */
#include "characters.h"
#include "joins.h"
#include "memory.h"
#include "train.h"

/* The alphabet is there: its tokens, and the words. */
static bpe_status init_characters(bpe_trainer *t, const bpe_counts *counts,
                                  const bpe_pieces_trainer_spec *spec) {
    t->n_ids = t->first_id = spec->n_characters;
    if (!bpe_trainer_reserve_id(t))
        return BPE_ERR_NOMEM;
    for (size_t i = 0; i < t->n_ids; i++)
        t->lengths[i] = 1;
    return bpe_words_init_characters(&t->words, counts, spec);
}

bpe_status bpe_trainer_new_pieces(const bpe_counts *counts, const bpe_pieces_trainer_spec *spec,
                                  bpe_trainer **out, bpe_error *err) {
    if (spec->n_characters > BPE_MAX_IDS - 1 ||
        spec->n_merges > BPE_MAX_IDS - 1 - spec->n_characters) {
        return bpe_fail(err, BPE_ERR_LIMIT, 0);
    }
    bpe_trainer *t = bpe_mem_zeroed(1, sizeof *t);
    bpe_joins *joins = t ? bpe_mem_zeroed(1, sizeof *joins) : NULL;
    if (!joins) {
        bpe_mem_free(t);
        return bpe_fail(err, BPE_ERR_NOMEM, 0);
    }
    t->joins = joins;
    t->n_wanted = spec->n_merges;
    t->floor = spec->keeps_all ? 0 : 1;
    t->longest = SIZE_MAX;
    t->threshold = UINT64_MAX; /* no pairs are known; the first run counts them */
    t->has_unwanted = true;
    bpe_error where = {BPE_OK, 0};
    bpe_status status = bpe_joins_init(joins, spec, &where);
    if (status != BPE_OK) {
        bpe_trainer_free(t);
        return bpe_fail(err, status, where.pos);
    }
    status = init_characters(t, counts, spec);
    if (status != BPE_OK) {
        bpe_trainer_free(t);
        return bpe_fail(err, status, 0);
    }
    *out = t;
    return BPE_OK;
}
