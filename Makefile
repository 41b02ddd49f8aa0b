# Everything a developer runs. `make` alone explains.
# Needs: Python 3.10-3.13, Java 17 and make. uv is taken from PATH or installed into .tools/.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Another Python for .venv: make clean setup PYTHON=3.13
PYTHON ?= >=3.10,<3.14
ARGS ?=

UV := $(shell command -v uv || echo .tools/bin/uv)
BIN := .venv/bin
# Written last by setup: younger than the lock file means the environment matches it.
SYNCED := .venv/.synced
# Three tests at a time, each side with a broker and a Spark session of its own: most tests wait most of their time.
# One after the other, in the order of the files: make test SIDE_BY_SIDE=
SIDE_BY_SIDE ?= -n 3 --no-loadscope-reorder --max-worker-restart=0

.PHONY: help setup check fmt docs-tables servers test test-fast cases cases-connect differential chaos bench bench-latency bench-growth bench-soak bench-interpreter bench-connect bench-connectors chaos-connect chaos-connectors demo example-mariadb-parquet example-postgres-join lock clean

help: ## Show this list
	@echo "penstock: Kafka Streams and Kafka Connect for Python, executed on Spark"
	@echo
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20
	@echo
	@echo "First time? 'make test-fast' sets everything up and runs the tests that need neither Java nor Kafka nor a database."
	@echo "One test:   $(BIN)/pytest tests/broker -k checksum"

setup: $(SYNCED) ## Create .venv from requirements.lock and install penstock into it (other targets do it for you)

.tools/bin/uv:
	python3 -m venv .tools
	.tools/bin/python -m pip install --quiet uv

$(SYNCED): requirements.lock pyproject.toml | $(filter .tools/bin/uv,$(UV))
	@[ -x $(BIN)/python ] || $(UV) venv --quiet --python '$(PYTHON)' .venv
	$(UV) pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

check: $(SYNCED) ## Lint, formatting, types and import direction
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

fmt: $(SYNCED) ## Format the code and apply the safe lint fixes
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

servers: ## Install PostgreSQL and MariaDB, which the tests of the database connectors start (apt-get; nothing if they are there)
	tests/servers/install.sh

test: $(SYNCED) ## All tests, with Spark and a local Kafka broker (needs Java 17)
	$(BIN)/pytest $(SIDE_BY_SIDE) $(ARGS)

test-fast: $(SYNCED) ## The tests without Spark, Kafka, Java and databases: a minute or two
	$(BIN)/pytest -n 2 -m "not spark and not broker and not database and not search and not slow" $(ARGS)

docs-tables: $(SYNCED) ## Write the generated tables of docs/connect again: settings, plugins, REST endpoints
	$(BIN)/python -m tests.connect.docs_tables

SEED ?= 1
COUNT ?= 2000
ROUNDS ?= 30

cases: $(SYNCED) ## The recorded cases of Kafka's own tests: make cases ARGS=other.jsonl
	$(BIN)/python -m tests.cases.run_streams $(or $(ARGS),tests/cases/data/streams.jsonl)

cases-connect: $(SYNCED) ## The recorded cases of Kafka Connect's own tests: make cases-connect ARGS=other.jsonl
	$(BIN)/python -m tests.cases.run_connect $(ARGS)

differential: $(SYNCED) ## Kafka Streams itself as the judge of random inputs: make differential SEED=7 COUNT=20000
	$(BIN)/python -m tests.differential --seed $(SEED) --count $(COUNT) $(ARGS)

chaos: $(SYNCED) ## Kill workers, drivers and brokers, and count what comes out: make chaos ROUNDS=30
	$(BIN)/python -m tests.chaos --rounds $(ROUNDS) $(ARGS)

bench: $(SYNCED) ## Throughput beside Kafka Streams and PySpark: make bench ARGS="--workloads w1 --runs 1"
	$(BIN)/python -m bench.throughput $(ARGS)

bench-latency: $(SYNCED) ## From a produced record to its visible result, beside Kafka Streams
	$(BIN)/python -m bench.latency $(ARGS)

bench-growth: $(SYNCED) ## Throughput, memory and restarts with up to five million keys
	$(BIN)/python -m bench.growth $(ARGS)

bench-soak: $(SYNCED) ## Half the maximum load for long: make bench-soak ARGS="--minutes 30"
	$(BIN)/python -m bench.soak $(ARGS)

bench-interpreter: $(SYNCED) ## What the interpreter costs against hand-written loops
	$(BIN)/python -m bench.interpreter $(ARGS)

bench-connect: $(SYNCED) ## A file sink beside Kafka Connect, and what idle connectors cost
	$(BIN)/python -m bench.connect $(ARGS)

bench-connectors: $(SYNCED) ## Connectors of databases beside plain loops of their drivers: make bench-connectors ARGS="--only jdbc_sink"
	$(BIN)/python -m bench.connectors $(ARGS)

chaos-connect: $(SYNCED) ## File to topic to file while the worker is killed: every line once
	$(BIN)/python -m tests.chaos.connect $(ARGS)

chaos-connectors: $(SYNCED) ## A table to a topic to a table and files while the worker is killed: make chaos-connectors ARGS="--rounds 3"
	$(BIN)/python -m tests.chaos.connectors $(ARGS)

demo: $(SYNCED) ## Run the demo application: make demo ARGS="--help"
	$(BIN)/penstock demo $(ARGS)

example-mariadb-parquet: $(SYNCED) ## MariaDB to a topic to Parquet, read by Spark: servers, connectors and all
	$(BIN)/python -m examples.mariadb_parquet.run

example-postgres-join: $(SYNCED) ## PostgreSQL to topics to a join to PostgreSQL: servers, connectors, streams and all
	$(BIN)/python -m examples.postgres_join.run

lock: | $(filter .tools/bin/uv,$(UV)) ## Resolve the dependencies of pyproject.toml again into requirements.lock
	$(UV) pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes --no-emit-index-url \
		--custom-compile-command "make lock" --group dev --output-file requirements.lock pyproject.toml

clean: ## Remove the environment, caches and build output
	rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
