"""What ``pytest --sonde`` keeps of the tests: the slowest, their hot lines and their recordings."""

from __future__ import annotations

import os
import re
import zlib

from sonde.pytest_plugin import budget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from sonde.pytest_plugin.measured import Taken

_NAME_LIMIT = 150


class Slowest:
    """The slowest tests of this process so far."""

    def __init__(self, root: Path, folder: str, limit: int, wants_memory: bool) -> None:
        self.wants_memory = wants_memory
        self._folder = root / folder
        self._limit = limit
        self._known: list[dict[str, Any]] = []
        self._last: dict[str, Any] | None = None  # of the test that has just run
        self._reason = ""  # why that one was not measured

    def see(self, name: str, taken: Taken) -> None:
        """A test has run. What is not among the slowest is forgotten at once."""
        self._last = None
        if taken.profile is None or not self._is_slow(taken.seconds):
            return
        path = self._folder / file_name(name)
        self._last = {
            "test": name,
            "seconds": taken.seconds,
            "lines": budget.time_lines(taken),
            "file": str(path),
            "reason": self._save(taken, path),
        }
        self._known = _prune([*self._known, self._last], self._limit)

    def miss(self, reason: str) -> None:
        """A test has run, and could not be measured."""
        self._reason = reason

    def take(self, name: str) -> dict[str, Any] | None:
        """What its report is to carry, in plain types."""
        last, reason = self._last, self._reason
        self._last, self._reason = None, ""
        if reason:
            return {"test": name, "seconds": None, "reason": reason}
        return last if last is not None and last["test"] == name else None

    def summary(self, seen: list[dict[str, Any]]) -> list[str]:
        """Lines about the slowest of all processes. Recordings of others are removed."""
        missed = [one for one in seen if one["seconds"] is None]
        slowest = _prune([one for one in seen if one["seconds"] is not None], self._limit)
        lines = []
        for one in slowest:
            lines.append(f"{budget.seconds_text(one['seconds']):>9}  {one['test']}")
            lines += [f"{'':11}{line}" for line in one["lines"]]
        lines += [f"not kept: {one['file']}: {one['reason']}" for one in slowest if one["reason"]]
        if missed:
            lines.append(f"{len(missed)} test{'s' * (len(missed) != 1)} not measured: {missed[0]['reason']}")
        kept = [one["file"] for one in slowest if not one["reason"]]
        if kept:
            lines.append(f"recordings in {_shown(self._folder)}: sonde report --open {_shown(kept[0])}")
        return lines or ["no test was measured"]

    def _is_slow(self, seconds: float) -> bool:
        return len(self._known) < self._limit or seconds > self._known[-1]["seconds"]

    def _save(self, taken: Taken, path: Path) -> str:
        """Write the recording; why not, where it cannot be."""
        assert taken.profile is not None
        try:
            if not self._folder.is_dir():
                self._folder.mkdir(parents=True, exist_ok=True)
                (self._folder / ".gitignore").write_text("*\n")
            path.unlink(missing_ok=True)
            taken.profile.save(str(path))
        except OSError as error:
            return str(error)
        return ""


def _prune(tests: list[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """The slowest first; the recordings of the rest are removed."""
    tests = sorted(tests, key=lambda one: -float(one["seconds"]))
    kept = {one["file"] for one in tests[:limit]}
    for one in tests[limit:]:
        if one["file"] not in kept and os.path.exists(one["file"]):  # noqa: PTH110
            os.unlink(one["file"])  # noqa: PTH108
    return tests[:limit]


def file_name(test: str) -> str:
    """A name for its recording that is a file name everywhere, and no other test's.

    >>> file_name("tests/test_a.py::test_b[1/2]")
    'tests-test_a.py--test_b-1-2--7ea0…'
    """
    name = re.sub(r"[^\w.]", "-", test, flags=re.ASCII)
    if not re.fullmatch(r"[\w./:]+", test, flags=re.ASCII) or len(name) > _NAME_LIMIT or name.startswith("."):
        name = f"{name[:_NAME_LIMIT].strip('-.')}-{zlib.crc32(test.encode()):08x}"
    return f"{name}.sonde"


def _shown(path: object) -> str:
    return str(path).removeprefix(os.getcwd() + "/")  # noqa: PTH109
