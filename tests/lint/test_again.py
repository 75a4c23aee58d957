"""What failed beside other steps of CI runs again alone, and a failure that stays is one."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

# The word is what each test does: pass, fail, or fail the first time.
TESTS = """
import os, pathlib

def meet(word):
    here = pathlib.Path(word)
    is_first = not here.exists()
    here.touch()
    pathlib.Path("ran").open("a").write(word + " ")
    if word == "crash" and is_first:
        os._exit(3)
    assert word == "pass" or (word == "chance" and not is_first)
"""


@pytest.fixture
def step(pytester):
    """A step of CI with tests that behave as these words say: its status, its words in the list, and what ran."""

    def step(*words, options="", again=" test-it"):
        names = [f"def test_{word}_{i}(): meet({word!r})" for i, word in enumerate(words)]
        path = pytester.makepyfile(test_it=TESTS + "\n".join(names))
        script = pytester.path / "run test-it"
        python = f"{shlex.quote(sys.executable)} -m pytest -q -p sonde_again --failed=failed -p no:randomly {options}"
        script.write_text(f"#!/bin/bash\nexec {python} {path.name}\n")
        script.chmod(0o755)
        env = {name: value for name, value in os.environ.items() if name != "SONDE_AGAIN"}
        env |= {"PYTHONPATH": str(ROOT / "tests" / "support")}
        command = [str(ROOT / "tools" / "steps.sh"), "-a", again, "-j2", '"./run test-it"', "true"]
        done = subprocess.run(command, cwd=pytester.path, env=env, capture_output=True, text=True)
        listed = [line.split()[5] for line in done.stdout.partition("s in all\n")[2].splitlines()]
        ran = (pytester.path / "ran").read_text().split()
        return done.returncode, listed, ran

    return step


@pytest.mark.parametrize("options", ["", "-n 2"])
def test_a_test_that_fails_by_chance_passes_alone_and_is_listed(step, options):
    status, listed, ran = step("pass", "chance", options=options)
    assert (status, sorted(listed)) == (0, ["AGAIN", "ok"])
    assert (ran.count("pass"), ran.count("chance")) == (1, 3)


def test_a_test_that_fails_each_time_fails(step):
    assert step("pass", "fail") == (1, ["ok", "FAILED"], ["pass", "fail", "fail"])


def test_what_passes_runs_once(step):
    status, listed, ran = step("pass", "pass")
    assert (status, listed, ran) == (0, ["ok", "ok"], ["pass", "pass"])


@pytest.mark.parametrize("options", ["", "-n 2"])
def test_a_crash_has_no_second_chance(step, options):
    status, listed, _ = step("pass", "crash", options=options)
    assert (status, sorted(listed)) == (1, ["FAILED", "ok"])


def test_many_failures_are_not_chance(step):
    status, listed, ran = step(*["chance"] * 6, "fail", "fail", "fail", "fail", "fail")
    assert (status, sorted(listed)) == (1, ["FAILED", "ok"])
    assert ran.count("fail") == 5


def test_only_what_is_asked_for_runs_again(step):
    status, listed, ran = step("chance", again=" test-other")
    assert (status, sorted(listed), ran) == (1, ["FAILED", "ok"], ["chance"])
