/*
 * pybpe C core: byte-level byte pair encoding.
 *
 *   text -> match (added and special tokens) -> split -> merge -> ids -> decode -> bytes
 *
 *   corpus -> split -> count -> train -> merges -> model
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
 *   - A call takes some 80 KB of stack at most, whatever it is given; encoding takes that much.
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
    BPE_ERR_SPLIT = -7,     /* the split tables contradict each other; pos = index in the table */
    BPE_ERR_FORBIDDEN = -8, /* text spells a forbidden string; pos = its byte offset */
    BPE_ERR_JSON = -9       /* a line is no object, or has no text under the key; pos = its start */
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

/* Pretokens are shorter than this, in bytes: 1 GiB. */
#define BPE_MAX_PRETOKEN 1073741824

/* The tokens of a model have at most so many bytes together, and so have its extra tokens. */
#define BPE_MAX_TOKEN_BYTES 1073741824

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
 * behavior                  BPE_SPLIT_*: what becomes of matches and gaps
 * over_bytes                1: every byte is a character by itself, with the codepoint of the same
 * number; 0: the text is UTF-8
 */
typedef struct bpe_split_stage {
    const uint32_t *class_starts;
    const uint8_t *class_ids;
    size_t n_runs;
    uint32_t n_classes;
    uint32_t n_states;
    const uint16_t *transitions;
    uint32_t behavior;
    uint32_t over_bytes;
} bpe_split_stage;

/* What a stage makes of the matches of its pattern and of the gaps between them. */
enum {
    BPE_SPLIT_ISOLATED = 0,      /* every match is a span, and so is every gap */
    BPE_SPLIT_DROP_MATCHES = 1,  /* gaps are spans; matches vanish from the text */
    BPE_SPLIT_DROP_GAPS = 2,     /* matches are spans; gaps vanish from the text */
    BPE_SPLIT_WITH_PREVIOUS = 3, /* a gap and the match behind it are one span */
    BPE_SPLIT_WITH_NEXT = 4,     /* a match and the gap behind it are one span */
    BPE_SPLIT_CONTIGUOUS = 5     /* matches without a gap between them are one span */
};

#define BPE_MAX_STAGES 16
#define BPE_MAX_STATES 4096

/*
 * Build a splitter from 0 to BPE_MAX_STAGES stages; the tables are copied. Every value is checked.
 * Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_ARG (no such behavior; err->pos = the stage);
 * BPE_ERR_LIMIT (too many stages, classes or states; err->pos = the stage); BPE_ERR_SPLIT (err->pos
 * = index of the bad run or transition).
 */
BPE_API bpe_status bpe_split_new(const bpe_split_stage *stages, size_t n_stages, bpe_split **out,
                                 bpe_error *err);
BPE_API void bpe_split_free(bpe_split *split);

/* The ways to find pretokens. All give the same ones; they differ in speed. */
enum {
    BPE_SIMD_SCALAR = 0,   /* one character after the other, by the tables as they are */
    BPE_SIMD_PORTABLE = 1, /* a streaming automaton made of them, several stretches at a time */
    BPE_SIMD_AVX2 = 2,
    BPE_SIMD_AVX512 = 3, /* with VBMI, VBMI2 and GFNI */
    BPE_SIMD_NEON = 4
};

/*
 * Choose a way, before the split is shared by threads. bpe_split_new has chosen the fastest one
 * that the machine has. BPE_ERR_ARG: no such way, or this machine lacks the instructions.
 */
BPE_API bpe_status bpe_split_use_simd(bpe_split *split, uint32_t simd);

/* The way in use; BPE_SIMD_SCALAR when the split has no streaming automaton, whatever was chosen.
 */
BPE_API uint32_t bpe_split_simd(const bpe_split *split);

/*
 * Write the end offset of every pretoken of data[0, n) to `ends` and their number to *n_ends; the
 * first starts at 0, each next one where the last ended. `cap` >= n is always enough. Returns
 * BPE_OK; BPE_ERR_NOMEM; BPE_ERR_ARG; BPE_ERR_CAPACITY. O(n), for any tables.
 */
BPE_API bpe_status bpe_split_ends(const bpe_split *split, const uint8_t *data, size_t n,
                                  size_t *ends, size_t cap, size_t *n_ends);

/* 1 when a stage makes text vanish; the spans below are then all there is. */
BPE_API uint32_t bpe_split_drops(const bpe_split *split);

/*
 * The same with where each pretoken starts, so that it works for splits that make text vanish, too:
 * bpe_split_ends gives BPE_ERR_ARG for those.
 */
