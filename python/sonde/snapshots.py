"""Live memory at one moment, by line, file or stack, and its growth between two moments, as in tracemalloc.

>>> with sonde.memory():
...     before = sonde.snapshot()
...     work()
...     for growth in sonde.compare(before, sonde.snapshot())[:3]:
...         print(growth)
"""

from __future__ import annotations

import sys

from sonde import _core
from sonde._runtime import session as _session

TYPE_CHECKING = False  # as typing has it; importing that would double the time of `import sonde`
if TYPE_CHECKING:
    from tracemalloc import Statistic, StatisticDiff

__all__ = ["Snapshot", "compare", "snapshot"]


class Snapshot:
    """The memory that was live at one moment, of all that was allocated since the measurement began.

    Its results are tracemalloc's ``Statistic`` and ``StatisticDiff`` objects, so they print and compare the same way.
    Sizes and counts are estimates, unless you use ``exact``.
    """

    def __init__(self, profile: _core.Profile) -> None:
        if profile.info("memory_interval_bytes") is None:
            raise RuntimeError(_NOT_MEASURED)
        self.profile = profile

    def statistics(self, key_type: str = "lineno") -> list[Statistic]:
        """By ``"lineno"``, ``"filename"`` or ``"traceback"``, the largest first: ``size``, ``count``, ``traceback``.

        >>> sonde.snapshot().statistics("filename")[0].size
        """
        _import_quietly()
        from tracemalloc import Statistic, Traceback

        return [Statistic(Traceback(frames), size, count) for size, count, frames in self.profile.live(key_type)]

    def compare_to(self, old_snapshot: Snapshot, key_type: str = "lineno") -> list[StatisticDiff]:
        """``compare(old_snapshot, self, key_type)``, under tracemalloc's name.

        >>> after.compare_to(before, "lineno")
        """
        return compare(old_snapshot, self, key_type)


_NOT_MEASURED = (
    "memory is not being measured; take snapshots inside `with sonde.memory():` or under `sonde run --memory`"
)


def snapshot() -> Snapshot:
    """Live memory now; ``RuntimeError`` if memory is not being measured.

    >>> before = sonde.snapshot()
    """
    if not _core.is_running() or not _session.wish("memory"):
        raise RuntimeError(_NOT_MEASURED)
    return Snapshot(_core.profile())


def compare(before: Snapshot, after: Snapshot, key_type: str = "lineno") -> list[StatisticDiff]:
    """The changes between two snapshots, the largest first: ``size_diff``, ``count_diff`` and the rest.

    >>> sonde.compare(before, after)[0].traceback[0].lineno
    """
    _import_quietly()
    from tracemalloc import StatisticDiff, Traceback

    old = {frames: (size, count) for size, count, frames in before.profile.live(key_type)}
    new = {frames: (size, count) for size, count, frames in after.profile.live(key_type)}
    changes = []
    for frames in old | new:
        size, count = new.get(frames, (0, 0))
        old_size, old_count = old.get(frames, (0, 0))
        changes.append(StatisticDiff(Traceback(frames), size, size - old_size, count, count - old_count))
    return sorted(changes, key=lambda change: (-abs(change.size_diff), -change.size, change.traceback))


def _import_quietly() -> None:
    """What tracemalloc imports is a megabyte: not the program's, which may be measured."""
    if "tracemalloc" in sys.modules or not _core.is_running():
        return
    before = _session.pause(True)
    try:
        import tracemalloc  # noqa: F401
    finally:
        _session.pause(before)
