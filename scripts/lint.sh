#!/bin/sh
# Check style and types; changes nothing. $PY is the Python to use (.venv's).
set -eu
cd "$(dirname "$0")/.."
py=${PY:-${VENV:-.venv}/bin/python}
clang_format=$(dirname "$py")/clang-format
[ -x "$clang_format" ] || clang_format=clang-format
"$py" -m ruff check --quiet .
"$py" -m ruff format --check --quiet .
"$py" -m mypy --no-error-summary
"$clang_format" --dry-run -Werror csrc/*.[ch] tests/c/*.[ch] \
    tests/fuzz/*.[ch] bench/*.[ch]
