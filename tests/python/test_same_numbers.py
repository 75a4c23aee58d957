"""One number, one value: whatever two places show of one recording is the same.

Nothing here knows a number by heart. A view, a column, a footer or a fact that is added later takes part.
"""

import base64
import csv
import gzip
import io
import json
import re
import shutil
import sqlite3
from itertools import combinations
from pathlib import Path

import pytest
from sonde_programs import Sonde

PAGES = Path(__file__).parents[2] / "web/e2e/programs"

STACKS = "start 5000\nstart;parse;lex 40000\nstart;parse;lex;read 12000\nstart;render 30000\nidle 9000\n"
LEAK = """
import time
kept = []
def grow(i):
    kept.append(bytearray(40_000 + i))
def pause():
    time.sleep(0.004)
for i in range(250):
    grow(i)
    pause()
"""
NATIVE_WAIT = """
import threading, time, zlib
event = threading.Event()
threads = [threading.Thread(target=event.wait) for _ in range(3)]
[thread.start() for thread in threads]
end = time.monotonic() + 0.3
while time.monotonic() < end:
    zlib.compress(bytes(100_000))
event.set()
[thread.join() for thread in threads]
"""
FORKS = """
import os, time
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
child = os.fork()
spin(0.15)
if child == 0:
    raise SystemExit
os.waitpid(child, 0)
"""

# name: the words after `sonde`, the program, and the view that is printed when it ends
KINDS = {
    "samples": (["run"], "busy.py", ["--summary"]),
    "memory": (["run", "--memory"], "memory.py", ["--summary"]),
    "leak": (["run", "--memory", "--exact"], "leak.py", ["--summary"]),
    "waiting": (["run"], "native_wait.py", ["--summary"]),
    "calls": (["trace", "--signatures", "--timeline"], "busy.py", ["--signatures", "-n", "10"]),
    "gc": (["run"], "gc.py", ["--summary"]),
    "ops": (["run", "--ops"], "ops.py", ["--summary"]),
    "merged": (["run"], "forks.py", ["--summary"]),
    "imported": (None, "stacks.txt", None),
}


