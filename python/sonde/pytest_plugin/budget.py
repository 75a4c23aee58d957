"""What a test may cost: the mark ``sonde`` of pytest, read, and compared with what was measured."""

from __future__ import annotations

import math
import re

from sonde.pytest_plugin import callees
from sonde.pytest_plugin.measured import Taken, Unmeasured, Wants

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from sonde.pytest_plugin.measured import Stack
    from sonde.pytest_plugin.slowest import Slowest

_UNITS = {
    "b": 1,
    "kb": 1000,
    "mb": 1000**2,
    "gb": 1000**3,
    "tb": 1000**4,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
}
_SIZE = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*([kmgt]i?b|b|bytes?)", re.IGNORECASE)


class Mistake(ValueError):
    """What is wrong with a mark."""


class Exceeded(Exception):
    """What a test has cost, and where; or why that could not be measured."""


class Size:
    """A number of bytes, with the unit that its author thinks in."""

    def __init__(self, size: int, unit: str) -> None:
        self.size = size
        self.unit = unit

    def shown(self, size: int) -> str:
        """Another number of bytes in that unit."""
        number = size / _UNITS[self.unit.lower()]
        return f"{number:.4g} {self.unit}" if 0.01 <= number < 10000 else f"{size} B"

    def compare(self, what: str, size: int) -> str:
        """The two next to each other, in bytes where they would look the same."""
        measured, allowed = self.shown(size), self.shown(self.size)
        if measured == allowed:
            measured, allowed = f"{size} B", f"{self.size} B"
        return f"{what} {measured}, allowed {allowed}"


class Budget:
    """What the marks of a test say. None: no limit."""

    def __init__(self) -> None:
        self.max_seconds: float | None = None
        self.max_cpu_seconds: float | None = None
        self.max_peak: Size | None = None
        self.max_leak: Size | None = None
        self.max_calls: dict[str, int] | None = None
        self.warmups = 0

    def wants(self) -> Wants:
        """What has to be measured for it."""
        wants = Wants()
        wants.samples = self.max_seconds is not None or self.max_cpu_seconds is not None
        wants.leaks = self.max_leak is not None
        wants.memory = wants.exact = wants.leaks or self.max_peak is not None
        wants.calls = self.max_calls is not None
        wants.builtins = any(callees.is_builtin(name) for name in self.max_calls or ())
        return wants


def read(marks: Sequence[tuple[tuple[Any, ...], Mapping[str, Any]]]) -> Budget:
    """The budget of all marks of a test, the innermost last: its words count.

    >>> read([((), {"max_peak": "24 MB"})]).max_peak.size
    24000000
    """
    budget = Budget()
    for arguments, words in marks:
        if arguments:
            raise Mistake(f"the mark sonde takes its limits as keywords: max_seconds={arguments[0]!r}")
        for word, value in words.items():
            if word not in _READERS:
                raise Mistake(f"the mark sonde has no {word}; choose from {', '.join(_READERS)}")
            is_off = value is None and word != "warmups"
            setattr(budget, word, None if is_off else _READERS[word](word, value))
    return budget


