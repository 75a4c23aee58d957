"""Running a program that knows its answer under `sonde run`, and comparing the two."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chance import IS_LONG, SECONDS, expect, share_error

PROGRAMS = Path(__file__).parent / "programs"
SONDE = Path(sys.executable).parent / "sonde"

#: CPU time that the program does not see: compiling it, writing its answer, and what sonde does after that.
ENDS_NS = 100e6
NATIVE_ENDS_NS = 400e6  # names of native functions are looked up when the program is over

CPU = ("python", "native", "system")
WAITS = ("wait_cpu", "wait_lock", "wait_gil", "wait_io", "wait_sleep", "wait_other")


@dataclass
class Node:
    """A frame below its callers, with what was found of the thread there."""

    parent: Node | None
    thread: int
    kind: str
    name: str
    file: str
    line: int
    values: Counter[str] = field(default_factory=Counter)

    def stack(self) -> list[Node]:
        """Outermost first, with the thread's own node."""
        found: list[Node] = []
        node: Node | None = self
        while node is not None:
            found.append(node)
            node = node.parent
        return found[::-1]

    def names(self) -> list[str]:
        """Of the functions, outermost first."""
        return [node.name for node in self.stack() if node.kind == "line"]


class Recording:
    """The samples of a recording, read as docs/recording.md describes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.info: dict[str, str] = dict(base.execute("select key, value from info"))
        self.threads: dict[int, str] = dict(base.execute("select thread_id, name from track"))
        made: dict[int, Node] = {}
        query = """select node.id, parent, thread_id, kind, site.name, file, line
                   from node join track on track.id = track join site on site.id = site order by node.id"""
        for number, parent, *rest in base.execute(query):
            made[number] = Node(made.get(parent), *rest)
        for number, metric, value in base.execute(
            "select node, name, value from value join metric on metric.id = metric"
        ):
            made[number].values[metric] += value
        self.nodes = list(made.values())
        base.close()

    def total(self, metrics: Iterable[str] = CPU) -> int:
        return sum(node.values[metric] for node in self.nodes for metric in metrics)

    def spent(
        self, label: Callable[[Node], Hashable | None], metrics: Iterable[str] = CPU
    ) -> tuple[Counter[Hashable], float]:
        """What was found at the nodes of each label, and how many samples of equal weight would know it as well. Nodes
        without a label do not count."""
        states, samples = self.states(label)
        found: Counter[Hashable] = Counter()
        for (key, state), value in states.items():
            if state in metrics:
                found[key] += value
        return found, samples

    def states(self, label: Callable[[Node], Hashable | None]) -> tuple[Counter[tuple[Hashable, str]], float]:
        """The same, with each state apart: keys are pairs of label and state. How long a thread waits is known better
        than by samples, so only those of CPU time count."""
        found: Counter[tuple[Hashable, str]] = Counter()
        for node in self.nodes:
            key = label(node)
            if key is not None:
                found.update({(key, state): node.values[state] for state in (*CPU, *WAITS)})
        cpu = sum(value for (_, state), value in found.items() if state in CPU)
        own = int(self.info["own_cpu_ns"])
        return found, int(self.info["samples_effective"]) * cpu / max(self.total() - own, 1)


@dataclass
class Run:
    """A program that ran, what it knows, and what was recorded of it."""

    answer: dict[str, Any]
    recording: Recording
    output: str

    def truth(self, what: str = "cpu") -> Counter[str]:
        """The program's own seconds by name, over all threads, in ns."""
        found: Counter[str] = Counter()
        for names in self.answer["threads"].values():
            for name, spent in names.items():
                found[name] += spent[what]
        return found

    @property
    def main_thread(self) -> int:
        return int(self.recording.info["process_id"])

    def check(
        self, truth: Mapping[Any, float], found: Mapping[Any, float], samples: float, limit: float, least: int = 100
    ) -> None:
        """The distance is within the limit, beside what chance does; a long run has so many samples at least.

        A time for which the machine had no processor is told apart less well.
        """
        whole = sum(truth.values())
        unsure = 0 if IS_LONG else truth.get("wait_cpu", 0) / whole / 2
        allowed = limit + share_error((value / whole for value in truth.values()), samples) + unsure
        measured = distance(truth, found)
        said = f"distance {measured:.4f}, allowed {allowed:.4f}, {samples:.0f} samples"
        print(said)
        expect(samples >= least or not IS_LONG, said)
        expect(measured <= allowed, f"{said}\n{show(truth, found)}")

    def truth_by_thread(self, what: str = "cpu") -> Counter[tuple[int, str]]:
        return Counter(
            {
                (int(thread), name): spent[what]
                for thread, names in self.answer["threads"].items()
                for name, spent in names.items()
            }
        )


