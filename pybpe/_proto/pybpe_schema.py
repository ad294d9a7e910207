# Made by tools/make_proto.py from a schema of SHA-256 07f7bcb3691c764f390f0dede1039d1c3eff6d5e5e5a6c5acba4c742fac90cd2.
"""The messages and enums of the package pybpe.v1, as tables."""

from __future__ import annotations

# Number of a field -> name; type; full name of a message's or enum's type;
# "repeated", "optional" (may be absent), "=" and its oneof, or ""; and the
# value when it is absent, None for messages and repeated fields.
MESSAGES: dict[str, dict[int, tuple[str, str, str, str, object]]] = {
    "pybpe.v1.Model": {
        1: ("kind", "enum", "pybpe.v1.Kind", "", 0),
        2: ("semantics", "enum", "pybpe.v1.MergeSemantics", "", 0),
        3: ("whole_pretoken", "bool", "", "", False),
        4: ("tokens", "message", "pybpe.v1.TokenTable", "", None),
        5: ("merges", "bytes", "", "", b""),
        6: ("merge_ids", "bytes", "", "", b""),
        7: ("special_tokens", "message", "pybpe.v1.TokenTable", "", None),
        8: ("added_tokens", "message", "pybpe.v1.TokenTable", "", None),
        9: ("normalizers", "message", "pybpe.v1.Normalizer", "repeated", None),
        10: ("split", "message", "pybpe.v1.Split", "", None),
        11: ("provenance", "message", "pybpe.v1.Provenance", "", None),
        12: ("some_bytes", "bool", "", "", False),
        13: ("unknown", "message", "pybpe.v1.Unknown", "", None),
        14: ("fallback_ids", "bytes", "", "", b""),
        15: ("text_prefix", "bytes", "", "", b""),
        16: ("text_suffix", "bytes", "", "", b""),
        17: ("decoders", "message", "pybpe.v1.Decoder", "repeated", None),
        18: ("word_suffix", "bytes", "", "", b""),
        19: ("pieces", "message", "pybpe.v1.Pieces", "", None),
    },
    "pybpe.v1.Unknown": {
        1: ("id", "uint32", "", "", 0),
        2: ("fuse", "bool", "", "", False),
    },
    "pybpe.v1.Pieces": {
        1: ("byte_fallback", "bool", "", "", False),
        2: ("mark_behind", "bool", "", "", False),
        3: ("normalizer", "message", "pybpe.v1.TextRules", "", None),
        4: ("denormalizer", "message", "pybpe.v1.TextRules", "", None),
        5: ("unk_surface", "bytes", "", "", b""),
        6: ("unk_id", "uint32", "", "optional", 0),
        7: ("bos_id", "uint32", "", "optional", 0),
        8: ("eos_id", "uint32", "", "optional", 0),
        9: ("pad_id", "uint32", "", "optional", 0),
        10: ("refuse_marks", "bool", "", "", False),
    },
    "pybpe.v1.TextRules": {
        1: ("name", "string", "", "", ""),
        2: ("charsmap", "bytes", "", "", b""),
        3: ("add_dummy_prefix", "bool", "", "", False),
        4: ("remove_extra_whitespaces", "bool", "", "", False),
        5: ("escape_whitespaces", "bool", "", "", False),
    },
    "pybpe.v1.TokenTable": {
        1: ("data", "bytes", "", "", b""),
        2: ("lengths", "bytes", "", "", b""),
        3: ("ids", "bytes", "", "", b""),
        4: ("scores", "bytes", "", "", b""),
        5: ("types", "bytes", "", "", b""),
        6: ("flags", "bytes", "", "", b""),
    },
    "pybpe.v1.Normalizer": {
        1: ("unicode_form", "message", "pybpe.v1.Normalizer.UnicodeForm", "=step", None),
        2: ("lowercase", "message", "pybpe.v1.Normalizer.Lowercase", "=step", None),
        3: ("replace", "message", "pybpe.v1.Normalizer.Replace", "=step", None),
        4: ("prepend", "message", "pybpe.v1.Normalizer.Prepend", "=step", None),
        5: ("strip", "message", "pybpe.v1.Normalizer.Strip", "=step", None),
        7: ("prefix", "message", "pybpe.v1.Normalizer.Prefix", "=step", None),
        8: ("characters", "message", "pybpe.v1.Normalizer.Characters", "=step", None),
        9: ("precompiled", "message", "pybpe.v1.Normalizer.Precompiled", "=step", None),
        10: ("character_rules", "message", "pybpe.v1.Normalizer.CharacterRules", "=step", None),
    },
    "pybpe.v1.Normalizer.UnicodeForm": {
        1: ("form", "string", "", "", ""),
        2: ("unicode_version", "string", "", "", ""),
    },
    "pybpe.v1.Normalizer.Lowercase": {
        1: ("unicode_version", "string", "", "", ""),
    },
    "pybpe.v1.Normalizer.Replace": {
        1: ("literal", "string", "", "=what", ""),
        5: ("matches", "message", "pybpe.v1.Stage", "=what", None),
        3: ("content", "string", "", "", ""),
    },
    "pybpe.v1.Normalizer.Prepend": {
        1: ("content", "string", "", "", ""),
    },
    "pybpe.v1.Normalizer.Strip": {
        1: ("left", "bool", "", "", False),
        2: ("right", "bool", "", "", False),
    },
    "pybpe.v1.Normalizer.Prefix": {
        1: ("content", "string", "", "", ""),
        2: ("first_only", "bool", "", "", False),
    },
    "pybpe.v1.Normalizer.Characters": {
        1: ("rule", "string", "", "", ""),
        2: ("unicode_version", "string", "", "", ""),
    },
    "pybpe.v1.Normalizer.Precompiled": {
        1: ("table", "bytes", "", "", b""),
        2: ("unicode_version", "string", "", "", ""),
    },
    "pybpe.v1.Normalizer.CharacterRules": {
        1: ("single", "string", "", "", ""),
        2: ("joined", "string", "", "", ""),
        3: ("kept", "string", "", "", ""),
    },
    "pybpe.v1.Decoder": {
        1: ("join", "message", "pybpe.v1.Decoder.Join", "=step", None),
        2: ("byte_fallback", "message", "pybpe.v1.Decoder.Nothing", "=step", None),
        3: ("fuse", "message", "pybpe.v1.Decoder.Nothing", "=step", None),
        4: ("byte_level", "message", "pybpe.v1.Decoder.Nothing", "=step", None),
        5: ("strip", "message", "pybpe.v1.Decoder.Strip", "=step", None),
        6: ("replace", "message", "pybpe.v1.Normalizer.Replace", "=step", None),
        7: ("marks", "message", "pybpe.v1.Decoder.Marks", "=step", None),
        8: ("word_ends", "message", "pybpe.v1.Decoder.WordEnds", "=step", None),
    },
    "pybpe.v1.Decoder.WordEnds": {
        1: ("suffix", "string", "", "", ""),
    },
    "pybpe.v1.Decoder.Nothing": {
    },
    "pybpe.v1.Decoder.Join": {
        1: ("separator", "string", "", "", ""),
    },
    "pybpe.v1.Decoder.Strip": {
        1: ("content", "string", "", "", ""),
        2: ("start", "uint32", "", "", 0),
        3: ("stop", "uint32", "", "", 0),
    },
    "pybpe.v1.Decoder.Marks": {
        1: ("mark", "string", "", "", ""),
        2: ("drop_first", "bool", "", "", False),
    },
    "pybpe.v1.Split": {
        1: ("stages", "message", "pybpe.v1.Stage", "repeated", None),
    },
    "pybpe.v1.Stage": {
        1: ("pattern", "string", "", "", ""),
        2: ("dialect", "enum", "pybpe.v1.Dialect", "", 0),
        3: ("behavior", "enum", "pybpe.v1.Behavior", "", 0),
        4: ("invert", "bool", "", "", False),
        5: ("unicode_version", "string", "", "", ""),
        6: ("class_starts", "bytes", "", "", b""),
        7: ("class_ids", "bytes", "", "", b""),
        8: ("n_classes", "uint32", "", "", 0),
        9: ("n_states", "uint32", "", "", 0),
        10: ("transitions", "bytes", "", "", b""),
        11: ("over_bytes", "bool", "", "", False),
        12: ("before", "message", "pybpe.v1.Normalizer", "repeated", None),
    },
    "pybpe.v1.Provenance": {
        1: ("entries", "message", "pybpe.v1.Provenance.Entry", "repeated", None),
    },
    "pybpe.v1.Provenance.Entry": {
        1: ("key", "string", "", "", ""),
        2: ("text", "string", "", "=value", ""),
        3: ("number", "sint64", "", "=value", 0),
    },
    "pybpe.v1.Counts": {
        1: ("split", "message", "pybpe.v1.Split", "", None),
        2: ("special_tokens", "message", "pybpe.v1.TokenTable", "", None),
        3: ("protected", "message", "pybpe.v1.TokenTable", "", None),
        4: ("initial", "message", "pybpe.v1.TokenTable", "", None),
        5: ("documents", "uint64", "", "", 0),
        6: ("bytes", "uint64", "", "", 0),
        7: ("pretokens", "uint64", "", "", 0),
        8: ("distinct_pretokens", "uint64", "", "", 0),
        9: ("records_size", "uint64", "", "", 0),
    },
}

