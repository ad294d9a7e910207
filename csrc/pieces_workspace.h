/*
 * Workspace: what one running call with a codepoint model needs.
 */
#ifndef BPE_PIECES_WORKSPACE_H
#define BPE_PIECES_WORKSPACE_H

#include "agenda.h"
#include "gaps.h"
#include "pieces.h"

struct bpe_pieces_workspace {
    const bpe_pieces *pieces;
    bpe_kept kept;
    bpe_agenda agenda;
    bpe_hits special;
    bpe_hits raw_users;
    bpe_hits text_users;
    bpe_text text;
    uint32_t *symbols;
    size_t symbols_cap;
    size_t *starts; /* of symbols, in text */
    size_t starts_cap;
    uint32_t *ids;
    size_t ids_cap;
    bpe_span *spans;
    size_t spans_cap;
};

#endif
