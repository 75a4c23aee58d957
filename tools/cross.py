"""Compiles the core and the program for aarch64: what only works on this machine's processor fails here.

Usage: python tools/cross.py BUILD, where BUILD is a configured build directory. Its compile commands give the files
and the warnings, so there is no second list of them; nothing is linked.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COMPILER = "aarch64-linux-gnu-gcc"
# These headers are the same for every processor; the rest of /usr/include belongs to this one.
HEADERS = ["sqlite3.h", "zlib.h", "zconf.h"]
# For a build with libdw.
LIBDW_HEADERS = ["dwarf.h", "gelf.h", "libelf.h", "elfutils/libdw.h", "elfutils/libdwfl.h"]


def copy_headers(folder: Path, names: list[str]) -> None:
    multiarch = subprocess.run(["gcc", "-print-multiarch"], capture_output=True, text=True, check=True).stdout.strip()
    for name in names:
        places = [Path("/usr/include", multiarch, name), Path("/usr/include", name)]
        found = next((place for place in places if place.exists()), None)
        if found is None:
            sys.exit(f"tools/cross.py: no {name}; see tools/system.sh")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(found, folder / name)


def flags(command: str) -> list[str]:
    """The macros, folders and warnings of a command."""
    return [word for word in shlex.split(command) if word.startswith(("-D", "-I", "-W", "-f", "-std="))]


def compile_one(entry: dict[str, str], include: Path) -> bool:
    words = [COMPILER, *flags(entry["command"]), "-Werror", "-O2", "-isystem", str(include.resolve())]
    words += ["-c", entry["file"], "-o", "/dev/null"]
    return subprocess.run(words, cwd=entry["directory"], check=False).returncode == 0


def main(build: Path) -> None:
    include = build / "cross"
    root = Path.cwd()
    entries = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(root / "src") and not path.is_relative_to(root / "src/python"):
            entries.append(entry)
    has_libdw = any(entry["file"].endswith("native_libdw.c") for entry in entries)
    copy_headers(include, HEADERS + LIBDW_HEADERS * has_libdw)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda entry: compile_one(entry, include), entries))
    print(f"aarch64: {sum(done)} of {len(done)} files compile")
    if not done or not all(done):
        sys.exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
