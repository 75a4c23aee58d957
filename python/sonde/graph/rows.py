"""The rows that the core makes its tables of: functions, and in them classes, Ops, nodes, phases, rewriters, peaks."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sonde.graph.records import Numbers, Record
    from sonde.graph.rewriting import Rewriter

    Row = tuple[int, str, str, str, dict[str, int | float]]

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_PEAKS = ("peak, as executed", "peak without in-place", "peak without garbage collection")
_LINKING = ("import", "C compilation", "cache")


class OpNames:
    """The text of each Op, and what sets those apart that have the same text and are not equal."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[str, str]] = {}
        self._details: dict[str, set[str]] = {}

    def of(self, op: Any) -> tuple[str, str]:
        """Its text and its detail."""
        found = self._known.get(op)
        if found is None:
            text = stable(str(op))
            taken = self._details.setdefault(text, set())
            detail = _unused_detail(op, taken) if taken else ""
            taken.add(detail)
            found = self._known[op] = (text, detail)
        return found


def add_function(
    rows: list[Row], parent: int, record: Record, numbers: Numbers, ops: OpNames, before: dict[int, Numbers]
) -> None:
    """A function and everything below it."""
    index = len(rows)
    count, total, vm = numbers.calls
    detail = "scan" if record.is_scan and record.parent is not None else ""
    metrics: dict[str, int | float] = {"count": count, "total": total, "graph_vm": vm}
    if record.is_scan and vm < sum(numbers.times):
        del metrics["graph_vm"]  # the C implementation of Scan keeps it in whole seconds
    rows.append((parent, "graph", record.name, detail, metrics))
    if any(numbers.counts):
        _add_nodes(rows, index, record, numbers, ops, before)
    making = None if id(record) in before else record.making
    if making is not None or numbers.compiled:
        _add_phases(rows, index, making, numbers.compiled)
    _add_peaks(rows, index, record)


def stable(text: str) -> str:
    """Without what differs from run to run."""
    return _ADDRESS.sub("", text)


def _add_nodes(
    rows: list[Row], parent: int, record: Record, numbers: Numbers, ops: OpNames, before: dict[int, Numbers]
) -> None:
    groups: dict[Any, int] = {}
    if len(record.texts) != len(record.nodes):
        record.texts = [(stable(str(node)), place) for node, place in zip(record.nodes, _ids_of(record), strict=True)]
    inners = {id(node): inner for node, inner in record.inners}
    for i, node in enumerate(record.nodes):
        kind, op = type(node.op), node.op
        if kind not in groups:
            groups[kind] = len(rows)
            rows.append((parent, "graph_class", kind.__name__, f"{kind.__module__}.{kind.__qualname__}", {}))
        if op not in groups:
            groups[op] = len(rows)
            rows.append((groups[kind], "graph_op", *ops.of(op), {}))
        index = len(rows)
        detail, metrics = _node_of(record, numbers, i)
        rows.append((groups[op], "graph_apply", record.texts[i][0], detail, metrics))
        inner = inners.get(id(node))
        if inner is not None:
            add_function(rows, index, inner, inner.now().since(before.get(id(inner))), ops, before)


def _node_of(record: Record, numbers: Numbers, i: int) -> tuple[str, dict[str, int | float]]:
    metrics: dict[str, int | float] = {"count": numbers.counts[i], "total": numbers.times[i]}
    lines = [f"#{record.texts[i][1]} {record.impls[i]}"]
    if numbers.flops[i]:
        metrics["op_flops"] = numbers.flops[i]
    if record.memory is not None and i in record.memory.arrays:
        metrics.update(record.memory.bytes_of(i))
        for word, arrays in zip(("input", "output"), record.memory.arrays[i], strict=True):
            lines += [f"{word} {k}: {array or 'no array'}" for k, array in enumerate(arrays)]
    return "\n".join(lines), metrics


def _ids_of(record: Record) -> list[int]:
    """The place of each node in its graph, sorted."""
    graphs = getattr(record, "graphs", None) or [record.graph] * len(record.nodes)
    places: dict[int, dict[int, int]] = {}
    for graph in graphs:
        if id(graph) not in places:
            places[id(graph)] = {id(node): place for place, node in enumerate(graph.toposort())}
    return [places[id(graph)].get(id(node), -1) for graph, node in zip(graphs, record.nodes, strict=True)]


def _add_phases(rows: list[Row], parent: int, making: dict[str, Any] | None, compiled_ns: int) -> None:
    """``making`` is None for a function that was made before, and is compiled by numba now."""
    top = _add_phase(rows, parent, "compile", (making or {}).get("total", 0.0) + compiled_ns / 1e9)
    if making is not None:
        _add_made(rows, top, making)
    if compiled_ns:
        _add_phase(rows, top, "numba, during calls", compiled_ns / 1e9)


def _add_made(rows: list[Row], top: int, making: dict[str, Any]) -> None:
    rewriting = _add_phase(rows, top, "rewriting", making["rewriting"])
    _add_phase(rows, rewriting, "validation", making["validation"])
    for rewriter in making["rewriters"]:
        _add_rewriter(rows, rewriting, rewriter)
    linking = _add_phase(rows, top, "linking", making["linking"])
    for name in _LINKING:
        if name in making:
            _add_phase(rows, linking, name, making[name])
    for text, seconds in making["nodes"]:
        _add_phase(rows, linking, stable(text), seconds, "node")


def _add_phase(rows: list[Row], parent: int, name: str, seconds: float, detail: str = "") -> int:
    rows.append((parent, "graph_phase", name, detail, {"total": round(seconds * 1e9)}))
    return len(rows) - 1


def _add_rewriter(rows: list[Row], parent: int, rewriter: Rewriter) -> None:
    index = len(rows)
    metrics: dict[str, int | float] = {"total": round(rewriter.seconds * 1e9)}
    if rewriter.applied is not None:
        metrics["count"] = rewriter.applied
    if rewriter.nodes is not None:
        metrics["graph_before"], metrics["graph_after"] = rewriter.nodes
    rows.append((parent, "graph_rewriter", stable(rewriter.name), rewriter.kind, metrics))
    if rewriter.validation:
        _add_phase(rows, index, "validation", rewriter.validation)
    for part in rewriter.parts:
        _add_rewriter(rows, index, part)


def _add_peaks(rows: list[Row], parent: int, record: Record) -> None:
    memory = record.memory
    if memory is None or memory.peaks is None:
        return
    for name, size in zip(_PEAKS, memory.peaks, strict=True):
        rows.append((parent, "graph_memory", name, "", {"graph_peak": size}))
    least = memory.least_peak() if record.library.flag("profiling__min_peak_memory", False) else None
    if least is not None:
        rows.append((parent, "graph_memory", "lowest peak of all orders", "", {"graph_peak": least}))
    if memory.measured is not None:
        rows.append((parent, "graph_memory", "peak measured", "", {"graph_peak": memory.measured}))


def _unused_detail(op: Any, taken: set[str]) -> str:
    """Its properties, or a number where they say nothing."""
    names = getattr(op, "__props__", None) or ()
    text = stable(", ".join(f"{name}={getattr(op, name, None)}" for name in names))
    if text and text not in taken:
        return text
    return str(next(number for number in range(2, len(taken) + 3) if str(number) not in taken))
