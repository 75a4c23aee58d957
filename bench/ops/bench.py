"""What an operation of NumPy costs while it is measured: ns more than the same loop before, and after.

Everything runs in one process, in turn: off, on, off again, many short rounds; the least of each counts. Ends with
status 1 when an operation costs more than the bar.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from sonde import _core
from sonde._runtime import session as _session

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = 2_000
ROUNDS = 60
BAR_NS = 150

a = np.ones(4)
b = np.ones(4)
m = np.ones((4, 4))
g = np.random.default_rng(1)


def add() -> None:
    for _ in range(CALLS):
        a + b


def add_one() -> None:
    x = a
    for _ in range(CALLS):
        x += 1


def ufunc() -> None:
    f = np.sqrt
    for _ in range(CALLS):
        f(a)


def ufunc_out() -> None:
    f = np.multiply
    for _ in range(CALLS):
        f(a, b, out=a)


def matmul() -> None:
    for _ in range(CALLS):
        m @ m


def reduce() -> None:
    f = np.add.reduce
    for _ in range(CALLS):
        f(a)


def dot() -> None:
    f = np.dot
    for _ in range(CALLS):
        f(a, b)


def copy() -> None:
    for _ in range(CALLS):
        a.copy()


def reshape() -> None:
    for _ in range(CALLS):
        a.reshape(2, 2)


def random() -> None:
    for _ in range(CALLS):
        g.random()


def zeros() -> None:
    f = np.zeros
    for _ in range(CALLS):
        f(4)


LOOPS = (add, add_one, ufunc, ufunc_out, matmul, reduce, dot, copy, reshape, random, zeros)


def ns_per_call(loop: Callable[[], None]) -> float:
    start = time.perf_counter_ns()
    loop()
    return (time.perf_counter_ns() - start) / CALLS


def measured(loop: Callable[[], None], shapes: bool, stacks: bool) -> float:
    _core.ops_start(shapes, stacks)
    try:
        return ns_per_call(loop)
    finally:
        _core.ops_stop()


def main() -> int:
    _session.hold("bench")
    print(f"NumPy {np.__version__}; ns per call, least of {ROUNDS} rounds of {CALLS} calls")
    print(f"{'':12}{'off':>8}{'on':>8}{'after':>8}{'cost':>8}{'no shapes':>11}{'stacks':>8}{'off cost':>10}")
    highest = 0.0
    for loop in LOOPS:
        loop()
        before, on, bare, stacks, after = (
            min(column)
            for column in zip(
                *(
                    (
                        ns_per_call(loop),
                        measured(loop, True, False),
                        measured(loop, False, False),
                        measured(loop, True, True),
                        ns_per_call(loop),
                    )
                    for _ in range(ROUNDS)
                ),
                strict=True,
            )
        )
        print(
            f"{loop.__name__:12}{before:8.0f}{on:8.0f}{after:8.0f}{on - before:8.0f}{bare - before:11.0f}"
            f"{stacks - before:8.0f}{after - before:10.1f}"
        )
        highest = max(highest, on - before)
    _session.release("bench")
    print(f"highest cost: {highest:.0f} ns; the bar is {BAR_NS}")
    return int(highest > BAR_NS)


if __name__ == "__main__":
    sys.exit(main())
