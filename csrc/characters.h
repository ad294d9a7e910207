/*
 * Characters: counted words -> the words that the trainer of codepoint models works on, one slot to
 * a character. Characters outside the alphabet are left out, and part what is beside them.
 */
#ifndef BPE_CHARACTERS_H
#define BPE_CHARACTERS_H

#include "bpe.h"
#include "count.h"
#include "joins.h"
#include "words.h"

/* Lay out the words in the ids of the alphabet. Words of one character are left out. BPE_OK;
 * BPE_ERR_NOMEM; BPE_ERR_LIMIT as bpe_words_init. `words` must be zeroed; free it whatever the
 * result. */
bpe_status bpe_words_init_characters(bpe_words *words, const bpe_counts *counts,
                                     const bpe_pieces_trainer_spec *spec);

#endif
