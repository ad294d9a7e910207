/*
 * Merge many: the merges of several short pretokens side by side.
 *
 * One merge after the other of one pretoken waits for memory each time, since which pair comes
 * next depends on what the last look-ups said. Pretokens do not depend on each other: two dozen of
 * them take turns, and what a pretoken looks up next has arrived when its turn comes again.
 */
#ifndef BPE_MERGE_MANY_H
#define BPE_MERGE_MANY_H

#include "merge.h"

#define BPE_MANY_BYTES 128

/* A pretoken of up to BPE_MANY_BYTES symbols. */
typedef struct bpe_merge_job {
    const uint8_t *bytes; /* that its symbols stand for, one each; NULL: they do not */
    uint32_t *ids;        /* the ids of its symbols, then those that are left */
    uint32_t n;           /* how many; 0: nothing is to be done */
} bpe_merge_job;

/* Whether rules can be applied so: they have a rank table, and ranks are not too high. */
bool bpe_merge_many_can(const bpe_rules *rules);

/* The same as bpe_merge_short without a limit for each of the jobs. */
void bpe_merge_many(const bpe_rules *rules, bpe_merge_job *jobs, size_t n_jobs);

/* The same without instructions that not every processor has. */
void bpe_merge_many_plain(const bpe_rules *rules, bpe_merge_job *jobs, size_t n_jobs);

#endif
