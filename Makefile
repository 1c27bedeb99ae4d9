# railfab: `make` shows what there is. Everything lives in .venv; outside the clone are the compiled simulator, in the cache
# directory of the user, and what `lab-deps` installs.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help demo setup test matrix laws oracles kills promtool3 fuzz fuzz-guided soak soak-collector soak-twin faults check bench record lab-deps lab-deps-here oracle-deps fuzz-deps clean pins

FABRIC ?= inventory/fabrics/pod64.yml
FOR ?=
EXAMPLES ?= 2000
LAWS := tests/platforms/test_platform_laws.py tests/forwarding/test_incremental_convergence.py
MUTATED := tests/platforms/test_mutated_texts.py
ARGS ?=
# The cases of the last `make kills`, one a line.
KILLS := $(CURDIR)/.venv/kills.jsonl
# Of all tests, names, attributes and numbers of arguments are checked: what a renaming breaks.
NAMES_ONLY := arg-type assignment call-overload index list-item misc no-untyped-def operator return-value str-bytes-safe type-var union-attr
# Tests start hundreds of processes; without bytecode each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/dev.stamp $(VENV)/simulator.stamp
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
INSTALL := install --progress-bar off
# The newest interpreter that the pins were resolved for; the stamps below are made again when a requirement changes.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info)' 2>/dev/null && { command -v $$p; break; }; done)

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/simulator.stamp ## a 64-GPU fabric in this terminal, deployed, loaded and observed; FOR=30 ends it after 30 s
	@$(BIN)/railfab up $(FABRIC) $(if $(FOR),--for $(FOR)) $(ARGS)

setup: $(READY) ## the virtual environment with everything a developer needs

test: $(READY) lab-deps-here ## all tests; those that need root, FRR or Prometheus say what to install when they are skipped
	@$(BIN)/python -m pytest -n auto $(ARGS)

matrix: $(READY) oracle-deps lab-deps-here ## every case of the matrices of which `make test` tries a few: pairs of platforms, designs, mistakes, moments
	@$(BIN)/python -m pytest -n auto -m matrix $(ARGS)

laws: $(READY) oracle-deps ## every law in full, of which `make test` tries a fifth; EXAMPLES=2000 says how many models those of platforms and of convergence draw
	@RAILFAB_EXAMPLES=100 $(BIN)/python -m pytest -n auto -m hypothesis $(LAWS:%=--ignore=%) $(ARGS)
	@RAILFAB_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -n auto --timeout=0 $(LAWS) $(ARGS)
	@RAILFAB_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -n auto --dist load --timeout=0 $(MUTATED) $(ARGS)

oracles: $(READY) oracle-deps lab-deps-here ## every switch of every design before the oracle of its platform, of which `make test` judges one of each role; writes benchmarks/oracles.md
	@RAILFAB_SWITCHES=all $(BIN)/python -m pytest -n auto -m 'oracle and (matrix or not matrix)' $(ARGS)
	@$(BIN)/python -m tests.oracles
	@RAILFAB_SWITCHES=all $(BIN)/python -m pytest -n auto tests/fabric/test_every_design.py $(ARGS)
	@RAILFAB_SWITCHES=all $(BIN)/python -m pytest -n auto -m 'matrix or not matrix' tests/fabric/test_planned_features.py $(ARGS)

kills: $(READY) lab-deps-here ## roll-outs killed, cut, refused, hung, rebooted or out of disk at each step, with a table (CONTINUE=1 for the cases that the last run lacks); deploys and `up` stopped at many moments; needs what labs need
	@$(if $(CONTINUE),,rm -f $(KILLS))
	@status=0; RAILFAB_KILLS=$(KILLS) $(BIN)/python -m pytest -n auto -m 'kills or matrix or not matrix' \
		tests/integration/switches/test_killed_rollouts.py tests/integration/frr/test_frr_killed_rollouts.py \
		tests/integration/test_killed_deploy.py tests/integration/frr/test_frr_killed.py \
		tests/integration/switches/test_interrupted_deploys.py tests/integration/test_up_stop.py $(ARGS) || status=$$?; \
		$(BIN)/python -m tests.kills $(KILLS) && exit $$status

promtool3: $(READY) lab-deps-here ## the tests of rules and alerts with promtool 3, built once outside the clone (needs Go); `make test` has Debian's 2.42
	@promtool=$$(.ci/promtool3) && PATH="$$(dirname "$$promtool"):$$PATH" RAILFAB_REQUIRE=prometheus \
		$(BIN)/python -m pytest -n auto tests/dashboards/test_rules.py $(ARGS)

fuzz: $(READY) ## damaged bytes for the collector's compiled code in guarded memory (FOR=300 s), then its other fuzzing with EXAMPLES=2000; SEED=1 begins elsewhere
	@NUMBA_BOUNDSCHECK=0 $(BIN)/python -m tests.telemetry.fuzz.kernels --for $(or $(FOR),300) --seed $(or $(SEED),0)
	@RAILFAB_EXAMPLES=$(EXAMPLES) NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n auto --timeout=0 tests/telemetry/test_decode.py \
		tests/telemetry/test_lines.py tests/telemetry/test_mapping_fuzz.py tests/telemetry/receive/test_framing.py $(ARGS)

fuzz-guided: fuzz-deps ## each reader of bytes from outside, led by the code that an input reaches; FOR=600 s each (60)
	@set -e; for reader in $$($(BIN)/python -m tests.telemetry.fuzz.readers); do \
		$(BIN)/python -m tests.telemetry.fuzz.guided $$reader --for $(or $(FOR),60); done

