"""Names of the formats that tokenizers are written in, and of roles of tokens.

By themselves, so that the command line knows them without loading the core.
"""

FORMATS = (
    "pybpe",
    "tiktoken",
    "tokenizer.json",
    "hf",
    "minbpe",
    "gpt2",
    "sentencepiece",
    "gguf",
)
ROLES = ("bos", "eos", "unk", "pad", "sep", "cls", "mask")
