"""Functions that a budget names, lines that a failure names: where they are, how often they were called."""

from __future__ import annotations

import builtins
import gc
import os
import sys
import types

from sonde._runtime import places as _places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sonde import _core

_BUILTIN = (types.BuiltinFunctionType, types.MethodDescriptorType, types.ClassMethodDescriptorType)


def excesses(limits: dict[str, int], calls: _core.Profile | None) -> list[tuple[str, list[str]]]:
    """What was called more often than it may be, with its callers; and names that nothing has."""
    if calls is None:
        return []
    rows = _rows(calls, "callers")
    functions = [row for row in rows if row["parent_id"] is None]
    found = []
    for name, limit in limits.items():
        called = [row for row in functions if _is_meant(name, row)]
        count = sum(row["calls"] for row in called)
        if count > limit:
            found.append((f"{name} called {times(count)}, allowed {limit}", _caller_lines(called, rows)))
        elif not called and not is_builtin(name) and not _exists(name):
            found.append((f"{name}: no function has this name, so its calls cannot be checked", []))
    return found


def _rows(calls: _core.Profile, view: str) -> list[dict[str, Any]]:
    try:
        return calls.rows(view)
    except OSError:  # nothing was called
        return []


def _caller_lines(called: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[str]:
    lines = []
    for function in sorted(called, key=lambda row: -row["calls"])[:3]:
        callers = [row for row in rows if row["parent_id"] == function["id"] and row["calls"]]
        lines.append(f"{_label(function)}: {times(function['calls'])}")
        for caller in sorted(callers, key=lambda row: -row["calls"])[:3]:
            lines.append(f"  {times(caller['calls'])} from {_label(caller)}")
    return lines


def times(count: int) -> str:
    """A number of calls in words."""
    return "once" if count == 1 else f"{count} times"


def _label(row: dict[str, Any]) -> str:
    return str(row["function"]) if row["file"] is None else f"{place(row['file'], row['line'])} {row['name']}"


def _is_meant(name: str, row: dict[str, Any]) -> bool:
    """Whether a row of a table is the function that was named: f, Class.f, module:f or a builtin's module.f."""
    module, _, function = name.rpartition(":")
    qualified = _plain(row["name"])
    if module and row["file"] is None:
        return qualified == f"{module}.{function}"
    if module and not _is_file_of(module, row["file"]):
        return False
    return _is_like(function, qualified)


def _is_like(function: str, qualified: str) -> bool:
    return qualified == function or qualified.endswith("." + function)


def _plain(name: str) -> str:
    """builtins.len of <built-in method builtins.len>, list.append of <method 'append' of 'list' objects>."""
    words = name.strip("<>").replace("'", "").split()
    if words[:2] == ["built-in", "method"] and len(words) == 3:
        return words[2]
    if words[:1] == ["method"] and words[2:3] == ["of"]:
        return f"{words[3]}.{words[1]}"
    return name


def _is_file_of(module: str, file: str) -> bool:
    known = getattr(sys.modules.get(module), "__file__", None)
    return known is not None and os.path.realpath(known) == os.path.realpath(file)


def is_builtin(name: str) -> bool:
    """Whether a function is written in C, as far as that is known: len, list.append, numpy:dot, math.sqrt."""
    module, _, function = name.rpartition(":")
    first, _, rest = function.partition(".")
    roots = [(sys.modules.get(module), function)] if module else [(builtins, function), (sys.modules.get(first), rest)]
    return any(isinstance(_attribute(root, path), _BUILTIN) for root, path in roots if root is not None and path)


def _attribute(found: Any, path: str) -> Any:
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def _exists(name: str) -> bool:
    """Whether any existing function, or one that it would make, has the name."""
    module, _, function = name.rpartition(":")
    if module and module not in sys.modules:
        return _can_be_imported(module)
    return any(
        _is_like(function, code.co_qualname) for code in _codes() if not module or _is_file_of(module, code.co_filename)
    )


def _can_be_imported(module: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _codes() -> Iterator[types.CodeType]:
    waiting = [found.__code__ for found in gc.get_objects() if isinstance(found, types.FunctionType)]
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


def place(file: str, line: int) -> str:
    """As editors and terminals make a link of: relative where it is below the current folder."""
    here = os.getcwd() + "/"  # noqa: PTH109
    return f"{file.removeprefix(here)}:{line}" if line else file


def own_frames(frames: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    """The lines of a stack that are in no library, the innermost first; where there are none, the innermost of all."""
    libraries = ("<frozen", *(f"{path}/" for path in _places.library_paths()))
    main = _places.main_file()  # pytest's
    own = (frame for frame in frames if frame[0] != main and not frame[0].startswith(libraries))
    return tuple(dict.fromkeys(own)) or frames[:1]  # a comprehension is a frame too, at the line that it is in


def source_of(file: str, line: int) -> str:
    """The text of a line, "" where there is none."""
    import linecache

    return linecache.getline(file, line)
