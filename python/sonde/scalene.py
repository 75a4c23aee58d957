"""Scalene's programming interface, for programs that use it::

import sonde.scalene as scalene_profiler
"""

from __future__ import annotations

from sonde import sampling as _sampling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["enable_profiling", "start", "stop"]


def start() -> None:
    """Start sampling; under ``sonde run``, resume it after ``stop`` or ``--off``.

    >>> scalene_profiler.start()
    """
    _sampling.start()


def stop() -> None:
    """Stop sampling; under ``sonde run``, pause it.

    >>> scalene_profiler.stop()
    """
    _sampling.stop()


class enable_profiling:  # noqa: N801 # as Scalene calls it
    """Sample a block only.

    >>> with scalene_profiler.enable_profiling():
    ...     work()
    """

    def __enter__(self) -> None:
        start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        stop()
