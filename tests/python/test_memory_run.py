"""``sonde run --memory``: what stands in the recording and the summary, its options, and what it says to mistakes."""

import json
import sqlite3

import pytest
from run_support import infos

pytestmark = pytest.mark.interpreter

MB = 1_000_000
PROGRAM = """\
import sys
kept = []
def grow(size):
    kept.append(bytes(size))
def pass_by(size):
    return len(bytes(size))
grow(30_000_000)
pass_by(50_000_000)
small = []
for _ in range(5000):
    small.append(bytes(1000))
print("ran", *sys.argv[1:])
"""


@pytest.fixture
def project(sonde):
    (sonde.folder / "prog.py").write_text(PROGRAM)
    return sonde


def lines(sonde, column, recording="r.sonde"):
    """A column of the view of memory, summed over the lines of prog.py."""
    with sqlite3.connect(sonde.folder / recording) as db:
        sql = f"select line, sum({column}) from memory where file like '%prog.py' group by line"
        return dict(db.execute(sql).fetchall())


@pytest.mark.quick
def test_known_allocations_stand_at_their_lines(project):
    done = project.command("run", "--memory", "-o", "r.sonde", "prog.py", "a")
    assert done.stdout == "ran a\n"
    allocated, peak, live = (lines(project, name) for name in ("alloc_python", "live_peak", "live"))
    assert allocated[4] == pytest.approx(30 * MB, rel=0.01)
    assert allocated[6] == pytest.approx(50 * MB, rel=0.01)
    assert (peak[4], peak[6]) == (pytest.approx(30 * MB, rel=0.01), pytest.approx(50 * MB, rel=0.01))
    assert (live[4], live[6]) == (pytest.approx(30 * MB, rel=0.01), 0)
    facts = infos(project)
    assert {"sample", "memory"} <= set(facts["probes"].split(", "))
    assert int(facts["peak_bytes"]) == pytest.approx(80 * MB, rel=0.02)
    assert int(facts["peak_bytes"]) == pytest.approx(sum_of(project, "live_peak"), rel=0.001)
    assert int(facts["live_bytes"]) == pytest.approx(sum_of(project, "live"), rel=0.001)
    assert (facts["memory_exact"], facts["memory_interval_bytes"]) == ("0", "131072")
    assert int(facts["rss_peak_bytes"]) >= int(facts["rss_start_bytes"]) > MB


def sum_of(sonde, column):
    with sqlite3.connect(sonde.folder / "r.sonde") as db:
        return db.execute(f"select sum({column}) from memory").fetchone()[0]


def test_the_summary_shows_the_peak(project):
    text = project.command("run", "--memory", "-o", "r.sonde", "prog.py").stderr
    assert "peak" in text.lower()
    assert "prog.py" in text
    assert "recording saved in" in text
    without = project.command("run", "-o", "r.sonde", "prog.py").stderr
    assert "peak" not in without.lower()


def test_without_the_option_there_is_no_memory(project):
    project.command("run", "--no-report", "-o", "r.sonde", "prog.py")
    facts = infos(project)
    assert "memory" not in facts["probes"]
    assert "peak_bytes" not in facts
    assert lines(project, "alloc_python") == {}


@pytest.mark.parametrize("options", [["--exact"], ["--memory", "--exact"], ["--exact", "--memory-interval", "4096"]])
def test_exact_means_memory_too(project, options):
    project.command("run", *options, "--no-report", "-o", "r.sonde", "prog.py")
    assert infos(project)["memory_exact"] == "1"
    assert lines(project, "alloc_blocks")[11] == pytest.approx(5000, rel=0.02)
    assert lines(project, "live")[11] == pytest.approx(5000 * 1033, rel=0.02)
    assert lines(project, "live_peak")[4] == pytest.approx(30 * MB, rel=0.01)


def test_an_interval(project):
    project.command("run", "--memory-interval", "4096", "--no-report", "-o", "r.sonde", "prog.py")
    facts = infos(project)
    assert (facts["memory_exact"], facts["memory_interval_bytes"]) == ("0", "4096")
    assert lines(project, "alloc_python")[11] == pytest.approx(5000 * 1033, rel=0.25)


@pytest.mark.parametrize(
    "line, exact", [("memory = true", "0"), ("exact = true", "1"), ("memory-interval = 8192", "0")]
)
def test_defaults_of_a_project(project, line, exact):
    (project.folder / "pyproject.toml").write_text(f"[tool.sonde]\n{line}\n")
    project.command("run", "--no-report", "-o", "r.sonde", "prog.py")
    assert infos(project)["memory_exact"] == exact
    assert lines(project, "live")[4] == pytest.approx(30 * MB, rel=0.01)


def test_a_project_may_say_no(project):
    (project.folder / "pyproject.toml").write_text("[tool.sonde]\nmemory = false\nexact = false\n")
    project.command("run", "--no-report", "-o", "r.sonde", "prog.py")
    assert "memory" not in infos(project)["probes"]


