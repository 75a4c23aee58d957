"""The report page: what is in it is what the other ways to look at a recording say."""

import base64
import gzip
import json
import re
import sqlite3
import textwrap
import zlib
from random import Random

import pytest
from wait_support import until

from sonde import _core

SCRIPT = re.compile(r'<script id="(sonde-data(?:-2)?)" type="application/octet-stream">([A-Za-z0-9+/=]*)</script>')

STATES = ["python", "native", "system", "wait_cpu", "wait_lock", "wait_gil", "wait_io", "wait_sleep", "wait_other"]

SPIN = """
import sys, threading, time
import sonde
def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(100))
"""


def has_page():
    try:
        _core.page("/nowhere")
    except OSError as error:
        return error.errno is not None  # the file is missed, not the page
    return True


pytestmark = pytest.mark.skipif(not has_page(), reason="built without node and npm")


def data_of(text):
    """What is embedded in a page, decoded."""
    found = {name: json.loads(gzip.decompress(base64.b64decode(packed))) for name, packed in SCRIPT.findall(text)}
    assert "sonde-data" in found
    return found


def report(sonde, *words):
    sonde.command("report", *words, "-o", "page.html")
    return data_of((sonde.folder / "page.html").read_text(encoding="utf-8"))


def table(data, view, variant=""):
    found = [made for made in data["tables"] if (made["view"], made["variant"]) == (view, variant)]
    return found[0] if found else None


def rows(made):
    names = [column["name"] for column in made["columns"]]
    depths = made["depths"] or [None] * len(made["rows"])
    return [
        {**({"depth": depth} if made["is_tree"] else {}), **dict(zip(names, cells, strict=True))}
        for depth, cells in zip(depths, made["rows"], strict=True)
    ]


def sums(data):
    return {name: sum(column["value"]) for name, column in data["metrics"].items()}


def spans(data, kind):
    """The events of a kind as (track, start, end, node, task), in ns."""
    made = []
    for block in data["events"] or []:
        last, end = None, 0
        for gap, value, node, task in zip(*(block[key] for key in ("gap", "value", "node", "task")), strict=True):
            track = data["nodes"]["track"][node]
            start = gap + (end if track == last else 0)
            last, end = track, start + value
            if block["kind"] == kind:
                made.append((track, start * block["unit_ns"], end * block["unit_ns"], node, task))
    return made


def check_tables(sonde, data, recording="r.sonde"):
    """Every table is what `sonde export --format json` gives, number by number."""
    assert data["tables"]
    for made in data["tables"]:
        view = made["view"]
        if view == "sampled_functions":
            continue
        option = {"by_shape": ["--by-shape"], "by_line": ["--by-line"]}.get(made["variant"], [])
        text = sonde.command("export", recording, "--format", "json", "--view", view, *option).stdout
        assert rows(made) == json.loads(text)["rows"], view


def check_metrics(sonde, data, recording="r.sonde"):
    """The sums of all metrics are those of the recording's values."""
    with sqlite3.connect(sonde.folder / recording) as database:
        query = "select metric.name, sum(value.value) from value join metric on metric.id = value.metric group by 1"
        wanted = {name: value for name, value in database.execute(query) if value}
        nodes = database.execute("select id, parent, track from node order by id").fetchall()
    assert {name: value for name, value in sums(data).items() if value} == pytest.approx(wanted)
    assert data["nodes"]["parent"] == [-1 if parent is None else parent for _, parent, _ in nodes]
    assert data["nodes"]["track"] == [track for _, _, track in nodes]


def run(sonde, code, *options):
    (sonde.folder / "prog.py").write_text(SPIN + code)
    sonde.command("run", "-o", "r.sonde", "--no-report", *options, "prog.py")


def varint(value):
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def make_long(path, seconds):
    """Many samples in place of the timeline: a millisecond each, more or less, at any line of the main thread."""
    random = Random(9)
    with sqlite3.connect(path) as database:
        query = "select node.id from node join site on site.id = node.site where kind = 'line' and track = 0"
        lines = [node for (node,) in database.execute(query)]
        database.execute("delete from timeline")
        lengths = [random.randrange(800_000, 1_200_000) for _ in range(20000)]
        tail = b"".join(
            b"".join(map(varint, (random.choice(lines), random.randrange(3), before << 1, length)))
            for before, length in zip(lengths, lengths[1:], strict=False)
        )
        for start in range(0, int(seconds * 1e9), sum(lengths)):  # again and again, farther apart than zlib looks back
            chunk = b"".join(map(varint, (lines[0], 0, start << 1, lengths[0]))) + tail
            row = 0, start, start + sum(lengths) - lengths[-1], len(lengths), len(chunk), zlib.compress(chunk, 1)
            database.execute(
                "insert into timeline (track, first_ns, last_ns, events, size, data) values (?,?,?,?,?,?)", row
            )
    return len(range(0, int(seconds * 1e9), sum(lengths))) * sum(lengths)


