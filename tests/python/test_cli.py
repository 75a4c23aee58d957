"""The program sonde: what it makes of a program against golden files, and what it says to mistakes.

After a wanted change run ``make golden`` and read the difference.
"""

import csv
import importlib.util
import io
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sonde_programs import PROGRAMS
from wait_support import until

GOLDEN = Path(__file__).parent.parent / "golden" / "program"
FILES = {"regions.txt", "threads.txt", "timeline.chrome", "view.txt"}
PLAIN = {"COLUMNS": "", "TERM": "dumb"}


@pytest.fixture
def golden(sonde):
    shutil.copy(PROGRAMS / "golden.py", sonde.folder)
    sonde.run([sys.executable, "golden.py"])
    return sonde


def normal(text, folder):
    """The text with what differs from run to run replaced."""
    text = text.replace(str(folder), "FOLDER")
    text = re.sub(r"profiler overhead (≤|<=) .*", "profiler overhead ≤ …", text)
    text = re.sub(r'"(pid|tid|thread_id|process_id)": \d+', r'"\1": N', text)
    text = re.sub(r'"id": "\d+\.', '"id": "N.', text)
    return text


def events_of(trace):
    return {json.dumps(event, sort_keys=True) for event in json.loads(trace)["traceEvents"]}


def check(name, text):
    assert name in FILES
    path = GOLDEN / name
    if os.environ.get("SONDE_GOLDEN") == "write":
        path.write_text(text)
    assert text == path.read_text()


# Of threads the rest differs from run to run.
@pytest.mark.parametrize(
    ("view", "columns"), [("regions", []), ("threads", ["-c", "name,life,in_regions,entries,threads,start,dropped"])]
)
def test_a_view_with_all_columns(golden, view, columns):
    text = golden.command("export", "golden.sonde", "-f", "table", "--view", view, *columns).stdout
    check(f"{view}.txt", normal(text, golden.folder))


@pytest.mark.quick
@pytest.mark.parametrize("view", ["regions", "threads"])
def test_csv_and_json_have_the_same_cells(golden, view):
    def export(form):
        return golden.command("export", "golden.sonde", "-f", form, "--view", view).stdout

    table = json.loads(export("json"), parse_int=str, parse_float=str)
    names = [column["name"] for column in table["columns"]]
    rows = [[row[name] or "" for name in names] for row in table["rows"]]
    assert list(csv.reader(io.StringIO(export("csv")))) == [names, *rows]
    assert len(rows) >= 2


def test_no_golden_file_is_left_over():
    assert {path.name for path in GOLDEN.iterdir()} == FILES


def test_the_timeline_as_a_chrome_trace(golden):
    text = golden.command("export", "golden.sonde", "--format", "chrome").stdout
    lines = normal(text, golden.folder).replace("},\n", "}\n").splitlines(keepends=True)
    check("timeline.chrome", "".join(sorted(lines)))  # which thread is drained first is not certain
    live = (golden.folder / "golden.json").read_text()
    assert events_of(live) == events_of(text)


def test_view_prints_the_usual_columns(golden):
    text = golden.command("view", "golden.sonde", env=PLAIN).stdout
    check("view.txt", normal(text, golden.folder))
    assert golden.command("view", "golden.sonde", "--regions", env=PLAIN).stdout == text
    limited = golden.command("view", "golden.sonde", "-n", "3", "--columns", "name,total_us,who=thread").stdout
    assert len(limited.splitlines()) == 6
    assert limited.splitlines()[0].split() == ["name", "total_us", "who"]


def test_the_same_program_through_python(golden):
    here = golden.run([sys.executable, "-m", "sonde", "view", "golden.sonde"])
    assert here.stdout == golden.command("view", "golden.sonde").stdout
    assert golden.run([sys.executable, "-m", "sonde", "veiw"], status=2).stderr.startswith("sonde: unknown command")


