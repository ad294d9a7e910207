"""Readers of the vocabulary files of other tokenizers, one module per format."""