@pytest.mark.quick
def test_samples_are_those_of_the_recording(sonde):
    run(sonde, "t = threading.Thread(target=spin, args=(0.2,))\nt.start()\nspin(0.3)\ntime.sleep(0.1)\nt.join()")
    data = report(sonde, "r.sonde")["sonde-data"]
    check_tables(sonde, data)
    check_metrics(sonde, data)
    assert {"lines", "tree", "functions", "timeline", "threads"} <= {made["view"] for made in data["tables"]}
    assert table(data, "regions") is None and table(data, "ops") is None
    assert [data["texts"][source["file"]] for source in data["sources"]] == [str(sonde.folder / "prog.py")]
    assert data["sources"][0]["text"] == (sonde.folder / "prog.py").read_text()
    assert data["pruned"] is None


def test_samples_of_the_timeline_last_as_long_as_those_of_the_recording(sonde):
    run(sonde, "spin(0.3)\ntime.sleep(0.1)\nspin(0.1)")
    data = report(sonde, "r.sonde")["sonde-data"]
    made = spans(data, "samples")
    text = sonde.command("export", "r.sonde", "--format", "speedscope").stdout
    profiles = [one for one in json.loads(text)["profiles"] if not one["name"].endswith(" (sums)")]
    drawn = [pair for one in profiles for pair in zip(one["samples"], one["weights"], strict=True)]
    wanted = sum(weight for stack, weight in drawn if stack)  # an empty one is a gap
    assert sum(end - start for _, start, end, _, _ in made) == pytest.approx(wanted, rel=0.02)
    assert all(0 <= start < end and task < len(STATES) for _, start, end, _, task in made)


def test_memory_is_that_of_the_recording(sonde):
    run(
        sonde,
        "kept = [bytearray(50000) for _ in range(400)]\nspin(0.2)\ncopy = [bytes(block) for block in kept]",
        "--memory",
    )
    data = report(sonde, "r.sonde")["sonde-data"]
    check_tables(sonde, data)
    check_metrics(sonde, data)
    assert table(data, "memory") and table(data, "owners") and table(data, "footprint")
    names = {series["name"] for series in data["series"]}
    assert {"heap", "rss"} <= names
    heap = next(series for series in data["series"] if series["name"] == "heap")
    assert len(heap["at_ns"]) == len(heap["value"]) > 1 and max(heap["value"]) > 20_000_000
    assert len(data["histories"]["node"]) == len(data["histories"]["live"]) > 0


REGIONS = """
import gc, threading, time, sonde
gc.disable()
sonde.install(reporter=sonde.SilentReporter(), recording="r.sonde", timeline=True)
def work():
    for _ in range(20):
        with sonde.region("outer"):
            for _ in range(3):
                with sonde.region("inner"):
                    time.sleep(0.0005)
thread = threading.Thread(target=work, name="worker")
thread.start()
work()
thread.join()
"""


def test_regions_and_their_timeline_are_those_of_the_recording(sonde):
    sonde.python(REGIONS)
    data = report(sonde, "r.sonde")["sonde-data"]
    check_tables(sonde, data)
    check_metrics(sonde, data)
    made = spans(data, "spans")
    assert len(made) == 2 * 20 * 4
    names = [data["texts"][data["sites"]["name"][data["nodes"]["site"][node]]] for _, _, _, node, _ in made]
    for name in ("outer", "inner"):
        lasted = sum(end - start for (_, start, end, _, _), of in zip(made, names, strict=True) if of == name)
        total = sum(row["total_ns"] for row in rows(table(data, "regions")) if row["name"] == name)
        assert lasted == pytest.approx(total, abs=len(made))  # each is rounded from ticks to ns
    assert made == sorted(made, key=lambda event: (event[0], event[1], -event[2]))


CALLS = """
import sonde
from sonde import profiler
def f(a, b=1): return a
def g():
    for i in range(100):
        f(i); f("x"); f(i, b=2.5)
with sonde.record("r.sonde", probes=["call"], signatures=True):
    g()
"""


def test_calls_and_signatures_are_those_of_the_recording(sonde):
    sonde.python(CALLS)
    data = report(sonde, "r.sonde")["sonde-data"]
    check_tables(sonde, data)
    check_metrics(sonde, data)
    assert table(data, "signatures")["is_grouped"] and table(data, "callers") and table(data, "callees")
    calls = {row["name"]: row["calls"] for row in rows(table(data, "functions"))}
    assert calls["f"] == 300 and calls["g"] == 1