BPE_API bpe_status bpe_split_spans(const bpe_split *split, const uint8_t *data, size_t n,
                                   size_t *starts, size_t *ends, size_t cap, size_t *n_spans);

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
 *
 * symbols           what a pretoken is taken apart into before it is merged: BPE_SYMBOLS_*. With
 * anything but BPE_SYMBOLS_BYTES, single bytes may be missing among the tokens, and the semantics
 * must be MERGES.
 * unknown           the id of a symbol that is no token, or BPE_NO_ID: it vanishes
 * fuse_unknown      1: several of them in a row are one
 * fallback_ids      256 ids, or NULL: a character that is no token becomes these ids of its bytes,
 * unless one of them is BPE_NO_ID
 * word_suffix       bytes that the last symbol of a pretoken is looked up with, at most
 * BPE_MAX_SUFFIX of them; 0: none. Not with BPE_SYMBOLS_BYTES, nor with fallback_ids.
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
    uint32_t symbols;
    uint32_t unknown;
    uint32_t fuse_unknown;
    const uint32_t *fallback_ids;
    const uint8_t *word_suffix;
    size_t word_suffix_size;
} bpe_model_spec;

#define BPE_MAX_SUFFIX 64

enum {
    BPE_SYMBOLS_BYTES = 0,      /* bytes, all of which are tokens */
    BPE_SYMBOLS_SOME_BYTES = 1, /* bytes */
    BPE_SYMBOLS_CHARACTERS = 2  /* UTF-8 characters; a byte that belongs to none is one, too */
};

/* Which part of a specification a BPE_ERR_MODEL is about: the high bits of err->pos; the low 32
 * bits hold the index. */
enum {
    BPE_PART_TOKEN =
        1, /* token: empty, past the end of token_data, id not ascending or out of range */
    BPE_PART_DUPLICATE = 2, /* token: the same bytes as an earlier token, under RANKS */
    BPE_PART_BYTE = 3,      /* index = the byte that has no token */
    BPE_PART_MERGE = 4,     /* merge: unknown id, or the made token is not the concatenation */
    BPE_PART_EXTRA = 5,     /* extra token: empty, past the end of extra_data, id out of range */
    BPE_PART_EXTRA_ID = 6,  /* extra token: id already stands for other bytes */
    BPE_PART_UNKNOWN = 7,   /* `unknown` is no token's id */
    BPE_PART_FALLBACK = 8   /* fallback_ids: the entry for a byte is no token's id */
};

/*
 * Build a model; everything is copied and checked. O(bytes of all tokens).
 * Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_ARG (unknown semantics or symbols, merges under RANKS);
 * BPE_ERR_LIMIT
 * (more than BPE_MAX_TOKEN_BYTES of ordinary or of extra tokens); BPE_ERR_MODEL with err->pos =
 * (BPE_PART_* << 32 | index).
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
    BPE_PATH_SHORT = 1, /* one by one: a repeated minimum over an array up to 64 bytes */
    BPE_PATH_LONG = 2   /* one by one: buckets by rank over a linked list, whatever the length */
};

/* Choose the merge path and whether the cache is used (1) or not (0). Default: BPE_PATH_AUTO, 1. */
BPE_API bpe_status bpe_workspace_configure(bpe_workspace *workspace, uint32_t path,
                                           uint32_t use_cache);

/*
 * Make the cache as large as fits in `bytes`, but for a smallest size of 80 KB; it is empty
 * afterwards, but for the vocabulary where pretokens are taken whole. Sizes go in powers of two.
 * Default: 20 MB; twice as much saves some 2 % of the time, a quarter of it costs 10 %. Returns
 * BPE_OK or BPE_ERR_NOMEM (the workspace is then as it was).
 */
BPE_API bpe_status bpe_workspace_resize(bpe_workspace *workspace, size_t bytes);

/*
 * Encode data[0, n).
 *
 * match      added and permitted special tokens, found before splitting; NULL for none. Their ids
 * go out as they are; the text between two of them is split as a text of its own. forbidden strings
 * that the text must not hold; NULL for none ids, cap   the caller's buffer of at least n ids, of
 * which the first *n_ids are the result and the rest is scratch. NULL: only count (cap is ignored).
 * n_ids      how many ids the text has
 * Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_CAPACITY (cap < n); BPE_ERR_FORBIDDEN (err->pos = byte
 * offset of the first forbidden string); BPE_ERR_LIMIT for a pretoken of BPE_MAX_PRETOKEN bytes or
 * more (err->pos = where it starts). On failure the buffer's contents are undefined. Linear in n
 * but for a factor log(length) within very long pretokens.
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

/* ---------------------------------------------------------------- seams: parting a large text */

/*
 * Where a text can be parted so that its pretokens are those of both parts, each taken for a whole
 * text: several threads can then count one text. The two characters beside such a place are enough
 * to know it, so it is looked for in any portion of the text.
 */
