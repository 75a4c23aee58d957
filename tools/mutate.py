"""Changes the C sources in small ways, one at a time, and counts the changes that the tests find.

Usage: python tools/mutate.py [--seed N] [--count N] [--folder view ...] [--jobs N] [--again] [--report]

A mutant is one comparison flipped, one number or bound off by one, or one statement dropped, inside a function. Seed,
folders and sources decide which ones are taken: kinds and folders in turn, and only mutants that compile without a
warning. Each runs against the plain C tests that link its file, then those under AddressSanitizer, then the Python
tests of its folder (PYTHON_TESTS), until one fails. A test kills a mutant only if it fails twice in a row and passed
without it, so that a busy machine kills nothing. One that takes far more processor time than any should has failed.

All of it happens in build/mutate: a copy of the sources for each job, and what became of each mutant in
results.jsonl. A second run leaves out what it finds there; --again repeats the survivors, after tests were
added. tools/mutate_equivalent.txt lists survivors that change nothing anybody could see, each with its reason.
"""

import argparse
import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypedDict

from c_tokens import CONTROL, Token, in_functions, statements, tokens

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutate"
RESULTS = WORK / "results.jsonl"
EQUIVALENT = ROOT / "tools" / "mutate_equivalent.txt"
# In this order: the fastest way to find a mutant first.
BUILDS = ["c", "asan"]
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}
# How many of the tests with the most similar names run: all of them plain, but a sanitizer takes several times as long.
NEAREST = {"c": 1000, "asan": 16}
# What a process of a test may take; several times what the slowest takes.
CPU_SECONDS = {"c": 10, "asan": 40, "python": 120}
WAITED = -1  # for ever, or for a processor on a machine that is very busy
TOO_LONG = (WAITED, -signal.SIGXCPU, -signal.SIGKILL)
# The Python tests that know most of a folder, fast ones first.
PYTHON_TESTS = {
    "view": ["test_table.py", "test_report.py", "test_graph_rows.py", "test_memory_api.py", "test_work_diff.py"],
    "store": ["test_recording.py", "test_hostile.py", "test_work_merge.py"],
    "probe": [
        *("test_regions.py", "test_calls_kinds.py", "test_sample_api.py", "test_memory_api.py", "test_waiting.py"),
        *("test_imports.py", "test_sampler_codes.py", "test_c_functions.py", "test_sampler_processes.py"),
    ],
}

FLIPPED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
SHIFTED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
KEYWORDS = {*CONTROL, "return", "goto", "else", "do", "case", "default", "sizeof", "assert", "static_assert"}
# What follows the first name of a call or an assignment, and never that of a declaration.
AFTER_NAME = {"(", "=", "->", ".", "[", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}


class Test(TypedDict):
    """As meson lists it in meson-info."""

    name: str
    cmd: list[str]
    env: dict[str, str]


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    column: int
    kind: str
    start: int
    end: int
    before: str
    after: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line}:{self.column} {self.kind} {self.before!r} -> {self.after!r}"

    def applied(self, text: str) -> str:
        return text[: self.start] + self.after + text[self.end :]

    def statement(self) -> str:
        """The mutated line, by which mutate_equivalent.txt names it: line numbers change too often."""
        text = (ROOT / self.file).read_text()
        first, last = text.rfind("\n", 0, self.start) + 1, text.find("\n", self.end)
        old, new = text[first:last], text[first : self.start] + self.after + text[self.end : last]
        return " ".join(f"{self.file}: {old} -> {new}".split())


def can_be_dropped(statement: list[Token]) -> bool:
    """A call or an assignment, or a jump within a loop; never a declaration, which would not compile."""
    words = [token.text for token in statement]
    if words in (["break"], ["continue"]):
        return True
    while words and words[0] in ("*", "++", "--"):
        words = words[1:]
        if len(words) == 1:
            return True
    return len(words) > 1 and statement[0].text not in KEYWORDS and words[1] in AFTER_NAME and words[0].isidentifier()


def changes(text: str) -> Iterator[tuple[str, int, int, str]]:
    """All that can be changed: the kind, where it begins and ends, and the new text."""
    for body in in_functions(tokens(text)):
        for i, token in enumerate(body):
            if token.text in FLIPPED:
                yield "flip", token.start, token.end, FLIPPED[token.text]
            if token.text in SHIFTED:
                yield "off-by-one", token.start, token.end, SHIFTED[token.text]
            number = re.fullmatch(r"(0|[1-9]\d*)([uUlL]*)", token.text) if token.kind == "number" else None
            if number is not None and body[i - 3].text != "sizeof":  # all elements have the same size
                yield "off-by-one", token.start, token.end, f"{int(number[1]) + 1}{number[2]}"
        for statement in statements(body):
            if statement[-1].text == ";" and can_be_dropped(statement[:-1]):
                yield "drop", statement[0].start, statement[-1].start, ""


def mutants_of(path: Path) -> Iterator[Mutant]:
    text = path.read_text()
    for kind, start, end, after in changes(text):
        line = text.count("\n", 0, start) + 1
        column = start - text.rfind("\n", 0, start)
        yield Mutant(str(path.relative_to(ROOT)), line, column, kind, start, end, text[start:end], after)


