# make run: set-up, then the experiment of config/config.yaml.   make test: set-up, then every test.   make help: the rest.
VENV := .venv
BIN := $(VENV)/bin
BASE_PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
CONFIG ?= config/config.yaml
LAUNCHER := scripts/engine/snakemake.sh
RANKTRIAL := RANKTRIAL_MAKE=1 $(BIN)/python -m ranktrial.api.command
# Quote a value from the command line as one shell word, whatever it contains.
quoted = '$(subst ','\'',$(1))'

.DEFAULT_GOAL := help
.PHONY: help setup packages new check prepare run status plan archive check-results verify resume compare-archives export-runs
.PHONY: export-model test test-fast test-slurm test-long durations benchmark benchmark-gpu check-gpu sizes growth lint types format
.PHONY: schema architecture reruns docs notebooks lock clean

help:  ## show this list
	@sed -n 's/^VERSION = "\(.*\)"/ranktrial \1/p' ranktrial/common/version.py
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

# The extras of pyproject.toml that the targets asked for need; `run` and `prepare` add those that CONFIG needs once they
# have planned it. `core` is what `import ranktrial` needs.
ALL = workflow datasets bm25 neural learning-to-rank
KNOWN = core $(ALL) test docs
OF_CORE = new status
OF_TESTS = test test-fast test-slurm test-long durations benchmark benchmark-gpu sizes growth reruns architecture lint format types
EXTRAS ?= $(sort core $(if $(filter-out docs notebooks $(OF_CORE),$(MAKECMDGOALS)),workflow) $(if $(filter docs notebooks,$(MAKECMDGOALS)),docs) \
  $(if $(filter check-gpu export-model,$(MAKECMDGOALS)),neural) $(if $(filter setup $(OF_TESTS),$(MAKECMDGOALS)),$(ALL)) \
  $(if $(filter $(OF_TESTS),$(MAKECMDGOALS)),test))
ASKED = $(or $(filter $(KNOWN),$(EXTRAS)),core)
UNKNOWN = $(filter-out $(KNOWN),$(EXTRAS))

