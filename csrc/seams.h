/*
 * Seams: places where a text can be parted, so that its parts can be counted apart.
 *
 * At a seam a pretoken ends, whatever stands further before and behind, and no string that is cut
 * out beforehand reaches across; so the pretokens of the text are those of both parts. Whether
 * a place is a seam is seen from the two characters and the two bytes beside it alone.
 *
 * Character a, then b, are a seam of a stage that cuts out its matches if
 *
 * - a can begin a match, and in every state that reading a leads to, both b and the end of the text
 *   end the match right there. A match that holds a then ends before b, on either side of whatever
 *   was read before. And one does hold a: if none did, a match would begin with it.
 * - or no match can hold a, and b is a match in any case: then a gap ends here, and no attempt to
 *   match reads across.
 *
 * Later stages cut what the first has cut, so only the first one matters.
 */
#ifndef BPE_SEAMS_H
#define BPE_SEAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpe.h"
#include "stage.h"

struct bpe_seams {
    const bpe_stage *stage;
    uint32_t n_classes;
    bool *pairs;           /* n_classes * n_classes: class before, class behind */
    uint64_t inside[1024]; /* a bit for each two bytes that stand together in a string */
};

#endif
