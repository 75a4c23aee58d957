"""Processes that a program starts: each way to start them, what becomes of their recordings, what stays as it was."""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from chance import expect, repeats
from run_support import query
from sonde_programs import slow
from wait_support import until

pytestmark = pytest.mark.interpreter

PROGRAM = str(Path(__file__).parent / "programs" / "children_work.py")
BIN = Path(sys.executable).parent
PYTHON = str(BIN / "python")
PYENV = Path(os.environ.get("PYENV_ROOT") or Path("~/.pyenv").expanduser())
OTHER_PYTHONS = sorted(
    path
    for path in PYENV.glob("versions/[23].*/bin/python")
    if not path.parts[-3].startswith("{}.{}.".format(*sys.version_info))
)


def info(path):
    return dict(query(path, "select key, value from info"))


def cpu_seconds(path):
    """All CPU time of the samples, whoever used it."""
    sql = "select sum(value) from value join metric on metric.id = metric"
    sql += " where metric.name in ('python', 'native', 'system')"
    return query(path, sql)[0][0] / 1e9


def functions(path):
    return {name for (name,) in query(path, "select distinct name from site")}


def processes(path):
    return query(path, "select process_id from process")


def run(sonde, *words, options=(), **more):
    return sonde.command("run", "--no-report", "-o", "r.sonde", *options, *words, **more)


def nothing_is_left(sonde):
    return sorted(path.name for path in sonde.folder.iterdir() if not path.name.endswith(".py")) == ["r.sonde"]


WAYS = {
    "fork": 3,
    "fork_and_return": 2,
    "fork_exec": 2,
    "become_another": 2,
    "subprocesses": 3,
    "shell": 3,
    "posix_spawn": 2,
    "pool_of_forks": 3,
    "pool_of_spawns": 3,
    "pool_of_forkserver": 4,
    "futures": 3 + (multiprocessing.get_start_method() == "forkserver"),  # by default, from 3.14 on
    "joblib": 3,
    "prefork": 3,
    "nested": 4,
    "many": 21,
}
SLOW = ("fork_and_return", "shell", "pool_of_forkserver", "joblib", "nested", "many")


@pytest.mark.parametrize("way", [*[way for way in WAYS if way not in SLOW], *slow(*SLOW)])
@repeats
def test_every_way_to_start_a_process_is_followed_and_cpu_adds_up(sonde, way):
    done = run(sonde, PROGRAM, way)
    answer = json.loads(done.stdout.splitlines()[-1])
    path = sonde.folder / "r.sonde"
    assert nothing_is_left(sonde), list(sonde.folder.rglob("*"))
    assert len(processes(path)) == WAYS[way]
    assert f"r.sonde: {WAYS[way]} processes" in done.stderr
    told = cpu_seconds(path) + int(info(path).get("children_unmeasured_ns", 0)) / 1e9
    if answer["unwaited"]:  # what they used before and after is theirs alone
        expect(told > (answer["used"] + answer["unwaited"]) * 0.92, f"{told} of {answer}")
    else:
        begins = 2 if way == "become_another" else 1  # interpreters of which nobody tells what they used to begin
        expect(told == pytest.approx(answer["used"], rel=0.08, abs=0.08 * begins), f"{told} of {answer}")


@pytest.mark.quick
def test_output_and_status_of_children_are_as_without_us(sonde):
    (sonde.folder / "child.py").write_text("import sys\nprint(sys.argv, sys.path, sys.stdin.read())\n1 / 0\n")
    (sonde.folder / "prog.py").write_text(
        "import subprocess, sys\n"
        "done = subprocess.run([sys.executable, 'child.py', 'x'], input='text', capture_output=True, text=True)\n"
        "print(done)\n"
    )
    plain = sonde.run([PYTHON, "prog.py"])
    assert run(sonde, "prog.py").stdout == plain.stdout


def test_a_killed_child_is_in_the_recording(sonde):
    done = run(sonde, PROGRAM, "killed")
    path = sonde.folder / "r.sonde"
    assert nothing_is_left(sonde)
    assert len(processes(path)) == 2, done.stderr
    assert "forever" in functions(path)


@pytest.mark.parametrize("option", ["-I", "-E", "-S", "-Bs -E", "-IB"])
def test_a_child_without_our_sitecustomize_is_reported(sonde, option):
    words = option.split()
    (sonde.folder / "prog.py").write_text(
        f"import subprocess, sys\nsubprocess.run([sys.executable, *{words}, '-c', 'print(1)'], check=True)\n"
    )
    done = run(sonde, "prog.py")
    letter = next(letter for letter in "ISE" if letter in option.replace("Bs", ""))
    assert f"sonde: not followed: {PYTHON} {option} -c print(1): started with -{letter}\n" in done.stderr
    assert done.stdout == "1\n" and nothing_is_left(sonde)
    assert "not_followed" in info(sonde.folder / "r.sonde")


