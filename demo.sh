#!/bin/sh
# Install pybpe into a virtual environment (.venv, or $VENV) and run its main job: train
# on this repository's README, save, load, encode and decode, saying what it does.
#
#     ./demo.sh [arguments of `pybpe demo`]
set -eu
cd "$(dirname "$0")"
. scripts/venv.sh
exec "$py" -m pybpe demo "$@"
