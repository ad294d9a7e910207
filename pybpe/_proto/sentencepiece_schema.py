# Made by tools/make_proto.py from a schema of SHA-256 8de90336615d2aabde89969d0a9daf6ecc3efee9ebcfed6eee57c259047b487b.
"""The messages and enums of the package pybpe.sentencepiece.v1, as tables."""

from __future__ import annotations

# Number of a field -> name; type; full name of a message's or enum's type;
# "repeated", "optional" (may be absent), "=" and its oneof, or ""; and the
# value when it is absent, None for messages and repeated fields.
MESSAGES: dict[str, dict[int, tuple[str, str, str, str, object]]] = {
    "pybpe.sentencepiece.v1.Model": {
        1: ("pieces", "message", "pybpe.sentencepiece.v1.Piece", "repeated", None),
        2: ("training", "message", "pybpe.sentencepiece.v1.Training", "optional", None),
        3: ("normalizer", "message", "pybpe.sentencepiece.v1.Normalizer", "optional", None),
        5: ("denormalizer", "message", "pybpe.sentencepiece.v1.Normalizer", "optional", None),
    },
    "pybpe.sentencepiece.v1.Piece": {
        1: ("text", "bytes", "", "optional", b""),
        2: ("score", "float", "", "optional", 0.0),
        3: ("type", "enum", "pybpe.sentencepiece.v1.Piece.Type", "optional", 1),
    },
    "pybpe.sentencepiece.v1.Training": {
        1: ("input", "string", "", "repeated", None),
        7: ("input_format", "string", "", "optional", ""),
        2: ("model_prefix", "string", "", "optional", ""),
        3: ("algorithm", "enum", "pybpe.sentencepiece.v1.Algorithm", "optional", 1),
        4: ("vocab_size", "int32", "", "optional", 8000),
        5: ("accept_language", "string", "", "repeated", None),
        6: ("self_test_sample_size", "int32", "", "optional", 0),
        12: ("mining_sentence_size", "int32", "", "optional", 0),
        13: ("training_sentence_size", "int32", "", "optional", 0),
        10: ("character_coverage", "float", "", "optional", 0.9994999766349792),
        55: ("auto_character_coverage", "bool", "", "optional", False),
        36: ("required_chars", "string", "", "optional", ""),
        11: ("input_sentence_size", "uint64", "", "optional", 0),
        19: ("shuffle_input_sentence", "bool", "", "optional", True),
        18: ("max_sentence_length", "int32", "", "optional", 4192),
        14: ("seed_piece_count", "int32", "", "optional", 1000000),
        15: ("shrinking_factor", "float", "", "optional", 0.75),
        17: ("sub_iterations", "int32", "", "optional", 2),
        54: ("seed_pieces_file", "string", "", "optional", ""),
        16: ("num_threads", "int32", "", "optional", 16),
        49: ("extremely_large_corpus", "bool", "", "optional", False),
        20: ("max_piece_length", "int32", "", "optional", 16),
        21: ("split_by_unicode_script", "bool", "", "optional", True),
        23: ("split_by_number", "bool", "", "optional", True),
        22: ("split_by_whitespace", "bool", "", "optional", True),
        25: ("split_digits", "bool", "", "optional", False),
        53: ("pretokenization_delimiter", "string", "", "optional", ""),
        24: ("treat_whitespace_as_suffix", "bool", "", "optional", False),
        26: ("allow_whitespace_only_pieces", "bool", "", "optional", False),
        30: ("control_symbols", "string", "", "repeated", None),
        31: ("user_defined_symbols", "string", "", "repeated", None),
        32: ("vocabulary_output_score", "bool", "", "optional", True),
        33: ("hard_vocab_limit", "bool", "", "optional", True),
        34: ("use_all_vocab", "bool", "", "optional", False),
        35: ("byte_fallback", "bool", "", "optional", False),
        40: ("unk_id", "int32", "", "optional", 0),
        41: ("bos_id", "int32", "", "optional", 1),
        42: ("eos_id", "int32", "", "optional", 2),
        43: ("pad_id", "int32", "", "optional", -1),
        45: ("unk_piece", "bytes", "", "optional", b"<unk>"),
        46: ("bos_piece", "bytes", "", "optional", b"<s>"),
        47: ("eos_piece", "bytes", "", "optional", b"</s>"),
        48: ("pad_piece", "bytes", "", "optional", b"<pad>"),
        44: ("unk_surface", "bytes", "", "optional", b" \342\201\207 "),
        50: ("differential_privacy", "bool", "", "optional", False),
        51: ("privacy_noise_level", "float", "", "optional", 0.0),
        52: ("privacy_clipping_threshold", "uint64", "", "optional", 0),
    },
    "pybpe.sentencepiece.v1.Normalizer": {
        1: ("name", "string", "", "optional", ""),
        2: ("charsmap", "bytes", "", "optional", b""),
        3: ("add_dummy_prefix", "bool", "", "optional", True),
        4: ("remove_extra_whitespaces", "bool", "", "optional", True),
        5: ("escape_whitespaces", "bool", "", "optional", True),
        6: ("rule_file", "string", "", "optional", ""),
    },
}

# Numbers and names.
ENUMS: dict[str, dict[int, str]] = {
    "pybpe.sentencepiece.v1.Algorithm": {
        1: "UNIGRAM",
        2: "BPE",
        3: "WORD",
        4: "CHAR",
    },
    "pybpe.sentencepiece.v1.Piece.Type": {
        1: "NORMAL",
        2: "UNKNOWN",
        3: "CONTROL",
        4: "USER_DEFINED",
        5: "UNUSED",
        6: "BYTE",
    },
}
