/*
 * pybpe C core: byte-level byte pair encoding.
 *
 *   text -> match (added and special tokens) -> split (pretokens) -> merge -> ids -> decode ->
 * bytes corpus -> split -> count -> train -> merges -> model
 *
 * Conventions
 *
 *   - A fallible function returns a bpe_status: BPE_OK (0) or a negative code. On failure the
 * outputs are untouched and nothing leaks. Where it helps, a last parameter `bpe_error *err` (NULL
 * is fine) receives the position of what is wrong: bytes for text, an index for ids, tokens and
 * merges.
 *   - `*_new` makes an owned object and `*_free` takes it back; `*_free(NULL)` does nothing. Every
 * other pointer is borrowed for the duration of the call only: models, splits and matchers keep
 * copies of what they need.
 *   - Text is UTF-8 in (const uint8_t *, size_t n) form, n in bytes, never NUL-terminated. Bytes
 * that are not UTF-8 are welcome everywhere: each is a character of the class of U+FFFD for
 * splitting, and keeps its own value.
 *   - ids and ranks are uint32_t, lengths and offsets size_t, frequencies uint64_t.
 *   - Thread safety: there are no globals, the library starts no thread, and const objects may be
 * used by any number of threads at once. A workspace, a counts table and a trainer belong to one
 * thread at a time. fork() is safe.
 *   - Nothing is printed, nothing aborts, errno is not used.
 *
 * The part between the cffi markers is also the declaration that Python reads: one source, two
 * readers.
 */
#ifndef BPE_H
#define BPE_H

#include <stddef.h>
#include <stdint.h>

/* Marks the public functions. They are visible outside a shared library only if it is built with
 * -DBPE_SHARED; in the Python extension everything but its entry point is hidden. */
#if defined(BPE_SHARED) && defined(_WIN32)
#define BPE_API __declspec(dllexport)
#elif defined(BPE_SHARED)
#define BPE_API __attribute__((visibility("default")))
#else
#define BPE_API
#endif

/* cffi: begin */

/* ---------------------------------------------------------------- status */

typedef int32_t bpe_status;

enum {
    BPE_OK = 0,
    BPE_ERR_NOMEM = -1,    /* an allocation failed */
    BPE_ERR_ARG = -2,      /* an argument breaks a stated rule (a caller's bug) */
    BPE_ERR_ID = -3,       /* no token has this id; pos = index of the id */
    BPE_ERR_CAPACITY = -4, /* the caller's buffer is smaller than the stated bound */
    BPE_ERR_LIMIT = -5,    /* larger than a documented limit */
    BPE_ERR_MODEL =
        -6, /* the model's data contradict each other; pos = index of the token or merge */
    BPE_ERR_SPLIT = -7,    /* the split tables contradict each other; pos = index in the table */
    BPE_ERR_FORBIDDEN = -8 /* text spells a forbidden string; pos = its byte offset */
};

/* What is wrong and where: `pos` is a byte offset in text, an index in arrays. */
typedef struct bpe_error {
    bpe_status code;
    size_t pos;
} bpe_error;

/* A constant English phrase for a status, e.g. "out of memory". Never NULL. */
BPE_API const char *bpe_status_message(bpe_status status);

/* Ids are below this: the id of a token indexes arrays. */
#define BPE_MAX_IDS 16777216

/* "No such id". */
#define BPE_NO_ID 0xFFFFFFFFu

/* ---------------------------------------------------------------- match: added and special tokens
 */

/*
 * Finds a fixed set of byte strings in text, leftmost first and longest among those that start
 * together, without overlaps. An automaton over the reversed strings reads the text once from its
 * end, so the time is linear in the text whatever the number and shape of the strings.
 */
typedef struct bpe_match bpe_match;

/*
 * Build a matcher.
 *
 * data     the strings one after another; lengths[i] bytes each, none empty
 * ids      what to report for each string (any value); of equal strings the first counts
 * Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_ARG for an empty string (err->pos = its index);
 * BPE_ERR_LIMIT when the strings hold 2^31 bytes or more together. Time and memory O(total bytes).
 */
BPE_API bpe_status bpe_match_new(const uint8_t *data, const uint32_t *lengths, const uint32_t *ids,
                                 size_t n_strings, bpe_match **out, bpe_error *err);
BPE_API void bpe_match_free(bpe_match *match);

/*
 * Find all occurrences: occurrence i is bytes [starts[i], ends[i]) and carries ids[i]. At most
 * `cap` are written; *n_found is how many there are, so a second call with larger arrays gets the
 * rest. Returns BPE_OK or BPE_ERR_NOMEM. O(n).
 */
