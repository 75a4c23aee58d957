"""``sonde diff``: equal runs do not differ by more than the noise, a known change is found with the right amount."""

import itertools
import json
import sqlite3

import pytest
from chance import expect, repeats
from run_support import SPIN

# The functions run for CPU seconds that they know themselves, whatever else the machine does.
PROGRAM = (
    SPIN
    + """
def slow(seconds):
    spin(seconds)
def steady(seconds):
    spin(seconds)
def main(seconds):
    for _ in range(10):
        with sonde.region("step"):
            with sonde.region("slow"):
                slow(seconds)
            steady(0.02)
main(float(sys.argv[1]))
"""
)
# What the machine makes a run wait for is not the program's, and a busy one does it in one of two runs.
MACHINE = ("waited", "[no frame]", "(outside your own code)")
MARKED = ("slower", "faster", "more", "less", "new", "gone")


def record(sonde, name, *words, program=PROGRAM, file="prog.py", command="run", options=()):
    (sonde.folder / file).write_text(program)
    sonde.command(command, "-o", name, *options, file, *words)


def rows(sonde, before, after, *options, status=0):
    text = sonde.command("diff", before, after, "-f", "json", *options, status=status).stdout
    return json.loads(text)["rows"]


def find(found, table, name):
    (row,) = [row for row in found if row["table"] == table and row["name"] == name]
    return row


@pytest.mark.quiet
def test_equal_runs_are_not_marked(sonde):
    for _ in range(3):  # others who need the machine in one of the runs make it a slower one
        for number in range(4):
            record(sonde, f"{number}.sonde", "0.02")
        pairs = list(itertools.combinations(range(4), 2))
        found = [row for a, b in pairs for row in rows(sonde, f"{a}.sonde", f"{b}.sonde")]
        marked = [row for row in found if row["verdict"] in MARKED and row["name"] not in MACHINE]
        assert {row["table"] for row in found} >= {"totals", "regions", "functions", "lines"}
        if len(marked) <= 3:
            return
    pytest.fail(str(marked))


@pytest.mark.quiet
@repeats
def test_a_known_change_is_found_with_its_amount(sonde):
    record(sonde, "a.sonde", "0.02")
    record(sonde, "b.sonde", "0.08")
    found = rows(sonde, "a.sonde", "b.sonde", "--functions", "--regions", "--lines")
    spin = find(found, "functions", "spin")
    # where others need the machine in one of the two runs only, the noise is larger than anything
    expect(spin["verdict"] == "slower" and abs(spin["difference"] - 600e6) <= spin["noise"], str(spin))
    slow = find(found, "regions", "step / slow")
    assert slow["before_count"] == slow["after_count"] == 10
    assert slow["verdict"] in ("slower", "within noise")
    failed = sonde.command("diff", "a.sonde", "b.sonde", "--fail-over", "10%", status=1)
    assert "sonde: over 10%: function spin at prog.py:4: " in failed.stderr
    assert "Functions, by self time" in failed.stdout
    turned = sonde.command("diff", "b.sonde", "a.sonde", "--fail-over", "10%", "--functions", "--regions", status=None)
    expect(turned.returncode == 0, turned.stderr)
    assert turned.stderr == "" or "total" in turned.stderr


def test_columns_add_up_to_the_recordings(sonde):
    record(sonde, "a.sonde", "0.01")
    record(sonde, "b.sonde", "0.02")
    found = rows(sonde, "a.sonde", "b.sonde")
    for side, name in (("before", "a.sonde"), ("after", "b.sonde")):
        exported = sonde.export(name, "functions")["rows"]
        whole = sum(row["self_ns"] - row["wait_cpu_ns"] for row in exported)
        for table in ("functions", "lines"):
            assert sum(row[side] or 0 for row in found if row["table"] == table) == whole
    for row in found:
        assert row["difference"] == (row["after"] or 0) - (row["before"] or 0)
        assert row["unit"] == "ns"


def test_lines_are_found_again_in_an_edited_file(sonde):
    record(sonde, "a.sonde", "0.03")
    edited = PROGRAM.replace("import sonde\n", "import sonde\n# a line\n# and another\n")
    record(sonde, "b.sonde", "0.03", program=edited, file="other.py")
    found = [row for row in rows(sonde, "a.sonde", "b.sonde", "--lines") if row["table"] == "lines"]
    line = find(found, "lines", "while time.thread_time() < end:")
    number = 1 + edited.splitlines().index("    while time.thread_time() < end:")
    assert line["place"] == f"other.py:{number}"
    assert line["before"] > 0 and line["after"] > 0
    assert not [row for row in found if row["verdict"] in ("new", "gone") and row["name"] not in MACHINE]


TRACED = """
def f():
    return 1
def g():
    return f()
for _ in range({count}):
    f()
g()
"""


