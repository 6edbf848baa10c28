# `make demo` and `make test` set up all they need: a .venv here, from the lock file, with uv if it is there, else pip.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NODE_READY := tests/typescript/node_modules/.ready
SUITE_READY := tests/conformance/node_modules/.ready

.PHONY: help setup demo test conformance lint format bench lock clean

help:
	@echo "make demo    run an errand at a service that does not exist, and print the transcript"
	@echo "make test    run the tests"
	@echo "make conformance  run MCP's official conformance suite (needs npm)"
	@echo "make lint    ruff, mypy --strict, the import contract"
	@echo "make bench   run the benchmarks"
	@echo "make lock    write the lock file anew"

setup: $(READY)

$(READY): pyproject.toml requirements.lock
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --python '>=3.11' --allow-existing $(VENV) && \
	  uv pip install --quiet --python $(BIN)/python -r requirements.lock && \
	  uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .; \
	else \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; set PYTHON=..."; exit 1; }; \
	  $(PYTHON) -m venv $(VENV) && \
	  $(BIN)/pip install -qq --disable-pip-version-check -r requirements.lock && \
	  $(BIN)/pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	fi
	@touch $@

# The TypeScript clients that the tests talk through; without Node the tests that need them are skipped.
$(NODE_READY): tests/typescript/package-lock.json
	@if command -v npm >/dev/null 2>&1; then (cd tests/typescript && npm ci --silent --no-audit --no-fund --ignore-scripts) && touch $@; \
	else echo "npm is not there: tests with TypeScript clients will be skipped"; fi

demo: $(READY)
	@$(BIN)/mcp-world demo

test: $(READY) $(NODE_READY)
	@$(BIN)/pytest -n auto

# The official suite, in both versions that count, and the Node that it needs.
$(SUITE_READY): tests/conformance/package-lock.json
	@cd tests/conformance && npm ci --silent --no-audit --no-fund && touch node_modules/.ready

conformance: $(READY) $(SUITE_READY)
	@$(BIN)/pytest -m conformance tests/conformance

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(READY)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(READY)
	@$(BIN)/python -m benchmarks

lock:
	@uv pip compile --quiet --universal --python-version 3.11 --extra dev --no-header --no-annotate pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) tests/typescript/node_modules tests/conformance/node_modules .mypy_cache .ruff_cache .import_linter_cache dist
