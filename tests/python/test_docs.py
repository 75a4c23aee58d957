"""The documentation is up to date, its links lead somewhere, and its code works."""

import ast
import json
import re
import runpy
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"]

PROGRAM = """
import asyncio, threading, time, sonde
sonde.install(reporter=sonde.SilentReporter(), recording="r.sonde", timeline=True)
async def task(name):
    with sonde.region(name):
        await asyncio.sleep(0.001)
async def tasks():
    await asyncio.gather(task("a"), task("b"))
def work():
    for _ in range(300):
        with sonde.region("outer"):
            with sonde.region("inner"):
                time.sleep(0.00001)
thread = threading.Thread(target=work, name="worker")
thread.start()
work()
thread.join()
asyncio.run(tasks())
"""


def fences(page, language):
    """The code of a page's blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def anchor(heading):
    """What GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def without_code(text):
    return re.sub(r"^```.*?^```$|`[^`\n]+`", "", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.quick
def test_the_api_reference_is_up_to_date():
    done = subprocess.run([sys.executable, "tools/apidoc.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_outdated_api_reference_is_noticed(tmp_path, monkeypatch, capsys):
    space = runpy.run_path(str(ROOT / "tools" / "apidoc.py"))
    old = tmp_path / "api.md"
    old.write_text("old")
    monkeypatch.setitem(space["main"].__globals__, "OUTPUT", old)
    monkeypatch.setattr(sys, "argv", ["apidoc.py", "--check"])
    assert space["main"]() == 1
    assert capsys.readouterr().err == "docs/api.md is out of date; run: python tools/apidoc.py\n"
    assert old.read_text() == "old"


@pytest.mark.quick
def test_the_tables_of_options_are_up_to_date():
    done = subprocess.run(
        [sys.executable, "tools/settings_doc.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_an_outdated_table_of_options_is_noticed_and_written(tmp_path, monkeypatch, capsys):
    space = runpy.run_path(str(ROOT / "tools" / "settings_doc.py"))
    page = tmp_path / "page.md"
    page.write_text("a\n\n<!-- options of run: memory -->\nold\n<!-- end of options -->\nb\n")
    monkeypatch.setitem(space["main"].__globals__, "PAGES", tmp_path)
    monkeypatch.setattr(sys, "argv", ["settings_doc.py", "--check"])
    assert space["main"]() == 1
    assert capsys.readouterr().err == "docs/page.md is out of date; run: python tools/settings_doc.py\n"
    assert "old" in page.read_text()
    monkeypatch.setattr(sys, "argv", ["settings_doc.py"])
    assert space["main"]() == 0
    lines = page.read_text().splitlines()
    assert [line.split(" | ")[0] for line in lines[5:8]] == [
        "| `--memory`",
        "| `--exact`",
        "| `--memory-interval BYTES`",
    ]
    assert (lines[:2], lines[8:]) == (["a", ""], ["<!-- end of options -->", "b"])


def test_the_notebook_page_names_every_option_of_the_magics():
    from sonde._runtime import settings as _settings

    text = (ROOT / "docs" / "notebook.md").read_text()
    options = {f"--{setting['name']}" if setting["name"] != "output" else "-o" for setting in _settings.magics()}
    assert {option for option in options if not re.search(rf"`{option}(?![\w-])", text)} == set()


def test_the_api_reference_has_every_public_name():
    import sonde

    text = (ROOT / "docs" / "api.md").read_text()
    header = (ROOT / "include" / "sonde.h").read_text()
    names = [*(name for name in sonde.__all__ if not name.startswith("_")), "Profiler"]
    names += set(re.findall(r"\bsonde_(?!leave_scope|site_|span_)\w+(?=\()", header))
    names += ["SONDE_REGION", "SONDE_BEGIN", "SONDE_END", "SONDE_COUNTER_SET", "SONDE_COUNTER_ADD", "SONDE_SITE"]
    assert [name for name in names if f"`{name}`" not in text] == []


@pytest.mark.quick
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page):
    text = without_code(page.read_text())
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    broken = []
    for link in links:
        path, _, heading = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            broken.append(link)
        elif heading and target.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            if heading not in map(anchor, headings):
                broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_compile(page):
    for code in fences(page, "python"):
        if page.name == "api.md":  # signatures, not statements
            continue
        compile(code, str(page), "exec")


def test_the_marking_block_of_regions_md_runs(sonde):
    (code,) = [code for code in fences(ROOT / "docs" / "regions.md", "python") if "sonde.push" in code]
    report = "\nimport sonde as s\ns.report()\n"
    install = "import sonde\nsonde.install(sonde.ConsoleReporter(columns=('name', 'count')))\n"
    done = sonde.python(install + code + report)
    assert re.search(r"^\. fetch +3$", done.stderr, re.MULTILINE)
    assert re.search(r"^\. train\(\) +3$", done.stderr, re.MULTILINE)
    assert re.search(r"^\. \. train\(\) +1$", done.stderr, re.MULTILINE)


def test_every_column_is_documented(sonde):
    sonde.python("import sonde\nsonde.install(sonde.SilentReporter(), recording='r.sonde')\n")
    text = (ROOT / "docs" / "regions.md").read_text()
    columns = {column["name"].removesuffix("_ns") for column in sonde.export("r.sonde")["columns"]}
    assert {column for column in columns if f"`{column}`" not in text} == set()


def test_the_limits_in_the_pages_are_those_of_the_code():
    def defined(header, name):
        (value,) = re.findall(
            rf"^#define {name} \(?([^\s)]+(?: << \d+)?)\)?", (ROOT / "src" / header).read_text(), re.M
        )
        return eval(re.sub(r"(\d)u\b", r"\1", value))

    regions = (ROOT / "docs" / "regions.md").read_text()
    page = (ROOT / "docs" / "recording.md").read_text()
    slots = defined("base/ring.h", "SND_RING_SLOTS")
    assert regions.count(f"{slots:,} events") == 2 and f"{slots * 24 / 2**20:.0f} MiB" in regions
    assert defined("probe/core/track.h", "SND_NODE_LIMIT") == defined("probe/core/site.h", "SND_SITE_LIMIT") == 2**20
    assert f"the {defined('probe/core/track.h', 'SND_TRACK_LIMIT') + 1}th thread" in regions
    buckets = defined("model/histogram.h", "SND_HISTOGRAM_BUCKETS")
    assert f"There are {buckets} buckets" in page and f"and {buckets * 4} for its histogram" in regions
    assert defined("store/chunk.h", "SND_CHUNK_LIMIT") == 2**20
    assert defined("store/schema.h", "SND_SCHEMA_VERSION") == 9


@pytest.fixture
def recording(sonde):
    """The path of a recording with threads, tasks and a timeline."""
    sonde.python(PROGRAM, env={"RANK": "3"})
    return sonde.folder / "r.sonde"


def decoder():
    """The function events() of docs/recording.md."""
    (code,) = fences(ROOT / "docs" / "recording.md", "python")
    assert len(code.splitlines()) < 25
    names = {}
    exec(compile(code, "recording.md", "exec"), names)
    return names


def test_the_decoder_of_recording_md_gives_what_export_gives(sonde, recording):
    db = sqlite3.connect(recording)
    name_of = dict(db.execute("select node.id, site.name from node join site on site.id = site"))
    thread_of = dict(db.execute("select id, thread_id from track"))
    decoded = list(decoder()["events"](recording))
    exported = json.loads(sonde.command("export", "r.sonde", "-f", "chrome").stdout)["traceEvents"]

    def ns(microseconds):
        return round(microseconds * 1000)

    spans = [(e["tid"], e["name"], ns(e["ts"]), ns(e["dur"])) for e in exported if e["ph"] == "X"]
    assert [(thread_of[t], name_of[n], s, v) for t, n, task, s, v in decoded if not task] == spans
    begins = [(e["tid"], e["name"], ns(e["ts"])) for e in exported if e["ph"] == "b"]
    assert [(thread_of[t], name_of[n], s) for t, n, task, s, _ in decoded if task] == begins
    assert (len(spans), len(begins)) == (1200, 2)
    (events,) = db.execute("select sum(events) from timeline").fetchone()
    assert events == len(decoded)


def test_the_worked_examples_of_recording_md_are_right():
    text = (ROOT / "docs" / "recording.md").read_text()
    lines = re.findall(r"^((?:[0-9a-f]{2} )+) *node (\d+), task (\d+), .*= (\d+), duration (\d+)$", text, re.MULTILINE)
    numbers = list(decoder()["varints"](bytes.fromhex("".join(line[0] for line in lines))))
    start = 0
    for i, (_, node, task, at, duration) in enumerate(lines):
        start += numbers[4 * i + 2] >> 1 ^ -(numbers[4 * i + 2] & 1)
        found = [numbers[4 * i], numbers[4 * i + 1], start, numbers[4 * i + 3]]
        assert found == [int(node), int(task), int(at), int(duration)]
    assert len(lines) == 3
    assert list(decoder()["varints"](bytes.fromhex("900102"))) == [144, 2]


def test_histograms_are_as_recording_md_says(recording):
    def low(bucket):
        return bucket if bucket < 8 else (8 + bucket % 8) << (bucket // 8 - 1)

    db = sqlite3.connect(recording)
    values = {}
    for node, metric, value in db.execute("select node, metric, value from measure where kind = 'region'"):
        values.setdefault(node, {})[metric] = value
    rows = db.execute("select node, buckets from histogram").fetchall()
    assert {node for node, _ in rows} == {node for node, value in values.items() if value["count"] > 1}
    for node, blob in rows:
        numbers = decoder()["varints"](blob)
        bucket, counts = 0, {}
        for skipped, count in zip(numbers, numbers, strict=False):
            bucket += skipped
            counts[bucket] = count
            bucket += 1
        assert sum(counts.values()) == values[node]["count"]
        assert low(min(counts)) <= values[node]["min"] < low(min(counts) + 1)
        assert low(max(counts)) <= values[node]["max"] < low(max(counts) + 1)


def test_the_schema_of_recording_md_is_the_schema(recording):
    text = (ROOT / "docs" / "recording.md").read_text()
    db = sqlite3.connect(recording)
    assert db.execute("pragma user_version").fetchone() == (9,)
    assert db.execute("pragma application_id").fetchone() == (0x536F6E64,)
    assert recording.read_bytes()[68:72] == b"Sond"
    for (table,) in db.execute("select name from sqlite_master where type = 'table'").fetchall():
        (section,) = re.findall(rf"^### `{table}`.*?(?=^##|\Z)", text, re.DOTALL | re.MULTILINE)
        columns = [row[1] for row in db.execute(f"pragma table_info({table})")]
        assert [name for name in columns if f"`{name}`" not in section] == []
    for (view,) in db.execute("select name from sqlite_master where type = 'view'").fetchall():
        (section,) = re.findall(rf"^- `{view}`:.*?(?=^-|^$)", text, re.DOTALL | re.MULTILINE)
        assert re.findall(r"`(\w+)`", section)[1:] == [row[1] for row in db.execute(f"pragma table_info({view})")]
    for table, key in (("info", "key"), ("metric", "name")):
        for (name,) in db.execute(f"select {key} from {table}"):
            assert re.search(rf"^\| .*`{name}`.* \|", text, re.MULTILINE), name


def test_the_invariants_of_recording_md_hold(recording):
    db = sqlite3.connect(recording)

    def rows(sql):
        return db.execute(sql).fetchall()

    for table in ("track", "site", "node"):
        assert [row[0] for row in rows(f"select id from {table} order by id")] == list(
            range(len(rows(f"select id from {table}")))
        )
    assert rows("select * from node where parent >= id") == []
    assert rows("select * from node join node as above on above.id = node.parent where above.track <> node.track") == []
    assert rows("select parent, site from node where parent is not null group by 1, 2 having count(*) > 1") == []
    assert rows("select count(*) from node where parent is null") == rows("select count(*) from track")
    sums = rows(
        "select track, count(distinct node), sum(value) filter (where metric.name = 'self'),"
        " sum(value) filter (where metric.name = 'total' and parent is null)"
        " from value join node on node.id = node join metric on metric.id = metric group by track"
    )
    assert len(sums) == 2
    assert all(abs(self_ns - total_ns) <= nodes for _, nodes, self_ns, total_ns in sums)
    assert rows("select * from region where not (min_ns * count <= total_ns and total_ns <= max_ns * count)") == []
    assert rows("select value from info where key in ('complete', 'rank') order by key") == [("1",), ("3",)]


def marks_of(decorators):
    """The names in `pytest.mark.NAME` expressions."""
    words = [node.attr for item in decorators for node in ast.walk(item) if isinstance(node, ast.Attribute)]
    return set(words) - {"mark"}


def run_on_every_interpreter(path):
    """The tests of a file that CI runs on each version: those marked interpreter, but not slow."""
    body = ast.parse(path.read_text()).body
    whole = [item.value for item in body if isinstance(item, ast.Assign) and item.targets[0].id == "pytestmark"]
    functions = [item for item in body if isinstance(item, ast.FunctionDef)]
    marks = {item.name: marks_of(whole + item.decorator_list) for item in functions}
    return {name for name, words in marks.items() if "interpreter" in words and "slow" not in words}


@pytest.mark.quick
def test_cpython_md_proves_each_difference_by_a_test_of_every_interpreter():
    text = (ROOT / "docs" / "cpython.md").read_text()
    rows = [line for line in text.splitlines() if re.match(r"\| (?!difference)\S", line)]
    assert len(rows) > 20
    for row in rows:
        tests = re.findall(r"`((?:truth/)?\w*/?test_\w+\.py)::(test_\w+)`", row.rsplit("|", 2)[1])
        assert tests, row
        for file, name in tests:
            path = ROOT / "tests" / (file if file.startswith("truth/") else f"python/{file}")
            assert name in run_on_every_interpreter(path), (file, name)
    sources = "".join(path.read_text() for path in (ROOT / "src" / "python").rglob("*.[ch]"))
    for name in re.findall(r"compat\w*\.[ch] `(\w+)`", text):
        assert name in sources


@pytest.mark.parametrize("tool", ["draw_rooms.py", pytest.param("ways.py", marks=pytest.mark.slow)])
def test_the_map_of_the_sources_is_up_to_date(tool):
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / tool, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_map_of_the_sources_is_short():
    assert (ROOT / "docs" / "architecture.md").read_text().count("\n") <= 200


def test_the_changelog_has_this_version():
    import sonde

    assert f"## [{sonde.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
