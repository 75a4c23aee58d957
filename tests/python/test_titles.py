"""What a view prints above a column is a name that ``--columns`` and ``--sort`` take."""

import re
import subprocess
import textwrap

import pytest
from sampler_support import BIN

PROGRAM = """
    import threading, time, sonde
    kept = []
    def work(n):
        with sonde.region("work"):
            kept.append(bytes(1_000_000))
            return sum(i * i for i in range(n))
    for n in range(10):
        sonde.counter("done", n)
        work(200_000)
    sonde.mark("half", n=10)
    thread = threading.Thread(target=work, args=(200_000,))
    thread.start()
    thread.join()
    """
SAMPLED = ["summary", "lines", "tree", "waiting", "memory", "owners", "sizes", "timeline", "regions", "functions"]
SAMPLED += ["threads", "counters", "marks", "processes"]
VIEWS = [("run", view) for view in SAMPLED]
VIEWS += [("trace", view) for view in ("functions", "callers", "callees", "signatures", "threads", "regions")]


def sonde(*words, folder, status=0):
    env = {"PATH": f"{BIN}:/usr/bin:/bin", "COLUMNS": "500", "LC_ALL": "C.UTF-8"}
    done = subprocess.run([BIN / "sonde", *words], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == status, (words, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("titles")
    (folder / "prog.py").write_text(textwrap.dedent(PROGRAM))
    sonde("run", "--memory", "--no-report", "-o", "run.sonde", "prog.py", folder=folder)
    sonde("trace", "--signatures", "--no-report", "-o", "trace.sonde", "prog.py", folder=folder)
    return folder


def titles_in(text):
    """The titles of every table: what stands above a line of dashes."""
    lines = text.splitlines()
    spans = [
        (i, part.span())
        for i, line in enumerate(lines[1:])
        for part in re.finditer("-+", line)
        if set(line) <= set("- ")
    ]
    return {lines[above][start:end].strip() for above, (start, end) in spans} - {""}


@pytest.mark.parametrize(("command", "view"), VIEWS)
def test_every_printed_title_may_be_typed(folder, command, view):
    shown = ["view", f"{command}.sonde", f"--{view}"]
    titles = titles_in(sonde(*shown, folder=folder))
    assert titles
    for title in titles:
        sonde(*shown, "--sort", title, folder=folder)
        assert sonde(*shown, "-c", title, folder=folder)


def test_a_title_that_no_table_of_a_view_has_is_refused(folder):
    for view in ("--summary", "--memory"):
        assert sonde("view", "run.sonde", view, "-c", "nothing", folder=folder, status=2) == ""