def run(folder: Path, program: str, *options: str, seconds: float = SECONDS, **environment: str) -> Run:
    """Run one of the programs under `sonde run`, at 1 kHz. The summary is in `output`."""
    return take(folder, [SONDE, "run", "-o", folder / "answer.sonde", *options], program, seconds, environment)


def run_started(folder: Path, program: str, **settings: bool) -> Run:
    """Run one of the programs under a sampler that is started from Python."""
    words = [sys.executable, PROGRAMS / "started.py", json.dumps(settings), folder / "answer.sonde"]
    return take(folder, words, program, SECONDS, {})


def take(folder: Path, command: list[Any], program: str, seconds: float, environment: dict[str, str]) -> Run:
    words = [*command, PROGRAMS / f"{program}.py", seconds, folder / "answer.json"]
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=20 * seconds + 100,
    )
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr}"
    answer = json.loads((folder / "answer.json").read_text())
    result = Run(answer, Recording(folder / "answer.sonde"), done.stdout + done.stderr)
    check_sums(result)
    return result


def check_sums(run: Run) -> None:
    """The CPU columns over all threads are the process's CPU time, by its own clock and by the recording's."""
    total, recorded, own = run.recording.total(), int(run.recording.info["cpu_ns"]), run.answer["process_cpu"]
    print(f"CPU columns {total / 1e9:.3f} s, recorded {recorded / 1e9:.3f} s, the program's {own / 1e9:.3f} s")
    assert 0 < int(run.recording.info["samples_effective"]) <= int(run.recording.info["samples"])
    expect_close(total, recorded, 0)
    expect_close(total, own, NATIVE_ENDS_NS if run.recording.info["native"] == "1" else ENDS_NS)


def expect_close(found: float, truth: float, apart_ns: float) -> None:
    """Within 1 %, and what happens before a program's first and after its last look at its clock."""
    expect(abs(found - truth) <= 0.01 * truth + apart_ns, f"{found / 1e9:.3f} s, not {truth / 1e9:.3f} s")


def innermost(*names: str) -> Callable[[Node], str | None]:
    """Labels a node with the innermost of these functions in its stack, unless that was only tried out before."""

    def label(node: Node) -> str | None:
        stack = node.names()
        return None if "count_for" in stack else next((name for name in reversed(stack) if name in names), None)

    return label


def distance(truth: Mapping[Any, float], found: Mapping[Any, float]) -> float:
    """The total-variation distance: the share of all time that stands in a wrong place."""
    whole, seen = sum(truth.values()), sum(found.values())
    expect(whole > 0 and seen > 0, f"{truth} {found}")
    keys = truth.keys() | found.keys()
    return sum(abs(truth.get(key, 0) / whole - found.get(key, 0) / seen) for key in keys) / 2


def show(truth: Mapping[Any, float], found: Mapping[Any, float]) -> str:
    keys = sorted(truth.keys() | found.keys(), key=str)
    return "\n".join(f"{key}: {truth.get(key, 0) / 1e9:.3f} s, found {found.get(key, 0) / 1e9:.3f} s" for key in keys)
