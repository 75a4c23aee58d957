"""What is known of one compiled function: its nodes, how often and how long each ran, and how it was made."""

from __future__ import annotations

import sys
from time import perf_counter_ns
from weakref import ref

from sonde.graph import library, rewriting
from sonde.graph.memory import GivenMemory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sonde.graph.library import Library
    from sonde.graph.memory import Memory


def _references_of_a_variable() -> int:
    """What ``sys.getrefcount`` says of an object that one variable alone has; interpreters differ."""
    alone = object()
    return sys.getrefcount(alone)


class Numbers:
    """The state of a function's counters at one moment; the difference of two is what happened in between."""

    def __init__(
        self,
        calls: tuple[int, int, int],
        counts: list[int],
        times: list[int],
        flops: list[float],
        compiled: int = 0,
    ) -> None:
        self.calls = calls  # how often, ns in them, ns of those in the VM
        self.compiled = compiled  # ns, while it was called, that are not in those
        self.counts = counts
        self.times = times  # ns
        self.flops = flops

    def since(self, before: Numbers | None) -> Numbers:
        """What came after another moment."""
        if before is None:
            return self
        missing = len(self.counts) - len(before.counts)
        count, total, vm = (now - then for now, then in zip(self.calls, before.calls, strict=True))
        return Numbers(
            (count, total, vm),
            [now - then for now, then in zip(self.counts, before.counts + [0] * missing, strict=True)],
            [now - then for now, then in zip(self.times, before.times + [0] * missing, strict=True)],
            [now - then for now, then in zip(self.flops, before.flops + [0.0] * missing, strict=True)],
            self.compiled - before.compiled,
        )


