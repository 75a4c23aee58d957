"""``sonde run``: the program's own code is what nobody installed, however it was started."""

import json
import sys
from pathlib import Path

import pytest
from run_support import SPIN, infos

pytestmark = pytest.mark.interpreter

NONE_OWN = "so all code is shown"
TOOL = SPIN + "def tool():\n    spin(0.1)\n    __import__('work').run(spin)\ntool()\n"
WORK = "def run(spin):\n    for _ in range(20):\n        spin(0.01)\n"


def lines(sonde):
    """Files with lines of their own in the view, and the line that took most."""
    rows = [row for row in sonde.export("r.sonde", "lines")["rows"] if row["line"] is not None]
    return {row["file"] for row in rows}, max(rows, key=lambda row: row["percent"] or 0)


def title(done):
    return done.stderr.splitlines()[0]


@pytest.fixture
def project(sonde):
    """A module of the user's, which a tool calls."""
    (sonde.folder / "work.py").write_text(WORK)
    (sonde.folder / "test_work.py").write_text(SPIN + "import work\ndef test_it():\n    work.run(spin)\n")
    return sonde


def install(sonde, folder):
    """A package that an installer has put there."""
    package = sonde.folder / folder / "tool"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(TOOL)
    (package.parent / "tool-1.0.dist-info").mkdir()
    return {"PYTHONPATH": str(package.parent)}


@pytest.mark.parametrize("kind", ["module", "script"])
def test_a_test_runner_is_not_the_program(project, kind):
    script = str(Path(sys.executable).parent / "pytest")
    start = ["-m", "pytest"] if kind == "module" else [script]
    words = [*start, "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:anyio", "test_work.py"]
    done = project.command("run", "-o", "r.sonde", *words)
    files, hottest = lines(project)
    assert files <= {str(project.folder / "work.py"), str(project.folder / "test_work.py")}
    assert hottest["file"] == str(project.folder / "test_work.py")  # where spin is
    assert NONE_OWN not in done.stderr
    assert title(done) == " ".join(words)
    assert infos(project)["program"] == "pytest"
    assert json.loads(infos(project)["arguments"]) == words


@pytest.mark.parametrize("folder", ["venv/lib/python3.11/site-packages", "vendor"])
def test_a_package_below_the_current_folder_is_installed_too(project, folder):
    """An environment in the project, and ``pip install --target``."""
    done = project.command("run", "-o", "r.sonde", "-m", "tool", "--fast", env=install(project, folder))
    files, _ = lines(project)
    assert files == {str(project.folder / "work.py")}
    assert title(done) == "-m tool --fast"


def test_packages_beside_the_program_leave_it_its_own(project):
    """As a function for a cloud is packed: all in one folder."""
    (project.folder / "thing-1.0.dist-info").mkdir()
    (project.folder / "prog.py").write_text(TOOL)
    project.command("run", "-o", "r.sonde", "prog.py", env={"PYTHONPATH": str(project.folder)})
    files, _ = lines(project)
    assert str(project.folder / "prog.py") in files
    assert files <= {str(project.folder / name) for name in ("prog.py", "work.py")}


def test_a_module_of_the_user_is_own(project):
    (project.folder / "mine").mkdir()
    (project.folder / "mine" / "__main__.py").write_text(TOOL)
    done = project.command("run", "-o", "r.sonde", "-m", "mine", "-q")
    files, _ = lines(project)
    assert str(project.folder / "mine/__main__.py") in files
    assert files <= {str(project.folder / name) for name in ("mine/__main__.py", "work.py")}
    assert title(done) == "-m mine -q"
    assert NONE_OWN not in done.stderr


def test_where_nothing_is_own_all_code_is_shown_and_a_sentence_says_so(project):
    environment = install(project, "vendor")
    (project.folder / "vendor" / "work.py").write_text((project.folder / "work.py").read_text())
    (project.folder / "work.py").unlink()
    done = project.command("run", "-o", "r.sonde", "-m", "tool", env=environment)
    assert NONE_OWN in done.stderr
    files, hottest = lines(project)
    assert str(project.folder / "vendor" / "tool" / "__main__.py") in files
    assert hottest["file"].endswith("__main__.py")
    assert NONE_OWN in project.command("view", "r.sonde", "--lines").stdout


def test_the_name_of_a_module_is_that_of_its_recording(project):
    project.command("run", "--no-report", "-m", "json.tool", "/dev/null", status=None)
    assert [path.name.rpartition("-")[0] for path in project.folder.glob("*.sonde")] == ["json.tool"]
    (project.folder / "mine").mkdir()
    (project.folder / "mine" / "__main__.py").write_text(
        "import sonde\nsonde.regions.install(recording='own.sonde', reporter=sonde.regions.SilentReporter())\n"
    )
    project.run([sys.executable, "-m", "mine", "one"])
    assert json.loads(infos(project, "own.sonde")["arguments"]) == ["-m", "mine", "one"]
    assert infos(project, "own.sonde")["program"] == "mine"
