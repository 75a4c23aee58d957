"""Commands that work for long: they say so on a terminal, and leave no half of a file when they are broken off.

A command is stopped in the middle, whatever the machine: where it is done before that, it gets twice as much to do.
"""

import os
import pty
import random
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from wait_support import until

SONDE = str(Path(sys.executable).parent / "sonde")
COMMANDS = {
    "import": "import stacks.txt -o new.sonde",
    "merge": "merge -o new.sonde big.sonde other.sonde",
    "export": "export big.sonde --format speedscope -o new.json",
    "report": "report big.sonde -o new.html",
    "diff": "diff big.sonde other.sonde",
}


@pytest.fixture
def big(sonde):
    """A folder with recordings of so many stacks."""

    def make(count):
        for path in sonde.folder.iterdir():
            path.unlink()
        order = random.Random(count)
        lines = [
            ";".join(f"f{order.randrange(500)} (m{depth}.py:{order.randrange(500)})" for depth in range(5)) + " 7\n"
            for _ in range(count)
        ]
        (sonde.folder / "stacks.txt").write_text("".join(lines))
        sonde.command("import", "stacks.txt", "-o", "big.sonde")
        (sonde.folder / "stacks.txt").write_text("".join(lines[: count // 2]))
        sonde.command("import", "stacks.txt", "-o", "other.sonde")
        (sonde.folder / "stacks.txt").write_text("".join(lines))
        return sonde

    return make


def start(sonde, words, stderr):
    environment = {**os.environ, "TERM": "xterm"}
    return subprocess.Popen(
        [SONDE, *words.split()], cwd=sonde.folder, env=environment, stdout=subprocess.DEVNULL, stderr=stderr
    )


def status_of(program, name):
    """A line of /proc/PID/status; "" where the process is gone."""
    try:
        lines = Path(f"/proc/{program.pid}/status").read_text().splitlines()
    except OSError:
        return ""
    return next((line.split()[1] for line in lines if line.startswith(f"{name}:")), "")


def has_signal(program, name, number):
    mask = status_of(program, name)
    return mask != "" and bool(int(mask, 16) >> (number - 1) & 1)


def stop_when(program, holds):
    """Whether it could be stopped while that holds; if not, it is done."""
    while not holds():
        if status_of(program, "State") in ("", "Z"):
            return False
    program.send_signal(signal.SIGSTOP)
    until(lambda: status_of(program, "State") in ("T", "Z", ""))
    return status_of(program, "State") == "T" and holds()


def stopped(big, words, holds, stderr=subprocess.DEVNULL):
    """The folder, and the command stopped in the middle, with the count of stacks doubled until there is a middle."""
    for size in range(10):
        sonde = big(1000 << size)
        program = start(sonde, words, stderr)
        if stop_when(program, lambda program=program, sonde=sonde: holds(sonde, program)):
            return sonde, program
        program.kill()
        program.wait()
    raise AssertionError("it is always done too fast")


def read_terminal(master, program):
    text = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # nobody has the other end any more
            break
        text += piece
    assert program.wait() == 0
    return text.decode()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_terminal_shows_what_takes_longer_than_a_second(big, name):
    """The second passes while it is stopped."""
    busy = {"import": "importing", "merge": "merging", "export": "converting", "report": "writing the page"}
    master, end = pty.openpty()
    _, program = stopped(
        big, COMMANDS[name], lambda _, program: has_signal(program, "SigCgt", signal.SIGHUP), stderr=end
    )
    os.close(end)
    until(lambda: has_signal(program, "ShdPnd", signal.SIGALRM))
    program.send_signal(signal.SIGCONT)
    text = read_terminal(master, program)
    os.close(master)
    shown = re.split(rf"\r\033\[Ksonde: {busy.get(name, 'comparing')} \d+ s", text)
    assert len(shown) > 1
    assert shown[-1].startswith("\r\033[K")  # the line is gone before anything else is printed


def test_a_pipe_has_no_progress(big):
    words = COMMANDS["merge"]
    _, program = stopped(
        big, words, lambda _, program: has_signal(program, "SigCgt", signal.SIGHUP), stderr=subprocess.PIPE
    )
    assert not has_signal(program, "SigCgt", signal.SIGALRM)
    program.send_signal(signal.SIGCONT)
    assert b"\033" not in program.communicate()[1]


def unfinished(sonde, _program):
    return [path for path in sonde.folder.iterdir() if path.suffix in (".part", ".merging")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("name", ["import", "merge", "export"])
def test_breaking_off_leaves_no_half_of_a_file(big, name, number):
    sonde, program = stopped(big, COMMANDS[name], unfinished)
    program.send_signal(number)
    program.send_signal(signal.SIGCONT)
    assert program.wait() == -number
    assert {path.name for path in sonde.folder.iterdir()} == {"big.sonde", "other.sonde", "stacks.txt"}


def test_breaking_off_keeps_the_older_file(big):
    sonde, program = stopped(big, "export big.sonde --format speedscope -o other.sonde", unfinished)
    before = (sonde.folder / "other.sonde").read_bytes()
    program.send_signal(signal.SIGINT)
    program.send_signal(signal.SIGCONT)
    assert program.wait() == -signal.SIGINT
    assert (sonde.folder / "other.sonde").read_bytes() == before


def test_an_ignored_signal_stays_ignored(big):
    words = ["sh", "-c", f"trap '' INT; exec {shlex.quote(SONDE)} {COMMANDS['import']}"]
    for size in range(10):
        sonde = big(1000 << size)
        program = subprocess.Popen(words, cwd=sonde.folder, stderr=subprocess.DEVNULL)
        if stop_when(program, lambda sonde=sonde: unfinished(sonde, None)):
            break
        program.wait()
    program.send_signal(signal.SIGINT)
    program.send_signal(signal.SIGCONT)
    assert program.wait() == 0
    assert (sonde.folder / "new.sonde").exists()


def test_an_output_that_replaces_a_file_keeps_its_permissions_and_links(sonde):
    sonde.command("import", "-u", "ms", "stacks.txt", status=2)
    (sonde.folder / "stacks.txt").write_text("a;b 7\n")
    sonde.command("import", "stacks.txt")
    real = sonde.folder / "real.csv"
    real.write_text("old")
    real.chmod(0o640)
    (sonde.folder / "link.csv").symlink_to("real.csv")
    sonde.command("export", "stacks.sonde", "--format", "csv", "-o", "link.csv")
    assert "b" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    assert (sonde.folder / "link.csv").is_symlink()


def test_an_output_may_be_a_pipe_or_a_device(sonde):
    (sonde.folder / "stacks.txt").write_text("a;b 7\n")
    sonde.command("import", "stacks.txt")
    os.mkfifo(sonde.folder / "pipe")
    program = start(sonde, "export stacks.sonde --format csv -o pipe", subprocess.DEVNULL)
    assert "b" in (sonde.folder / "pipe").read_text()
    assert program.wait() == 0
    sonde.command("export", "stacks.sonde", "--format", "csv", "-o", "/dev/null")
    assert {path.name for path in sonde.folder.iterdir()} == {"stacks.txt", "stacks.sonde", "pipe"}
