"""Budgets of tests and ``pytest --sonde``, in real runs of pytest."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from chance import expect, repeats

from sonde.pytest_plugin.slowest import Slowest

BURN = """
import asyncio, gc, pathlib, time, threading, unittest
import pytest

kept = []

def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: sum(range(100))

def outer(n):
    return inner(n)

def inner(n):
    return n

class Query:
    def run(self):
        return len([])
"""


# Other plugins take half of the time that pytest needs to start.
PLUGINS = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:anyio")


class Folder:
    """A folder with tests, and what running them says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, code: str, name: str = "test_it.py") -> None:
        (self.folder / name).write_text(BURN + textwrap.dedent(code))

    def run(self, *options: str, code: str | None = None, before: tuple[str, ...] = ("-m",)) -> "Outcome":
        if code is not None:
            self.write(code)
        command = [sys.executable, *before, "pytest", *PLUGINS, "-rA", "-v", *options]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120)
        return Outcome(done.returncode, done.stdout, done.stderr)


class Outcome:
    """What pytest has said."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status = status
        self.out = out
        self.err = err

    def __repr__(self) -> str:
        return f"{self.out}\n{self.err}"

    def results(self) -> dict[str, str]:
        """By the name of a test, without its file."""
        lines = re.findall(r"^(PASSED|FAILED|ERROR|XFAIL|XPASS|SKIPPED) \S+?\.py::(\S+)", self.out, re.MULTILINE)
        return {name: result for result, name in lines}

    def about(self, test: str) -> str:
        """The failure of a test."""
        found = re.search(rf"^_+ {re.escape(test)} _+$\n(.*?)^[_=]{{3}}", self.out, re.DOTALL | re.MULTILINE)
        return "" if found is None else found[1]


@pytest.fixture
def tests(tmp_path):
    return Folder(tmp_path)


@pytest.fixture(scope="module")
def budgets(tmp_path_factory):
    """One run of many budgets: what holds, and what does not."""
    return Folder(tmp_path_factory.mktemp("budgets")).run(
        code="""
        @pytest.mark.sonde(max_seconds=0.05)
        def test_long():
            burn(0.2)

        @pytest.mark.sonde(max_seconds=99, max_cpu_seconds=9, max_peak="1 GB", max_leak="1 GiB", max_calls={"outer": 3})
        def test_cheap():
            [outer(n) for n in range(3)]

        @pytest.mark.sonde(max_cpu_seconds=0.05)
        def test_cpu():
            burn(0.2)

        @pytest.mark.sonde(max_cpu_seconds=0.4)
        def test_sleep_is_no_cpu():
            time.sleep(0.5)

        @pytest.mark.sonde(max_peak="1 MB")
        def test_peak():
            data = [bytes(1000) for _ in range(3000)]
            del data

        @pytest.mark.sonde(max_peak=1_000_000)
        def test_peak_is_not_a_sum():
            for _ in range(3000):
                bytes(1000)

        @pytest.mark.sonde(max_leak="1 MB")
        def test_leak():
            kept.append([bytes(1000) for _ in range(3000)])

        def load():
            return [bytes(1000) for _ in range(3000)]

        @pytest.mark.sonde(max_leak="1 MB")
        def test_deep():
            kept.append(load())

        @pytest.mark.sonde(max_leak="100 kB")
        def test_freed_is_no_leak():
            data = [bytes(1000) for _ in range(3000)]
            data.append(data)

        @pytest.mark.sonde(max_leak="100 kB")
        def test_imports_and_patterns_are_no_leak():
            import email.mime.text, sqlite3, xml.dom.minidom, re
            for i in range(200):
                re.compile("a%db(c|d)*[e-f]+" % i)

        @pytest.mark.sonde(max_leak="100 kB", warmups=1)
        def test_warm_cache():
            if not hasattr(test_warm_cache, "cache"):
                test_warm_cache.cache = [bytes(1000) for _ in range(3000)]

        @pytest.mark.sonde(max_calls={"outer": 10, "test_it:inner": 5, "Query.run": 2, "len": 3})
        def test_calls():
            [outer(n) for n in range(11)]
            [Query().run() for _ in range(4)]

        @pytest.mark.sonde(max_calls={"outer": 11, "test_it:inner": 11, "run": 4, "Query.run": 4, "json:dumps": 0})
        def test_calls_that_are_allowed():
            [outer(n) for n in range(11)]
            [Query().run() for _ in range(4)]

        @pytest.mark.sonde(max_calls={"outre": 10})
        def test_misspelt():
            outer(1)

        @pytest.mark.sonde(max_calls={"test_it:outre": 10})
        def test_misspelt_in_module():
            outer(1)

        @pytest.mark.sonde(max_calls={"no.such.module:outer": 10})
        def test_misspelt_module():
            outer(1)

        @pytest.mark.sonde(max_seconds=0.05, max_peak="1 MB", max_leak=1000, max_calls={"outer": 0})
        def test_all():
            kept.append(bytearray(3_000_000))
            burn(0.1)
            outer(1)

        @pytest.mark.xfail
        @pytest.mark.sonde(max_seconds=0.01)
        def test_expected():
            burn(0.05)

        @pytest.mark.sonde(max_cpu_seconds=0.1)
        @pytest.mark.parametrize("seconds", [0.0001, 0.2])
        def test_each(seconds):
            burn(seconds)

        @pytest.mark.sonde(max_seconds=0.01)
        class TestClass:
            def test_inherits(self):
                burn(0.05)

            @pytest.mark.sonde(max_seconds=100)
            def test_has_its_own(self):
                burn(0.05)

            @pytest.mark.sonde(max_seconds=None)
            def test_has_none(self):
                burn(0.05)

        @pytest.mark.sonde(max_seconds=0.01)
        class TestCase(unittest.TestCase):
            def test_method(self):
                burn(0.05)

        @pytest.mark.sonde(max_seconds=0.01)
        def test_async():
            asyncio.run(asyncio.sleep(0.05))

        @pytest.fixture
        def slow():
            kept_here = [bytes(1000) for _ in range(3000)]
            burn(0.3)
            yield kept_here
            burn(0.3)

        @pytest.mark.sonde(max_cpu_seconds=0.25, max_peak="1 MB", max_leak="1 MB", max_calls={"burn": 0})
        def test_fixtures_are_free(slow):
            pass

        @pytest.mark.sonde(max_seconds=0.01)
        def test_fails_by_itself():
            burn(0.05)
            assert 1 == 2

        @pytest.mark.sonde(max_seconds=0.01)
        def test_skips():
            pytest.skip("not here")

        @pytest.mark.sonde(max_seconds=0.01)
        def test_thread():
            thread = threading.Thread(target=burn, args=(0.05,))
            thread.start()
            thread.join()
        """
    )


PASSING = [
    "test_cheap",
    "test_sleep_is_no_cpu",
    "test_peak_is_not_a_sum",
    "test_freed_is_no_leak",
    "test_imports_and_patterns_are_no_leak",
    "test_warm_cache",
    "test_calls_that_are_allowed",
    "test_each[0.0001]",
    "TestClass::test_has_its_own",
    "TestClass::test_has_none",
    "test_fixtures_are_free",
]
FAILING = [
    "test_long",
    "test_cpu",
    "test_peak",
    "test_leak",
    "test_deep",
    "test_calls",
    "test_misspelt",
    "test_misspelt_in_module",
    "test_misspelt_module",
    "test_all",
    "test_each[0.2]",
    "TestClass::test_inherits",
    "TestCase::test_method",
    "test_async",
    "test_fails_by_itself",
    "test_thread",
]


def test_a_budget_that_holds_passes(budgets):
    assert {name: budgets.results().get(name) for name in PASSING} == dict.fromkeys(PASSING, "PASSED"), budgets


def test_a_budget_that_does_not_hold_is_a_failure_of_the_test(budgets):
    assert {name: budgets.results().get(name) for name in FAILING} == dict.fromkeys(FAILING, "FAILED"), budgets
    assert budgets.status == 1
    assert "INTERNALERROR" not in budgets.out


def test_a_failure_that_is_expected_is_one(budgets):
    assert budgets.results()["test_expected"] == "XFAIL"


def test_a_failure_says_what_was_measured_and_what_is_allowed(budgets):
    assert re.match(r"sonde: took [\d.]+ s, allowed 0\.05 s\n", budgets.about("test_long"))
    assert re.match(r"sonde: used 0\.\d+ s of CPU, allowed 0\.05 s\n", budgets.about("test_cpu"))
    assert re.match(r"sonde: peak 3\.\d+ MB, allowed 1 MB\n", budgets.about("test_peak"))
    assert re.match(r"sonde: kept 3\.\d+ MB, allowed 1 MB\n", budgets.about("test_leak"))
    assert "outer called 11 times, allowed 10" in budgets.about("test_calls")


def test_a_failure_says_where(budgets):
    assert re.search(
        r"\d%  +[\d.]+ m?s  test_it\.py:\d+  while time.*: sum\(range\(100\)\)", budgets.about("test_long")
    )
    assert re.search(r"3\.\d+ MB  test_it\.py:\d+  data = \[bytes", budgets.about("test_peak"))
    assert re.search(r"3\.\d+ MB  test_it\.py:\d+  kept\.append", budgets.about("test_leak"))
    assert re.search(
        r"3\.\d+ MB  test_it\.py:\d+  return \[bytes.*\n +from test_it\.py:\d+\n", budgets.about("test_deep")
    )
    calls = budgets.about("test_calls")
    assert re.search(r"test_it\.py:\d+ outer: 11 times\n +(11|10) times from test_it\.py:\d+ test_calls", calls)
    assert re.search(r"test_it:inner called 11 times, allowed 5\n +test_it\.py:\d+ inner: 11 times", calls)
    assert "Query.run called 4 times, allowed 2" in calls
    assert "len called 4 times, allowed 3" in calls


def test_all_limits_of_a_test_are_told_at_once(budgets):
    about = budgets.about("test_all")
    first = about.splitlines()[0]
    for words in ("took ", "peak ", "kept ", "outer called once, allowed 0"):
        assert words in first
        assert about.count(words) == 2
    assert "memory and calls were measured too, which takes time" in about


def test_a_test_that_fails_by_itself_says_only_why(budgets):
    about = budgets.about("test_fails_by_itself")
    assert "assert 1 == 2" in about
    assert "allowed" not in about


def test_a_name_that_no_function_has_is_told(budgets):
    told = "no function has this name, so its calls cannot be checked"
    assert f"sonde: outre: {told}" in budgets.about("test_misspelt")
    assert f"sonde: test_it:outre: {told}" in budgets.about("test_misspelt_in_module")
    assert f"sonde: no.such.module:outer: {told}" in budgets.about("test_misspelt_module")


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ("max_second=1", "the mark sonde has no max_second; choose from max_seconds, max_cpu_seconds, max_peak"),
        ("3", "the mark sonde takes its limits as keywords: max_seconds=3"),
        ("max_seconds='1'", "max_seconds must be a number of seconds above 0, not '1'"),
        ("max_seconds=0", "max_seconds must be a number of seconds above 0, not 0"),
        ("max_cpu_seconds=float('nan')", "max_cpu_seconds must be a number of seconds above 0, not nan"),
        ("max_peak='24 XB'", "max_peak must be a size such as '24 MB', '512 KiB' or a number of bytes, not '24 XB'"),
        ("max_peak='MB'", "max_peak must be a size"),
        ("max_leak=-1", "max_leak must be a size"),
        ("max_leak=True", "max_leak must be a size"),
        ("max_calls=3", "max_calls must be a dictionary such as {'load': 1}, not 3"),
        ("max_calls={}", "max_calls must be a dictionary"),
        ("max_calls={'f': 'x'}", "max_calls: how often 'f' may be called must be a whole number, not 'x'"),
        ("max_calls={1: 1}", "max_calls: write a function as 'f', 'Class.f' or 'module:Class.f', not 1"),
        ("warmups=-1", "warmups must be a whole number from 0 to 1000, not -1"),
    ],
)
def test_a_mistake_in_a_mark_has_words(mark, told):
    from sonde.pytest_plugin import budget

    arguments, words = eval(f"(lambda *a, **k: (a, k))({mark})")
    with pytest.raises(budget.Mistake) as mistake:
        budget.read([(arguments, words)])
    assert str(mistake.value).startswith(told)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("24 MB", 24_000_000),
        ("24MiB", 24 << 20),
        ("1.5 kB", 1500),
        ("0.5 gib", 1 << 29),
        ("100 bytes", 100),
        ("7B", 7),
        (1234, 1234),
        (0, 0),
    ],
)
def test_sizes(text, size):
    from sonde.pytest_plugin import budget

    assert budget.read([((), {"max_peak": text})]).max_peak.size == size


def test_a_mistake_in_a_mark_is_told_before_any_test_runs(tests):
    code = """
        @pytest.mark.sonde(max_peak="24 XB")
        def test_wrong(): pass
        def test_right(): print("was called")
        """
    wrong = tests.run(code=code)
    assert wrong.status == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: test_it.py::test_wrong: max_peak must be a size" in wrong.err
    assert "was called" not in wrong.out
    assert tests.run("-k", "right").results() == {"test_right": "PASSED"}


def test_what_cannot_be_measured_is_not_passed(tests):
    outcome = tests.run(
        code="""
        @pytest.mark.sonde(max_calls={"outer": 5})
        def test_calls():
            outer(1)

        @pytest.fixture(autouse=True)
        def other():
            from sonde import profiler
            with profiler.Profile():
                yield

        @pytest.mark.sonde(max_seconds=100)
        def test_ended():
            from sonde._runtime import session as _session
            _session.end()

        def test_no_budget():
            pass
        """
    )
    assert outcome.results() == {"test_calls": "FAILED", "test_ended": "FAILED", "test_no_budget": "PASSED"}, outcome
    assert "cannot check the budget: another call profile" in outcome.about("test_calls")
    assert "cannot check the budget: the test stopped all profiling" in outcome.about("test_ended")


def test_a_test_may_use_sonde_itself(tests):
    outcome = tests.run(
        "--sonde",
        code="""
        import sonde

        @pytest.mark.sonde(max_seconds=100, max_peak="50 MB", max_leak="10 MB")
        def test_uses_all(tmp_path):
            with sonde.sample() as s:
                burn(0.05)
            assert s.rows("lines")
            with sonde.memory() as m:
                data = bytes(2_000_000)
                assert m.live_bytes >= 2_000_000
            with sonde.record(tmp_path / "own.sonde"):
                burn(0.01)
            assert (tmp_path / "own.sonde").exists()
            from sonde import profiler
            profile = profiler.Profile()
            profile.runcall(outer, 1)
            assert profile.getstats()

        def test_after_it():
            from sonde import _core
            with sonde.sample() as s:
                burn(0.02)
            assert sum(row["time_ns"] for row in s.rows("lines")) > 0
        """,
    )
    assert outcome.results() == {"test_uses_all": "PASSED", "test_after_it": "PASSED"}, outcome


TIMED = """
    took = pathlib.Path("took")

    def hot():
        burn(0.1)
        time.sleep(0.4)

    def test_slow():
        start = time.perf_counter()
        hot()
        took.write_text(str(time.perf_counter() - start))

    def test_slower():
        while not took.exists() or not took.read_text():  # in a worker of its own
            time.sleep(0.01)
        time.sleep(0.5 + float(took.read_text()))

    def test_quick():
        print("said")

    @pytest.mark.sonde(max_seconds=0.01)
    @pytest.mark.parametrize("name", ["a/b", "../../c", "ü" * 300])
    def test_named(name):
        time.sleep(0.05)
    """


@repeats
def test_the_slowest_tests_are_listed_with_their_lines(tests):
    outcome = tests.run("--sonde", "--sonde-top", "2", code=TIMED)
    section = outcome.out.partition("= slowest tests =")[2].partition("\n=")[0]
    listed = re.findall(r"^ +[\d.]+ m?s  test_it\.py::(\w+)$", section, re.MULTILINE)
    assert listed == ["test_slower", "test_slow"], outcome
    waited = re.search(r"waited  +[\d.]+ m?s  test_it\.py:\d+  time\.sleep\(0\.5 \+ .*\)  \(sleep\)", section)
    expect(waited is not None, section)
    kept = sorted(path.name for path in (tests.folder / ".sonde").iterdir())
    assert kept == [".gitignore", "test_it.py--test_slow.sonde", "test_it.py--test_slower.sonde"]
    assert "recordings in .sonde: sonde report --open .sonde/test_it.py--test_slower.sonde" in section
    program = str(Path(sys.executable).parent / "sonde")
    view = [program, "view", str(tests.folder / ".sonde" / "test_it.py--test_slow.sonde"), "--lines"]
    assert "sum(range(100))" in subprocess.run(view, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("count", "said"), [(1, "1 test not measured: busy"), (2, "2 tests not measured: busy")])
def test_tests_without_a_measurement_are_counted(tmp_path, count, said):
    assert Slowest(tmp_path, ".sonde", 10, False).summary([{"seconds": None, "reason": "busy"}] * count) == [said]


def test_recordings_have_safe_names(tests):
    outcome = tests.run("--sonde-memory", "--sonde-dir", "here/recordings", "-k", "named", code=TIMED)
    names = [path.name for path in (tests.folder / "here" / "recordings").glob("*.sonde")]
    assert len(names) == 3, outcome
    assert all(re.fullmatch(r"[\w.-]{1,200}\.sonde", name, re.ASCII) for name in names)
    assert list(outcome.results().values()) == ["FAILED"] * 3
    program = str(Path(sys.executable).parent / "sonde")
    view = [program, "view", str(tests.folder / "here" / "recordings" / names[0]), "--memory"]
    assert "peak" in subprocess.run(view, capture_output=True, text=True, check=True).stdout


def test_a_folder_that_cannot_be_written_is_told(tests):
    (tests.folder / "file").write_text("")
    outcome = tests.run("--sonde", "--sonde-dir", "file/sub", "-k", "quick", code=TIMED)
    assert outcome.status == 0
    assert "not kept: " in outcome.out
    assert "recordings in" not in outcome.out


@repeats
def test_under_sonde_run_tests_are_regions_of_its_recording(tests):
    pytest_in = [str(Path(sys.executable).parent / "sonde"), "run", "-o", "all.sonde", "--no-report", "-m", "pytest"]
    tests.write(
        TIMED + "\n    @pytest.mark.sonde(max_leak='1 MB')\n    def test_kept(): kept.append(bytes(2_000_000))\n"
    )
    options = [
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",  # test_slower waits for test_slow
        "-rA",
        "-W",
        "error::pytest.PytestAssertRewriteWarning",
        "--sonde",
        "-k",
        "slow or kept",
    ]
    done = subprocess.run([*pytest_in, *options], cwd=tests.folder, capture_output=True, text=True)
    outcome = Outcome(done.returncode, done.stdout, done.stderr)
    assert outcome.results() == {"test_slow": "PASSED", "test_slower": "PASSED", "test_kept": "FAILED"}, outcome
    assert re.search(r"kept 2(\.\d+)? MB, allowed 1 MB", outcome.out)
    slow = outcome.out.partition("test_it.py::test_slow\n")[2].partition("::")[0]
    expect(re.search(r"test_it\.py:\d+  time\.sleep\(0\.4\)", slow) is not None, slow)
    assert "time.sleep(0.5" not in slow
    view = [pytest_in[0], "view", "all.sonde", "--regions"]
    regions = subprocess.run(view, cwd=tests.folder, capture_output=True, text=True, check=True).stdout
    assert "test_it.py::test_slower" in regions


@pytest.mark.slow
def test_workers_of_xdist(tests):
    outcome = tests.run("-n", "2", "--sonde", "--sonde-top", "2", code=TIMED)
    results = outcome.results()
    assert (results["test_slow"], results["test_quick"]) == ("PASSED", "PASSED"), outcome
    assert [result for name, result in results.items() if "named" in name] == ["FAILED"] * 3
    section = outcome.out.partition("= slowest tests =")[2]
    assert re.findall(r"^ +[\d.]+ m?s  test_it\.py::(\w+)$", section, re.MULTILINE) == ["test_slower", "test_slow"]
    assert len(list((tests.folder / ".sonde").glob("*.sonde"))) == 2
    wrong = tests.run("-n", "1", code="@pytest.mark.sonde(max_second=1)\ndef test_wrong(): pass")
    assert "sonde: the mark sonde has no max_second" in wrong.about("test_wrong"), wrong


def test_coroutines_of_an_async_plugin(tests):
    outcome = tests.run(
        "-p",
        "anyio",
        code="""
        @pytest.fixture
        def anyio_backend():
            return "asyncio"

        @pytest.mark.anyio
        @pytest.mark.sonde(max_seconds=0.01)
        async def test_waits():
            await asyncio.sleep(0.05)

        @pytest.mark.anyio
        @pytest.mark.sonde(max_calls={"outer": 1})
        async def test_calls():
            outer(1), outer(2)
        """,
    )
    assert outcome.results() == {"test_waits": "FAILED", "test_calls": "FAILED"}, outcome
    # A coroutine that is suspended is on no stack: what waits is its loop. The test's own line is met or not.
    waits = r"waited +[\d.]+ m?s  \S+selectors\.py:\d+ .*\(I/O\)|the rest outside your own code, waiting"
    assert re.search(waits, outcome.about("test_waits"))


def test_the_plugin_leaves_other_runs_alone(tests):
    code = """
        import sys

        def test_plain():
            heavy = ["budget", "measured", "slowest"]
            assert not any(f"sonde.pytest_plugin.{name}" in sys.modules for name in heavy)
            from sonde import _core
            assert not _core.is_running()
        """
    outcome = tests.run(code=code)
    assert outcome.results() == {"test_plain": "PASSED"}, outcome
    assert "slowest" not in outcome.out
    assert not (tests.folder / ".sonde").exists()
    assert "sonde(max_seconds=None" in tests.run("--markers").out
    assert "\nsonde: where your tests spend their time:\n" in tests.run("--help").out
    bad = tests.run("--sonde-top", "0")
    assert bad.status == pytest.ExitCode.USAGE_ERROR
    assert "--sonde-top" in bad.err
