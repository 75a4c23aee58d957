"""``sonde stat``, and counters per region, from outside."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from run_support import SONDE
from wait_support import until

PLAIN = {"LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
PYTHON = shlex.quote(sys.executable)

# Touches so many pages that nobody has touched; large pages would make one fault of many.
TOUCH = """
import mmap
def touch(count):
    memory = mmap.mmap(-1, count * mmap.PAGESIZE)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, count * mmap.PAGESIZE, mmap.PAGESIZE):
        memory[at] = 1
"""


def stat(sonde, *words, status=0, **options):
    """The JSON of a run."""
    return json.loads(sonde.command("stat", "--json", *words, status=status, **options).stdout)


def counters(side):
    return {counter["name"]: counter for counter in side["counters"]}


# ---- commands ----


def test_the_table_goes_to_standard_error_and_the_output_stays_the_commands(sonde):
    done = sonde.command("stat", "--", "sh", "-c", "echo out; echo err >&2", env=PLAIN)
    assert done.stdout == "out\n"
    assert done.stderr.startswith("err\n1 run of sh -c echo out; echo err >&2\n\ncounter ")
    for name in ("wall", "task clock", "context switches", "page faults", "peak rss", "read"):
        assert f"\n{name} " in done.stderr


def test_the_exit_status_is_the_commands(sonde):
    assert "the command ended with status 3\n" in sonde.command("stat", "--", "sh", "-c", "exit 3", status=3).stderr
    died = sonde.command("stat", "--", "sh", "-c", "kill -SEGV $$", status=128 + signal.SIGSEGV)
    assert "the command was ended by SIGSEGV\n" in died.stderr


def test_a_statement_that_ends_its_process_is_not_measured(sonde):
    died = sonde.command("stat", "-c", "import os; os.kill(os.getpid(), 9)", status=1)
    assert died.stderr.endswith("sonde: the statement ended its process by signal 9\n")


def test_without_a_python_it_is_one_line(sonde, tmp_path):
    """The program alone, as in a folder without an interpreter."""
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(Path(sys.executable).parent / "sonde", alone)
    for words in (["stat", "-c", "pass"], ["run", "prog.py"]):
        (sonde.folder / "prog.py").touch()
        done = sonde.run([str(alone / "sonde"), *words], status=2, env={"PATH": str(alone)})
        assert done.stderr == "sonde: no Python was found next to this binary or on PATH\n"


def test_what_cannot_be_run_is_one_line_with_the_status_of_a_shell(sonde):
    missing = sonde.command("stat", "--", "no-such-command", status=127)
    assert missing.stderr == "sonde: no-such-command: command not found\n"
    (sonde.folder / "text").write_text("hello")
    closed = sonde.command("stat", "./text", status=126)
    assert closed.stderr == "sonde: ./text: cannot be run: Permission denied\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "stat needs a command or a statement: sonde stat -- command … or sonde stat -c statement"),
        (["-r", "0", "true"], "--repeat takes a whole number from 1 to 10000, not '0'"),
        (["-r", "ten", "true"], "--repeat takes a whole number from 1 to 10000, not 'ten'"),
        (["-w", "-1", "true"], "--warmup takes a whole number from 0 to 10000, not '-1'"),
        (["-s", "import x", "true"], "--setup applies to a statement only; use it with -c"),
        (["-c", "pass", "true"], "stat takes a command or a statement, not both; unexpected argument 'true'"),
        (["--compare", " ", "true"], "--compare needs a command"),
        (["--compare", "true", "-r", "1", "true"], "--compare needs at least two runs of each: -r 2"),
        (["--repeats", "3", "true"], "stat has no option '--repeats'; did you mean '--repeat'?"),
        (["-o", "no/such/folder", "true"], "no/such/folder: cannot be written: No such file or directory"),
    ],
)
def test_mistakes_are_one_line(sonde, words, line):
    done = sonde.command("stat", *words, status=2)
    assert done.stderr == f"sonde: {line}\n"
    assert done.stdout == ""


def test_repeats_have_a_mean_and_a_deviation(sonde):
    result = stat(sonde, "-r", "5", "-w", "1", "--", "sh", "-c", "echo hi >> log")
    assert (sonde.folder / "log").read_text() == 6 * "hi\n"
    [side] = result["sides"]
    assert result["kind"] == "stat" and result["warmup"] == 1 and side["runs"] == 5 and side["failed"] == []
    assert side["command"] == ["sh", "-c", "echo hi >> log"]
    for counter in side["counters"]:
        values = counter["values"]
        mean = sum(values) / 5
        deviation = (sum((value - mean) ** 2 for value in values) / 4) ** 0.5
        assert counter["count"] == len(values) == 5 and counter["per"] == "run"
        assert counter["mean"] == pytest.approx(mean) and counter["deviation"] == pytest.approx(deviation)
        assert counter["min"] == min(values) and counter["max"] == max(values)
        assert counter["median"] == pytest.approx(sorted(values)[2])
        assert counter["unit"] in ("ns", "count", "bytes")
    named = counters(side)
    assert named["task_clock"]["mean"] == pytest.approx(named["user"]["mean"] + named["system"]["mean"])
    assert side["derived"]["cpus"] == pytest.approx(named["task_clock"]["mean"] / named["wall"]["mean"])
    missing = {one["name"] for one in side["missing"]}
    assert not missing & set(named)
    assert all(one["reason"] for one in side["missing"])


def test_failed_runs_are_named_and_the_first_status_is_ours(sonde):
    code = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; [ $n -ne 1 ] || exit 4; [ $n -ne 2 ] || exit 5"
    done = sonde.command("stat", "-r", "4", "--", "sh", "-c", code, status=4)
    assert "2 of 4 runs failed: run 2 ended with status 4, run 3 ended with status 5\n" in done.stderr


@pytest.mark.quick
def test_json_alone_is_on_standard_output(sonde):
    done = sonde.command("stat", "--json", "--", "echo", "hello")
    assert json.loads(done.stdout)["sides"][0]["command"] == ["echo", "hello"]
    assert done.stderr == "hello\n"
    done = sonde.command("stat", "--json", "-o", "result.json", "--", "echo", "hello")
    assert done.stdout == "hello\n" and done.stderr == ""
    assert json.loads((sonde.folder / "result.json").read_text())["kind"] == "stat"


def test_every_run_reads_a_file_from_its_start_and_only_one_run_reads_a_pipe(sonde):
    words = sonde.folder / "words"
    words.write_text("one\ntwo\nthree\n")
    with words.open() as file:
        file.readline()
        os.lseek(file.fileno(), 4, os.SEEK_SET)
        done = subprocess.run([SONDE, "stat", "-r", "3", "--", "cat"], stdin=file, capture_output=True, text=True)
    assert done.stdout == 3 * "two\nthree\n"
    one = subprocess.run([SONDE, "stat", "--", "cat"], input="hello", capture_output=True, text=True)
    several = subprocess.run([SONDE, "stat", "-r", "2", "--", "cat"], input="hello", capture_output=True, text=True)
    assert (one.stdout, several.stdout) == ("hello", "")


def test_bytes_faults_and_memory_are_those_of_the_command_and_its_children(sonde):
    code = TOUCH + "touch(8000)\nopen('/dev/null', 'wb').write(bytes(3_000_000))"
    empty = counters(stat(sonde, "--", "sh", "-c", f"{PYTHON} -c pass; :")["sides"][0])
    (sonde.folder / "work.py").write_text(code)
    work = counters(stat(sonde, "--", "sh", "-c", f"{PYTHON} work.py; :")["sides"][0])
    more = {name: work[name]["mean"] - empty[name]["mean"] for name in empty}
    assert 8000 <= more["page_faults"] < 12000
    assert 3_000_000 <= more["written"] < 3_100_000
    assert more["peak_rss"] > 8000 * 4096 * 0.9


def test_a_user_without_rights_gets_the_same_but_hardware(sonde):
    if os.geteuid() != 0:
        pytest.skip("this user has none already")
    # The environment and pytest's folders may be where that user cannot go.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        Path(shutil.copy(SONDE, folder)).chmod(0o755)
        done = subprocess.run(
            ["./sonde", "stat", "--json", "--", "true"],
            cwd=folder,
            user=65534,
            group=65534,
            extra_groups=[],
            capture_output=True,
            text=True,
        )
    known = counters(json.loads(done.stdout)["sides"][0])
    assert {"wall", "task_clock", "context_switches", "page_faults", "peak_rss", "read", "written"} <= set(known)


def start_stat(*words, **options):
    # A new session, so that no terminal's signals meet it.
    return subprocess.Popen(
        [SONDE, "stat", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


def test_an_interrupt_ends_the_command_and_what_was_measured_is_told(sonde):
    code = "echo x >> runs; [ $(wc -l < runs) -lt 3 ] || { touch third; exec sleep 60; }"
    process = start_stat("-r", "9", "--", "sh", "-c", code, cwd=sonde.folder)
    until((sonde.folder / "third").exists)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert err.startswith("2 runs of sh -c ")


def test_a_signal_for_us_alone_is_passed_on(sonde):
    process = start_stat("--", "sh", "-c", "touch ready; exec sleep 60", cwd=sonde.folder)
    until((sonde.folder / "ready").exists)
    process.terminate()
    _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    assert "the command was ended by SIGTERM" in err


def test_a_command_that_takes_the_signal_ends_in_its_own_way(sonde):
    process = start_stat(
        "--", "sh", "-c", "trap 'exit 7' TERM; touch ready; while :; do sleep 0.05; done", cwd=sonde.folder
    )
    until((sonde.folder / "ready").exists)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 7


# ---- two commands ----


def test_twice_the_work_has_a_ratio_of_two(sonde):
    (sonde.folder / "work.py").write_text(TOUCH + "import sys\ntouch(int(sys.argv[1]))")
    one, two = (f"{PYTHON} -S -E work.py {count}" for count in (8000, 16000))
    result = stat(sonde, "-r", "5", "--compare", two, "--", *shlex.split(one))
    ratios = {ratio["name"]: ratio for ratio in result["ratios"]}
    first, second = (counters(side)["page_faults"]["mean"] for side in result["sides"])
    faults = ratios["page_faults"]
    assert faults["ratio"] == pytest.approx(second / first)
    assert faults["low"] <= faults["ratio"] <= faults["high"] and faults["confidence"] == 0.95
    assert 1.7 < faults["ratio"] < 2 and faults["verdict"] == "more"
    assert all(one["low"] is None or one["low"] <= one["ratio"] <= one["high"] for one in result["ratios"])


def test_runs_take_turns(sonde):
    sonde.command("stat", "-r", "3", "-w", "1", "--compare", "sh -c 'echo B >> log'", "--", "sh", "-c", "echo A >> log")
    assert "".join((sonde.folder / "log").read_text().split()) == "ABBAABBA"


def test_the_same_command_shows_no_difference(sonde):
    done = sonde.command("stat", "-r", "3", "--compare", "echo a", "--", "echo", "a", env=PLAIN)
    table = done.stderr.split("B over A\n")[1]
    written = next(line for line in table.splitlines() if line.startswith("written"))
    assert written.split() == [
        "written",
        "2",
        "B",
        "2",
        "B",
        "1.000",
        "1.000",
        "to",
        "1.000",
        "no",
        "difference",
        "shown",
    ]
    assert "Fieller" in table


def test_the_other_command_may_need_a_shell(sonde):
    result = stat(sonde, "-r", "2", "--compare", "echo $((1 + 1)) > sum", "--", "true")
    assert result["sides"][1]["command"] == ["/bin/sh", "-c", "echo $((1 + 1)) > sum"]
    assert (sonde.folder / "sum").read_text() == "2\n"


# ---- statements ----


def test_statements_have_a_sane_order(sonde):
    times = {}
    for statement in ("pass", "sum(range(1000))"):
        [side] = stat(sonde, "-r", "2", "-c", statement)["sides"]
        wall = counters(side)["wall"]
        assert side["statement"] == statement and side["loops"] >= 1 and side["runs"] == 2
        assert wall["per"] == "loop" and wall["count"] == len(wall["values"]) >= 2
        assert side["empty_loop_ns"] > 0
        times[statement] = wall["min"]
    assert 0 < times["pass"] < times["sum(range(1000))"]


def test_two_statements_are_compared_with_one_setup(sonde):
    setup = ["-s", "import mmap", "-s", TOUCH]
    result = stat(sonde, "-r", "3", "-n", "3", *setup, "-c", "touch(50)", "--compare", "touch(100)")
    faults = next(ratio for ratio in result["ratios"] if ratio["name"] == "page_faults")
    assert faults["ratio"] == pytest.approx(2, abs=0.2)
    assert [side["statement"] for side in result["sides"]] == ["touch(50)", "touch(100)"]
    assert 50 <= counters(result["sides"][0])["page_faults"]["mean"] < 60


def test_names_of_the_setup_are_seen_and_several_lines_are_one_statement(sonde):
    (sonde.folder / "mine.py").write_text("value = 3")
    words = ["-n", "1", "-r", "1", "-s", "import mine", "-s", "n = 0"]
    code = ["-c", "if mine.value == 3:", "-c", "    n += mine.value", "-c", "print('n is', n)"]
    done = sonde.command("stat", *words, *code)
    assert "n is 3\n" in done.stdout + done.stderr
    assert "1 process of if mine.value == 3:" in done.stdout


def test_garbage_is_collected_only_when_asked(sonde):
    words = ["-n", "1", "-r", "1", "-s", "import gc", "-c", "print('gc', gc.isenabled())"]
    assert "gc False" in sonde.command("stat", *words).stderr
    assert "gc True" in sonde.command("stat", "--gc", *words).stderr


@pytest.mark.parametrize(
    ("statement", "last"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("a b", "SyntaxError: invalid syntax"),
        ("break", "SyntaxError: 'break' outside loop"),
        ("return", "SyntaxError: 'return' outside function"),
    ],
)
def test_a_statement_that_fails_shows_its_error_without_our_lines(sonde, statement, last):
    done = sonde.command("stat", "-c", statement, status=1)
    *trace, error, line = done.stderr.splitlines()
    assert error == last and line.startswith("sonde: the statement was not measured")
    assert statement in done.stderr and "_runtime/stat.py" not in done.stderr
    assert done.stdout == ""


# ---- counters per region ----


def test_faults_stand_at_the_region_that_touches_pages(sonde):
    done = sonde.python(
        TOUCH
        + """
