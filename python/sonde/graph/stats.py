"""The libraries' own ``ProfileStats``, with sonde's summary: to give to functions, and to read by its attributes."""

from __future__ import annotations

from functools import cache

from sonde.graph import library
from sonde.graph.records import GivenRecord

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sonde.graph.library import Library
    from sonde.graph.records import Numbers, Record
    from sonde.graph.rows import Row

_PHASES = {  # attributes of theirs, and what we call them
    "compile_time": "total",
    "rewriting_time": "rewriting",
    "validate_time": "validation",
    "linker_time": "linking",
    "import_time": "import",
    "preload_cache_time": "cache",
}


def ProfileStats(*, atexit_print: bool = False, **attributes: Any) -> Any:
    """A profile to give to one or several functions of the library that you have imported.

    It has all attributes and methods of the library's own ``ProfileStats``. Its ``summary`` prints sonde's tables.
    Functions that share it are one function in the tables. With ``atexit_print`` the library prints it at exit too,
    if its flag ``profile`` is on.

    >>> shared = sonde.graph.ProfileStats(message="both")
    >>> train = pytensor.function([x, y], cost, updates=updates, profile=shared)
    >>> predict = pytensor.function([x], p, profile=shared)
    >>> train(data, labels), predict(data)
    >>> shared.fct_callcount, shared.fct_call_time
    (2, 0.0123)
    >>> shared.summary()
    """
    name = next((name for name in reversed(library.NAMES) if library.is_imported(name)), None)
    if name is None:
        raise RuntimeError("import aesara or pytensor first")
    return _class_of(name)(atexit_print=atexit_print, **attributes)


def of_numbers(pairs: list[tuple[Record, Numbers]], message: str) -> Any:
    """The numbers of functions, in the attributes of one profile of the library's."""
    stats = _class_of(pairs[0][0].library.name)(atexit_print=False, message=message)
    stats.nb_nodes = 0
    for record, numbers in pairs:
        graphs = getattr(record, "graphs", None) or [record.graph] * len(record.nodes)
        count, total, vm = numbers.calls
        stats.fct_callcount += count
        stats.fct_call_time += total / 1e9
        stats.vm_call_time += vm / 1e9
        stats.nb_nodes += len(record.graph.apply_nodes) if record.graph is not None else len(record.nodes)
        for i, key in enumerate(zip(graphs, record.nodes, strict=True)):
            stats.apply_callcount[key] = numbers.counts[i]
            stats.apply_time[key] = numbers.times[i] / 1e9
            stats.apply_cimpl[key[1]] = record.impls[i] == "C"
        for attribute, phase in _PHASES.items():
            if hasattr(stats, attribute):
                setattr(stats, attribute, getattr(stats, attribute) + (record.making or {}).get(phase, 0.0))
        stats.compile_time += numbers.compiled / 1e9
    return stats


@cache
def _class_of(name: str) -> Any:
    """The class of one library."""
    base = library.Library(name).ProfileStats

    def summary(self: Any, file: Any = None, *limits: int, **options: int) -> None:
        """Print it, as ``Graphs.summary`` prints a function."""
        _part_of(self, library.Library(name)).summary(file, *limits, **options)

    def __reduce__(self: Any) -> Any:
        return _made_again, (name,), self.__dict__

    methods = {"summary": summary, "__reduce__": __reduce__, "__module__": __name__, "__doc__": base.__doc__}
    return type("ProfileStats", (base,), methods)


def _made_again(name: str) -> Any:
    """From a pickle."""
    return _class_of(name)(atexit_print=False)


def _part_of(stats: Any, mine: Library) -> Any:
    from sonde.graph import Part, rows, tips

    record = GivenRecord(mine, str(stats.message or "shared profile"), stats, None, is_whole=True)
    numbers = record.now()
    made: list[Row] = []
    rows.add_function(made, -1, record, numbers, rows.OpNames(), {})
    return Part(record.name, made, tips.infos([(record, numbers)], {mine.name: mine}), {})