typedef struct bpe_seams bpe_seams;

/*
 * data, lengths   the strings that are cut out before the split, as for bpe_match_new
 * *out            NULL when the split has no such places (no stages, or a first one that does more
 *                 than to cut out its matches, or too large tables); otherwise the split must
 *                 outlive it
 * Returns BPE_OK or BPE_ERR_NOMEM.
 */
BPE_API bpe_status bpe_seams_new(const bpe_split *split, const uint8_t *data,
                                 const uint32_t *lengths, size_t n_strings, bpe_seams **out);
BPE_API void bpe_seams_free(bpe_seams *seams);

/* The last place p, 0 < p < n, in a portion of a text where the text can be parted; 0 if there is
 * none. O(n), nearly always O(1). */
BPE_API size_t bpe_seams_last(const bpe_seams *seams, const uint8_t *data, size_t n);

/* ---------------------------------------------------------------- count: pretokens of a corpus */

/*
 * A table pretoken -> (frequency, first position). Positions are the caller's numbering of all the
 * text, such as offsets in one running text; distinct pretokens must have distinct ones. They say
 * which pretoken comes first, so tables filled apart, by threads or machines, in any order, merge
 * into the table that one pass over all the text would have filled.
 *
 * The sum of all frequencies stays below 2^64: what would exceed it is refused with BPE_ERR_LIMIT.
 * So is, with BPE_ERR_CAPACITY, what would exceed the number of entries of bpe_counts_limit, if
 * any. After a failure the table is sound, but holds part of what was being added.
 */
typedef struct bpe_counts bpe_counts;

BPE_API bpe_status bpe_counts_new(bpe_counts **out);
BPE_API void bpe_counts_free(bpe_counts *counts);

/*
 * Allow `most` distinct pretokens; at first there is no limit. Whatever would add one more is
 * refused with BPE_ERR_CAPACITY. A table takes 43 to 86 bytes for each, half as much again while it
 * grows, and the bytes of those above 15.
 */
BPE_API void bpe_counts_limit(bpe_counts *counts, size_t most);

/* A table of its own that hashes as `other` does: only such tables merge. */
BPE_API bpe_status bpe_counts_new_beside(const bpe_counts *other, bpe_counts **out);

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
 * Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_LIMIT; BPE_ERR_ARG for a split that makes text vanish
 * (bpe_split_drops). O(n).
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

/*
 * Add everything in `other`, which stays as it is. Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_ARG when
 * the tables do not hash alike; BPE_ERR_LIMIT, nothing done; BPE_ERR_CAPACITY when there are now
 * more entries than bpe_counts_limit allows. O(size of both).
 */
BPE_API bpe_status bpe_counts_merge(bpe_counts *counts, const bpe_counts *other);

/*
 * The same as work that threads can share: part 0 to n_parts - 1 of it may be done at the same
 * time, each once. From _new to _free nobody else touches `counts`, nor changes `other`. A part can
 * fail for want of memory (BPE_ERR_NOMEM). When all are done (BPE_ERR_ARG if not) one thread calls
 * _end, which returns what bpe_counts_merge does. Freed before that, or after a failure, the table
 * holds part of `other`, or nothing of it.
 */
typedef struct bpe_merging bpe_merging;

BPE_API bpe_status bpe_merging_new(bpe_counts *counts, const bpe_counts *other, size_t n_parts,
                                   bpe_merging **out);
BPE_API void bpe_merging_free(bpe_merging *merging);
BPE_API bpe_status bpe_merging_part(bpe_merging *merging, size_t part);
BPE_API bpe_status bpe_merging_end(bpe_merging *merging);

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

/*
 * Counts as bytes, and back: a record for each distinct pretoken, in the order of their first
 * positions, made of
 *
 *   varint   the length of the pretoken in bytes, 1 or more
 *   varint   its frequency, 1 or more
 *   varint   its first position, less the end of the pretoken of the record before (which is its
 *            position and its length; 0 for the first record)
 *   the pretoken's bytes
 *
 * A varint is a number below 2^64 in groups of 7 bits, the lowest first, a byte each; the highest
 * bit is set in all bytes but the last. It has no more bytes than it needs: equal tables are equal
 * bytes.
 *
 * This takes positions that are those of bytes: no pretoken begins before the one before it ends.
 */
typedef struct bpe_packer bpe_packer;

/*
 * Prepare to write a table, which must stay as it is until the packer is freed. BPE_OK;
 * BPE_ERR_NOMEM; BPE_ERR_ARG for other positions. O(entries); some 40 bytes for each in between, 8
 * afterwards.
 */
BPE_API bpe_status bpe_packer_new(const bpe_counts *counts, bpe_packer **out);
BPE_API void bpe_packer_free(bpe_packer *packer);