import asyncio, os, threading, time
import sonde
sonde.install(counters=["page-faults", "context-switches"], recording="r.sonde")
def work():
    with sonde.region("outer"):
        with sonde.region("touches"):
            touch(2000)
        with sonde.region("rests"):
            for _ in range(20):
                time.sleep(0.001)
work()
thread = threading.Thread(target=work, name="worker")
thread.start()
thread.join()
async def task(name, count):
    with sonde.region(name):
        touch(count)
        await asyncio.sleep(0.01)
        touch(count)
async def tasks():
    await asyncio.gather(task("many", 1000), task("few", 10))
asyncio.run(tasks())
""",
        env=PLAIN,
    )
    assert "page faults" in done.stderr.splitlines()[0] and "switches" in done.stderr.splitlines()[0]
    trees = sonde.trees("r.sonde")
    for root in (trees["<main>"], trees["<worker>"]):
        outer = root["outer"]
        assert 2000 <= outer["touches"].page_faults < 2100
        assert outer["rests"].page_faults < 100
        assert outer.page_faults >= outer["touches"].page_faults + outer["rests"].page_faults
        assert outer["rests"].context_switches >= 20
    main = trees["<main>"]
    assert 2000 <= main["many"].page_faults < 2100 and 20 <= main["few"].page_faults < 120
    assert "cycles" not in main.values
    text = sonde.command(
        "sql", "r.sonde", "select sum(value) as n from measure where metric = 'page_faults'", "-f", "json"
    )
    assert json.loads(text.stdout)["rows"][0]["n"] == sum(
        row.page_faults or 0 for root in trees.values() for row in root.all_rows()
    )


def test_without_counters_there_are_no_columns(sonde):
    done = sonde.python("import sonde\nsonde.install(recording='r.sonde')\nwith sonde.region('a'):\n    pass")
    assert "faults" not in done.stderr
    assert "page_faults" not in sonde.main("r.sonde").values


def test_an_unknown_counter_is_named(sonde):
    done = sonde.python(
        """
