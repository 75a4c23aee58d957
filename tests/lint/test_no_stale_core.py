"""What `make` installs has the sources of now, also where ccache and a build directory of before could answer."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILDERS = ("mesonbuild", "mesonpy", "packaging", "pip", "pyproject_metadata")
SOURCE = Path("src/format/stacks/import_collapsed.c")
BEFORE, AFTER = "the number is too large", "the number is far too large"


@pytest.fixture
def clone(tmp_path):
    """A copy of the sources, with an environment that has what builds and nothing else."""
    copy = tmp_path / "clone"
    left_out = shutil.ignore_patterns("build", "dist", "node_modules", ".*", "__pycache__", "tests", "bench")
    shutil.copytree(ROOT, copy, ignore=left_out)
    venv = copy / "build" / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    mine, theirs = Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("purelib", vars={"base": str(venv)}))
    for name in BUILDERS:
        (theirs / name).symlink_to(mine / name)
    (venv / ".build").touch()
    return copy


def install(clone):
    path = f"{clone / 'build' / 'venv' / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "CCACHE_B"))}
    command = ["make", "-o", "build/venv/.build", "build/venv/.installed", "SETUP=-Dpage=disabled"]
    done = subprocess.run(command, cwd=clone, env={**env, "PATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def complaints(clone):
    """What the program and the package say of a file with a number that is too large."""
    (clone / "stacks.txt").write_text("a;b 1\na;c 99999999999999999999999\n")
    found = clone / "build" / "venv" / "bin"
    commands = [[str(found / "sonde")], [str(found / "python"), "-m", "sonde"]]
    return {
        subprocess.run([*words, "import", "stacks.txt"], cwd=clone, capture_output=True, text=True, check=False).stderr
        for words in commands
    }


# A file that only itself is compiled again for; the last change is one that ccache has seen before.
@pytest.mark.slow
def test_a_change_of_the_core_is_in_what_is_installed(clone):
    text = (clone / SOURCE).read_text()
    assert text.count(f'"{BEFORE}"') == 1
    for words in (BEFORE, AFTER, BEFORE):
        (clone / SOURCE).write_text(text.replace(BEFORE, words))
        install(clone)
        assert complaints(clone) == {f"sonde: stacks.txt: cannot be read as collapsed: line 2: {words}\n"}
