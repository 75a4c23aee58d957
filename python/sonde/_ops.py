"""Profile operators: what NumPy's and PyTorch's functions cost, by name, by inputs and by line.

>>> import sonde
>>> with sonde.ops() as prof:
...     work()
>>> print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))

It shares the process's profiling session, as ``sonde.sample`` does. Regions appear in the same table.
"""

from __future__ import annotations

import sys

from sonde import _core, _torch_ops
from sonde._runtime import places as _places
from sonde._runtime import session as _session
from sonde._runtime import settings as _settings
from sonde._runtime.imports import Watch
from sonde.sampling import Measurement, _lock

TYPE_CHECKING = False  # as typing has it; importing that would double the time of `import sonde`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Self, TypeVar, overload

    from sonde._averages import Averages

    _F = TypeVar("_F", bound=Callable[..., Any])

__all__ = ["Ops", "ops"]

# What NumPy loads at once or when it is first asked for; each has functions to hook.
_MODULES = frozenset(("numpy", "numpy.linalg", "numpy.fft", "numpy.random"))
_wanted: dict[str, Any] | None = None  # what is told of operators now; None: nothing
_is_hooked = False


class Ops(Measurement):
    """What ``ops`` returns: a context manager with a table of operators. The views are those of ``Measurement``.

    >>> prof = sonde.ops().start()
    >>> work()
    >>> prof.stop().print("ops")
    """

    def __init__(
        self, wishes: dict[str, Any], calls: dict[str, Any] | None, places: dict[str, Any], report: bool | None
    ):
        super().__init__(wishes, calls, places, report)
        self._before: _core.Profile | None = None  # what others had measured when it began

    def start(self) -> Self:
        """Start without a block, until ``stop``.

        >>> prof = sonde.ops().start()
        """
        with _lock:
            if self._depth > 0:
                raise RuntimeError("already started")
            return self.__enter__()

    def key_averages(self, group_by_input_shape: bool = False, group_by_line: bool = False) -> Averages:
        """The operators and regions of the block, summed by name, and if you like by inputs or by calling line.

        >>> prof.key_averages(group_by_input_shape=True).table(row_limit=30)
        """
        from sonde._averages import Averages

        more = self._torch.more(group_by_input_shape) if self._torch is not None and self._depth == 0 else None
        lines = 1 if group_by_line else 0
        return Averages(
            self.profile.op_averages(self._before, more, group_by_input_shape, lines, False), with_flops=True
        )

    def _main_view(self) -> str:
        return "summary" if "sample" in (self.profile.info("probes") or "") else "ops"

    def _begin(self) -> None:
        self._before = _core.profile() if _core.is_running() else None
        super()._begin()


if TYPE_CHECKING:

    @overload
    def ops(function: _F, /) -> _F: ...
    @overload
    def ops(
        *,
        shapes: bool = True,
        stacks: bool = False,
        include: Iterable[str] | str = (),
        exclude: Iterable[str] | str = (),
        all_code: bool = False,
        report: bool | None = None,
    ) -> Ops: ...


def ops(
    function: Any = None,
    /,
    *,
    shapes: bool = True,
    stacks: bool = False,
    include: Iterable[str] | str = (),
    exclude: Iterable[str] | str = (),
    all_code: bool = False,
    report: bool | None = None,
) -> Any:
    """Measure operators, in a ``with`` block or as a decorator.

    ``shapes`` separates calls by the types and shapes of their inputs, ``stacks`` by the calling line. ``include``,
    ``exclude``, ``all_code`` and ``report`` are as in ``sample``.

    >>> with sonde.ops(stacks=True) as prof:
    ...     work()
    >>> print(prof.key_averages(group_by_input_shape=True).table(sort_by="self_cpu_time_total"))
    >>> @sonde.ops
    ... def main():
    ...     work()
    """
    made = Ops({"ops": _settings.ops_wish(shapes, stacks)}, None, _places.choice(include, exclude, all_code), report)
    return made if function is None else made(function)


def _switch(wanted: dict[str, Any] | None) -> None:
    """Hook NumPy's operators as wanted, or give them back; nothing happens where that is so already."""
    global _wanted, _is_hooked
    if wanted == _wanted:
        return
    if _is_hooked:
        _watch.leave()
        _core.ops_stop()
        _is_hooked = False
    _wanted = wanted
    if wanted is not None:
        _is_hooked = _careful(lambda: _core.ops_start(wanted["shapes"], wanted["stacks"]))
    if _is_hooked:
        _watch.enter()
    _torch_ops.follow(wanted if _session.wish("ops", _session.OUTER) else None)


def _careful(hook: Callable[[], object]) -> bool:
    """What cannot be measured is one line, and no more: the program goes on."""
    try:
        hook()
    except RuntimeError as error:
        _session.say(str(error))
        return False
    return True


def _hook_loaded(module: Any) -> None:
    """A part of NumPy that came later."""
    if _is_hooked and (module.__name__ == "numpy" or not _numpy_is_loading()):  # which comes here itself
        _careful(_core.ops_refresh)


def _numpy_is_loading() -> bool:
    spec = getattr(sys.modules.get("numpy"), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


_watch = Watch(_MODULES, _hook_loaded)
