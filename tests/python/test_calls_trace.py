"""``sonde trace``: the program runs as without us, its calls are in a table and in a recording."""

import json
import os
import pstats
import shutil
import signal
import subprocess
import sys

import pytest
from sonde_programs import PROGRAMS
from wait_support import sum_so_far, until

from sonde.tracing import Profile

pytestmark = pytest.mark.interpreter


@pytest.fixture
def traced(sonde):
    shutil.copyfile(PROGRAMS / "calls_traced.py", sonde.folder / "prog.py")
    return sonde


def plain_run(folder, *words):
    return subprocess.run(
        [sys.executable, "prog.py", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


def calls_of(sonde, view="functions", recording="r.sonde"):
    text = sonde.command("export", recording, "--format", "json", "--view", view).stdout
    return json.loads(text)["rows"]


def named(rows, name):
    return [row for row in rows if row["name"] == name]


@pytest.mark.quick
def test_a_traced_program_behaves_as_without_us_and_leaves_its_calls(traced):
    words = ["--include", "prog.py", "--no-builtins", "-o", "r.sonde", "prog.py", "one", "--help", "-o", "x"]
    done = traced.command("trace", *words)
    assert done.stdout == "argv one --help -o x\n"
    assert "prog.py:10(leaf)" in done.stderr
    assert "recording saved in" in done.stderr
    rows = calls_of(traced)
    assert {name: named(rows, name)[0]["calls"] for name in ("leaf", "twice", "main", "on_thread", "Point.move")} == {
        "leaf": 35,
        "twice": 15,
        "main": 1,
        "on_thread": 1,
        "Point.move": 1,
    }


@pytest.mark.parametrize("how", ["return", "status", "raise", "_exit", "term", "int"])
def test_it_ends_as_it_would_and_the_recording_is_complete(traced, how):
    expected = plain_run(traced.folder, how)
    done = traced.command("trace", "-o", "r.sonde", "--no-report", "prog.py", how, status=None)
    assert done.returncode == expected.returncode
    assert done.stdout == expected.stdout
    assert expected.stderr in done.stderr
    rows = calls_of(traced)
    assert named(rows, "leaf")[0]["calls"] == 35
    assert not [row for row in rows if "-packages/sonde/" in (row["file"] or "") or "sonde._core" in row["name"]]


def test_the_default_name_is_made_of_the_program_and_its_process(traced):
    traced.command("trace", "prog.py")
    assert [path.name for path in traced.folder.glob("prog-*.sonde")]


def test_a_module_runs_as_python_m(traced):
    (traced.folder / "package").mkdir()
    (traced.folder / "package" / "__init__.py").write_text("")
    (traced.folder / "package" / "__main__.py").write_text(
        "import sys\nfrom package import other\nprint(__name__, __package__, __spec__.name, sys.argv[1:], other.f())\n"
    )
    (traced.folder / "package" / "other.py").write_text("def f():\n    return 3\n")
    done = traced.command("trace", "-o", "r.sonde", "-m", "package", "--sort", "a")
    assert done.stdout == "__main__ package package.__main__ ['--sort', 'a'] 3\n"
    assert named(calls_of(traced), "f")[0]["calls"] == 1


def test_signatures(traced):
    traced.command("trace", "--signatures", "-o", "r.sonde", "prog.py")
    texts = [row["signature"] for row in calls_of(traced, "signatures")]
    assert "leaf(n:int)" in texts
    assert "Point.move(by:float, fast:bool)" in texts
    shown = traced.command("view", "r.sonde", "--signatures", "leaf").stdout
    assert "leaf(n:int)" in shown


def test_no_builtins_and_filters(traced):
    traced.command("trace", "--no-builtins", "-o", "r.sonde", "prog.py")
    assert {row["kind"] for row in calls_of(traced)} == {"function"}
    traced.command("trace", "--include", "prog.py", "-o", "r.sonde", "prog.py")
    assert {row["file"] for row in calls_of(traced) if row["kind"] == "function"} == {str(traced.folder / "prog.py")}
    traced.command("trace", "--exclude", "leaf,*/threading.py", "-o", "r.sonde", "prog.py")
    rows = calls_of(traced)
    assert not named(rows, "leaf")
    assert named(rows, "twice")
    assert not [row for row in rows if (row["file"] or "").endswith("/threading.py")]


def test_a_filter_that_leaves_nothing_says_so(traced):
    done = traced.command("trace", "--include", "nothing", "-o", "r.sonde", "prog.py")
    assert "sonde: no calls were measured\n" in done.stderr
    done = traced.command("diff", "r.sonde", "r.sonde", status=2)
    assert done.stderr.endswith(": r.sonde has nothing to compare, r.sonde has nothing to compare\n")


def test_callers_and_callees_and_the_keys_of_pstats(traced):
    traced.command("trace", "-o", "r.sonde", "prog.py")
    callers = traced.command("view", "r.sonde", "^prog.py:10", "--callers").stdout
    assert "twice" in callers
    assert "on_thread" in callers
    callees = traced.command("view", "r.sonde", "^prog.py:14", "--callees").stdout
    assert "leaf" in callees
    most = traced.command("view", "r.sonde", "prog.py", "--functions", "--sort", "ncalls", "--limit", "1").stdout
    assert "leaf" in most
    assert "twice" not in most


def test_the_timeline_has_every_call(traced):
    traced.command("trace", "--timeline", "--include", "prog.py", "--no-builtins", "-o", "r.sonde", "prog.py")
    events = json.loads(traced.command("export", "r.sonde", "--format", "chrome").stdout)["traceEvents"]
    names = [event["name"] for event in events if event.get("ph") == "X"]
    assert sum("leaf" in name for name in names) == 35


def test_regions_of_the_program_are_in_the_same_recording(traced):
    (traced.folder / "prog.py").write_text(
        "import sonde\nsonde.install()\ndef f():\n    with sonde.region('inside'):\n        pass\nf()\n"
    )
    done = traced.command("trace", "-o", "r.sonde", "prog.py")
    assert "inside" in done.stderr
    assert [
        row["name"]
        for row in json.loads(traced.command("export", "r.sonde", "--format", "json", "--view", "regions").stdout)[
            "rows"
        ]
    ] == ["<main>", "inside"]
    assert named(calls_of(traced), "f")[0]["calls"] == 1


def test_a_program_that_uninstalls_regions_is_traced_to_its_end(traced):
    (traced.folder / "prog.py").write_text(
        "import sonde\ndef f():\n    pass\nsonde.install()\nf()\nsonde.uninstall()\nf()\nsonde.install()\nf()\n"
    )
    done = traced.command("trace", "-o", "r.sonde", "prog.py")
    assert "Traceback" not in done.stderr
    assert named(calls_of(traced), "f")[0]["calls"] == 3


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["trace"], "trace needs a program"),
        (["trace", "none.py"], "none.py: No such file or directory"),
        (["trace", "--signature", "prog.py"], "did you mean '--signatures'?"),
        (["trace", "-o", "no/such/folder/r.sonde", "prog.py"], "no/such/folder"),
    ],
)
def test_mistakes_get_one_line(traced, words, line):
    done = traced.command(*words, status=None)
    assert done.returncode in (1, 2)
    assert line in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "argv" not in done.stdout


