# One purpose each; people and CI call the same targets.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Tests of whole runs, of commands and of programs, which test-fast leaves out.
WHOLE_RUNS := runs cli integration extending examples environments docs training benchmarks api own_graph/mcp \
  analysis/test_estimate.py analysis/test_explained.py analysis/test_publishing.py analysis/test_statistics_coverage.py \
  analysis/test_verify.py analysis/page analysis/report
USER_STAMP := $(VENV)/.installed
STAMP := $(VENV)/.installed-dev
GENERATED := README.md CONTRIBUTING.md docs/experiments.md docs/extending.md docs/method.md
export NO_MKDOCS_2_WARNING := 1
# Each command compiles all packages again where bytecode is not written.
export PYTHONDONTWRITEBYTECODE :=
# uv installs in a fraction of pip's time.
CHECK_PYTHON := $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "GraphWalk needs Python 3.11 or newer; $(PYTHON) is %d.%d. Try: make $(MAKECMDGOALS) PYTHON=python3.12" % sys.version_info[:2])'
CREATE_VENV := $(CHECK_PYTHON) && $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python

.PHONY: help quickstart test test-fast test-all test-docker check style types layers words generated figures audit docs format lock release bench coverage soak truth bench-peers pictures environments training-setup train-smoke magma-results walking-results untaught-results ray openai clean

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

quickstart: $(USER_STAMP) ## Generate graphs, run the scripted agents, print the table
	@$(BIN)/graphwalk run quickstart
	@echo "Before you type graphwalk or pip in this shell:  . $(BIN)/activate"

test: $(STAMP) check ## Lint, types, layers, documentation, and the tests of every change
	$(BIN)/pytest -n 3 --dist worksteal -m "not slow and not extended"

test-fast: $(STAMP) ## Tests of functions, while you work: no database, no browser, no whole run (under 3 minutes)
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow and not extended and not neo4j and not browser" $(WHOLE_RUNS:%=--ignore tests/%)

test-all: $(STAMP) check ## The same on every release of Neo4j, with outages, benchmarks and Docker
	$(BIN)/pytest -n 3 --dist worksteal -m "not slow" --hypothesis-profile random

test-docker: $(STAMP) ## docker-compose.yml, db up, the Dockerfile and testcontainers with a real engine (minutes); skipped without one
	$(BIN)/pytest -m docker -rs --durations 0 --durations-min 1

check: $(STAMP) ## All checks of `make test` that are no tests, two at a time
	@$(MAKE) --no-print-directory --jobs 2 types docs style layers words generated

style: $(STAMP) ## Format and lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP) ## Types
	$(BIN)/mypy

layers: $(STAMP) ## Import layers
	$(BIN)/lint-imports

words: $(STAMP) ## Spelling; the words of docs, help and docstrings
	$(BIN)/codespell
	$(BIN)/python .ci/prose.py README.md CONTRIBUTING.md SECURITY.md docs graphwalk tests templates tools benchmarks environments examples training .ci

generated: $(STAMP) ## Are the generated parts of README.md and docs up to date?
	$(BIN)/cog -I .ci --check $(GENERATED)

figures: $(STAMP) ## Rewrite the generated parts of README.md and docs, and the pictures of docs/results.md
	$(BIN)/cog -I .ci -r $(GENERATED) docs/results.md
	$(BIN)/python .ci/results.py

audit: $(STAMP) ## Look up known weaknesses of the locked packages
	$(BIN)/pip-audit --requirement requirements/run.txt --require-hashes --disable-pip

lock: $(STAMP) ## Choose the newest versions of all packages, with their digests
	$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --upgrade -q -o requirements/run.txt
	$(BIN)/uv pip compile pyproject.toml --extra dev --constraint requirements/run.txt --universal --python-version 3.11 --generate-hashes --no-header --upgrade -q -o requirements/dev.txt
	echo 'hatchling>=1.27' | $(BIN)/uv pip compile pyproject.toml --extra mcp - --constraint requirements/dev.txt --universal --python-version 3.11 --generate-hashes --no-header --upgrade -q -o requirements/image.txt

release: $(STAMP) audit ## Wheel, sdist and bill of materials in dist, the same bytes for the same commit
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/hatchling build -d dist
	$(BIN)/cyclonedx-py requirements --output-reproducible --pyproject pyproject.toml -o dist/graphwalk_agents.cdx.json requirements/run.txt
	cd dist && sha256sum * > SHA256SUMS && cat SHA256SUMS

docs: $(STAMP) ## The site, in build/site; fails on every warning
	$(BIN)/mkdocs build --strict
	@echo "build/site/index.html; with search: $(BIN)/mkdocs serve"

format: figures ## Fix formatting, and rewrite the generated parts of README and docs
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP) ## Print how fast it is, as ratios to the plain way
	$(BIN)/python -m benchmarks

coverage: $(STAMP) ## Simulate how often intervals and tests are right, and write it into docs/statistics.md (minutes)
	$(BIN)/python -m benchmarks.coverage

pictures: $(STAMP) ## Screenshots of the page in docs, taken with Chromium
	$(BIN)/python -m benchmarks.page_pictures tests/data/runs/questions

soak: $(STAMP) ## The slow tests: many kills, many graphs, many episodes (an hour and a half)
	$(BIN)/pytest -m slow --timeout 0

truth: ## Ask openCypher's TCK and networkx, and write docs/peers.md (minutes; installs in .venv-truth)
	test -d .venv-truth || $(PYTHON) -m venv .venv-truth
	.venv-truth/bin/python -m pip install --quiet --disable-pip-version-check -e '.[truth]'
	.venv-truth/bin/python -m benchmarks.truth