class Record:
    """A function that has no profile of its own: one is given to it, between ``attach`` and ``detach``."""

    is_timed = False  # whether its nodes are
    is_given = False
    was_moved = False  # from the C VM to a Python VM
    is_part = False  # it was made while another one was made
    wanted_name = ""  # what it would be called if it were the only one of that name
    parent: Record | None = None  # the function that runs this one inside one of its nodes
    memory: Memory | None = None
    making: dict[str, Any] | None = None  # seconds of compiling, by phase; None where it was compiled before
    compiled_ns = 0  # by numba, while it was called
    compiled_within_ns = 0  # of those, in calls that count
    left_out: Numbers | None = None  # what was counted in the first call, if that does not count

    def __init__(self, library: Library, name: str, function: Any) -> None:
        self.library = library
        self.name = name
        self.linker = library.linker_name(function)
        self.graph = function.maker.fgraph
        self.is_scan = False
        self.inners: list[tuple[Any, Record]] = []  # by node
        self.nodes: list[Any] = []
        self.impls: list[str] = []
        self.texts: list[tuple[str, int]] = []  # of each node, with its place in the graph: once they are asked for
        self.allows_gc = bool(getattr(function.vm, "allow_gc", False))
        self.stats = function.profile if type(function.profile) is library.Stats else library.Stats()
        self.stats.forget = self._forget
        self._counts: list[int] = []
        self._times: list[Any] = []
        self._scale = 1  # ns in a unit of _times
        self._function: Callable[[], Any] = _nothing
        self._undo: list[Callable[[], object]] = []

    @property
    def is_attached(self) -> bool:
        return bool(self._undo)

    def now(self) -> Numbers:
        """The counters as they are."""
        return self._apart(self._counted().since(self.left_out))

    def add_compiled(self, ns: int) -> None:
        """That much of the call which has just ended was spent by numba."""
        self.compiled_ns += ns
        if self._is_last_call_counted():
            self.compiled_within_ns += ns

    def _apart(self, numbers: Numbers) -> Numbers:
        """The same, with the time of compiling taken out of the calls."""
        count, total, vm = numbers.calls
        numbers.calls = (count, max(total - self.compiled_within_ns, 0), max(vm - self.compiled_within_ns, 0))
        numbers.compiled = self.compiled_ns
        return numbers

    def _is_last_call_counted(self) -> bool:
        return self.left_out is None or self._counted().calls[0] > self.left_out.calls[0]

    def _forget(self) -> None:
        """The first call has ended, and the library's flag says that it does not count."""
        if self.parent is None:
            self._leave_out()

    def _leave_out(self) -> None:
        self.left_out = self._counted()
        self.compiled_within_ns = 0
        for _, inner in self.inners:
            inner._leave_out()

    def _counted(self) -> Numbers:
        stats, times = self.stats, self._times
        if self._scale != 1:
            times = [round(time * self._scale) for time in times]
        calls = (stats.nbsteps, stats.call_time) if self.is_scan else (stats.fct_callcount, stats.fct_call_time)
        flops = self.memory.flops(self._counts) if self.memory is not None else [0.0] * len(times)
        return Numbers((calls[0], _ns(calls[1]), _ns(stats.vm_call_time)), list(self._counts), list(times), flops)

    def attach(self, function: Any, memory: Memory | None, after_call: Callable[[Any], object]) -> None:
        """Let the function count, and each of its nodes, until ``detach``."""
        self._function = _handle(function)
        kind = self.library.kind_of(function.vm)
        memory = memory if kind in ("c", "python", "list") else None
        self.memory = memory or self.memory
        if kind == "c" and memory is not None:
            self._set(function, "vm", self.library.as_stack(function))
            self.was_moved = True
            kind = "python"
        vm = function.vm
        if kind == "c":
            self._attach_c(vm)
        elif kind in ("python", "list"):
            self._attach_python(vm, kind, memory)
        self.is_timed = kind != "whole" and bool(self.library.flag("profiling__time_thunks", True))
        self._set(vm, "update_profile", after_call)
        self._set(function, "profile", self.stats)

    def attach_inside(self, function: Any) -> None:
        """For one that a Scan runs: that one looks elsewhere for the profile."""
        if function.maker.profile is not self.stats:
            self._set(function.maker, "profile", self.stats)

    def detach(self) -> None:
        """Let the function be as it was; what was counted stays."""
        undo, self._undo = self._undo, []
        for step in reversed(undo):
            step()
        self._function = _nothing
        for _, inner in self.inners:
            inner.detach()

    def is_dead(self) -> bool:
        """Whether nobody but us could call the function any more."""
        function = self._function()
        ours = _references_of_a_variable() + (not isinstance(self._function, ref))
        alive = function is not None and sys.getrefcount(function) > ours
        return not alive and self.parent is None

    def _set(self, owner: Any, name: str, value: Any) -> None:
        """An attribute of one of their objects, until ``detach``."""
        missing = object()
        before = getattr(owner, "__dict__", {}).get(name, missing) if name == "update_profile" else getattr(owner, name)
        setattr(owner, name, value)
        holder = self._function if owner is self._function() else _handle(owner)

        def restore() -> None:
            current = holder()
            if current is None or getattr(current, name, None) is not value:
                return  # somebody else has set it since
            if before is missing:
                delattr(current, name)
            else:
                setattr(current, name, before)

        self._undo.append(restore)

    def _attach_c(self, vm: Any) -> None:
        """The C VM takes the times itself, where it is asked to."""
        self._know(vm.nodes, vm.thunks)
        before, counts, times = vm.time_thunks, vm.call_counts, vm.call_times
        kept = (self._counts, [time * self._scale for time in self._times])
        vm.time_thunks = int(bool(self.library.flag("profiling__time_thunks", True)))
        if any(kept[0]):  # attached again: it goes on from there
            for i, (count, time) in enumerate(zip(*kept, strict=True)):
                counts[i] += count
                times[i] += time / 1e9
        self._counts, self._times, self._scale = counts, times, 1_000_000_000
        holder = _handle(vm)

        def restore() -> None:
            self._counts, self._times = list(counts), list(times)
            counts[:], times[:] = [0] * len(counts), [0.0] * len(times)
            current = holder()
            if current is not None:
                current.time_thunks = before

        self._undo.append(restore)

    def _attach_python(self, vm: Any, kind: str, memory: Memory | None) -> None:
        """Under a Python VM each thunk is timed by us."""
        found = library.thunk_list(vm) if kind == "list" else None
        thunks, nodes = (vm.thunks, vm.nodes) if found is None else found
        self._know(nodes, thunks)
        self._times = [round(time * self._scale) for time in self._times]
        self._scale = 1
        originals = list(thunks)
        if memory is not None:
            memory.begin(self.graph, self.nodes, self.allows_gc)
        timed = [self._timed(i, thunk, memory) for i, thunk in enumerate(originals)]
        if found is None:
            self._set(vm, "thunks", timed)
            self._set(vm, "time_thunks", False)
        elif self.library.flag("profiling__time_thunks", True):
            thunks[:] = timed
            self._undo.append(lambda: thunks.__setitem__(slice(None), originals))

    def _know(self, nodes: Any, thunks: Any) -> None:
        if not self.nodes:
            self.nodes = list(nodes)
            self.impls = ["C" if hasattr(thunk, "cthunk") else "Py" for thunk in thunks]
            self._counts, self._times = [0] * len(self.nodes), [0] * len(self.nodes)

    def _timed(self, i: int, thunk: Any, memory: Memory | None) -> Any:
        counts, times, clock = self._counts, self._times, perf_counter_ns
        if memory is None:

            def run() -> Any:
                begin = clock()
                try:
                    result = thunk()
                except BaseException as error:
                    error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next  # as without us
                    raise
                times[i] += clock() - begin
                counts[i] += 1
                return result

        else:
            look = memory.looker(i, thunk.inputs, thunk.outputs, counts)

            def run() -> Any:
                begin = clock()
                try:
                    result = thunk()
                except BaseException as error:
                    error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
                    raise
                times[i] += clock() - begin
                counts[i] += 1
                look()
                return result

        run.__dict__.update(getattr(thunk, "__dict__", {}))
        return run


