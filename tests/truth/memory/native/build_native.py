"""Builds the extension module of the tests with the compiler that is there."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

SOURCE = Path(__file__).parent / "truth_native.c"


def find_compiler() -> str:
    """The compiler that Python was built with, or another one by a usual name."""
    wanted = (sysconfig.get_config_var("CC") or "cc").split()[0]
    return next(path for path in map(shutil.which, (wanted, "cc", "gcc", "clang")) if path is not None)


def compile_shared(source: Path, target: Path, *options: str) -> None:
    # Bound at once and read-only then: a test compares the slots before and after.
    words = [find_compiler(), "-O1", "-g", "-shared", "-fPIC", "-pthread", "-Wl,-z,relro,-z,now", *options]
    subprocess.run([*words, "-o", str(target), str(source)], check=True)


def build(folder: Path) -> Path:
    """Builds truth_native into the folder, which is then to be on PYTHONPATH."""
    target = folder / f"truth_native{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not target.exists():
        compile_shared(SOURCE, target, "-I", sysconfig.get_path("include"))
    return folder
