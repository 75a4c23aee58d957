"""Fails when a C file includes or names what its room must not know, and when a room or a file is too large.

Usage: python tests/lint/check_layers.py [ROOT]

src/rooms.txt lists the rooms and what each may include. One file of each room, its main header, begins with what the
room is for: "/* Room: ... */".
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOMS = Path(__file__).resolve().parents[2] / "src" / "rooms.txt"

MAX_FILES = 25
MAX_LINES = 1000
SIZED = ["src/**/*.[ch]", "include/**/*.h", "tests/**/*.[ch]", "python/**/*.py*", "tests/**/*.py"]

INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]+)[>"]')
COMMENT_OR_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def without_comments(text: str) -> str:
    """The same lines with the comments blanked: a comment may name anything."""

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        return found if found.startswith('"') else " " + "\n" * found.count("\n")

    return COMMENT_OR_STRING.sub(blank, text)


def read_rooms(text: str) -> dict[str, set[str]]:
    """Each room with the rooms that it may include, itself among them."""
    lines = [line.partition(":") for line in text.splitlines() if line and not line.startswith("#")]
    return {room: {room, *others.split()} for room, _, others in lines}


MAY_INCLUDE = read_rooms(ROOMS.read_text(encoding="utf-8"))


def include_faults(room: str, line: str) -> Iterator[str]:
    match = INCLUDE.match(line)
    if match is None:
        return
    target = match[1]
    if target == "Python.h" and not room.startswith("python/"):
        yield "only src/python includes Python.h"
    elif target == "sqlite3.h" and room.split("/")[0] != "store":
        yield "only src/store includes sqlite3.h"
    elif '"' in line and target != "sonde.h":
        other = target.rpartition("/")[0]
        if other not in MAY_INCLUDE:
            yield f'"{target}" is not of the form "room/file.h"'
        elif other not in MAY_INCLUDE[room]:
            yield f"src/{room} must not include {target}: see src/rooms.txt"


def version_faults(room: str, line: str) -> Iterator[str]:
    # They describe the system that the interpreter was built on; a wheel runs on others.
    for word in re.findall(r"\bHAVE_[A-Z]\w*", line):
        yield f"{word} of pyconfig.h must decide nothing"
    if not room.startswith("python/"):
        for word in re.findall(r"\b(?:PY_VERSION_HEX|Py_GIL_DISABLED)\b", line):
            yield f"only src/python names {word}"
    elif room != "python/compat":
        for word in re.findall(r"\b(?:PY_VERSION_HEX\b|_Py\w*)", line):
            yield f"only src/python/compat names {word}"


def file_faults(root: Path, path: Path) -> Iterator[str]:
    where = path.relative_to(root)
    room = "/".join(where.parts[1:-1])
    if room not in MAY_INCLUDE:
        yield f"{where}:1: is in no room"
        return
    lines = without_comments(path.read_text(encoding="utf-8")).split("\n")
    for number, line in enumerate(lines, 1):
        for fault in [*include_faults(room, line), *version_faults(room, line)]:
            yield f"{where}:{number}: {fault}"


def room_faults(root: Path) -> Iterator[str]:
    paths = sorted(root.glob("src/**/*.[ch]"))
    for room, count in Counter(path.parent for path in paths).items():
        if count > MAX_FILES:
            yield f"{room.relative_to(root)}:{count}: more than {MAX_FILES} files"
    main = Counter(path.parent for path in paths if path.read_text(encoding="utf-8").startswith("/* Room: "))
    for folder in sorted({path.parent for path in paths}):
        if main[folder] != 1 and folder.relative_to(root / "src").as_posix() in MAY_INCLUDE:
            yield f"{folder.relative_to(root)}: {main[folder]} files say what the room is for"
    for name, count in Counter(path.name for path in paths if path.suffix == ".c").items():
        if count > 1:
            yield f"src: {count} files are called {name}"


def size_faults(root: Path) -> Iterator[str]:
    for path in sorted({path for pattern in SIZED for path in root.glob(pattern) if path.is_file()}):
        count = path.read_bytes().count(b"\n")
        if count > MAX_LINES and "__pycache__" not in path.parts:
            yield f"{path.relative_to(root)}:{count}: more than {MAX_LINES} lines"


def check(root: Path) -> list[str]:
    faults = [fault for path in sorted(root.glob("src/**/*.[ch]")) for fault in file_faults(root, path)]
    return faults + list(room_faults(root)) + list(size_faults(root))


if __name__ == "__main__":
    faults = check(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(faults) or "layers: ok", file=sys.stderr if faults else sys.stdout)
    sys.exit(1 if faults else 0)