BPE_API bpe_status bpe_match_find(const bpe_match *match, const uint8_t *data, size_t n,
                                  size_t *starts, size_t *ends, uint32_t *ids, size_t cap,
                                  size_t *n_found);

/* ---------------------------------------------------------------- split: text -> pretokens */

/*
 * A compiled splitter: stages in a row, each an automaton over codepoint classes. Every stage
 * re-splits the spans of the one before; within a span, text that the automaton does not match (a
 * gap) is a span of its own, so no character is ever lost. No stages: the whole text is one
 * pretoken.
 */
typedef struct bpe_split bpe_split;

/*
 * The tables of one stage.
 *
 * class_starts, class_ids   run-length coded map codepoint -> class: run i covers class_starts[i]
 * up to the next start; class_starts[0] = 0, ascending, below 0x110000; class_ids[i] < n_classes
 * n_classes                 1 to 255; class number n_classes is "end of text"
 * transitions               n_states rows of n_classes + 1 values: next state in the low 15 bits,
 * 0x8000 set when a match ends just before the character is consumed. State 0 is dead (a row of
 * zeros), state 1 the start. Everything is dead after the end of text.
 */
typedef struct bpe_split_stage {
    const uint32_t *class_starts;
    const uint8_t *class_ids;
    size_t n_runs;
    uint32_t n_classes;
    uint32_t n_states;
    const uint16_t *transitions;
} bpe_split_stage;

#define BPE_MAX_STAGES 16
#define BPE_MAX_STATES 4096

/*
 * Build a splitter from 0 to BPE_MAX_STAGES stages; the tables are copied. Every value is checked.
 * Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_LIMIT (too many stages, classes or states; err->pos = the
 * stage); BPE_ERR_SPLIT (err->pos = index of the bad run or transition).
 */
BPE_API bpe_status bpe_split_new(const bpe_split_stage *stages, size_t n_stages, bpe_split **out,
                                 bpe_error *err);
BPE_API void bpe_split_free(bpe_split *split);

/*
 * Write the end offset of every pretoken of data[0, n) to `ends` and their number to *n_ends; the
 * first starts at 0, each next one where the last ended. `cap` >= n is always enough. Returns
 * BPE_OK; BPE_ERR_NOMEM; BPE_ERR_CAPACITY. O(n), for any tables.
 */
BPE_API bpe_status bpe_split_ends(const bpe_split *split, const uint8_t *data, size_t n,
                                  size_t *ends, size_t cap, size_t *n_ends);

/* ---------------------------------------------------------------- model: vocabulary and merge
 * rules */

typedef struct bpe_model bpe_model;

enum {
    BPE_SEMANTICS_RANKS =
        1, /* any two parts whose concatenation is a token merge; rank order = id order */
    BPE_SEMANTICS_MERGES = 2 /* only the listed pairs merge; rank = index in the list */
};

/*
 * What a model is made of.
 *
 * semantics         BPE_SEMANTICS_RANKS or BPE_SEMANTICS_MERGES
 * whole_pretoken    1: a pretoken that is a token is taken whole, before any merge; 0: it is not
 * token_data        the ordinary tokens' bytes one after another, token i has token_lengths[i] >= 1
 * bytes and the id token_ids[i]; ids ascend strictly and lie below BPE_MAX_IDS (gaps are fine). The
 * 256 single bytes must all be there. Two tokens with equal bytes are allowed under MERGES only;
 * bytes stand for the first of them. merges, merge_ids n_merges pairs (left id, right id), and the
 * id each makes; the bytes of that id must be the concatenation. Of equal pairs the first counts.
 * Must be empty under RANKS. extra_*           special and added tokens, which are decoded but
 * never made by merges; in any order. An id may be that of an ordinary token only if the bytes are
 * equal.
 */
typedef struct bpe_model_spec {
    uint32_t semantics;
    uint32_t whole_pretoken;
    const uint8_t *token_data;
    size_t token_data_size;
    const uint32_t *token_lengths;
    const uint32_t *token_ids;
    size_t n_tokens;
    const uint32_t *merges;
    const uint32_t *merge_ids;
    size_t n_merges;
    const uint8_t *extra_data;
    size_t extra_data_size;
    const uint32_t *extra_lengths;
    const uint32_t *extra_ids;
    size_t n_extra;
} bpe_model_spec;

/* Which part of a specification a BPE_ERR_MODEL is about: the high bits of err->pos; the low 32
 * bits hold the index. */
