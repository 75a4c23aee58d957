"""The report page is in every build, or somebody asked for one without it."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def run(*words, cwd, status=0, **env):
    env = {**{name: value for name, value in os.environ.items() if not name.startswith("GIT_")}, "PATH": PATH, **env}
    done = subprocess.run([*map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def setup(tmp_path):
    """Configures the program alone, as on a machine whose node is too old."""
    script(tmp_path / "node", "echo v18.20.4")

    def configure(source, status=0):
        options = ["-Dbuildtype=plain", "-Dpython=disabled", "-Dtests=disabled", "-Dnative=disabled"]
        env = {"PATH": f"{tmp_path}:{PATH}"}
        return run("meson", "setup", tmp_path / "out", source, *options, cwd=tmp_path, status=status, **env)

    return configure


def test_without_node_a_build_fails_with_one_sentence(setup):
    said = setup(ROOT, status=1).stdout
    assert "the report page is built with node 20.19 or later and npm: install them, build from an sdist" in said


def test_without_a_network_a_build_fails_with_one_sentence(tmp_path):
    for name in ("package.json", "package-lock.json"):
        (tmp_path / "web").mkdir(exist_ok=True)
        (tmp_path / "web" / name).write_text("{}")
    script(tmp_path / "npm", "exit 1")
    module = "import sys, build_page as b; b.page_metrics.module = lambda web: (web / 'package.json', '{}'); b.main()"
    words = ["page.c", "--depfile", "page.d", "--web", "web", "--work", "work"]
    env = {"PATH": f"{tmp_path}:{PATH}", "PYTHONPATH": str(ROOT / "tools")}
    done = run(sys.executable, "-c", module, *words, cwd=tmp_path, status=1, **env)
    assert done.stderr.startswith("build_page.py: the report page could not be built (")
    assert done.stderr.endswith("contains the page, and -Dpage=disabled gives a sonde without it\n")
    assert done.stderr.count("\n") == 1 and not (tmp_path / "page.c").exists()


@pytest.fixture
def clone(tmp_path):
    """A clone of what is here now, with all of it committed, and its commit."""
    copy = tmp_path / "clone"
    copy.mkdir()
    without = [f"--exclude=./{name}" for name in (".git", "build", "dist", "web/dist", "web/node_modules")]
    packed = subprocess.run(["tar", "-c", *without, "--exclude=__pycache__", "."], cwd=ROOT, stdout=-1, check=True)
    subprocess.run(["tar", "-x"], cwd=copy, input=packed.stdout, check=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "all", "--no-gpg-sign"]):
        run("git", *words, cwd=copy)
    return copy, run("git", "rev-parse", "--short=12", "HEAD", cwd=copy).stdout.strip()


@pytest.mark.slow
def test_an_sdist_contains_the_page_and_the_commit_and_is_built_without_node(clone, setup, tmp_path):
    copy, commit = clone
    make = "import mesonpy; mesonpy.build_sdist('dist')"
    run(sys.executable, "-c", make, cwd=copy)
    (archive,) = (copy / "dist").iterdir()
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    source = tmp_path / archive.name.removesuffix(".tar.gz")
    assert (source / "web" / "ready.html").stat().st_size > 50_000
    licences = {file.name for file in (source / "web" / "licences").iterdir()}
    assert licences == {"preact-LICENSE.txt", "uplot-LICENSE.txt"}
    setup(source)
    # Another path each time: ccache knows the files by what is below it.
    run("ninja", "-C", "out", "src/cli/sonde", cwd=tmp_path, CCACHE_BASEDIR=str(tmp_path), CCACHE_NOHASHDIR="1")
    said = run("out/src/cli/sonde", "--version", cwd=tmp_path).stdout
    assert said.splitlines()[1:] == [f"commit    {commit}", "features  report page, no native frames"]

    (copy / "README.md").write_text("changed\n")
    said = run(sys.executable, "-c", make, cwd=copy, status=1).stderr
    assert "dist.py: an sdist contains what is committed; commit these first:\nM README.md" in said
