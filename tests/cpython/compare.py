"""CPython's own tests, plain and under sonde: every test must end in the same way.

    python tests/cpython/compare.py [--jobs N] [--timeout SECONDS] [MODULE...]

Runs the modules of ``modules.txt`` by ``python -m test`` of this interpreter: plain, and under ``sonde run``, ``sonde
run --memory`` and ``sonde trace``. A module with a test that ends differently is run once more, plain and under sonde,
so that tests which are merely unstable are not held against anybody. What still differs must stand in
``differences.txt`` with its reason.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SONDE = str(Path(sys.executable).parent / "sonde")
PLAIN = "plain"
SETTINGS = {"run": ["run"], "memory": ["run", "--memory"], "trace": ["trace"]}
VERSION = "{}.{}".format(*sys.version_info[:2])

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Outcomes = dict[str, str]  # of each test, and of the module as a whole


@dataclass(frozen=True)
class Known:
    """A line of ``differences.txt``."""

    test: str  # a pattern
    settings: tuple[str, ...]
    versions: tuple[str, ...]
    reason: str

    def is_of(self, test: str, setting: str) -> bool:
        return fnmatch.fnmatchcase(test, self.test) and setting in self.settings and self.is_here()

    def is_here(self) -> bool:
        return VERSION in self.versions


def read_lines(name: str) -> list[str]:
    lines = [line.strip() for line in (HERE / name).read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def read_known() -> list[Known]:
    known = []
    for line in read_lines("differences.txt"):
        test, settings, versions, reason = line.split(None, 3)
        known.append(Known(test, tuple(settings.split(",")), tuple(versions.split(",")), reason))
    return known


def read_outcomes(file: Path) -> Outcomes:
    """From the XML that regrtest writes; nothing where it did not come to that."""
    if not file.exists() or file.stat().st_size == 0:
        return {}
    outcomes = {}
    text = NOT_XML.sub("?", file.read_text(encoding="utf-8", errors="replace"))  # tests print anything
    for case in ElementTree.fromstring(text).iter("testcase"):
        if "name" not in case.attrib:  # a part of it failed
            continue
        kinds = [kind for kind in ("error", "failure", "skipped") if case.find(kind) is not None]
        outcomes[case.attrib["name"]] = kinds[0] if kinds else "ok"
    return outcomes


def run(module: str, setting: str, timeout: float) -> Outcomes:
    """One module in a process and a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="sonde-cpython-"))
    words = ["-m", "test", "--junit-xml", str(folder / "result.xml"), "--tempdir", str(folder)]
    command = [sys.executable, *words, module]
    if setting != PLAIN:
        command = [SONDE, *SETTINGS[setting], "-o", str(folder / "r.sonde"), *words, module]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with (folder / "out.txt").open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = str(process.wait(timeout))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = "timeout"
    outcomes = {**read_outcomes(folder / "result.xml"), module: f"status {status}"}
    if keep_folder is not None:
        shutil.copyfile(folder / "out.txt", keep_folder / f"{module}.{setting}.txt")
    shutil.rmtree(folder, ignore_errors=True)
    return outcomes


def differing(plain: Outcomes, other: Outcomes) -> list[str]:
    """Tests that ended differently; the module itself when no test says why."""
    names = [name for name in {**plain, **other} if plain.get(name) != other.get(name)]
    tests = [name for name in names if not name.startswith("test_")]
    return tests or names


def compare(module: str, timeout: float) -> tuple[int, dict[str, dict[str, str]]]:
    """How many tests there are, and for each setting the tests that differ, each with what came out."""
    plain = run(module, PLAIN, timeout)
    found: dict[str, dict[str, str]] = {}
    for setting in SETTINGS:
        other = run(module, setting, timeout)
        names = differing(plain, other)
        if names:
            again, once_more = run(module, PLAIN, timeout), run(module, setting, timeout)
            stable = [name for name in names if name in differing(again, once_more)]
            found[setting] = {name: f"{plain.get(name, 'missing')} -> {other.get(name, 'missing')}" for name in stable}
    return len(plain) - 1, found


class Report:
    """What is printed while the modules run, and what is left at the end."""

    def __init__(self, known: list[Known]) -> None:
        self.known = known
        self.met: set[Known] = set()
        self.new: list[str] = []
        self.tests = 0
        self.lock = threading.Lock()

    def add(self, module: str, tests: int, found: dict[str, dict[str, str]]) -> None:
        with self.lock:
            self.tests += tests
            print(f"{module}: {tests} tests", flush=True)
            for setting, names in found.items():
                for name, how in names.items():
                    self._add_one(setting, name, how)

    def _add_one(self, setting: str, name: str, how: str) -> None:
        reason = next((known for known in self.known if known.is_of(name, setting)), None)
        if reason is None:
            self.new.append(f"{name} {setting} {VERSION}: {how}")
        else:
            self.met.add(reason)
        print(f"    {setting}: {name}: {how} ({'NEW' if reason is None else reason.reason})", flush=True)

    def finish(self, is_whole: bool) -> int:
        print(f"\n{self.tests} tests, each plain and in {len(SETTINGS)} settings, on Python {VERSION}")
        for known in self.known:
            if is_whole and known.is_here() and known not in self.met:
                print(f"listed, and the same this time: {known.test} ({known.reason})")
        for line in self.new:
            print(f"differs: {line}")
        print("FAILED" if self.new else "nothing differs that is not listed with its reason")
        return 1 if self.new else 0


def find_modules(wanted: list[str]) -> list[str]:
    """Those that this interpreter has; others are skipped by name."""
    from test.support import __file__ as support

    folder = Path(support).parent.parent
    there = []
    for module in wanted:
        path = folder / module.replace(".", "/")
        if path.is_dir() or path.with_suffix(".py").exists() or Path(f"{path}.py").exists():
            there.append(module)
        else:
            print(f"skipped: Python {VERSION} has no {module}")
    return there


def main() -> int:
    global keep_folder
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--keep", type=Path, help="a folder for what the runs print")
    parser.add_argument("modules", nargs="*")
    given = parser.parse_args()
    keep_folder = given.keep
    # A shell starts what runs in its background without them, and some tests wait for one for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        modules = find_modules(given.modules or read_lines("modules.txt"))
    except ImportError:
        print(f"skipped: {sys.executable} has no package test")
        return 0
    report = Report(read_known())
    with ThreadPoolExecutor(given.jobs) as pool:
        pending = {module: pool.submit(compare, module, given.timeout) for module in modules}
        for module, future in pending.items():
            report.add(module, *future.result())
    return report.finish(is_whole=not given.modules)


keep_folder: Path | None = None

if __name__ == "__main__":
    sys.exit(main())
