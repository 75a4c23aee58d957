"""What ``sonde stat -c`` runs: a statement in loops, in a process of its own."""

from __future__ import annotations

import ast
import gc
import itertools
import linecache
import os
import sys
import traceback
import types

from sonde import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LEAST_NS = 10e6  # a value takes at least so long
VALUES = 5  # of a process
LONG_NS = 200e6  # of what takes so long, one value

# The loop that is timed: as little as possible beside the statement.
_LOOP = """
def loop(_sonde_loops, _sonde_begin, _sonde_end):
    _sonde_begin()
    for _sonde_each in _sonde_loops:
        pass
    return _sonde_end()
"""


def main() -> None:
    """Write to the open file of the first word what is measured; a line of a word and what follows it each."""
    told, loops, keeps_gc, setup, statement = sys.argv[1:]
    os.set_inheritable(int(told), False)
    sys.argv[:] = ["-c"]
    sys.path.insert(0, "")
    try:
        with open(int(told), "w") as out:
            _measure(out, int(loops), bool(keeps_gc), setup, statement)
    except Exception as error:  # noqa: BLE001
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        traceback.print_exception(error.with_traceback(trace))
        sys.exit(1)


def _measure(out: Any, loops: int, keeps_gc: bool, setup: str, statement: str) -> None:
    empty = _make("", "")
    run = _make(setup, statement)
    loops = loops or _calibrate(run, keeps_gc)
    print("loops", loops, file=out)
    batch = _calibrate(empty, keeps_gc)
    print("empty", min(_value(empty, batch, keeps_gc)["wall"] for _ in range(3)) / batch, file=out)
    for number in range(VALUES):
        value = _value(run, loops, keeps_gc)
        if number == 0:
            for name, why in value.items():
                if isinstance(why, str):
                    print("missing", name, why, file=out)
        pairs = (f"{name}={number!r}" for name, number in value.items() if isinstance(number, float))
        print("value", *pairs, file=out)
        if value["wall"] >= LONG_NS:
            break
    print("done", file=out)


def _make(setup: str, statement: str) -> Callable[..., dict[str, Any]]:
    """The loop around a statement, with the setup before it: names of the setup are local variables of one function."""
    name = "<statement>"
    compile(setup, "<setup>", "exec", dont_inherit=True)
    compile(statement, name, "exec", dont_inherit=True)  # what may not stand in a loop or a function of ours fails here
    text = f"{setup}\n{statement}"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    tree = ast.parse(_LOOP)
    function: Any = tree.body[0]
    inner = ast.increment_lineno(ast.parse(statement), setup.count("\n") + 1).body
    function.body[1].body = inner or function.body[1].body
    function.body[:0] = ast.parse(setup).body
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    exec(compile(tree, name, "exec", dont_inherit=True), module.__dict__)
    return module.__dict__.pop("loop")  # type: ignore[no-any-return]


def _value(run: Callable[..., dict[str, Any]], loops: int, keeps_gc: bool) -> dict[str, Any]:
    """What so many loops use: a number, or the reason why it is not known."""
    collects = gc.isenabled()
    if not keeps_gc:
        gc.disable()
    try:
        return run(itertools.repeat(None, loops), _core.usage_begin, _core.usage_end)
    finally:
        if collects:
            gc.enable()


def _calibrate(run: Callable[..., dict[str, Any]], keeps_gc: bool) -> int:
    """1, 2, 5, 10, …: the first number of loops that takes long enough."""
    size = 1
    while True:
        for digit in 1, 2, 5:
            if _value(run, digit * size, keeps_gc)["wall"] >= LEAST_NS:
                return digit * size
        size *= 10


if __name__ == "__main__":
    main()