# Numbers and names.
ENUMS: dict[str, dict[int, str]] = {
    "pybpe.v1.Kind": {
        0: "KIND_UNSPECIFIED",
        1: "KIND_BYTE_LEVEL_BPE",
        2: "KIND_CODEPOINT_BPE",
    },
    "pybpe.v1.MergeSemantics": {
        0: "MERGE_SEMANTICS_UNSPECIFIED",
        1: "MERGE_SEMANTICS_RANKS",
        2: "MERGE_SEMANTICS_MERGES",
        3: "MERGE_SEMANTICS_SCORES",
    },
    "pybpe.v1.TokenType": {
        0: "TOKEN_TYPE_UNSPECIFIED",
        1: "TOKEN_TYPE_NORMAL",
        2: "TOKEN_TYPE_UNKNOWN",
        3: "TOKEN_TYPE_CONTROL",
        4: "TOKEN_TYPE_USER_DEFINED",
        5: "TOKEN_TYPE_UNUSED",
        6: "TOKEN_TYPE_BYTE",
    },
    "pybpe.v1.TokenFlag": {
        0: "TOKEN_FLAG_UNSPECIFIED",
        1: "TOKEN_FLAG_LSTRIP",
        2: "TOKEN_FLAG_RSTRIP",
        4: "TOKEN_FLAG_SINGLE_WORD",
        8: "TOKEN_FLAG_NORMALIZED",
        16: "TOKEN_FLAG_UNMATCHED",
        32: "TOKEN_FLAG_ALIAS",
    },
    "pybpe.v1.Dialect": {
        0: "DIALECT_UNSPECIFIED",
        1: "DIALECT_RUST",
        2: "DIALECT_ONIGURUMA",
        3: "DIALECT_REGEX",
    },
    "pybpe.v1.Behavior": {
        0: "BEHAVIOR_UNSPECIFIED",
        1: "BEHAVIOR_ISOLATED",
        2: "BEHAVIOR_REMOVED",
        3: "BEHAVIOR_MERGED_WITH_PREVIOUS",
        4: "BEHAVIOR_MERGED_WITH_NEXT",
        5: "BEHAVIOR_CONTIGUOUS",
    },
}
