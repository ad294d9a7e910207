# The one door for developers: `make help`. Nothing here is needed to install or use
# pybpe, and test.sh and demo.sh work without make.

PY ?= $(if $(wildcard .venv/bin/python),.venv/bin/python,python3)
export PY
CFILES = $(wildcard csrc/*.[ch] tests/c/*.[ch] tests/fuzz/*.[ch] bench/*.[ch])

.PHONY: help demo build test quick long ctest neon valgrind asan tsan fuzz fuzz-regress lint \
	format bench bench-page instructions dist proto unicode stub clean

help: ## Show this list.
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

demo: ## Install into .venv and run the main job on the README.
	./demo.sh

test: ## Install into .venv and run every test.
	./test.sh

build: ## Build the C core in place.
	$(PY) setup.py -q build_ext --inplace

quick: build ## Build in place and run the tests that take less than a second each.
	$(PY) -m pytest -q -m 'not slow'

long: build ## Run the tests that take minutes: an hour, and PYBPE_TEST_DATA, for all.
	$(PY) -m pytest -m long -n auto --dist worksteal

ctest: ## Run the C tests.
	$(PY) tests/c/run.py

neon: ## Run the C tests for aarch64 under emulation; needs its gcc and qemu-user.
	$(PY) tests/c/run.py --cross aarch64-linux-gnu

valgrind: ## Run the C tests under valgrind.
	$(PY) tests/c/run.py --valgrind

asan: ## Run the C tests and part of the Python tests under ASan and UBSan.
	scripts/asan.sh

tsan: ## Run the C tests of threads under ThreadSanitizer.
	$(PY) tests/c/run.py --sanitize thread

fuzz: ## Fuzz every target and reader for SECONDS=120 each; needs clang.
	$(PY) tests/fuzz/run.py --libfuzzer $(or $(SECONDS),120)
	$(PY) tests/fuzz/fuzz_readers.py --seconds $(or $(SECONDS),120)

fuzz-regress: ## Run the fuzz targets over their committed inputs.
	$(PY) tests/fuzz/run.py

lint: ## Check style and types.
	scripts/lint.sh

format: ## Format all the code.
	$(PY) -m ruff check --quiet --fix .
	$(PY) -m ruff format --quiet .
	PATH="$(dir $(PY)):$$PATH" clang-format -i $(CFILES)

bench: build ## Compare speed with other tokenizers; PYBPE_TEST_DATA has the texts.
	$(PY) bench/compare.py

bench-page: build ## Measure everything anew, with the tables and charts of docs/performance.md.
	$(PY) bench/compare.py --json bench/results.json
	$(PY) bench/report.py
	$(PY) bench/charts.py

instructions: build ## Count instructions against bench/instructions.json; needs valgrind.
	$(PY) bench/instructions.py

dist: ## Build the sdist and a wheel from it into dist/.
	$(PY) -m build

proto: ## Regenerate the protobuf modules from proto/.
	$(PY) tools/make_proto.py

unicode: ## Regenerate the Unicode tables.
	$(PY) tools/make_unicode_data.py

stub: ## Regenerate pybpe/_core.pyi from csrc/bpe.h.
	$(PY) tools/make_core_stub.py

clean: ## Remove what was built.
	rm -rf build dist *.egg-info pybpe/_core*.so pybpe/_core*.pyd
	find . -name __pycache__ -not -path './.venv/*' -exec rm -rf {} +
