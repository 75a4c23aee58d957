"""Running real programs with the installed package, and looking at what they leave behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

# pytest imports readline, which sets it for every process that is started, behind the back of os.environ.
with contextlib.suppress(ImportError):
    import readline  # noqa: F401
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")

PROGRAMS = Path(__file__).resolve().parents[1] / "python" / "programs"

# A shell starts what runs in its background with Ctrl-C ignored, nohup with SIGHUP, and the programs under test would
# inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def slow(*values: Any) -> list[Any]:
    """Values of a parameter with which a test is too slow for `make test`."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


@dataclass
class Row:
    """A row of the regions view, with its children by name."""

    values: dict[str, Any]
    children: dict[str, Row] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, name: str) -> Row:
        return self.children[name]

    def all_rows(self) -> list[Row]:
        return [self, *(row for child in self.children.values() for row in child.all_rows())]


def make_trees(rows: list[dict[str, Any]]) -> dict[str, Row]:
    """The roots, one a thread, by name."""
    made = [Row(values) for values in rows]
    roots = {}
    for row in made:
        if row.values["parent_id"] is None:
            roots[row.values["name"]] = row
        else:
            made[row.values["parent_id"]].children[row.values["name"]] = row
    return roots


@dataclass
class Sonde:
    """A folder in which programs run and recordings lie."""

    folder: Path

    def python(self, code: str, *args: str, status: int | None = 0, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a program given as text; it is the file prog.py."""
        (self.folder / "prog.py").write_text(textwrap.dedent(code))
        return self.run([sys.executable, "prog.py", *args], status=status, **options)

    def command(self, *args: str, status: int | None = 0, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run the program sonde."""
        return self.run([str(Path(sys.executable).parent / "sonde"), *args], status=status, **options)

    def run(
        self, command: list[str], status: int | None = 0, env: dict[str, str] | None = None, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            stdin=subprocess.DEVNULL,
            **options,
        )
        assert status is None or done.returncode == status, done.stdout + done.stderr
        return done

    def export(self, recording: str, view: str = "regions") -> Any:
        return json.loads(self.command("export", recording, "--format", "json", "--view", view).stdout)

    def trees(self, recording: str) -> dict[str, Row]:
        return make_trees(self.export(recording)["rows"])

    def main(self, recording: str) -> Row:
        return self.trees(recording)["<main>"]


@pytest.fixture
def sonde(tmp_path: Path) -> Sonde:
    return Sonde(tmp_path)


@pytest.fixture
def measured() -> Any:
    """Regions installed in this process with a reporter that prints nothing; gives the trees on demand."""
    import sonde.regions as rp
    from sonde import _core

    def trees() -> dict[str, Row]:
        return make_trees(_core.profile().rows())

    rp.install(reporter=rp.SilentReporter())
    rp.reset()
    yield trees
    rp.uninstall()


@pytest.fixture
def clock() -> Any:
    """Regions installed with a clock that the test moves: ``clock.now += 1.5`` is a second and a half."""
    import sonde.regions as rp
    from sonde import _core

    class Clock:
        now = 1000.0
        trees: Callable[[], dict[str, Row]] = staticmethod(lambda: make_trees(_core.profile().rows()))

        def clock(self) -> float:
            return self.now

    one = Clock()
    rp.install(reporter=rp.SilentReporter(), timer_cls=lambda: one)
    rp.reset()
    yield one
    rp.uninstall()


@pytest.fixture
def work(sonde):
    """The tool, beside a program that spins and ends as it is told."""
    shutil.copyfile(PROGRAMS / "run_work.py", sonde.folder / "prog.py")
    return sonde