class GivenRecord(Record):
    """A profile that the program made itself: it is read as it is, less what it had when it was first met."""

    is_timed = True
    is_given = True
    memory: GivenMemory | None = None

    def __init__(self, library: Library, name: str, stats: Any, graph: Any, *, is_whole: bool = False) -> None:
        """``is_whole``: with what it had before."""
        self.library = library
        self.name = name
        self.linker = ""
        self.graph = graph
        self.is_scan = hasattr(stats, "nbsteps")
        self.inners = []
        self.nodes = []
        self.impls = []
        self.texts = []
        self.graphs: list[Any] = []  # of each node: several functions may share a profile
        self.stats = stats
        self._index: dict[Any, int] = {}
        self._undo = []
        self._function = _nothing
        self._before: Numbers | None = None
        self._before_making = {name: 0.0 if is_whole else value for name, value in self._phases().items()}
        self._before = None if is_whole else self.now()

    def now(self) -> Numbers:
        stats = self.stats
        for key in list(stats.apply_callcount):
            if key not in self._index:
                self._index[key] = len(self.nodes)
                self.graphs.append(key[0])
                self.nodes.append(key[1])
                self.impls.append("C" if stats.apply_cimpl.get(key[1]) else "Py")
        counts = [stats.apply_callcount.get(key, 0) for key in self._index]
        times = [_ns(stats.apply_time.get(key, 0.0)) for key in self._index]
        calls = (stats.nbsteps, stats.call_time) if self.is_scan else (stats.fct_callcount, stats.fct_call_time)
        flops = [0.0] * len(counts)
        if stats.variable_shape:
            self.memory = self.memory or GivenMemory(self.library)
            self.memory.read(stats, self.nodes, self.graphs)
            flops = self.memory.flops(counts)
        found = Numbers((calls[0], _ns(calls[1]), _ns(stats.vm_call_time)), counts, times, flops)
        return self._apart(found.since(self._before))

    def _is_last_call_counted(self) -> bool:
        return bool(self.stats.fct_callcount)

    @property
    def making(self) -> dict[str, Any] | None:  # type: ignore[override]
        """How it was compiled, where that was after it was first met."""
        made = {name: value - self._before_making[name] for name, value in self._phases().items()}
        if made["rewriting"] <= 0:
            return None
        rewriters = rewriting.tree_of(self.stats.rewriter_profile)
        return {**made, "nodes": slowest(self.stats.linker_make_thunk_time), "rewriters": rewriters}

    def is_dead(self) -> bool:
        return False

    def _phases(self) -> dict[str, float]:
        return phases_of(self.stats)


def phases_of(stats: Any) -> dict[str, float]:
    """Seconds of compiling, by phase, as one of their profiles has them."""
    found = {
        "total": stats.compile_time,
        "rewriting": stats.rewriting_time,
        "validation": stats.validate_time,
        "linking": stats.linker_time,
        "import": stats.import_time,
    }
    if hasattr(stats, "preload_cache_time"):
        found["cache"] = stats.preload_cache_time
    return found


def slowest(nodes: dict[Any, float], count: int = 5) -> list[tuple[str, float]]:
    """The nodes that took longest to link, with seconds."""
    found = sorted(nodes.items(), key=lambda item: -item[1])[:count]
    return [(str(node), time) for node, time in found]


def _ns(seconds: float) -> int:
    return round(seconds * 1_000_000_000)


def _nothing() -> None:
    pass


def _handle(thing: Any) -> Callable[[], Any]:
    """A weak reference to it; or one that keeps it alive, if it allows no weak ones."""
    try:
        return ref(thing)
    except TypeError:
        return lambda: thing
