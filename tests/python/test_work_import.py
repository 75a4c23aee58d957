"""Files of other profilers become recordings that say what the files said."""

import cProfile
import json
import marshal
import os
import pstats
import random

import pytest

STACKS = """\
main;<module> (prog.py:1);f (prog.py:8) 3000
main;<module> (prog.py:1);f (prog.py:8);[waiting for I/O] 40
main;<module> (prog.py:1);f (prog.py:8);compress (libz.so) 3000
worker;load 4000
"""


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def text(n):
    return sorted(str(fib(n)) * 3)


@pytest.fixture
def profiled(sonde):
    """A file of the standard profiler, and what the standard module reads from it."""
    profile = cProfile.Profile()
    profile.runcall(lambda: [text(n) for n in range(9)])
    profile.dump_stats(sonde.folder / "run.pstats")
    return pstats.Stats(str(sonde.folder / "run.pstats"))


@pytest.mark.quick
def test_functions_are_those_that_pstats_prints(sonde, profiled):
    sonde.command("import", "run.pstats")
    found = {row["function"]: row for row in sonde.export("run.sonde", "functions")["rows"]}
    assert len(found) == len(profiled.stats)
    assert sum(row["calls"] for row in found.values()) == profiled.total_calls
    for place, (primitive, calls, self_s, total_s, _) in profiled.stats.items():
        shown = pstats.func_std_string(pstats.func_strip_path(place))
        row = found[shown]
        assert (row["calls"], row["primitive_calls"]) == (calls, primitive)
        assert (row["self_ns"], row["total_ns"]) == (round(self_s * 1e9), round(total_s * 1e9))


def test_callers_are_those_of_the_file(sonde, profiled):
    sonde.command("import", "run.pstats")
    query = (
        "select call.name, call.line, sum(call.count), sum(call.total_ns) from call"
        " join call as caller on caller.node = call.parent group by 1, 2"
    )
    answer = json.loads(sonde.command("sql", "run.sonde", query, "-f", "json").stdout)["rows"]
    found = {(row["name"], row["line"]): [*row.values()][2:] for row in answer}
    wanted = {}
    for (_, line, name), (*_, callers) in profiled.stats.items():
        if callers:
            wanted[name, line] = [sum(n[0] for n in callers.values()), sum(round(n[3] * 1e9) for n in callers.values())]
    assert found == wanted


def test_pstats_come_back_as_they_were(sonde, profiled):
    sonde.command("import", "run.pstats", "-o", "run.sonde")
    sonde.command("export", "run.sonde", "-f", "pstats", "-o", "again.pstats")
    again = pstats.Stats(str(sonde.folder / "again.pstats"))
    assert set(again.stats) == set(profiled.stats)
    for place, (primitive, calls, self_s, total_s, callers) in profiled.stats.items():
        got = again.stats[place]
        assert got[:2] == (primitive, calls)
        assert got[2:4] == (pytest.approx(self_s, abs=1e-9), pytest.approx(total_s, abs=1e-9))
        assert {caller: numbers[:2] for caller, numbers in got[4].items()} == {
            caller: numbers[:2] for caller, numbers in callers.items()
        }


@pytest.mark.parametrize("version", range(marshal.version + 1))
def test_every_version_of_marshal_is_read(sonde, profiled, version):
    (sonde.folder / "v.pstats").write_bytes(marshal.dumps(profiled.stats, version))
    sonde.command("import", "v.pstats")
    assert sum(row["calls"] for row in sonde.export("v.sonde", "functions")["rows"]) == profiled.total_calls


def test_the_module_profile_has_only_numbers_of_calls(sonde):
    f, g = ("a.py", 1, "f"), ("a.py", 5, "g")
    stats = {f: (1, 1, 0.5, 2.0, {}), g: (2, 3, 1.5, 1.5, {f: 3})}
    (sonde.folder / "old.pstats").write_bytes(marshal.dumps(stats))
    sonde.command("import", "old.pstats")
    callers = sonde.export("old.sonde", "callers")["rows"]
    assert [row["calls"] for row in callers if row["depth"] == 1] == [3]


def test_collapsed_stacks_come_back_as_they_were(sonde):
    (sonde.folder / "run.txt").write_text(STACKS)
    sonde.command("import", "run.txt")
    assert sonde.command("export", "run.sonde", "-f", "collapsed").stdout == STACKS
    for unit in ("ns", "ms", "s", "bytes"):
        sonde.command("import", "run.txt", "--unit", unit, "-o", f"{unit}.sonde")
    assert sonde.command("export", "ns.sonde", "-f", "collapsed").stdout.splitlines()[0].endswith(" 3")
    counts = ["--unit", "samples", "--rate", "1000"]
    sonde.command("import", "run.txt", *counts, "-o", "samples.sonde")
    assert sonde.command("export", "samples.sonde", "-f", "collapsed", "--cost", "wall").stdout == STACKS.replace(
        "00\n", "00000\n"
    ).replace("40\n", "40000\n")


