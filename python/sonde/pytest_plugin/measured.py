"""One call of a test, measured: how long it took, its memory, its calls, and the lines that they belong to."""

from __future__ import annotations

import gc
import os
import sys
import time

from sonde import _core, regions, sampling
from sonde._runtime import places as _places
from sonde._runtime import session as _session
from sonde._runtime import settings as _settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Stack = tuple[tuple[str, int], ...]  # the innermost frame first

# What is kept there is kept once, whoever comes first: modules, compiled patterns, source texts.
_STANDARD = os.path.dirname(os.__file__)  # noqa: PTH120
_CACHES = (
    "<frozen importlib",
    *(f"{_STANDARD}/{file}" for file in ("re/_compiler.py", "re/_parser.py", "linecache.py")),
)
_OWN = os.path.dirname(_core.__file__) + "/"  # noqa: PTH120


_SMALL = 0.01  # of the test's time: a line with less of it is not listed
_LONG = 0.1  # the same of a line that waits


class Unmeasured(Exception):
    """Why a test could not be measured."""


class Wants:
    """What is to be measured."""

    def __init__(self) -> None:
        self.samples = self.memory = self.exact = self.leaks = self.calls = self.builtins = False


class Taken:
    """A call that is measured once."""

    def __init__(self, name: str, wants: Wants) -> None:
        self.wants = wants
        self.seconds = self.cpu_seconds = 0.0
        self.peak_bytes = 0
        self.profile: _core.Profile | None = None  # of the test alone
        self.calls: _core.Profile | None = None
        self._name = name
        self._measurement: Any = None
        self._calls: _core.Calls | None = None
        self._region: _core.Region | None = None  # where somebody else measures, too
        self._live_before = 0
        self._own_cpu_before = 0
        self._stacks_before: dict[Stack, int] = {}

    def run(self, function: Callable[[], object]) -> None:
        """Call it. What it raises passes through, and the numbers are kept."""
        self._begin()
        cpu, start = time.process_time(), time.perf_counter()
        try:
            function()
        finally:
            self.seconds = time.perf_counter() - start
            self.cpu_seconds = time.process_time() - cpu
            self._end()

    def hot_lines(self, count: int = 3) -> list[dict[str, Any]]:
        """The program's lines with the most CPU time, in rows as the view has them, and their ``share`` of all lines'.

        Where the test waited instead, a line that ran for a moment is no answer.
        """
        rows = [row for row in self._rows("lines") if row["line"] is not None]
        whole = sum(row["cpu_ns"] for row in rows) or 1
        hot = [{**row, "share": row["cpu_ns"] / whole} for row in _most(rows, "cpu_ns", count)]
        return [row for row in hot if row["cpu_ns"] / 1e9 >= _SMALL * self.seconds]

    def waiting_lines(self, count: int = 2) -> list[dict[str, Any]]:
        """Those at which threads that were not idle waited for long."""
        rows = [row for row in self._rows("waiting") if row["kind"] == "line"]
        return [row for row in _most(rows, "wait_ns", count) if row["wait_ns"] / 1e9 >= _LONG * self.seconds]

    def elsewhere(self) -> str | None:
        """Where the rest of the time went, if the program's lines have less than half of it."""
        rows = self._rows("lines")
        if not rows or sum(row["time_ns"] for row in rows if row["line"] is not None) / 1e9 > self.seconds / 2:
            return None
        rest = [row for row in rows if row["line"] is None]
        is_waiting = 2 * sum(row["waiting_ns"] for row in rest) > sum(row["time_ns"] for row in rest)
        return "the rest outside your own code" + (", waiting" if is_waiting else "")

    def peak_lines(self, count: int = 3) -> list[dict[str, Any]]:
        """Those that had the memory at the peak."""
        return _most(self._rows("memory"), "peak_bytes", count)

    def kept(self) -> list[tuple[int, Stack]]:
        """What was allocated and is still there, by stack, the largest first. What caches keep is not in it."""
        if self.profile is None:
            return []
        grown = [
            (size - self._stacks_before.get(frames, 0), frames)
            for size, _, frames in self.profile.live("traceback")
            if not frames[0][0].startswith(_OWN) and not _is_cached(frames)
        ]
        return sorted((growth for growth in grown if growth[0] > 0), reverse=True)

    def _rows(self, view: str) -> list[dict[str, Any]]:
        main, pytest = _above_tests()
        try:
            rows = [] if self.profile is None else self.profile.rows(view)
        except OSError:  # there is nothing to show: it was too short to be seen
            return []
        return [row for row in rows if row["file"] != main and not str(row["file"]).startswith(pytest)]

    def _begin(self) -> None:
        wants = self.wants
        try:
            if wants.samples or wants.memory:
                self._begin_measurement()
            if wants.calls:
                self._calls = _core.Calls(builtins=wants.builtins)
                self._calls.enable()
        except (OSError, RuntimeError, ValueError, _settings.Mistake) as error:
            self._calls = None
            self._end()
            raise Unmeasured(str(error)) from None

    def _begin_measurement(self) -> None:
        is_shared = _core.is_running()
        measurement = _measurement(self.wants)
        measurement.start()
        self._measurement = measurement
        if is_shared:
            self._region = regions.region(self._name).__enter__()
            before = _core.profile()
            self._own_cpu_before = int(before.info("own_cpu_ns") or 0)
            if self.wants.leaks:
                self._stacks_before = {frames: size for size, _, frames in before.live("traceback")}
        if self.wants.memory:
            self._live_before = measurement.live_bytes

    def _end(self) -> None:
        if self._calls is not None:
            self._calls.disable()
            self.calls = self._calls.profile()
        if self._region is not None:
            self._region.__exit__(None, None, None)
        if self._measurement is not None:
            self._end_measurement(self._measurement)

    def _end_measurement(self, measurement: Any) -> None:
        if self.wants.memory:
            self.peak_bytes = max(measurement.peak_bytes - self._live_before, 0)
        before = None
        if self.wants.leaks:
            before = _session.pause(True)  # what is freed is still seen
            gc.collect()
        measurement.stop()
        if before is not None and _core.is_running():
            _session.pause(before)
        try:
            whole = measurement.profile
            self.profile = whole if self._region is None else whole.inside(self._name)
        except (OSError, RuntimeError):  # the test stopped all profiling, or is in a child of its own
            return
        self.cpu_seconds -= (int(whole.info("own_cpu_ns") or 0) - self._own_cpu_before) / 1e9