/* The bytes of all records, and of the longest one. */
BPE_API uint64_t bpe_packer_size(const bpe_packer *packer);
BPE_API uint64_t bpe_packer_longest(const bpe_packer *packer);

/* Write as many of the next records as `cap` bytes hold whole; return how many bytes they take. 0
 * when there are no more, if `cap` is enough for the longest. */
BPE_API size_t bpe_packer_next(bpe_packer *packer, uint8_t *out, size_t cap);

/* How far a stream of records has been read; all zero at its beginning. */
typedef struct bpe_packed_place {
    uint64_t n;   /* records */
    uint64_t end; /* where the last one's pretoken ends: a position */
} bpe_packed_place;

/*
 * Add the records in data[0, n), a part of a stream. What is counted there had `size` bytes, and
 * its first one has the position `base` here.
 *
 * place      where the stream stands: given and taken
 * consumed   the bytes of whole records that were there. The rest, fewer bytes than a record has,
 *            is to come again with what follows it
 * Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_LIMIT and BPE_ERR_CAPACITY as for adding texts;
 * BPE_ERR_ARG for data that are no such records, or pretokens beyond `size` (err->pos = byte in
 * data), and for `base` + `size` of 2^64 or more. After a failure the table is sound, but holds
 * part of what was being added, and place and consumed are as they were. O(n).
 */
BPE_API bpe_status bpe_counts_add_packed(bpe_counts *counts, const uint8_t *data, size_t n,
                                         uint64_t base, uint64_t size, bpe_packed_place *place,
                                         size_t *consumed, bpe_error *err);

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
    BPE_STOP_NONE = 0,          /* it has not */
    BPE_STOP_REACHED = 1,       /* all the merges wanted were learnt */
    BPE_STOP_EXHAUSTED = 2,     /* nothing is left that may be merged */
    BPE_STOP_MIN_FREQUENCY = 3, /* such pairs are left, but all rarer than min_frequency */
    BPE_STOP_TOKEN_BYTES = 4    /* all pairs left would make tokens above max_token_bytes */
};

/*
 * n_merges         how many merges to learn; every id is below BPE_MAX_IDS - 1
 * min_frequency    pairs with a smaller count are not merged; 0 is taken for 1
 * ties             BPE_TIES_LOWEST or BPE_TIES_FIRST
 * byte_ids         the ids of the 256 single bytes: each of 0 ... 255 once; merge i makes the token
 *                  256 + i. Not used with `initial`.
 * max_token_bytes  pairs that would make a longer token are never merged; 0: no limit
 * initial          NULL, or a model of BPE_SYMBOLS_BYTES to go on from: every pretoken starts as
 *                  the ids that it encodes to, and merge i makes the token bpe_model_n_vocab + i.
 *                  Pairs that spell one of its ordinary tokens are never merged. It must outlive
 *                  the trainer.
 */
typedef struct bpe_trainer_options {
    size_t n_merges;
    uint64_t min_frequency;
    uint32_t ties;
    const uint32_t *byte_ids;
    size_t max_token_bytes;
    const bpe_model *initial;
} bpe_trainer_options;

/*
 * Make a trainer. Counts and options are copied: free the counts before the first run, where most
 * memory is used. Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_ARG (err->pos = the index of a bad byte
 * id; 256: ties; 257: the kind of `initial`); BPE_ERR_LIMIT: too many merges, or distinct pretokens
 * of 4 GB or more together, or 2^63 or more pairs in all, or with `initial` a pretoken that is too
 * long to encode. O(bytes of distinct pretokens), with `initial` as encoding them.
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

/* cffi: begin */

/* ---------------------------------------------------------------- pieces: codepoint models */

/*
 * A model whose tokens ("pieces") are made of characters rather than bytes, as sentencepiece
 * defines them: text is normalised, cut into characters, and again and again those two neighbours
 * are joined whose concatenation is the piece of the highest score. What no piece covers is
 * unknown, or spelt out in byte pieces. The id of a piece is its index.
 *
 * Immutable, so it may be shared by any number of threads.
 */
typedef struct bpe_pieces bpe_pieces;

/* Types of pieces, with the numbers that sentencepiece gives them. */
enum {
    BPE_PIECE_NORMAL = 1,
    BPE_PIECE_UNKNOWN = 2, /* what text becomes that no piece covers; one at most */
    BPE_PIECE_CONTROL = 3, /* never found in text */
    BPE_PIECE_USER = 4,    /* found in text before anything is joined, and kept by normalisation */
    BPE_PIECE_UNUSED = 5,  /* joined as normal ones are, and taken apart again at the end */
    BPE_PIECE_BYTE = 6     /* "<0x00>" to "<0xFF>" */
};

