"""The order of a graph's nodes that needs least memory: what the flag ``profiling__min_peak_memory`` asks for."""

from __future__ import annotations

from heapq import heappop, heappush

from sonde.graph.memory import shared_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STATES = 20_000  # sets of nodes that have run; a graph with more is given up


class _Block:
    """Memory that one or several variables share: in use until all of them were read."""

    __slots__ = ("size", "variables")

    def __init__(self, size: int) -> None:
        self.size = size
        self.variables: list[tuple[int, int]] = []  # the bit of the node that makes it; those of its readers, or -1

    def size_at(self, done: int) -> int:
        """Its bytes, when these nodes have run."""
        for maker, readers in self.variables:
            if done & maker and (readers == -1 or readers & ~done):
                return self.size
        return 0


def least_peak(nodes: list[Any], graph: Any, sizes: dict[Any, int], limit: int = STATES) -> int | None:
    """The smallest peak of all orders in which these nodes could run; None if there are too many to try.

    What is in memory depends on which nodes have run, not on their order. So sets of nodes are tried, those with the
    lowest peak first, until one has all nodes.
    """
    bits = {id(node): 1 << i for i, node in enumerate(nodes)}
    created, touched = _blocks_of(nodes, graph, sizes, bits)
    needed = _needed(nodes, graph, bits)
    whole = (1 << len(nodes)) - 1
    peaks = {0: 0}
    queue = [(0, 0, 0)]  # peak so far, bytes now, the nodes that have run
    while queue:
        peak, now, done = heappop(queue)
        if done == whole:
            return peak
        if peak > peaks[done]:
            continue
        for i in range(len(nodes)):
            bit = 1 << i
            if done & bit or needed[i] & ~done:
                continue
            later = max(peak, now + created[i])
            if later < peaks.get(done | bit, later + 1):
                peaks[done | bit] = later
                change = sum(block.size_at(done | bit) - block.size_at(done) for block in touched[i])
                heappush(queue, (later, now + change, done | bit))
        if len(peaks) > limit:
            return None
    return None


def _blocks_of(
    nodes: list[Any], graph: Any, sizes: dict[Any, int], bits: dict[int, int]
) -> tuple[list[int], list[list[_Block]]]:
    """Of each node, the bytes that it needs more, and the blocks that it makes or may release."""
    readers: dict[int, int] = {}
    for node in nodes:
        for variable in node.inputs:
            readers[id(variable)] = readers.get(id(variable), 0) | bits[id(node)]
    stays = set(map(id, graph.outputs))
    block_of: dict[int, _Block] = {}
    created, touched = [], []
    for node in nodes:
        more = 0
        for k, output in enumerate(node.outputs):
            source = shared_input(node, k, True)
            block = None if source is None else block_of.get(id(source), _Block(0))
            if block is None:
                block = _Block(sizes.get(output, 0))
                more += block.size
            block_of[id(output)] = block
            block.variables.append((bits[id(node)], -1 if id(output) in stays else readers.get(id(output), 0)))
        created.append(more)
        found = {id(block_of[id(v)]): block_of[id(v)] for v in (*node.inputs, *node.outputs) if id(v) in block_of}
        touched.append(list(found.values()))
    return created, touched


def _needed(nodes: list[Any], graph: Any, bits: dict[int, int]) -> list[int]:
    """Of each node, those that must run before it: what makes its inputs, and what reads memory that it overwrites."""
    found = []
    more = graph.orderings()
    for node in nodes:
        before = [variable.owner for variable in node.inputs if variable.owner is not None]
        before += more.get(node, ())
        needed = 0
        for other in before:
            needed |= bits.get(id(other), 0)
        found.append(needed)
    return found
