# Every target sets up what it needs: a machine with Python 3.11+ and make is enough.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check --quiet
TESTS ?= tests
# One worker per core; "make test WORKERS=0" runs in one process, which is easier to debug.
# Tests that start clusters run in a process next to the others: see tools/run_tests.py.
WORKERS ?= auto

# Tests and pages that need the real data sets read them from the folder that ORTHONMF_DATA_HOME
# names, and skip without it.

.PHONY: help demo tensors test check format test-oldest bench reproduce docs reliability dist clean

help:  ## Show this help
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "orthonmf needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable ".[dev]"
	@touch $@ $(VENV)/installed

$(VENV)/installed-docs: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable ".[docs]"
	@touch $@ $(VENV)/installed

$(VENV)/installed-dist: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable ".[dist]"
	@touch $@ $(VENV)/installed

demo: $(VENV)/installed  ## Factorize a real data set in every setting, show the table, write pages
	$(BIN)/orthonmf demo

test: $(VENV)/installed-dev  ## Run all tests; TESTS=tests/onmf runs some
	$(BIN)/python tools/run_tests.py $(WORKERS) $(TESTS)

# Tensors are an extra; without Triton the kernels are not interpreted, and their test says so.
tensors: $(VENV)/installed-dev  ## Add torch, and Triton where it can be had, for the tests of tensors
	$(PIP) install torch==2.13.0
	$(PIP) install triton==3.9.0 || echo "Triton cannot be installed here"

check: $(VENV)/installed-dev  ## Lint, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/installed-dev  ## Format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test-oldest:  ## Run the tests with the oldest dependencies that are promised to work
	$(MAKE) VENV=.venv-oldest .venv-oldest/installed-oldest
	.venv-oldest/bin/python tools/run_tests.py $(WORKERS) $(TESTS)

.venv-oldest/installed-oldest: pyproject.toml tools/oldest.py | $(VENV)/bin/python
	$(BIN)/python tools/oldest.py > $(VENV)/oldest.txt
	$(PIP) install --editable ".[dev]" --constraint $(VENV)/oldest.txt
	@touch $@

bench: $(VENV)/installed-dev  ## Measure speed, memory and growth as ratios in one run
	$(BIN)/python -m benchmarks $(NAMES)

reproduce: $(VENV)/installed-dev  ## Run the paper's experiments again; goes on where it ended
	$(BIN)/python -m experiments all

docs: $(VENV)/installed-docs  ## Build the site in build/site; warnings are errors
	$(BIN)/sphinx-build --fail-on-warning --keep-going -d build/doctrees docs build/site

reliability: $(VENV)/installed-dev  ## Try hard inputs and hostile files, write docs/reliability.md
	$(BIN)/python -m benchmarks reliability --write docs/reliability.md

dist: $(VENV)/installed-dist  ## Build wheel and sdist, check them, try the wheel by itself
	$(BIN)/python tools/make_dist.py

clean:  ## Remove the virtual environments and caches
	rm -rf build dist docs/generated docs/tutorials .venv .venv-oldest .pytest_cache .mypy_cache .ruff_cache .hypothesis
