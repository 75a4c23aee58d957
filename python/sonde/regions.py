"""Mark regions of your program, and measure how long they take.

>>> import sonde.regions as rp
>>> rp.install()
>>> @rp.func()
... def work():
...     with rp.region("load"):
...         ...
"""

from __future__ import annotations

import atexit
import os

from sonde import _core
from sonde._core import counter, iter_proxy, mark, pop, push, region
from sonde._runtime import resumed as _resumed
from sonde._runtime import session as _session
from sonde.reporters import ConsoleReporter, CsvReporter, Profiler, SilentReporter

TYPE_CHECKING = False  # as typing has it; importing that would double the time of `import sonde`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar, overload

    from sonde.reporters import Reporter

    _F = TypeVar("_F", bound=Callable[..., Any])

__all__ = [
    "ConsoleReporter",
    "CsvReporter",
    "Profiler",
    "SilentReporter",
    "counter",
    "func",
    "install",
    "iter_proxy",
    "mark",
    "pop",
    "push",
    "region",
    "report",
    "reset",
    "uninstall",
]

_HOLDER = "regions"
_reporter: Reporter | None = None
_timer_cls: Callable[[], Any] | None = None
_has_hook = False


def install(
    reporter: Reporter | None = None,
    chrome_trace_file: str | os.PathLike[str] | None = None,
    debug_mode: bool = False,
    timer_cls: Callable[[], Any] | None = None,
    *,
    recording: str | os.PathLike[str] | bool | None = None,
    timeline: bool = False,
    cpu: bool = False,
    counters: Iterable[str] = (),
) -> None:
    """Start measuring regions, and report at exit. A second call changes the settings and keeps the results so far.

    ``reporter`` prints the report (default: a table on standard error). ``chrome_trace_file`` is a trace for Chrome
    and Perfetto, written while the program runs. ``recording`` is a file for ``sonde view``; ``True`` names it after
    the program and its process. In both paths %p is the process id, %h the host and %r the rank. ``timeline`` keeps
    every entry in the recording, not only totals; ``cpu`` also measures CPU time, at about 1.3 µs per entry.
    ``counters`` counts page faults and more of each region: any of page-faults, context-switches, migrations, cycles,
    instructions, branches, branch-misses, cache-references and cache-misses. Counters that this machine lacks have no
    column, and the report says why. ``debug_mode`` prints every entry and exit. ``timer_cls`` creates the clock: an
    object with ``clock()`` in seconds.

    >>> install(chrome_trace_file="trace-%p.json", recording=True)
    """
    global _reporter, _timer_cls
    if timer_cls is not _timer_cls:
        _session.release(_HOLDER)  # times of two clocks cannot stand in one table
    chosen = ConsoleReporter() if reporter is None else reporter
    if not callable(getattr(chosen, "dump_profiler", None)):
        raise TypeError(f"a reporter needs a method dump_profiler(profiler); {type(chosen).__name__} has none")
    _session.hold(
        _HOLDER,
        recording=_session.path_of(recording),
        chrome_trace=None if chrome_trace_file is None else os.fsdecode(chrome_trace_file),
        entries=timeline,
        cpu=cpu or bool(getattr(chosen, "wants_cpu", False)),
        counters=_names(counters),
        debug=debug_mode,
        clock=None if timer_cls is None else _clock_of(timer_cls()),
    )
    _reporter = chosen
    _timer_cls = timer_cls
    _install_hook()


def _names(counters: Iterable[str]) -> list[str]:
    names = [counters] if isinstance(counters, str) else list(counters)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a counter must be a name, not {type(name).__name__}")
        if "," in name or not name:
            raise ValueError(f"unknown counter {name!r}; pass a list of names, as in counters=['page-faults']")
    return names


def uninstall() -> None:
    """Stop measuring regions and complete the files, without a report.

    >>> uninstall()
    """
    global _reporter, _timer_cls
    _reporter = _timer_cls = None
    _session.say(_session.release(_HOLDER).failure)


def report() -> None:
    """Report the results so far, and keep measuring.

    >>> report()
    """
    if _reporter is None:
        raise RuntimeError("regions are not installed; call install() first")
    _reporter.dump_profiler(Profiler(_core.profile()))


def reset() -> None:
    """Discard the results so far; open regions count from now.

    >>> reset()
    """
    _core.reset()


if TYPE_CHECKING:

    @overload
    def func(name: _F, /) -> _F: ...
    @overload
    def func(name: str | None = None, asglobal: bool = False, *, as_global: bool = False) -> Callable[[_F], _F]: ...


def func(name: Any = None, asglobal: bool = False, *, as_global: bool = False) -> Any:
    """A decorator that measures every call as a region, named after the function: ``f()``.

    Works on functions, methods, class and static methods, coroutines and generators. The region of a coroutine or a
    generator lasts until it is done.

    >>> @func()
    ... def train():
    ...     ...
    """
    if callable(name) or isinstance(name, (classmethod, staticmethod)):
        return func()(name)
    if name is not None and not isinstance(name, str):
        raise TypeError(f"a region's name must be a string, not {type(name).__name__}")

    def decorate(function: _F) -> _F:
        own = _function_name(function) if name is None else name
        wrapped: _F = _wrap(function, f"{own}()", asglobal or as_global)
        return wrapped

    return decorate


def _function_name(function: Any) -> str:
    inner = getattr(function, "__func__", function)
    return str(getattr(inner, "__name__", type(inner).__name__))


def _wrap(function: Any, name: str, asglobal: bool) -> Any:
    """The function with a region around each call."""
    from functools import partial, update_wrapper

    if isinstance(function, (classmethod, staticmethod)):
        return type(function)(_wrap(function.__func__, name, asglobal))
    if not callable(function):
        raise TypeError(f"only a function can be a region, not {type(function).__name__}")
    code = _resumed.code_of(getattr(function, "__wrapped__", function))  # its place is where somebody wrote it
    if code is not None:
        _core.place(name, code.co_filename, code.co_firstlineno)
    wrapper = _resumed.wrap_resumable(function, partial(region, name, asglobal))
    return update_wrapper(wrapper or _core.func(function, name, asglobal), function)


def _clock_of(timer: Any) -> Callable[[], float]:
    """The clock inside a timer object; one without a clock is started, and asked when that was."""
    if callable(getattr(timer, "clock", None)):
        found: Callable[[], float] = timer.clock
        return found

    def clock() -> float:
        timer.start()
        return float(timer.begin_ts())

    return clock


def _install_hook() -> None:
    global _has_hook
    if not _has_hook:
        _has_hook = True
        atexit.register(_at_exit)


def _at_exit() -> None:
    """Complete the files, then report; in this order, so that a failing reporter costs no data."""
    global _reporter
    if _reporter is None or not _core.is_running():
        return
    reporter, _reporter = _reporter, None
    ended = _session.release(_HOLDER)
    try:
        if ended.profile is not None:
            reporter.dump_profiler(Profiler(ended.profile))
    finally:
        ended.say()
