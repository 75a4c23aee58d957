"""``sonde run``: what it measures, when, and where that goes."""

import json
import subprocess
import sys

import pytest
from chance import expect, repeats
from run_support import SONDE, SPIN, functions, infos, run, total

pytestmark = pytest.mark.interpreter


@pytest.mark.quick
@repeats  # on a busy machine the sampler's thread may hardly run in a program of 0.2 s
def test_a_summary_and_a_recording(work):
    done = work.command("run", "-o", "r.sonde", "prog.py")
    lines = done.stderr.splitlines()
    assert lines[0].startswith("prog.py")
    assert lines[-1] == f"sonde: recording saved in {work.folder / 'r.sonde'}"
    assert "samples at 1000 Hz" in done.stderr
    assert "\x1b" not in done.stderr
    known = infos(work)
    assert (known["complete"], known["sample_rate_hz"]) == ("1", "1000")
    assert "sample" in known["probes"].split(", ")
    expect("while time.thread_time() < end:" in done.stderr, done.stderr)
    expect(functions(work)["spin"] == pytest.approx(0.2, rel=0.3), functions(work))
    expect({"first", "second", "main"} <= set(functions(work)), functions(work))


def test_the_stack_begins_with_the_program(work):
    work.command("run", "-o", "r.sonde", "--no-report", "prog.py", "thread")
    rows = work.command("sql", "r.sonde", "select distinct name, file from site where kind = 'line'", "-f", "json")
    assert not [row for row in json.loads(rows.stdout)["rows"] if "-packages/sonde/" in row["file"]]
    roots = (
        "select distinct below.name from node join site on site.id = node.site and site.kind in ('thread', 'region') "
        "join node as next on next.parent = node.id join site as below on below.id = next.site "
        "join track on track.id = node.track where below.kind = 'line' and track.name = 'main'"
    )
    rows = json.loads(work.command("sql", "r.sonde", roots, "-f", "json").stdout)["rows"]
    assert {row["name"] for row in rows} - {"_shutdown"} == {"<module>"}  # the interpreter itself waits for threads


def test_what_the_interpreter_puts_around_an_init_is_no_function(sonde):
    """From 3.12 on a specialised call of a class has a frame of the interpreter's own, whose file is "__init__"."""
    code = """
class Point:
    def __init__(self, n):
        for _ in range(n):
            pass
def make():
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        Point(1000)
make()
"""
    run(sonde, code)
    rows = sonde.export("r.sonde", "functions")["rows"]
    assert "Point.__init__" in {row["function"] for row in rows}
    assert "__init__" not in {row["function"] for row in rows}


def test_a_view_of_regions_without_any_says_how_to_mark_them(sonde):
    run(sonde, "pass")
    shown = sonde.command("view", "r.sonde", "--regions").stdout
    assert shown.endswith("\nno regions; mark them with sonde.region(name)\n")


def test_regions_count_without_install(work):
    work.command("run", "-o", "r.sonde", "--no-report", "prog.py")
    assert work.main("r.sonde")["both"].count == 1
    assert "region both" in work.command("view", "r.sonde", "--tree").stdout


def test_other_threads_are_seen(work):
    work.command("run", "-o", "r.sonde", "--no-report", "prog.py", "thread")
    names = [row["name"] for row in work.export("r.sonde", "threads")["rows"]]
    assert "main" in names and "helper" in names


@pytest.mark.quiet
def test_a_rate(work):
    work.command("run", "-o", "slow.sonde", "--rate", "2", "--no-report", "prog.py")
    work.command("run", "-o", "fast.sonde", "--rate", "2000", "--no-report", "prog.py")
    known = [infos(work, name) for name in ("slow.sonde", "fast.sonde")]
    slow, fast = (int(one["samples"]) / int(one["length_ns"]) for one in known)
    assert 2 * slow < fast  # 1000 times as many, but for those for which the sampler found no processor


def test_options_reach_the_sampler(sonde):
    code = "time.sleep(0.3)\nspin(0.1)\n"
    run(sonde, code, "--cpu-only", "--no-signals", "--no-timeline", "--no-report")
    assert infos(sonde)["signals"] == "0"
    assert sum(row["wait_sleep_ns"] or 0 for row in sonde.export("r.sonde", "functions")["rows"]) == 0
    assert sonde.command("export", "r.sonde", "--format", "chrome", status=None).returncode == 2
    run(sonde, code, "--native", "--no-report")
    assert infos(sonde)["native"] == "1"
    assert sonde.command("export", "r.sonde", "--format", "chrome").stdout


@repeats
def test_the_program_says_when_to_look(sonde):
    code = """
def unseen(): spin(0.1)
def seen(): spin(0.1)
unseen()
sonde.start()
seen()
sonde.stop()
unseen()
sonde.start()
seen()
"""
    run(sonde, code, "--start-paused", "--no-report")
    assert total(sonde, "unseen") < 0.02
    seen = functions(sonde)["spin"]
    expect(seen == pytest.approx(0.2, rel=0.3), f"{seen} s of 0.2 s")
    assert infos(sonde)["complete"] == "1"
    run(
        sonde, code.replace("sonde.start()\nseen()\nsonde.stop()", "with sonde.sample():\n    seen()"), "--start-paused"
    )
    assert total(sonde, "unseen") < 0.02


