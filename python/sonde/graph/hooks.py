"""The hooks into a library that see functions: where one is made, where one is called, where C is compiled.

They are changed as long as somebody measures, and restored after that. An error that passes through here looks as it
would without us: our own frame is taken out of its traceback.
"""

from __future__ import annotations

import inspect
from time import perf_counter, perf_counter_ns

from sonde.graph import memory, records, rewriting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sonde.graph.library import Library
    from sonde.graph.tracking import Tracker

_OURS = __file__.rpartition("/")[0] + "/"


class Hooks:
    """All changes to one library.

    >>> hooks = Hooks(Library("aesara"), tracker)
    >>> hooks.install()
    """

    def __init__(self, library: Library, tracker: Tracker) -> None:
        self._library = library
        self._tracker = tracker
        self._undo: list[tuple[Any, str, Any, Any]] = []

    def install(self) -> None:
        """Begin to see what the library does."""
        maker, function, compiler = self._library.Maker, self._library.Function, self._library.Compiler
        self._replace(maker, "__init__", self._make(maker.__init__))
        self._replace(maker, "create", self._create(maker.create))
        self._replace(function, "__call__", self._call(function.__call__))
        self._replace(compiler, "compile_str", staticmethod(self._compile(compiler.compile_str)))

    def remove(self) -> None:
        """Give everything back, except where somebody else has put something on top of it: that passes through then."""
        for owner, name, before, ours in reversed(self._undo):
            if owner.__dict__.get(name) is ours:
                setattr(owner, name, before)
        self._undo.clear()

    def _replace(self, owner: Any, name: str, ours: Any) -> None:
        before = owner.__dict__[name]
        function: Any = ours.__func__ if isinstance(ours, staticmethod) else ours
        original = getattr(owner, name)
        for attribute in ("__name__", "__qualname__", "__doc__", "__module__"):
            setattr(function, attribute, getattr(original, attribute, None))
        function.__wrapped__ = original
        setattr(owner, name, ours)
        self._undo.append((owner, name, before, ours))

    def _make(self, original: Any) -> Any:
        """A maker rewrites the graph when it is itself made; it needs a profile then."""
        library, tracker = self._library, self._tracker
        signature = inspect.signature(original)

        def __init__(*args: Any, **kwargs: Any) -> None:
            wanted = tracker.wanted
            if wanted is None:
                return original(*args, **kwargs)  # type: ignore[no-any-return]
            try:
                bound = signature.bind(*args, **kwargs)
                given = bound.arguments.get("profile")
                if not given:
                    bound.arguments["profile"] = stats = library.Stats()
                    stats.given, given = given, stats
                elif type(given) is not library.Stats:
                    tracker.meet_profile(library, given, None)
                if wanted["linker"] is not None:
                    bound.arguments["mode"] = library.mode_with(bound.arguments.get("mode"), wanted["linker"])
                with library.flags(**({"profile_optimizer": True} if wanted["rewriting"] else {})), tracker.compiling():
                    begin = perf_counter_ns()
                    original(*bound.args, **bound.kwargs)
                    if type(given) is library.Stats:
                        given.making_ns += perf_counter_ns() - begin
            except BaseException as error:
                error.__traceback__ = _without_us(error.__traceback__)
                raise

        return __init__

    def _create(self, original: Any) -> Any:
        """A maker that was seen links the graph: what came out is a function to measure."""
        library, tracker = self._library, self._tracker

        def create(maker: Any, *args: Any, **kwargs: Any) -> Any:
            stats: Any = getattr(maker, "profile", None)
            if type(stats) is not library.Stats:
                return original(maker, *args, **kwargs)
            before, begin = tracker.c_seconds, perf_counter_ns()
            try:
                with tracker.compiling():
                    function = original(maker, *args, **kwargs)
            except BaseException as error:
                error.__traceback__ = _without_us(error.__traceback__)
                raise
            finally:
                _forget_profile(maker, stats)
            stats.making_ns += perf_counter_ns() - begin
            making = records.phases_of(stats)
            making["total"] = stats.making_ns / 1e9
            making["C compilation"] = tracker.c_seconds - before
            nodes = records.slowest(stats.linker_make_thunk_time)
            rewriters = rewriting.tree_of(stats.rewriter_profile)
            stats.linker_make_thunk_time, stats.rewriter_profile = {}, None
            tracker.add_made(library, function, {**making, "nodes": nodes, "rewriters": rewriters})
            return function

        return create

    def _call(self, original: Any) -> Any:
        """A function is called: one that is not measured yet is met here."""
        library, tracker = self._library, self._tracker
        Stats, meet = library.Stats, tracker.meet

        def compiled(function: Any, args: Any, kwargs: Any) -> Any:
            before = tracker.numba.ns()
            if tracker.has_memory:
                result = memory.measured(tracker.memory_of(function), original, function, args, kwargs)
            else:
                result = original(function, *args, **kwargs)
            spent = tracker.numba.ns() - before
            if spent:
                tracker.add_compiled(function, spent)
            return result

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            if self.profile.__class__ is not Stats:
                meet(library, self)
            try:
                if tracker.numba.is_on:
                    return compiled(self, args, kwargs)
                if tracker.has_memory:
                    return memory.measured(tracker.memory_of(self), original, self, args, kwargs)
                return original(self, *args, **kwargs)
            except BaseException as error:
                error.__traceback__ = _without_us(error.__traceback__)
                raise

        return __call__

    def _compile(self, original: Any) -> Any:
        """C is compiled: the time of that is in nobody's profile."""
        tracker = self._tracker

        def compile_str(*args: Any, **kwargs: Any) -> Any:
            begin = perf_counter()
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                error.__traceback__ = _without_us(error.__traceback__)
                raise
            finally:
                tracker.c_seconds += perf_counter() - begin

        return compile_str


def _forget_profile(maker: Any, stats: Any) -> None:
    """After it was made, only the function itself has our profile."""
    given = stats.given
    for owner in (maker, maker.fgraph, maker.linker):
        if getattr(owner, "profile", None) is stats:
            owner.profile = given


def _without_us(trace: Any) -> Any:
    """A traceback without our own frames at its beginning."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OURS):
        trace = trace.tb_next
    return trace
