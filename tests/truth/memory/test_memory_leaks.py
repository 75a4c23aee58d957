"""Lines that leak are accused, and no others."""

import json
import subprocess
from pathlib import Path

import pytest
from memory_support import HERE, SONDE, marked_lines, run_plainly, some

pytestmark = pytest.mark.interpreter

LEAKS = HERE / "leaks"
LEAKING = sorted(path.stem for path in LEAKS.glob("leak_*.py"))
INNOCENT = sorted(path.stem for path in LEAKS.glob("innocent_*.py"))


def accused(tmp_path, name, native=None):
    """The lines that the view of leaks accuses: the file's name and the line."""
    run_plainly(tmp_path, LEAKS / f"{name}.py", native=native)
    command = [SONDE, "export", "answer.sonde", "--view", "leaks", "--format", "json"]
    done = subprocess.run([str(word) for word in command], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    print(json.dumps(rows, indent=1))
    return {(Path(row["file"]).name, row["line"]) for row in rows if row["verdict"] == "leak"}


def test_the_corpus_is_whole():
    assert len(LEAKING) == 6 and len(INNOCENT) == 8


@pytest.mark.parametrize("name", some(LEAKING, 1))
def test_a_leak_is_found_at_its_line(tmp_path, request, name):
    native = request.getfixturevalue("native") if name == "leak_native" else None
    (line,) = marked_lines(LEAKS / f"{name}.py", "LEAK")
    assert accused(tmp_path, name, native) == {(f"{name}.py", line)}


@pytest.mark.parametrize("name", some(INNOCENT, 1))
def test_an_innocent_program_is_not_accused(tmp_path, name):
    assert accused(tmp_path, name) == set()