def test_operators_are_those_of_the_recording(sonde):
    pytest.importorskip("numpy")
    run(
        sonde,
        "import numpy\na = numpy.ones((50, 50))\nfor _ in range(50): numpy.dot(a, a)\nwith sonde.region('add'): a + a",
        "--ops",
    )
    data = report(sonde, "r.sonde")["sonde-data"]
    check_tables(sonde, data)
    check_metrics(sonde, data)
    assert table(data, "ops") and table(data, "ops", "by_shape") and table(data, "ops", "by_line")


def test_the_page_without_data_is_small(sonde):
    sonde.python(CALLS)
    report(sonde, "r.sonde")
    assert len(SCRIPT.sub("", (sonde.folder / "page.html").read_text(encoding="utf-8")).encode()) <= 200 << 10


@pytest.mark.slow
def test_a_long_timeline_is_thinned_out_and_a_fifth_of_speedscope(sonde):
    run(sonde, "spin(0.5)")
    lasts = make_long(sonde.folder / "r.sonde", 1200)
    data = report(sonde, "r.sonde")["sonde-data"]
    speedscope = len(sonde.command("export", "r.sonde", "--format", "speedscope").stdout)
    assert (sonde.folder / "page.html").stat().st_size * 5 <= speedscope
    assert data["pruned"]["events"] > 0 and "samples" in data["pruned"]["text"]
    made = spans(data, "samples")
    assert len(made) <= 500_000
    assert sum(end - start for _, start, end, _, _ in made) == pytest.approx(lasts, rel=0.001)


def test_two_recordings_are_in_one_page(sonde):
    run(sonde, "spin(0.1)")
    (sonde.folder / "r.sonde").rename(sonde.folder / "a.sonde")
    run(sonde, "spin(0.2)")
    both = report(sonde, "a.sonde", "r.sonde")
    assert both["sonde-data"]["infos"]["process_id"] != both["sonde-data-2"]["infos"]["process_id"]
    assert _core.page(str(sonde.folder / "a.sonde"), str(sonde.folder / "r.sonde")) == (
        sonde.folder / "page.html"
    ).read_text(encoding="utf-8")


def test_without_sources_no_line_of_them_is_there(sonde):
    run(sonde, "kept = bytearray(3000000)  # SECRET\nspin(0.1)  # SECRET\n", "--memory")
    with_text = json.dumps(report(sonde, "r.sonde"))
    without = json.dumps(report(sonde, "r.sonde", "--no-source"))
    assert "SECRET" in with_text and "SECRET" not in without
    assert "thread_time" not in without


def test_libraries_have_no_source_in_the_page(sonde):
    run(sonde, "import json.decoder\nfor _ in range(3000): json.loads('[1, 2, {\"a\": 3}]')\nspin(0.1)", "--all-code")
    data = report(sonde, "r.sonde")["sonde-data"]
    assert {data["texts"][source["file"]] for source in data["sources"]} <= {str(sonde.folder / "prog.py")}
    texts = {row["source"] for row in rows(table(data, "lines")) if row["file"] and "json" in row["file"]}
    assert texts <= {None}


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--",
    '"quotes\\"',
    "\u202ertl \u05e9",
    "\U0001f40d",
    "a\x01\x1b[31m\n\tb",
    "n" * 10000,
]


def test_hostile_names_are_only_text(sonde):
    code = "import sonde\nsonde.install(reporter=sonde.SilentReporter(), recording='r.sonde', timeline=True)\n"
    sonde.python(code + f"for name in {HOSTILE!r}:\n    with sonde.region(name): pass\n")
    data = report(sonde, "r.sonde")["sonde-data"]
    assert set(HOSTILE) <= set(data["texts"])
    assert set(HOSTILE) <= {row["name"] for row in rows(table(data, "regions"))}
    page = (sonde.folder / "page.html").read_text(encoding="utf-8")
    template = SCRIPT.sub("", page)
    assert "alert(1)" not in page and template.count("<script") == template.count("</script>")


def test_names_that_are_not_utf8_do_no_harm(sonde):
    sonde.python(REGIONS)
    with sqlite3.connect(sonde.folder / "r.sonde") as database:
        database.execute("update site set name = cast(x'6fff80c328eda080' as text) where name = 'inner'")
    data = report(sonde, "r.sonde")["sonde-data"]
    assert "o\ufffd\ufffd\ufffd(\ufffd\ufffd\ufffd" in data["texts"]


def refusal(sonde, *words, **options):
    done = sonde.command("report", *words, status=2, **options)
    assert done.stdout == "" and done.stderr.count("\n") == 1 and done.stderr.startswith("sonde: ")
    return done.stderr.removeprefix("sonde: ").rstrip("\n")


