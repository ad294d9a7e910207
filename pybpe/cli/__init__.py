"""The command line: train, encode, decode, info, inspect, convert and demo.

A thin layer over the Python API. Data go through stdin and stdout as bytes, everything
else (progress, messages) goes to stderr. Exit status: 0 success, 1 the work failed,
2 wrong usage, 130 Ctrl-C. A user's mistake gives one line on stderr, never a traceback.
"""

from pybpe.cli.program import main

__all__ = ["main"]
