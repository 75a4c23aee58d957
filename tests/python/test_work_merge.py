"""sonde merge with recordings of real processes: sums, single processes, ranks, and what it refuses."""

import json
import re
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest
from run_support import query
from sonde_programs import Sonde

PROGRAM = """
import sys
import threading
import sonde

turns = int(sys.argv[1])

def work(count):
    return sum(i * i for i in range(count))

def other():
    with sonde.region("in a thread"):
        work(20000)

with sonde.region("all"):
    for turn in range(turns):
        with sonde.region("step"):
            work(20000)
threads = [threading.Thread(target=other, name="pool") for i in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

RANKS = (3, 5)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Two ranks that differ in how often they enter a region, and what they are together."""
    made = Sonde(tmp_path_factory.mktemp("merge"))
    (made.folder / "program.py").write_text(PROGRAM)
    for rank, turns in enumerate(RANKS):
        env = {"RANK": str(rank)}
        made.command("run", "--memory", "-o", f"{rank}.sonde", "program.py", str(turns), env=env)
    made.command("merge", "-o", "all.sonde", "0.sonde", "1.sonde")
    return made


@pytest.mark.quick
def test_regions_and_samples_are_the_sums_of_the_parts(recorded):
    regions = "select name, sum(count), sum(total_ns), min(min_ns), max(max_ns) from region group by name order by name"
    parts = [query(recorded.folder / f"{rank}.sonde", regions) for rank in range(2)]
    merged = query(recorded.folder / "all.sonde", regions)
    assert [row[0] for row in merged] == ["all", "in a thread", "step"]
    for row, left, right in zip(merged, *parts, strict=True):
        assert row[1:3] == (left[1] + right[1], left[2] + right[2])
        assert row[3:] == (min(left[3], right[3]), max(left[4], right[4]))
    assert dict(row[:2] for row in merged) == {"all": 2, "in a thread": 4, "step": sum(RANKS)}


@pytest.mark.parametrize("metric", ["samples", "python", "native", "system", "wait_other", "alloc_python", "live_peak"])
def test_metrics_add_up(recorded, metric):
    total = f"select coalesce(sum(value), 0) from measure where metric = '{metric}'"
    parts = [query(recorded.folder / f"{rank}.sonde", total)[0][0] for rank in range(2)]
    assert query(recorded.folder / "all.sonde", total)[0][0] == sum(parts)


def test_the_cpu_columns_are_the_cpu_time_of_all_processes(recorded):
    cpu = "select sum(value) from measure where metric in ('python', 'native', 'system')"
    fact = "select cast(value as integer) from info where key = 'cpu_ns'"
    parts = [query(recorded.folder / f"{rank}.sonde", fact)[0][0] for rank in range(2)]
    assert query(recorded.folder / "all.sonde", fact) == [(sum(parts),)]
    assert query(recorded.folder / "all.sonde", "select sum(cpu_ns) from process") == [(sum(parts),)]
    assert query(recorded.folder / "all.sonde", cpu)[0][0] == pytest.approx(sum(parts), rel=0.01)


@pytest.mark.parametrize(
    "view", ["lines", "tree", "regions", "threads", "functions", "memory", "timeline", "footprint"]
)
def test_a_process_is_shown_as_its_own_recording(recorded, view):
    for rank in range(2):
        own = recorded.command("export", "-f", "json", "--view", view, f"{rank}.sonde").stdout
        part = recorded.command("export", "-f", "json", "--view", view, "all.sonde", "--process", f"rank:{rank}").stdout
        assert part == own


@pytest.mark.parametrize("format", ["chrome", "speedscope", "collapsed"])
def test_a_process_is_exported_as_its_own_recording(recorded, format):
    own = recorded.command("export", "-f", format, "1.sonde").stdout
    assert recorded.command("export", "-f", format, "all.sonde", "--process", "rank:1").stdout == own


def test_the_page_and_the_facts_of_a_process_are_its_own(recorded):
    assert (
        recorded.command("info", "all.sonde", "--process", "rank:0").stdout
        == recorded.command("info", "0.sonde").stdout
    )
    own = recorded.command("report", "0.sonde", "-o", "-").stdout
    assert recorded.command("report", "all.sonde", "--process", "rank:0", "-o", "-").stdout == own


def test_merging_in_two_steps_gives_the_same(recorded):
    recorded.command("merge", "-o", "first.sonde", "1.sonde")
    recorded.command("merge", "-o", "twice.sonde", "first.sonde", "0.sonde")
    sums = (
        "select kind, name, file, line, metric, sum(value) from measure group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5"
    )
    assert query(recorded.folder / "twice.sonde", sums) == query(recorded.folder / "all.sonde", sums)


