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

.PHONY: help setup run test lint docs compiled results verilog regress synth evaluate bench mutation fuzz clean
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

# The experiments whose figures the pages show.
SHOWN := coalescing gating bypassing affine placement calibration workloads sampling

# The programs of [TFET] with many blocks, of which the memory-intensive ones run on several SMs.
INTENSIVE := transpose,backprop,nearest_neighbour
MANY_BLOCKS := $(INTENSIVE),srad,store_gpu,ray_tracing,scan_large
FEW_BLOCKS := bfs_levels,binomial,coulombic,laplace3d,matmul,nqueens,nw

# The programs of [HAWS], Table 6.2, whose blocks share data, and the others.
SHARING := gemm,two_mm,transpose,jacobi_2d,conv_2d
NOT_SHARING := histogram,scan,walsh,bitonic_sort,mvt

results: $(STAMP)  ## run the experiments and commit their figures to docs/results, for the tables of docs/
	mkdir -p build/results
	$(VENV)/bin/warploom evaluate $(SHOWN) --out build/results
	$(VENV)/bin/warploom evaluate coalescing --preset gtx480 --json build/results/coalescing_gtx480.json
	$(VENV)/bin/warploom evaluate haws --size tiny --json build/results/haws_tiny.json
	for shown in combination hardware_units haws characterisation silicon; do \
	  $(VENV)/bin/warploom evaluate $$shown --json build/results/$$shown.json || exit 1; done
	for shown in fg_simt fg_simt_cost; do \
	  $(VENV)/bin/warploom evaluate $$shown --size tiny --json build/results/$$shown.json || exit 1; done
	$(VENV)/bin/warploom evaluate units --size tiny --json build/results/units_tiny.json
	$(VENV)/bin/warploom evaluate units --json build/results/units.json
	$(VENV)/bin/warploom evaluate locality --workloads $(SHARING) --json build/results/locality.json
	$(VENV)/bin/warploom evaluate locality --workloads $(NOT_SHARING) --json build/results/locality_type_3.json
	$(VENV)/bin/warploom evaluate tfet --size tiny --json build/results/tfet_tiny.json
	$(VENV)/bin/warploom evaluate tfet --blocks all --workloads $(FEW_BLOCKS) --json build/results/tfet_whole.json
	$(VENV)/bin/warploom evaluate tfet --workloads $(MANY_BLOCKS) --json build/results/tfet.json
	$(VENV)/bin/warploom evaluate tfet_bounds --workloads transpose,backprop --json build/results/tfet_bounds.json
	$(VENV)/bin/warploom evaluate tfet_sms --workloads $(INTENSIVE) --json build/results/tfet_sms.json
	$(VENV)/bin/warploom evaluate tfet_sms --blocks 240 --workloads $(INTENSIVE) --set sms=15 --set slices=6 \
	  --set channels=6 --set mesh_columns=5 --json build/results/tfet_sms_15.json
	$(VENV)/bin/warploom evaluate tfet_power --json build/results/tfet_power.json
	$(VENV)/bin/python -m warploom.evaluation.pages build/results/*.json

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
