"""Lines that leak are accused, and no others."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from chance import expect, repeats, some
from memory_support import HERE, SONDE, marked_lines, run_plainly

pytestmark = pytest.mark.interpreter

LEAKS = HERE / "leaks"
LEAKING = sorted(path.stem for path in LEAKS.glob("leak_*.py"))
INNOCENT = sorted(path.stem for path in LEAKS.glob("innocent_*.py"))
CASES = [some(LEAKING, 1), some(INNOCENT, 1)]

#: Programs that run at the same time: each of them sleeps nine tenths of it.
TOGETHER = 7


@pytest.fixture(scope="module")
def accused(tmp_path_factory, native):
    """A function that runs a program and says which lines the view of leaks accuses: the file's name and the line. All
    programs are started together for their first run; one that runs again does so by itself."""

    def run(name):
        folder = tmp_path_factory.mktemp(name)
        run_plainly(folder, LEAKS / f"{name}.py", native=native)
        return folder

    def judge(name):
        folder = first.pop(name).result() if name in first else run(name)
        command = [SONDE, "export", "answer.sonde", "--view", "leaks", "--format", "json"]
        done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        rows = json.loads(done.stdout)["rows"]
        print(json.dumps(rows, indent=1))
        return {(Path(row["file"]).name, row["line"]) for row in rows if row["verdict"] == "leak"}

    with ThreadPoolExecutor(TOGETHER) as pool:
        first = {name: pool.submit(run, name) for names in CASES for name in names}
        yield judge


def test_the_corpus_is_whole():
    assert len(LEAKING) == 6 and len(INNOCENT) == 8


@pytest.mark.parametrize("name", CASES[0])
@repeats
def test_a_leak_is_found_at_its_line(accused, name):
    (line,) = marked_lines(LEAKS / f"{name}.py", "LEAK")
    found = accused(name)
    expect(found == {(f"{name}.py", line)}, f"accused: {found}")


@pytest.mark.parametrize("name", CASES[1])
@repeats
def test_an_innocent_program_is_not_accused(accused, name):
    found = accused(name)
    expect(not found, f"accused: {found}")
