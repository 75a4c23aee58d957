"""What the exports write is what the programs they are for accept."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
RECORDINGS = GOLDEN / "recordings"

PROGRAM = """
import gc, threading, time, sonde
gc.disable()
sonde.install(reporter=sonde.SilentReporter(), recording="r.sonde", timeline=True)
def work():
    for _ in range(5):
        with sonde.region("outer"):
            with sonde.region("inner"):
                time.sleep(0.001)
thread = threading.Thread(target=work, name="worker; 1")
thread.start()
work()
thread.join()
"""


@pytest.fixture
def regions(sonde):
    """A function that exports a recording of regions on two threads."""
    sonde.python(PROGRAM)
    return lambda *words: sonde.command("export", "r.sonde", *words).stdout


def check_speedscope(text):
    """By hand what https://www.speedscope.app/file-format-schema.json says, and what it cannot say."""
    file = json.loads(text)
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert isinstance(file["name"], str) and isinstance(file["exporter"], str)
    assert 0 <= file["activeProfileIndex"] < len(file["profiles"])
    frames = file["shared"]["frames"]
    for frame in frames:
        assert isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line"}
        assert isinstance(frame.get("file", ""), str) and isinstance(frame.get("line", 1), int)
    for profile in file["profiles"]:
        assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert (profile["type"], profile["unit"], profile["startValue"]) == ("sampled", "nanoseconds", 0)
        assert len(profile["samples"]) == len(profile["weights"]) > 0
        assert profile["endValue"] == sum(profile["weights"]) and min(profile["weights"]) > 0
        assert all(0 <= frame < len(frames) for sample in profile["samples"] for frame in sample)
    return file


def check_slices(events):
    """Slices of a line lie in one another or side by side, as Perfetto wants them."""
    lines = {}
    for event in events:
        if event["ph"] == "X":
            start = round(event["ts"] * 1000)
            lines.setdefault((event["pid"], event["tid"]), []).append((start, start + round(event["dur"] * 1000)))
    for slices in lines.values():
        open_ends = []
        for start, end in sorted(slices, key=lambda s: (s[0], -s[1])):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1]
            open_ends.append(end)
    return lines


@pytest.mark.quick
@pytest.mark.parametrize("name", ["samples", "lines", "sums", "hostile"])
def test_samples_for_speedscope_are_valid(name):
    check_speedscope((RECORDINGS / f"{name}.speedscope").read_text())


@pytest.mark.parametrize(("name", "count"), [("samples", 3), ("hostile", 2)])
def test_samples_in_a_trace_nest_and_each_line_has_a_name(name, count):
    events = json.loads((RECORDINGS / f"{name}.chrome").read_text())["traceEvents"]
    lines = check_slices(events)
    named = {(event["pid"], event.get("tid")) for event in events if event["name"] == "thread_name"}
    assert set(lines) <= named and len(lines) == count


@pytest.mark.parametrize("name", ["samples", "lines", "hostile"])
def test_every_folded_line_is_a_stack_and_a_whole_number(name):
    lines = (RECORDINGS / f"{name}.collapsed").read_bytes().decode(errors="replace").split("\n")[:-1]
    assert all(re.fullmatch(r"[^;]+(;[^;]+)* [1-9]\d*", line) for line in lines)
    assert len(set(lines)) == len(lines) > 2


def test_hostile_text_is_read_back_from_tables():
    rows = json.loads((GOLDEN / "tables" / "hostile.json").read_text())["rows"]
    text = (GOLDEN / "tables" / "hostile.csv").read_bytes().decode(errors="replace")
    found = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["total_ns"] for row in rows] == [int(row["total_ns"]) for row in found]
    names = [(row["name"], other["name"]) for row, other in zip(rows, found, strict=True)]
    assert len(names) > 10
    for name, other in names:
        assert other.removeprefix("'" if name.startswith(("=", "+", "-", "@")) else "") == name


def test_regions_are_exported_as_stacks_with_their_self_times(regions):
    file = check_speedscope(regions("-f", "speedscope"))
    assert sorted(profile["name"] for profile in file["profiles"]) == ["main", "worker; 1"]
    folded = dict(line.rsplit(" ", 1) for line in regions("-f", "collapsed").splitlines())
    assert {"main;outer;inner", "worker, 1;outer;inner"} <= set(folded)
    rows = json.loads(regions("-f", "json"))["rows"]
    inner = [row["self_ns"] for row in rows if row["name"] == "inner"]
    shown = sorted(int(folded[name]) for name in folded if name.endswith("inner"))
    assert all(abs(us - ns / 1000) <= 1 for us, ns in zip(shown, sorted(inner), strict=True))


def test_the_trace_of_regions_nests(regions):
    lines = check_slices(json.loads(regions("-f", "chrome"))["traceEvents"])
    assert [len(slices) for slices in lines.values()] == [10, 10]


def test_json_has_the_unit_of_every_column(regions):
    table = json.loads(regions("-f", "json"))
    units = {column["name"]: column["unit"] for column in table["columns"]}
    assert units["self_ns"] == "ns" and units["count"] == "count" and units["name"] == "text"
    assert all(set(units) <= set(row) for row in table["rows"])
