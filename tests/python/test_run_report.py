"""``sonde run`` and ``sonde trace``: what is said at the end, and where, whatever the program does to its streams."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from run_support import SONDE, SPIN, functions, infos, run

pytestmark = pytest.mark.interpreter

PYTHON = str(Path(sys.executable).parent / "python")
SAVED = "sonde: recording saved in "
FIRST = {"run": "samples at 1000 Hz", "trace": "tottime"}  # what every report has


def write(sonde, code, name="prog.py"):
    (sonde.folder / name).write_text(SPIN + textwrap.dedent(code))


def measure(sonde, command, *words, **options):
    return sonde.command(command, "-o", "r.sonde", *words, status=None, **options)


def is_report(text, command):
    return FIRST[command] in text and SAVED in text and "Traceback" not in text and "Exception ignored" not in text


# ---- streams that are gone ----

STREAMS = {
    "closed": "sys.stdout.close()",
    "none": "sys.stdout = None",
    "no error": "sys.stderr = None",
    "both closed": "sys.stdout.close(); sys.stderr.close(); sys.stdout = sys.stderr = None",
    "deleted": "del sys.stdout, sys.stderr",
    "replaced": "import io; sys.stdout = sys.stderr = io.StringIO()",
    "hostile": """
        class Hostile:
            def __getattribute__(self, name):
                raise KeyError(name)
        sys.stdout = sys.stderr = Hostile()
        """,
    "detached": "sys.stdout.detach()",
}


@pytest.mark.parametrize("command", ["run", "trace"])
@pytest.mark.parametrize("how", STREAMS)
def test_the_report_needs_no_stream_of_the_program(sonde, how, command):
    write(sonde, "spin(0.2)\n" + textwrap.dedent(STREAMS[how]))
    plain = sonde.run([PYTHON, "prog.py"], status=None)
    done = measure(sonde, command, "prog.py")
    assert done.returncode == plain.returncode
    assert plain.stderr in done.stderr
    assert FIRST[command] in done.stderr
    assert SAVED in done.stderr
    assert "atexit callback" not in done.stderr


def test_a_module_that_closes_standard_output_is_reported(sonde):
    (sonde.folder / "a.json").write_text('{"a": [1, 2]}')
    done = measure(sonde, "run", "-m", "json.tool", "a.json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == {"a": [1, 2]}
    assert is_report(done.stderr, "run")


def test_the_report_comes_behind_what_the_program_wrote(sonde):
    write(sonde, "spin(0.2)\nprint('out')\nsys.stderr.write('no end of a line')\n")
    done = sonde.run(["sh", "-c", '"$0" run -o r.sonde prog.py 2>&1', SONDE], env={"PYTHONUNBUFFERED": ""})
    before, _, _ = done.stdout.partition("prog.py")
    assert sorted(before) == sorted("out\nno end of a line")


def test_what_fails_at_the_end_fails_as_without_us(sonde):
    """A full device: Python says so when it flushes, and ends with 120."""
    write(sonde, "spin(0.2)\nprint('out')\n")
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    statuses = []
    for command in ([PYTHON, "prog.py"], [SONDE, "run", "-o", "r.sonde", "prog.py"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                command,
                cwd=sonde.folder,
                env=environment,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        statuses.append((done.returncode, "No space left on device" in done.stderr))
    assert statuses == [(120, True), (120, True)]
    assert "samples at" in done.stderr


@pytest.mark.parametrize("action", ["SIG_DFL", "SIG_IGN"])
def test_nobody_reads_standard_error_any_more(sonde, action):
    write(sonde, f"import signal\nsignal.signal(signal.SIGPIPE, signal.{action})\nspin(0.2)\ninput()\nsys.exit(3)\n")
    program = subprocess.Popen(
        [SONDE, "run", "-o", "r.sonde", "prog.py"], cwd=sonde.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert program.stdin is not None
    assert program.stderr is not None
    program.stderr.close()
    program.stdin.write(b"\n")
    program.stdin.close()
    assert program.wait(60) == 3
    assert functions(sonde)["spin"] > 0


def test_a_file_of_the_program_that_got_the_number_of_standard_error_is_left_alone(sonde):
    write(sonde, "import os\nspin(0.2)\nos.close(2)\nf = open('data', 'w')\nassert f.fileno() == 2\nf.write('mine')\n")
    done = measure(sonde, "run", "prog.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert (sonde.folder / "data").read_text() == "mine"
    assert infos(sonde)["complete"] == "1"


def test_a_log_file_in_place_of_standard_error_has_the_report(sonde):
    write(sonde, "import os\nspin(0.2)\nos.dup2(os.open('log', os.O_WRONLY | os.O_CREAT), 2)\nsys.stderr = None\n")
    done = measure(sonde, "run", "prog.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert is_report((sonde.folder / "log").read_text(), "run")


def test_regions_are_reported_without_streams(sonde):
    code = "import sys, sonde.regions as rp\nrp.install()\nwith rp.region('fetch'): pass\n"
    assert "fetch" in sonde.python(code + "sys.stdout = sys.stderr = None\n").stderr
    assert "Traceback" not in sonde.python(code + "sys.stdout.close()\n").stderr


@pytest.mark.parametrize("how", ["closed", "no error", "both closed", "deleted"])
def test_a_function_that_reports_itself_goes_on_without_streams(sonde, how):
    code = f"{SPIN}\n{STREAMS[how]}\n@sonde.sample\ndef work():\n    spin(0.2)\n    return 5\nassert work() == 5\n"
    assert "samples at" in sonde.python(code).stderr


def test_a_terminal_has_its_own_look(sonde):
    """Colours and width are those of what standard error is at the end."""
    write(sonde, "spin(0.2)\nsys.stderr = None\n")
    master, end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    program = subprocess.Popen(
        [SONDE, "run", "-o", "r.sonde", "prog.py"], cwd=sonde.folder, stdout=end, stderr=end, env=environment
    )
    os.close(end)
    text = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(master)
    assert program.wait(60) == 0
    assert b"\033[1m" in text


# ---- signals ----


def end_by(sonde, command, code, number=signal.SIGTERM):
    """The program is sent the signal once it has printed a line."""
    write(sonde, code)
    program = subprocess.Popen(
        [SONDE, command, "-o", "r.sonde", "prog.py"],
        cwd=sonde.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    program.send_signal(number)
    _, error = program.communicate(timeout=60)
    return program.returncode, error


READY = "spin(0.2)\nprint('ready', flush=True)\n"
STAY = "while True:\n    time.sleep(0.1)\n"  # a signal that comes right before a sleep is handled after it


@pytest.mark.parametrize("command", ["run", "trace"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_program_that_a_signal_ends_says_where_its_recording_is(sonde, command, number):
    status, error = end_by(sonde, command, READY + "time.sleep(60)\n", number)
    assert status == -number
    assert error == f"{SAVED}{sonde.folder}/r.sonde (ended by {number.name})\n"
    assert infos(sonde)["complete"] == "1"


def test_the_line_needs_no_stream_and_no_reader(sonde):
    status, error = end_by(sonde, "run", "sys.stderr = None\n" + READY + "time.sleep(60)\n")
    assert (status, error.count(SAVED)) == (-signal.SIGTERM, 1)
    status, error = end_by(sonde, "run", "import os\nos.close(2)\n" + READY + "time.sleep(60)\n")
    assert (status, error) == (-signal.SIGTERM, "")
    code = """
    import os
    os.set_blocking(2, False)
    try:
        while True:
            os.write(2, b'x' * 4096)
    except BlockingIOError:
        os.set_blocking(2, True)
    """
    status, error = end_by(sonde, "run", textwrap.dedent(code) + READY + "time.sleep(60)\n")
    assert status == -signal.SIGTERM
    assert infos(sonde)["complete"] == "1"


@pytest.mark.parametrize("command", ["run", "trace"])
def test_a_handler_that_lets_the_program_end_gives_the_report(sonde, command):
    code = "import signal\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n" + READY + STAY
    status, error = end_by(sonde, command, code)
    assert status == 5
    assert is_report(error, command)
    assert error.count(SAVED) == 1


@pytest.mark.parametrize("command", ["run", "trace"])
def test_a_server_that_shuts_down_and_raises_the_signal_again(sonde, command):
    """As uvicorn does: its own handler, and at the end the default action back."""
    code = """
    import signal
    class Told(Exception): pass
    def handler(*_): raise Told
    before = signal.signal(signal.SIGTERM, handler)
    spin(0.2)
    try:
        print('ready', flush=True)
        while True:
            time.sleep(0.1)
    except Told:
        signal.signal(signal.SIGTERM, before)
        signal.raise_signal(signal.SIGTERM)
        time.sleep(60)
    """
    status, error = end_by(sonde, command, code)
    assert (status, error.count(SAVED), error.count("\n")) == (-signal.SIGTERM, 1, 1)
    assert infos(sonde)["complete"] == "1"


def test_children_that_a_signal_ends_say_nothing(sonde):
    code = """
    import glob, multiprocessing as m
    if __name__ == '__main__':
        child = m.get_context('fork').Process(target=spin, args=(60,))
        child.start()
        while not glob.glob('r.sonde.parts/*.sonde'):  # it is measured
            spin(0.01)
        child.terminate()
        child.join()
        assert child.exitcode == -15
    """
    write(sonde, code)
    done = measure(sonde, "run", "prog.py")
    assert done.returncode == 0
    assert done.stderr.count(SAVED) == 1


def test_a_program_with_children_says_how_to_add_them(sonde):
    code = """
    import os, subprocess
    words = [sys.executable, "-c", "import sys; sys.stdin.read()"]  # until this one has ended
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while not os.path.isdir("r.sonde.parts"):
        time.sleep(0.01)
    """
    status, error = end_by(sonde, "run", textwrap.dedent(code) + READY + "time.sleep(60)\n")
    assert status == -signal.SIGTERM
    assert "sonde merge -o" in error


def test_an_end_without_ceremony_says_where_the_recording_is(sonde):
    done = run(sonde, "import os\nspin(0.2)\nos._exit(4)\n", status=4)
    assert done.stderr == f"{SAVED}{sonde.folder}/r.sonde\n"


# ---- programs that fail at once ----

FAILING = {
    "syntax": "x = (1,\n",
    "encoding": "# coding: nonsense\n",
    "import": "import no_such_module\n",
    "syntax in import": "import broken\n",
    "name": "prnt('x')\n",
}


def fails_alike(sonde, command, *words):
    plain = sonde.run([PYTHON, *words], status=None)
    done = measure(sonde, command, *words)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    lines = done.stderr.splitlines(keepends=True)
    assert "".join(lines[:-1]) == plain.stderr
    assert re.fullmatch(rf"{SAVED}\S+: the program failed immediately; nothing to show\n", lines[-1])


# Not a wrong name under trace: its one call was measured exactly.
@pytest.mark.parametrize(("how", "command"), [(how, command) for how in FAILING for command in ("run", "trace")][:-1])
def test_a_program_that_fails_at_once_has_only_its_error_and_a_line(sonde, how, command):
    (sonde.folder / "prog.py").write_text(FAILING[how])
    (sonde.folder / "broken.py").write_text("def f(:\n")
    fails_alike(sonde, command, "prog.py")
    if how != "encoding":  # a text has none
        fails_alike(sonde, command, "-c", FAILING[how])


@pytest.mark.parametrize("command", ["run", "trace"])
def test_a_module_that_is_not_there(sonde, command):
    (sonde.folder / "package").mkdir()
    (sonde.folder / "package" / "__init__.py").write_text("")
    fails_alike(sonde, command, "-m", "no_such_module")
    fails_alike(sonde, command, "-m", "package")


@pytest.mark.slow
def test_a_program_that_fails_later_is_reported(sonde):
    for last in ("1 / 0", "import no_such_module", "compile('(', 'x', 'exec')"):
        done = run(sonde, f"spin(1.2)\n{last}\n", status=1)
        assert "samples at 1000 Hz" in done.stderr
    done = run(sonde, "spin(0.2)\n1 / 0\n", status=1)
    assert "samples at 1000 Hz" in done.stderr
