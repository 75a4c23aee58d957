"""Nothing breaks while memory is measured: a program's output and its end are those that it has without us.

With SONDE_STRESS=1 the 64 threads allocate for a minute.
"""

import json
import os
import re
import sys
from ctypes.util import find_library
from pathlib import Path

import pytest
from sampler_support import BIN, PROGRAMS, finish, start
from sonde_programs import slow

sys.path.insert(0, str(Path(__file__).parent.parent / "truth" / "memory" / "native"))

from build_native import build, compile_shared  # noqa: E402

differs = pytest.mark.interpreter  # with jemalloc or another allocator below, all interpreters are the same

PROGRAM = PROGRAMS / "memory_work.py"
HELPERS = ("churn", "leave")
NEED_PLUGIN = ("native_signals", "libraries")
SCENARIOS = re.findall(r"^def (\w+)\(\):", PROGRAM.read_text(), re.M)

#: Where other allocators stand below us: everything that goes wrong with them does so here.
ELSEWHERE = ("objects", "resizing", "across_threads", "forks_among_threads", "tracemalloc_inside", "too_much")

#: As in tests/truth: `make truth` runs all of it, `make test` every third of what runs with several allocators.
IS_LONG = float(os.environ.get("SONDE_TRUTH_SECONDS", "2")) >= 20


def some(names, first):
    chosen = names if IS_LONG else names[first::3]
    return [slow(name)[0] if name == "forks_among_threads" else name for name in chosen]


@pytest.fixture(scope="session")
def plugin(tmp_path_factory):
    path = tmp_path_factory.mktemp("plugin") / "plugin.so"
    compile_shared(PROGRAMS / "memory_plugin.c", path)
    return path


@pytest.fixture(scope="session")
def interposer(tmp_path_factory):
    path = tmp_path_factory.mktemp("interposer") / "interposer.so"
    compile_shared(PROGRAMS / "memory_interposer.c", path, "-fno-builtin")
    return path


@pytest.fixture(scope="session")
def native(tmp_path_factory):
    return build(tmp_path_factory.mktemp("native"))


def compare(tmp_path, name, *words, exact=False, **environment):
    """The program, plainly and with its memory measured, one after the other."""
    before = ["env", *(f"{key}={value}" for key, value in environment.items())]
    ours = [str(BIN / "sonde"), "run", "--no-report", "-o", "r.sonde", "--memory", *(["--exact"] if exact else [])]
    program = [str(PROGRAM), name, *map(str, words)]
    wanted = finish(start([*before, str(BIN / "python"), *program], tmp_path / "plain"))
    got = finish(start([*before, *ours, *program], tmp_path / "sonde"))
    assert got == wanted, f"{got} is not {wanted}"
    # The interposer leaves it with abort() when a block is not its own.
    assert got[0] in (0, 1, 3, 4)
    return got


@differs
@pytest.mark.parametrize("exact", [False, True] if IS_LONG else [False], ids=["sampled", "exact"][: 1 + IS_LONG])
@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in HELPERS])
def test_a_program(tmp_path, request, name, exact):
    words = [request.getfixturevalue("plugin")] if name in NEED_PLUGIN else []
    compare(tmp_path, name, *words, exact=exact)


@differs
@pytest.mark.parametrize("allocator", ["debug", *slow("malloc", "malloc_debug")])
@pytest.mark.parametrize("name", some(ELSEWHERE, 0))
def test_with_another_allocator_of_python(tmp_path, name, allocator):
    compare(tmp_path, name, PYTHONMALLOC=allocator)


@differs
@pytest.mark.parametrize("name", some(ELSEWHERE, 1))
def test_when_tracemalloc_was_there_before(tmp_path, name):
    compare(tmp_path, name, PYTHONTRACEMALLOC="3")


@pytest.mark.parametrize("name", some(ELSEWHERE, 2))
def test_with_jemalloc(tmp_path, name):
    library = find_library("jemalloc")
    assert library is not None, "libjemalloc is not installed: tools/system.sh test"
    compare(tmp_path, name, LD_PRELOAD=library)


@pytest.mark.parametrize("exact", [False, *slow(True)], ids=["sampled", "exact"])
@pytest.mark.parametrize("name", some((*ELSEWHERE, "libraries"), 0))
def test_with_an_allocator_that_is_preloaded(tmp_path, request, interposer, name, exact):
    words = [request.getfixturevalue("plugin")] if name in NEED_PLUGIN else []
    compare(tmp_path, name, *words, exact=exact, LD_PRELOAD=interposer)


@differs
@pytest.mark.slow
def test_a_thousand_starts_leave_nothing(sonde, native):
    done = sonde.run([sys.executable, str(PROGRAMS / "memory_often.py"), "1000", str(native)])
    left = json.loads(done.stdout)
    assert left["results"] == [300_000]
    assert left["peaks"] > 0
    assert left["allocators"] and left["maps"]
    assert left["slots"] and left["slots_seen"] > 0
    assert left["grown"] < 3_000_000, left
    assert left["blocks"] < 1000, left
    assert left["threads"] == 1 and left["files"] < 12, left


TRACEMALLOC_LATER = """
import gc, tracemalloc
import sonde

def work():
    return [bytes(1000) for _ in range(1000)]

with sonde.memory():
    kept = work()
    tracemalloc.start()
    kept += work()
kept += work()
size, _ = tracemalloc.get_traced_memory()
assert 2_000_000 < size < 3_000_000, size
tracemalloc.stop()
for _ in range(3):
    with sonde.memory() as memory:
        kept += work()
    assert memory.peak_bytes > 0
    tracemalloc.start()
    kept += work()
    tracemalloc.stop()
del kept
print("end")
"""


@differs
def test_tracemalloc_comes_inside_and_goes_after(sonde):
    assert sonde.python(TRACEMALLOC_LATER).stdout == "end\n"


@differs
@pytest.mark.parametrize("allocator", ["pymalloc", "malloc", "debug", "malloc_debug"])
def test_blocks_that_outlive_the_measurement(sonde, allocator):
    """Allocated while it is measured and freed afterwards, and the other way round."""
    code = """
    import sonde
    before = [bytes(i % 2000) for i in range(20_000)]
    for _ in range(5):
        with sonde.memory():
            inside = [bytes(i % 2000) for i in range(20_000)]
            before = None
        before = [bytes(i % 2000) for i in range(20_000)]
        assert sum(map(len, inside)) == sum(map(len, before))
        inside = None
    print("end")
    """
    assert sonde.python(code, env={"PYTHONMALLOC": allocator}).stdout == "end\n"