def test_nothing_was_looked_at(sonde):
    done = run(sonde, "spin(0.05)\nprint('ran')\n", "--start-paused")
    assert done.stdout == "ran\n"
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[0] == "sonde: no samples were taken"
    assert "recording saved in" in done.stderr


def test_stop_pauses_and_start_goes_on(sonde):
    run(sonde, "spin(0.1)\nsonde.stop()\ndef unseen(): spin(0.1)\nunseen()\nsonde.start()\nspin(0.1)\n", "--no-report")
    assert functions(sonde)["spin"] == pytest.approx(0.2, rel=0.3)
    assert total(sonde, "unseen") < 0.02


def test_a_duration_ends_the_samples_and_not_the_program(sonde):
    code = """
spin(0.1)
import subprocess
ask = [sys.argv[1], "sql", "r.sonde", "select value from info where key = 'complete'"]
def early():
    while subprocess.run(ask, capture_output=True, text=True).stdout.split()[-1:] != ["1"]:
        spin(0.01)
def late(): spin(0.1)
early()
print(time.monotonic_ns())
with sonde.region("late"):
    late()
print("end")
"""
    (sonde.folder / "prog.py").write_text(SPIN + code)
    done = sonde.command("run", "-o", "r.sonde", "--duration", "0.6", "prog.py", SONDE)
    assert done.stdout.endswith("\nend\n")
    assert total(sonde, "late") == 0
    assert functions(sonde)["spin"] > 0
    known = {name: int(infos(sonde)[name]) for name in ("start_monotonic_ns", "length_ns")}
    assert 6e8 <= known["length_ns"] <= int(done.stdout.split()[0]) - known["start_monotonic_ns"]
    assert "late" not in sonde.main("r.sonde").children
    assert "samples at 1000 Hz" in done.stderr


def test_a_duration_begins_with_the_first_look(sonde):
    run(sonde, "time.sleep(0.5)\nsonde.start()\nspin(0.1)\n", "--start-paused", "--duration", "0.4", "--no-report")
    assert functions(sonde)["spin"] > 0


def test_what_the_program_measures_itself_goes_into_the_recording_of_the_run(sonde):
    code = """
with sonde.sample(rate=50) as s:
    spin(0.1)
assert "spin" in s.output("functions")
sonde.install()
with sonde.region("installed"):
    spin(0.1)
sonde.report()
sonde.uninstall()
with sonde.record("own.sonde", probes=["region", "sample", "call"]) as r:
    with sonde.region("recorded"):
        spin(0.1)
print(r.recording)
@sonde.sample
def decorated(): spin(0.1)
decorated()
spin(0.1)
"""
    done = run(sonde, code)
    assert done.stdout == f"{sonde.folder / 'r.sonde'}\n"
    assert "own.sonde is not written" in done.stderr
    assert not (sonde.folder / "own.sonde").exists()
    query = "select sum(python_ns + native_ns + system_ns) as cpu from sample where name = 'spin'"
    (cpu,) = json.loads(sonde.command("sql", "r.sonde", query, "-f", "json").stdout)["rows"]
    assert cpu["cpu"] == pytest.approx(5e8, rel=0.2)
    assert set(sonde.main("r.sonde").children) == {"installed", "recorded"}
    assert done.stderr.count("samples at 1000 Hz") == 1
    assert "at 50 Hz" not in done.stderr


def test_the_source_of_a_text_is_in_the_recording(sonde):
    code = "import time\nend = time.thread_time() + 0.2\nwhile time.thread_time() < end:  # here\n    pass\n"
    done = sonde.command("run", "-o", "r.sonde", "-c", code)
    assert "# here" in done.stderr
    assert "# here" in sonde.command("view", "r.sonde", "--lines").stdout


def test_a_module_and_its_helpers_are_own(sonde):
    (sonde.folder / "package").mkdir()
    (sonde.folder / "package" / "__init__.py").write_text("")
    (sonde.folder / "package" / "helper.py").write_text(SPIN)
    (sonde.folder / "package" / "__main__.py").write_text("from package.helper import spin\nspin(0.2)\n")
    done = sonde.command("run", "-o", "r.sonde", "-m", "package")
    assert "helper.py" in done.stderr
    assert infos(sonde)["program_path"] == str(sonde.folder / "package" / "__main__.py")


def test_a_terminal_gets_colours_and_its_width(work):
    program = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))"
    words = [
        sys.executable,
        "-c",
        program,
        "env",
        "TERM=xterm",
        "PYTHONUTF8=1",
        SONDE,
        "run",
        "-o",
        "r.sonde",
        "prog.py",
    ]
    done = subprocess.run(words, cwd=work.folder, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    assert "\x1b[" in done.stdout
