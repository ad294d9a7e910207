#!/bin/sh
# Install pybpe and all that its tests need into a virtual environment (.venv, or $VENV)
# and run them: first the C tests, then the Python tests.
#
#     ./test.sh [arguments of pytest]
#
# Without arguments the Python tests run on all processors at once.
#
# PYBPE_TEST_DATA names the folder of outside test data; without it the tests that need
# it are skipped. CI=1 makes it an error when the tokenizers to compare with cannot be
# installed.
set -eu
cd "$(dirname "$0")"
. scripts/venv.sh
"$py" -m pip install -q --group test
"$py" -m pip install -q --group oracle || {
    [ -z "${CI:-}" ] || die "the tokenizers to compare with could not be installed"
    echo "No tokenizers to compare with here: tests marked 'oracle' will be skipped" >&2
}
"$py" tests/c/run.py
[ $# -gt 0 ] || set -- -n auto --dist worksteal
exec "$py" -m pytest "$@"
