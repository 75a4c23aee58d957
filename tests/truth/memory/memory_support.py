"""Running a program that knows its bytes under `sonde run --memory`, and reading what was recorded of it."""

from __future__ import annotations

import json
import math
import os
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
SONDE = Path(sys.executable).parent / "sonde"

sys.path.insert(0, str(HERE / "native"))

ALLOCATED = ("alloc_python", "alloc_native")


@dataclass
class Node:
    """A frame below its callers, with what it did with memory."""

    thread: int
    line: int | None  # the innermost one of the program in the stack; None: it has no part in it
    values: Counter[str] = field(default_factory=Counter)


class Recording:
    """The memory of a recording, read as docs/recording.md describes it."""

    def __init__(self, path: Path, program: Path) -> None:
        base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.info: dict[str, str] = dict(base.execute("select key, value from info"))
        made: dict[int, Node] = {}
        query = """select node.id, parent, thread_id, kind, file, line
                   from node join track on track.id = track join site on site.id = site order by node.id"""
        for number, parent, thread, kind, file, line in base.execute(query):
            is_own = kind == "line" and file.rpartition("/")[2] == program.name
            above = made[parent].line if parent in made else None
            made[number] = Node(thread, line if is_own else above)
        query = "select node, name, value from value join metric on metric.id = metric"
        for number, metric, value in base.execute(query):
            made[number].values[metric] += value
        self.nodes = list(made.values())
        base.close()

    def lines(self) -> dict[int | None, Counter[str]]:
        """What each line of the program did, with all that it called outside of the program."""
        found: dict[int | None, Counter[str]] = {}
        for node in self.nodes:
            found.setdefault(node.line, Counter()).update(node.values)
        return found

    def at(self, *lines: int) -> Counter[str]:
        found, every = Counter(), self.lines()
        for line in lines:
            found.update(every.get(line, Counter()))
        return found


@dataclass
class Run:
    """A program that ran, what it knows, and what was recorded of it."""

    answer: dict[str, Any]
    recording: Recording


def marked_lines(program: Path, mark: str) -> list[int]:
    """The lines that end with the comment."""
    lines = program.read_text().splitlines()
    return [i for i, line in enumerate(lines, 1) if re.search(rf"# {re.escape(mark)}$", line)]


def marks(program: Path, kind: str = "HERE") -> list[str]:
    """The names of the lines that are marked."""
    return re.findall(rf"# {kind}: (\w+)$", program.read_text(), re.M)


def run_plainly(folder: Path, program: Path, *words: object, exact: bool = False, native: Path | None = None) -> str:
    """Run a program, and give its output. The recording is answer.sonde in the folder."""
    command = [SONDE, "run", "--no-report", "--memory", *(["--exact"] if exact else []), "-o", "answer.sonde"]
    # The threads of NumPy's library map buffers of their own, some time after the import.
    more = {"OPENBLAS_NUM_THREADS": "1"} | ({"PYTHONPATH": str(native)} if native is not None else {})
    done = subprocess.run(
        [str(word) for word in (*command, program, *words)],
        cwd=folder,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr}"
    return done.stdout


def run(folder: Path, program: Path, *words: object, exact: bool = False, native: Path | None = None) -> Run:
    """Run a program that prints its answer last."""
    text = run_plainly(folder, program, *words, exact=exact, native=native)
    return Run(json.loads(text.splitlines()[-1]), Recording(folder / "answer.sonde", program))


def error_of(values: Counter[str], variance: str) -> float:
    """The standard error that the recording states."""
    return math.sqrt(values[variance])


def describe(found: float, truth: float, error: float) -> str:
    return (
        f"{found / 1e6:.2f} MB of {truth / 1e6:.2f} MB, {found / truth - 1:+.2%}, standard error {error / truth:.2%}, "
        f"{abs(found - truth) / error if error else math.inf:.1f} of them"
    )
