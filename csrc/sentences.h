/*
 * Sentences: the lines of a corpus -> counted words, as sentencepiece's trainer reads them.
 *
 *   line -> normalise -> cut out strings -> cut out the delimiter and U+001F -> words -> counts
 *
 * sentencepiece writes U+001F where it cuts something out, and drops that character later on. Here
 * the text is cut on the spot, which is the same for everything but the number of characters that
 * the corpus is said to hold: hence `cuts` in the report.
 */
#ifndef BPE_SENTENCES_H
#define BPE_SENTENCES_H

#include <stdbool.h>

#include "bpe.h"
#include "match.h"
#include "normalize.h"

/* What is cut out of sentences in one go. */
typedef struct bpe_cut_out {
    bpe_match *match; /* NULL: nothing */
    bool first[256];  /* the bytes that its strings begin with */
    int only_first;   /* the one there is, or -1 */
    bpe_hits hits;    /* scratch */
} bpe_cut_out;

struct bpe_sentences {
    bpe_normalizer norm;
    uint32_t words;
    size_t longest;
    uint8_t *classes; /* of all characters, or NULL */
    bpe_cut_out cut;
    bpe_cut_out delimiter;
    bpe_sentences_report report;
    bpe_text text; /* scratch: the sentence at hand, normalised */

    /* Words that are not in a table yet: bytes, and where each ends; how often, if not once. */
    uint8_t *bytes;
    size_t n_bytes;
    size_t bytes_cap;
    size_t *ends; /* the first is 0, where the first word begins */
    size_t n_ends;
    size_t ends_cap;
    uint64_t *weights;
    size_t weights_cap;
    uint64_t weight; /* of the sentence at hand */
    bool weighted;   /* whether weights are kept */
};

#endif
