# Sourced by demo.sh and test.sh, in the project's folder: make or reuse the virtual
# environment $VENV (.venv), build pybpe into it, and put its Python into $py.
#
# The network is needed the first time only: a requirement that is already met is not
# looked up again.

venv=${VENV:-.venv}

die() {
    echo "pybpe: $*" >&2
    exit 1
}

new_enough() {
    command -v "$1" >/dev/null 2>&1 &&
        "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

if ! new_enough "$venv/bin/python"; then
    python=
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if new_enough "$candidate"; then
            python=$candidate
            break
        fi
    done
    [ -n "$python" ] || die "needs Python 3.11 or newer; PYTHON=/path/to/python chooses one"
    echo "Making a virtual environment in $venv"
    "$python" -m venv "$venv" ||
        die "$python cannot make a virtual environment; on Debian: apt-get install python3-venv"
fi
py=$venv/bin/python

header=$("$py" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h
[ -f "$header" ] || die "$header is missing; on Debian: apt-get install python3-dev"
# shellcheck disable=SC2086  # CC may hold options
command -v ${CC:-cc} >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 ||
    die "needs a C compiler; on Debian: apt-get install gcc"

# pip 25.1 is the first that knows --group.
"$py" -m pip install -q 'pip>=25.1' 'setuptools>=77' 'cffi>=2.0'
echo "Building pybpe"
"$py" -m pip install -qq --no-build-isolation -e .
