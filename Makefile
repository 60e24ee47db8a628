# The verbs of the project. `make help` lists them; each sets up .venv first when it must.

PRESET ?= fermi
SET ?=
KERNEL ?= hotspot
PROGRAMS ?= 10000
SEED ?= new
PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.complete
SETS := $(foreach setting,$(SET),--set '$(setting)')
SETTINGS := --preset $(PRESET) $(SETS)

# As many workers as there are processors, each with hardware of its own, in the order of conftest.py.
PYTEST := $(VENV)/bin/pytest -n auto --dist loadgroup --no-loadscope-reorder --durations 10

# A test that waits for ever fails after so many seconds, with its name and its stacks, and the others go on.
HANGS := -o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true

# What blocks of Python in pages call.
PAGES := from warploom import documents; from warploom.evaluation import calibration, pages

# Bytecode is kept even where the environment forbids it: tests start hundreds of processes of the same sources.
unexport PYTHONDONTWRITEBYTECODE

# What the project finds out about itself it keeps apart from what users keep (conftest.py).
regress: export WARPLOOM_CACHE ?= $(CURDIR)/build

.PHONY: help setup run test lint docs compiled results prices verilog regress synth evaluate bench mutation fuzz clean
.DELETE_ON_ERROR:

help:  ## list the commands
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  PRESET=fermi|small|FILE.toml and SET='field=value ...' choose the configuration, KERNEL= the kernel of run,"
	@echo "  SEED=NUMBER repeats a regress, or goes on with it"

setup: $(STAMP)  ## create .venv from pinned wheels

# The stamp is written last, so an interrupted set-up is started again instead of trusted.
$(STAMP): requirements.txt requirements-dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: $(PYTHON) is older than 3.11; name a newer one with make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

run: $(STAMP)  ## a CUDA kernel through model, Verilog, lockstep and synthesis, with one summary
	$(VENV)/bin/warploom demo $(KERNEL) $(SETTINGS)

verilog: $(STAMP)  ## generate the Verilog of the datapath and its units
	$(VENV)/bin/warploom verilog $(SETTINGS)

regress: $(STAMP)  ## all kernels in lockstep with the hardware, cached and resumable; then all benches with new seeds
	@base=$$($(VENV)/bin/python -m warploom.tb.seeds $(SEED)) && \
	echo "To go on after an interruption: make regress SEED=$$base, with the same PRESET and SET" && \
	$(VENV)/bin/warploom regress $(SETTINGS) --seed $$base && \
	$(PYTEST) -m "long or rtl" --seed $$base

synth: $(STAMP)  ## area and critical path of every unit
	$(VENV)/bin/warploom synth $(SETTINGS)

evaluate: $(STAMP)  ## the published figures beside ours, with charts; then the cost of the hardware
	$(VENV)/bin/warploom evaluate all

results: $(STAMP)  ## make all results of docs/results, for the tables of docs/; hours
	$(VENV)/bin/python -m warploom.results

prices: $(STAMP)  ## the same of those with energies, at the present prices, from recorded simulations; minutes
	$(VENV)/bin/python -m warploom.results --recorded

bench: $(STAMP)  ## speed of the models and of the lockstep bench
	$(VENV)/bin/warploom bench $(SETTINGS)

compiled: $(STAMP)  ## the cycle model as compiled modules, which commands use from then on; takes minutes
	$(VENV)/bin/python -m warploom.compiled

test: lint  ## all checks that must pass
	$(PYTEST) $(HANGS) -m "not mutation and not long"

lint: $(STAMP)
	$(VENV)/bin/ruff check
	$(VENV)/bin/mypy

docs: $(STAMP)  ## rewrite the generated tables of docs/
	$(VENV)/bin/cog -r -p "$(PAGES)" docs/*.md

mutation: $(STAMP)  ## plant bugs in hardware units and compiler passes, and require each to be caught
	$(VENV)/bin/pytest -m mutation

fuzz: $(STAMP)  ## PROGRAMS random CUDA kernels, compiled and executed twice, resumable; needs nvcc
	cd tests && $(abspath $(VENV))/bin/python -m fuzz run $(PROGRAMS)

clean:  ## remove builds and reports, keep .venv
	rm -rf build