import sonde
for counters in (["page-fault"], ["page-faults,cycles"], [3], ""):
    try:
        sonde.install(counters=counters)
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)
"""
    )
    first, second, third = done.stdout.splitlines()[:3]
    assert first.startswith("ValueError unknown counter 'page-fault'; choose from page-faults, context-switches, ")
    assert second.startswith("ValueError unknown counter 'page-faults,cycles'")
    assert third == "TypeError a counter must be a name, not int"


def test_what_the_machine_does_not_count_is_said_under_the_table(sonde):
    done = sonde.python(
        """
import sonde
names = ["page-faults", "migrations", "cycles", "instructions", "branches", "branch-misses", "cache-misses"]
sonde.install(counters=names, recording="r.sonde")
with sonde.region("a"):
    sum(range(100000))
"""
    )
    row = sonde.main("r.sonde")["a"].values
    info = json.loads(sonde.command("sql", "r.sonde", "select key, value from info", "-f", "json").stdout)["rows"]
    missing = next(one["value"] for one in info if one["key"] == "counters_missing")
    for name in ("migrations", "cycles", "instructions", "branches", "branch-misses", "cache-misses"):
        column = name.replace("-", "_")
        assert (column in row) != (name in missing)
    assert ("not counted: " in done.stderr) == bool(missing)
    assert missing in done.stderr


def test_columns_of_counters_can_be_chosen(sonde):
    done = sonde.python(
        """
import sys
import sonde
reporter = sonde.ConsoleReporter(columns=("name", "page_faults", "cache_misses"), stream=sys.stdout)
sonde.install(reporter, counters=["page-faults"])
with sonde.region("a"):
    pass
"""
    )
    assert done.stdout.splitlines()[0].split() == ["name", "page", "faults"]  # what was not measured is left out


def test_a_forked_child_counts_its_own(sonde):
    sonde.python(
        TOUCH
        + """
import os, sys
import sonde
sonde.install(counters=["page-faults", "migrations"], recording="%p.sonde")
with sonde.region("before"):
    touch(3000)
child = os.fork()
if child == 0:
    with sonde.region("in the child"):
        touch(500)
    sonde.uninstall()
    os._exit(0)
os.waitpid(child, 0)
os.rename(f"{child}.sonde", "child.sonde")
"""
    )
    child = sonde.main("child.sonde")
    assert 500 <= child["in the child"].page_faults < 1000
