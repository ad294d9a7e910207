"""Running the command line as users do: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pybpe


def environment() -> dict[str, str]:
    """Return an environment in which a child finds the pybpe under test."""
    return {**os.environ, "PYTHONPATH": str(Path(pybpe.__file__).parent.parent)}


class Result:
    """What a run of the program gave."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr.decode()


def pybpe_cli(*arguments: object, stdin: bytes = b"") -> Result:
    command = [sys.executable, "-m", "pybpe", *map(str, arguments)]
    return Result(
        subprocess.run(command, input=stdin, capture_output=True, env=environment())
    )


def succeed(*arguments: object, stdin: bytes = b"") -> bytes:
    result = pybpe_cli(*arguments, stdin=stdin)
    assert result.status == 0, result.err
    return result.out


def fail(*arguments: object, stdin: bytes = b"", status: int = 1) -> str:
    """Run what must fail; return the message, which is never a traceback."""
    result = pybpe_cli(*arguments, stdin=stdin)
    assert result.status == status, (result.out, result.err)
    assert "Traceback" not in result.err
    assert result.out == b""
    assert result.err.strip()
    return result.err
