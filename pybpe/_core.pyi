# Made by tools/make_core_stub.py from csrc/bpe.h. DO NOT EDIT.
"""The compiled core, as cffi makes it of the declarations in csrc/bpe.h.

What each function does, who owns what, and which statuses it returns is said there.
"""

from typing import Any, final

from cffi import FFI

ffi: Any

@final
class _Lib:
    BPE_MAX_IDS: int
    BPE_MAX_PRETOKEN: int
    BPE_MAX_TOKEN_BYTES: int
    BPE_NO_ID: int
    BPE_MAX_STAGES: int
    BPE_MAX_STATES: int
    BPE_MAX_SUFFIX: int
    BPE_MAX_PIECE_BYTES: int
    BPE_MAX_JOIN: int
    BPE_OK: int
    BPE_ERR_NOMEM: int
    BPE_ERR_ARG: int
    BPE_ERR_ID: int
    BPE_ERR_CAPACITY: int
    BPE_ERR_LIMIT: int
    BPE_ERR_MODEL: int
    BPE_ERR_SPLIT: int
    BPE_ERR_FORBIDDEN: int
    BPE_ERR_JSON: int
    BPE_SPLIT_ISOLATED: int
    BPE_SPLIT_DROP_MATCHES: int
    BPE_SPLIT_DROP_GAPS: int
    BPE_SPLIT_WITH_PREVIOUS: int
    BPE_SPLIT_WITH_NEXT: int
    BPE_SPLIT_CONTIGUOUS: int
    BPE_SIMD_SCALAR: int
    BPE_SIMD_PORTABLE: int
    BPE_SIMD_AVX2: int
    BPE_SIMD_AVX512: int
    BPE_SIMD_NEON: int
    BPE_SEMANTICS_RANKS: int
    BPE_SEMANTICS_MERGES: int
    BPE_SYMBOLS_BYTES: int
    BPE_SYMBOLS_SOME_BYTES: int
    BPE_SYMBOLS_CHARACTERS: int
    BPE_PART_TOKEN: int
    BPE_PART_DUPLICATE: int
    BPE_PART_BYTE: int
    BPE_PART_MERGE: int
    BPE_PART_EXTRA: int
    BPE_PART_EXTRA_ID: int
    BPE_PART_UNKNOWN: int
    BPE_PART_FALLBACK: int
    BPE_PATH_AUTO: int
    BPE_PATH_SHORT: int
    BPE_PATH_LONG: int
    BPE_TIES_LOWEST: int
    BPE_TIES_FIRST: int
    BPE_STOP_NONE: int
    BPE_STOP_REACHED: int
    BPE_STOP_EXHAUSTED: int
    BPE_STOP_MIN_FREQUENCY: int
    BPE_STOP_TOKEN_BYTES: int
    BPE_PIECE_NORMAL: int
    BPE_PIECE_UNKNOWN: int
    BPE_PIECE_CONTROL: int
    BPE_PIECE_USER: int
    BPE_PIECE_UNUSED: int
    BPE_PIECE_BYTE: int
    BPE_NORMALIZE_MARK: int
    BPE_NORMALIZE_MARK_AFTER: int
    BPE_NORMALIZE_SQUEEZE: int
    BPE_NORMALIZE_ESCAPE: int
    BPE_PIECES_EMPTY: int
    BPE_PIECES_LONG: int
    BPE_PIECES_TWICE: int
    BPE_PIECES_TYPE: int
    BPE_PIECES_SCORE: int
    BPE_PIECES_UNKNOWN: int
    BPE_PIECES_NO_UNKNOWN: int
    BPE_PIECES_BYTE: int
    BPE_PIECES_BYTE_TEXT: int
    BPE_PIECES_BYTE_MISSING: int
    BPE_PIECES_CHARSMAP: int
    BPE_PIECES_PATH_AUTO: int
    BPE_PIECES_PATH_SHORT: int
    BPE_PIECES_PATH_LONG: int
    BPE_PIECES_PATH_WHOLE: int
    BPE_CLASS_ANY: int
    BPE_CLASS_INHERITED: int
    BPE_CLASS_LONE: int
    BPE_WORDS_WHOLE: int
    BPE_WORDS_BEFORE: int
    BPE_WORDS_AFTER: int
    BPE_WORDS_RUNS: int
    BPE_JOIN_MARK_EDGE: int
    BPE_JOIN_MARK_AFTER: int
    BPE_JOIN_MARK_RUNS: int
    def bpe_status_message(self, status: int, /) -> FFI.CData: ...
    def bpe_match_new(
        self,
        data: bytes | FFI.CData,
        lengths: FFI.CData,
        ids: FFI.CData,
        n_strings: int,
        out: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_match_free(self, match: FFI.CData, /) -> None: ...
    def bpe_match_find(
        self,
        match: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        starts: FFI.CData,
        ends: FFI.CData,
        ids: FFI.CData,
        cap: int,
        n_found: FFI.CData,
        /,
    ) -> int: ...
    def bpe_split_new(
        self,
        stages: FFI.CData,
        n_stages: int,
        out: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_split_free(self, split: FFI.CData, /) -> None: ...
    def bpe_split_use_simd(self, split: FFI.CData, simd: int, /) -> int: ...
    def bpe_split_simd(self, split: FFI.CData, /) -> int: ...
    def bpe_split_ends(
        self,
        split: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        ends: FFI.CData,
        cap: int,
        n_ends: FFI.CData,
        /,
    ) -> int: ...
    def bpe_split_drops(self, split: FFI.CData, /) -> int: ...
    def bpe_split_spans(
        self,
        split: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        starts: FFI.CData,
        ends: FFI.CData,
        cap: int,
        n_spans: FFI.CData,
        /,
    ) -> int: ...
    def bpe_model_new(
        self,
        spec: FFI.CData,
        out: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_model_free(self, model: FFI.CData, /) -> None: ...
    def bpe_model_n_vocab(self, model: FFI.CData, /) -> int: ...
    def bpe_model_token(
        self,
        model: FFI.CData,
        id: int,
        n: FFI.CData,
        /,
    ) -> FFI.CData: ...
    def bpe_model_find(
        self,
        model: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        /,
    ) -> int: ...
    def bpe_model_recover_merges(
        self,
        model: FFI.CData,
        left: FFI.CData,
        right: FFI.CData,
        cap: int,
        /,
    ) -> int: ...
    def bpe_workspace_new(self, model: FFI.CData, out: FFI.CData, /) -> int: ...
    def bpe_workspace_free(self, workspace: FFI.CData, /) -> None: ...
    def bpe_workspace_configure(
        self,
        workspace: FFI.CData,
        path: int,
        use_cache: int,
        /,
    ) -> int: ...
    def bpe_workspace_resize(self, workspace: FFI.CData, bytes: int, /) -> int: ...
    def bpe_encode(
        self,
        model: FFI.CData,
        split: FFI.CData,
        match: FFI.CData,
        forbidden: FFI.CData,
        workspace: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        ids: FFI.CData,
        cap: int,
        n_ids: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_encode_pretokens(
        self,
        model: FFI.CData,
        workspace: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        ends: FFI.CData,
        n_ends: int,
        ids: FFI.CData,
        cap: int,
        n_ids: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_encode_batch(
        self,
        model: FFI.CData,
        split: FFI.CData,
        match: FFI.CData,
        forbidden: FFI.CData,
        workspace: FFI.CData,
        data: bytes | FFI.CData,
        offsets: FFI.CData,
        n_texts: int,
        ids: FFI.CData,
        cap: int,
        id_offsets: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_decoded_size(
        self,
        model: FFI.CData,
        ids: FFI.CData,
        n_ids: int,
        size: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_decode(
        self,
        model: FFI.CData,
        ids: FFI.CData,
        n_ids: int,
        out: FFI.CData,
        cap: int,
        size: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_seams_new(
        self,
        split: FFI.CData,
        data: bytes | FFI.CData,
        lengths: FFI.CData,
        n_strings: int,
        out: FFI.CData,
        /,
    ) -> int: ...
    def bpe_seams_free(self, seams: FFI.CData, /) -> None: ...
    def bpe_seams_last(
        self,
        seams: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        /,
    ) -> int: ...
    def bpe_counts_new(self, out: FFI.CData, /) -> int: ...
    def bpe_counts_free(self, counts: FFI.CData, /) -> None: ...
    def bpe_counts_limit(self, counts: FFI.CData, most: int, /) -> None: ...
    def bpe_counts_new_beside(self, other: FFI.CData, out: FFI.CData, /) -> int: ...
    def bpe_counts_add_text(
        self,
        counts: FFI.CData,
        split: FFI.CData,
        match: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        position: int,
        open: int,
        consumed: FFI.CData,
        /,
    ) -> int: ...
    def bpe_counts_add_batch(
        self,
        counts: FFI.CData,
        split: FFI.CData,
        match: FFI.CData,
        data: bytes | FFI.CData,
        offsets: FFI.CData,
        n_texts: int,
        position: int,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_counts_add_pretokens(
        self,
        counts: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        ends: FFI.CData,
        n_ends: int,
        position: int,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_counts_add_frequencies(
        self,
        counts: FFI.CData,
        data: bytes | FFI.CData,
        offsets: FFI.CData,
        frequencies: FFI.CData,
        n: int,
        position: int,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_counts_merge(self, counts: FFI.CData, other: FFI.CData, /) -> int: ...
    def bpe_merging_new(
        self,
        counts: FFI.CData,
        other: FFI.CData,
        n_parts: int,
        out: FFI.CData,
        /,
    ) -> int: ...
    def bpe_merging_free(self, merging: FFI.CData, /) -> None: ...
    def bpe_merging_part(self, merging: FFI.CData, part: int, /) -> int: ...
    def bpe_merging_end(self, merging: FFI.CData, /) -> int: ...
    def bpe_counts_size(self, counts: FFI.CData, /) -> int: ...
    def bpe_counts_bytes(self, counts: FFI.CData, /) -> int: ...
    def bpe_counts_total(self, counts: FFI.CData, /) -> int: ...
    def bpe_counts_export(
        self,
        counts: FFI.CData,
        data: FFI.CData,
        offsets: FFI.CData,
        frequencies: FFI.CData,
        positions: FFI.CData,
        /,
    ) -> int: ...
    def bpe_packer_new(self, counts: FFI.CData, out: FFI.CData, /) -> int: ...
    def bpe_packer_free(self, packer: FFI.CData, /) -> None: ...
    def bpe_packer_size(self, packer: FFI.CData, /) -> int: ...
    def bpe_packer_longest(self, packer: FFI.CData, /) -> int: ...
    def bpe_packer_next(
        self,
        packer: FFI.CData,
        out: FFI.CData,
        cap: int,
        /,
    ) -> int: ...
    def bpe_counts_add_packed(
        self,
        counts: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        base: int,
        size: int,
        place: FFI.CData,
        consumed: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_trainer_new(
        self,
        counts: FFI.CData,
        options: FFI.CData,
        out: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_trainer_free(self, trainer: FFI.CData, /) -> None: ...
    def bpe_trainer_run(self, trainer: FFI.CData, budget: int, /) -> int: ...
    def bpe_trainer_stop(self, trainer: FFI.CData, /) -> int: ...
    def bpe_trainer_n_merges(self, trainer: FFI.CData, /) -> int: ...
    def bpe_trainer_merges(self, trainer: FFI.CData, /) -> FFI.CData: ...
    def bpe_trainer_merge_counts(self, trainer: FFI.CData, /) -> FFI.CData: ...
    def bpe_trainer_work(self, trainer: FFI.CData, /) -> int: ...
    def bpe_pieces_new(
        self,
        spec: FFI.CData,
        out: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_pieces_free(self, pieces: FFI.CData, /) -> None: ...
    def bpe_pieces_find(
        self,
        pieces: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        /,
    ) -> int: ...
    def bpe_pieces_workspace_new(self, pieces: FFI.CData, out: FFI.CData, /) -> int: ...
    def bpe_pieces_workspace_free(self, workspace: FFI.CData, /) -> None: ...
    def bpe_pieces_workspace_trim(self, workspace: FFI.CData, /) -> None: ...
    def bpe_pieces_workspace_configure(
        self,
        workspace: FFI.CData,
        path: int,
        use_cache: int,
        /,
    ) -> int: ...
    def bpe_pieces_workspace_resize(
        self,
        workspace: FFI.CData,
        bytes: int,
        /,
    ) -> int: ...
    def bpe_pieces_encode(
        self,
        pieces: FFI.CData,
        match: FFI.CData,
        forbidden: FFI.CData,
        dropout: FFI.CData,
        workspace: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        ids: FFI.CData,
        n_ids: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_pieces_encode_batch(
        self,
        pieces: FFI.CData,
        match: FFI.CData,
        forbidden: FFI.CData,
        dropout: FFI.CData,
        workspace: FFI.CData,
        data: bytes | FFI.CData,
        offsets: FFI.CData,
        n_texts: int,
        ids: FFI.CData,
        id_offsets: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_pieces_encode_spans(
        self,
        pieces: FFI.CData,
        dropout: FFI.CData,
        workspace: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        ids: FFI.CData,
        spans: FFI.CData,
        n_ids: FFI.CData,
        text: FFI.CData,
        n_text: FFI.CData,
        compact: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_pieces_normalize(
        self,
        pieces: FFI.CData,
        workspace: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        text: FFI.CData,
        n_text: FFI.CData,
        offsets: FFI.CData,
        /,
    ) -> int: ...
    def bpe_pieces_decode(
        self,
        pieces: FFI.CData,
        ids: FFI.CData,
        n_ids: int,
        replace: int,
        at_start: FFI.CData,
        out: FFI.CData,
        size: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_pieces_free_text(self, text: FFI.CData, /) -> None: ...
    def bpe_sentences_new(self, spec: FFI.CData, out: FFI.CData, /) -> int: ...
    def bpe_sentences_free(self, sentences: FFI.CData, /) -> None: ...
    def bpe_sentences_add_lines(
        self,
        sentences: FFI.CData,
        counts: FFI.CData,
        data: bytes | FFI.CData,
        n: int,
        open: int,
        consumed: FFI.CData,
        /,
    ) -> int: ...
    def bpe_sentences_add_batch(
        self,
        sentences: FFI.CData,
        counts: FFI.CData,
        data: bytes | FFI.CData,
        offsets: FFI.CData,
        weights: FFI.CData,
        n: int,
        strip: int,
        /,
    ) -> int: ...
    def bpe_sentences_get_report(
        self,
        sentences: FFI.CData,
        out: FFI.CData,
        /,
    ) -> None: ...
    def bpe_counts_characters(
        self,
        counts: FFI.CData,
        codepoints: FFI.CData,
        frequencies: FFI.CData,
        n: FFI.CData,
        /,
    ) -> int: ...
    def bpe_trainer_new_pieces(
        self,
        counts: FFI.CData,
        spec: FFI.CData,
        out: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...
    def bpe_json_lines(
        self,
        data: bytes | FFI.CData,
        n: int,
        key: bytes | FFI.CData,
        key_size: int,
        texts: FFI.CData,
        cap: int,
        offsets: FFI.CData,
        max_texts: int,
        n_texts: FFI.CData,
        err: FFI.CData,
        /,
    ) -> int: ...

lib: _Lib
