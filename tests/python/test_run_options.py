"""``sonde run``: its options, pyproject.toml, other interpreters, and what it says to mistakes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from run_support import SONDE, infos

PYENV = Path(os.environ.get("PYENV_ROOT") or Path("~/.pyenv").expanduser()) / "versions"


@pytest.fixture
def project(sonde):
    (sonde.folder / "prog.py").write_text("import sys\nprint('ran', *sys.argv[1:])\n")
    return sonde


MISTAKES = {
    "run": "run needs a program: sonde run prog.py, sonde run -m module or sonde run -c code",
    "run none.py": "none.py: No such file or directory",
    "run none/none.py": "none/none.py: No such file or directory",
    "run prog.py/x": "prog.py/x: Not a directory",
    "run python3 prog.py": "python3: No such file or directory; to name an interpreter, write sonde run -- python3 …",
    "run --rate 0 prog.py": "rate must be a whole number from 1 to 20000, not 0",
    "run --rate 1000000000 prog.py": "rate must be a whole number from 1 to 20000, not 1000000000",
    "run --rate -5 prog.py": "rate must be a whole number from 1 to 20000, not -5",
    "run --rate 1.5 prog.py": "rate must be a whole number from 1 to 20000, not 1.5",
    "run --rate nan prog.py": "rate must be a whole number from 1 to 20000, not nan",
    "run --rate many prog.py": "rate must be a whole number from 1 to 20000, not many",
    "run --rate= prog.py": "rate must be a whole number from 1 to 20000, not nothing",
    "run --rate": "run: option '--rate' needs HZ",
    "run --duration 0 prog.py": "duration must be a number of seconds above 0, not 0",
    "run --duration inf prog.py": "duration must be a number of seconds above 0, not inf",
    "run --duration soon prog.py": "duration must be a number of seconds above 0, not soon",
    "run --native=yes prog.py": "run has no option '--native=yes'; did you mean '--native'?",
    "run --cpu_only prog.py": "run has no option '--cpu_only'; did you mean '--cpu-only'?",
    "run -m": "run: option '-m' needs MODULE",
    "run -c": "run: option '-c' needs CODE",
    "run -- /no/python prog.py": "/no/python: cannot be started: No such file or directory",
    "run -- /bin/ls prog.py": "/bin/ls is not a Python interpreter or script; after '--' write python3 and its program",
    "run -- {python}": "no program given after the interpreter: sonde run -- python3 prog.py",
    "run -- {python} -V": "Python's option '-V' cannot be used here",
    "run -- {python} -m": "Python's option '-m' needs a value",
    "run -- {python} none.py": "none.py: No such file or directory",
    "run -o /no/such/folder/r.sonde prog.py": "/no/such/folder/r.sonde: cannot be written: No such file or directory",
    "run -o / prog.py": "/: cannot be written: this file is not a sonde recording",
    "run -o prog.py prog.py": "prog.py: cannot be written: this file is not a sonde recording",
    "run -o /proc/r.sonde prog.py": "/proc/r.sonde: cannot be written: ",
    "run -o /dev/full prog.py": "/dev/full: cannot be written",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_gets_one_line_and_status_2(project, words):
    done = project.command(*(word.format(python=sys.executable) for word in words.split(" ")), status=2)
    assert MISTAKES[words] in done.stderr
    assert done.stderr.startswith("sonde: ")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_a_file_that_may_not_be_read(project):
    (project.folder / "prog.py").chmod(0)
    for folder in [project.folder, *project.folder.parents][:3]:
        folder.chmod(folder.stat().st_mode | 0o055)
    command = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    shutil.copy(SONDE, project.folder)  # the environment may be where that user cannot go
    (project.folder / "sonde").chmod(0o755)
    done = project.run([*command, "./sonde", "run", "prog.py"], status=2)
    assert done.stderr == "sonde: prog.py: Permission denied\n"


@pytest.mark.parametrize("version", ["3.10.13", "3.8.18", "2.7.18"])
def test_an_interpreter_without_sonde(project, version):
    python = PYENV / version / "bin" / "python"
    if not python.exists():
        pytest.skip(f"needs Python {version}")
    done = project.command("run", "--", str(python), "prog.py", status=2)
    assert done.stderr == f"sonde: {python} has no working sonde; install sonde-profiler there\n"
    assert done.stdout == ""


def test_an_environment_without_sonde(project):
    python = project.folder / "empty" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", project.folder / "empty"], check=True)
    done = project.command("run", "--", str(python), "prog.py", status=2)
    assert done.stderr == f"sonde: {python} has no working sonde; install sonde-profiler there\n"
    assert done.stdout == ""


def test_an_interpreter_by_its_name_on_the_path(project):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = project.command("run", "-o", "r.sonde", "--no-report", "--", "python", "prog.py", "a", env={"PATH": path})
    assert done.stdout == "ran a\n"
    link = project.folder / "my-interpreter"
    link.symlink_to(sys.executable)
    (project.folder / "pyvenv.cfg").write_text((Path(sys.prefix) / "pyvenv.cfg").read_text())
    assert project.command("run", "-o", "r.sonde", "--no-report", "--", "prog.py", "b").stdout == "ran b\n"


@pytest.mark.quick
def test_the_recording_gets_a_name(project):
    project.command("run", "--no-report", "prog.py")
    project.command("run", "--no-report", "-c", "pass")
    project.command("run", "--no-report", "-m", "json.tool", "--help")
    project.command("run", "--no-report", "-o", "%p-%h.sonde", "prog.py")
    names = sorted(path.name.split("-")[0] for path in project.folder.glob("*-*.sonde"))
    assert names[1:] == ["json.tool", "prog", "python"] and names[0].isdigit()


def test_it_says_where_the_recording_is(project):
    done = project.command("run", "--no-report", "-o", "r.sonde", "prog.py")
    assert done.stderr == f"sonde: recording saved in {project.folder / 'r.sonde'}\n"


def test_what_a_recording_knows_of_the_run(project):
    project.command("run", "--no-report", "-o", "r.sonde", "--include", "*a*,*b*", "--exclude", "*c*", "prog.py", "x")
    known = infos(project)
    assert known["program"] == "prog.py"
    assert known["arguments"] == '["prog.py", "x"]'
    assert known["program_path"] == str(project.folder / "prog.py")
    assert os.path.dirname(os.__file__) in known["library_paths"].split("\n")  # noqa: PTH120
    assert str(Path(pytest.__file__).parent.parent) in known["library_paths"].split("\n")
    assert (known["include"], known["exclude"], known["all_code"]) == ("*a*,*b*", "*c*", "0")
    project.command("run", "--no-report", "-o", "r.sonde", "--all-code", "-m", "json.tool", "--help")
    known = infos(project)
    assert known["all_code"] == "1"
    assert known["program_path"].endswith("/json/tool.py")


def write_project(sonde, text):
    (sonde.folder / "pyproject.toml").write_text(text)


def test_defaults_come_from_the_nearest_pyproject(project):
    write_project(
        project, '[tool.sonde]\noutput = "named.sonde"\nno-report = true\nrate = 250\ninclude = ["*x*", "*y*"]\n'
    )
    project.command("run", "prog.py")
    known = infos(project, "named.sonde")
    assert (known["sample_rate_hz"], known["include"]) == ("250", "*x*,*y*")
    project.command("run", "-o", "other.sonde", "--rate", "50", "prog.py")
    assert infos(project, "other.sonde")["sample_rate_hz"] == "50"
    below = project.folder / "a" / "b"
    below.mkdir(parents=True)
    program = str(Path(sys.executable).parent / "sonde")
    done = subprocess.run([program, "run", "../../prog.py"], cwd=below, capture_output=True, check=True)
    assert (below / "named.sonde").exists()
    (below / "pyproject.toml").write_text("[project]\n")
    done = subprocess.run([program, "run", "../../prog.py"], cwd=below, capture_output=True, check=True)
    assert b"recording saved in" in done.stderr and b"named" not in done.stderr


def test_a_flag_that_is_false_is_not_set(project):
    write_project(project, "[tool.sonde]\nno-report = true\nall-code = false\n")
    project.command("run", "-o", "r.sonde", "prog.py")
    assert infos(project)["all_code"] == "0"


PROJECTS = {
    "rates = 5": "unknown key 'rates'",
    "rate = 0": "rate must be a whole number from 1 to 20000, not 0",
    "rate = 'x'": "rate must be a whole number from 1 to 20000, not 'x'",
    "rate = true": "rate must be a whole number from 1 to 20000, not True",
    "native = 1": "native must be true or false, not 1",
    "output = 3": "output must be a text, not 3",
    "include = [1]": "include must be a string or a list of strings, not [1]",
    "duration = -1.0": "duration must be a number of seconds above 0, not -1.0",
    "rate = ": "Invalid value",
}


@pytest.mark.parametrize("line", PROJECTS)
def test_a_mistake_in_pyproject_gets_one_line(project, line):
    write_project(project, f"[tool.sonde]\n{line}\n")
    done = project.command("run", "prog.py", status=2)
    assert PROJECTS[line] in done.stderr
    assert str(project.folder / "pyproject.toml") in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_a_pyproject_of_others_is_not_even_parsed(project):
    write_project(project, "this is no TOML [\n")
    project.command("run", "--no-report", "-o", "r.sonde", "prog.py")
    write_project(project, "[tool]\nsonde = 3  # tool.sonde\n")
    assert "tool.sonde must be a table" in project.command("run", "prog.py", status=2).stderr


def test_help_is_ours_before_the_program_and_its_own_behind_it(project):
    for words in (["--help"], ["-o", "r.sonde", "-h"], ["--native", "--help", "prog.py"]):
        done = project.command("run", *words)
        assert "usage: sonde run" in done.stdout
    assert project.command("run", "-o", "r.sonde", "--no-report", "prog.py", "--help").stdout == "ran --help\n"
    assert "sonde run prog.py" in project.command("--help").stdout


def test_cli_is_accepted(project):
    assert project.command("run", "--cli", "--no-report", "-o", "r.sonde", "prog.py").stdout == "ran\n"
