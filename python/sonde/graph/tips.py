"""Notes on what the numbers are, and tips: only such as are true for what was measured."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sonde.graph.library import Library
    from sonde.graph.records import Numbers, Record

    Shown = list[tuple[Record, Numbers]]

_WHOLE = ", because it compiles the whole graph into one function"
_WHY = dict.fromkeys(("c", "jax", "mlx", "pytorch"), _WHOLE)
_WHY["numba"] = f"{_WHOLE}, in the first call"
_LIMITS = {"graph_n_ops": ("profiling__n_ops", 20), "graph_n_apply": ("profiling__n_apply", 20)}
_LIMITS["graph_min_memory"] = ("profiling__min_memory_size", 1024)


def infos(shown: Shown, libraries: dict[str, Library]) -> dict[str, str]:
    """What goes into a profile besides its rows."""
    notes = [*_together(shown, _notes), *_totals(libraries)]
    found = {f"graph_note_{i}": note for i, note in enumerate(notes, 1)}
    found.update({f"graph_tip_{i}": tip for i, tip in enumerate(_together(shown, _tips), 1)})
    found.update({f"graph_text_{i}": text for i, text in enumerate(_texts(shown), 1)})
    for library in libraries.values():
        for key, (flag, usual) in _LIMITS.items():
            if library.flag(flag, usual) != usual:
                found[key] = str(library.flag(flag))
    return found


def _totals(libraries: dict[str, Library]) -> Iterator[str]:
    """What the flag ``print_global_stats`` asks for."""
    for library in libraries.values():
        if library.flag("print_global_stats", False):
            since, called, rewriting, linking = library.times_since_import()
            yield (
                f"{library.title} was imported {since:.3f} s ago; since then {called:.3f} s in profiled functions, "
                f"{rewriting:.3f} s rewriting graphs and {linking:.3f} s linking them"
            )


def _texts(shown: Shown) -> Iterator[str]:
    """The graphs, for the flag ``profiling__debugprint``: a line with the function's name, then the text."""
    for record, _ in shown:
        if record.library.flag("profiling__debugprint", False):
            graphs = getattr(record, "graphs", None) or [record.graph]
            for graph in {id(graph): graph for graph in graphs if graph is not None}.values():
                yield f"{record.name}\n{record.library.text_of(graph)}"


def _together(shown: Shown, texts_of: Callable[[Record, Numbers], Iterator[str]]) -> list[str]:
    """Each text once, behind the names of all functions that it is true for."""
    names: dict[str, list[str]] = {}
    for record, numbers in shown:
        for text in texts_of(record, numbers):
            names.setdefault(text, []).append(record.name)
    return [f"{', '.join(dict.fromkeys(found))}: {text}" for text, found in names.items()]


def _notes(record: Record, numbers: Numbers) -> Iterator[str]:
    title, linker = record.library.title, record.linker
    if numbers.calls[0] and not record.is_timed:
        if not record.library.flag("profiling__time_thunks", True):
            yield f"no node times, because {title}'s flag profiling__time_thunks is off"
        else:
            yield (
                f"{title}'s {linker} linker keeps no node times{_WHY.get(linker, '')}; "
                'to get them, compile inside sonde.graph.profile(linker="cvm")'
            )
    if record.was_moved and numbers.calls[0]:
        yield "to measure memory, the Python VM runs the nodes instead of the C VM: same order, more overhead"
    if record.left_out is not None:
        yield f"the first call is left out, because {title}'s flag profiling__ignore_first_call is on"
    if record.memory is not None and record.memory.has_many_orders:
        yield "the lowest peak of all orders is not known, because there are too many"
    if record.memory is not None and record.memory.peaks is not None and record.memory.measured is None:
        yield "the actual memory peak was not measured, because tracemalloc was in use"


def _tips(record: Record, numbers: Numbers) -> Iterator[str]:
    total = sum(numbers.times)
    if not total or not numbers.calls[0]:
        return
    yield from _overhead(record, numbers, total)
    yield from _float_width(record, numbers, total)
    yield from _python_nodes(record, numbers, total)
    yield from _products(record)
    yield from _fusion(record)
    yield from _copies(record, numbers, total)
    yield from _scans(record, numbers)


def _overhead(record: Record, numbers: Numbers, total: int) -> Iterator[str]:
    """Most of a call is not spent in nodes."""
    count, spent, _ = numbers.calls
    if spent > 2 * total:
        yield (
            f"{100 * (spent - total) / spent:.0f} % of its call time is overhead, {_us(spent - total, count)} "
            "µs per call; do more work per call, or set its attribute trust_input if the arguments are always right"
        )


