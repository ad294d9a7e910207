# Made by tools/make_proto.py from a schema of SHA-256 d09145e2aab3b3bdc1167d3a6b7dc2c1f7ec5dd85b4df7ed5df45b4071e35153.
# mypy: disable-error-code="type-arg"
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
    __slots__ = ("kind", "semantics", "whole_pretoken", "tokens", "merges", "merge_ids", "special_tokens", "added_tokens", "normalizers", "split", "provenance")
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
    def __init__(self, kind: _Optional[_Union[Kind, str]] = ..., semantics: _Optional[_Union[MergeSemantics, str]] = ..., whole_pretoken: bool = ..., tokens: _Optional[_Union[TokenTable, _Mapping]] = ..., merges: _Optional[bytes] = ..., merge_ids: _Optional[bytes] = ..., special_tokens: _Optional[_Union[TokenTable, _Mapping]] = ..., added_tokens: _Optional[_Union[TokenTable, _Mapping]] = ..., normalizers: _Optional[_Iterable[_Union[Normalizer, _Mapping]]] = ..., split: _Optional[_Union[Split, _Mapping]] = ..., provenance: _Optional[_Union[Provenance, _Mapping]] = ...) -> None: ...

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
    __slots__ = ("unicode_form", "lowercase", "replace", "prepend", "strip", "character_map")
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
        __slots__ = ("literal", "regex", "content", "dialect")
        LITERAL_FIELD_NUMBER: _ClassVar[int]
        REGEX_FIELD_NUMBER: _ClassVar[int]
        CONTENT_FIELD_NUMBER: _ClassVar[int]
        DIALECT_FIELD_NUMBER: _ClassVar[int]
        literal: str
        regex: str
        content: str
        dialect: Dialect
        def __init__(self, literal: _Optional[str] = ..., regex: _Optional[str] = ..., content: _Optional[str] = ..., dialect: _Optional[_Union[Dialect, str]] = ...) -> None: ...
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
    class CharacterMap(_message.Message):
        __slots__ = ("table",)
        TABLE_FIELD_NUMBER: _ClassVar[int]
        table: bytes
        def __init__(self, table: _Optional[bytes] = ...) -> None: ...
    UNICODE_FORM_FIELD_NUMBER: _ClassVar[int]
    LOWERCASE_FIELD_NUMBER: _ClassVar[int]
    REPLACE_FIELD_NUMBER: _ClassVar[int]
    PREPEND_FIELD_NUMBER: _ClassVar[int]
    STRIP_FIELD_NUMBER: _ClassVar[int]
    CHARACTER_MAP_FIELD_NUMBER: _ClassVar[int]
    unicode_form: Normalizer.UnicodeForm
    lowercase: Normalizer.Lowercase
    replace: Normalizer.Replace
    prepend: Normalizer.Prepend
    strip: Normalizer.Strip
    character_map: Normalizer.CharacterMap
    def __init__(self, unicode_form: _Optional[_Union[Normalizer.UnicodeForm, _Mapping]] = ..., lowercase: _Optional[_Union[Normalizer.Lowercase, _Mapping]] = ..., replace: _Optional[_Union[Normalizer.Replace, _Mapping]] = ..., prepend: _Optional[_Union[Normalizer.Prepend, _Mapping]] = ..., strip: _Optional[_Union[Normalizer.Strip, _Mapping]] = ..., character_map: _Optional[_Union[Normalizer.CharacterMap, _Mapping]] = ...) -> None: ...

class Split(_message.Message):
    __slots__ = ("stages",)
    STAGES_FIELD_NUMBER: _ClassVar[int]
    stages: _containers.RepeatedCompositeFieldContainer[Stage]
    def __init__(self, stages: _Optional[_Iterable[_Union[Stage, _Mapping]]] = ...) -> None: ...

class Stage(_message.Message):
    __slots__ = ("pattern", "dialect", "behavior", "invert", "unicode_version", "class_starts", "class_ids", "n_classes", "n_states", "transitions")
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
    def __init__(self, pattern: _Optional[str] = ..., dialect: _Optional[_Union[Dialect, str]] = ..., behavior: _Optional[_Union[Behavior, str]] = ..., invert: bool = ..., unicode_version: _Optional[str] = ..., class_starts: _Optional[bytes] = ..., class_ids: _Optional[bytes] = ..., n_classes: _Optional[int] = ..., n_states: _Optional[int] = ..., transitions: _Optional[bytes] = ...) -> None: ...

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
