"""Words that people bring from Scalene and kernprof: options, ``@profile``, the programming interface."""

import os
import re
import textwrap
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SUPPORT = str(Path(__file__).parents[1] / "support")
WORK = "def work():\n    return sum(i * i for i in range(2_000_000))\nwork()\n"


SCALENE = """
    --cpu --gpu --outfile --web --json --reduced-profile --profile-all --profile-only --profile-exclude
    --profile-interval --cpu-percent-threshold --malloc-threshold --cpu-sampling-rate --allocation-sampling-window
    --use-virtual-time --stacks --column-width --program-path --on --off
"""


@pytest.fixture
def run(sonde):
    def start(*options, program=WORK, status=0, **others):
        (sonde.folder / "prog.py").write_text(textwrap.dedent(program))
        return sonde.command("run", "-o", "r.sonde", *options, "prog.py", status=status, **others)

    return start


def test_every_option_is_listed_and_taken(sonde, run):
    listed = sonde.command("run", "--help-scalene").stdout
    values = {"FILE": "r.json", "S": "0.1", "N": "5", "NAMES": "prog", "BYTES": "2048", "FOLDER": "."}
    parts = re.split(r"^  (--[a-z][\w-]*)(?: ([A-Z]+))?", listed, flags=re.MULTILINE)[1:]
    options = list(zip(parts[::3], parts[1::3], parts[2::3], strict=True))
    assert {name for name, _, _ in options} == set(SCALENE.split())
    for name, value, about in options:
        words = [[name, values[value]], [f"{name}={values[value]}"]] if value else [[name]]
        for one in words:
            done = run(*one, env={"BROWSER": "true"})
            assert ("no effect" in about) == (f"{name} has no effect: " in done.stderr)


def test_an_option_without_effect_says_so(run):
    assert run("--json").stderr.startswith("sonde: --json has no effect: use sonde export --format json")
    assert run("--reduced-profile").stderr.startswith("sonde: --reduced-profile has no effect: the summary shows only")


def test_options_that_need_a_value_say_so(run, sonde):
    done = sonde.command("run", "--outfile", status=2)
    assert done.stderr == "sonde: run: option '--outfile' needs FILE\n"
    done = run("--cpu-sampling-rate", "fast", status=2)
    assert "takes seconds from one sample to the next, such as 0.01, not 'fast'" in done.stderr
    done = run("--profile-only", ",".join(["name"] * 1000), status=2)
    assert done.stderr == "sonde: --profile-only: too many names\n"
    assert run("--cpu=yes", status=2).stderr.startswith("sonde: run has no option '--cpu=yes'")


def test_the_outfile_is_the_recording_and_its_page(sonde, run):
    run("--outfile", "profile.html")
    assert (sonde.folder / "profile.sonde").exists()
    assert (sonde.folder / "profile.html").exists()
    run("--outfile", "other.json")
    assert (sonde.folder / "other.sonde").exists()
    run("--outfile", "plain")
    assert (sonde.folder / "plain").exists()


def test_the_rate_is_the_inverse_of_the_interval(run):
    assert "samples at 50 Hz" in run("--cpu-sampling-rate", "0.02").stderr
    assert "samples at 1 Hz" in run("--cpu-sampling-rate", "100").stderr


def test_profile_only_restricts_and_profile_exclude_leaves_out(sonde):
    (sonde.folder / "model.py").write_text("def fit():\n    return sum(i * i for i in range(2_000_000))\n")
    (sonde.folder / "data.py").write_text("def load():\n    return sum(i * i for i in range(2_000_000))\n")
    (sonde.folder / "prog.py").write_text("import data, model\nmodel.fit()\ndata.load()\n")
    for options, files in (
        ([], {"model.py", "data.py", "prog.py"}),
        (["--profile-only", "model"], {"model.py"}),
        (["--profile-only", "model,data"], {"model.py", "data.py"}),
        (["--profile-only", "model,data", "--profile-exclude", "data"], {"model.py"}),
        (["--profile-exclude", "model"], {"data.py", "prog.py"}),
    ):
        sonde.command("run", "-o", "r.sonde", *options, "prog.py")
        rows = sonde.export("r.sonde", "lines")["rows"]
        assert {Path(row["file"]).name for row in rows if row["line"]} <= files
        assert {Path(row["file"]).name for row in rows if row["line"]} >= files - {"prog.py"}


def test_the_mark_separates_the_program_from_its_arguments(sonde):
    (sonde.folder / "prog.py").write_text("import sys\nprint(sys.argv[1:])\n")
    for words in (["---", "prog.py", "--x"], ["prog.py", "---", "--x"], ["prog.py", "--x"]):
        assert sonde.command("run", "--no-report", *words).stdout == "['--x']\n"
    assert sonde.command("run", "--no-report", "prog.py", "a", "---").stdout == "['a', '---']\n"
    assert sonde.command("run", "--no-report", "prog.py", "---", "---").stdout == "['---']\n"