enum {
    BPE_PART_TOKEN =
        1, /* token: empty, past the end of token_data, id not ascending or out of range */
    BPE_PART_DUPLICATE = 2, /* token: the same bytes as an earlier token, under RANKS */
    BPE_PART_BYTE = 3,      /* index = the byte that has no token */
    BPE_PART_MERGE = 4,     /* merge: unknown id, or the made token is not the concatenation */
    BPE_PART_EXTRA = 5,     /* extra token: empty, past the end of extra_data, id out of range */
    BPE_PART_EXTRA_ID = 6   /* extra token: id already stands for other bytes */
};

/*
 * Build a model; everything is copied and checked. O(bytes of all tokens).
 * Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_ARG (unknown semantics, merges under RANKS); BPE_ERR_LIMIT
 * (more than 2^32 bytes of tokens); BPE_ERR_MODEL with err->pos = (BPE_PART_* << 32 | index).
 */
BPE_API bpe_status bpe_model_new(const bpe_model_spec *spec, bpe_model **out, bpe_error *err);
BPE_API void bpe_model_free(bpe_model *model);

/* Highest id + 1. */
BPE_API uint32_t bpe_model_n_vocab(const bpe_model *model);

/* The bytes of token `id`, borrowed from the model, and their number in *n; NULL when no token has
 * this id. */
BPE_API const uint8_t *bpe_model_token(const bpe_model *model, uint32_t id, size_t *n);

/* The id of the ordinary token with exactly these bytes, or BPE_NO_ID. */
BPE_API uint32_t bpe_model_find(const bpe_model *model, const uint8_t *data, size_t n);

/*
 * The merge that makes each ordinary token under RANKS: token bytes are merged with only the ranks
 * below its own, and where two parts are left, they are its pair. left[i] and right[i] belong to
 * the i-th ordinary token (ascending ids); both are BPE_NO_ID for single bytes and for tokens that
 * no merge makes. `cap` >= number of ordinary tokens. Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_ARG
 * under MERGES; BPE_ERR_CAPACITY.
 */
BPE_API bpe_status bpe_model_recover_merges(const bpe_model *model, uint32_t *left, uint32_t *right,
                                            size_t cap);

/* ---------------------------------------------------------------- encode */

/*
 * Scratch memory and the cache of pretokens already encoded. One running call uses one workspace;
 * it may be kept from call to call, with one model only: the cache holds that model's ids. Not
 * shared between threads.
 */
typedef struct bpe_workspace bpe_workspace;

BPE_API bpe_status bpe_workspace_new(const bpe_model *model, bpe_workspace **out);
BPE_API void bpe_workspace_free(bpe_workspace *workspace);

/* Which way short and long pretokens are merged; all give the same ids. Tests force each. */
enum {
    BPE_PATH_AUTO = 0,
    BPE_PATH_SHORT = 1, /* repeated minimum over an array */
    BPE_PATH_LONG = 2   /* heap over a linked list, O(n log n) */
};

/* Choose the merge path and whether the cache is used (1) or not (0). Default: BPE_PATH_AUTO, 1. */
BPE_API bpe_status bpe_workspace_configure(bpe_workspace *workspace, uint32_t path,
                                           uint32_t use_cache);

/*
 * Encode data[0, n).
 *
 * match      added and permitted special tokens, found before splitting; NULL for none. Their ids
 * go out as they are; the text between two of them is split as a text of its own. forbidden strings
 * that the text must not hold; NULL for none ids, cap   the caller's buffer of at least n ids, of
 * which the first *n_ids are the result and the rest is scratch. NULL: only count (cap is ignored).
 * n_ids      how many ids the text has
 * Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_CAPACITY (cap < n); BPE_ERR_FORBIDDEN (err->pos = byte
 * offset of the first forbidden string); BPE_ERR_LIMIT for a pretoken of 2^32 - 1 bytes or more
 * (err->pos = where it starts). On failure the buffer's contents are undefined. Linear in n but for
 * a factor log(length) within very long pretokens.
 */
BPE_API bpe_status bpe_encode(const bpe_model *model, const bpe_split *split,
                              const bpe_match *match, const bpe_match *forbidden,
                              bpe_workspace *workspace, const uint8_t *data, size_t n,
                              uint32_t *ids, size_t cap, size_t *n_ids, bpe_error *err);

/*
 * Encode data[0, n) whose pretokens the caller found: pretoken i ends at ends[i], the last at n.
 * For splits that do not compile. Otherwise as bpe_encode. BPE_ERR_ARG when the ends do not ascend
 * to n (err->pos = index).
 */
BPE_API bpe_status bpe_encode_pretokens(const bpe_model *model, bpe_workspace *workspace,
                                        const uint8_t *data, size_t n, const size_t *ends,
                                        size_t n_ends, uint32_t *ids, size_t cap, size_t *n_ids,
                                        bpe_error *err);