def test_a_child_by_a_shell_or_with_another_environment_is_reported(sonde):
    (sonde.folder / "prog.py").write_text(
        "import os, subprocess, sys\n"
        "os.system(f'echo a; \"{sys.executable}\" -I -c pass')\n"
        "subprocess.run(f'cd /; \"{sys.executable}\" -E -c pass', shell=True)\n"
        "for _ in range(2): subprocess.run([sys.executable, '-c', 'pass'], env={})\n"
        "subprocess.run(['ls', '-I', 'x', '/dev/null'])\n"
    )
    lines = [line for line in run(sonde, "prog.py").stderr.splitlines() if "not followed" in line]
    assert lines == [
        f"sonde: not followed: {PYTHON} -I -c pass: started with -I",
        f"sonde: not followed: {PYTHON} -E -c pass: started with -E",
        f"sonde: not followed: {PYTHON} -c pass: started with its own environment (2 times)",
    ]


@pytest.mark.parametrize("python", OTHER_PYTHONS, ids=lambda path: path.parts[-3])
def test_an_interpreter_for_which_there_is_no_sonde_runs_unharmed(sonde, python):
    (sonde.folder / "prog.py").write_text(
        f"import subprocess\nsubprocess.run([{str(python)!r}, '-c', 'import sys; print(sys.path, len(sys.modules))'])\n"
    )
    plain = sonde.run([PYTHON, "prog.py"])
    done = run(sonde, "prog.py")
    assert done.stdout.split("]")[0] == plain.stdout.split("]")[0]
    assert "not followed" in done.stderr and "not built for Python" in done.stderr
    assert nothing_is_left(sonde)


@pytest.mark.parametrize("command", [["prog.py"], ["-c", "import subprocess, sys; exec(open('prog.py').read())"]])
def test_customize_modules_of_the_user_still_run(sonde, command):
    own = sonde.folder / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import sys\nprint('site', __name__, sys.modules[__name__].__file__)\n")
    (own / "usercustomize.py").write_text("print('user', __name__)\n")
    (sonde.folder / "prog.py").write_text(
        "import subprocess, sys, sitecustomize\nprint(sitecustomize.__file__, flush=True)\n"
        "subprocess.run([sys.executable, '-c', 'import sitecustomize; print(sitecustomize.__file__)'])\n"
    )
    env = {"PYTHONPATH": str(own), "PYTHONNOUSERSITE": ""}
    plain = sonde.run([PYTHON, *command], env=env)
    assert "user usercustomize" in plain.stdout or not usersite_is_on()
    assert run(sonde, *command, env=env).stdout == plain.stdout


def usersite_is_on():
    code = "import site; print(site.ENABLE_USER_SITE)"
    return subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout == "True\n"


@pytest.mark.parametrize("text", ["1 / 0\n", "import no_such_module\n", "x = (\n", "raise ImportError('mine')\n"])
def test_a_sitecustomize_of_the_user_that_fails_does_so_as_without_us(sonde, text):
    own = sonde.folder / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text(text)
    (sonde.folder / "prog.py").write_text("import sys\nprint('sitecustomize' in sys.modules)\n")
    env = {"PYTHONPATH": str(own)}
    plain = sonde.run([PYTHON, "prog.py"], env=env)
    done = run(sonde, "prog.py", env=env)
    assert done.stdout == plain.stdout
    assert [line for line in done.stderr.splitlines() if "recording saved" not in line] == plain.stderr.splitlines()


def test_what_is_in_the_environment(sonde):
    (sonde.folder / "prog.py").write_text(
        "import os, sys, sonde\nprint(os.environ['SONDE_RUN'])\nprint(os.environ['PYTHONPATH'])\n"
        "print(any('_site' in folder for folder in sys.path))\n"
    )
    variable, path, is_seen = run(sonde, "prog.py", env={"PYTHONPATH": "/one:/two"}).stdout.splitlines()
    assert variable.startswith("_run --no-report parts=") and "r.sonde.parts" in variable
    assert path.endswith("/sonde/_site:/one:/two") and is_seen == "False"


def test_without_children_nothing_is_in_the_environment_and_nobody_is_followed(sonde):
    text = "import os\nprint('SONDE_RUN' in os.environ, os.environ.get('PYTHONPATH'))\n"
    (sonde.folder / "prog.py").write_text(text)
    for path, told in (("/one", "/one"), ("", "None")):
        done = run(sonde, "prog.py", options=["--no-children"], env={"PYTHONPATH": path} if path else {})
        assert done.stdout == f"False {told}\n"
    for way in ("fork", "subprocesses"):
        done = run(sonde, PROGRAM, way, options=["--no-children"])
        assert nothing_is_left(sonde)
        assert "processes" not in done.stderr
        used = json.loads(done.stdout.splitlines()[-1])["used"]
        assert cpu_seconds(sonde.folder / "r.sonde") < used - 0.4