class Made:
    """A recording, and all that is said of it."""

    def __init__(self, tool: Sonde, name: str) -> None:
        self.tool, self.name, self.file = tool, name, f"{name}.sonde"
        words, program, self.ended = KINDS[name]
        if words is None:
            tool.command("import", program, "-o", self.file)
            self.exit = ""
        else:
            self.exit = tool.command(*words, "-o", self.file, program).stderr
        names = re.findall(r"^  --([a-z]+) ", tool.command("view", "--help").stdout, re.M)
        self.views = {view: table for view in names if (table := self.export(view)) is not None}

    def export(self, view: str, how: str = "json", *words: str):
        done = self.tool.command("export", self.file, "--format", how, "--view", view, *words, status=None)
        if done.returncode != 0:
            return None
        return json.loads(done.stdout) if how == "json" else done.stdout

    def text(self, *words: str) -> str:
        return self.tool.command("view", self.file, *words).stdout

    def info(self) -> dict[str, str]:
        found = json.loads(self.tool.command("info", self.file, "--format", "json").stdout)
        return {row["fact"]: row["value"] for row in found["rows"]}

    def page(self):
        """What the page has of it."""
        done = self.tool.command("report", self.file, "-o", "-")
        packed = re.search(r'<script id="sonde-data"[^>]*>([^<]*)<', done.stdout)[1]
        return json.loads(gzip.decompress(base64.b64decode(packed)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("same")
    for name in ("busy.py", "memory.py", "gc.py", "ops.py"):
        shutil.copy(PAGES / name, made)
    (made / "leak.py").write_text(LEAK)
    (made / "native_wait.py").write_text(NATIVE_WAIT)
    (made / "forks.py").write_text(FORKS)
    (made / "stacks.txt").write_text(STACKS)
    return Sonde(made)


_made: dict[str, Made] = {}


@pytest.fixture(params=list(KINDS))
def made(request, folder):
    if request.param == "ops":
        pytest.importorskip("numpy")
    if request.param not in _made:
        _made[request.param] = Made(folder, request.param)
    return _made[request.param]


def test_what_is_printed_at_exit_is_what_the_recording_says(made):
    if made.ended is None:
        return
    printed = made.exit.split("\nOperators\n")[0]
    printed = "".join(line for line in printed.splitlines(True) if not line.startswith("sonde: "))
    assert printed.strip() == made.text(*made.ended).strip()


# ---- tables ----


def key_of(row) -> tuple | None:
    """What a row is of, as far as other views could have it, too; None: a place in a tree, a part of the time, …"""
    is_slice = "start_ns" in row and "thread_id" not in row
    if is_slice or any(name in row for name in ("depth", "caller", "detail", "signature")):
        return None
    names = ("file", "line", "function", "name", "shapes", "thread_id", "process_id")
    found = tuple((name, row[name]) for name in names if row.get(name) is not None)
    return (("is a line", "source" in row), *found) if found else None


def cells_of(table) -> dict[tuple, float]:
    """Numbers by what they are of: a key and the column's name. What stands there twice is left out."""
    found: dict[tuple, float] = {}
    twice = set()
    for row in table["rows"]:
        key = key_of(row)
        for column in table["columns"]:
            if key is None or column["unit"] == "text" or dict(key).get(column["name"]) is not None:
                continue
            at = (key, column["name"])
            if at in found:
                twice.add(at)
            found[at] = row[column["name"]]
    return {at: value for at, value in found.items() if at not in twice}


def test_two_views_never_differ_in_a_number(made):
    cells = {view: cells_of(table) for view, table in made.views.items()}
    if made.name == "leak":  # on a busy machine the line's growth may not be steady enough for a verdict
        cells["leaks"] = cells_of(made.export("leaks", "json", "--show-all"))
    for one, other in combinations(cells, 2):
        for at in cells[one].keys() & cells[other].keys():
            assert cells[one][at] == cells[other][at], f"{made.name}: {one} and {other}: {at}"
    if made.name == "leak":
        shared = cells["memory"].keys() & cells["leaks"].keys()
        assert any(column == "live_bytes" for _, column in shared)


def test_csv_and_json_have_the_same_cells(made):
    for view, table in made.views.items():
        rows = list(csv.DictReader(io.StringIO(made.export(view, "csv"))))
        assert len(rows) == len(table["rows"]), view
        for written, row in zip(rows, table["rows"], strict=True):
            for column in table["columns"]:
                name, value = column["name"], row[column["name"]]
                if isinstance(value, (int, float)):
                    assert float(written[name]) == pytest.approx(value, rel=1e-12), (view, name)


def test_the_page_has_the_tables_of_the_program(made):
    """Every table, row by row and cell by cell. What the page makes itself of them: web/test/core.test.ts."""
    compared = 0
    for shown in made.page()["tables"]:
        view, words = shown["view"], [f"--{shown['variant'].replace('_', '-')}"] if shown["variant"] else []
        if view == "sampled_functions":
            continue  # the program shows calls where it has them
        table = made.export(view, "json", *words)
        names = [column["name"] for column in shown["columns"]]
        assert names == [column["name"] for column in table["columns"]], view
        assert shown["row_count"] == len(table["rows"]), view
        assert view in ("tree", "timeline") or len(shown["rows"]) == shown["row_count"], view
        for ours, row in zip(shown["rows"], table["rows"], strict=False):
            for name, value in zip(names, ours, strict=True):
                is_number = isinstance(value, (int, float))
                assert value == (pytest.approx(row[name], rel=1e-12) if is_number else row[name]), (view, name)
                compared += 1
    assert compared > 10


# ---- facts ----

# Of what is counted in a footer these are of the table, not of the recording.
OF_TABLES = {
    "rows",
    "lines",
    "frames",
    "blocks",
    "threads more",
    "leaks",
    "times",
    "functions",
    "classes",
    "ops",
    "nodes",
}
# Of what is said in words, what the page and `sonde info` call it.
WORDS = {
    "length": r"\bran for ([\d.]+ [a-zµ]+)",
    "CPU time": r"([\d.]+ [a-zµ]+) CPU \(\d+% of one core",
    "waited": r"; ([\d.]+ [a-zµ]+) waiting",
    "peak": r"\bpeak ([\d.]+ \w+)",
    "growth": r", growth ([\d.]+ \w+)",
    "copied": r", copied ([\d.]+ \w+)",
    "own CPU": r"profiler overhead: ([\d.]+ [a-zµ]+) CPU",
    "own memory": r"profiler overhead: ([\d.]+ \w+) of memory",
}


def facts_in(text: str) -> set[tuple[str, str]]:
    """All that a text says: numbers in front of what they count, and amounts with their names."""
    counted = re.findall(r"(?<![\w.,:(-])(\d+) ([a-z]+s)\b(?! the| at a)", text)
    found = {
        (noun, number) for number, noun in counted if noun not in OF_TABLES and noun not in ("s", "ms", "ns", "us")
    }
    found |= {("threads", number) for number in re.findall(r"; (\d+) threads?$", text, re.M)}
    return found | {(name, value) for name, how in WORDS.items() for value in re.findall(how, text)}


def info_facts(info: dict[str, str]) -> set[tuple[str, str]]:
    counts = {(name, info[name].split()[0]) for name in ("threads", "entries", "calls", "samples") if name in info}
    own = re.search(r"of which (.*) in sonde's own", info.get("CPU time", ""))
    cpu = {("CPU time", info["CPU time"].split(",")[0])} if "CPU time" in info else set()
    return counts | cpu | ({("own CPU", own[1])} if own else set()) | {("length", info["length"])}


def duration(ns: int) -> str:
    """As src/base/text.c writes it."""
    value = ns / 1e9
    for unit in ("s", "ms", "µs"):
        if value >= 0.99999:
            return f"{value:.{0 if value >= 500 else 1 if value >= 100 else 2 if value >= 10 else 3}f} {unit}"
        value *= 1000
    return f"{value:.0f} ns"


def page_facts(facts: dict[str, int]) -> set[tuple[str, str]]:
    found = {("length", duration(facts["length_ns"])), ("threads", str(facts["threads"]))}
    found |= {("entries", str(facts["entries"]))}
    if facts["samples"]:
        found |= {("samples", str(facts["samples"])), ("CPU time", duration(facts["cpu_ns"]))}
    if facts["waiting_ns"]:
        found.add(("waited", duration(facts["waiting_ns"])))
    return found


def test_every_place_says_the_same_of_the_recording(made):
    """Exit, summary, the footers of all views, info, and the page."""
    places = {"exit": facts_in(made.exit), "info": info_facts(made.info()), "view": facts_in(made.text())}
    page = made.page()
    if page is not None:
        places["page"] = page_facts(page["facts"])
        for table in page["tables"]:
            if table["view"] not in ("timeline", "processes", "ranks"):
                places[f"footer of {table['view']}"] = facts_in(table["footer"])
    said: dict[str, dict[str, list[str]]] = {}
    for place, facts in places.items():
        for name, value in facts:
            said.setdefault(name, {}).setdefault(value.replace("µ", "u"), []).append(place)
    assert {"length", "threads"} <= said.keys()
    for name, values in said.items():
        assert len(values) == 1, f"{made.name}: {name} is {values}"
    in_two = [name for name, values in said.items() if len(next(iter(values.values()))) > 1]
    assert len(in_two) >= (2 if page is None else 3), said


def test_sql_says_the_same_as_the_facts(made):
    page = made.page()
    if page is None or made.name == "merged":
        return
    facts = page["facts"]
    with sqlite3.connect(made.tool.folder / made.file) as db:
        infos = dict(db.execute("select key, value from info"))
        assert int(infos["length_ns"]) == facts["length_ns"]
        if facts["samples"] or "sample" in infos.get("probes", ""):
            sums = dict(
                db.execute("select name, sum(value) from value join metric on metric.id = metric group by name")
            )
            for name in ("python", "native", "system"):
                assert sums.get(name, 0) == facts[f"{name}_ns"]
                assert db.execute(f"select total({name}_ns) from sample").fetchone()[0] == facts[f"{name}_ns"]
            assert int(infos["cpu_ns"]) == facts["cpu_ns"]


# ---- in a program ----

BLOCK = """
import sonde, sys, zlib
kept = []
def work():
    for i in range(40):
        with sonde.region("step"):
            kept.append(bytearray(50_000))
            zlib.compress(bytes(300_000))
with sonde.record("block.sonde", probes=["region", "sample", "memory"]) as m:
    work()
for view in ("summary", "lines", "functions", "memory", "leaks", "regions", "threads"):
    open(view + ".txt", "w").write(m.output(view, unicode=True))
m.save("saved.sonde")
open("notebook.txt", "w").write(m._repr_mimebundle_()["text/plain"])
with sonde.memory() as alone:
    kept.append(bytearray(1_000_000))
    alone.save("running.sonde")
alone.save("alone.sonde")
with sonde.sample():
    with sonde.memory() as inner:
        work()
    inner.save("inner.sonde")
"""


@pytest.fixture(scope="module")
def block(tmp_path_factory):
    tool = Sonde(tmp_path_factory.mktemp("block"))
    tool.python(BLOCK)
    return tool


def test_a_block_shows_what_its_recording_shows(block):
    for view in ("summary", "lines", "functions", "memory", "leaks", "regions", "threads"):
        shown = (block.folder / f"{view}.txt").read_text()
        for file in ("block.sonde", "saved.sonde"):
            assert block.command("view", file, f"--{view}").stdout == shown, (view, file)


def test_a_notebook_shows_the_same_facts(block):
    said = facts_in((block.folder / "notebook.txt").read_text())
    assert said and said <= facts_in((block.folder / "summary.txt").read_text())


def test_a_block_that_has_ended_is_complete_and_one_that_runs_is_not(block):
    def state(file):
        done = block.command("info", file, "--format", "json")
        return next(row["value"] for row in json.loads(done.stdout)["rows"] if row["fact"] == "state")

    for file in ("block.sonde", "saved.sonde", "alone.sonde", "inner.sonde"):
        assert state(file) == "complete", file
    assert state("running.sonde").startswith("up to the last checkpoint")


def test_a_run_lasts_until_the_program_ends(folder):
    (folder.folder / "server.py").write_text(
        "import multiprocessing as mp, time\n"
        "def work(): pass\n"
        "if __name__ == '__main__':\n"
        "    context = mp.get_context('forkserver')\n"
        "    child = context.Process(target=work); child.start(); child.join()\n"
        "    print(time.monotonic_ns())\n"
    )
    done = folder.command("run", "-o", "server.sonde", "server.py")
    with sqlite3.connect(folder.folder / "server.sonde") as db:
        infos = dict(db.execute("select key, value from info"))
    ended = int(infos["start_monotonic_ns"]) + int(infos["length_ns"])
    assert f"ran for {duration(int(infos['length_ns']))}," in done.stderr
    assert ended >= int(done.stdout)