# .venv/.extras/NAME is a copy of the lock that the extra was installed from: dates say nothing where the folder is a link
# or was copied.
LOCK = requirements.lock
HAS = test $(words $(ASKED)) = "$$(for extra in $(ASKED); do cmp -s $(LOCK) $(VENV)/.extras/$$extra && echo $$extra; done | wc -l)"
TOGETHER = $(sort $(ASKED) $(filter $(KNOWN),$(notdir $(wildcard $(VENV)/.extras/*))))
UNLINKED = test ! -L $(VENV) || { echo "error: $(VENV) is a link to an environment that differs from $(1): remove the link" >&2; exit 2; }

KNOWN_PYTHON = $(BASE_PYTHON) -c 'import sys; (3, 11) <= sys.version_info < (3, 14) or sys.exit("error: BASE_PYTHON: Python 3.11, 3.12 or 3.13 is needed, this is " + sys.version.split()[0])'
PIP_INSTALL = $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check
# PyTorch for GPUs: 2.7 GB of wheels with what it needs (2.13, Linux on x86_64; the lock has no sizes), 4.5 GB installed.
# Each file's SHA-256 is in the lock, also those of what builds a package from its sources.
LOCKED = --require-hashes --constraint=$(LOCK)
NAMES = import sys, tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
  of = project["optional-dependencies"] | {"core": project["dependencies"]}; print(*sum(map(of.get, sys.argv[1:]), []), sep="\n")

# TORCH=cu126 (cpu, cu130 …): the locked version of torch in another build, from PyTorch's index or that of TORCH_INDEX.
# Without it, the build for processors is taken where pip's own configuration offers it (a folder, another index), and
# that of PyPI elsewhere: pip by itself would prefer PyPI's file, whose hash the index states. The hashes of PyTorch's own
# files for processors (Linux on x86_64) were added to the lock by hand; `make lock` keeps them until the version changes.
TORCH_INDEX ?= https://download.pytorch.org/whl/$(TORCH)
TORCH_BUILD = $(call quoted,torch==$(shell sed -n 's/^torch==\([0-9.]*\).*/\1/p' $(LOCK))+$(or $(TORCH),cpu))
FROM_INDEX = $(PIP_INSTALL) --no-deps --index-url=$(call quoted,$(TORCH_INDEX)) $(TORCH_BUILD) && $(PIP_INSTALL) $(TORCH_BUILD)
IF_OFFERED = ! $(PIP_INSTALL) --dry-run --no-deps $(TORCH_BUILD) 2> /dev/null || $(PIP_INSTALL) --no-deps $(LOCKED) $(TORCH_BUILD)
HAS_TORCH = $(BIN)/python -c 'import importlib.metadata as m, sys; sys.exit("torch==" + m.version("torch") != sys.argv[1])' $(TORCH_BUILD)

# ranktrial/ is installed where it lies: notebooks and other programs of .venv import it. A moved clone installs it anew.
HAS_SOURCES = test "$$(cat $(VENV)/.sources 2>/dev/null)" = $(call quoted,$(CURDIR))
NOTE_SOURCES = printf '%s\n' $(call quoted,$(CURDIR)) > $(VENV)/.sources
SOURCES = $(PIP_INSTALL) --no-deps --build-constraint=$(LOCK) --editable . && $(NOTE_SOURCES)

setup:  ## create .venv for all experiments, or with the EXTRAS named (TORCH=cu126: docs/cluster.md)
	@$(if $(UNKNOWN),echo "error: EXTRAS: expected some of $(KNOWN)" >&2; exit 2)
	@$(HAS) $(if $(TORCH),$(if $(filter bm25 neural,$(ASKED)),&& $(HAS_TORCH))) || $(MAKE) --no-print-directory packages EXTRAS="$(TOGETHER)"
	@test -L $(VENV) || $(HAS_SOURCES) || { $(SOURCES); }
	@test ! -e $(BIN)/snakemake || cmp -s $(LAUNCHER) $(BIN)/snakemake || { $(call UNLINKED,$(LAUNCHER)); install -m 755 $(LAUNCHER) $(BIN)/snakemake; }

packages:
	@$(call UNLINKED,$(or $(TORCH),$(LOCK)))
	@echo "setting up $(VENV) with $(ASKED)$(if $(filter bm25 neural,$(ASKED)),: PyTorch for GPUs is 3 GB to download; TORCH=cpu 0.2 GB)"
	@$(BIN)/python -m pip --version > /dev/null 2>&1 || { $(KNOWN_PYTHON) && $(BASE_PYTHON) -m venv $(VENV) && $(BIN)/python -m pip uninstall -qq --yes setuptools; }
	@sed -n '/^pip==/,/# via/p' $(LOCK) > $(VENV)/.requirements && $(PIP_INSTALL) --require-hashes -r $(VENV)/.requirements
	$(if $(filter bm25 neural,$(ASKED)),$(if $(TORCH),$(FROM_INDEX),$(IF_OFFERED)))
	@$(BIN)/python -c '$(NAMES)' core $(ASKED) > $(VENV)/.requirements
	$(PIP_INSTALL) $(LOCKED) --build-constraint=$(LOCK) -r $(VENV)/.requirements
	@mkdir -p $(VENV)/.extras && for extra in core $(ASKED); do cp $(LOCK) $(VENV)/.extras/$$extra; done

run prepare check plan archive export-runs resume: export RANKTRIAL_SETUP = 1

new: setup  ## inspect FOLDER (collections, runs, scores of MEASURE) and write a configuration for it (OUT=config/FOLDER.yaml)
	@$(RANKTRIAL) new $(call quoted,$(FOLDER)) $(if $(MEASURE),--measure=$(call quoted,$(MEASURE))) $(if $(COLUMNS),--columns=$(call quoted,$(COLUMNS))) $(if $(OUT),--out=$(call quoted,$(OUT)))

prepare: setup  ## fetch and check all data and models of CONFIG; afterwards no step needs the network
	$(BIN)/snakemake prepare --configfile=$(call quoted,$(CONFIG))

run: setup  ## run the experiment of CONFIG (config/config.yaml); VERBOSE=1 shows all lines of Snakemake
	$(BIN)/snakemake --configfile=$(call quoted,$(CONFIG))

status: setup  ## show the progress of the runs under way, or of the last (of CONFIG or EXPERIMENT), in another terminal
	@$(RANKTRIAL) status $(if $(EXPERIMENT)$(filter command% environment%,$(origin CONFIG)),$(CHOSEN))

plan: setup  ## estimate what a further study could detect, from the variances of CONFIG's comparisons
	$(BIN)/snakemake plan_study --configfile=$(call quoted,$(CONFIG))

check: setup  ## check that all datasets and models of CONFIG are available, without downloading them
	$(BIN)/snakemake check --configfile=$(call quoted,$(CONFIG))

GIVEN = test -n $(call quoted,$(ARCHIVE)) || { echo "error: expected ARCHIVE=file, such as results/example/example.crate.zip" >&2; exit 2; }
CHOSEN = $(if $(EXPERIMENT),--experiment=$(call quoted,$(EXPERIMENT)),--config=$(call quoted,$(CONFIG)))

archive: setup  ## pack a finished experiment into one file (CONFIG or EXPERIMENT; FULL=1: with models and texts)
	@$(RANKTRIAL) archive $(CHOSEN) $(if $(FULL),--extent full)

check-results: setup  ## check that results are what their jobs wrote (all, or those of CONFIG or EXPERIMENT)
	@$(RANKTRIAL) check-results $(if $(EXPERIMENT)$(filter command% environment%,$(origin CONFIG)),$(CHOSEN))

verify: setup  ## check every hash and number of ARCHIVE (REPORT=file.tsv)
	@$(GIVEN)
	@$(RANKTRIAL) verify --archive=$(call quoted,$(ARCHIVE)) --recompute $(if $(REPORT),--report=$(call quoted,$(REPORT)))

resume: setup  ## write the results of ARCHIVE into this clone (FILL=1: make its data again, SEND=1; OVERWRITE=1; LINKS=1)
	@$(GIVEN)
	@$(RANKTRIAL) resume --archive=$(call quoted,$(ARCHIVE)) $(if $(FILL),--fill) $(if $(SEND),--send-variables) $(if $(OVERWRITE),--overwrite) $(if $(LINKS),--follow-links)

compare-archives: setup  ## compare the archives A and B, with output in the folder OUT (comparison)
	@$(RANKTRIAL) compare-archives --a=$(call quoted,$(A)) --b=$(call quoted,$(B)) --out=$(call quoted,$(or $(OUT),comparison))

export-runs: setup  ## export runs to one folder, each with its provenance (CONFIG or EXPERIMENT)
	@$(RANKTRIAL) export-runs $(CHOSEN)

export-model: setup  ## export the trained checkpoint of SYSTEM (SEED: its first) with a model card to the new folder OUT
	@$(RANKTRIAL) export-model --config=$(call quoted,$(CONFIG)) --system=$(call quoted,$(SYSTEM)) $(if $(SEED),--seed=$(call quoted,$(SEED))) --out=$(call quoted,$(OUT))

WORKERS ?= 3
# Keep compiled modules, whatever the shell sets: workspaces copy them, so that a hundred processes do not recompile them.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
PARALLEL = -n $(WORKERS) --dist loadfile --no-loadscope-reorder
test: setup  ## run the tests in a quarter of an hour, WORKERS files (3) at a time: all except those of test-slurm and test-long
	$(PYTEST) $(PARALLEL)

test-fast: setup  ## run the fast tests in a minute: the files that were measured to take less than two seconds
	$(PYTEST) -q $(PARALLEL) --quick

test-slurm: setup  ## test experiments and faults on a one-node Slurm that is installed and started here (root, Debian)
	$(PYTEST) -m "cluster and not long" tests/cluster

test-long: setup  ## run tests that are slow and rarely affected: kills at every step, full disks, several nodes, limits, a soak
	$(PYTEST) $(PARALLEL) -m "long and not cluster"
	$(PYTEST) -m "cluster and long" tests/cluster

durations: setup  ## measure the duration of each test file, on an otherwise idle machine (tests/durations.tsv)
	$(PYTEST) $(PARALLEL) --junitxml=.pytest_cache/durations.xml
	$(BIN)/python -m tests.support.durations .pytest_cache/durations.xml

# The inputs of the rows: texts and a model of config/insurance.yaml.
BENCHMARKED = results/insurance/models/minilm/untrained/seed-0 $(foreach domain,annuities disability-insurance \
  long-term-care-insurance renters-insurance retirement-plans,results/insurance/data/$(domain)/corpus.jsonl)
benchmark: setup  ## time each task with a library and with ours, in turn, on an idle machine (ROWS, REPEATS=3)
	$(BIN)/snakemake --configfile config/insurance.yaml -- $(BENCHMARKED)
	$(BIN)/python -m tests.benchmark $(ROWS) --repeats $(or $(REPEATS),3)

benchmark-gpu: setup  ## time training, encoding, re-ranking and search with a library and with ours on a GPU, in ten minutes
	$(BIN)/snakemake --configfile config/insurance.yaml -- $(BENCHMARKED)
	$(BIN)/python -m tests.benchmark.gpu $(ROWS) --repeats $(or $(REPEATS),2)

check-cluster: setup  ## ask Slurm whether it would take one job of each kind that profiles/slurm requests; starts none
	@$(RANKTRIAL) check-cluster

check-gpu: setup  ## check that torch uses the GPUs of this node, and at which rate (srun -p gpu --gpus=2 make check-gpu)
	@$(RANKTRIAL) check-gpu

sizes: setup  ## time training, encoding and re-ranking with models of BERT's sizes, for a GPU (results/sizes/sizes.tsv)
	$(BIN)/snakemake --configfile config/insurance.yaml -- $(firstword $(BENCHMARKED))
	$(BIN)/python -m tests.benchmark.sizes

growth: setup  ## time each stage on corpora of growing sizes (SIZES), fit exponents, draw them (results/growth)
	$(BIN)/python -m tests.benchmark.growth $(SIZES)

reruns: setup  ## print the scripts that a change makes run again, compared with COMMIT (default HEAD)
	@$(BIN)/python -m tests.support.reruns $(or $(COMMIT),HEAD)

architecture: setup  ## draw docs/architecture.svg: the rooms of ranktrial/ and scripts/, and their imports
	$(BIN)/python -m tests.support.architecture

schema: setup  ## write the schema for editors, the page of keys and the table of formats from the declarations
	$(BIN)/python -m scripts.experiment.write_schema

lint: setup  ## check style and format of code and rules, and that pyproject.toml names what is imported
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/snakefmt --check --compact-diff Snakefile rules
	$(BIN)/deptry .

format: setup  ## format code and rules
	$(BIN)/ruff check --quiet --fix-only .
	$(BIN)/ruff format --quiet .
	$(BIN)/snakefmt Snakefile rules

types: setup  ## check types in the modules that are strict (pyproject.toml)
	$(BIN)/mypy

lock:  ## renew requirements.lock and envs/ from pyproject.toml; versions that fit stay, except that of UPGRADE
	rm -rf .lock && $(BASE_PYTHON) -m venv .lock && .lock/bin/python -m pip install --quiet uv
	.lock/bin/uv pip compile pyproject.toml --all-extras --universal --python-version=3.11 --generate-hashes --quiet \
	  --custom-compile-command="make lock" $(if $(UPGRADE),--upgrade-package=$(call quoted,$(UPGRADE))) --output-file=$(LOCK)
	.lock/bin/python -m tests.support.environments
	rm -rf .lock

docs: setup  ## build the site of docs/ (site/index.html)
	$(BIN)/python -m mkdocs build --strict --quiet

notebooks: setup  ## run docs/*.ipynb with the library and Jupyter alone, compare what they print (WRITE=1: store it)
	$(BIN)/python -m tests.support.notebooks $(if $(WRITE),--write) docs/*.ipynb

clean:  ## remove results, logs and the virtual environment
	rm -rf results/* .snakemake $(VENV) site .pytest_cache .ruff_cache .mypy_cache