@pytest.mark.parametrize("view", ["lines", "tree", "functions", "threads"])
def test_views_show_collapsed_stacks(sonde, view):
    (sonde.folder / "run.txt").write_text(STACKS)
    sonde.command("import", "run.txt")
    table = sonde.export("run.sonde", view)["rows"]
    assert table
    if view == "functions":
        found = {row["function"]: (row["self_ns"], row["total_ns"]) for row in table}
        assert found["f"] == (3_040_000, 6_040_000) and found["load"] == (4_000_000, 4_000_000)
    assert "imported; the number of samples is unknown" in sonde.command("view", "run.sonde", f"--{view}").stdout


def test_views_show_bytes(sonde):
    (sonde.folder / "run.txt").write_text(STACKS)
    sonde.command("import", "run.txt", "--unit", "bytes")
    assert sum(row["peak_bytes"] for row in sonde.export("run.sonde", "memory")["rows"]) >= 10_040
    assert "<module>" in sonde.command("view", "run.sonde", "--owners").stdout


def test_a_page_is_made_of_what_was_imported(sonde, profiled):
    (sonde.folder / "folded.txt").write_text(STACKS)
    for file in ("run.pstats", "folded.txt"):
        sonde.command("import", file, "-o", "one.sonde")
        done = sonde.command("report", "one.sonde", "-o", "one.html", status=None)
        assert done.returncode == 0 or "without its report page" in done.stderr


def refused(sonde, *words):
    done = sonde.command("import", *words, status=2)
    assert done.stderr.startswith("sonde: ") and done.stderr.count("\n") == 1 and not done.stdout
    return done.stderr


def test_bad_files_get_one_line(sonde, profiled):
    good = (sonde.folder / "run.pstats").read_bytes()
    files = {
        "empty": (b"", "is empty"),
        "text": (b"hello\nworld\n", "neither a pstats file nor collapsed stacks"),
        "cut": (good[: len(good) // 2], "ends too early"),
        "other": (b"SQLite format 3\0" + bytes(100), "neither"),
        "code": (
            marshal.dumps({("a", 1, "f"): (1, 1, 0.1, 0.1, {("a", 1, "g"): [1]})}),
            "it has values that pstats files never have",
        ),
        "none": (marshal.dumps({}), "no functions"),
        "deep": (b"{" + b")\1" * 100 + b"N", "neither"),
        "huge": (b"a;b 99999999999999999999999\n", "too large"),
        "half": (b"a;b 1\na;c\n", "line 2: no number after the stack"),
    }
    for name, (data, said) in files.items():
        (sonde.folder / name).write_bytes(data)
        assert said in refused(sonde, name, "-o", "x.sonde"), name
        assert not (sonde.folder / "x.sonde").exists()
    assert "too deep" in refused(sonde, "deep", "-f", "pstats", "-o", "x.sonde")
    assert "is a folder" in refused(sonde, ".")
    os.mkfifo(sonde.folder / "pipe")
    assert "is not a regular file" in refused(sonde, "pipe")
    long = {("a", 1, name): (1, 1, 3.9e9, 3.9e9, {}) for name in "fgh"}
    (sonde.folder / "long").write_bytes(marshal.dumps(long))
    assert "its times are too large" in refused(sonde, "long", "-o", "x.sonde")
    assert "No such file" in refused(sonde, "missing")


def test_wrong_words_get_one_line(sonde):
    (sonde.folder / "run.txt").write_text(STACKS)
    (sonde.folder / "note.sonde").write_text("mine\n")
    assert "import needs a file: sonde import FILE" in refused(sonde)
    assert "takes one file; unexpected argument 'b'" in refused(sonde, "run.txt", "b")
    assert "did you mean 'pstats'" in refused(sonde, "run.txt", "-f", "pstat")
    assert "unknown unit" in refused(sonde, "run.txt", "--unit", "hours")
    assert "needs --rate: samples per second" in refused(sonde, "run.txt", "--unit", "samples")
    assert "whole number" in refused(sonde, "run.txt", "--unit", "samples", "--rate", "0")
    assert "note.sonde: already exists and is not a sonde recording; choose another name" in refused(
        sonde, "run.txt", "-o", "note.sonde"
    )
    assert (sonde.folder / "note.sonde").read_text() == "mine\n"


def test_damaged_files_never_crash(sonde, profiled):
    chance = random.Random(7)
    good = (sonde.folder / "run.pstats").read_bytes()
    for _ in range(40):
        data = bytearray(good)
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        (sonde.folder / "bad").write_bytes(data[: chance.randrange(2, len(data) + 1)])
        done = sonde.command("import", "bad", "-f", "pstats", "-o", "x.sonde", status=None)
        assert done.returncode in (0, 2) and done.stderr.count("\n") == 1