/*
 * Encode many texts: text i is data[offsets[i], offsets[i + 1]), offsets has n_texts + 1 values
 * that do not descend. Its ids are ids[id_offsets[i], id_offsets[i + 1]). cap >= offsets[n_texts] -
 * offsets[0]; ids NULL: only count. Statuses as bpe_encode, with err->pos counted from data;
 * BPE_ERR_ARG for descending offsets (err->pos = index of the text).
 */
BPE_API bpe_status bpe_encode_batch(const bpe_model *model, const bpe_split *split,
                                    const bpe_match *match, const bpe_match *forbidden,
                                    bpe_workspace *workspace, const uint8_t *data,
                                    const size_t *offsets, size_t n_texts, uint32_t *ids,
                                    size_t cap, size_t *id_offsets, bpe_error *err);

/* ---------------------------------------------------------------- decode */

/* How many bytes the ids decode to. BPE_ERR_ID when no token has an id (err->pos = its index). */
BPE_API bpe_status bpe_decoded_size(const bpe_model *model, const uint32_t *ids, size_t n_ids,
                                    size_t *size, bpe_error *err);

/*
 * Write the concatenated tokens to out; *size is their length, as bpe_decoded_size says beforehand.
 * Returns BPE_OK; BPE_ERR_ID (err->pos = index); BPE_ERR_CAPACITY. O(size).
 */
BPE_API bpe_status bpe_decode(const bpe_model *model, const uint32_t *ids, size_t n_ids,
                              uint8_t *out, size_t cap, size_t *size, bpe_error *err);

/* ---------------------------------------------------------------- count: pretokens of a corpus */

/*
 * A table pretoken -> (frequency, first position). Positions are the caller's numbering of all the
 * text, such as offsets in one running text; distinct pretokens must have distinct ones. They say
 * which pretoken comes first, so tables filled apart, by threads or machines, in any order, merge
 * into the table that one pass over all the text would have filled.
 *
 * The sum of all frequencies stays below 2^64: what would exceed it is refused with BPE_ERR_LIMIT.
 * After a failure the table is sound, but holds part of what was being added.
 */
typedef struct bpe_counts bpe_counts;

BPE_API bpe_status bpe_counts_new(bpe_counts **out);
BPE_API void bpe_counts_free(bpe_counts *counts);

/*
 * Split data[0, n) and add its pretokens; the one that starts at byte i has the position `position`
 * + i.
 *
 * match      strings that are cut out beforehand and not counted (special and added tokens); NULL
 * for none. The text between two of them is split as a text of its own. open       1: data is the
 * beginning, or a further part, of a text that goes on. Only what further text cannot change is
 * added; *consumed says how many bytes that took, possibly none. Call again with the rest and what
 *            follows it, until the last part comes with open = 0.
 * consumed   n when open is 0
 * Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_LIMIT. O(n).
 */
BPE_API bpe_status bpe_counts_add_text(bpe_counts *counts, const bpe_split *split,
                                       const bpe_match *match, const uint8_t *data, size_t n,
                                       uint64_t position, uint32_t open, size_t *consumed);

/*
 * Add many whole texts: text i is data[offsets[i], offsets[i + 1]); offsets has n_texts + 1 values
 * that do not descend. The pretoken at data[j] has the position `position` + j - offsets[0].
 * Statuses as bpe_counts_add_text (err->pos = index of the text), and BPE_ERR_ARG for descending
 * offsets.
 */
BPE_API bpe_status bpe_counts_add_batch(bpe_counts *counts, const bpe_split *split,
                                        const bpe_match *match, const uint8_t *data,
                                        const size_t *offsets, size_t n_texts, uint64_t position,
                                        bpe_error *err);

/*
 * Add the pretokens of data[0, n) that the caller found, for splits that do not compile: pretoken i
 * ends at ends[i] and starts where the one before it ends; the last ends at n. BPE_ERR_ARG when
 * they do not ascend to n (err->pos = index; nothing was added).
 */
BPE_API bpe_status bpe_counts_add_pretokens(bpe_counts *counts, const uint8_t *data, size_t n,
                                            const size_t *ends, size_t n_ends, uint64_t position,
                                            bpe_error *err);

/*
 * Add n pretokens as they are: data[offsets[i], offsets[i + 1]) with frequencies[i] and the
 * position `position` + i. Empty ones and those of frequency 0 are skipped. BPE_ERR_LIMIT when the
 * frequencies grow too large, BPE_ERR_ARG for descending offsets (err->pos = index).
 */
