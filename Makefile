# A fresh clone needs git, make and Python >= 3.11 (with venv); everything else is fetched into .venv and .cache.
# On Debian, as root, what is missing comes from apt.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.PHONY: start test provided collected check bench eval eval-retrieval peers

export UV_PYTHON_DOWNLOADS := never
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# What one process has compiled the others need not: tests start thousands.
unexport PYTHONDONTWRITEBYTECODE
# Behind a proxy with certificates of its own, those of the system are the right ones.
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt),)
export UV_SYSTEM_CERTS := 1
endif

BIN := .venv/bin
LOCKED := pyproject.toml uv.lock
RUNTIME := .venv/.runtime
DEVELOPMENT := .venv/.development
PROGRAMS := claude-code codex gemini opencode
SHARED := ../shared

start: $(RUNTIME)
	$(BIN)/mem start

# -n 4: many tests start an assistant, or a second process that holds a lock, and wait more than they compute.
test: provided
	$(BIN)/pytest -n 4 --dist worksteal -rs

# The programs of others that tests start.
provided: $(DEVELOPMENT)
	tools/provide.sh $(PROGRAMS)

# Else each of the workers would compile all tests for itself.
collected: $(DEVELOPMENT)
	$(BIN)/pytest --collect-only -qq >/dev/null

check: $(DEVELOPMENT)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python docs/generate.py --check

bench: $(DEVELOPMENT)
	$(BIN)/python -m bench.speed

# The labelled sets are not part of the repository: SHARED=FOLDER says where they lie. MODEL=BASE_URL asks a model that runs
# on this machine, too (OpenAI-compatible); a small one takes an hour.
eval: $(DEVELOPMENT)
	$(BIN)/python bench/extraction.py $(SHARED)/eval/extraction/dev.jsonl .cache/extraction.jsonl
	$(BIN)/python $(SHARED)/eval/extraction/score.py $(SHARED)/eval/extraction/dev.jsonl .cache/extraction.jsonl
	$(BIN)/python -m bench.with_models $(SHARED)/eval/extraction
	$(if $(MODEL),$(BIN)/python -m bench.with_models $(SHARED)/eval/extraction --real $(MODEL))
	$(BIN)/python -m bench.recall_quality $(SHARED)/eval/extraction/recall-dev.jsonl
	$(MAKE) eval-retrieval

# In parts: SETS="madial lifebench,lang=en". The table has what was measured before, too.
eval-retrieval: $(DEVELOPMENT)
	$(BIN)/python -m bench.retrieval $(SHARED)/eval/retrieval $(SETS)

# catmem beside what people would pick instead; their environments come from PyPI.
peers: $(DEVELOPMENT)
	$(BIN)/python -m bench.peers $(SHARED)/eval/retrieval

# --inexact: a `make start` between two `make test` does not take the tools away again.
# Start-up time matters to a hook, so everything it could import is compiled now.
$(RUNTIME): $(LOCKED) | .cache/bin/uv
	.cache/bin/uv sync --quiet --locked --no-dev --inexact --compile-bytecode
	$(BIN)/python -m compileall -q src
	touch $@

$(DEVELOPMENT): $(LOCKED) $(RUNTIME)
	.cache/bin/uv sync --quiet --locked --inexact --all-extras
	touch $@

.cache/bin/uv:
	tools/provide.sh uv
