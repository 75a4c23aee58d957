"""All functions that are measured in this process, and the running measurement that they are attached to."""

from __future__ import annotations

import sys
from _thread import RLock
from contextlib import contextmanager
from time import monotonic

from sonde import _core
from sonde._runtime import session as _session
from sonde._runtime.imports import Watch
from sonde.graph import library, rows, tips
from sonde.graph.hooks import Hooks
from sonde.graph.jit import Numba
from sonde.graph.library import Library
from sonde.graph.memory import Memory
from sonde.graph.records import GivenRecord, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sonde.graph.records import Numbers
    from sonde.graph.rows import Row

INTERVAL = 1.0  # s, from one time that the running measurement gets the numbers to the next
LONGER = 25  # times as long as that takes, where there are very many nodes


class Tracker:
    """Keeps a record for every function that is made or called, as long as somebody wants that."""

    def __init__(self) -> None:
        self.wanted: dict[str, Any] | None = None
        self._asked: dict[str, Any] | None = None  # the same, without what the flags add to it
        self.has_memory = False
        self.c_seconds = 0.0  # spent in the C compiler so far
        self.numba = Numba()
        self.records: list[Record] = []
        self.libraries: dict[str, Library] = {}
        self._lock = RLock()
        self._hooks: dict[str, Hooks] = {}
        self._by_graph: dict[int, Record] = {}
        self._given: dict[int, GivenRecord] = {}
        self._names: dict[str, int] = {}
        self._depth = 0  # functions that are being made, one inside the other
        self._ops = rows.OpNames()
        self._due = 0.0
        self._infos: dict[str, str] = {}  # those that the running measurement has
        self._watch = Watch(library.NAMES, lambda module: self._use(module.__name__))

    # ---- who wants it ----

    def switch(self, wanted: dict[str, Any] | None) -> None:
        """Begin to measure, do it otherwise, or end."""
        with self._lock:
            if wanted == self._asked:
                return
            if self.wanted is not None:
                self.flush()
                self._stop()
            self._asked = self.wanted = wanted
            if wanted is not None:
                self._watch.enter()
                for name in library.NAMES:
                    if library.is_imported(name):
                        self._use(name)

    def _use(self, name: str) -> None:
        """A library has been imported."""
        if self.wanted is None or name in self._hooks:
            return
        try:
            library = self.libraries.setdefault(name, Library(name))
        except (ImportError, AttributeError) as error:
            _session.say(f"cannot measure this version of {name}: {error}")
            return
        if self.wanted["linker"] not in (None, *library.linkers()):
            _session.say(
                f"{library.title} has no linker {self.wanted['linker']!r}; choose from {', '.join(library.linkers())}"
            )
            self.wanted = {**self.wanted, "linker": None}
        self.has_memory = self.has_memory or self._wants(library, "memory", "profile_memory")
        if self._wants(library, "rewriting", "profile_optimizer"):
            self.wanted = {**self.wanted, "rewriting": True}
        self._hooks[name] = Hooks(library, self)
        self._hooks[name].install()
        self._due = monotonic() + INTERVAL

    def _wants(self, library: Library, name: str, flag: str) -> bool:
        return bool((self.wanted or {})[name] or library.flag(flag))

    def _stop(self) -> None:
        self._watch.leave()
        for hooks in self._hooks.values():
            hooks.remove()
        self._hooks.clear()
        self.numba.remove()
        for record in self.records:
            record.detach()
        self.wanted, self.has_memory = None, False

    # ---- functions ----

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """While a function is being made, those that are made too are parts of it."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    @contextmanager
    def careful(self) -> Iterator[None]:
        """A fault in sonde ends the measurement of functions with one line; the program goes on."""
        try:
            with self._lock:
                yield
        except Exception as error:
            _session.say(f"stopped measuring compiled functions: {type(error).__name__}: {error}")
            self._stop()

    def add_made(self, library: Library, function: Any, making: dict[str, Any]) -> None:
        """A function was made."""
        with self.careful():
            record = self._record_of(library, function)
            record.making = making
            record.is_part = self._depth > 0
            function.profile = function.profile.given
            if self.wanted is not None:  # the block may have ended meanwhile
                self._attach(record, function)

    def meet(self, library: Library, function: Any) -> None:
        """A function that is not measured is about to be called."""
        profile = function.profile
        if self.wanted is None:
            return
        if not profile:
            with self.careful():
                self._attach(self._record_of(library, function), function)
        else:
            self.meet_profile(library, profile, function)
        if monotonic() >= self._due:
            self.flush()

    def meet_profile(self, library: Library, profile: Any, function: Any) -> None:
        """A profile that the program made itself is about to be filled."""
        record = self._given.get(id(profile))
        if record is not None and (function is None or record.graph is function.maker.fgraph):
            return
        with self.careful():
            if record is None:
                record = self._given[id(profile)] = GivenRecord(library, "", profile, None)
                record.wanted_name = str(getattr(profile, "message", None) or "shared profile")
                self.records.append(record)
            if function is not None:
                if library.linker_name(function) == "numba":
                    self.numba.install()
                record.graph = function.maker.fgraph
                record.wanted_name = str(getattr(profile, "message", None) or _name_of(function))

    def add_compiled(self, function: Any, ns: int) -> None:
        """A call of a function has ended, in which numba compiled it."""
        with self.careful():
            record = self._by_graph.get(id(function.maker.fgraph)) or self._given.get(id(function.profile))
            if record is not None:
                record.add_compiled(ns)

    def memory_of(self, function: Any) -> Memory | None:
        """What is kept of a function's memory."""
        record = self._by_graph.get(id(function.maker.fgraph)) or self._given.get(id(function.profile))
        return None if record is None else record.memory

    def _record_of(self, library: Library, function: Any) -> Record:
        graph = function.maker.fgraph
        record = self._by_graph.get(id(graph))
        if record is None:
            record = self._by_graph[id(graph)] = Record(library, "", function)
            record.wanted_name = _name_of(function)
            self.records.append(record)
        return record

    def _attach(self, record: Record, function: Any) -> None:
        if record.is_attached:  # a copy that shares the graph: each has its own thunks
            record.detach()
        if record.linker == "numba":
            self.numba.install()
        memory = (record.memory or Memory(record.library)) if self.has_memory else None
        record.attach(function, memory, self._after_call(record, memory))
        self._adopt(record)

    def _adopt(self, record: Record) -> None:
        """Functions that run inside a node of this one hang below that node."""
        nodes = record.nodes if record.nodes or record.graph is None else record.graph.apply_nodes
        known = {id(node) for node, _ in record.inners}
        for node in list(nodes):
            function = record.library.inner_of(node)
            inner = None if function is None else self._inner_record(record, function)
            if inner is None or inner.parent not in (None, record):
                continue  # one Op in two functions hangs below the first
            if id(node) not in known:
                inner.parent = record
                inner.is_scan = record.library.is_scan(node)
                inner.name = f"{getattr(node.op, 'name', None) or type(node.op).__name__.lower()} (inner function)"
                record.inners.append((node, inner))
            if inner.is_attached and inner.is_scan:
                inner.attach_inside(function)

    def _inner_record(self, outer: Record, function: Any) -> Record:
        """A part that has a profile of its own keeps it."""
        library, profile = outer.library, function.maker.profile
        if profile and type(profile) is not library.Stats:
            self.meet_profile(library, profile, function)
            return self._given[id(profile)]
        record = self._record_of(library, function)
        if self.wanted is not None and not record.is_attached and (outer.is_attached or outer.is_given):
            self._attach(record, function)
        return record

    def _after_call(self, record: Record, memory: Memory | None) -> Callable[[Any], None]:
        """What a function calls at its end, in the place of the library's own bookkeeping."""

        def after_call(_profile: Any, clock: Callable[[], float] = monotonic) -> None:
            if memory is not None:
                if memory.is_measuring:
                    return
                with self.careful():
                    memory.end_call()
            # inside another function it would be in the time of that one's node; a first call may have to be forgotten
            if clock() >= self._due and record.parent is None and not record.stats.ignore_first_call:
                self.flush()

        return after_call

    # ---- results ----

    def flush(self) -> None:
        """Let the running measurement have the numbers as they are now."""
        with self.careful():
            begin = monotonic()
            shown = self.shown({})
            if shown and _core.is_running():
                _core.graph_attach(self.rows(shown, {}))
                infos = self.infos(shown)
                for key in {**self._infos, **infos}:
                    _core.set_info(key, infos.get(key, ""))  # an empty text is none
                self._infos = infos
            for record in self.records:
                if record.is_attached and record.is_dead():
                    record.detach()
            now = monotonic()
            self._due = now + max(INTERVAL, LONGER * (now - begin))

    def snapshot(self) -> dict[int, Numbers]:
        """All counters at this moment, by record."""
        with self._lock:
            return {id(record): record.now() for record in self.records}

    def shown(self, before: dict[int, Numbers]) -> list[tuple[Record, Numbers]]:
        """The functions of which something happened since then, without those inside others."""
        with self._lock:
            for record in list(self.records):
                self._adopt(record)
            found = []
            for record in self.records:
                numbers = record.now().since(before.get(id(record)))
                is_new = id(record) not in before and not record.is_part
                if record.parent is None and (
                    numbers.calls[0] or numbers.compiled or any(numbers.counts) or (is_new and record.making)
                ):
                    self._name(record)
                    found.append((record, numbers))
            return found

    def rows(self, shown: list[tuple[Record, Numbers]], before: dict[int, Numbers]) -> list[Row]:
        """What happened since then, for the core."""
        made: list[Row] = []
        for record, numbers in shown:
            rows.add_function(made, -1, record, numbers, self._ops, before)
        return made

    def infos(self, shown: list[tuple[Record, Numbers]]) -> dict[str, str]:
        """Notes and tips on that."""
        return tips.infos(shown, self.libraries)

    def _name(self, record: Record) -> None:
        """A name that no other function has."""
        if not record.name:
            count = self._names[record.wanted_name] = self._names.get(record.wanted_name, 0) + 1
            record.name = record.wanted_name if count == 1 else f"{record.wanted_name} ({count})"


tracker = Tracker()


def switch(wishes: list[dict[str, Any]], is_over: bool) -> None:
    """Measure what all of them want; with none of them nothing. ``is_over``: the measurement of the process ends."""
    global tracker
    linker = next((wish["linker"] for wish in wishes if wish["linker"]), None)
    wanted = {name: any(wish[name] for wish in wishes) for name in ("memory", "rewriting")}
    tracker.switch({**wanted, "linker": linker} if wishes else None)
    if is_over and tracker.records:
        tracker = Tracker()


def libraries() -> list[str]:
    """Those that are imported or could be."""
    return [name for name in library.NAMES if name in sys.modules or library.is_installed(name)]


def _name_of(function: Any) -> str:
    """A function's name; without one, what it takes, which is the same in every run."""
    name = getattr(function, "name", None) or getattr(function.maker, "name", None)
    if name:
        return str(name)
    inputs = [variable for variable in function.maker.fgraph.inputs if not hasattr(variable, "container")]
    names = [str(variable.name or variable.type) for variable in inputs]
    return f"function({', '.join(names)})"
