"""``@profile`` as Scalene and kernprof have it: a builtin, for programs that use it without defining it."""

from __future__ import annotations

import os

from sonde import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    from sonde._runtime.program import Program

_FILES = 200  # of a program; more are not looked at
_SIZE = 1 << 20

_marked: list[str] = []


def are_used(program: Program) -> bool:
    """Whether the program, or a file next to it that it imports, uses ``@profile`` without defining it."""
    path = program.path
    if program.kind == "code":
        text = os.fsencode(program.words[0])
        return b"@profile" in text and _is_undefined(text)
    if path is None:
        return False
    folder = os.path.dirname(path)  # noqa: PTH120
    waiting, seen = [path], {path}
    while waiting:
        text = _read(waiting.pop())
        if b"@profile" in text and _is_undefined(text):
            return True
        for name in _imported(text):
            base = f"{folder}/{name}"
            for file in (f"{base}.py", f"{base}/__init__.py"):
                if file not in seen and len(seen) < _FILES and os.path.isfile(file):  # noqa: PTH113
                    seen.add(file)
                    waiting.append(file)
    return False


def define() -> None:
    """Make it a builtin."""
    import builtins

    if not hasattr(builtins, "profile"):
        builtins.profile = _profile  # type: ignore[attr-defined]


def _profile(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is. The summary shows its lines first."""
    code = getattr(function, "__code__", None)
    if code is not None:
        _marked.append(f"{code.co_filename}\t{code.co_firstlineno}\t{_last_line(code)}")
        _core.set_info("marked", "\n".join(_marked))
    return function


def _last_line(code: CodeType) -> int:
    """Of a function, with what is defined inside it."""
    inner = [_last_line(one) for one in code.co_consts if isinstance(one, type(code))]
    return max([code.co_firstlineno, *inner, *(line for _, _, line in code.co_lines() if line is not None)])


def _imported(text: bytes) -> set[str]:
    """Modules, as paths. No module of the library's is needed for it: the program would find it imported."""
    lines = [line.split() for line in text.splitlines() if b"import" in line]
    names = {words[1].strip(b",") for words in lines if len(words) > 1 and words[0] in (b"import", b"from")}
    return {os.fsdecode(name).replace(".", "/") for name in names}


def _read(path: str) -> bytes:
    """What was read of a pipe would be gone."""
    if not os.path.isfile(path):  # noqa: PTH113
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(_SIZE)
    except OSError:
        return b""


def _is_undefined(text: bytes) -> bool:
    import ast

    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return False
    return any(map(_uses, nodes)) and not any(map(_defines, nodes))


def _uses(node: ast.AST) -> bool:
    return any(getattr(one, "id", None) == "profile" for one in getattr(node, "decorator_list", ()))


def _defines(node: ast.AST) -> bool:
    import ast

    if isinstance(node, ast.Name):
        return node.id == "profile" and isinstance(node.ctx, ast.Store)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name == "profile"
    return isinstance(node, ast.alias) and (node.asname or node.name) == "profile"