def _float_width(record: Record, numbers: Numbers, total: int) -> Iterator[str]:
    flag = record.library.flag("floatX")
    wide = sum(time for node, time in _own_nodes(record, numbers) if _dtype(node) == "float64")
    if flag == "float64" and wide > total / 2:
        yield (
            f"{100 * wide / total:.0f} % of the time in nodes is spent on float64; "
            "the flag floatX=float32 halves the data, if that is precise enough"
        )


def _python_nodes(record: Record, numbers: Numbers, total: int) -> Iterator[str]:
    """Nodes without C, in a function that has C for others."""
    if "C" not in record.impls:
        return
    slow: dict[str, int] = {}
    for node, impl, time in zip(record.nodes, record.impls, numbers.times, strict=True):
        if impl == "Py" and not record.library.is_scan(node):
            slow[type(node.op).__name__] = slow.get(type(node.op).__name__, 0) + time
    for name, time in slow.items():
        if time > total / 10:
            yield f"{100 * time / total:.0f} % of the time in nodes is in {name}, which runs in Python"


def _products(record: Record) -> Iterator[str]:
    """Products of matrices that BLAS does not do."""
    dot = record.library.type_named("tensor.math", "Dot")
    for node in record.nodes:
        if isinstance(node.op, dot) and all(getattr(variable.type, "ndim", 0) == 2 for variable in node.inputs):
            types = " and ".join(str(_type_of(variable)) for variable in node.inputs)
            yield (
                f"{node} was not turned into a BLAS product; BLAS needs two matrices of the same type, "
                f"float32 or float64, but these are {types}"
            )
    is_missing = any(type(node.op).__name__ in ("Dot22", "Gemm", "Gemv", "CGemv") for node in record.nodes)
    if is_missing and not record.library.flag("blas__ldflags"):
        yield "no BLAS was found (flag blas__ldflags), so NumPy computes matrix products"


def _fusion(record: Record) -> Iterator[str]:
    """Element-wise nodes that only another element-wise node reads."""
    elemwise = record.library.type_named("tensor.elemwise", "Elemwise")
    nodes = [node for node in record.nodes if isinstance(node.op, elemwise)]
    readers: dict[Any, list[Any]] = {}
    for node in record.nodes:
        for variable in set(node.inputs):
            readers.setdefault(variable, []).append(node)
    stays = set(record.graph.outputs) if record.graph is not None else set()
    fusable = sum(_goes_into_one(node, readers, stays, elemwise) for node in nodes)
    if fusable >= 2:
        yield (
            f"{fusable} of {len(nodes)} Elemwise nodes are read by only one other Elemwise node and were "
            "not fused with it; the rewrite 'fusion' would save their arrays"
        )


def _goes_into_one(node: Any, readers: dict[Any, list[Any]], stays: set[Any], elemwise: Any) -> bool:
    if len(node.outputs) != 1 or node.outputs[0] in stays:
        return False
    found = readers.get(node.outputs[0], [])
    is_same = len(found) == 1 and isinstance(found[0].op, elemwise)
    return is_same and found[0].outputs[0].type.broadcastable == node.outputs[0].type.broadcastable


def _copies(record: Record, numbers: Numbers, total: int) -> Iterator[str]:
    time = sum(
        time for node, time in zip(record.nodes, numbers.times, strict=True) if type(node.op).__name__ == "DeepCopyOp"
    )
    if time > total / 10:
        yield (
            f"{100 * time / total:.0f} % of the time in nodes is spent copying outputs; "
            "In(..., borrow=True) and Out(..., borrow=True) avoid it if you do not keep the arrays"
        )


def _scans(record: Record, numbers: Numbers) -> Iterator[str]:
    """Scans whose steps are too small."""
    times = {id(node): time for node, time in zip(record.nodes, numbers.times, strict=True)}
    for node, inner in record.inners:
        spent, inside = times.get(id(node), 0), sum(inner.now().times)
        if inner.is_scan and inner.is_timed and spent > 2 * inside > 0:
            yield (
                f"{100 * (spent - inside) / spent:.0f} % of {getattr(node.op, 'name', None) or 'scan'} is "
                "overhead of its steps; do more work per step, or avoid the loop"
            )


def _own_nodes(record: Record, numbers: Numbers) -> Iterator[tuple[Any, int]]:
    """The nodes that compute something themselves, with their ns."""
    for node, time in zip(record.nodes, numbers.times, strict=True):
        if not record.library.is_scan(node):
            yield node, time


def _dtype(node: Any) -> str:
    return str(getattr(node.outputs[0].type, "dtype", "")) if node.outputs else ""


def _type_of(variable: Any) -> str:
    return str(getattr(variable.type, "dtype", variable.type))


def _us(ns: int, count: int) -> str:
    return f"{ns / count / 1000:.1f}"