BPE_API bpe_status bpe_counts_add_frequencies(bpe_counts *counts, const uint8_t *data,
                                              const size_t *offsets, const uint64_t *frequencies,
                                              size_t n, uint64_t position, bpe_error *err);

/* Add everything in `other`, which stays as it is. O(size of `other`). */
BPE_API bpe_status bpe_counts_merge(bpe_counts *counts, const bpe_counts *other);

/* How many distinct pretokens there are, how many bytes they hold together, and the sum of their
 * frequencies. */
BPE_API size_t bpe_counts_size(const bpe_counts *counts);
BPE_API size_t bpe_counts_bytes(const bpe_counts *counts);
BPE_API uint64_t bpe_counts_total(const bpe_counts *counts);

/*
 * Write all distinct pretokens in the order of their first positions: bytes to data
 * (bpe_counts_bytes of them), where each begins, and the end, to offsets (bpe_counts_size + 1
 * values), frequencies and positions (bpe_counts_size values each). BPE_OK or BPE_ERR_NOMEM.
 */
BPE_API bpe_status bpe_counts_export(const bpe_counts *counts, uint8_t *data, size_t *offsets,
                                     uint64_t *frequencies, uint64_t *positions);

/* ---------------------------------------------------------------- train: counts -> merges */

/*
 * Learns merges: again and again the pair of adjacent tokens with the largest count becomes a
 * token. Occurrences that overlap count apart ("aaa" holds (a, a) twice); they are replaced from
 * left to right.
 */
typedef struct bpe_trainer bpe_trainer;

/* Which of several pairs with the same count is merged. */
enum {
    BPE_TIES_LOWEST = 1, /* the smallest (left id, right id) */
    BPE_TIES_FIRST =
        2 /* the one that occurs first in the text as it stands, pretokens by first position */
};

/* Why training has stopped. */
enum {
    BPE_STOP_NONE = 0,         /* it has not */
    BPE_STOP_REACHED = 1,      /* all the merges wanted were learnt */
    BPE_STOP_EXHAUSTED = 2,    /* every pretoken is one token */
    BPE_STOP_MIN_FREQUENCY = 3 /* pairs are left, but all rarer than min_frequency */
};

/*
 * n_merges        how many merges to learn, below BPE_MAX_IDS - 256; merge i makes the token 256 +
 * i min_frequency   pairs with a smaller count are not merged; 0 is taken for 1 ties
 * BPE_TIES_LOWEST or BPE_TIES_FIRST byte_ids        the ids of the 256 single bytes: each of 0 ...
 * 255 once
 */
typedef struct bpe_trainer_options {
    size_t n_merges;
    uint64_t min_frequency;
    uint32_t ties;
    const uint32_t *byte_ids;
} bpe_trainer_options;

/*
 * Make a trainer. Counts and options are copied: the counts may be freed at once, which saves their
 * memory. Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_ARG (err->pos = the index of a bad byte id; 256:
 * ties); BPE_ERR_LIMIT: too many merges, or distinct pretokens of 4 GB or more together, or 2^63 or
 * more pairs in all. O(bytes of distinct pretokens).
 */
BPE_API bpe_status bpe_trainer_new(const bpe_counts *counts, const bpe_trainer_options *options,
                                   bpe_trainer **out, bpe_error *err);
BPE_API void bpe_trainer_free(bpe_trainer *trainer);

/*
 * Go on with training, until it stops or until at least `budget` units of work are done; a single
 * merge is never interrupted. A unit is about one place in a pretoken looked at: a million of them
 * take some ten milliseconds. The merges do not depend on how the work is divided. Returns BPE_OK,
 * or BPE_ERR_NOMEM; then no further call succeeds, but the merges learnt before may be read. In
 * total O(bytes of distinct pretokens), but for the logarithm of a heap.
 */
BPE_API bpe_status bpe_trainer_run(bpe_trainer *trainer, uint64_t budget);

/* One of BPE_STOP_*. */
BPE_API uint32_t bpe_trainer_stop(const bpe_trainer *trainer);

/* The merges so far: (left id, right id) one after another, and the count that each pair had when
 * it was merged. The arrays are the trainer's, good until the next bpe_trainer_run. */
BPE_API size_t bpe_trainer_n_merges(const bpe_trainer *trainer);
BPE_API const uint32_t *bpe_trainer_merges(const bpe_trainer *trainer);
BPE_API const uint64_t *bpe_trainer_merge_counts(const bpe_trainer *trainer);

/* Units of work done so far: how tests show that training takes linear time. */
BPE_API uint64_t bpe_trainer_work(const bpe_trainer *trainer);

/* cffi: end */

#endif
