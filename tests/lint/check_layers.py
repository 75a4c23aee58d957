"""Fails when a C file includes or names what its folder must not know, or a file is too long.

Usage: python tests/lint/check_layers.py [ROOT]
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

LAYERS = ["base", "os", "model", "probe", "store", "view", "format", "collect"]
# The two users of the core: each may include all of it, and neither the other.
MAY_INCLUDE = {folder: set(LAYERS[: i + 1]) for i, folder in enumerate(LAYERS)}
MAY_INCLUDE["cli"] = {*LAYERS, "cli"}
MAY_INCLUDE["python"] = {*LAYERS, "python"}

MAX_LINES = 1000
SIZED = ["src/**/*.[ch]", "include/**/*.h", "tests/**/*.[ch]", "python/**/*.py*", "tests/**/*.py"]

VERSION_FILE = re.compile(r"compat(_\w+)?\.[ch]|suspend_\w+\.c|call_hooks_\w+\.c")
INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]+)[>"]')
COMMENT_OR_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def without_comments(text: str) -> str:
    """The same lines with the comments blanked: a comment may name anything."""

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        return found if found.startswith('"') else " " + "\n" * found.count("\n")

    return COMMENT_OR_STRING.sub(blank, text)


def include_faults(folder: str, line: str) -> Iterator[str]:
    match = INCLUDE.match(line)
    if match is None:
        return
    target = match[1]
    if target == "Python.h" and folder != "python":
        yield "only src/python includes Python.h"
    elif target == "sqlite3.h" and folder != "store":
        yield "only src/store includes sqlite3.h"
    elif '"' in line and target != "sonde.h":
        other = target.split("/")[0]
        if "/" not in target or other not in MAY_INCLUDE:
            yield f'"{target}" is not of the form "folder/file.h"'
        elif other not in MAY_INCLUDE[folder]:
            yield f"src/{folder} must not include {target}"


def version_faults(folder: str, name: str, line: str) -> Iterator[str]:
    if folder != "python":
        for word in re.findall(r"\b(?:PY_VERSION_HEX|Py_GIL_DISABLED)\b", line):
            yield f"only src/python names {word}"
    elif not VERSION_FILE.fullmatch(name):
        for word in re.findall(r"\b(?:PY_VERSION_HEX\b|_Py\w*)", line):
            yield f"only compat.h, compat.c, suspend_*.c and call_hooks_*.c name {word}"


def file_faults(root: Path, path: Path) -> Iterator[str]:
    where = path.relative_to(root)
    folder = where.parts[1]
    if len(where.parts) < 3 or folder not in MAY_INCLUDE:
        yield f"{where}:1: is in no layer"
        return
    lines = without_comments(path.read_text(encoding="utf-8")).split("\n")
    for number, line in enumerate(lines, 1):
        for fault in [*include_faults(folder, line), *version_faults(folder, path.name, line)]:
            yield f"{where}:{number}: {fault}"


def size_faults(root: Path) -> Iterator[str]:
    for path in sorted({path for pattern in SIZED for path in root.glob(pattern) if path.is_file()}):
        count = path.read_bytes().count(b"\n")
        if count > MAX_LINES and "__pycache__" not in path.parts:
            yield f"{path.relative_to(root)}:{count}: more than {MAX_LINES} lines"


def check(root: Path) -> list[str]:
    faults = [fault for path in sorted(root.glob("src/**/*.[ch]")) for fault in file_faults(root, path)]
    return faults + list(size_faults(root))


if __name__ == "__main__":
    faults = check(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(faults) or "layers: ok", file=sys.stderr if faults else sys.stdout)
    sys.exit(1 if faults else 0)
