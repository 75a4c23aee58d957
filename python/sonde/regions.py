"""Marked regions of a program, and how long they take.

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
import sys

from sonde import _core
from sonde._core import iter_proxy, pop, push, region
from sonde.reporters import ConsoleReporter, CsvReporter, Profiler, SilentReporter

TYPE_CHECKING = False  # as typing has it; importing that would double the time of `import sonde`
if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator
    from typing import Any, TypeVar, overload

    from sonde.reporters import Reporter

    _F = TypeVar("_F", bound=Callable[..., Any])

__all__ = [
    "ConsoleReporter",
    "CsvReporter",
    "Profiler",
    "SilentReporter",
    "func",
    "install",
    "iter_proxy",
    "pop",
    "push",
    "region",
    "report",
    "reset",
    "uninstall",
]

_reporter: Reporter | None = None
_timer_cls: Callable[[], Any] | None = None
_has_hooks = False
_outer: dict[str, Any] = {}  # what the program is run under: its own install() does not end that


def install(
    reporter: Reporter | None = None,
    chrome_trace_file: str | os.PathLike[str] | None = None,
    debug_mode: bool = False,
    timer_cls: Callable[[], Any] | None = None,
    *,
    recording: str | os.PathLike[str] | bool | None = None,
    timeline: bool = False,
    cpu: bool = False,
) -> None:
    """From now on regions count, and the report comes at exit. A second call reconfigures and keeps what was counted.

    ``reporter`` prints the report (default: a table on standard error). ``chrome_trace_file`` is a trace for Chrome
    and Perfetto, written while the program runs. ``recording`` is a file for ``sonde view``; ``True`` names it after
    the program and its process. In both paths %p is the process id, %h the host and %r the rank. ``timeline`` keeps
    every entry in the recording, not only sums; ``cpu`` measures CPU time too, at some 1.3 us an entry.
    ``debug_mode`` prints every enter and leave. ``timer_cls`` makes the clock: an object with ``clock()`` in seconds.

    >>> install(chrome_trace_file="trace-%p.json", recording=True)
    """
    global _reporter, _timer_cls
    if timer_cls is not _timer_cls and _core.is_running() and not _outer:
        _core.stop()  # times of two clocks cannot stand in one table
    chosen = ConsoleReporter() if reporter is None else reporter
    if not callable(getattr(chosen, "dump_profiler", None)):
        raise TypeError(f"a reporter needs a method dump_profiler(profiler); {type(chosen).__name__} has none")
    _core.start(
        recording=_recording_path(recording) or _outer.get("recording"),
        chrome_trace=None if chrome_trace_file is None else os.fsdecode(chrome_trace_file),
        timeline=timeline or bool(_outer.get("timeline")),
        cpu=cpu or bool(getattr(chosen, "wants_cpu", False)),
        debug=debug_mode,
        clock=None if timer_cls is None else _clock_of(timer_cls()),
        program=_program(),
        arguments=[str(word) for word in sys.argv],
        calls=bool(_outer.get("calls")),
        call_cost_ns=_outer.get("call_cost_ns", 0),
    )
    _reporter = chosen
    _timer_cls = timer_cls
    _install_hooks()


def uninstall() -> None:
    """Regions cost next to nothing again; files are completed, nothing is reported.

    >>> uninstall()
    """
    global _reporter, _timer_cls
    _reporter = SilentReporter() if _outer else None
    _timer_cls = None
    if not _outer:
        _say(_core.stop())


def report() -> None:
    """Report now what was counted so far; counting goes on.

    >>> report()
    """
    if _reporter is None:
        raise RuntimeError("regions are not installed; call install() first")
    _reporter.dump_profiler(Profiler(_core.profile()))


def reset() -> None:
    """Forget what was counted so far; open regions count from now.

    >>> reset()
    """
    _core.reset()


if TYPE_CHECKING:

    @overload
    def func(name: _F, /) -> _F: ...
    @overload
    def func(name: str | None = None, asglobal: bool = False, *, as_global: bool = False) -> Callable[[_F], _F]: ...


def func(name: Any = None, asglobal: bool = False, *, as_global: bool = False) -> Any:
    """A decorator: every call of the function is a region, named after the function, ``f()``.

    Works on functions, methods, class and static methods, coroutines and generators, whose region lasts until they
    are done.

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