/* What a normaliser does beside its character map. */
enum {
    BPE_NORMALIZE_MARK = 1,       /* put a mark (U+2581) before a text that is not empty ... */
    BPE_NORMALIZE_MARK_AFTER = 2, /* ... or behind it, if this is set too */
    BPE_NORMALIZE_SQUEEZE = 4,    /* one space for several, none at the ends */
    BPE_NORMALIZE_ESCAPE = 8      /* a mark for every space */
};

/*
 * flags           BPE_NORMALIZE_*, or-ed
 * charsmap        a character map as sentencepiece serialises it, of charsmap_size bytes; 0: none
 */
typedef struct bpe_normalizer_spec {
    uint32_t flags;
    const uint8_t *charsmap;
    size_t charsmap_size;
} bpe_normalizer_spec;

/* Pieces are shorter than this, in bytes. */
#define BPE_MAX_PIECE_BYTES 8000

/*
 * What a codepoint model is made of.
 *
 * piece_data      the pieces one after another; piece i has piece_lengths[i] >= 1 bytes, the score
 *                 scores[i] (not a NaN) and the type types[i] (BPE_PIECE_*). No two are equal.
 * byte_fallback   1: unknown text is spelt in bytes, and all 256 byte pieces are there; 0: it is
 *                 not, there are none, and there is one of type BPE_PIECE_UNKNOWN. With 1, a piece
 *                 of one NUL byte is taken for unused and is never found.
 * normalizer      for text that is encoded
 * denormalizer    for text that was decoded; without a map there is none
 * unk_surface     what the unknown piece decodes to
 */
typedef struct bpe_pieces_spec {
    const uint8_t *piece_data;
    size_t piece_data_size;
    const uint32_t *piece_lengths;
    const float *scores;
    const uint8_t *types;
    size_t n_pieces;
    uint32_t byte_fallback;
    bpe_normalizer_spec normalizer;
    bpe_normalizer_spec denormalizer;
    const uint8_t *unk_surface;
    size_t unk_surface_size;
} bpe_pieces_spec;

/* Which part of a specification a BPE_ERR_MODEL is about: the high bits of err->pos; the low 32
 * bits hold the index of the piece, unless something else is said. */
enum {
    BPE_PIECES_EMPTY = 1,         /* piece: empty, or past the end of piece_data */
    BPE_PIECES_LONG = 2,          /* piece: BPE_MAX_PIECE_BYTES or more */
    BPE_PIECES_TWICE = 3,         /* piece: equal to an earlier one */
    BPE_PIECES_TYPE = 4,          /* piece: no such type */
    BPE_PIECES_SCORE = 5,         /* piece: its score is not a number */
    BPE_PIECES_UNKNOWN = 6,       /* piece: a second one of type BPE_PIECE_UNKNOWN */
    BPE_PIECES_NO_UNKNOWN = 7,    /* there is none, and no byte fallback */
    BPE_PIECES_BYTE = 8,          /* piece: a byte piece, but no byte fallback */
    BPE_PIECES_BYTE_TEXT = 9,     /* piece: a byte piece that is not spelt "<0x00>" to "<0xFF>" */
    BPE_PIECES_BYTE_MISSING = 10, /* index = the byte that has no piece */
    BPE_PIECES_CHARSMAP = 11      /* index = 0: normalizer's map is damaged; 1: denormalizer's */
};

/*
 * Build a model; everything is copied and checked. O(bytes of all pieces), but for the sorting of
 * scores. Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_LIMIT (BPE_MAX_IDS pieces or more; 2^23 pairs of
 * pieces that join, or more); BPE_ERR_MODEL with err->pos = (BPE_PIECES_* << 32 | index).
 */
BPE_API bpe_status bpe_pieces_new(const bpe_pieces_spec *spec, bpe_pieces **out, bpe_error *err);
BPE_API void bpe_pieces_free(bpe_pieces *pieces);

/* The id of the piece with exactly these bytes, or BPE_NO_ID. */
BPE_API uint32_t bpe_pieces_find(const bpe_pieces *pieces, const uint8_t *data, size_t n);

/* Scratch memory, results, and the cache of parts of text already encoded. One running call uses
 * one workspace; it may be kept from call to call, with one model only. Not shared between threads.
 */
typedef struct bpe_pieces_workspace bpe_pieces_workspace;

BPE_API bpe_status bpe_pieces_workspace_new(const bpe_pieces *pieces, bpe_pieces_workspace **out);
BPE_API void bpe_pieces_workspace_free(bpe_pieces_workspace *workspace);

/* Give back memory that only very long texts need. */
BPE_API void bpe_pieces_workspace_trim(bpe_pieces_workspace *workspace);

