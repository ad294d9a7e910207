"""Published vocabularies: the hashes of their files, their splits and special tokens.

A rank file says nothing about how text is split. For the vocabularies listed here that
is known; they are recognised by the SHA-256 of the file. The values are those of the
publishers' own code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

_OPENAI = "https://openaipublic.blob.core.windows.net/"

ENDOFTEXT = "<|endoftext|>"
_ENDOFPROMPT = "<|endofprompt|>"
_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")


class File(NamedTuple):
    """A file that OpenAI publishes.

    Attributes:
        url: Where.
        sha256: Of its contents, in hexadecimal.
        kind: "ranks" or "merges".
    """

    url: str
    sha256: str
    kind: str = "ranks"


R50K = File(
    _OPENAI + "encodings/r50k_base.tiktoken",
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
)
P50K = File(
    _OPENAI + "encodings/p50k_base.tiktoken",
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
)
CL100K = File(
    _OPENAI + "encodings/cl100k_base.tiktoken",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
)
O200K = File(
    _OPENAI + "encodings/o200k_base.tiktoken",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
)
GPT2_MERGES = File(
    _OPENAI + "gpt-2/encodings/main/vocab.bpe",
    "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    "merges",
)


class Encoding(NamedTuple):
    """One of the encodings that tiktoken offers by name.

    Attributes:
        files: Where its ranks can be taken from; any one of them will do.
        pattern: The name of its split.
        special_tokens: Its special tokens.
    """

    files: tuple[File, ...]
    pattern: str
    special_tokens: Callable[[], dict[str, int]]


def _gpt2_special() -> dict[str, int]:
    return {ENDOFTEXT: 50256}


def _p50k_edit_special() -> dict[str, int]:
    return {ENDOFTEXT: 50256} | {token: 50281 + i for i, token in enumerate(_FIM)}


def _cl100k_special() -> dict[str, int]:
    fim = {token: 100258 + i for i, token in enumerate(_FIM)}
    return {ENDOFTEXT: 100257} | fim | {_ENDOFPROMPT: 100276}


def _o200k_special() -> dict[str, int]:
    return {ENDOFTEXT: 199999, _ENDOFPROMPT: 200018}


def _harmony_special() -> dict[str, int]:
    named = {
        199998: "<|startoftext|>",
        199999: ENDOFTEXT,
        200002: "<|return|>",
        200003: "<|constrain|>",
        200005: "<|channel|>",
        200006: "<|start|>",
        200007: "<|end|>",
        200008: "<|message|>",
        200012: "<|call|>",
    }
    tokens = {
        named.get(number, f"<|reserved_{number}|>"): number
        for number in range(199998, 201088)
    }
    # This id has a second name; the one in use decodes.
    del tokens["<|reserved_200018|>"]
    return tokens | {_ENDOFPROMPT: 200018}


ENCODINGS: dict[str, Encoding] = {
    # GPT-2's two files and r50k_base's one say the same.
    "gpt2": Encoding((GPT2_MERGES, R50K), "gpt2", _gpt2_special),
    "r50k_base": Encoding((R50K,), "gpt2", _gpt2_special),
    "p50k_base": Encoding((P50K,), "gpt2", _gpt2_special),
    "p50k_edit": Encoding((P50K,), "gpt2", _p50k_edit_special),
    "cl100k_base": Encoding((CL100K,), "cl100k", _cl100k_special),
    "o200k_base": Encoding((O200K,), "o200k", _o200k_special),
    "o200k_harmony": Encoding((O200K,), "o200k", _harmony_special),
}


def _reserved(numbers: range, kind: str = "") -> list[str]:
    return [f"<|{kind}reserved_special_token_{i}|>" for i in numbers]


def _llama3_special() -> dict[str, int]:
    """Return Llama 3's; 3.1 and later rename some that are reserved here."""
    names = [
        "<|begin_of_text|>",
        "<|end_of_text|>",
        *_reserved(range(4)),
        "<|start_header_id|>",
        "<|end_header_id|>",
        *_reserved(range(4, 5)),
        "<|eot_id|>",
        *_reserved(range(5, 251)),
    ]
    return {name: 128000 + i for i, name in enumerate(names)}


