"""What a call of a compiled function costs more while it is measured, beside the library's own ``profile=True``.

Everything runs in one process, in turn: not measured, by the library, by sonde, many short rounds; the least of each
counts. Ends with status 1 when sonde costs more than the library's own profile.

    python bench/graph/bench.py            # Aesara or PyTensor, whichever is installed
"""

from __future__ import annotations

import importlib
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import sonde.graph

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = 200
ROUNDS = 60
BAR = 1.0
LINKERS = {"C VM": "cvm", "Python VM": "vm"}


def find_library() -> Any:
    for name in ("aesara", "pytensor"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    sys.exit("this needs Aesara or PyTensor")


def make_function(library: Any, linker: str, nodes: int, **options: Any) -> Callable[..., Any]:
    """A chain of nodes that take next to no time: what is left is bookkeeping."""
    tensor = importlib.import_module(f"{library.__name__}.tensor")
    mode = importlib.import_module(f"{library.__name__}.compile.mode").Mode(linker, "fast_run").excluding("fusion")
    x = tensor.vector("x")
    y = x
    for i in range(nodes):
        y = tensor.exp(y) if i % 2 else tensor.tanh(y)
    function: Callable[..., Any] = library.function([x], y, mode=mode, **options)
    return function


def round_ns(function: Callable[..., Any], x: Any) -> float:
    begin = time.perf_counter_ns()
    for _ in range(CALLS):
        function(x)
    return (time.perf_counter_ns() - begin) / CALLS


def compare(library: Any, linker: str, nodes: int) -> tuple[float, float, float]:
    """ns of a call: not measured, by the library, by sonde."""
    plain = make_function(library, linker, nodes)
    profiled = make_function(library, linker, nodes, profile=True)
    x = np.ones(4)
    least = [float("inf")] * 3
    for _ in range(ROUNDS):
        least[0] = min(least[0], round_ns(plain, x))
        least[1] = min(least[1], round_ns(profiled, x))
        with sonde.graph.profile():
            plain(x)
            least[2] = min(least[2], round_ns(plain, x))
    return least[0], least[1], least[2]


def main() -> None:
    library = find_library()
    is_slower = False
    print(f"{library.__name__} {library.__version__}: ns added to a call")
    print(f"{'':10}  {'nodes':>5}  {'plain':>8}  {'profile=True':>12}  {'sonde':>8}  {'ratio':>6}")
    for title, linker in LINKERS.items():
        for nodes in (1, 10, 100):
            plain, theirs, ours = compare(library, linker, nodes)
            ratio = (ours - plain) / (theirs - plain)
            is_slower |= ratio > BAR
            print(
                f"{title:10}  {nodes:5}  {plain:8.0f}  {theirs - plain:12.0f}  {ours - plain:8.0f}  {ratio:6.2f}",
                flush=True,
            )
    sys.exit(1 if is_slower else 0)


if __name__ == "__main__":
    main()
