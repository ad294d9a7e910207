/*
 * JSON lines: one object in each line, and the string that each has under one key.
 *
 * A line is read once, strictly (RFC 8259), whatever it holds beside the string: a damaged corpus
 * shall be refused, not guessed at. Only NaN, Infinity and -Infinity are taken, too, because
 * Python's json writes them. Of a key that comes twice the last value counts, as there.
 */
#ifndef BPE_JSON_LINES_H
#define BPE_JSON_LINES_H

#include "bpe.h"

#endif