def _llama4_special() -> dict[str, int]:
    text, vision = "text_post_train_", "vision_"
    names = [
        "<|begin_of_text|>",
        "<|end_of_text|>",
        *_FIM,
        *("<|header_start|>", "<|header_end|>", "<|eom|>", "<|eot|>", "<|step|>"),
        *_reserved(range(6), text),
        *("<|python_start|>", "<|python_end|>", "<|finetune_right_pad|>"),
        *_reserved(range(8, 69), text),
        *("<|image_start|>", "<|image_end|>"),
        *_reserved(range(2), vision),
        *("<|tile_x_separator|>", "<|tile_y_separator|>"),
        *_reserved(range(2, 6), vision),
        "<|image|>",
        *_reserved(range(6, 7), vision),
        "<|patch|>",
        *_reserved(range(7, 1048), vision),
        *_reserved(range(8), "reasoning_"),
        *("<|reasoning_thinking_start|>", "<|reasoning_thinking_end|>"),
    ]
    names += _reserved(range(2048 - len(names)))
    return {name: 200000 + i for i, name in enumerate(names)}


def _qwen_special() -> dict[str, int]:
    names = [ENDOFTEXT, "<|im_start|>", "<|im_end|>"]
    names += [f"<|extra_{i}|>" for i in range(205)]
    return {name: 151643 + i for i, name in enumerate(names)}


def _none() -> dict[str, int]:
    return {}


class RankFile(NamedTuple):
    """A rank file whose split is known.

    Attributes:
        name: What to call the vocabulary.
        pattern: The name of its split.
        special_tokens: The special tokens that belong to it.
        n_lines: How many lines it has.
        tenths: The beginnings, eight digits each, of the SHA-256 of its first tenth
            (n_lines // 10 lines), its first two tenths and so on up to nine.
    """

    name: str
    pattern: str
    special_tokens: Callable[[], dict[str, int]]
    n_lines: int
    tenths: str


RANK_FILES: dict[str, RankFile] = {
    R50K.sha256: RankFile(
        "r50k_base",
        "gpt2",
        _gpt2_special,
        50256,
        "b5f0d003 08ed0e59 f3287b2c a2abe3fb 7a6703fb 6db0c8b6 85b73b4e a23f03bc "
        "8fd3c34b",
    ),
    P50K.sha256: RankFile(
        "p50k_base",
        "gpt2",
        _gpt2_special,
        50280,
        "fb7d832b ff1f8e6e a0b9d422 926ebf37 bd7d8e4b b195e4b5 fbce7daa 30dcf17a "
        "355125f6",
    ),
    CL100K.sha256: RankFile(
        "cl100k_base",
        "cl100k",
        _cl100k_special,
        100256,
        "2d84144a bc100fcb 443d0898 3b22e22e 8248cb90 9b74b03a d1a00c8e b3b48322 "
        "fb1721ab",
    ),
    O200K.sha256: RankFile(
        "o200k_base",
        "o200k",
        _o200k_special,
        199998,
        "00ba0352 5f9f29f5 b96338f4 e28d7073 0199e18f e68e87be 20f96398 02ae6c74 "
        "13a8ea4b",
    ),
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": RankFile(
        "Llama 3",
        "llama3",
        _llama3_special,
        128000,
        "e8e0bfb0 e9881933 f57a3bd4 8e30a60c 36401724 1a0de913 9c7659fd e3c9fef7 "
        "6185e09f",
    ),
    "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed": RankFile(
        "Llama 4",
        "o200k",
        _llama4_special,
        200000,
        "3bf60c4e 18d1534f a9e506e0 09637b70 22cf3012 10b0cca8 35774f84 0c9916d9 "
        "1a410da8",
    ),
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186": RankFile(
        "Qwen",
        "qwen2",
        _qwen_special,
        151643,
        "a7eddca7 02936433 dd18cd21 8fb07883 53c4d391 efc92698 2bcc2eca d5aa4255 "
        "2864a5da",
    ),
    # Whisper's special tokens differ from one of its models to another.
    "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126": RankFile(
        "Whisper (multilingual)",
        "gpt2",
        _none,
        50257,
        "4bfa092e a95af76b 58ad9d62 36a74a35 ce6b0f1f eb3688bc ea8c99bc ce57ba70 "
        "11bf68be",
    ),
}