def in_turn(folders: list[str], seed: int) -> Iterator[Mutant]:
    """All mutants in the seed's order: folders and kinds take turns, so that none crowds out the others."""
    chance = random.Random(seed)
    piles = []
    for folder in folders:
        found = [mutant for path in sorted((ROOT / "src" / folder).rglob("*.c")) for mutant in mutants_of(path)]
        for kind in ("flip", "off-by-one", "drop"):
            pile = [mutant for mutant in found if mutant.kind == kind]
            chance.shuffle(pile)
            piles.append(pile)
    while any(piles):
        for kind in range(3):
            for pile in piles[kind::3]:
                if pile:
                    yield pile.pop()


running: set[int] = set()  # the process groups of our children


def run(command: list[str], folder: Path, cpu_seconds: int = 3600, **extra: str) -> tuple[int, str]:
    """The exit status and the output. Nothing that it started outlives it. An endless loop is ended by its processor
    time, which does not depend on what else the machine does; what waits for ever, by the clock."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))

    child = subprocess.Popen(
        command, cwd=folder, env={**os.environ, **extra}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True, preexec_fn=limit,
    )  # fmt: skip
    running.add(child.pid)
    try:
        output, _ = child.communicate(timeout=60 * cpu_seconds)
        return child.returncode, output
    except subprocess.TimeoutExpired:
        return WAITED, ""
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        running.discard(child.pid)
        child.wait()


class Tree:
    """A copy of the sources with its builds, in which one mutant at a time is tried."""

    def __init__(self, number: int) -> None:
        self.root = WORK / f"tree-{number}"
        self.path = f"{self.root}/build/venv/bin:{os.environ['PATH']}"
        self.tests: dict[str, list[Test]] = {}
        self.symbols: dict[str, set[str]] = {}
        self.passed: set[str] = set()  # tests that passed here at least once
        self.useless: set[str] = set()  # tests that fail without a mutant

    def prepare(self) -> None:
        self.copy_sources()
        builds = [f"build/{build}/build.ninja" for build in BUILDS]
        self.must("make", *builds, "build/venv/.test")
        self.must("ninja", "-C", "build/c")
        for build in BUILDS:
            self.tests[build] = json.loads((self.root / "build" / build / "meson-info/intro-tests.json").read_text())

    def copy_sources(self) -> None:
        """Only what differs, which also takes back the mutant of a run that was killed."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        for name in filter(None, listed.stdout.split("\0")):
            source, target = ROOT / name, self.root / name
            if source.is_file() and not (target.is_file() and target.read_bytes() == source.read_bytes()):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    def must(self, *command: str) -> str:
        status, output = run(list(command), self.root, PATH=self.path)
        if status != 0:
            sys.exit(f"{' '.join(command)} failed in {self.root}:\n{output}")
        return output

    def try_mutant(self, mutant: Mutant) -> tuple[str, str]:
        """What became of it: the result and the test that killed it."""
        path = self.root / mutant.file
        original = path.read_text()
        changed = mutant.applied(original)

        def fails_without(test: Callable[[], int]) -> bool:
            path.write_text(original)
            status = test()
            path.write_text(changed)
            return status != 0

        path.write_text(changed)
        try:
            if run(["ninja", "-C", "build/c", object_of(mutant.file)], self.root, PATH=self.path)[0] != 0:
                return "does not compile", ""
            for name, test in self.tests_of(mutant.file):
                status = test()
                if status == 0 or (status not in TOO_LONG and test() == 0):
                    self.passed.add(name)
                elif (name not in self.passed or status == WAITED) and fails_without(test):
                    print(f"{name} fails without a mutant, too: left out", flush=True)
                    self.useless.add(name)
                else:
                    return "killed", name
            return "survived", ""
        finally:
            path.write_text(original)

    def tests_of(self, file: str) -> Iterator[tuple[str, Callable[[], int]]]:
        """Name and function of each test that may know something of a file, the likeliest first."""
        for build in BUILDS:
            for test in self.affected(build, file)[: NEAREST[build]]:
                yield f"{build}/{test['name']}", partial(self.run_c_test, build, test)
        folder = Path(file).parts[1]  # the room, not its sub-room
        for name in PYTHON_TESTS.get(folder, []):
            if f"python/{name}" not in self.useless:
                yield f"python/{name}", partial(self.run_python, name)

    def run_c_test(self, build: str, test: Test) -> int:
        here = self.root / "build" / build
        paths = [os.path.relpath(here / word, here) for word in test["cmd"]]
        targets = [path for path in paths if not path.startswith("..")]
        if run(["ninja", "-C", str(here), *targets], self.root, PATH=self.path)[0] != 0:
            return 1
        return run(test["cmd"], here, CPU_SECONDS[build], PATH=self.path, **SANITIZERS, **test["env"])[0]

    def run_python(self, name: str) -> int:
        self.must("make", "build/venv/.installed")
        command = ["pytest", "-x", "-p", "no:cacheprovider", "--timeout=120", f"tests/python/{name}"]
        return run(command, self.root, CPU_SECONDS["python"], PATH=self.path)[0]

    def names_in(self, file: str) -> set[str]:
        """The functions for others in an object or a program."""
        if file not in self.symbols:
            _, output = run(["nm", "--defined-only", "--extern-only", file], self.root)
            self.symbols[file] = {line.split()[-1] for line in output.splitlines() if " T " in line}
        return self.symbols[file]

    def affected(self, build: str, file: str) -> list[Test]:
        """The tests that have the file in them or start the program; those with a similar name come first."""
        changed = self.names_in(f"build/c/{object_of(file)}")
        words = {*Path(file).stem.split("_"), Path(file).parent.name, "golden", "cli"}
        chosen = []
        for test in self.tests[build]:
            program, *arguments = test["cmd"]
            starts_sonde = any(word.endswith("/sonde") for word in arguments)
            plain = program.replace(f"build/{build}/", "build/c/")
            if f"{build}/{test['name']}" not in self.useless and (starts_sonde or changed & self.names_in(plain)):
                chosen.append(test)
        return sorted(chosen, key=lambda test: -len(words & set(test["name"].split("_"))))