@pytest.mark.quick
def test_numbers_of_calls_are_exact(sonde):
    record(sonde, "a.sonde", program=TRACED.format(count=100), command="trace")
    record(sonde, "b.sonde", program="# new\n" + TRACED.format(count=130), command="trace")
    found = rows(sonde, "a.sonde", "b.sonde")
    f = find(found, "counts", "f")
    assert (f["before"], f["after"], f["noise"], f["noise_from"]) == (101, 131, 0, "exact")
    assert (f["verdict"], f["unit"]) == ("more", "calls")
    assert find(found, "counts", "g")["verdict"] == "same"
    assert {row["verdict"] for row in found if row["table"] == "calls"} <= {"noise unknown", "same"}
    over = sonde.command("diff", "a.sonde", "b.sonde", "--counts", "--fail-over", "29%", status=None)
    assert over.returncode == 1
    assert "sonde: over 29%: function f at prog.py:3: 101 -> 131, +29.7%\n" in over.stderr
    same = rows(sonde, "a.sonde", "a.sonde", "--fail-over", "0%")
    assert {row["verdict"] for row in same} == {"same"}


def test_memory_by_line(sonde):
    program = "keep = [bytes(5000) for _ in range({count})]\nother = [bytearray(5000) for _ in range(4000)]\n"
    for name, count in (("a.sonde", 4000), ("b.sonde", 12000)):
        record(sonde, name, program=program.format(count=count), options=("--memory",))
    found = rows(sonde, "a.sonde", "b.sonde", "--memory", "--allocated")
    for table in ("memory", "allocated"):
        (line,) = [row for row in found if row["table"] == table and row["name"].startswith("keep")]
        assert (line["verdict"], line["unit"]) == ("more", "bytes")
        assert abs(line["difference"] - 8000 * 5000) <= line["noise"]
        (other,) = [row for row in found if row["table"] == table and row["name"].startswith("other")]
        assert other["verdict"] == "within noise"
    assert find(found, "totals", "memory, peak")["verdict"] == "more"


def test_operators(sonde):
    program = "import numpy as np\na = np.ones({size})\nfor _ in range(50):\n    np.add(a, a)\n    np.sqrt(a)\n"
    for name, size in (("a.sonde", 1000), ("b.sonde", 1000000)):
        record(sonde, name, program=program.format(size=size), options=("--ops",))
    found = rows(sonde, "a.sonde", "b.sonde", "--ops")
    add = find(found, "ops", "numpy.add")
    assert add["before_count"] == add["after_count"] == 50 and add["difference"] > 0
    shapes = {row["place"]: row["verdict"] for row in rows(sonde, "a.sonde", "b.sonde", "--ops", "--by-shape")}
    assert shapes["float64[1000000], float64[1000000]"] == "new"
    assert shapes["float64[1000], float64[1000]"] == "gone"


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    from sonde_programs import Sonde

    made = Sonde(tmp_path_factory.mktemp("bad"))
    record(made, "good.sonde", "0.001")
    record(made, "trace.sonde", program=TRACED.format(count=1), command="trace")
    (made.folder / "text.sonde").write_text("hello\n")
    (made.folder / "folder.sonde").mkdir()
    data = (made.folder / "good.sonde").read_bytes()
    (made.folder / "cut.sonde").write_bytes(data[: len(data) // 2])
    (made.folder / "newer.sonde").write_bytes(data)
    with sqlite3.connect(made.folder / "newer.sonde") as newer:
        newer.execute("pragma user_version = 99")
    return made


NEWER = "newer.sonde: the recording was written by a newer sonde; update sonde to read it"
MISTAKES = {
    "text.sonde": "text.sonde: this file is not a sonde recording",
    "folder.sonde": "folder.sonde: Is a directory",
    "cut.sonde": "cut.sonde: the recording is damaged",
    "none.sonde": "none.sonde: No such file or directory",
    "newer.sonde": NEWER,
}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("is_first", [True, False])
def test_what_is_no_recording_gets_one_line(bad, name, is_first):
    words = (name, "good.sonde") if is_first else ("good.sonde", name)
    done = bad.command("diff", *words, status=2)
    assert (done.stdout, done.stderr) == ("", f"sonde: {MISTAKES[name]}\n")


def test_recordings_of_different_kinds_get_one_line(bad):
    done = bad.command("diff", "good.sonde", "trace.sonde", status=2)
    said = "the recordings have nothing in common: good.sonde has regions, trace.sonde has calls"
    assert (done.stdout, done.stderr) == ("", f"sonde: {said}\n")
    done = bad.command("diff", "good.sonde", "good.sonde", "--memory", status=2)
    assert (done.stdout, done.stderr) == ("", "sonde: good.sonde: no memory to compare\n")


def test_the_help_says_what_it_is(bad):
    assert "usage: sonde diff BEFORE AFTER [options]" in bad.command("diff", "--help").stdout
    assert "\n  diff " in bad.command("--help").stdout