def test_processes_and_ranks(recorded):
    rows = json.loads(recorded.command("export", "-f", "json", "--view", "processes", "all.sonde").stdout)["rows"]
    assert [row["rank"] for row in rows] == [0, 1]
    assert [row["state"] for row in rows] == ["complete", "complete"]
    assert rows[0]["start_ns"] == 0 < rows[1]["start_ns"]
    text = recorded.command("export", "-f", "json", "--view", "ranks", "all.sonde", "--show-all").stdout
    step = next(row for row in json.loads(text)["rows"] if row["kind"] == "region" and row["name"] == "step")
    own = [
        query(recorded.folder / f"{i}.sonde", "select sum(total_ns) from region where name = 'step'")[0][0]
        for i in range(2)
    ]
    assert (step["min_ns"], step["max_ns"]) == (min(own), max(own))
    assert step["max_at"] == f"rank {own.index(max(own))}"
    assert step["processes"] == 2


def test_every_view_of_what_was_merged(recorded):
    for view in ("summary", "lines", "tree", "regions", "threads", "timeline", "memory", "processes", "ranks"):
        assert recorded.command("view", "all.sonde", f"--{view}").stdout != ""
    assert "processes  2" in " ".join(recorded.command("info", "all.sonde").stdout.split("   "))


def test_a_thread_of_a_process_is_drawn_on_a_line_of_its_own(recorded):
    events = json.loads(recorded.command("export", "-f", "chrome", "all.sonde").stdout)["traceEvents"]
    steps = [event for event in events if event["name"] == "step" and event["ph"] == "X" and "cat" not in event]
    by_process = {event["pid"] for event in steps}
    pids = {row[0] for row in query(recorded.folder / "all.sonde", "select process_id from process")}
    if steps:  # sonde run keeps the timeline of samples; regions are in it where they were asked for
        assert by_process == pids
    assert {event["pid"] for event in events if event.get("cat") == "sample"} == pids


def test_mistakes_are_one_line_and_change_nothing(recorded):
    folder = recorded.folder
    (folder / "text.sonde").write_text("text\n")
    (folder / "folder.sonde").mkdir()
    (folder / "cut.sonde").write_bytes((folder / "0.sonde").read_bytes()[:30000])
    shutil.copy(folder / "0.sonde", folder / "newer.sonde")
    with sqlite3.connect(folder / "newer.sonde") as db:
        db.execute("pragma user_version = 999")
    recorded.command("trace", "-o", "calls.sonde", "program.py", "1")
    before = (folder / "all.sonde").read_bytes()
    said = {
        "text.sonde": "not a sonde recording",
        "folder.sonde": "Is a directory",
        "cut.sonde": "damaged",
        "newer.sonde": "newer sonde",
        "calls.sonde": "has no data in common with the others; cannot merge",
        "missing.sonde": "No such file",
    }
    names = sorted(path.name for path in folder.iterdir())
    for name, words in said.items():
        done = recorded.command("merge", "-o", "all.sonde", "0.sonde", name, status=2)
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith(f"sonde: {name}: ")
        assert words in done.stderr
    assert (folder / "all.sonde").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == names
    assert "text.sonde: this file is not" in recorded.command("merge", "-o", "text.sonde", "0.sonde", status=2).stderr
    assert "merge needs an output file" in recorded.command("merge", "0.sonde", status=2).stderr
    assert "needs recordings" in recorded.command("merge", "-o", "x.sonde", status=2).stderr
    unknown = recorded.command("view", "all.sonde", "--process", "7x", status=2).stderr
    assert "all.sonde: no process '7x'; choose from rank 0, rank 1" in unknown


def test_a_number_that_two_processes_have_is_refused(recorded):
    shutil.copy(recorded.folder / "all.sonde", recorded.folder / "same.sonde")
    with sqlite3.connect(recorded.folder / "same.sonde") as db:
        db.execute("update process set process_id = 77")
    done = recorded.command("view", "same.sonde", "--process", "77", status=2)
    assert "processes match '77'; choose one by rank:N, HOST:PID or id:N" in done.stderr


def test_the_same_file_twice_counts_once(recorded):
    done = recorded.command("merge", "-o", "once.sonde", "0.sonde", "0.sonde")
    assert re.search(r"0\.sonde: process \d+ is also in another recording; counted once\n", done.stderr)
    done = recorded.command("merge", "-o", "twice.sonde", "0.sonde", "1.sonde", "0.sonde", "1.sonde")
    assert re.search(r": process \d+ and 1 more are in several recordings; counted once each\n", done.stderr)
    counted = "select sum(count) from region"
    assert query(recorded.folder / "once.sonde", counted) == query(recorded.folder / "0.sonde", counted)


@pytest.mark.parametrize("share", [0, 0.2, 0.5, 0.8, 0.95])
def test_a_full_disk_is_one_line_and_loses_nothing(recorded, share):
    before = (recorded.folder / "all.sonde").read_bytes()
    room = int(len(before) * share)
    limit = "import resource, signal, sys, os; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
    limit += f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room})); os.execv(sys.argv[1], sys.argv[1:])"
    names = sorted(path.name for path in recorded.folder.iterdir())
    sonde = str(Path(sys.executable).parent / "sonde")
    command = [sys.executable, "-c", limit, sonde, "merge", "-o", "all.sonde", "0.sonde", "1.sonde"]
    done = recorded.run(command, status=2)
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("sonde: all.sonde: ")
    assert (recorded.folder / "all.sonde").read_bytes() == before
    assert sorted(path.name for path in recorded.folder.iterdir()) == names
