#!/usr/bin/env python3
"""Puts into an sdist what git does not have, for `meson dist`: the built report page with its licences, and the commit.

Whoever installs from it then needs no node, and `sonde --version` names the commit.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import build_page

ROOT = Path(__file__).parents[1]


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def copy_licences(web: Path, into: Path) -> None:
    """The licences of the packages that are in the page."""
    into.mkdir()
    for package in json.loads((web / "package.json").read_text())["dependencies"]:
        (licence,) = (web / "node_modules" / package).glob("LICENSE*")
        shutil.copy(licence, into / f"{package}-LICENSE.txt")


def main() -> None:
    out = Path(os.environ["MESON_DIST_ROOT"])
    changed = git("status", "--porcelain", "--untracked-files=no")
    if changed:
        sys.exit(f"dist.py: an sdist contains what is committed; commit these first:\n{changed}")
    with tempfile.TemporaryDirectory() as work:
        (out / "web" / "ready.html").write_bytes(build_page.build_or_exit(ROOT / "web", Path(work)))
    copy_licences(ROOT / "web", out / "web" / "licences")
    (out / "commit.txt").write_text(git("rev-parse", "--short=12", "HEAD") + "\n")


if __name__ == "__main__":
    main()
