# Every target sets up what it needs: a machine with Python 3.11+ and make is enough.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check --quiet
TESTS ?= tests
# One worker per core; "make test WORKERS=0" runs in one process, which is easier to debug.
# Tests that start clusters run after the others, by themselves: see tools/run_tests.py.
WORKERS ?= auto

# The real data sets are used where they lie beside the checkout; tests that need them skip otherwise.
ifndef ORTHANT_DATA_HOME
ifneq ($(wildcard ../shared/data),)
export ORTHANT_DATA_HOME := $(abspath ../shared/data)
endif
endif

.PHONY: help demo test check format test-oldest bench clean

help:  ## Show this help
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "orthant needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable ".[dev]"
	@touch $@ $(VENV)/installed

demo: $(VENV)/installed  ## Factorize a real data set in every setting, show the table, write pages
	$(BIN)/orthant demo

test: $(VENV)/installed-dev  ## Run all tests; TESTS=tests/onmf runs some
	$(BIN)/python tools/run_tests.py $(WORKERS) $(TESTS)

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

bench: $(VENV)/installed  ## Measure speed, memory and growth as ratios in one run
	$(BIN)/orthant bench

clean:  ## Remove the virtual environments and caches
	rm -rf .venv .venv-oldest .pytest_cache .mypy_cache .ruff_cache .hypothesis