def test_the_standard_interface_as_a_program(traced):
    done = traced.run([sys.executable, "-m", "sonde.tracing", "-s", "tottime", "prog.py", "status"])
    assert "argv status" in done.stdout
    assert "Ordered by: internal time" in done.stdout
    traced.run([sys.executable, "-m", "sonde.tracing", "-o", "out.prof", "prog.py"])
    stats = pstats.Stats(str(traced.folder / "out.prof")).stats
    assert stats[str(traced.folder / "prog.py"), 10, "leaf"][1] == 35
    done = traced.run([sys.executable, "-m", "sonde.tracing"], status=2)
    assert "sage" in done.stdout + done.stderr


def test_a_killed_program_leaves_what_it_had(traced):
    (traced.folder / "prog.py").write_text(
        "import time\ndef f():\n    pass\nfor i in range(1000):\n    f()\nprint('ready', flush=True)\ntime.sleep(60)\n"
    )
    program = subprocess.Popen(
        [sys.executable, "-m", "sonde", "trace", "-o", "r.sonde", "prog.py"],
        cwd=traced.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ},
    )
    assert program.stdout is not None
    assert program.stdout.readline() == b"ready\n"
    until(lambda: sum_so_far(traced, "functions", "calls", name="f") == 1000)
    program.send_signal(signal.SIGKILL)
    program.wait()
    program.stdout.close()
    assert named(calls_of(traced), "f")[0]["calls"] == 1000
    assert named(calls_of(traced), "<module>")[0]["open"] == 1


def note_of(sonde):
    lines = sonde.command("info", "r.sonde").stdout.splitlines()
    return [line.split(maxsplit=1)[1] for line in lines if line.startswith("note")]


def test_a_profiler_that_takes_the_hook_away_is_noted(sonde):
    (sonde.folder / "prog.py").write_text(
        "import cProfile\nprofile = cProfile.Profile()\nprofile.enable()\nlen('')\nprofile.disable()\n"
    )
    sonde.command("trace", "--no-report", "-o", "r.sonde", "prog.py")
    lost = "another profiler took over the profile hook: later calls are missing"
    assert note_of(sonde) == ([] if hasattr(sys, "monitoring") else [lost])


def test_an_evaluation_hook_that_misses_calls_is_noted(sonde):
    """That of the first 3.11 versions does."""
    (sonde.folder / "prog.py").write_text("def f(): pass\nf()\n")
    sonde.command("trace", "--no-builtins", "--no-report", "-o", "r.sonde", "prog.py")
    misses = "this Python's evaluation hook misses some calls: using the slower profile hook"
    assert note_of(sonde) == ([misses] if Profile(builtins=False).hook() == "the profile hook" else [])