/* Ways to encode; all give the same ids. Tests force each. */
enum {
    BPE_PIECES_PATH_AUTO = 0,
    BPE_PIECES_PATH_SHORT = 1, /* parts one by one; repeated minimum over an array */
    BPE_PIECES_PATH_LONG = 2,  /* parts one by one; buckets over a linked list */
    BPE_PIECES_PATH_WHOLE = 3  /* the whole text at once, as the definition has it */
};

/* Choose the way and whether the cache is used (1) or not (0). Default: BPE_PIECES_PATH_AUTO, 1. */
BPE_API bpe_status bpe_pieces_workspace_configure(bpe_pieces_workspace *workspace, uint32_t path,
                                                  uint32_t use_cache);

/* As bpe_workspace_resize. */
BPE_API bpe_status bpe_pieces_workspace_resize(bpe_pieces_workspace *workspace, size_t bytes);

/*
 * BPE-dropout: a join that is due is left out with probability `alpha`, each time independently; it
 * comes up again only when a neighbour has changed. alpha <= 0 leaves out none, alpha >= 1 all.
 *
 * The numbers come from SplitMix64 started with `seed`: before each, the state grows by
 * 0x9E3779B97F4A7C15; with z = state, z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9, z = (z ^ z >> 27) *
 * 0x94D049BB133111EB, z ^= z >> 31. A join is left out when z >> 11 is less than alpha * 2^53. One
 * number is drawn for each join that is due. Text i of a batch is encoded with the seed `seed` + i.
 */
typedef struct bpe_dropout {
    double alpha;
    uint64_t seed;
} bpe_dropout;

/*
 * Encode data[0, n).
 *
 * match, forbidden   as for bpe_encode; NULL for none. The text between two strings of `match` is
 *                    normalised and encoded as a text of its own. User-defined pieces are found in
 *                    any case and must not be in `match`.
 * dropout            NULL for none
 * ids, n_ids         the result, which belongs to the workspace until its next use
 * Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_ARG (another model's workspace, alpha not finite);
 * BPE_ERR_FORBIDDEN (err->pos = byte offset of the first forbidden string); BPE_ERR_LIMIT for
 * BPE_MAX_PRETOKEN characters or more in a row that may join with each other (err->pos = where the
 * text between strings of `match` starts). Linear in n but for a factor log(length) within very
 * long words. With dropout, with unused pieces, and with user-defined pieces or replacements that
 * are not UTF-8, a text is joined as a whole: the factor is log(n), and the limit 2^32 - 2
 * characters.
 */
BPE_API bpe_status bpe_pieces_encode(const bpe_pieces *pieces, const bpe_match *match,
                                     const bpe_match *forbidden, const bpe_dropout *dropout,
                                     bpe_pieces_workspace *workspace, const uint8_t *data, size_t n,
                                     const uint32_t **ids, size_t *n_ids, bpe_error *err);

/*
 * Encode many texts: text i is data[offsets[i], offsets[i + 1]), offsets has n_texts + 1 values
 * that do not descend. Its ids are ids[id_offsets[i], id_offsets[i + 1]). Statuses as
 * bpe_pieces_encode, with err->pos counted from data; BPE_ERR_ARG for descending offsets (err->pos
 * = index of the text).
 */
BPE_API bpe_status bpe_pieces_encode_batch(const bpe_pieces *pieces, const bpe_match *match,
                                           const bpe_match *forbidden, const bpe_dropout *dropout,
                                           bpe_pieces_workspace *workspace, const uint8_t *data,
                                           const size_t *offsets, size_t n_texts,
                                           const uint32_t **ids, size_t *id_offsets,
                                           bpe_error *err);

/* Where an id comes from: bytes [begin, end) of the source, [text_begin, text_end) of the
 * normalised text. Of the byte pieces that spell a character, all but the last are empty in the
 * source. */
typedef struct bpe_span {
    size_t begin;
    size_t end;
    size_t text_begin;
    size_t text_end;
} bpe_span;

/*
 * Encode data[0, n) as bpe_pieces_encode does without match and forbidden, and say where each id
 * comes from. The results belong to the workspace until its next use; `text` is the normalised
 * text, in which a space stands for the mark when the model escapes spaces and *compact is 1.
 */
BPE_API bpe_status bpe_pieces_encode_spans(const bpe_pieces *pieces, const bpe_dropout *dropout,
                                           bpe_pieces_workspace *workspace, const uint8_t *data,
                                           size_t n, const uint32_t **ids, const bpe_span **spans,
                                           size_t *n_ids, const uint8_t **text, size_t *n_text,
                                           uint32_t *compact, bpe_error *err);

