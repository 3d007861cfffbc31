# Every command sets up what it needs in its own virtual environment; only Python >= 3.11 must be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint check-slow bench lecture5 clean

demo: $(VENV)/.demo  ## PCA of the lecture's tables and of a made-up map; leaves pictures in out/
	$(BIN)/python examples/demo.py out

test: $(VENV)/.test  ## all quick tests and doctests
	$(BIN)/python -m pytest -n 2 -m "not slow"

check-slow: $(VENV)/.test  ## the tests that take longer
	$(BIN)/python -m pytest -n 2 -m slow

lint: $(VENV)/.lint  ## format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/.bench  ## peers and lowdim side by side; writes docs/benchmarks.md
	$(BIN)/python benchmarks/run.py

lecture5: $(VENV)/.bench  ## lecture 5's table and figure: PCA, logistic PCA and deep autoencoders of MNIST (LOWDIM_DATA)
	$(BIN)/python benchmarks/lecture5.py

$(VENV)/.python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "lowdim needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.demo: $(VENV)/.python pyproject.toml constraints.txt
	$(PIP) -e ".[files,plots]"
	touch $@

$(VENV)/.test: $(VENV)/.python pyproject.toml constraints.txt
	$(PIP) -e ".[test]"
	touch $@

$(VENV)/.lint: $(VENV)/.python pyproject.toml constraints.txt
	$(PIP) -e ".[test,lint]"
	touch $@

$(VENV)/.bench: $(VENV)/.python pyproject.toml constraints.txt
	$(PIP) -e ".[bench]"
	touch $@

clean:
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache .hypothesis
