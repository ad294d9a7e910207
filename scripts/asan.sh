#!/bin/sh
# Run the C tests, the fuzz targets over their inputs, damaged files through the readers,
# and the Python tests that work the C core hardest, under AddressSanitizer and
# UndefinedBehaviorSanitizer. $PY is the Python to use (.venv's).
#
#     scripts/asan.sh [c | python [arguments of pytest]]
#
# Without arguments both are run: what is in C, and then what is in Python. The sanitized
# core goes to build/asan/, so the one in pybpe/ stays as it is.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
py=${PY:-${VENV:-.venv}/bin/python}
case $py in /*) ;; */*) py=$root/$py ;; esac
if [ -n "${PYBPE_TEST_DATA:-}" ]; then
    PYBPE_TEST_DATA=$(cd "$PYBPE_TEST_DATA" && pwd)
fi

part=${1:-}
case $part in
"") ;;
c | python) shift ;;
*)
    echo "usage: scripts/asan.sh [c | python [arguments of pytest]]" >&2
    exit 2
    ;;
esac
if [ "$part" != python ]; then
    "$py" tests/c/run.py --sanitize address,undefined
    "$py" tests/fuzz/run.py --sanitize address,undefined
fi
[ "$part" != c ] || exit 0

# Modules that are no more must not stay behind in the copy.
if [ -d build/asan/lib ]; then
    find build/asan/lib -name '*.py' -delete
fi
PYBPE_SANITIZE=address,undefined "$py" setup.py -q build \
    --build-base build/asan/base --build-lib build/asan/lib

# Our own library is loaded by a Python that knows nothing of the sanitizer, so the
# runtime has to come first; and Python's own allocations at exit are no leaks of ours.
LD_PRELOAD=$("${CC:-gcc}" -print-file-name=libasan.so)
export LD_PRELOAD
export PYTHONMALLOC=malloc
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
# The sanitized pybpe/ first; then the root, where spawned processes look for tests/.
export PYTHONPATH="$root/build/asan/lib:$root"
cd build/asan # elsewhere than the folder that holds the plain pybpe/

"$py" -c '
import sys, pybpe._core
if "build/asan/lib" not in pybpe._core.__file__:
    sys.exit(f"tested the wrong build: {pybpe._core.__file__}")
'
"$py" "$root/tests/fuzz/fuzz_readers.py" --count 150 --seconds 60
tests=
for name in ${ASAN_TESTS:-test_tokenizer test_special_tokens test_decoding test_concurrency \
    test_encode_exact test_split test_model_file test_model_file_damage test_training \
    test_training_counts test_counts test_training_exact test_sentencepiece_file \
    test_codepoint_tokenizer}; do
    tests="$tests $root/tests/$name.py"
done
export HYPOTHESIS_PROFILE=dev
# shellcheck disable=SC2086  # a list of words
exec "$py" -m pytest -q -p no:cacheprovider -n auto --dist worksteal \
    -m 'not slow and not oracle' $tests "$@"