/*
 * Normalise data[0, n). The result belongs to the workspace until its next use: n_text bytes, and
 * n_text + 1 offsets: where in the source each byte comes from, and where what counts of it ends.
 */
BPE_API bpe_status bpe_pieces_normalize(const bpe_pieces *pieces, bpe_pieces_workspace *workspace,
                                        const uint8_t *data, size_t n, const uint8_t **text,
                                        size_t *n_text, const size_t **offsets);

/*
 * Decode ids. Marks become spaces; control pieces are left out; byte pieces are their bytes.
 *
 * replace      1: a byte of byte pieces that is not part of a well-formed character becomes U+FFFD,
 *              as sentencepiece has it; 0: it stays, and nothing is lost
 * at_start     1 at the start of a text, where the mark is dropped that normalisation put there; 0
 *              within one. What it is after the ids is written to it, so that a text may be decoded
 *              bit by bit (with replace = 0); a denormalizer then works on each part by
 *              itself.
 * out, size    the result; free it with bpe_pieces_free_text
 * Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_ID (err->pos = index). O(n_ids + size).
 */
BPE_API bpe_status bpe_pieces_decode(const bpe_pieces *pieces, const uint32_t *ids, size_t n_ids,
                                     uint32_t replace, uint32_t *at_start, uint8_t **out,
                                     size_t *size, bpe_error *err);
BPE_API void bpe_pieces_free_text(uint8_t *text);

/* cffi: end */

/* cffi: begin */

/* ---------------------------------------------------------------- training codepoint models */

/*
 * Reads the lines of a corpus as sentencepiece's trainer does, and adds their words to a table of
 * counts: each line is normalised, certain strings are cut out, and what is left is cut into words,
 * and these where no piece can go across. In words a space stands for the mark U+2581: no real
 * space outlives normalisation.
 *
 * For one thread at a time; several, each with a reader and a table of its own, may share a corpus.
 */
typedef struct bpe_sentences bpe_sentences;

/* Classes of characters: below BPE_CLASS_ANY, scripts. */
enum {
    BPE_CLASS_ANY = 250,       /* goes with every script */
    BPE_CLASS_INHERITED = 251, /* of the script of what stands before it */
    BPE_CLASS_LONE = 253       /* goes with nothing: a piece by itself */
};

/* How a sentence is cut into words. */
enum {
    BPE_WORDS_WHOLE = 0,  /* not at all */
    BPE_WORDS_BEFORE = 1, /* before every mark */
    BPE_WORDS_AFTER = 2,  /* behind every mark */
    BPE_WORDS_RUNS = 4    /* or-ed: but not within a run of marks */
};

/*
 * normalizer     must have BPE_NORMALIZE_ESCAPE
 * words          BPE_WORDS_*
 * longest        longer lines, in bytes, are left out
 * cut_data       strings that are cut out of normalised text, leftmost-longest, string i of
 *                cut_lengths[i] >= 1 bytes; with a space for the mark
 * delimiter      one more, cut out of what is then left; of size 0: none
 * classes        of the characters 0 ... 0x10FFFF, BPE_CLASS_*: where two different scripts meet,
 *                words are cut, and around characters that are alone; NULL: nowhere
 */
typedef struct bpe_sentences_spec {
    bpe_normalizer_spec normalizer;
    uint32_t words;
    size_t longest;
    const uint8_t *cut_data;
    const uint32_t *cut_lengths;
    size_t n_cut;
    const uint8_t *delimiter;
    size_t delimiter_size;
    const uint8_t *classes;
} bpe_sentences_spec;

/* What became of the lines. */
typedef struct bpe_sentences_report {
    uint64_t used;     /* lines that were taken */
    uint64_t empty;    /* left out: without a byte */
    uint64_t too_long; /* left out: longer than `longest` */
    uint64_t reserved; /* left out: U+2585 is in them, which sentencepiece keeps for itself */
    uint64_t cuts;     /* strings cut out, and characters U+001F, with the lines' weights */
} bpe_sentences_report;

/* BPE_OK; BPE_ERR_NOMEM; BPE_ERR_ARG (an empty string, bad flags); BPE_ERR_MODEL: the character map
 * is damaged, or makes something that is not UTF-8; BPE_ERR_LIMIT. */
BPE_API bpe_status bpe_sentences_new(const bpe_sentences_spec *spec, bpe_sentences **out);
BPE_API void bpe_sentences_free(bpe_sentences *sentences);

/*
 * Add data[0, n), lines that end with LF. With `open` the last one, if LF does not end it, is left
 * for the next call; *consumed says how much was taken. Returns BPE_OK; BPE_ERR_NOMEM;
 * BPE_ERR_LIMIT as bpe_counts_add_frequencies. After a failure the table holds a part.
 */
