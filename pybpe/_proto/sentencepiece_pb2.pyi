# Made by tools/make_proto.py from a schema of SHA-256 8de90336615d2aabde89969d0a9daf6ecc3efee9ebcfed6eee57c259047b487b.
# mypy: disable-error-code="type-arg,name-defined"
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf.internal import python_message as _python_message
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Algorithm(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    UNIGRAM: _ClassVar[Algorithm]
    BPE: _ClassVar[Algorithm]
    WORD: _ClassVar[Algorithm]
    CHAR: _ClassVar[Algorithm]
UNIGRAM: Algorithm
BPE: Algorithm
WORD: Algorithm
CHAR: Algorithm

class Model(_message.Message):
    __slots__ = ("pieces", "training", "normalizer", "denormalizer")
    Extensions: _python_message._ExtensionDict
    PIECES_FIELD_NUMBER: _ClassVar[int]
    TRAINING_FIELD_NUMBER: _ClassVar[int]
    NORMALIZER_FIELD_NUMBER: _ClassVar[int]
    DENORMALIZER_FIELD_NUMBER: _ClassVar[int]
    pieces: _containers.RepeatedCompositeFieldContainer[Piece]
    training: Training
    normalizer: Normalizer
    denormalizer: Normalizer
    def __init__(self, pieces: _Optional[_Iterable[_Union[Piece, _Mapping]]] = ..., training: _Optional[_Union[Training, _Mapping]] = ..., normalizer: _Optional[_Union[Normalizer, _Mapping]] = ..., denormalizer: _Optional[_Union[Normalizer, _Mapping]] = ...) -> None: ...

class Piece(_message.Message):
    __slots__ = ("text", "score", "type")
    Extensions: _python_message._ExtensionDict
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NORMAL: _ClassVar[Piece.Type]
        UNKNOWN: _ClassVar[Piece.Type]
        CONTROL: _ClassVar[Piece.Type]
        USER_DEFINED: _ClassVar[Piece.Type]
        UNUSED: _ClassVar[Piece.Type]
        BYTE: _ClassVar[Piece.Type]
    NORMAL: Piece.Type
    UNKNOWN: Piece.Type
    CONTROL: Piece.Type
    USER_DEFINED: Piece.Type
    UNUSED: Piece.Type
    BYTE: Piece.Type
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    text: bytes
    score: float
    type: Piece.Type
    def __init__(self, text: _Optional[bytes] = ..., score: _Optional[float] = ..., type: _Optional[_Union[Piece.Type, str]] = ...) -> None: ...

class Training(_message.Message):
    __slots__ = ("input", "input_format", "model_prefix", "algorithm", "vocab_size", "accept_language", "self_test_sample_size", "mining_sentence_size", "training_sentence_size", "character_coverage", "auto_character_coverage", "required_chars", "input_sentence_size", "shuffle_input_sentence", "max_sentence_length", "seed_piece_count", "shrinking_factor", "sub_iterations", "seed_pieces_file", "num_threads", "extremely_large_corpus", "max_piece_length", "split_by_unicode_script", "split_by_number", "split_by_whitespace", "split_digits", "pretokenization_delimiter", "treat_whitespace_as_suffix", "allow_whitespace_only_pieces", "control_symbols", "user_defined_symbols", "vocabulary_output_score", "hard_vocab_limit", "use_all_vocab", "byte_fallback", "unk_id", "bos_id", "eos_id", "pad_id", "unk_piece", "bos_piece", "eos_piece", "pad_piece", "unk_surface", "differential_privacy", "privacy_noise_level", "privacy_clipping_threshold")
    Extensions: _python_message._ExtensionDict
    INPUT_FIELD_NUMBER: _ClassVar[int]
    INPUT_FORMAT_FIELD_NUMBER: _ClassVar[int]
    MODEL_PREFIX_FIELD_NUMBER: _ClassVar[int]
    ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    VOCAB_SIZE_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    SELF_TEST_SAMPLE_SIZE_FIELD_NUMBER: _ClassVar[int]
    MINING_SENTENCE_SIZE_FIELD_NUMBER: _ClassVar[int]
    TRAINING_SENTENCE_SIZE_FIELD_NUMBER: _ClassVar[int]
    CHARACTER_COVERAGE_FIELD_NUMBER: _ClassVar[int]
    AUTO_CHARACTER_COVERAGE_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_CHARS_FIELD_NUMBER: _ClassVar[int]
    INPUT_SENTENCE_SIZE_FIELD_NUMBER: _ClassVar[int]
    SHUFFLE_INPUT_SENTENCE_FIELD_NUMBER: _ClassVar[int]
    MAX_SENTENCE_LENGTH_FIELD_NUMBER: _ClassVar[int]
    SEED_PIECE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SHRINKING_FACTOR_FIELD_NUMBER: _ClassVar[int]
    SUB_ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    SEED_PIECES_FILE_FIELD_NUMBER: _ClassVar[int]
    NUM_THREADS_FIELD_NUMBER: _ClassVar[int]
    EXTREMELY_LARGE_CORPUS_FIELD_NUMBER: _ClassVar[int]
    MAX_PIECE_LENGTH_FIELD_NUMBER: _ClassVar[int]
    SPLIT_BY_UNICODE_SCRIPT_FIELD_NUMBER: _ClassVar[int]
    SPLIT_BY_NUMBER_FIELD_NUMBER: _ClassVar[int]
    SPLIT_BY_WHITESPACE_FIELD_NUMBER: _ClassVar[int]
    SPLIT_DIGITS_FIELD_NUMBER: _ClassVar[int]
    PRETOKENIZATION_DELIMITER_FIELD_NUMBER: _ClassVar[int]
    TREAT_WHITESPACE_AS_SUFFIX_FIELD_NUMBER: _ClassVar[int]
    ALLOW_WHITESPACE_ONLY_PIECES_FIELD_NUMBER: _ClassVar[int]
    CONTROL_SYMBOLS_FIELD_NUMBER: _ClassVar[int]
    USER_DEFINED_SYMBOLS_FIELD_NUMBER: _ClassVar[int]
    VOCABULARY_OUTPUT_SCORE_FIELD_NUMBER: _ClassVar[int]
    HARD_VOCAB_LIMIT_FIELD_NUMBER: _ClassVar[int]
    USE_ALL_VOCAB_FIELD_NUMBER: _ClassVar[int]
    BYTE_FALLBACK_FIELD_NUMBER: _ClassVar[int]
    UNK_ID_FIELD_NUMBER: _ClassVar[int]
    BOS_ID_FIELD_NUMBER: _ClassVar[int]
    EOS_ID_FIELD_NUMBER: _ClassVar[int]
    PAD_ID_FIELD_NUMBER: _ClassVar[int]
    UNK_PIECE_FIELD_NUMBER: _ClassVar[int]
    BOS_PIECE_FIELD_NUMBER: _ClassVar[int]
    EOS_PIECE_FIELD_NUMBER: _ClassVar[int]
    PAD_PIECE_FIELD_NUMBER: _ClassVar[int]
    UNK_SURFACE_FIELD_NUMBER: _ClassVar[int]
    DIFFERENTIAL_PRIVACY_FIELD_NUMBER: _ClassVar[int]
    PRIVACY_NOISE_LEVEL_FIELD_NUMBER: _ClassVar[int]
    PRIVACY_CLIPPING_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    input: _containers.RepeatedScalarFieldContainer[str]
    input_format: str
    model_prefix: str
    algorithm: Algorithm
    vocab_size: int
    accept_language: _containers.RepeatedScalarFieldContainer[str]
    self_test_sample_size: int
    mining_sentence_size: int
    training_sentence_size: int
    character_coverage: float
    auto_character_coverage: bool
    required_chars: str
    input_sentence_size: int
    shuffle_input_sentence: bool
    max_sentence_length: int
    seed_piece_count: int
    shrinking_factor: float
    sub_iterations: int
    seed_pieces_file: str
    num_threads: int
    extremely_large_corpus: bool
    max_piece_length: int
    split_by_unicode_script: bool
    split_by_number: bool
    split_by_whitespace: bool
    split_digits: bool
    pretokenization_delimiter: str
    treat_whitespace_as_suffix: bool
    allow_whitespace_only_pieces: bool
    control_symbols: _containers.RepeatedScalarFieldContainer[str]
    user_defined_symbols: _containers.RepeatedScalarFieldContainer[str]
    vocabulary_output_score: bool
    hard_vocab_limit: bool
    use_all_vocab: bool
    byte_fallback: bool
    unk_id: int
    bos_id: int
    eos_id: int
    pad_id: int
    unk_piece: bytes
    bos_piece: bytes
    eos_piece: bytes
    pad_piece: bytes
    unk_surface: bytes
    differential_privacy: bool
    privacy_noise_level: float
    privacy_clipping_threshold: int
    def __init__(self, input: _Optional[_Iterable[str]] = ..., input_format: _Optional[str] = ..., model_prefix: _Optional[str] = ..., algorithm: _Optional[_Union[Algorithm, str]] = ..., vocab_size: _Optional[int] = ..., accept_language: _Optional[_Iterable[str]] = ..., self_test_sample_size: _Optional[int] = ..., mining_sentence_size: _Optional[int] = ..., training_sentence_size: _Optional[int] = ..., character_coverage: _Optional[float] = ..., auto_character_coverage: bool = ..., required_chars: _Optional[str] = ..., input_sentence_size: _Optional[int] = ..., shuffle_input_sentence: bool = ..., max_sentence_length: _Optional[int] = ..., seed_piece_count: _Optional[int] = ..., shrinking_factor: _Optional[float] = ..., sub_iterations: _Optional[int] = ..., seed_pieces_file: _Optional[str] = ..., num_threads: _Optional[int] = ..., extremely_large_corpus: bool = ..., max_piece_length: _Optional[int] = ..., split_by_unicode_script: bool = ..., split_by_number: bool = ..., split_by_whitespace: bool = ..., split_digits: bool = ..., pretokenization_delimiter: _Optional[str] = ..., treat_whitespace_as_suffix: bool = ..., allow_whitespace_only_pieces: bool = ..., control_symbols: _Optional[_Iterable[str]] = ..., user_defined_symbols: _Optional[_Iterable[str]] = ..., vocabulary_output_score: bool = ..., hard_vocab_limit: bool = ..., use_all_vocab: bool = ..., byte_fallback: bool = ..., unk_id: _Optional[int] = ..., bos_id: _Optional[int] = ..., eos_id: _Optional[int] = ..., pad_id: _Optional[int] = ..., unk_piece: _Optional[bytes] = ..., bos_piece: _Optional[bytes] = ..., eos_piece: _Optional[bytes] = ..., pad_piece: _Optional[bytes] = ..., unk_surface: _Optional[bytes] = ..., differential_privacy: bool = ..., privacy_noise_level: _Optional[float] = ..., privacy_clipping_threshold: _Optional[int] = ...) -> None: ...

class Normalizer(_message.Message):
    __slots__ = ("name", "charsmap", "add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces", "rule_file")
    Extensions: _python_message._ExtensionDict
    NAME_FIELD_NUMBER: _ClassVar[int]
    CHARSMAP_FIELD_NUMBER: _ClassVar[int]
    ADD_DUMMY_PREFIX_FIELD_NUMBER: _ClassVar[int]
    REMOVE_EXTRA_WHITESPACES_FIELD_NUMBER: _ClassVar[int]
    ESCAPE_WHITESPACES_FIELD_NUMBER: _ClassVar[int]
    RULE_FILE_FIELD_NUMBER: _ClassVar[int]
    name: str
    charsmap: bytes
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    escape_whitespaces: bool
    rule_file: str
    def __init__(self, name: _Optional[str] = ..., charsmap: _Optional[bytes] = ..., add_dummy_prefix: bool = ..., remove_extra_whitespaces: bool = ..., escape_whitespaces: bool = ..., rule_file: _Optional[str] = ...) -> None: ...
