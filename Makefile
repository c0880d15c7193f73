# `make help` lists the targets; pre-commit and CI call the same ones.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
NIELLO := $(BIN)/niello

.DEFAULT_GOAL := help
.PHONY: help setup demo fix check test e2e e2e-nvim e2e-vscode pictures bench peers clean

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

setup: $(BIN)/.ready ## make .venv and install Niello with its development tools

demo: setup ## fetch the default model once, then fill three places in examples/
	$(NIELLO) models pull default
	$(NIELLO) demo

fix: setup ## format the code and repair what ruff can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

check: setup ## lint and type-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: setup check ## the whole suite, the real default model included
	$(NIELLO) models pull default
	$(BIN)/pytest

e2e: setup ## only the tests that start a server or an editor
	$(NIELLO) models pull default
	$(BIN)/pytest -m e2e

e2e-nvim: setup ## the plugin in a real Neovim, also with the default model
	$(NIELLO) models pull default
	$(BIN)/pytest tests/e2e -k neovim

editors/vscode/niello.vsix: $(shell find editors/vscode/src editors/vscode/walkthrough) \
		editors/vscode/package.json
	cd editors/vscode && npm ci --no-audit --no-fund && npm run check && npm run package

e2e-vscode: setup editors/vscode/niello.vsix ## the extension in a real VS Code (builds it once, minutes)
	$(NIELLO) models pull default
	tests/e2e/vscode/build_host.sh
	PYTHON=$(abspath $(BIN)/python) node --test --test-concurrency=1 tests/e2e/vscode/

pictures: setup editors/vscode/niello.vsix ## the editors' pictures and keystroke times, from the real thing
	$(NIELLO) models pull default
	PYTHONPATH=src:tests $(BIN)/python -m e2e.neovim_picture
	PYTHONPATH=src:tests $(BIN)/python -m e2e.neovim_latency
	tests/e2e/vscode/build_host.sh
	PYTHON=$(abspath $(BIN)/python) node tests/e2e/vscode/latency.mjs

bench: setup ## the numbers of the README (needs DATA=folder of HumanEval-Infilling)
	$(NIELLO) bench infill --data $(DATA) --set single

peers: setup ## beside llama.cpp and transformers, installed here (needs DATA, Node.js)
	$(NIELLO) models pull default
	$(BIN)/python bench/peers/run.py --data $(DATA) --with-transformers --json

clean: ## remove what the other targets made (models stay in their cache)
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
