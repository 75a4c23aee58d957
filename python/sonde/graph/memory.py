"""The memory of a compiled function: the arrays that its nodes returned, and what they make at once, by simulation."""

from __future__ import annotations

from math import prod

from sonde.graph import flops

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from sonde.graph.library import Library

MEASURED_CALLS = 4  # of each function, whose real peak is taken; the first only counts where there is no other


class Array:
    """What an array looked like when a node had run."""

    __slots__ = ("dtype", "shape", "size", "strides")

    def __init__(self, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> None:
        self.dtype = dtype
        self.shape = shape
        self.strides = strides
        self.size = size  # bytes

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}, strides {self.strides}"


class Memory:
    """Filled while a function runs. The peaks are the largest of all its calls."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.measured: int | None = None  # bytes, of the real peak
        self.measured_calls = 0
        self.is_measuring = False  # a call whose real peak is taken: our own work comes after it
        self.peaks: tuple[int, int, int] | None = None  # as executed, without in-place, without garbage collection
        self.arrays: dict[int, tuple[list[Array | None], list[Array | None]]] = {}  # of each node, in the largest call
        self.has_many_orders = False  # too many to find the best
        self._largest_run: tuple[list[Any], Any, dict[Any, int]] | None = None  # nodes, graph, sizes: the largest peak
        self._least: int | None = None  # of that
        self._nodes: list[Any] = []

    def begin(self, graph: Any, nodes: list[Any], allows_gc: bool) -> None:
        """The function whose nodes are measured from now on."""
        if self._nodes:
            return
        self._graph = graph
        self._nodes = nodes
        self._allows_gc = allows_gc
        self._last: list[Any] = [None] * len(nodes)  # (shapes, arrays in, arrays out)
        self._order: dict[int, None] = {}  # of this call
        self._is_new = False  # some array looks different from the call before
        self._largest = -1
        self._flops = [0.0] * len(nodes)
        self._flops_each = [0.0] * len(nodes)  # of a call
        self._flops_from = [0] * len(nodes)  # counted since that call

    def looker(self, i: int, inputs: Any, outputs: Any, counts: list[int]) -> Callable[[], None]:
        """What node ``i`` calls when it has run: its arrays are in their cells then."""
        cells = [*inputs, *outputs]
        middle = len(inputs)
        last, order = self._last, self._order

        def look() -> None:
            shapes = [getattr(cell[0], "shape", None) for cell in cells]
            order.pop(i, None)
            order[i] = None
            known = last[i]
            if known is None or known[0] != shapes:
                arrays = [_array_of(cell[0]) for cell in cells]
                last[i] = (shapes, arrays[:middle], arrays[middle:])
                self._is_new = True
                self._settle(i, counts[i] - 1)

        return look

    def end_call(self) -> None:
        """The function has returned."""
        if not self._is_new:
            self._order.clear()
            return
        self._is_new = False
        order = list(self._order)
        self._order.clear()
        known = {i: looks for i, looks in enumerate(self._last) if looks is not None}
        total = sum(array.size for _, _, outputs in known.values() for array in outputs if array is not None)
        if total > self._largest:
            self._largest = total
            self.arrays = {i: (inputs, outputs) for i, (_, inputs, outputs) in known.items()}
        sizes = {
            variable: array.size
            for i, (_, _, outputs) in known.items()
            for variable, array in zip(self._nodes[i].outputs, outputs, strict=False)
            if array is not None
        }
        executed = [self._nodes[i] for i in order]
        now = (
            peak(executed, self._graph, sizes, is_inplace=True, frees=self._allows_gc),
            peak(executed, self._graph, sizes, is_inplace=False, frees=self._allows_gc),
            peak(executed, self._graph, sizes, is_inplace=True, frees=False),
        )
        before = self.peaks or (0, 0, 0)
        if now[0] >= before[0]:
            self._largest_run = (executed, self._graph, sizes)
        self.peaks = (max(now[0], before[0]), max(now[1], before[1]), max(now[2], before[2]))

    def least_peak(self) -> int | None:
        """What the call with the largest peak would have needed in the best order; None if that is not known."""
        from sonde.graph import orders

        run, self._largest_run = self._largest_run, None
        if run is not None:
            self._least = orders.least_peak(*run)
            self.has_many_orders = self._least is None
        return self._least

    def flops(self, counts: Sequence[int]) -> list[float]:
        """Floating-point operations of each node so far; 0 where there is no formula."""
        if not self._nodes:
            return [0.0] * len(counts)
        return [
            done + each * (count - start)
            for done, each, count, start in zip(self._flops, self._flops_each, counts, self._flops_from, strict=True)
        ]

    def bytes_of(self, i: int) -> dict[str, int]:
        """The outputs of a node: created, in place, views."""
        found = {"graph_created": 0, "graph_inplace": 0, "graph_view": 0}
        for k, array in enumerate(self.arrays[i][1]):
            found[_fate(self._nodes[i], k)] += 0 if array is None else array.size
        return found

    def _settle(self, i: int, count: int) -> None:
        """The shapes of a node have changed: what it did until now was done with the old ones."""
        self._flops[i] += self._flops_each[i] * (count - self._flops_from[i])
        self._flops_from[i] = count
        _, inputs, outputs = self._last[i]
        shapes = [[None if array is None else array.shape for array in arrays] for arrays in (inputs, outputs)]
        self._flops_each[i] = flops.of_node(self._library, self._nodes[i], *shapes) or 0.0


class GivenMemory(Memory):
    """The same from a profile that the program made itself, which keeps the arrays of the last call."""

    _seen: tuple[list[Any], dict[Any, int]] | None = None  # the order and the sizes of which the peaks are

    def end_call(self) -> None:
        """Everything is kept by the library."""

    def read(self, stats: Any, nodes: list[Any], graphs: list[Any]) -> None:
        """Take what it has."""
        self._nodes = nodes
        arrays = {
            variable: _array_from(variable, shape, stats.variable_strides.get(variable))
            for variable, shape in stats.variable_shape.items()
        }
        for i, node in enumerate(nodes):
            self.arrays[i] = (
                [arrays.get(variable) for variable in node.inputs],
                [arrays.get(variable) for variable in node.outputs],
            )
        self._find_peaks(stats, {variable: array.size for variable, array in arrays.items() if array}, graphs)

    def flops(self, counts: Sequence[int]) -> list[float]:
        found = []
        for i, count in enumerate(counts):
            inputs, outputs = self.arrays[i]
            shapes = [[None if array is None else array.shape for array in some] for some in (inputs, outputs)]
            found.append(count * (flops.of_node(self._library, self._nodes[i], *shapes) or 0.0))
        return found

    def _find_peaks(self, stats: Any, sizes: dict[Any, int], graphs: list[Any]) -> None:
        """Of the function that was called last: only its order is known."""
        order = getattr(stats, "node_executed_order", None) or []
        place = {id(node): graph for node, graph in zip(self._nodes, graphs, strict=True)}
        graph = place.get(id(order[0])) if order else None
        if graph is not None:
            if self._seen != (order, sizes):
                self._largest_run, self._seen = (order, graph, sizes), (order, sizes)
            self.peaks = (
                peak(order, graph, sizes, is_inplace=True, frees=True),
                peak(order, graph, sizes, is_inplace=False, frees=True),
                peak(order, graph, sizes, is_inplace=True, frees=False),
            )


def peak(order: list[Any], graph: Any, sizes: dict[Any, int], *, is_inplace: bool, frees: bool) -> int:
    """The most bytes that exist at once while these nodes run one after the other.

    An output is new memory, or shares that of the input which it overwrites or views. Memory is released when no
    variable that shares it will be read any more. What comes from outside, inputs and constants, costs nothing.
    """
    readers = {id(node): set(map(id, node.inputs)) for node in order}
    left: dict[int, int] = {}  # nodes that are still to read a variable
    for variables in readers.values():
        for variable in variables:
            left[variable] = left.get(variable, 0) + 1
    stays = set(map(id, graph.outputs))
    block_of: dict[int, int] = {}  # the variable that brought the memory of a variable
    users: dict[int, set[int]] = {}  # living variables of a block
    size_of: dict[int, int] = {}
    now = most = 0
    for node in order:
        for k, output in enumerate(node.outputs):
            source = shared_input(node, k, is_inplace)
            if source is None:
                block = id(output)
                size_of[block] = sizes.get(output, 0)
                now += size_of[block]
            else:
                block = block_of.get(id(source), id(source))
            block_of[id(output)] = block
            users.setdefault(block, set()).add(id(output))
        most = max(most, now)
        if not frees:
            continue
        for variable in readers[id(node)]:
            left[variable] -= 1
        done = [variable for variable in readers[id(node)] if left[variable] == 0]
        for variable in [*done, *(id(output) for output in node.outputs if id(output) not in left)]:
            found = block_of.get(variable)
            if found is None or variable in stays:
                continue
            users[found].discard(variable)
            if not users[found]:
                now -= size_of.pop(found, 0)
    return most


def shared_input(node: Any, k: int, is_inplace: bool) -> Any:
    """The input whose memory an output shares; None when it has its own."""
    for shared in (node.op.destroy_map if is_inplace else {}, node.op.view_map):
        if shared and shared.get(k):
            return node.inputs[shared[k][0]]
    return None


def _fate(node: Any, k: int) -> str:
    if (node.op.destroy_map or {}).get(k):
        return "graph_inplace"
    return "graph_view" if (node.op.view_map or {}).get(k) else "graph_created"


def _array_of(value: Any) -> Array | None:
    try:
        return Array(str(value.dtype), tuple(value.shape), tuple(value.strides), int(value.nbytes))
    except (AttributeError, TypeError):
        return None  # a generator, a sparse matrix, a number


def _array_from(variable: Any, shape: Any, strides: Any) -> Array | None:
    """From what the library keeps: the strides of a plain array are only a letter."""
    dtype, width = getattr(variable.type, "dtype", None), getattr(variable.type, "numpy_dtype", None)
    if dtype is None or width is None or not isinstance(shape, tuple):
        return None
    size = width.itemsize
    if not isinstance(strides, tuple):
        plain = []
        for length in reversed(shape):
            plain.append(size)
            size *= int(length)
        strides = tuple(reversed(plain))
    return Array(str(dtype), tuple(map(int, shape)), strides, width.itemsize * prod(map(int, shape)))


def measured(memory: Memory | None, function: Any, subject: Any, args: Any, kwargs: Any) -> Any:
    """Call it, and keep how much memory more there was at most: for its first calls, and if nobody else is tracing."""
    import tracemalloc

    if memory is None or memory.measured_calls >= MEASURED_CALLS or tracemalloc.is_tracing():
        return function(subject, *args, **kwargs)
    memory.is_measuring = True
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = function(subject, *args, **kwargs)
        found = tracemalloc.get_traced_memory()[1] - before
        memory.measured = found if memory.measured_calls <= 1 else max(memory.measured or 0, found)
        memory.measured_calls += 1
    finally:
        tracemalloc.stop()
        memory.is_measuring = False
    memory.end_call()
    return result