def _measurement(wants: Wants) -> Any:
    """The probes into one measurement. pytest itself, which calls the tests, is nobody's program."""
    project = _settings.read_project(os.getcwd())  # noqa: PTH109
    main, pytest = _above_tests()
    exclude = ",".join(word for word in (project.get("exclude"), main, f"{pytest}*") if word)
    probes = ["sample"] * wants.samples + ["memory"] * wants.memory
    return sampling.record(
        False,
        probes,
        rate=_settings.usual_rate(wants.memory),
        timeline=False,
        exact=wants.exact,
        include=project.get("include", ""),
        exclude=exclude,
        all_code=project.get("all-code", False),
    )


def _above_tests() -> tuple[str, str]:
    """The program that runs the tests, and the folder of pytest."""
    pytest = getattr(sys.modules.get("pytest"), "__file__", None) or "pytest/"
    return _places.main_file() or "", os.path.dirname(pytest) + "/"  # noqa: PTH120


def _most(rows: list[dict[str, Any]], column: str, count: int) -> list[dict[str, Any]]:
    """The first rows, without those below 1% of the first."""
    of_lines = [row for row in rows if row["line"] is not None and row[column]]
    least = max((row[column] for row in of_lines), default=0) / 100
    of_lines = [row for row in of_lines if row[column] >= least]
    return sorted(of_lines, key=lambda row: -int(row[column]))[:count]


def _is_cached(frames: Stack) -> bool:
    return any(file.startswith(_CACHES) for file, _ in frames)
