"""Every example runs as a user would run it, and what it leaves behind is true."""

import csv
import io
import json
import re
import resource
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from chance import expect, repeats

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROGRAM = Path(sys.executable).parent / "sonde"
NEEDS_NUMPY = {"demo.py", "first.py", "neural_net.py"}


def run_example(sonde, name, **options):
    """Runs an example in the folder of the test."""
    if Path(name).name in NEEDS_NUMPY:
        pytest.importorskip("numpy")
    env = {"OPENBLAS_NUM_THREADS": "1"}  # two cores and several tests at once: no fight over them
    return sonde.run([sys.executable, str(EXAMPLES / name)], env=env, **options)


def table(text):
    """The rows of a table as {path: {column: text}}; a path is ``<main>/f()/loop``."""
    lines = text.splitlines()
    rule = next(i for i, line in enumerate(lines) if re.fullmatch(r"-+(  -+)+", line))
    spans = [match.span() for match in re.finditer("-+", lines[rule])]
    names = [lines[rule - 1][start:end].strip() for start, end in spans]
    rows, path = {}, []
    for line in lines[rule + 1 :]:
        if len(line) != len(lines[rule]):
            break
        cells = [line[start:end].strip() for start, end in spans]
        dots, name = re.fullmatch(r"((?:\. )*)(.*)", cells[0]).groups()
        path[len(dots) // 2 :] = [name]
        rows["/".join(path)] = dict(zip(names[1:], cells[1:], strict=True))
    return rows


def spans_of(path):
    return [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.py")), ids=lambda path: path.stem)
def test_the_first_line_says_what_it_shows(path):
    first = path.read_text().splitlines()[0]
    assert re.fullmatch(r'"""[A-Z].{20,}[^ ]"""', first)


@pytest.mark.parametrize("path", sorted((EXAMPLES / "regions").glob("*.py")), ids=lambda path: path.stem)
def test_each_is_quick_and_complains_of_nothing(sonde, path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run_example(sonde, f"regions/{path.name}")
    assert "Traceback" not in done.stderr and "Warning" not in done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2


def test_first_prints_the_table_of_the_readme(sonde):
    rows = table(run_example(sonde, "regions/first.py").stderr)
    assert list(rows["<main>"]) == ["total", "% of total", "count", "min", "average", "max"]
    assert list(rows)[:2] == ["<main>", "<main>/f()"]
    assert {name: row["count"] for name, row in rows.items()} == {
        "<main>": "1",
        "<main>/f()": "1",
        "<main>/f()/init": "1",
        "<main>/f()/loop": "1",
        "<main>/f()/loop/iter": "4",
        "<main>/f()/f() <first.py:16>": "1",
    }


def test_the_network_is_one_global_row_and_the_trace_has_every_entry(sonde):
    done = run_example(sonde, "regions/neural_net.py")
    steps = 20
    rows = table(done.stderr)
    assert {name: int(row["count"]) for name, row in rows.items()} == {
        "<main>": 1,
        "<main>/train": 1,
        "<main>/train/fetch_next": steps,
        "<main>/train/forward": steps,
        "<main>/train/forward/loss_fn()": steps,
        "<main>/train/forward/accuracy_fn()": steps,
        "<main>/train/backward": steps,
        "<main>/train/backward/loss_fn()": steps,
        "<main>/NN": 3 * steps,
        "<main>/NN/layer 1": 3 * steps,
        "<main>/NN/layer 2": 3 * steps,
        "<main>/NN/out layer": 3 * steps,
    }
    assert "accuracy 100%" in done.stdout
    names = [event["name"] for event in spans_of(sonde.folder / "trace.json")]
    assert (names.count("NN"), names.count("train"), names.count("fetch_next")) == (3 * steps, 1, steps)


def test_tasks_keep_their_own_regions_and_tell_how_long_they_waited(sonde):
    done = run_example(sonde, "regions/asyncio_tasks.py")
    rows = table(done.stderr)
    assert {name: row["count"] for name, row in rows.items()} == {
        "<main>": "1",
        "<main>/customer": "5",
        "<main>/customer/fetch()": "5",
        "<main>/customer/sort": "5",
        "<main>/all customers": "1",
    }
    assert rows["<main>/customer/fetch()"]["suspended"] != "0 ns"
    assert rows["<main>/customer/sort"]["suspended"] == "0 ns"


def test_threads_have_a_tree_each(sonde):
    rows = table(run_example(sonde, "regions/threads.py").stderr)
    roots = [path for path in rows if "/" not in path]
    assert roots[0] == "<main>" and len(roots) in (2, 3)  # a quick worker may leave nothing to the other
    assert all(re.fullmatch(r"<worker_\d>", root) for root in roots[1:])
    assert {path for path in rows if path not in roots} == {
        "<main>/wait for workers",
        *(f"{root}/digest()" for root in roots[1:]),
    }
    assert sum(int(rows[f"{root}/digest()"]["count"]) for root in roots[1:]) == 16


def test_csv_is_what_the_csv_module_reads(sonde):
    done = run_example(sonde, "regions/csv_report.py")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert done.stderr == ""
    assert sorted(row["name"] for row in rows) == ["<main>", 'parse "header", body', "read", "write"]
    assert all(int(row["total_us"]) >= 2000 for row in rows)


def test_a_reporter_of_ones_own_prints_what_it_likes(sonde):
    done = run_example(sonde, "regions/own_reporter.py")
    lines = done.stdout.splitlines()
    assert done.stderr == "" and len(lines) == 3
    assert {re.split(r"  +", line.strip())[2] for line in lines} == {"long", "short", "inner"}
    assert all("own_reporter.py:" in line for line in lines)


def test_a_hot_loop_counts_every_entry(sonde):
    done = run_example(sonde, "regions/hot_loop.py")

    def collatz(n):
        steps = 0
        while n != 1:
            n = 3 * n + 1 if n % 2 else n // 2
            steps += 1
        return steps

    chains = [collatz(n) for n in range(1, 10000)]
    rows = table(done.stderr)
    assert done.stdout == f"longest chain: {max(chains)}\n"
    assert sum(int(rows[f"<main>/main()/{name}"]["count"]) for name in ("even", "odd")) == sum(chains)


def test_the_demo_names_files_that_exist_and_a_command_that_works(sonde):
    done = run_example(sonde, "demo.py")
    samples, _, regions = done.stderr.partition("Regions marked by hand:")
    assert samples.startswith("$ ") and " run -o build/demo/words.sonde" in samples
    assert "count_words" in samples and "words.sonde" in samples.splitlines()[-2]
    rows = table(regions)
    assert {"<main>/f()/loop/iter", "<main>/f()/f() <demo.py:28>"} <= set(rows)
    saved = dict(re.findall(r"^sonde: (recording|trace) saved in (.*)$", regions, re.MULTILINE))
    assert Path(saved["recording"]).parent == Path(saved["trace"]).parent == sonde.folder / "build" / "demo"
    assert len(spans_of(Path(saved["trace"]))) == 8
    *others, command = re.findall(r"^ +(\S.* view .*)$", regions, re.MULTILINE)
    assert ["count_words" in sonde.run(shlex.split(other)).stdout for other in others] == [True, True]
    again = table(sonde.run(shlex.split(command)).stdout)
    assert list(again) == list(rows)
    assert list(again["<main>"]) == ["total", "self", "p99"]
    assert "ui.perfetto.dev" in done.stderr and "chrome://tracing" in done.stderr
    assert len(regions.splitlines()) < 25


def test_a_program_that_knows_nothing_of_sonde(sonde):
    done = sonde.command("run", "-o", "r.sonde", str(EXAMPLES / "sampling" / "words.py"))
    for name in ("pack", "count_words", "fetch", "thread checker", "[waiting: sleep]"):
        assert name in done.stderr


@repeats
def test_samples_of_a_block(sonde):
    done = run_example(sonde, "sampling/block.py")
    assert "most Python time in line" in done.stdout
    expect("functions seen: ['pack', 'squares']" in done.stdout, done.stdout)
    assert {row.name for row in sonde.main("block.sonde").all_rows()} == {"<main>", "numbers", "bytes"}
    shown = sonde.command("view", "block.sonde", "--tree").stdout
    assert "region numbers" in shown and "squares" in shown


@pytest.fixture
def c_examples(sonde):
    """A copy of examples/c; ``sonde.run`` runs in its parent."""
    made = sonde.folder / "c"
    shutil.copytree(EXAMPLES / "c", made, ignore=shutil.ignore_patterns("*.so", "*.sonde", "*.json"))
    for path in [made, *made.rglob("*")]:  # the sources may be read-only
        path.chmod(path.stat().st_mode | 0o200)
    return made


def make(sonde, folder, *args):
    return sonde.run(["make", "-B", "-C", str(folder), f"SONDE={PROGRAM}", f"PYTHON={sys.executable}", *args])


def test_two_threads_in_c_have_two_roots(sonde, c_examples):
    made = make(sonde, c_examples, "two_threads", "CFLAGS=-O2 -Wall -Wextra -Wconversion -Wpedantic -Werror")
    assert "warning" not in made.stderr
    sonde.run([str(c_examples / "two_threads")])
    trees = sonde.trees("two_threads.sonde")
    assert list(trees)[0] == "<main>" and set(trees) == {"<main>", "<left>", "<right>"}
    assert trees["<main>"]["wait"].count == 1
    for name in ("<left>", "<right>"):
        counts = {row.name: row.count for row in trees[name].all_rows()}
        assert counts == {name: 1, "round": 200, "fill": 200, "sort": 200}
        assert set(trees[name]["round"].children) == {"fill", "sort"}
        assert trees[name]["round"].place.split("/")[-1].startswith("two_threads.c:")
    counters = {(row["name"], row["thread"]): row for row in sonde.export("two_threads.sonde", "counters")["rows"]}
    assert set(counters) == {(name, thread) for name in ("numbers sorted", "median") for thread in ("left", "right")}
    for thread in ("left", "right"):
        assert counters["numbers sorted", thread]["last"] == 200 * 2000
        median = counters["median", thread]
        assert median["updates"] == 200
        assert 0 < median["min"] <= median["average"] <= median["max"] < 1


def test_the_c_trace_names_the_threads_and_has_counters(sonde, c_examples):
    make(sonde, c_examples, "two_threads")
    sonde.run([str(c_examples / "two_threads")])
    events = json.loads((sonde.folder / "two_threads.json").read_text())["traceEvents"]
    threads = {event["args"]["name"]: event["tid"] for event in events if event["name"] == "thread_name"}
    assert set(threads) == {"main", "left", "right"}
    for thread in ("left", "right"):
        mine = [event for event in events if event.get("tid") == threads[thread]]
        assert sum(event["name"] == "round" for event in mine) == 200
        totals = [event["args"]["value"] for event in mine if event["name"] == "numbers sorted"]
        assert totals == [2000 * (i + 1) for i in range(200)]


def test_the_header_serves_cpp_and_an_exception_closes_the_region(sonde, c_examples):
    make(sonde, c_examples, "scopes", "CXXFLAGS=-O2 -Wall -Wextra -Wpedantic -Werror")
    done = sonde.run([str(c_examples / "scopes")])
    assert done.stdout == "sum 7, recorded in scopes.sonde\n"
    line = sonde.main("scopes.sonde")["line"]
    assert (line.count, line["parse"].count, line.open, line["parse"].open) == (4, 4, 0, 0)
    (bad,) = sonde.export("scopes.sonde", "counters")["rows"]
    assert (bad["name"], bad["last"]) == ("bad lines", 1)


def test_regions_of_an_extension_module_hang_below_the_python_region(sonde, c_examples):
    folder = c_examples / "extension"
    make(sonde, folder)
    done = sonde.run([sys.executable, str(folder / "run.py")])
    main = sonde.main("extension.sonde")
    call = main["main()"]["call"]
    assert (call.count, call["smooth (C)"].count, call["smooth (C)"]["pass"].count) == (3, 3, 30)
    assert set(call.children) == {"smooth (C)"}
    assert call["smooth (C)"].place.split("/")[-1].startswith("smooth.c:")
    assert sum(row.self_ns for row in main.all_rows()) == pytest.approx(main.total_ns, abs=len(main.all_rows()))
    assert "<main>/main()/call/smooth (C)/pass" in table(done.stderr)


def test_make_run_shows_what_was_recorded(sonde, c_examples):
    done = make(sonde, c_examples, "run")
    assert "<left>" in done.stdout and "numbers sorted" in done.stdout and ". . parse" in done.stdout


def test_the_slow_rank_of_several(sonde):
    shutil.copy(EXAMPLES / "ranks.py", sonde.folder)
    for rank in range(4):
        sonde.command("run", "-o", f"{rank}.sonde", "ranks.py", env={"RANK": str(rank)})
    sonde.command("merge", "-o", "all.sonde", *(f"{rank}.sonde" for rank in range(4)))
    rows = json.loads(sonde.command("export", "-f", "json", "--view", "ranks", "all.sonde", "--show-all").stdout)[
        "rows"
    ]
    regions = {row["name"]: row["processes"] for row in rows if row["kind"] == "region"}
    assert regions == {"step": 4, "compute": 4, "exchange": 4}


def test_the_leaking_line_of_leak_is_named(sonde):
    program = str(EXAMPLES / "memory" / "leak.py")
    sonde.command("run", "--memory", "--exact", "--no-report", "-o", "leak.sonde", program)
    rows = json.loads(sonde.command("export", "-f", "json", "--view", "leaks", "leak.sonde").stdout)["rows"]
    assert [row["source"] for row in rows if row["verdict"] == "leak"] == ["seen.append(bytes(50_000))"]


def test_shapes_has_a_row_for_each_kind_of_arguments(sonde):
    pytest.importorskip("numpy")
    sonde.command("trace", "--signatures", "--no-report", "-o", "s.sonde", str(EXAMPLES / "calls" / "shapes.py"))
    rows = json.loads(sonde.command("export", "-f", "json", "--view", "signatures", "s.sonde").stdout)["rows"]
    calls = {row["signature"]: row["calls"] for row in rows if (row["signature"] or "").startswith("dot(")}
    array = "ndarray(dtype=float32, shape=(16,))"
    assert calls == {"dot(a:list[int]×3, b:tuple[int, int, int])": 100, f"dot(a:{array}, b:{array})": 1}


def test_every_example_is_run():
    folder = Path(__file__).resolve().parents[1]
    tests = [__file__, folder / "torch" / "test_torch_programs.py", folder / "graph" / "test_graph_examples.py"]
    text = "".join(Path(path).read_text() for path in tests)
    files = [path for path in EXAMPLES.rglob("*") if path.suffix in (".py", ".c", ".cpp")]
    assert files
    assert [path.name for path in files if path.name not in text and path.stem not in text] == []