def test_a_project_says_whether_children_are_followed(sonde):
    (sonde.folder / "pyproject.toml").write_text("[tool.sonde]\nchildren = false\n")
    (sonde.folder / "prog.py").write_text("import os\nprint('SONDE_RUN' in os.environ)\n")
    assert run(sonde, "prog.py").stdout == "False\n"
    assert run(sonde, "prog.py", options=["--children"]).stdout == "True\n"


def test_calls_of_children_are_traced(sonde):
    (sonde.folder / "prog.py").write_text(
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'def mine(): pass\\nmine()\\nmine()'])\n"
    )
    sonde.command("trace", "-o", "r.sonde", "--no-report", "prog.py")
    sql = "select value from value join node on node.id = node join site on site.id = site "
    sql += "join metric on metric.id = metric where site.name = 'mine' and metric.name = 'count'"
    assert sum(value for (value,) in query(sonde.folder / "r.sonde", sql)) in (
        2,
        4,
    )  # the function, and its caller's pair
    assert nothing_is_left(sonde)


def test_children_that_still_run_are_left_and_can_be_merged_later(sonde):
    (sonde.folder / "prog.py").write_text(
        "import subprocess, sys, time\n"
        "code = 'import time, sys; print(1, flush=True); sys.stdin.read()'\n"
        "child = subprocess.Popen([sys.executable, '-c', code], stdin=int(sys.argv[1]), stdout=subprocess.PIPE, "
        "stderr=subprocess.DEVNULL)\n"
        "child.stdout.readline()\n"
    )
    ours, theirs = os.pipe()
    done = run(sonde, "prog.py", str(ours), pass_fds=(ours,))
    os.close(ours)
    line = done.stderr.splitlines()[-1]
    assert line.startswith("sonde: 1 still running; when they have ended: sonde merge -o ")
    (part,) = (sonde.folder / "r.sonde.parts").iterdir()
    os.close(theirs)
    until(lambda: info(part).get("complete") == "1")
    words = line.partition("sonde merge ")[2].replace("/*.sonde", f"/{part.name}").split()
    sonde.command("merge", *words)
    assert len(processes(sonde.folder / "r.sonde")) == 2


def test_parts_of_a_killed_program_stay_and_can_be_read(sonde):
    (sonde.folder / "prog.py").write_text(
        "import os, signal, subprocess, sys, time\n"
        "subprocess.run([sys.executable, '-c', 'pass'])\nmade = os.stat('r.sonde').st_mtime_ns\n"
        "while os.stat('r.sonde').st_mtime_ns == made or os.path.exists('r.sonde-journal'): time.sleep(0.01)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    run(sonde, "prog.py", status=None)
    (part,) = (sonde.folder / "r.sonde.parts").iterdir()
    assert info(part)["complete"] == "1"
    assert info(sonde.folder / "r.sonde")["complete"] == "0"


def test_a_program_that_leaves_by_exit_has_its_children_merged(sonde):
    text = "import os, subprocess, sys\nsubprocess.run([sys.executable, '-c', 'pass'])\nos._exit(3)\n"
    (sonde.folder / "prog.py").write_text(text)
    run(sonde, "prog.py", status=3)
    assert nothing_is_left(sonde)
    assert len(processes(sonde.folder / "r.sonde")) == 2


def test_another_environment_of_the_same_python_uses_the_sonde_that_measures(sonde):
    """Also where none is installed."""
    environment = sonde.folder / "venv"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(environment)], check=True)
    (sonde.folder / "prog.py").write_text(
        f"import subprocess\nsubprocess.run([{str(environment / 'bin' / 'python')!r}, '-c', 'def work():\\n"
        "    while time.process_time() < 0.3: pass\\nimport time\\nwork()'])\n"
    )
    run(sonde, "prog.py")
    assert "work" in functions(sonde.folder / "r.sonde")
    shutil.rmtree(environment)
    assert nothing_is_left(sonde)


def test_a_duration_ends_children_too(sonde):
    (sonde.folder / "child.py").write_text(
        "import time\nfrom sonde import _core\n"
        "def early():\n    while _core.is_running() and _core.profile().info('complete') == '0': time.sleep(0.01)\n"
        "def late():\n    end = time.process_time() + 0.2\n    while time.process_time() < end: pass\n"
        "early()\nlate()\n"
    )
    (sonde.folder / "prog.py").write_text(
        "import subprocess, sys\nfor _ in range(2): subprocess.run([sys.executable, 'child.py'])\n"
    )
    for seconds in (0.4, 4, 40):  # the first child begins within it, on any machine
        run(sonde, "prog.py", options=["--duration", str(seconds)])
        found = functions(sonde.folder / "r.sonde")
        if "early" in found:
            break
    assert "early" in found and "late" not in found
    assert len(processes(sonde.folder / "r.sonde")) == 2  # the second child began when all was over
