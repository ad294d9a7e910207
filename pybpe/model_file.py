r"""Write models to files and read them back.

A model file is a header of 48 bytes and a protobuf message:

    offset  size  what
    0       8     magic: 89 70 79 62 70 65 0D 0A ("\x89pybpe\r\n")
    8       4     format version, little-endian: 1
    12      4     size of the message in bytes, little-endian
    16      32    SHA-256 of the message
    48      ...   the message: pybpe.v1.Model of proto/pybpe.proto

The magic is not text and holds a line end, so that a transfer as text is noticed; the
size tells a truncated file from a damaged one. The format version changes when an
existing field changes its meaning, which has not happened: additions are new fields,
and a reader refuses fields that it does not know.

The SHA-256 finds accidents, not attacks: anyone can compute it. So nothing that a file
says is believed without a look at the data that are there, and loading takes memory in
proportion to the size of the file.
"""

from __future__ import annotations

import hashlib
import os
import struct

from pybpe import _model_message
from pybpe._typing import TYPE_CHECKING
from pybpe.errors import ModelError

if TYPE_CHECKING:
    from typing import IO

    from pybpe._engines import AnyModel

MAGIC = b"\x89pybpe\r\n"
FORMAT_VERSION = 1
# Larger than any model can be within the other limits; protobuf's own is 2^31 - 1.
MAX_MESSAGE = 1 << 30

_HEADER = struct.Struct("<8sII32s")
# How much of the beginning is read first: enough to say what another file is.
_HEAD = 4096
_CHUNK = 1 << 20


def model_to_bytes(model: AnyModel) -> bytes:
    """Return the contents of a model file.

    Equal content with equal provenance gives equal bytes.

    Args:
        model: What to write.

    Raises:
        ModelError: The model's parts do not fit together.
    """
    try:
        message = _model_message.to_message(model)
        if len(message) > MAX_MESSAGE:
            raise ModelError(
                f"it takes {len(message):,} bytes; the limit is {MAX_MESSAGE:,}"
            )
    except ModelError as error:
        raise ModelError(f"cannot write the model: {error}") from None
    digest = hashlib.sha256(message).digest()
    return _HEADER.pack(MAGIC, FORMAT_VERSION, len(message), digest) + message


def model_from_bytes(data: bytes | bytearray | memoryview) -> AnyModel:
    """Read what `model_to_bytes` wrote.

    Args:
        data: The whole contents of a model file.

    Raises:
        ModelError: `data` is not a model file, is damaged, or needs a newer pybpe.
        TypeError: `data` is not bytes.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"data must be bytes, got {type(data).__name__}")
    data = bytes(data)
    try:
        size, digest = _read_header(data[:_HEAD])
        return _read_message(data[_HEADER.size :], size, digest)
    except ModelError as error:
        raise ModelError(f"cannot read the model: {error}") from None


def save_model(model: AnyModel, path: str | os.PathLike[str]) -> None:
    """Write a model file, whole or not at all.

    The data go to a temporary file in the same folder, which then takes the place of
    `path`. A file that was there is intact until that moment, and keeps its permission
    bits; a new one gets those that `open` would give. A symbolic link is followed: its
    target is replaced. Devices and pipes are written to directly.

    Args:
        model: What to write.
        path: Where to.

    Raises:
        ModelError: The model's parts do not fit together.
        OSError: The file cannot be written; what was there is still there.
    """
    from pybpe._whole_file import whole_file

    data = model_to_bytes(model)
    with whole_file(path) as file:
        file.write(data)


def load_model(path: str | os.PathLike[str]) -> AnyModel:
    """Read a model file.

    Args:
        path: The file.

    Raises:
        ModelError: It is not a model file (the message says what it looks like), is
            damaged, or needs a newer pybpe.
        OSError: It cannot be read.
    """
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib takes 3 ms to import
        try:
            head = _read_up_to(file, _HEAD)
            size, digest = _read_header(head)
            # One byte more than there should be, to notice when there are more.
            more = _HEADER.size + size + 1 - len(head)
            data = _read_up_to(file, more, head[_HEADER.size :])
            return _read_message(data, size, digest)
        except ModelError as error:
            raise ModelError(f"cannot load {os.fspath(path)!r}: {error}") from None


def is_model_file(head: bytes) -> bool:
    """Say whether a file that begins with `head`, 8 bytes at least, is a model file."""
    return head.startswith(MAGIC)


def fingerprint(model: AnyModel) -> str:
    """Return the SHA-256 of everything that decides a model's ids, in hexadecimal.

    It covers the message of the model file without the provenance.

    Args:
        model: Any model that can be saved.

    Raises:
        ModelError: The model's parts do not fit together.
    """
    content = _model_message.to_message(model, provenance=False)
    return hashlib.sha256(content).hexdigest()


def _read_header(head: bytes) -> tuple[int, bytes]:
    """Check the beginning of a file; return the message's size and SHA-256."""
    if not is_model_file(head):
        if head and MAGIC.startswith(head):
            raise _truncated(len(head), _HEADER.size)
        from pybpe import _sniff

        what, remedy = _sniff.describe(head)
        raise ModelError(f"not a pybpe model but {what}; {remedy}")
    if len(head) < _HEADER.size:
        raise _truncated(len(head), _HEADER.size)
    _, version, size, digest = _HEADER.unpack_from(head)
    if version != FORMAT_VERSION:
        raise ModelError(
            f"it is a pybpe model of format version {version}, and this version of "
            f"pybpe reads version {FORMAT_VERSION}; upgrade pybpe"
        )
    if size > MAX_MESSAGE:
        raise ModelError(
            f"its header announces {size:,} bytes; the limit is {MAX_MESSAGE:,}"
        )
    return size, digest


def _read_message(message: bytes, size: int, digest: bytes) -> AnyModel:
    """Check a message against its header and read it."""
    if len(message) < size:
        raise _truncated(_HEADER.size + len(message), _HEADER.size + size)
    if len(message) > size:
        raise ModelError(
            f"more data follow after its {_HEADER.size + size:,} bytes; restore it "
            "from a good copy"
        )
    if hashlib.sha256(message).digest() != digest:
        raise ModelError(
            "it is damaged: its contents do not have the SHA-256 that its header "
            "gives; restore it from a good copy"
        )
    return _model_message.from_message(message)


def _truncated(found: int, expected: int) -> ModelError:
    """Describe a file that ends too early."""
    return ModelError(
        f"it is truncated: {found:,} of at least {expected:,} bytes are there; restore "
        "it from a good copy"
    )


def _read_up_to(file: IO[bytes], n: int, before: bytes = b"") -> bytes:
    """Read `n` bytes, or fewer at the end of the file; return them behind `before`.

    In chunks, so that memory is taken for what is there, not for what is announced.
    """
    chunks = [before]
    while n > 0 and (chunk := file.read(min(n, _CHUNK))):
        chunks.append(chunk)
        n -= len(chunk)
    return b"".join(chunks)
