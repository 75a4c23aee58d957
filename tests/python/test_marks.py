"""sonde.counter and sonde.mark: curves and marks in the timeline, in SQL and in what is exported."""

import base64
import gzip
import json
import re

import pytest
from export_readers import message, one
from run_support import query

import sonde as package

pytestmark = pytest.mark.interpreter

PROGRAM = """
import sonde, time
sonde.mark("started")
start = time.perf_counter_ns()
for i in range(200_000):
    sonde.counter("queue", i % 100)
sonde.counter("queue", 7.5)
sonde.counter("load", 1)
sonde.mark("deployed", version="2.1", workers=4)
"""


def ask(sonde, question, recording="r.sonde"):
    return json.loads(sonde.command("sql", recording, question, "--format", "json").stdout)["rows"]


def marks(sonde, recording="r.sonde"):
    rows = ask(sonde, "select name, detail from event where kind = 'mark' order by at_ns", recording)
    return [(row["name"], row["detail"]) for row in rows]


@pytest.fixture
def recorded(sonde, request):
    (sonde.folder / "prog.py").write_text(PROGRAM)
    command = getattr(request, "param", ["run"])
    sonde.command(*command, "-o", "r.sonde", "prog.py")
    return sonde


@pytest.mark.quick
@pytest.mark.parametrize("recorded", [["run"], ["trace"]], indirect=True)
def test_marks_and_curves_are_in_the_recording_without_being_asked_for(recorded):
    assert marks(recorded) == [("started", ""), ("deployed", "version=2.1, workers=4")]
    (row,) = [row for row in recorded.export("r.sonde", "counters")["rows"] if row["name"] == "queue"]
    assert (row["min"], row["max"], row["updates"], row["last"]) == (0, 99, 200_001, 7.5)
    assert row["place"] == "prog.py:6"
    curve = ask(recorded, "select at_ns, value, duration_ns from event where name = 'queue' order by rowid")
    assert [point["duration_ns"] for point in curve] == [None] * len(curve)
    assert (curve[0]["value"], curve[-1]["value"]) == (0, 7.5)
    length = int(ask(recorded, "select value from info where key = 'length_ns'")[0]["value"])
    assert len(curve) <= length / 1e7 * 2 + 4, "of quick updates only some are kept"
    rows = query(recorded.folder / "r.sonde", "select thread, name, updates, last, min, max from counter")
    assert sorted(rows) == [("main", "load", 1, 1, 1, 1), ("main", "queue", 200_001, 7.5, 0, 99)]
    rows = query(recorded.folder / "r.sonde", "select thread, name, detail, count from mark")
    assert sorted(rows) == [("main", "deployed", "version=2.1, workers=4", 1), ("main", "started", "", 1)]
    assert curve == sorted(curve, key=lambda point: point["at_ns"])


def test_the_timeline_has_the_marks_of_each_slice(recorded):
    rows = recorded.export("r.sonde", "timeline")["rows"]
    assert [row["marks"] for row in rows if row["marks"]] == ["started", "deployed"]
    text = recorded.command("view", "r.sonde", "--timeline").stdout
    assert re.search(r"  marks\n", text) and re.search(r"  deployed\n", text)


def test_the_timeline_names_the_first_marks_of_a_slice_and_counts_the_others(sonde):
    code = "import sonde, time\nfor i in range(100):\n    sonde.mark(f'm{i}')\n"
    spin = "end = time.thread_time() + 0.1\nwhile time.thread_time() < end: pass\n"
    (sonde.folder / "prog.py").write_text(code + spin)
    sonde.command("run", "-o", "r.sonde", "--no-report", "prog.py")
    texts = [row["marks"] for row in sonde.export("r.sonde", "timeline")["rows"] if row["marks"]]
    named = sum(len(text.partition(" and ")[0].split(", ")) for text in texts)
    others = [int(number) for text in texts for number in re.findall(r" and (\d+) more", text)]
    assert named <= 3 * len(texts)
    assert named + sum(others) == 100
    assert others


def test_a_timeline_keeps_every_update(sonde):
    sonde.python(
        "import sonde\n"
        "sonde.install(sonde.SilentReporter(), recording='r.sonde', timeline=True)\n"
        "for i in range(5000):\n    sonde.counter('i', i)\n"
    )
    values = [row["value"] for row in ask(sonde, "select value from event where name = 'i' order by at_ns")]
    assert values == list(range(5000))


def test_the_view_of_marks_has_them_in_order(recorded):
    rows = recorded.export("r.sonde", "marks")["rows"]
    assert [(row["name"], row["detail"], row["thread"]) for row in rows] == [
        ("started", "", "main"),
        ("deployed", "version=2.1, workers=4", "main"),
    ]
    assert 0 < rows[0]["at_ns"] < rows[1]["at_ns"]


def test_exports_have_counters_and_marks(recorded):
    recorded.command("export", "r.sonde", "-f", "chrome", "-o", "t.json")
    events = json.loads((recorded.folder / "t.json").read_text())["traceEvents"]
    (deployed,) = [event for event in events if event["name"] == "deployed"]
    assert (deployed["ph"], deployed["args"]) == ("i", {"detail": "version=2.1, workers=4"})
    assert [event["args"]["value"] for event in events if event["name"] == "queue"][-1] == 7.5

    recorded.command("export", "r.sonde", "-f", "perfetto", "-o", "t.perfetto")
    assert instants(recorded.folder / "t.perfetto") == [
        ("started", {}),
        ("deployed", {b"detail": b"version=2.1, workers=4"}),
    ]