def _seconds(word: str, value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 and math.isfinite(value):
        return float(value)
    raise Mistake(f"{word} must be a number of seconds above 0, not {value!r}")


def _size(word: str, value: Any) -> Size:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return Size(value, "MiB" if value >= 1 << 20 else "KiB" if value >= 1 << 10 else "B")
    found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise Mistake(f"{word} must be a size such as '24 MB', '512 KiB' or a number of bytes, not {value!r}")
    unit = "B" if found[2].lower().startswith("byte") else found[2]
    return Size(int(float(found[1]) * _UNITS[unit.lower()]), unit)


def _calls(word: str, value: Any) -> dict[str, int]:
    if not isinstance(value, dict) or not value:
        raise Mistake(f"{word} must be a dictionary such as {{'load': 1}}, not {value!r}")
    for name, count in value.items():
        if not isinstance(name, str) or not name.strip(":. "):
            raise Mistake(f"{word}: write a function as 'f', 'Class.f' or 'module:Class.f', not {name!r}")
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise Mistake(f"{word}: how often {name!r} may be called must be a whole number, not {count!r}")
    return dict(value)


def _warmups(word: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1000:
        return value
    raise Mistake(f"{word} must be a whole number from 0 to 1000, not {value!r}")


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "max_seconds": _seconds,
    "max_cpu_seconds": _seconds,
    "max_peak": _size,
    "max_leak": _size,
    "max_calls": _calls,
    "warmups": _warmups,
}


def run_within(name: str, function: Callable[[], object], budget: Budget | None, slowest: Slowest | None) -> None:
    """Call a test, measured; ``Exceeded`` where its budget does not hold."""
    wants = Wants() if budget is None else budget.wants()
    if slowest is not None:
        wants.samples = True
        wants.memory |= slowest.wants_memory
    for _ in range(0 if budget is None else budget.warmups):
        function()
    taken = Taken(name, wants)
    try:
        taken.run(function)
    except Unmeasured as reason:
        function()
        if slowest is not None:
            slowest.miss(str(reason))
        if budget is not None:
            raise Exceeded(f"sonde: cannot check the budget: {reason}") from None
        return
    finally:
        if slowest is not None:
            slowest.see(name, taken)
    if budget is not None:
        check(budget, taken)


def check(budget: Budget, taken: Taken) -> None:
    """Compare; ``Exceeded`` says by how much, and where."""
    wants = taken.wants
    if (wants.samples or wants.memory) and taken.profile is None:
        raise Exceeded("sonde: cannot check the budget: the test stopped all profiling")
    found = [*_times(budget, taken), *_memory(budget, taken), *callees.excesses(budget.max_calls or {}, taken.calls)]
    if not found:
        return
    lines = ["sonde: " + "; ".join(title for title, _ in found)]
    for title, rows in found:
        if len(found) > 1:
            lines += ["", title]
        lines += [f"  {row}" for row in rows]
    raise Exceeded("\n".join(lines))


if TYPE_CHECKING:
    Excess = tuple[str, list[str]]  # a title, and lines about it


def _times(budget: Budget, taken: Taken) -> list[Excess]:
    found = []
    for what, unit, measured, allowed in (
        ("took", "", taken.seconds, budget.max_seconds),
        ("used", " of CPU", taken.cpu_seconds, budget.max_cpu_seconds),
    ):
        if allowed is not None and measured > allowed:
            found.append((f"{what} {measured:.4g} s{unit}, allowed {allowed:g} s", _time_rows(taken)))
    return found


def _time_rows(taken: Taken) -> list[str]:
    rows = time_lines(taken)
    others = [name for name, is_on in (("memory", taken.wants.exact), ("calls", taken.wants.calls)) if is_on]
    if others:
        rows.append(f"({' and '.join(others)} were measured too, which takes time)")
    return rows


def time_lines(taken: Taken) -> list[str]:
    """The hottest lines: share of CPU time and CPU time, place, text; then those at which it waited."""
    lines = [_time_text(f"{row['share']:.1%}", row["cpu_ns"], row) for row in taken.hot_lines()]
    lines += [f"{_time_text('waited', row['wait_ns'], row)}  ({row['reason']})" for row in taken.waiting_lines()]
    elsewhere = taken.elsewhere()
    return lines if elsewhere is None else [*lines, f"{'':6}  {elsewhere}"]


def _time_text(what: str, ns: int, row: dict[str, Any]) -> str:
    return line_text(f"{what:>6}  {seconds_text(ns / 1e9):>9}", row)


def _memory(budget: Budget, taken: Taken) -> list[Excess]:
    found = []
    peak, leak = budget.max_peak, budget.max_leak
    if peak is not None and taken.peak_bytes > peak.size:
        rows = [line_text(f"{peak.shown(row['peak_bytes']):>10}", row) for row in taken.peak_lines()]
        found.append((peak.compare("peak", taken.peak_bytes), rows))
    if leak is None:
        return found
    kept = taken.kept()
    lost = sum(size for size, _ in kept)
    if lost > leak.size:
        found.append((leak.compare("kept", lost), _kept_rows(leak, kept, lost)))
    return found


def _kept_rows(leak: Size, kept: list[tuple[int, Stack]], lost: int) -> list[str]:
    """The lines that allocated most of it, each with those that led there."""
    by_stack: dict[Stack, int] = {}
    for size, frames in kept:
        stack = callees.own_frames(frames)[:3]
        by_stack[stack] = by_stack.get(stack, 0) + size
    rows = []
    for stack, size in sorted(by_stack.items(), key=lambda entry: -entry[1])[:3]:
        if size * 100 < lost:
            break
        (file, line), *callers = stack
        rows.append(line_text(f"{leak.shown(size):>10}", {"file": file, "line": line}))
        if callers:
            rows.append(f"{'':10}  from {', '.join(callees.place(*caller) for caller in callers)}")
    return rows


def seconds_text(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.4g} s"


def line_text(number: str, row: dict[str, Any]) -> str:
    """A number, the place and its text."""
    source = row.get("source") or callees.source_of(row["file"], row["line"])
    return f"{number}  {callees.place(row['file'], row['line'])}  {source.strip()}".rstrip()