def test_off_waits_for_the_programming_interface(sonde, run):
    program = """
        import sonde.scalene as scalene_profiler
        def before():
            return sum(i * i for i in range(1_000_000))
        def during():
            return sum(i * i for i in range(2_000_000))
        before()
        scalene_profiler.start()
        during()
        scalene_profiler.stop()
        before()
        with scalene_profiler.enable_profiling():
            during()
        before()
        """
    run("--off", program=program)
    functions = {row["function"] for row in sonde.export("r.sonde", "lines")["rows"] if row["line"]}
    assert any("during" in name for name in functions)
    assert not any("before" in name for name in functions)


def test_the_interface_works_without_sonde_run(sonde):
    sonde.python("import sonde.scalene as s\ns.start()\ns.stop()\nwith s.enable_profiling():\n    pass\n")


# ---- @profile ----

MARKED = """
    from wait_support import time_met
    @profile
    def small():
        return sum(i for i in range(300_000))
    def large():
        return sum(i * i for i in range(3_000_000))
    while not time_met("small"):
        small()
    large()
    print(small.__name__, profile.__module__)
    """


def test_a_program_with_profile_runs_and_its_lines_come_first(run):
    done = run(program=MARKED, env={**os.environ, "PYTHONPATH": SUPPORT})
    assert done.stdout == "small sonde._runtime.marks\n"
    assert "Marked with @profile" in done.stderr
    marked, hottest = done.stderr.split("Hottest lines", 1)
    assert "range(300_000)" in marked
    assert "range(3_000_000)" not in marked
    assert "range(3_000_000)" in hottest


@pytest.mark.parametrize(
    "program",
    [
        "import builtins\nassert not hasattr(builtins, 'profile')\n",
        "import builtins\nassert not hasattr(builtins, 'profile')\ntext = '@profile'\n",
        "import builtins\ndef profile(f):\n    return f\n@profile\ndef g():\n    pass\n"
        "assert not hasattr(builtins, 'profile')\n",
        "import builtins\ntry:\n    profile\nexcept NameError:\n    profile = lambda f: f\n"
        "@profile\ndef g():\n    pass\nassert not hasattr(builtins, 'profile')\n",
    ],
)
def test_other_programs_see_the_builtins_that_they_expect(run, program):
    run(program=program)


def test_a_module_of_the_program_may_use_it_too(sonde):
    (sonde.folder / "helper.py").write_text("@profile\ndef f():\n    return 1\n")
    (sonde.folder / "prog.py").write_text("import helper\nprint(helper.f())\n")
    assert sonde.command("run", "--no-report", "prog.py").stdout == "1\n"


def test_a_program_text_may_use_it_too(sonde):
    text = "@profile\ndef f():\n    return 1\nprint(f())"
    assert sonde.command("run", "--no-report", "-c", text).stdout == "1\n"
    text = "import builtins\nprint(hasattr(builtins, 'profile'))"
    assert sonde.command("run", "--no-report", "-c", text).stdout == "False\n"


def test_trace_runs_such_a_program_too(sonde):
    (sonde.folder / "prog.py").write_text("@profile\ndef f():\n    return 1\nprint(f())\n")
    assert sonde.command("trace", "--no-report", "prog.py").stdout == "1\n"


def test_processes_that_the_program_starts_have_it_too(run):
    program = """
        import multiprocessing
        @profile
        def work(n):
            return n * 2
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(work, [1, 2]))
        """
    assert run(program=program).stdout == "[2, 4]\n"


# ---- annotated files ----


def test_annotate_prints_whole_files(sonde, run):
    program = "# the first line\n\n\n\n\n\n\n\n\n\n\n" + WORK + "\n\n\n\n\n\n\n# the last line\n"
    run(program=program)
    shown = sonde.command("view", "r.sonde", "--annotate").stdout
    numbers = [int(found) for found in re.findall(r"^ +(\d+)(?: |$)", shown.split("functions of")[0], re.MULTILINE)]
    assert numbers == list(range(1, len(program.splitlines()) + 1))
    assert "# the first line" in shown
    assert "# the last line" in shown
    assert "# the last line" not in sonde.command("view", "r.sonde", "--lines").stdout


# ---- docs/moving.md ----


def examples():
    """The programs and command lines of the peers' documentation: blocks of docs/moving.md."""
    text = (DOCS / "moving.md").read_text()
    return re.findall(r"^```(python|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_every_example_of_the_guide_runs(sonde):
    programs = [text for kind, text in examples() if kind == "python"]
    lines = [line for kind, text in examples() if kind == "console" for line in text.splitlines()]
    assert len(programs) >= 3
    assert len(lines) >= 10
    for text in programs:
        (sonde.folder / "prog.py").write_text(text)
        sonde.command("run", "--no-report", "-o", "prog.sonde", "prog.py")
    (sonde.folder / "prog.py").write_text(WORK)
    for line in lines:
        assert line.startswith("$ sonde ")
        sonde.command(*line.removeprefix("$ sonde ").split(), env={**os.environ, "BROWSER": "true"})