def test_export_writes_a_file(golden):
    golden.command("export", "golden.sonde", "-f", "csv", "-o", "out.csv")
    text = golden.command("export", "golden.sonde", "-f", "csv").stdout
    assert (golden.folder / "out.csv").read_text() == text


def test_export_does_not_replace_its_recording(golden):
    before = (golden.folder / "golden.sonde").read_bytes()
    (golden.folder / "link").symlink_to("golden.sonde")
    for name in ("golden.sonde", "link"):
        refused = golden.command("export", "golden.sonde", "-f", "csv", "-o", name, status=2)
        assert refused.stderr == f"sonde: {name}: this is the recording itself; choose another name for the output\n"
    assert (golden.folder / "golden.sonde").read_bytes() == before


@pytest.mark.quick
def test_sql_answers(golden):
    def ask(query, *more):
        return golden.command("sql", "golden.sonde", query, *more).stdout

    assert ask("select name, count, total_ns from region where name = 'load()'", "-f", "csv") == (
        "name,count,total_ns\nload(),3,4500000\n"
    )
    rows = json.loads(ask("select metric, value, unit from measure where name = 'load()'", "-f", "json"))["rows"]
    assert {(row["metric"], row["value"], row["unit"]) for row in rows} >= {
        ("count", 3, "entries"),
        ("min", 1000000, "ns"),
    }
    assert ask("pragma user_version", "-f", "json") == (
        '{"view": "sql",\n "columns": [{"name": "user_version", "unit": "count"}],\n "rows": [\n'
        '  {"user_version": 9}\n ]}\n'
    )
    assert ask("select null as unknown, 1.5 as number, x'00ff' as bytes") == (
        "unknown  number  bytes\n-------  ------  ---------\n            1.5  (2 bytes)\n"
    )


@pytest.mark.parametrize(
    "query",
    [
        "delete from value",
        "insert into info values ('a', 'b')",
        "attach 'other.db' as other",
        "vacuum into 'copy.db'",
        "pragma user_version = 10",
        "pragma incremental_vacuum",
        "drop table node",
        "create table t (x)",
    ],
)
def test_sql_may_only_read(golden, query):
    before = (golden.folder / "golden.sonde").read_bytes()
    done = golden.command("sql", "golden.sonde", query, status=2)
    assert done.stderr == "sonde: golden.sonde: a query may only read; this one would write\n"
    assert (golden.folder / "golden.sonde").read_bytes() == before
    assert sorted(path.name for path in golden.folder.iterdir()) == ["golden.json", "golden.py", "golden.sonde"]