BPE_API bpe_status bpe_sentences_add_lines(bpe_sentences *sentences, bpe_counts *counts,
                                           const uint8_t *data, size_t n, uint32_t open,
                                           size_t *consumed);

/*
 * Add n lines: line i is data[offsets[i], offsets[i + 1]) and counts weights[i] times (`weights`
 * NULL: once). With `strip`, CR and LF at its end do not belong to it. Statuses as
 * bpe_sentences_add_lines.
 */
BPE_API bpe_status bpe_sentences_add_batch(bpe_sentences *sentences, bpe_counts *counts,
                                           const uint8_t *data, const size_t *offsets,
                                           const uint64_t *weights, size_t n, uint32_t strip);

BPE_API void bpe_sentences_get_report(const bpe_sentences *sentences, bpe_sentences_report *out);

/*
 * The characters of counted words, ascending, and how often each occurs; a space counts as the mark
 * U+2581. Both arrays have room for 0x110000 values; *n are written. Bytes that are not UTF-8 are
 * passed over. BPE_OK; BPE_ERR_NOMEM; BPE_ERR_LIMIT: 2^64 characters or more.
 */
BPE_API bpe_status bpe_counts_characters(const bpe_counts *counts, uint32_t *codepoints,
                                         uint64_t *frequencies, size_t *n);

/* Where marks may be in a piece; or-ed. */
enum {
    BPE_JOIN_MARK_EDGE = 1, /* only before all else (with BPE_JOIN_MARK_AFTER: behind it); without
                               this, only not behind all else (before it) */
    BPE_JOIN_MARK_AFTER = 2,
    BPE_JOIN_MARK_RUNS = 4 /* pieces of nothing but marks, too, whatever is said above */
};

/*
 * n_merges       how many merges to learn
 * codepoints     the alphabet, ascending; character i gets the id i, and merge i makes the id
 *                n_characters + i. Every other character keeps those beside it apart.
 * classes        of each character, BPE_CLASS_*; the mark U+2581 needs none
 * rules          BPE_JOIN_*
 * longest        characters of the longest piece; at most BPE_MAX_JOIN
 * keeps_all      1: pairs that do not occur any more are merged in the end, as sentencepiece does,
 *                which takes remembering every pair there ever was; 0: training stops there
 */
typedef struct bpe_pieces_trainer_spec {
    size_t n_merges;
    const uint32_t *codepoints;
    const uint8_t *classes;
    size_t n_characters;
    uint32_t rules;
    size_t longest;
    uint32_t keeps_all;
} bpe_pieces_trainer_spec;

#define BPE_MAX_JOIN 512

/*
 * Make a trainer that learns as sentencepiece's does, for bpe_trainer_run and all that follows it
 * above: of several pairs with the same count the one that makes the shortest piece, in characters,
 * is merged, and of those the one whose UTF-8 is first. No two merges make the same piece. The
 * counts may be freed at once. Returns BPE_OK; BPE_ERR_NOMEM; BPE_ERR_ARG: the alphabet does not
 * ascend, or holds no characters (err->pos = its index), or `longest` is too large; BPE_ERR_LIMIT
 * as bpe_trainer_new.
 */
BPE_API bpe_status bpe_trainer_new_pieces(const bpe_counts *counts,
                                          const bpe_pieces_trainer_spec *spec, bpe_trainer **out,
                                          bpe_error *err);

/* cffi: end */

/* cffi: begin */

/* ---------------------------------------------------------------- corpora */

/*
 * Read lines of JSON, data[0, n), and take from each the text under a key.
 *
 * A line ends at LF or at n, and holds one object (RFC 8259 and UTF-8, strictly; NaN, Infinity and
 * -Infinity are values, too); lines of white space are passed over. Of a key that comes twice in an
 * object the last value counts. Escapes are resolved; half a surrogate pair becomes U+FFFD. Arrays
 * and objects in the object may be nested 4096 deep.
 *
 * key        UTF-8, without escapes
 * texts, cap   the caller's buffer, cap >= n bytes
 * offsets    max_texts + 1 values; text i is texts[offsets[i], offsets[i + 1])
 * n_texts    how many texts there are: as many as lines that are not white space
 * Returns BPE_OK; BPE_ERR_CAPACITY (cap < n, or more than max_texts texts); BPE_ERR_JSON (err->pos
 * = where the first bad line starts). On failure what the buffers hold is undefined. Linear in n.
 */
BPE_API bpe_status bpe_json_lines(const uint8_t *data, size_t n, const uint8_t *key,
                                  size_t key_size, uint8_t *texts, size_t cap, size_t *offsets,
                                  size_t max_texts, size_t *n_texts, bpe_error *err);

/* cffi: end */

#endif