soak: soak-collector soak-twin ## both of the next two

soak-collector: $(READY) lab-deps-here ## two collectors of targets with faults (1200 s), beside a Prometheus, and one of 256 targets that lose power
	@RAILFAB_COLLECTED_S=$(or $(FOR),1200) RAILFAB_POWER_CUT=full $(BIN)/python -m pytest -s --timeout=0 \
		tests/integration/test_collector_truth.py tests/integration/test_power_cut.py $(ARGS)

soak-twin: $(READY) lab-deps-here ## a twin under random Sets (300 s), 50 gNMI subscribers (3600 s), and on each of its platforms three healthy jobs of 10 simulated minutes, which raise no false alert
	@RAILFAB_SOAK_S=$(or $(FOR),300) RAILFAB_SUBSCRIBED_S=$(or $(FOR),3600) RAILFAB_SOAK_SEED=$(or $(SEED),1) \
		$(BIN)/python -m pytest --timeout=0 tests/twin/test_twin_soak.py tests/twin/test_many_subscribers.py $(ARGS)
	@$(BIN)/python -m tests.faults.healthy

faults: $(READY) lab-deps-here ## every mistake of tests/faults on a twin, judged by Prometheus; writes docs/faults.md, with ON=eos docs/faults-eos.md
	@$(BIN)/python -m tests.faults $(if $(ON),--on $(ON)) $(ARGS)

check: $(VENV)/dev.stamp ## lint, format, types and the rule that imports point down
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy playbooks/*.py
	@MYPYPATH=. $(BIN)/mypy -p tests.oracles -p tests.platforms
	@MYPYPATH=. $(BIN)/mypy -p tests $(NAMES_ONLY:%=--disable-error-code=%)
	@$(BIN)/lint-imports --no-cache

record: $(READY) ## docs/up.svg, docs/page-*.png: the live view and the page of a moment with traffic; on a quiet machine, with chromium
	@.ci/step "Recording railfab up for a minute" $(BIN)/python docs/record.py --every 1.5 --seconds 80 -o docs/up.svg --light docs/up-light.svg \
		--moment 'rail 1 +[1-9][0-9,]{2,} Gb/s' --title "railfab up inventory/fabrics/pod64.yml" \
		-- $(BIN)/railfab up inventory/fabrics/pod64.yml --state .railfab/record --for 36
	@$(BIN)/python docs/view_digest.py > docs/up.digest
	@.ci/step "Taking pictures of the page" $(BIN)/python -m tests.page.browser.screenshots docs

bench: $(READY) ## measure what benchmarks/ describes
	@set -e; for bench in benchmarks/bench_*.py; do PYTHONPATH=. $(BIN)/python "$$bench" $(ARGS); done

oracle-deps: $(VENV)/oracles.stamp ## PyAVD, with which the tests compare the configurations of EOS, and Chakra's reader

fuzz-deps: $(VENV)/fuzz.stamp ## atheris, for `make fuzz-guided`

lab-deps: ## Debian's packages for the embedded lab and the integration tests (root); starts no service
	@.ci/lab-deps

clean: ## remove the virtual environment and every cache in the clone
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage build dist
	@find src tests playbooks benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# As root on Debian the tests bring their packages; elsewhere they skip themselves.
lab-deps-here:
	@if [ "$$(id -u)" = 0 ] && [ -f /etc/debian_version ]; then .ci/lab-deps; fi

$(VENV)/railfab.stamp: requirements.txt requirements-build.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "make: no Python. Install python3 (3.11 or newer) with its venv module." >&2; exit 2; }
	@test -x $(BIN)/python || { echo "Setting up $(VENV) with $(PYTHON) ..."; $(PYTHON) -m venv $(VENV); } \
		|| { echo "make: $(PYTHON) cannot make a virtual environment. Install its venv module (Debian: python3-venv)." >&2; \
		rm -rf $(VENV); exit 2; }
	@.ci/step "Installing the packages that railfab needs" $(PIP) $(INSTALL) -r requirements-build.txt -r requirements.txt
	@.ci/step "Installing railfab from this folder" $(PIP) $(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/railfab.stamp requirements-dev.txt
	@.ci/step "Installing the packages of tests and checks" $(PIP) $(INSTALL) -r requirements-dev.txt
	@touch $@

$(VENV)/oracles.stamp: $(VENV)/dev.stamp requirements-oracles.txt
	@.ci/step "Installing PyAVD and mlc-chakra" $(PIP) $(INSTALL) --no-deps -r requirements-oracles.txt
	@touch $@

$(VENV)/fuzz.stamp: $(READY) requirements-fuzz.txt
	@.ci/step "Installing atheris" $(PIP) $(INSTALL) --no-deps -r requirements-fuzz.txt
	@touch $@

$(VENV)/simulator.stamp: $(VENV)/railfab.stamp src/railfab/sim/jit.py $(wildcard src/railfab/compiled/*.py src/railfab/sim/kernel/*.py src/railfab/sim/fluid/*.py src/railfab/telemetry/kernel/*.py) src/railfab/telemetry/receive/scan.py
	@.ci/step "Compiling the simulator, once" $(BIN)/python -m railfab.sim.warm
	@.ci/step "Compiling the decoder of telemetry, once" $(BIN)/python -c "from railfab.telemetry.warm import compile_kernels; compile_kernels()"
	@touch $@

pins: ## resolve the newest versions within pyproject's ranges and write the requirements files again
	@.ci/pins $(PYTHON)