def test_mistakes_get_one_line(sonde):
    sonde.python(REGIONS)
    (sonde.folder / "text").write_text("no recording")
    assert refusal(sonde) == "report needs a recording: sonde report FILE.sonde"
    assert refusal(sonde, "gone.sonde") == "gone.sonde: No such file or directory"
    assert refusal(sonde, "r.sonde", "gone.sonde").startswith("gone.sonde: No such file")
    assert refusal(sonde, "text") == "text: this file is not a sonde recording"
    assert "two to compare; unexpected argument 'c'" in refusal(sonde, "a", "b", "c")
    assert (
        refusal(sonde, "r.sonde", "-o", "no/page.html") == "no/page.html: cannot be written: No such file or directory"
    )
    assert refusal(sonde, "r.sonde", "-o", "/dev/full") == "/dev/full: cannot be written: No space left on device"
    assert refusal(sonde, "r.sonde", "-o", ".") == ".: cannot be written: Is a directory"
    assert "this is the recording itself; choose another name for the output" in refusal(
        sonde, "r.sonde", "-o", "r.sonde"
    )
    assert "--open needs a file, not standard output" in refusal(sonde, "r.sonde", "--open", "-o", "-")
    assert "--no-sources" in refusal(sonde, "r.sonde", "--no-sources")
    assert sorted(path.name for path in sonde.folder.iterdir()) == ["prog.py", "r.sonde", "text"]


def test_a_page_is_named_after_its_recording_and_said_where(sonde):
    sonde.python(REGIONS)
    done = sonde.command("report", "r.sonde")
    assert (done.stdout, done.stderr) == ("", "sonde: page saved in r.html\n")
    assert sonde.command("report", "r.sonde", "-o", "-").stdout == (sonde.folder / "r.html").read_text(encoding="utf-8")


def test_a_browser_gets_the_path(sonde):
    sonde.python(REGIONS)
    browser = sonde.folder / "browser"
    browser.write_text(
        f'#!/bin/sh\nprintf %s "$1" > {sonde.folder}/opened.tmp\nmv {sonde.folder}/opened.tmp {sonde.folder}/opened\n'
    )
    browser.chmod(0o755)
    sonde.command("report", "r.sonde", "--open", env={"BROWSER": str(browser)})
    until((sonde.folder / "opened").exists)
    assert (sonde.folder / "opened").read_text() == str(sonde.folder / "r.html")
    done = sonde.command("report", "r.sonde", "--open", env={"PATH": "/nowhere", "BROWSER": ""}, status=1)
    assert done.stderr.endswith("sonde: found no browser; open r.html yourself\n")


def test_run_writes_a_page_beside_the_recording(sonde):
    (sonde.folder / "prog.py").write_text(SPIN + "spin(0.1)\nprint('ran')")
    done = sonde.command("run", "--html", "--no-report", "-o", "r.sonde", "prog.py")
    assert done.stdout == "ran\n"
    assert (
        done.stderr == f"sonde: recording saved in {sonde.folder}/r.sonde\nsonde: page saved in {sonde.folder}/r.html\n"
    )
    data = data_of((sonde.folder / "r.html").read_text(encoding="utf-8"))["sonde-data"]
    check_tables(sonde, data)
    assert data["infos"]["complete"] == "1" and data["events"]


def test_a_measurement_writes_a_page(sonde):
    code = """
        with sonde.record("r.sonde") as m:
            with sonde.region("work"):
                spin(0.1)
        m.report("page.html")
        with sonde.sample() as s:
            spin(0.1)
            s.report("while.html")
        s.report("after.html", source=False)
        assert s.page(source=False) == open("after.html", encoding="utf-8").read()
        try:
            s.report("no/page.html")
        except FileNotFoundError as error:
            assert error.filename.endswith("no/page.html")
        else:
            raise AssertionError
    """
    sonde.python(SPIN + textwrap.dedent(code))
    made = {
        name: data_of((sonde.folder / f"{name}.html").read_text(encoding="utf-8"))["sonde-data"]
        for name in ("page", "while", "after")
    }
    check_tables(sonde, made["page"])
    assert spans(made["page"], "samples") and spans(made["page"], "spans")
    assert made["while"]["events"] is None and made["after"]["events"] is None
    assert made["while"]["sources"] and not made["after"]["sources"]


def test_calls_without_a_recording_have_a_page(sonde):
    code = "from sonde import profiler\ndef f(a): pass\nwith profiler.Profile() as p:\n    f(1); f('x')\n"
    sonde.python(code + "open('page.html', 'w').write(p.profile().page())\n")
    data = data_of((sonde.folder / "page.html").read_text())["sonde-data"]
    assert table(data, "signatures") and {row["name"]: row["calls"] for row in rows(table(data, "functions"))}["f"] == 2
