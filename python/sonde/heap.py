"""Profile the memory of a part of your program: its peak, and the lines that allocate, keep and copy memory.

>>> import sonde
>>> with sonde.memory() as m:
...     work()
>>> m.peak_bytes
>>> m.print("memory")

It shares the process's profiling session, as ``sonde.sample`` does. It does not see memory that was allocated before
it started.
"""

from __future__ import annotations

from sonde import _core
from sonde._runtime import places as _places
from sonde._runtime import settings as _settings
from sonde.sampling import Measurement, _lock

TYPE_CHECKING = False  # as typing has it; importing that would double the time of `import sonde`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar, overload

    from sonde.snapshots import Snapshot

    _F = TypeVar("_F", bound=Callable[..., Any])

__all__ = ["Memory", "memory"]

_open: list[Memory] = []  # blocks that run; there is one peak to read, and each has its own


class Memory(Measurement):
    """What ``memory`` returns: a context manager with numbers in bytes, valid while it runs and afterwards.

    All are estimates with a standard error, unless you use ``exact``. The views are those of ``Measurement``.

    >>> m = sonde.memory(exact=True)
    >>> with m:
    ...     work()
    >>> m.peak_bytes, m.live_bytes
    """

    def __init__(
        self, wishes: dict[str, Any], calls: dict[str, Any] | None, places: dict[str, Any], report: bool | None
    ):
        super().__init__(wishes, calls, places, report)
        self._before: dict[str, Any] = {}
        self._last: dict[str, Any] | None = None
        self._peak: tuple[int, float] = (0, 0.0)  # up to where another block began, with its error

    @property
    def peak_bytes(self) -> int:
        """The most memory in use at one time since the block began."""
        return int(self._numbers()["peak_bytes"])

    @property
    def peak_error_bytes(self) -> float:
        """The standard error of ``peak_bytes``; 0 when exact."""
        return float(self._numbers()["peak_error_bytes"])

    @property
    def live_bytes(self) -> int:
        """Memory allocated since the measurement began and not yet freed."""
        return int(self._numbers()["live_bytes"])

    @property
    def live_error_bytes(self) -> float:
        """The standard error of ``live_bytes``; 0 when exact."""
        return float(self._numbers()["live_error_bytes"])

    @property
    def allocated_bytes(self) -> int:
        """All memory allocated in the block, freed or not."""
        return int(self._numbers()["alloc_bytes"])

    @property
    def copied_bytes(self) -> int:
        """Bytes copied from one place in memory to another in the block."""
        return int(self._numbers()["copied_bytes"])

    def snapshot(self) -> Snapshot:
        """Live memory by line, now or at the end: see ``snapshot`` and ``compare``.

        >>> m.snapshot().statistics("lineno")[:3]
        """
        from sonde.snapshots import Snapshot

        return Snapshot(self.profile)

    def _main_view(self) -> str:
        return "summary" if "sample" in (self.profile.info("probes") or "") else "memory"

    def _begin(self) -> None:
        super()._begin()
        for block in _open:
            block._peak = block._highest(_core.memory_now())
        _open.append(self)
        self._peak = (0, 0.0)
        _core.reset_peak()
        self._before = _core.memory_now()

    def _end(self) -> None:
        self._last = self._now()
        _open.remove(self)
        super()._end()

    def _numbers(self) -> dict[str, Any]:
        with _lock:
            if self._depth > 0:
                return self._now()
            if self._last is None:
                raise RuntimeError("nothing was measured yet")
            return self._last

    def _now(self) -> dict[str, Any]:
        """All the arithmetic there is: sums count from the block's beginning, and other blocks have moved the peak."""
        now = _core.memory_now()
        peak, error = self._highest(now)
        sums = {name: _since(now[name], self._before[name]) for name in ("alloc_bytes", "copied_bytes")}
        return {**now, **sums, "peak_bytes": peak, "peak_error_bytes": error}

    def _highest(self, now: dict[str, Any]) -> tuple[int, float]:
        return max(self._peak, (now["peak_bytes"], now["peak_error_bytes"]))


def _since(now: int, before: int) -> int:
    """In a forked child a sum begins anew."""
    return now - before if now >= before else now


if TYPE_CHECKING:

    @overload
    def memory(function: _F, /) -> _F: ...
    @overload
    def memory(
        *,
        exact: bool = False,
        interval: int = 131072,
        include: Iterable[str] | str = (),
        exclude: Iterable[str] | str = (),
        all_code: bool = False,
        report: bool | None = None,
    ) -> Memory: ...


def memory(
    function: Any = None,
    /,
    *,
    exact: bool = False,
    interval: int = 131072,
    include: Iterable[str] | str = (),
    exclude: Iterable[str] | str = (),
    all_code: bool = False,
    report: bool | None = None,
) -> Any:
    """Measure memory, in a ``with`` block or as a decorator.

    On average, one block per ``interval`` bytes is sampled, and represents what was allocated in between; ``exact``
    records every block. ``include``, ``exclude``, ``all_code`` and ``report`` are as in ``sample``.

    >>> with sonde.memory() as m:
    ...     work()
    >>> m.peak_bytes, m.live_bytes
    >>> @sonde.memory
    ... def main():
    ...     work()
    """
    wishes = _settings.memory_wishes(exact, interval)
    made = Memory(wishes, None, _places.choice(include, exclude, all_code), report)
    return made if function is None else made(function)