def instants(path):
    """Names and annotations, as protos/perfetto/trace/track_event/*.proto describe them."""
    names, found = {}, []
    for _, packet in message(path.read_bytes()):
        fields = message(packet)
        for field, entry in message(one(fields, 12, b"")):
            if field == 2:
                names[one(message(entry), 1)] = one(message(entry), 2).decode()
        event = message(one(fields, 11, b""))
        if one(event, 9) == 3:
            notes = [message(note) for field, note in event if field == 4]
            found.append((names[one(event, 10)], {one(note, 10): one(note, 6) for note in notes}))
    return found


def test_the_page_has_them(recorded):
    recorded.command("report", "r.sonde", "-o", "page.html")
    text = (recorded.folder / "page.html").read_text(encoding="utf-8")
    packed = re.search(r'<script id="sonde-data" type="application/octet-stream">([^<]*)<', text)[1]
    data = json.loads(gzip.decompress(base64.b64decode(packed)))
    (block,) = [each for each in data["events"] if each["kind"] == "marks"]
    sites = [data["nodes"]["site"][node] for node in block["node"]]
    texts = [[data["texts"][data["sites"][key][site]] for key in ("name", "detail")] for site in sites]
    assert texts == [["started", ""], ["deployed", "version=2.1, workers=4"]]
    (curve,) = [each for each in data["series"] if each["name"] == "queue"]
    assert (curve["value"][0], curve["value"][-1]) == (0, 7.5)


def test_every_thread_and_forked_child_has_its_own(sonde):
    (sonde.folder / "prog.py").write_text("""
import os, sonde, threading
def work(number):
    for i in range(1000):
        sonde.counter("of thread", number)
        sonde.mark("step", thread=number)
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
child = os.fork()
if child == 0:
    sonde.mark("in child")
    sonde.counter("child", 3)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
sonde.mark("in parent")
""")
    sonde.command("run", "-o", "r.sonde", "prog.py")
    found = marks(sonde)
    assert {name: sum(each == name for each, _ in found) for name, _ in found} == {
        "step": 4000,
        "in child": 1,
        "in parent": 1,
    }
    rows = [row for row in sonde.export("r.sonde", "counters")["rows"] if row["name"] == "of thread"]
    assert sorted((row["min"], row["max"], row["updates"]) for row in rows) == [(i, i, 1000) for i in range(4)]


def test_more_marks_than_a_recording_keeps_are_counted(sonde):
    (sonde.folder / "prog.py").write_text("import sonde\nfor i in range(120_000): sonde.mark('often')\n")
    sonde.command("run", "-o", "r.sonde", "prog.py")
    lost = int(ask(sonde, "select value from info where key = 'lost_events'")[0]["value"])
    lost += ask(sonde, "select sum(dropped_events) as n from track")[0]["n"]
    assert len(marks(sonde)) + lost == 120_000
    assert lost >= 20_000
    counted = ask(sonde, "select sum(value) as n from measure where kind = 'mark' and metric = 'count'")
    assert counted == [{"n": 120_000}]


def test_a_recording_in_a_program_has_them(sonde):
    sonde.python("""
import sonde
with sonde.record("r.sonde"):
    sonde.mark("inside", step=1)
    sonde.counter("rate", 2)
sonde.mark("outside")
""")
    assert marks(sonde) == [("inside", "step=1")]
    assert [row["name"] for row in sonde.export("r.sonde", "counters")["rows"]] == ["rate"]


def test_without_a_recording_they_do_nothing_but_check_their_arguments():
    assert package.counter("a", 1) is None and package.mark("b", c=3) is None
    with pytest.raises(TypeError, match=r"counter\(\) takes a name and a value \(1 arguments given\)"):
        package.counter("a")
    with pytest.raises(TypeError, match="a counter's name must be a string, not int"):
        package.counter(3, 1)
    with pytest.raises(TypeError, match="a counter's value must be a number, not str"):
        package.counter("a", "b")
    with pytest.raises(TypeError, match=r"mark\(\) takes a name, and details as keywords \(2 positional"):
        package.mark("a", 1)
    with pytest.raises(TypeError, match="a mark's name must be a string, not NoneType"):
        package.mark(None)


def test_a_detail_that_has_no_text_ends_nothing(sonde):
    (sonde.folder / "prog.py").write_text(r"""
import sonde
class Bad:
    def __repr__(self): raise RuntimeError("no")
sonde.mark("odd\x00\nname\ud800", bad=Bad(), long="ä" * 500, text="two\nlines", number=float("nan"))
sonde.counter("not a number", float("nan"))
""")
    sonde.command("run", "-o", "r.sonde", "prog.py")
    ((name, detail),) = marks(sonde)
    assert name == "odd  name\\ud800"
    assert detail == f"bad=<Bad>, long={'ä' * 100}…, text=two lines, number=nan"
    assert query(sonde.folder / "r.sonde", "pragma user_version") == [(9,)]