MISTAKES = {
    "--memory-interval 0": "memory-interval must be a whole number from 1024 to 1073741824, not 0",
    "--memory-interval 1023": "memory-interval must be a whole number from 1024 to 1073741824, not 1023",
    "--memory-interval 1e12": "memory-interval must be a whole number from 1024 to 1073741824, not 1e12",
    "--memory-interval 128K": "memory-interval must be a whole number from 1024 to 1073741824, not 128K",
    "--memory-interval nan": "memory-interval must be a whole number from 1024 to 1073741824, not nan",
    "--memory-interval= --memory": "memory-interval must be a whole number from 1024 to 1073741824, not nothing",
    "--memory=yes": "run has no option '--memory=yes'; did you mean '--memory'?",
    "--exakt": "run has no option '--exakt'; did you mean '--exact'?",
    "--rate 0 --memory": "rate must be a whole number from 1 to 20000, not 0",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_gets_one_line_and_status_2(project, words):
    done = project.command("run", *words.split(" "), "prog.py", status=2)
    assert done.stderr == f"sonde: {MISTAKES[words]}\n"
    assert done.stdout == ""


PROJECTS = {
    "memory = 1": "memory must be true or false, not 1",
    "exact = 'yes'": "exact must be true or false, not 'yes'",
    "memory-interval = 5": "memory-interval must be a whole number from 1024 to 1073741824, not 5",
    "memory-interval = true": "memory-interval must be a whole number from 1024 to 1073741824, not True",
}


@pytest.mark.parametrize("line", PROJECTS)
def test_a_mistake_in_pyproject_gets_one_line(project, line):
    (project.folder / "pyproject.toml").write_text(f"[tool.sonde]\n{line}\n")
    done = project.command("run", "prog.py", status=2)
    assert done.stderr == f"sonde: {project.folder / 'pyproject.toml'}: [tool.sonde]: {PROJECTS[line]}\n"


@pytest.mark.parametrize("options", [["--memory"], ["--exact"]])
@pytest.mark.parametrize("code, status", [("sys.exit(3)", 3), ("1 / 0", 1), ("os._exit(5)", 5)])
def test_the_end_is_the_programs_own(project, options, code, status):
    program = "import os, sys\nkept = bytes(20_000_000)\nsys.stderr.write('wrote\\n')\n" + code + "\n"
    plain = project.python(program, status=status)
    done = project.command("run", *options, "--no-report", "-o", "r.sonde", "prog.py", status=status)
    ours = [line for line in done.stderr.splitlines() if not line.startswith("sonde: recording saved")]
    assert (done.stdout, ours) == (plain.stdout, plain.stderr.splitlines())
    assert lines(project, "live_peak")[2] == pytest.approx(20 * MB, rel=0.01)
    assert infos(project)["complete"] == "1"


def test_a_block_of_the_program_leaves_the_run_its_peak(project):
    code = """
    import json, sonde
    data = bytes(60_000_000)
    del data
    with sonde.memory() as m:
        data = bytes(20_000_000)
        before = sonde.snapshot()
        del data
        change = sonde.compare(before, sonde.snapshot())[0]
    print(json.dumps([m.peak_bytes, change.size_diff]))
    """
    (project.folder / "prog.py").write_text("\n".join(line[4:] for line in code.splitlines()))
    done = project.command("run", "--memory", "--no-report", "-o", "r.sonde", "prog.py")
    peak, change = json.loads(done.stdout)
    assert peak == pytest.approx(20 * MB, abs=4 * MB)  # and the modules that it has imported
    assert change == pytest.approx(-20 * MB, rel=0.02)
    assert int(infos(project)["peak_bytes"]) == pytest.approx(60 * MB, abs=4 * MB)
    assert lines(project, "live_peak")[3] == pytest.approx(60 * MB, rel=0.01)


def test_nothing_is_counted_before_the_program_wants_it(project):
    code = "import sonde\nfirst = bytes(40_000_000)\nsonde.start()\nsecond = bytes(20_000_000)\nsonde.stop()\n"
    (project.folder / "prog.py").write_text(code + "third = bytes(30_000_000)\n")
    project.command("run", "--memory", "--start-paused", "--no-report", "-o", "r.sonde", "prog.py")
    allocated = lines(project, "alloc_python")
    assert allocated.get(2, 0) == allocated.get(6, 0) == 0
    assert allocated[4] == pytest.approx(20 * MB, rel=0.01)


def test_a_forked_child_has_memory_of_its_own(project):
    code = """\
import os, time
parent = bytes(40_000_000)
if os.fork() == 0:
    child = bytes(20_000_000)
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        pass
else:
    os.wait()
"""
    (project.folder / "prog.py").write_text(code)
    project.command("run", "--memory", "--no-report", "-o", "r.sonde", "prog.py")
    allocated = lines(project, "alloc_python")  # of both: what the parent had before is not the child's
    assert allocated[2] == pytest.approx(40 * MB, rel=0.01)
    assert allocated[4] == pytest.approx(20 * MB, rel=0.01)


def test_what_sonde_imports_for_a_snapshot_is_not_the_programs(project):
    code = "import sonde\nkept = sonde.snapshot().statistics()\nprint('tracemalloc' in __import__('sys').modules)\n"
    (project.folder / "prog.py").write_text(code)
    done = project.command("run", "--exact", "--no-report", "-o", "r.sonde", "prog.py")
    assert done.stdout == "True\n"
    with sqlite3.connect(project.folder / "r.sonde") as db:
        assert db.execute("select count(*) from memory where file like '%pickle.py'").fetchone() == (0,)
        assert db.execute("select count(*) from memory where file like '%prog.py'").fetchone() != (0,)