# Bits of a code object's co_flags: inspect has them too, but takes long to import.
_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200


def _code_of(function: Any) -> Any:
    """The code object that a call runs, also inside functools.partial or a method; None for other callables."""
    while True:
        inner = getattr(function, "__func__", None)
        if inner is None and type(function).__name__ == "partial":
            inner = function.func
        if inner is None:
            return getattr(function, "__code__", None)
        function = inner


def _wrap(function: Any, name: str, asglobal: bool) -> Any:
    """The function with a region around each call."""
    from functools import update_wrapper

    if isinstance(function, (classmethod, staticmethod)):
        return type(function)(_wrap(function.__func__, name, asglobal))
    if not callable(function):
        raise TypeError(f"only a function can be a region, not {type(function).__name__}")
    flags = getattr(_code_of(function), "co_flags", 0)
    code = _code_of(getattr(function, "__wrapped__", function))  # its place is where somebody wrote it
    if code is not None:
        _core.place(name, code.co_filename, code.co_firstlineno)
    if flags & _COROUTINE:
        wrapper = _wrap_coroutine(function, name, asglobal)
    elif flags & _ASYNC_GENERATOR:
        wrapper = _wrap_async_generator(function, name, asglobal)
    elif flags & _GENERATOR:
        wrapper = _wrap_generator(function, name, asglobal)
    else:
        wrapper = _core.func(function, name, asglobal)
    return update_wrapper(wrapper, function)


def _wrap_coroutine(function: Any, name: str, asglobal: bool) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        with region(name, asglobal):
            return await function(*args, **kwargs)

    return wrapper


def _wrap_generator(function: Any, name: str, asglobal: bool) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        with region(name, asglobal):
            return (yield from function(*args, **kwargs))

    return wrapper


def _wrap_async_generator(function: Any, name: str, asglobal: bool) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        with region(name, asglobal):
            inner = function(*args, **kwargs)
            try:
                item = await inner.__anext__()
                while True:
                    try:
                        sent = yield item
                    except GeneratorExit:
                        await inner.aclose()
                        raise
                    except BaseException as error:
                        item = await inner.athrow(error)
                    else:
                        item = await inner.asend(sent)
            except StopAsyncIteration:
                return

    return wrapper


def _clock_of(timer: Any) -> Callable[[], float]:
    """The clock inside a timer object; one without a clock is started, and asked when that was."""
    if callable(getattr(timer, "clock", None)):
        found: Callable[[], float] = timer.clock
        return found

    def clock() -> float:
        timer.start()
        return float(timer.begin_ts())

    return clock


def _program() -> str:
    name = os.path.basename(sys.argv[0]) if sys.argv else ""  # noqa: PTH119
    return "python" if name in ("", "-c", "-m") else name


def _recording_path(recording: str | os.PathLike[str] | bool | None) -> str | None:
    if recording is None or recording is False:
        return None
    if recording is True:
        stem = os.path.splitext(_program())[0]  # noqa: PTH122
        return f"{stem.replace('%', '%%')}-%p.sonde"
    return os.fsdecode(recording)


def _install_hooks() -> None:
    global _has_hooks
    if _has_hooks:
        return
    _has_hooks = True
    atexit.register(_at_exit)
    os.register_at_fork(before=_core.before_fork, after_in_parent=_core.after_fork)


def _say(line: str | None) -> None:
    if line:
        print(f"sonde: {line}", file=sys.stderr)


def _at_exit() -> None:
    """Complete the files, then report; in this order, so that a failing reporter costs no data."""
    global _reporter
    if _reporter is None or not _core.is_running():
        return
    reporter, profile = _reporter, _core.profile()
    recording, trace = _core.outputs()
    _reporter = None
    failure = _core.stop()
    try:
        reporter.dump_profiler(Profiler(profile))
    finally:
        _say(failure)
        if failure is None:
            _say(recording and f"recording saved in {recording}")
            _say(trace and f"trace saved in {trace}")
