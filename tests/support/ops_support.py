"""Measuring operations of NumPy in this process, and what was seen of them."""

from __future__ import annotations

import ctypes
import sqlite3
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sonde import _core
from sonde._runtime import session as _session

SEEN = """
select node.id, coalesce(node.parent, -1), site.kind, site.name, site.detail, site.file, site.line,
       metric.name, value.value
from node join site on site.id = node.site join value on value.node = node.id join metric on metric.id = value.metric
"""


@dataclass
class Op:
    """One kind of call below one parent."""

    parent: int
    kind: str
    name: str
    detail: str
    file: str
    line: int
    values: dict[str, float] = field(default_factory=dict)

    def __getattr__(self, name: str) -> float:
        return self.values.get(name, 0)


class Seen:
    """What has been measured, by the recording's own words."""

    def __init__(self, path: Path) -> None:
        self.nodes: dict[int, Op] = {}
        with sqlite3.connect(path) as file:
            for number, parent, kind, name, detail, at, line, metric, value in file.execute(SEEN):
                op = self.nodes.setdefault(number, Op(parent, kind, name, detail, at, line))
                op.values[metric] = value
        self.ops = [op for op in self.nodes.values() if op.kind == "op" and op.count]  # a reset leaves nodes

    def names(self) -> set[str]:
        return {op.name for op in self.ops}

    def all(self, name: str) -> list[Op]:
        return [op for op in self.ops if op.name == name]

    def one(self, name: str) -> Op:
        (op,) = self.all(name)
        return op

    def count(self, name: str) -> int:
        return int(sum(op.count for op in self.all(name)))


class Measured:
    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def __call__(self, shapes: bool = True, stacks: bool = False) -> Iterator[None]:
        _core.ops_start(shapes, stacks)
        try:
            yield
        finally:
            _core.ops_stop()

    def seen(self) -> Seen:
        self._path.unlink(missing_ok=True)
        _core.profile().save(str(self._path))
        return Seen(self._path)


@contextmanager
def measuring(folder: Path) -> Iterator[Measured]:
    """A session, which ops are measured in once ``measured()`` says so."""
    _session.hold("ops-test")
    _core.reset()
    try:
        yield Measured(folder / "ops.sonde")
    finally:
        _session.release("ops-test")


def rows_of(prof: Any, *group: Any) -> dict[str, Any]:
    """The averages of a measurement by their key."""
    return {row.key: row for row in prof.key_averages(*group)}


# ---- what stands in the slots, read from memory ----


def _pointer(address: int) -> int:
    return ctypes.c_size_t.from_address(address).value


def slot(callable_: Any) -> int:
    """What a call of this object leads to."""
    if isinstance(callable_, types.MethodDescriptorType):
        return _pointer(_pointer(id(callable_) + 40) + 8)  # d_method->ml_meth
    if isinstance(callable_, types.BuiltinFunctionType):
        return _pointer(_pointer(id(callable_) + 16) + 8)  # m_ml->ml_meth
    offset = _pointer(id(type(callable_)) + 56)  # tp_vectorcall_offset
    return _pointer(id(callable_) + offset) if offset else 0


TYPES = (np.ndarray, np.ufunc, np.random.Generator, np.random.RandomState)


def slots() -> dict[str, int]:
    """Everything in NumPy that can be hooked, and what stands there."""
    found = {}
    for place in (np, np.linalg, np.fft, np.linalg._umath_linalg, *TYPES):
        for name, value in list(vars(place).items()):
            if callable(value) and not isinstance(value, type | types.FunctionType | types.MethodType):
                found[f"{place.__name__}.{name}"] = slot(value)
    return found