MISTAKES = {
    "veiw golden.sonde": "unknown command 'veiw'; did you mean 'view'?",
    "xyzzy": (
        "unknown command 'xyzzy'; choose from run, trace, view, report, diff, merge, export, import, stat, info, sql, "
        "doctor, config, completion"
    ),
    "view golden.sonde --colums name": "view has no option '--colums'; did you mean '--columns'?",
    "view golden.sonde --columns totl": "unknown column 'totl'; did you mean 'total'?",
    "view golden.sonde --limit many": "--limit takes a whole number, not 'many'",
    "view": "view needs a recording: sonde view FILE.sonde",
    "view nothere.sonde": "nothere.sonde: No such file or directory",
    "view .": ".: Is a directory",
    "view golden.py": "golden.py: this file is not a sonde recording",
    "view empty.sonde": ("empty.sonde: the file is empty; the process was killed before its first checkpoint"),
    "view golden.sonde --counters": (
        "golden.sonde: the recording has no data for counters; record values with sonde.counter(name, value)"
    ),
    "view truncated.sonde": "truncated.sonde: the recording is damaged",
    "view newer.sonde": "newer.sonde: the recording was written by a newer sonde; update sonde to read it",
    "view other.sonde": "other.sonde: this file is not a sonde recording",
    "export golden.sonde --format jsn": "unknown format 'jsn'; did you mean 'json'?",
    "export golden.sonde --view region": "unknown view 'region'; did you mean 'regions'?",
    "export golden.sonde -o /nowhere/x": "/nowhere/x: cannot be written: No such file or directory",
    "export plain.sonde -f chrome -o t.json": (
        "plain.sonde: the recording has no timeline; record one with timeline=True or chrome_trace_file="
    ),
    "export golden.sonde --format": "export: option '--format' needs NAME",
    "sql golden.sonde selec": 'the query is not valid: near "selec": syntax error',
    "sql golden.sonde ;": "the query is not valid: it is empty",
    "sql golden.sonde": "sql needs a recording and a query: sonde sql FILE 'select …'",
    "config": "config needs --cflags, --libs or both",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_gets_one_line_and_status_2(golden, words):
    whole = (golden.folder / "golden.sonde").read_bytes()
    (golden.folder / "empty.sonde").touch()
    (golden.folder / "truncated.sonde").write_bytes(whole[: len(whole) // 2])
    shutil.copy(golden.folder / "golden.sonde", golden.folder / "newer.sonde")
    with sqlite3.connect(golden.folder / "newer.sonde") as newer:
        newer.execute("pragma user_version = 99")
    with sqlite3.connect(golden.folder / "other.sonde") as other:
        other.execute("create table t (x)")
    golden.python("import sonde\nsonde.install(reporter=sonde.SilentReporter(), recording='plain.sonde')\n")
    done = golden.command(*words.split(" "), status=2)
    assert (done.stdout, done.stderr) == ("", f"sonde: {MISTAKES[words]}\n")
    assert not (golden.folder / "t.json").exists()


@pytest.mark.quick
def test_help_and_version(golden):
    text = golden.command("--help").stdout
    commands = ("view", "report", "diff", "merge", "export", "import", "stat", "info", "sql", "doctor", "config")
    assert all(word in text for word in commands)
    assert "  --help     show this help; 'sonde COMMAND --help' shows more\n" in text
    assert golden.command().stdout == text
    for command in commands:
        about = golden.command(command, "--help").stdout
        assert f"usage: sonde {command}" in about
    import sonde as package

    version, commit, features = golden.command("--version").stdout.splitlines()
    assert version == f"sonde {package.__version__}"
    assert re.fullmatch(r"commit    (unknown|[0-9a-f]{12}\+?)", commit)
    assert re.fullmatch(r"features  (no )?report page, (no )?native frames", features)


def test_doctor_says_what_works(golden):
    lines = golden.command("doctor").stdout.splitlines()
    states = {line[:10].strip(): line[10:].split(maxsplit=1) for line in lines}
    gpu, operators = states.pop("GPU"), states.pop("operators")  # whatever this machine has, it lacks nothing
    counters, page = states.pop("counters"), states.pop("page")
    assert counters[1].startswith("page-faults, context-switches") and (counters[0] == "ok") == (
        "; not " not in counters[1]
    )
    assert (page[0] == "ok") == (page[1] == "sonde report can write pages")
    assert {name: state[0] for name, state in states.items()} == dict.fromkeys(
        ["clock", "CPU clock", "regions", "recording", "timeline", "Python", "calls", "samples", "memory", "terminal"],
        "ok",
    )
    assert (gpu[0] == "ok") == gpu[1].startswith("NVML with ") and (gpu[0] == "off") == gpu[1].startswith(
        "no NVML library, or no GPU that it knows; views have no GPU columns"
    )
    if importlib.util.find_spec("numpy") is None:
        assert operators == ["off", "this Python has no NumPy, or an unknown version of it"]
    else:
        assert operators[0] == "ok" and re.fullmatch(r"\d{3} of NumPy [\d.]+; \d+ ns per call", operators[1])
    assert re.fullmatch(r"saw a 64 MB block; \d+\.\d ns per small block", states["memory"][1])
    assert f"{sys.executable} (Python and sonde {sys.version.split()[0]} " in states["Python"][1]
    said = {
        "clock": r"(time-stamp counter at \d+\.\d{3} GHz|system clock: .+), \d+ ns per read",
        "CPU clock": r"\d+ ns per read; two reads per entry when enabled",
        "regions": r"\d+ ns to enter and leave a region from C",
        "recording": rf"can write and read recordings in {re.escape(str(golden.folder))} \(SQLite [\d.]+\)",
        "timeline": r"zlib [\d.]+, \d+ bytes per event, up to \d+ events per thread waiting to be saved",
    }
    assert [name for name, text in said.items() if not re.fullmatch(text, states[name][1])] == []
    how = "sys.monitoring" if hasattr(sys, "monitoring") else "the (evaluation|profile) hook"
    assert re.fullmatch(rf"through {how}: \d+ ns per call; with C functions, through {how}: \d+ ns", states["calls"][1])


def test_doctor_says_why_something_does_not_work(golden):
    done = golden.run(
        ["bash", "-c", 'cd /proc && exec "$0" doctor', str(Path(sys.executable).parent / "sonde")], status=1
    )
    assert re.search(r"recording +off +cannot write a recording in /proc: ", done.stdout)


def test_doctor_says_what_a_python_without_sonde_cannot_do(sonde):
    program = shutil.copy(Path(sys.executable).parent / "sonde", sonde.folder)
    python = sonde.folder / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    lines = sonde.run([str(program), "doctor"], status=1).stdout.splitlines()
    assert {
        f"Python     off  {python} cannot import sonde; install sonde-profiler there",
        "calls      off  cannot measure calls with this Python",
        "samples    off  cannot take samples with this Python",
        "memory     off  did not see a block that this Python allocated",
        "operators  off  this Python has no NumPy, or an unknown version of it",
    } <= set(lines)


def test_the_flags_for_a_compiler_can_be_pasted_whatever_the_path(sonde):
    place = "/a b/ü $c;#"
    program = shutil.copy(Path(sys.executable).parent / "sonde", sonde.folder)
    python = sonde.folder / "python"  # the one that is asked stands beside the program
    python.write_text(f"#!/bin/sh\nprintf '%s\\n' '{place}'\n")
    python.chmod(0o755)
    flags = sonde.run([str(program), "config", "--cflags", "--libs"]).stdout
    assert shlex.split(flags) == [f"-I{place}/include", f"-L{place}", "-lsonde", f"-Wl,-rpath,{place}"]
    assert sonde.run(["sh", "-c", f"printf '%s\\n' {flags}"]).stdout.splitlines() == shlex.split(flags)


def test_output_into_a_closed_pipe_ends_quietly(golden):
    program = Path(sys.executable).parent / "sonde"
    script = '"$0" view golden.sonde | head -1; "$0" view golden.sonde > /dev/full'
    done = golden.run(["bash", "-c", script, str(program)], status=2)
    assert "cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_real_terminal_gets_colour_and_names_that_fit(golden):
    program = str(Path(sys.executable).parent / "sonde")
    tmux = ["tmux", "-L", f"sonde{os.getpid()}"]
    env = {**os.environ, "TERM": "screen-256color", "LANG": "C.UTF-8"}
    env.pop("NO_COLOR", None)
    subprocess.run([*tmux, "new-session", "-d", "-x", "60", "-y", "40", "sh"], check=True, cwd=golden.folder, env=env)
    try:
        subprocess.run([*tmux, "send-keys", f"clear; {shlex.quote(program)} view golden.sonde", "Enter"], check=True)

        def shown():
            text = subprocess.run([*tmux, "capture-pane", "-pe"], capture_output=True, text=True, check=True).stdout
            return text if "overhead" in text else None

        screen = until(shown)
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
    assert "\033[31m" in screen
    plain = re.sub(r"\033\[[0-9;]*m", "", screen)
    assert any("…" in line for line in plain.splitlines())
    assert "<main>" in plain
