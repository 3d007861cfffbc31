# Every command sets up what it needs in its own virtual environment; only Python >= 3.11 must be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# What the kernels are compiled from, when lowdim is installed.
KERNELS := hatch_build.py $(shell find src -name '*.[ch]')

.PHONY: demo figures test lint check-slow check-full check-coverage check-mutants test-lowest lock sbom check-sanitizers wheels bench bench-everyday lecture5 page chromium clean

demo: $(VENV)/.demo  ## PCA of the lecture's tables and of a made-up map; leaves pictures in out/
	$(BIN)/python examples/demo.py out

figures: $(VENV)/.test  ## every picture of docs/plots.md, from bundled data and those in LOWDIM_DATA
	$(BIN)/python examples/figures.py docs/figures

# Neighbours stay on one worker, which shares their fits and finds compiled what it compiled; an idle one takes the rest.
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal --durations=20
# Byte code is kept, whatever the shell says: tests start many processes, and two workers read every test.
test check-slow check-full: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/.test chromium  ## all quick tests and doctests
	$(PYTEST) -m "not slow"

check-slow: $(VENV)/.test check-sanitizers  ## the tests that take longer
	$(PYTEST) -m slow

check-full: export LOWDIM_FULL = 1
check-full: check-slow  ## the same with as many cases as tests/harness.py states; prints what was tried

check-coverage: export PYTHONDONTWRITEBYTECODE =
check-coverage: $(VENV)/.test chromium  ## which branches the quick tests take; fails below 95 %
	$(PYTEST) -m "not slow" --cov --cov-report=term --cov-fail-under=95

SAMPLE ?= 100
check-mutants: $(VENV)/.test  ## small changes of solvers, results and sources that no near test notices
	$(BIN)/python tests/mutants.py --sample $(SAMPLE)

LOWEST := .venv-lowest
test-lowest: $(VENV)/.python  ## the tests of models, solvers and results with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) supply/lowest.py > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip install --quiet -c $(LOWEST)/lowest.txt -e ".[all]" \
		pytest pytest-timeout hypothesis "pandas<3" polars mpmath openpyxl safetensors
	$(LOWEST)/bin/python -m pytest -q -m "not slow" tests/models tests/solvers tests/results tests/matrices tests/sources

lock: $(VENV)/.test  ## the sums of all files of all pins, from the package index
	$(BIN)/python supply/lock.py

sbom: $(VENV)/.test  ## what lowdim is made of, with versions and licences
	mkdir -p out && $(BIN)/python supply/sbom.py > out/sbom.json

SANITIZERS = $(shell $(CC) -print-file-name=libasan.so) $(shell $(CC) -print-file-name=libubsan.so)

check-sanitizers: $(VENV)/.test  ## tests of kernels that are compiled with checks of addresses and undefined behaviour
	LOWDIM_SANITIZE=1 $(BIN)/python hatch_build.py out/sanitized
	LOWDIM_TEST_LIBRARIES=out/sanitized LD_PRELOAD="$(SANITIZERS)" ASAN_OPTIONS=detect_leaks=0 \
		$(BIN)/python -m pytest -q -m kernels --timeout 1200 tests

wheels: $(VENV)/.wheels  ## wheels for every system, and one without kernels, into dist/
	for target in linux-x86-64 linux-arm64 macos-x86-64 macos-arm64 windows-x86-64; do \
		LOWDIM_TARGET=$$target $(BIN)/python -m build --wheel || exit 1; done
	LOWDIM_PURE=1 $(BIN)/python -m build --wheel
	$(BIN)/python -m build --sdist
	$(BIN)/python hatch_build.py  # this machine's own again

lint: $(VENV)/.lint  ## format, lint and types: ours, and what users' type checkers see of them
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/typing

bench: $(VENV)/.bench  ## peers and lowdim side by side; writes docs/benchmarks.md
	$(BIN)/python benchmarks/run.py

page: $(VENV)/.test  ## the report's script and style from frontend/, with Node of the test environment
	$(BIN)/python frontend/build.py

chromium:  ## a browser for the tests of the report page, where Debian's can be installed
	@sh frontend/chromium.sh

bench-everyday: $(VENV)/.bench  ## what most people fit, beside scikit-learn: that table of docs/benchmarks.md anew
	$(BIN)/python benchmarks/run.py everyday

lecture5: $(VENV)/.bench  ## lecture 5's table and figure: PCA, logistic PCA and deep autoencoders of MNIST (LOWDIM_DATA)
	$(BIN)/python benchmarks/lecture5.py

$(VENV)/.python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "lowdim needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.demo: $(VENV)/.python pyproject.toml constraints.txt $(KERNELS)
	$(PIP) -e ".[files,plots]"
	touch $@

$(VENV)/.test: $(VENV)/.python pyproject.toml constraints.txt $(KERNELS)
	$(PIP) -e ".[test]"
	touch $@

$(VENV)/.lint: $(VENV)/.python pyproject.toml constraints.txt $(KERNELS)
	$(PIP) -e ".[test,lint]"
	touch $@

$(VENV)/.wheels: $(VENV)/.python
	$(PIP) build
	touch $@

$(VENV)/.bench: $(VENV)/.python pyproject.toml constraints.txt $(KERNELS)
	$(PIP) -e ".[bench]"
	touch $@

clean:
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache .hypothesis
