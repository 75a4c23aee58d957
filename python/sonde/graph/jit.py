"""The time that numba spends compiling: it does so while a function is called."""

from __future__ import annotations

import sys
from _thread import _local
from time import perf_counter_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_EVENT = "numba:compiler_lock"  # from the question whether code exists until it is there, the cache on disk included


class Numba:
    """Counts, between ``install`` and ``remove``, the time of each thread in numba's compiler."""

    def __init__(self) -> None:
        self.is_on = False
        self._thread = _local()
        self._listener: Any = None

    def install(self) -> None:
        """Begin, if numba was imported."""
        events = sys.modules.get("numba.core.event")
        if self.is_on or events is None:
            return
        thread = self._thread

        class Listener(events.Listener):  # type: ignore[name-defined, misc]
            def on_start(self, _event: Any) -> None:
                thread.depth = getattr(thread, "depth", 0) + 1
                if thread.depth == 1:
                    thread.begin = perf_counter_ns()

            def on_end(self, _event: Any) -> None:
                thread.depth = getattr(thread, "depth", 0) - 1
                if thread.depth == 0:
                    thread.ns = getattr(thread, "ns", 0) + perf_counter_ns() - thread.begin
                elif thread.depth < 0:  # it began before us
                    thread.depth = 0

        self._listener = Listener()
        events.register(_EVENT, self._listener)
        self.is_on = True

    def remove(self) -> None:
        """Stop listening."""
        if self.is_on:
            sys.modules["numba.core.event"].unregister(_EVENT, self._listener)
            self.is_on = False

    def ns(self) -> int:
        """So far, in this thread."""
        return getattr(self._thread, "ns", 0)
