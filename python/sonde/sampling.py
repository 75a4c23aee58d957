"""Sample a part of your program: where its time goes, line by line, on all threads.

>>> import sonde
>>> with sonde.sample() as s:
...     work()
>>> s.print()

Each process has one profiling session, shared by all callers: nested blocks, installed regions, ``sonde run``. It
lasts until the last of them ends, and its profile covers all of them. The first caller chooses the rate and the
recording.
"""

from __future__ import annotations

import sys
from _thread import RLock

from sonde import _core, _torch_ops
from sonde._runtime import places as _places
from sonde._runtime import session as _session
from sonde._runtime import settings as _settings

TYPE_CHECKING = False  # as typing has it; importing that would double the time of `import sonde`
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from typing import Any, Self, TextIO, TypeVar, overload

    _F = TypeVar("_F", bound=Callable[..., Any])

__all__ = ["Measurement", "record", "sample", "start", "stop"]

PROBES = ("region", "sample", "call", "memory", "op", "graph")

_lock = RLock()
_started: Measurement | None = None  # by start()


class Measurement:
    """What ``sample``, ``record`` and ``start`` return: a context manager that keeps its results.

    You can use it again; it then has the results of the last time. Where a block does not fit, as from one notebook
    cell to another, use ``start()`` and ``stop()``.

    >>> m = sonde.sample(rate=200)
    >>> with m:
    ...     work()
    >>> print(m.output("lines"))
    """

    def __init__(
        self, wishes: dict[str, Any], calls: dict[str, Any] | None, places: dict[str, Any], report: bool | None
    ):
        self._wishes = wishes
        self._call_options = calls
        self._places = places
        self._report = report
        self._calls: _core.Calls | None = None
        self._torch: _torch_ops.Collector | None = None  # PyTorch's own profile of the same block
        self._profile: _core.Profile | None = None
        self.recording: str | None = None  # its path, once it has begun
        self._recorded: str | None = None  # the same, once it is complete
        self._depth = 0  # how often it was entered, on any thread
        self._was_paused = False

    def __enter__(self) -> Self:
        with _lock:
            if self._depth == 0:
                self._begin()
            self._depth += 1
        return self

    def __exit__(self, *exc_info: object) -> None:
        with _lock:
            self._depth -= 1
            if self._depth > 0:
                return
            self._end()
        if self._report and not _session.is_outer():
            self._print_report()

    def _print_report(self) -> None:
        """A program without a stream has a standard error all the same."""
        stream = getattr(sys, "stderr", None)
        if stream is None or stream.closed:
            _session.write(self.output(**_core.look()))
        else:
            self.print(file=stream)

    def start(self) -> Self:
        """Start without a block, until ``stop``.

        >>> m = sonde.sample().start()
        """
        return self.__enter__()

    def stop(self) -> Self:
        """Stop what ``start`` started, and keep the results.

        >>> m.stop().print()
        """
        with _lock:
            if self._depth == 0:
                raise RuntimeError("not started")
            self.__exit__()
        return self

    def __call__(self, function: _F) -> _F:
        """The function, measured at every call; its attribute ``measurement`` has the results of the last one."""
        from functools import update_wrapper

        from sonde._runtime import resumed as _resumed

        if isinstance(function, (classmethod, staticmethod)):
            return type(function)(self(function.__func__))
        if not callable(function):
            kind = type(function).__name__
            raise TypeError(f"only a function can be measured, not {kind}; pass options as keywords")
        made = type(self)(self._wishes, self._call_options, self._places, self._report is not False)
        wrapper: Any = _resumed.wrap_resumable(function, lambda: made)
        if wrapper is None:

            def wrapper(*args: Any, **kwargs: Any) -> Any:
                with made:
                    return function(*args, **kwargs)

        measured: Any = update_wrapper(wrapper, function)
        measured.measurement = made
        return measured  # type: ignore[no-any-return]

    @property
    def profile(self) -> _core.Profile:
        """What was measured so far, or up to the end."""
        if self._depth > 0:
            return _core.profile()
        if self._profile is None:
            raise RuntimeError("nothing was measured yet")
        return self._profile

    def output(self, view: str | None = None, *, format: str = "table", width: int = 0, **options: Any) -> str:
        """A view as text: a table at most ``width`` wide (0: no limit), ``"csv"``, ``"json"`` or ``"html"``.

        Without a name, the summary; for memory alone, the memory view. Rows are ranked by CPU time, and percentages
        are of CPU time; with ``with_waiting=True``, of CPU plus waiting time.

        >>> s.output("lines")
        """
        return self.profile.format(format, view=view or self._main_view(), width=width, **options)

    def print(self, view: str | None = None, *, file: TextIO | None = None, **options: Any) -> None:
        """Print a view, by default to standard output. Takes the options of ``output``.

        >>> s.print("tree")
        """
        from sonde._runtime.terminal import look_of

        out = sys.stdout if file is None else file
        print(self.output(view, **look_of(out), **options), file=out, end="", flush=True)

    def rows(self, view: str = "lines", **options: Any) -> list[dict[str, Any]]:
        """A view as dictionaries with all its columns. Takes the options of ``output``.

        >>> max(s.rows(), key=lambda row: row["samples"])
        """
        return self.profile.rows(view, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the results as a recording, without a timeline.

        >>> s.save("block.sonde")
        """
        import os

        self.profile.save(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100

    def report(self, path: str | os.PathLike[str], *, source: bool = True) -> None:
        """Write an HTML page: all views of the results in one file.

        It includes the timeline if a recording was written and has ended. ``source=False`` leaves out source code.

        >>> s.report("page.html")
        """
        import os

        _core.write_page(os.path.abspath(os.fsdecode(path)), self.page(source=source))  # noqa: PTH100

    def page(self, *, source: bool = True) -> str:
        """The page that ``report`` writes, as a string.

        >>> html = s.page()
        """
        import os

        if self._depth == 0 and self._recorded is not None and os.path.exists(self._recorded):  # noqa: PTH110
            return _core.page(self._recorded, source=source)
        return self.profile.page(source=source)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """What a notebook shows of it when it is the last thing in a cell: the page, and a view as text."""
        from sonde._notebook import display

        if self._profile is None and self._depth == 0:
            return {"text/plain": repr(self)}
        return display.bundle(self._text(), self._page())

    def _repr_html_(self) -> str | None:
        shown: str | None = self._repr_mimebundle_().get("text/html")
        return shown

    def _text(self, view: str | None = None, **options: Any) -> str:
        """A view as wide as notebooks have room for."""
        try:
            return self.output(view, width=110, unicode=True, **options)
        except OSError as error:  # there is nothing to show
            return f"{error}\n"

    def _page(self) -> str | None:
        """The page, or None where it was not built in or there is nothing to show."""
        try:
            return self.page()
        except OSError:
            return None

    def _main_view(self) -> str:
        return "summary"

    def _begin(self) -> None:
        recording = self._wishes.get("recording")
        taken = _session.wish("recording")
        if recording and taken and not _session.is_outer():
            raise RuntimeError(f"already writing a recording: {taken}")
        if self._call_options is not None:
            self._calls = _core.Calls(**self._call_options, shared=True)
        is_first = all(_session.wish(probe) is None for probe in ("rate", "memory", "ops", "graph"))
        if is_first:
            _session.pause(True)  # until all is set up
            if (notebook := _session.cells()) is not None:
                notebook.begin()
        _session.hold(self, **self._wishes)
        self._profile = self._recorded = None
        self.recording = _core.outputs()[0]
        if is_first:
            _places.describe(_places.main_file(), **self._places)
        self._was_paused = _session.pause(False) and not is_first
        self._torch = _torch_ops.begin(**self._wishes["ops"]) if "ops" in self._wishes else None
        if self._calls is not None:
            self._enable_calls(self._calls)

    def _enable_calls(self, calls: _core.Calls) -> None:
        """Where another profiler is in the way, nothing is held."""
        try:
            calls.enable()
        except BaseException:
            _session.release(self)
            raise

    def _end(self) -> None:
        if self._calls is not None:
            self._calls.disable()
            self._calls = None
        if self._torch is not None:
            self._torch.end()
        _places.keep_texts()
        if self._was_paused:
            _session.pause(True)
        ended = _session.release(self)
        self._profile = ended.profile  # None in a child that was forked meanwhile
        if not _core.is_running() and (notebook := _session.cells()) is not None:
            notebook.end()
        if ended.failure is not None:
            _session.say(ended.failure)
        else:
            self._recorded = ended.recording


if TYPE_CHECKING:

    @overload
    def sample(function: _F, /) -> _F: ...
    @overload
    def sample(
        *,
        rate: int = 1000,
        native: bool = False,
        cpu_only: bool = False,
        imports: bool = True,
        signals: bool = True,
        include: Iterable[str] | str = (),
        exclude: Iterable[str] | str = (),
        all_code: bool = False,
        report: bool | None = None,
    ) -> Measurement: ...


def sample(
    function: Any = None,
    /,
    *,
    rate: int = 1000,
    native: bool = False,
    cpu_only: bool = False,
    imports: bool = True,
    signals: bool = True,
    include: Iterable[str] | str = (),
    exclude: Iterable[str] | str = (),
    all_code: bool = False,
    report: bool | None = None,
) -> Any:
    """Sample all threads ``rate`` times per second, in a ``with`` block or as a decorator.

    ``native`` also shows native functions, ``cpu_only`` leaves out waiting threads, ``imports=False`` leaves out the
    time of importing modules, and ``signals=False`` is for programs that break when interrupted by signals.
    ``include``, ``exclude`` (patterns) and ``all_code`` choose which files are your own code. ``report`` prints a
    summary to standard error at the end; a decorator does so unless it is False.

    >>> with sonde.sample() as s:
    ...     work()
    >>> s.print()
    >>> @sonde.sample
    ... def main():
    ...     work()
    """
    wishes = _sampler(rate, native, cpu_only, imports, signals)
    made = Measurement(wishes, None, _places.choice(include, exclude, all_code), report)
    return made if function is None else made(function)


def record(
    path: str | os.PathLike[str] | bool = True,
    probes: Iterable[str] = ("region", "sample"),
    *,
    rate: int = 1000,
    native: bool = False,
    cpu_only: bool = False,
    imports: bool = True,
    signals: bool = True,
    timeline: bool = True,
    signatures: bool = False,
    builtins: bool = True,
    exact: bool = False,
    interval: int = 131072,
    shapes: bool = True,
    stacks: bool = True,
    ops_window: int = 0,
    include: Iterable[str] | str = (),
    exclude: Iterable[str] | str = (),
    all_code: bool = False,
    report: bool | None = None,
) -> Measurement:
    """Record several probes in one file: ``"region"``, ``"sample"``, ``"call"``, ``"memory"``, ``"op"``, ``"graph"``.

    Use it as a ``with`` block or a decorator.

    ``path`` may contain %p, %h and %r as in ``install``; True names it after the program. Regions are always recorded.
    ``signatures`` and ``builtins`` apply to calls, as in ``sonde.profiler``; ``exact`` and ``interval`` to memory,
    where the result is a ``Memory``; ``shapes`` and ``stacks`` to operators, as in ``ops``, and ``ops_window``
    is the number of optimizer steps for which PyTorch's are recorded (0: 2 seconds of CPU time). With ``"graph"``, and
    neither memory nor operators, the result is a ``sonde.graph.Graphs``. The rest is as in ``sample``. Under ``sonde
    run``, everything goes into its recording instead.

    >>> with sonde.record("run.sonde", probes=["region", "sample"]):
    ...     with sonde.region("load"):
    ...         load()
    """
    chosen = _checked_probes(probes)
    wishes: dict[str, Any] = {"recording": _session.path_of(path), "entries": timeline}
    calls: dict[str, Any] | None = None
    if "sample" in chosen:
        wishes.update(_sampler(rate, native, cpu_only, imports, signals), timeline=timeline)
    if "call" in chosen:
        calls = {"signatures": signatures, "builtins": builtins, "callables": builtins}
        wishes.update(calls=True, call_cost_ns=_core.Calls(**calls).own_cost())
    made = Measurement
    if "memory" in chosen:
        from sonde.heap import Memory

        made = Memory
        wishes.update(_settings.memory_wishes(exact, interval))
    if "op" in chosen:
        _settings.check(ops_window=ops_window)
        wishes.update(ops=_settings.ops_wish(shapes, stacks, ops_window))
        if made is Measurement:
            from sonde._ops import Ops

            made = Ops
    if "graph" in chosen:
        wishes.update(graph=_settings.graph_wish(False, False, None))
        if made is Measurement:
            from sonde.graph import Graphs

            made = Graphs
    return made(wishes, calls, _places.choice(include, exclude, all_code), report)


def start(
    *,
    rate: int = 1000,
    native: bool = False,
    cpu_only: bool = False,
    imports: bool = True,
    signals: bool = True,
    **places: Any,
) -> Measurement:
    """Start sampling, until ``stop``. Takes the options of ``sample``.

    A second call has no effect. Under ``sonde run``, it resumes the sampler after ``stop`` or ``--start-paused``.

    >>> sonde.start()
    >>> work()
    >>> sonde.stop().print()
    """
    global _started
    with _lock:
        if _started is None:
            _started = sample(
                rate=rate, native=native, cpu_only=cpu_only, imports=imports, signals=signals, **places
            ).__enter__()
        elif _session.is_outer():
            _session.pause(False)
        return _started


def stop() -> Measurement | None:
    """Stop what ``start`` started and return its results; None if nothing was started.

    Under ``sonde run``, it pauses the sampler.

    >>> sonde.stop().print("lines")
    """
    global _started
    with _lock:
        ended, _started = _started, None
        if ended is not None:
            ended.__exit__()
        if _session.is_outer():
            _session.pause(True)
        return ended


def _sampler(rate: int, native: bool, cpu_only: bool, imports: bool, signals: bool) -> dict[str, Any]:
    _settings.check(rate=rate)
    return {"rate": rate, "native": native, "cpu_only": cpu_only, "imports": imports, "signals": signals}


def _checked_probes(probes: Iterable[str]) -> list[str]:
    chosen = [probes] if isinstance(probes, str) else list(probes)
    unknown = [probe for probe in chosen if probe not in PROBES]
    if unknown:
        raise ValueError(f"unknown probe {unknown[0]!r}; choose from {', '.join(PROBES)}")
    return chosen
