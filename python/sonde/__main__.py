"""``python -m sonde`` is the program ``sonde``."""

from __future__ import annotations

import os
import sys
import sysconfig
from importlib import metadata
from pathlib import Path


def _find_program() -> str | None:
    """The program that was installed with this package, wherever its scripts went."""
    try:
        files = metadata.files("sonde-profiler") or []
    except metadata.PackageNotFoundError:
        files = []
    found = [Path(str(file.locate())) for file in files if file.name == "sonde" and file.parent.name == "bin"]
    found += [Path(sysconfig.get_path("scripts")) / "sonde", Path(sys.executable).parent / "sonde"]
    return next((str(path) for path in found if os.access(path, os.X_OK) and path.is_file()), None)


def main() -> None:
    program = _find_program()
    if program is None:
        sys.exit("sonde: the sonde program is missing next to this package; reinstall sonde-profiler")
    sys.stdout.flush()
    os.execv(program, ["sonde", *sys.argv[1:]])


if __name__ == "__main__":
    main()
