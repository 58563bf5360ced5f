# make reproduce      every figure, table and verdict, into results/ (CONFIG=config/quick.yaml: small, into results/quick/)
# make refresh        the real data of all datasets, downloaded; the next run uses them in the place of stand-ins
# make claims         every number of README and docs/, compared with the results of a full run
# make test           the test suite
# make exhaustive     the slow tests, which take minutes: every case, whole runs, killed runs, a real Slurm
# make mutants        how many small faults in the code the tests notice, of a sample of MUTANTS=200
# make check          lint, format and types
# make docs           the documentation as a site, in build/site (open build/site/index.html)
# make lock           pin the dependencies of pyproject.toml again, at one version for all Pythons (needs uv)
SHELL := /bin/bash
PYTHON ?= python3
CORES ?= all
CONFIG ?= config/config.yaml
MUTANTS ?= 200
VENV := .venv
BIN := $(VENV)/bin
# progress bars on a terminal, Snakemake's own lines elsewhere
LOGGER := $(shell [ -t 2 ] && echo --logger rich)
# compiled modules are imported four times faster, and every job of the pipeline imports many
export PYTHONDONTWRITEBYTECODE :=

.PHONY: reproduce refresh claims test exhaustive mutants check docs install lock clean

reproduce: install
	@$(BIN)/python -m segshuffle.reproduction.config $(CONFIG)
	workflow/reproduce.sh $(BIN)/snakemake --cores $(CORES) $(LOGGER) --configfile $(CONFIG)
	$(BIN)/python -m segshuffle.reproduction.run_summary $(CONFIG)

refresh: install
	$(BIN)/snakemake --cores 1 $(LOGGER) refresh --configfile $(CONFIG)

claims: install
	workflow/reproduce.sh $(BIN)/snakemake --cores $(CORES) $(LOGGER) claims_held --configfile config/config.yaml
	cat results/claims-held.txt
	! grep --quiet "^NOT HELD" results/claims-held.txt

test: install
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder -m "not exhaustive"

exhaustive: install
	$(BIN)/pytest -n auto --dist loadfile -m "(exhaustive or hypothesis) and not pipeline" --hypothesis-profile thorough
	$(BIN)/pytest -m "exhaustive and pipeline"

mutants: install
	$(BIN)/python tests/mutants.py --mutants $(MUTANTS)

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

docs: install
	if command -v dot >/dev/null; then PYTHONHASHSEED=0 $(BIN)/snakemake page --rulegraph 2>/dev/null | dot -Tsvg -o docs/figures/rules.svg; fi
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --conf-dir docs --builder html . build/site

install: $(VENV)/.installed

$(VENV)/.installed: requirements-pip.lock requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "segshuffle needs Python 3.11 to 3.13; this is " + sys.version.split()[0] + ". Give another with PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-pip.lock
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

lock:
	uv pip compile --quiet pyproject.toml --all-extras --group dev --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-header --output-file requirements.lock
	echo pip | uv pip compile --quiet - --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --output-file requirements-pip.lock

clean:
	find results -mindepth 1 ! -path results/README.md -delete
	rm -rf .test/results .snakemake .test/.snakemake
