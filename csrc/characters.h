/*
 * Characters: counted words -> the words that the trainer of codepoint models works on.
 *
 * A word is cut wherever no piece can go across, whatever becomes a piece: at characters outside
 * the alphabet, between characters of different scripts, at digits that stay alone. What is left is
 * counted again: "word", "word," and "(word" are one word then.
 */
#ifndef BPE_CHARACTERS_H
#define BPE_CHARACTERS_H

#include "bpe.h"
#include "count.h"
#include "joins.h"
#include "words.h"

/* Lay out the words in the symbols of the alphabet that `joins` holds, one slot to a character.
 * Words of one character are left out. BPE_OK; BPE_ERR_NOMEM; BPE_ERR_LIMIT as bpe_words_init.
 * `words` must be zeroed; free it whatever the result. */
bpe_status bpe_words_init_characters(bpe_words *words, const bpe_counts *counts,
                                     const bpe_joins *joins, const bpe_pieces_trainer_spec *spec);

#endif
