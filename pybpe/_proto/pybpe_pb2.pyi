# Made by tools/make_proto.py from a schema of SHA-256 07f7bcb3691c764f390f0dede1039d1c3eff6d5e5e5a6c5acba4c742fac90cd2.
# mypy: disable-error-code="type-arg,name-defined"
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    KIND_UNSPECIFIED: _ClassVar[Kind]
    KIND_BYTE_LEVEL_BPE: _ClassVar[Kind]
    KIND_CODEPOINT_BPE: _ClassVar[Kind]

class MergeSemantics(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MERGE_SEMANTICS_UNSPECIFIED: _ClassVar[MergeSemantics]
    MERGE_SEMANTICS_RANKS: _ClassVar[MergeSemantics]
    MERGE_SEMANTICS_MERGES: _ClassVar[MergeSemantics]
    MERGE_SEMANTICS_SCORES: _ClassVar[MergeSemantics]

class TokenType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOKEN_TYPE_UNSPECIFIED: _ClassVar[TokenType]
    TOKEN_TYPE_NORMAL: _ClassVar[TokenType]
    TOKEN_TYPE_UNKNOWN: _ClassVar[TokenType]
    TOKEN_TYPE_CONTROL: _ClassVar[TokenType]
    TOKEN_TYPE_USER_DEFINED: _ClassVar[TokenType]
    TOKEN_TYPE_UNUSED: _ClassVar[TokenType]
    TOKEN_TYPE_BYTE: _ClassVar[TokenType]

class TokenFlag(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOKEN_FLAG_UNSPECIFIED: _ClassVar[TokenFlag]
    TOKEN_FLAG_LSTRIP: _ClassVar[TokenFlag]
    TOKEN_FLAG_RSTRIP: _ClassVar[TokenFlag]
    TOKEN_FLAG_SINGLE_WORD: _ClassVar[TokenFlag]
    TOKEN_FLAG_NORMALIZED: _ClassVar[TokenFlag]
    TOKEN_FLAG_UNMATCHED: _ClassVar[TokenFlag]
    TOKEN_FLAG_ALIAS: _ClassVar[TokenFlag]

class Dialect(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DIALECT_UNSPECIFIED: _ClassVar[Dialect]
    DIALECT_RUST: _ClassVar[Dialect]
    DIALECT_ONIGURUMA: _ClassVar[Dialect]
    DIALECT_REGEX: _ClassVar[Dialect]

class Behavior(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BEHAVIOR_UNSPECIFIED: _ClassVar[Behavior]
    BEHAVIOR_ISOLATED: _ClassVar[Behavior]
    BEHAVIOR_REMOVED: _ClassVar[Behavior]
    BEHAVIOR_MERGED_WITH_PREVIOUS: _ClassVar[Behavior]
    BEHAVIOR_MERGED_WITH_NEXT: _ClassVar[Behavior]
    BEHAVIOR_CONTIGUOUS: _ClassVar[Behavior]
KIND_UNSPECIFIED: Kind
KIND_BYTE_LEVEL_BPE: Kind
KIND_CODEPOINT_BPE: Kind
MERGE_SEMANTICS_UNSPECIFIED: MergeSemantics
MERGE_SEMANTICS_RANKS: MergeSemantics
MERGE_SEMANTICS_MERGES: MergeSemantics
MERGE_SEMANTICS_SCORES: MergeSemantics
TOKEN_TYPE_UNSPECIFIED: TokenType
TOKEN_TYPE_NORMAL: TokenType
TOKEN_TYPE_UNKNOWN: TokenType
TOKEN_TYPE_CONTROL: TokenType
TOKEN_TYPE_USER_DEFINED: TokenType
TOKEN_TYPE_UNUSED: TokenType
TOKEN_TYPE_BYTE: TokenType
TOKEN_FLAG_UNSPECIFIED: TokenFlag
TOKEN_FLAG_LSTRIP: TokenFlag
TOKEN_FLAG_RSTRIP: TokenFlag
TOKEN_FLAG_SINGLE_WORD: TokenFlag
TOKEN_FLAG_NORMALIZED: TokenFlag
TOKEN_FLAG_UNMATCHED: TokenFlag
TOKEN_FLAG_ALIAS: TokenFlag
DIALECT_UNSPECIFIED: Dialect
DIALECT_RUST: Dialect
DIALECT_ONIGURUMA: Dialect
DIALECT_REGEX: Dialect
BEHAVIOR_UNSPECIFIED: Behavior
BEHAVIOR_ISOLATED: Behavior
BEHAVIOR_REMOVED: Behavior
BEHAVIOR_MERGED_WITH_PREVIOUS: Behavior
BEHAVIOR_MERGED_WITH_NEXT: Behavior
BEHAVIOR_CONTIGUOUS: Behavior

class Model(_message.Message):
    __slots__ = ("kind", "semantics", "whole_pretoken", "tokens", "merges", "merge_ids", "special_tokens", "added_tokens", "normalizers", "split", "provenance", "some_bytes", "unknown", "fallback_ids", "text_prefix", "text_suffix", "decoders", "word_suffix", "pieces")
    KIND_FIELD_NUMBER: _ClassVar[int]
    SEMANTICS_FIELD_NUMBER: _ClassVar[int]
    WHOLE_PRETOKEN_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    MERGES_FIELD_NUMBER: _ClassVar[int]
    MERGE_IDS_FIELD_NUMBER: _ClassVar[int]
    SPECIAL_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ADDED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    NORMALIZERS_FIELD_NUMBER: _ClassVar[int]
    SPLIT_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    SOME_BYTES_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_IDS_FIELD_NUMBER: _ClassVar[int]
    TEXT_PREFIX_FIELD_NUMBER: _ClassVar[int]
    TEXT_SUFFIX_FIELD_NUMBER: _ClassVar[int]
    DECODERS_FIELD_NUMBER: _ClassVar[int]
    WORD_SUFFIX_FIELD_NUMBER: _ClassVar[int]
    PIECES_FIELD_NUMBER: _ClassVar[int]
    kind: Kind
    semantics: MergeSemantics
    whole_pretoken: bool
    tokens: TokenTable
    merges: bytes
    merge_ids: bytes
    special_tokens: TokenTable
    added_tokens: TokenTable
    normalizers: _containers.RepeatedCompositeFieldContainer[Normalizer]
    split: Split
    provenance: Provenance
    some_bytes: bool
    unknown: Unknown
    fallback_ids: bytes
    text_prefix: bytes
    text_suffix: bytes
    decoders: _containers.RepeatedCompositeFieldContainer[Decoder]
    word_suffix: bytes
    pieces: Pieces
    def __init__(self, kind: _Optional[_Union[Kind, str]] = ..., semantics: _Optional[_Union[MergeSemantics, str]] = ..., whole_pretoken: bool = ..., tokens: _Optional[_Union[TokenTable, _Mapping]] = ..., merges: _Optional[bytes] = ..., merge_ids: _Optional[bytes] = ..., special_tokens: _Optional[_Union[TokenTable, _Mapping]] = ..., added_tokens: _Optional[_Union[TokenTable, _Mapping]] = ..., normalizers: _Optional[_Iterable[_Union[Normalizer, _Mapping]]] = ..., split: _Optional[_Union[Split, _Mapping]] = ..., provenance: _Optional[_Union[Provenance, _Mapping]] = ..., some_bytes: bool = ..., unknown: _Optional[_Union[Unknown, _Mapping]] = ..., fallback_ids: _Optional[bytes] = ..., text_prefix: _Optional[bytes] = ..., text_suffix: _Optional[bytes] = ..., decoders: _Optional[_Iterable[_Union[Decoder, _Mapping]]] = ..., word_suffix: _Optional[bytes] = ..., pieces: _Optional[_Union[Pieces, _Mapping]] = ...) -> None: ...

class Unknown(_message.Message):
    __slots__ = ("id", "fuse")
    ID_FIELD_NUMBER: _ClassVar[int]
    FUSE_FIELD_NUMBER: _ClassVar[int]
    id: int
    fuse: bool
    def __init__(self, id: _Optional[int] = ..., fuse: bool = ...) -> None: ...

class Pieces(_message.Message):
    __slots__ = ("byte_fallback", "mark_behind", "normalizer", "denormalizer", "unk_surface", "unk_id", "bos_id", "eos_id", "pad_id", "refuse_marks")
    BYTE_FALLBACK_FIELD_NUMBER: _ClassVar[int]
    MARK_BEHIND_FIELD_NUMBER: _ClassVar[int]
    NORMALIZER_FIELD_NUMBER: _ClassVar[int]
    DENORMALIZER_FIELD_NUMBER: _ClassVar[int]
    UNK_SURFACE_FIELD_NUMBER: _ClassVar[int]
    UNK_ID_FIELD_NUMBER: _ClassVar[int]
    BOS_ID_FIELD_NUMBER: _ClassVar[int]
    EOS_ID_FIELD_NUMBER: _ClassVar[int]
    PAD_ID_FIELD_NUMBER: _ClassVar[int]
    REFUSE_MARKS_FIELD_NUMBER: _ClassVar[int]
    byte_fallback: bool
    mark_behind: bool
    normalizer: TextRules
    denormalizer: TextRules
    unk_surface: bytes
    unk_id: int
    bos_id: int
    eos_id: int
    pad_id: int
    refuse_marks: bool
    def __init__(self, byte_fallback: bool = ..., mark_behind: bool = ..., normalizer: _Optional[_Union[TextRules, _Mapping]] = ..., denormalizer: _Optional[_Union[TextRules, _Mapping]] = ..., unk_surface: _Optional[bytes] = ..., unk_id: _Optional[int] = ..., bos_id: _Optional[int] = ..., eos_id: _Optional[int] = ..., pad_id: _Optional[int] = ..., refuse_marks: bool = ...) -> None: ...

class TextRules(_message.Message):
    __slots__ = ("name", "charsmap", "add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CHARSMAP_FIELD_NUMBER: _ClassVar[int]
    ADD_DUMMY_PREFIX_FIELD_NUMBER: _ClassVar[int]
    REMOVE_EXTRA_WHITESPACES_FIELD_NUMBER: _ClassVar[int]
    ESCAPE_WHITESPACES_FIELD_NUMBER: _ClassVar[int]
    name: str
    charsmap: bytes
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    escape_whitespaces: bool
    def __init__(self, name: _Optional[str] = ..., charsmap: _Optional[bytes] = ..., add_dummy_prefix: bool = ..., remove_extra_whitespaces: bool = ..., escape_whitespaces: bool = ...) -> None: ...

class TokenTable(_message.Message):
    __slots__ = ("data", "lengths", "ids", "scores", "types", "flags")
    DATA_FIELD_NUMBER: _ClassVar[int]
    LENGTHS_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    lengths: bytes
    ids: bytes
    scores: bytes
    types: bytes
    flags: bytes
    def __init__(self, data: _Optional[bytes] = ..., lengths: _Optional[bytes] = ..., ids: _Optional[bytes] = ..., scores: _Optional[bytes] = ..., types: _Optional[bytes] = ..., flags: _Optional[bytes] = ...) -> None: ...

class Normalizer(_message.Message):
    __slots__ = ("unicode_form", "lowercase", "replace", "prepend", "strip", "prefix", "characters", "precompiled", "character_rules")
    class UnicodeForm(_message.Message):
        __slots__ = ("form", "unicode_version")
        FORM_FIELD_NUMBER: _ClassVar[int]
        UNICODE_VERSION_FIELD_NUMBER: _ClassVar[int]
        form: str
        unicode_version: str
        def __init__(self, form: _Optional[str] = ..., unicode_version: _Optional[str] = ...) -> None: ...
    class Lowercase(_message.Message):
        __slots__ = ("unicode_version",)
        UNICODE_VERSION_FIELD_NUMBER: _ClassVar[int]
        unicode_version: str
        def __init__(self, unicode_version: _Optional[str] = ...) -> None: ...
    class Replace(_message.Message):
        __slots__ = ("literal", "matches", "content")
        LITERAL_FIELD_NUMBER: _ClassVar[int]
        MATCHES_FIELD_NUMBER: _ClassVar[int]
        CONTENT_FIELD_NUMBER: _ClassVar[int]
        literal: str
        matches: Stage
        content: str
        def __init__(self, literal: _Optional[str] = ..., matches: _Optional[_Union[Stage, _Mapping]] = ..., content: _Optional[str] = ...) -> None: ...
    class Prepend(_message.Message):
        __slots__ = ("content",)
        CONTENT_FIELD_NUMBER: _ClassVar[int]
        content: str
        def __init__(self, content: _Optional[str] = ...) -> None: ...
    class Strip(_message.Message):
        __slots__ = ("left", "right")
        LEFT_FIELD_NUMBER: _ClassVar[int]
        RIGHT_FIELD_NUMBER: _ClassVar[int]
        left: bool
        right: bool
        def __init__(self, left: bool = ..., right: bool = ...) -> None: ...
    class Prefix(_message.Message):
        __slots__ = ("content", "first_only")
        CONTENT_FIELD_NUMBER: _ClassVar[int]
        FIRST_ONLY_FIELD_NUMBER: _ClassVar[int]
        content: str
        first_only: bool
        def __init__(self, content: _Optional[str] = ..., first_only: bool = ...) -> None: ...
    class Characters(_message.Message):
        __slots__ = ("rule", "unicode_version")
        RULE_FIELD_NUMBER: _ClassVar[int]
        UNICODE_VERSION_FIELD_NUMBER: _ClassVar[int]
        rule: str
        unicode_version: str
        def __init__(self, rule: _Optional[str] = ..., unicode_version: _Optional[str] = ...) -> None: ...
    class Precompiled(_message.Message):
        __slots__ = ("table", "unicode_version")
        TABLE_FIELD_NUMBER: _ClassVar[int]
        UNICODE_VERSION_FIELD_NUMBER: _ClassVar[int]
        table: bytes
        unicode_version: str
        def __init__(self, table: _Optional[bytes] = ..., unicode_version: _Optional[str] = ...) -> None: ...
    class CharacterRules(_message.Message):
        __slots__ = ("single", "joined", "kept")
        SINGLE_FIELD_NUMBER: _ClassVar[int]
        JOINED_FIELD_NUMBER: _ClassVar[int]
        KEPT_FIELD_NUMBER: _ClassVar[int]
        single: str
        joined: str
        kept: str
        def __init__(self, single: _Optional[str] = ..., joined: _Optional[str] = ..., kept: _Optional[str] = ...) -> None: ...
    UNICODE_FORM_FIELD_NUMBER: _ClassVar[int]
    LOWERCASE_FIELD_NUMBER: _ClassVar[int]
    REPLACE_FIELD_NUMBER: _ClassVar[int]
    PREPEND_FIELD_NUMBER: _ClassVar[int]
    STRIP_FIELD_NUMBER: _ClassVar[int]
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    CHARACTERS_FIELD_NUMBER: _ClassVar[int]
    PRECOMPILED_FIELD_NUMBER: _ClassVar[int]
    CHARACTER_RULES_FIELD_NUMBER: _ClassVar[int]
    unicode_form: Normalizer.UnicodeForm
    lowercase: Normalizer.Lowercase
    replace: Normalizer.Replace
    prepend: Normalizer.Prepend
    strip: Normalizer.Strip
    prefix: Normalizer.Prefix
    characters: Normalizer.Characters
    precompiled: Normalizer.Precompiled
    character_rules: Normalizer.CharacterRules
    def __init__(self, unicode_form: _Optional[_Union[Normalizer.UnicodeForm, _Mapping]] = ..., lowercase: _Optional[_Union[Normalizer.Lowercase, _Mapping]] = ..., replace: _Optional[_Union[Normalizer.Replace, _Mapping]] = ..., prepend: _Optional[_Union[Normalizer.Prepend, _Mapping]] = ..., strip: _Optional[_Union[Normalizer.Strip, _Mapping]] = ..., prefix: _Optional[_Union[Normalizer.Prefix, _Mapping]] = ..., characters: _Optional[_Union[Normalizer.Characters, _Mapping]] = ..., precompiled: _Optional[_Union[Normalizer.Precompiled, _Mapping]] = ..., character_rules: _Optional[_Union[Normalizer.CharacterRules, _Mapping]] = ...) -> None: ...

class Decoder(_message.Message):
    __slots__ = ("join", "byte_fallback", "fuse", "byte_level", "strip", "replace", "marks", "word_ends")
    class WordEnds(_message.Message):
        __slots__ = ("suffix",)
        SUFFIX_FIELD_NUMBER: _ClassVar[int]
        suffix: str
        def __init__(self, suffix: _Optional[str] = ...) -> None: ...
    class Nothing(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    class Join(_message.Message):
        __slots__ = ("separator",)
        SEPARATOR_FIELD_NUMBER: _ClassVar[int]
        separator: str
        def __init__(self, separator: _Optional[str] = ...) -> None: ...
    class Strip(_message.Message):
        __slots__ = ("content", "start", "stop")
        CONTENT_FIELD_NUMBER: _ClassVar[int]
        START_FIELD_NUMBER: _ClassVar[int]
        STOP_FIELD_NUMBER: _ClassVar[int]
        content: str
        start: int
        stop: int
        def __init__(self, content: _Optional[str] = ..., start: _Optional[int] = ..., stop: _Optional[int] = ...) -> None: ...
    class Marks(_message.Message):
        __slots__ = ("mark", "drop_first")
        MARK_FIELD_NUMBER: _ClassVar[int]
        DROP_FIRST_FIELD_NUMBER: _ClassVar[int]
        mark: str
        drop_first: bool
        def __init__(self, mark: _Optional[str] = ..., drop_first: bool = ...) -> None: ...
    JOIN_FIELD_NUMBER: _ClassVar[int]
    BYTE_FALLBACK_FIELD_NUMBER: _ClassVar[int]
    FUSE_FIELD_NUMBER: _ClassVar[int]
    BYTE_LEVEL_FIELD_NUMBER: _ClassVar[int]
    STRIP_FIELD_NUMBER: _ClassVar[int]
    REPLACE_FIELD_NUMBER: _ClassVar[int]
    MARKS_FIELD_NUMBER: _ClassVar[int]
    WORD_ENDS_FIELD_NUMBER: _ClassVar[int]
    join: Decoder.Join
    byte_fallback: Decoder.Nothing
    fuse: Decoder.Nothing
    byte_level: Decoder.Nothing
    strip: Decoder.Strip
    replace: Normalizer.Replace
    marks: Decoder.Marks
    word_ends: Decoder.WordEnds
    def __init__(self, join: _Optional[_Union[Decoder.Join, _Mapping]] = ..., byte_fallback: _Optional[_Union[Decoder.Nothing, _Mapping]] = ..., fuse: _Optional[_Union[Decoder.Nothing, _Mapping]] = ..., byte_level: _Optional[_Union[Decoder.Nothing, _Mapping]] = ..., strip: _Optional[_Union[Decoder.Strip, _Mapping]] = ..., replace: _Optional[_Union[Normalizer.Replace, _Mapping]] = ..., marks: _Optional[_Union[Decoder.Marks, _Mapping]] = ..., word_ends: _Optional[_Union[Decoder.WordEnds, _Mapping]] = ...) -> None: ...

class Split(_message.Message):
    __slots__ = ("stages",)
    STAGES_FIELD_NUMBER: _ClassVar[int]
    stages: _containers.RepeatedCompositeFieldContainer[Stage]
    def __init__(self, stages: _Optional[_Iterable[_Union[Stage, _Mapping]]] = ...) -> None: ...

class Stage(_message.Message):
    __slots__ = ("pattern", "dialect", "behavior", "invert", "unicode_version", "class_starts", "class_ids", "n_classes", "n_states", "transitions", "over_bytes", "before")
    PATTERN_FIELD_NUMBER: _ClassVar[int]
    DIALECT_FIELD_NUMBER: _ClassVar[int]
    BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    INVERT_FIELD_NUMBER: _ClassVar[int]
    UNICODE_VERSION_FIELD_NUMBER: _ClassVar[int]
    CLASS_STARTS_FIELD_NUMBER: _ClassVar[int]
    CLASS_IDS_FIELD_NUMBER: _ClassVar[int]
    N_CLASSES_FIELD_NUMBER: _ClassVar[int]
    N_STATES_FIELD_NUMBER: _ClassVar[int]
    TRANSITIONS_FIELD_NUMBER: _ClassVar[int]
    OVER_BYTES_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    pattern: str
    dialect: Dialect
    behavior: Behavior
    invert: bool
    unicode_version: str
    class_starts: bytes
    class_ids: bytes
    n_classes: int
    n_states: int
    transitions: bytes
    over_bytes: bool
    before: _containers.RepeatedCompositeFieldContainer[Normalizer]
    def __init__(self, pattern: _Optional[str] = ..., dialect: _Optional[_Union[Dialect, str]] = ..., behavior: _Optional[_Union[Behavior, str]] = ..., invert: bool = ..., unicode_version: _Optional[str] = ..., class_starts: _Optional[bytes] = ..., class_ids: _Optional[bytes] = ..., n_classes: _Optional[int] = ..., n_states: _Optional[int] = ..., transitions: _Optional[bytes] = ..., over_bytes: bool = ..., before: _Optional[_Iterable[_Union[Normalizer, _Mapping]]] = ...) -> None: ...

class Provenance(_message.Message):
    __slots__ = ("entries",)
    class Entry(_message.Message):
        __slots__ = ("key", "text", "number")
        KEY_FIELD_NUMBER: _ClassVar[int]
        TEXT_FIELD_NUMBER: _ClassVar[int]
        NUMBER_FIELD_NUMBER: _ClassVar[int]
        key: str
        text: str
        number: int
        def __init__(self, key: _Optional[str] = ..., text: _Optional[str] = ..., number: _Optional[int] = ...) -> None: ...
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[Provenance.Entry]
    def __init__(self, entries: _Optional[_Iterable[_Union[Provenance.Entry, _Mapping]]] = ...) -> None: ...

class Counts(_message.Message):
    __slots__ = ("split", "special_tokens", "protected", "initial", "documents", "bytes", "pretokens", "distinct_pretokens", "records_size")
    SPLIT_FIELD_NUMBER: _ClassVar[int]
    SPECIAL_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PROTECTED_FIELD_NUMBER: _ClassVar[int]
    INITIAL_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    PRETOKENS_FIELD_NUMBER: _ClassVar[int]
    DISTINCT_PRETOKENS_FIELD_NUMBER: _ClassVar[int]
    RECORDS_SIZE_FIELD_NUMBER: _ClassVar[int]
    split: Split
    special_tokens: TokenTable
    protected: TokenTable
    initial: TokenTable
    documents: int
    bytes: int
    pretokens: int
    distinct_pretokens: int
    records_size: int
    def __init__(self, split: _Optional[_Union[Split, _Mapping]] = ..., special_tokens: _Optional[_Union[TokenTable, _Mapping]] = ..., protected: _Optional[_Union[TokenTable, _Mapping]] = ..., initial: _Optional[_Union[TokenTable, _Mapping]] = ..., documents: _Optional[int] = ..., bytes: _Optional[int] = ..., pretokens: _Optional[int] = ..., distinct_pretokens: _Optional[int] = ..., records_size: _Optional[int] = ...) -> None: ...