def object_of(file: str) -> str:
    return f"libsonde_core.a.p/{file.replace('/', '_')}.o"


def read_results() -> dict[str, dict[str, object]]:
    """What is known, the last word on each mutant. A line that was cut off by a signal does not count."""
    results = {}
    for line in RESULTS.read_text().splitlines() if RESULTS.exists() else []:
        with contextlib.suppress(ValueError):
            result = json.loads(line)
            results[result["name"]] = result
    return results


def read_equivalent() -> set[str]:
    lines = EQUIVALENT.read_text().splitlines() if EQUIVALENT.exists() else []
    return {" ".join(line.split()) for line in lines if line.startswith("src/")}


def report(taken: list[Mutant], results: dict[str, dict[str, object]]) -> None:
    equivalent = read_equivalent()
    known = [mutant for mutant in taken if mutant.name in results]
    killed = [mutant for mutant in known if results[mutant.name]["result"] == "killed"]
    alive = [mutant for mutant in known if results[mutant.name]["result"] == "survived"]
    listed = [mutant for mutant in alive if mutant.statement() in equivalent]
    for mutant in alive:
        print(f"{'equivalent' if mutant in listed else 'survived'}: {mutant.statement()}")
    by: dict[str, int] = {}
    for mutant in killed:
        way = str(results[mutant.name]["by"]).split("/")[0]
        by[way] = by.get(way, 0) + 1
    ways = ", ".join(f"{count} by {way}" for way, count in by.items())
    print(f"{len(known)} mutants: {len(killed)} killed ({ways})", end=", ")
    print(f"{len(alive) - len(listed)} survived, {len(listed)} equivalent")


class Search:
    """Hands out mutants until enough of them compile, and writes down what became of each."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.count = options.count
        self.again = options.again
        self.order = in_turn(options.folder, options.seed)
        self.results = read_results()
        self.taken: list[Mutant] = []
        self.lock = threading.Lock()

    def next(self) -> Mutant | None:
        with self.lock:
            while len(self.taken) < self.count:
                mutant = next(self.order, None)
                if mutant is None:
                    return None
                result = self.results.get(mutant.name, {}).get("result")
                if result != "does not compile":
                    self.taken.append(mutant)
                if result is None or (self.again and result == "survived"):
                    return mutant
            return None

    def note(self, mutant: Mutant, result: str, by: str, seconds: float) -> None:
        line = {"name": mutant.name, "result": result, "by": by, "seconds": round(seconds, 1)}
        with self.lock:
            self.results[mutant.name] = line
            if result == "does not compile":
                self.taken.remove(mutant)
            with RESULTS.open("a") as file:
                file.write(json.dumps(line) + "\n")
        print(f"{result}: {mutant.name} {by} ({seconds:.0f} s)", flush=True)

    def work(self, number: int) -> None:
        tree = Tree(number)
        tree.prepare()
        while (mutant := self.next()) is not None:
            begin = time.monotonic()
            result, by = tree.try_mutant(mutant)
            self.note(mutant, result, by, time.monotonic() - begin)


def stop(number: int, _: object) -> None:
    """Leaves at once, and no process behind; the next run takes the mutant back."""
    for child in list(running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    os._exit(128 + number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100, help="mutants that compile")
    parser.add_argument("--folder", nargs="+", default=list(PYTHON_TESTS), help="folders of src/")
    parser.add_argument("--jobs", type=int, default=1, help="trees to work in at the same time")
    parser.add_argument("--again", action="store_true", help="repeat those that survived")
    parser.add_argument("--report", action="store_true", help="only show what is known")
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    WORK.mkdir(parents=True, exist_ok=True)
    search = Search(options)
    if options.report:
        while search.next() is not None:
            pass
    else:
        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(search.work, range(options.jobs)))
    report(search.taken, search.results)


if __name__ == "__main__":
    main()
