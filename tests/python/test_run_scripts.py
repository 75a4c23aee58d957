"""Programs named in short: ``sonde prog.py``, and scripts on PATH behind ``--``."""

import os
import shutil
import stat
import sys
from pathlib import Path

import pytest
from run_support import infos

pytestmark = pytest.mark.quick


@pytest.fixture
def project(sonde):
    (sonde.folder / "prog.py").write_text("import sys\nprint('ran', *sys.argv[1:])\nsys.exit(len(sys.argv) > 3)\n")
    (sonde.folder / "bin").mkdir()
    make_twin(sonde.folder / "twin")
    return sonde


def make_twin(folder):
    """This environment at a path without a blank, which no first line of a script can have."""
    here = Path(sys.prefix)
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    shutil.copy(here / "pyvenv.cfg", folder)
    (folder / "lib").symlink_to(here / "lib")


def add_script(project, name, first_line, text="import sys\nprint(name := 'script', *sys.argv[1:])\n"):
    path = project.folder / "bin" / name
    path.write_text(f"{first_line.format(python=project.folder / 'twin/bin/python')}\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def on_path(project):
    return {"PATH": f"{project.folder / 'bin'}:{os.environ['PATH']}"}


def test_a_program_in_place_of_a_command_is_run(project):
    assert project.command("prog.py", "a", "--help").stdout == "ran a --help\n"
    assert project.command("./prog.py", "-o", "x").stdout == "ran -o x\n"
    assert project.command("prog.py", "1", "2", "3", status=1).stdout == "ran 1 2 3\n"
    assert project.command("none.py", status=2).stderr == "sonde: none.py: No such file or directory\n"


def test_a_recording_in_place_of_a_command_is_for_view(project):
    wanted = "sonde: r.sonde is a recording, not a command; to show it, write sonde view r.sonde\n"
    assert project.command("r.sonde", status=2).stderr == wanted


def test_a_command_is_a_command_also_where_a_file_has_its_name(project):
    (project.folder / "view").write_text("print('a program')\n")
    assert "view needs a recording" in project.command("view", status=2).stderr


@pytest.mark.parametrize(
    "first_line",
    ["#!{python}", "#! {python} -s", "#!/usr/bin/env python3", "import os", "#!{python} -I"],
)
def test_a_script_on_path_is_found_behind_dashes(project, first_line):
    add_script(project, "tool", first_line)
    path = {"PATH": f"{project.folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = project.command("run", "--no-report", "-o", "r.sonde", "--", "tool", "-x", "--rate", env=path)
    assert done.stdout == "script -x --rate\n"
    assert infos(project, "r.sonde")["program_path"] == str(project.folder / "bin" / "tool")


def test_the_long_form_of_pip_is_run_by_our_python(project):
    text = "'''exec' /no/such/python \"$0\" \"$@\"\n' '''\nimport sys\nprint(sys.executable)\n"
    add_script(project, "tool", "#!/bin/sh", text)
    done = project.command("run", "--no-report", "--", "tool", env=on_path(project))
    assert Path(done.stdout.strip()).samefile(sys.executable)


def test_a_file_here_comes_before_one_on_path(project):
    add_script(project, "tool", "#!{python}")
    (project.folder / "tool").write_text("print('here')\n")
    done = project.command("run", "--no-report", "--", "tool", env=on_path(project))
    assert done.stdout == "here\n"


def test_a_folder_without_a_program_does_not_hide_a_script(project):
    add_script(project, "tool", "#!{python}")
    (project.folder / "tool").mkdir()
    assert project.command("run", "--no-report", "--", "tool", env=on_path(project)).stdout == "script\n"


def test_what_is_no_python_is_named(project):
    path = add_script(project, "tool", "#!/bin/sh", "echo no\n")
    wanted = f"sonde: {path} is not a Python interpreter or script; after '--' write python3 and its program\n"
    assert project.command("run", "--", "tool", env=on_path(project), status=2).stderr == wanted


def test_a_name_without_dashes_is_pointed_to_the_script(project):
    path = add_script(project, "tool", "#!{python}")
    done = project.command("run", "tool", "-x", env=on_path(project), status=2)
    wanted = f"sonde: tool: No such file or directory; to run {path}, write sonde run -- tool …\n"
    assert done.stderr == wanted
    done = project.command("trace", "tool", env=on_path(project), status=2)
    assert done.stderr.endswith("write sonde trace -- tool …\n")
