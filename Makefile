# uv is taken from PATH; where there is none it is installed with pip into .uv/ and nothing else is touched.
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
PYTHON ?= python3
RUN := $(UV) run --no-progress

.PHONY: bench test test-whole check format screenshots help

help:
	@echo "make bench   set-up + the bake-off: tiny checkpoint, MLX against llama.cpp, report"
	@echo "make test    set-up + the tests of the suite itself"
	@echo "make test-whole  the same, with real runtimes asked hundreds of questions rather than a part of them"
	@echo "make check   lint and types"
	@echo "make format  format the code"
	@echo "make screenshots  the pictures of a report in docs/images, from a run of the tiny checkpoint"

.uv/bin/uv:
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --target .uv uv==0.13.9

ifeq ($(UV),.uv/bin/uv)
bench test test-whole check format screenshots: .uv/bin/uv
endif

bench:
	$(RUN) pytest tests_bench

test:
	$(RUN) pytest $(PYTEST_ARGS)

test-whole:
	BAKEOFF_TESTS=whole $(RUN) pytest $(PYTEST_ARGS)

check:
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy

format:
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

screenshots:
	$(RUN) python tools/screenshots.py $(RUN_DIR)