bench-peers: $(STAMP) ## Compare with inspect_ai and write the table of docs/peers.md (minutes; installs in .venv-peers)
	test -d .venv-peers || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check inspect_ai==0.3.285 openai .
	$(BIN)/python -m benchmarks.peers

environments: $(STAMP) ## Set up verifiers, inspect_ai, TRL and `datasets`, each in a .venv of its own, and run their slow tests (2 GB)
	test -d .venv-verifiers || $(PYTHON) -m venv .venv-verifiers
	.venv-verifiers/bin/python -m pip install --quiet --disable-pip-version-check -e . -e environments/verifiers
	test -d .venv-inspect || $(PYTHON) -m venv .venv-inspect
	.venv-inspect/bin/python -m pip install --quiet --disable-pip-version-check "inspect_ai>=0.3.285,<0.4" -e .
	.venv-inspect/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e environments/inspect
	test -d .venv-trl || $(PYTHON) -m venv .venv-trl
	.venv-trl/bin/python -m pip install --quiet --disable-pip-version-check "transformers>=5.2,<6" "datasets>=4.7" jinja2
	.venv-trl/bin/python -m pip install --quiet --disable-pip-version-check --no-deps "trl>=1.16,<2" accelerate
	$(BIN)/pytest -m slow --timeout 0 tests/environments

training-setup: ## What training takes, in .venv-training (gigabytes, with torch)
	test -d .venv-training || $(PYTHON) -m venv .venv-training
	.venv-training/bin/python -m pip install --quiet --disable-pip-version-check -r training/requirements.txt -e . -e environments/trl

train-smoke: training-setup ## The whole way of training in minutes: data, a tiny model, resuming, serving, a scored run, a GRPO step
	.venv-training/bin/python -m pip install --quiet --disable-pip-version-check hypothesis pytest pytest-asyncio pytest-socket pytest-timeout hypothesis jsonschema
	.venv-training/bin/pytest tests/training/test_serve.py tests/training/test_tune.py tests/training/test_walk_or_read.py
	.venv-training/bin/python -m training.smoke
	TRL_EXPERIMENTAL_SILENCE=1 .venv-training/bin/python -m training.check_grpo

# The runs of docs/results.md, with the options that were used. Repeat a target to resume.
PUPILS ?= build/pupils
PUBLISH ?= $(PUPILS)/results
LEARN ?= --tokens 15000000
BASE ?= HuggingFaceTB/SmolLM2-135M-Instruct
TEACH := .venv-training/bin/python -m training

magma-results: training-setup ## Teach MAGMA with and without intermediate steps, test the pupils of BASE, publish in PUBLISH (hours on two cores)
	$(TEACH).magma $(PUPILS)/magma --model $(BASE) --full --tokens 150000 --strategy io is --seeds 0 1 --algorithm bfs dfs dijkstra floyd_warshall mst_prim --train-nodes 5 7 --nodes 5 7 --count 10 --protocol paper --publish $(PUBLISH)

walking-results: training-setup ## Teach a pupil of BASE to walk and one to read, test them, publish in PUBLISH (minutes on a GPU); walk-0 and read-0: LEARN="--learnt-tokens 90000"
	$(TEACH).walk_or_read $(PUPILS)/walking --model $(BASE) --full $(LEARN) --graphs 700 --length 8192 --compile --reply 512 --publish $(PUBLISH)

untaught-results: $(USER_STAMP) ## Ask the untaught model NAME, which LOCAL_BASE_URL serves, and publish in PUBLISH (hours on two cores)
	mkdir -p $(PUPILS) $(PUBLISH)
	for what in comparison mazes graphwalks magma; do \
	  out=$(PUPILS)/$$what-$(NAME); \
	  if [ -d $$out ]; then $(BIN)/graphwalk resume $$out; else \
	    $(BIN)/graphwalk run training/untaught/$$what.yaml --model openai-api/local/$(NAME) --max-concurrency 1 --out $$out; \
	  fi && rm -f $(PUBLISH)/$$what-$(NAME).zip && $(BIN)/graphwalk publish $$out --out $(PUBLISH)/$$what-$(NAME).zip || exit; \
	done

ray: ## A run with Ray on this machine: a worker is killed, and the run is killed and resumed (700 MB in .venv-ray)
	test -d .venv-ray || $(PYTHON) -m venv .venv-ray
	.venv-ray/bin/python -m pip install --quiet --disable-pip-version-check -e '.[ray]' hypothesis pytest pytest-asyncio pytest-socket pytest-timeout
	.venv-ray/bin/python -m pytest tests/runs/test_on_ray.py

openai: $(STAMP) ## What uses OpenAI's client, with the oldest one that we name; the lock has the newest
	$(BIN)/uv pip install --quiet --target build/openai-2.44.0 'openai[aiohttp]==2.44.0'
	PYTHONPATH=build/openai-2.44.0 $(BIN)/pytest tests/own_graph/test_tools.py tests/models

$(USER_STAMP): pyproject.toml ## Install what running takes
	@test -d $(VENV) || { $(CREATE_VENV); }
	@echo "Installing into $(VENV) …"
	@$(INSTALL) -e .
	@touch $(USER_STAMP)

$(STAMP): pyproject.toml requirements/dev.txt ## Install what development takes, in the locked versions
	@test -d $(VENV) || { $(CREATE_VENV); }
	@echo "Installing what running, tests and documentation need into $(VENV) …"
	@$(INSTALL) --require-hashes -r requirements/dev.txt
	@$(INSTALL) --no-deps -e .
	@touch $(USER_STAMP) $(STAMP)

clean: ## Remove everything that other targets install or build
	rm -rf $(VENV) .venv-truth .venv-peers .venv-verifiers .venv-inspect .venv-trl .venv-training .venv-ray build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
