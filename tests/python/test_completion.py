"""Completion in real shells, and man pages: both are written from the lists of options."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
SHARE = Path(sys.prefix) / "share"
COMMANDS = ["run", "trace", "view", "report", "diff", "merge", "export", "import", "stat", "info", "sql", "doctor"]
COMMANDS += ["config", "completion"]
SECONDS = 30
CONTROL = re.compile(r"\x1b\[[?\d;]*[a-zA-Z]|[\x07\x0e\x0f]")


class Shell:
    """An interactive shell on a terminal of its own."""

    def __init__(self, folder, *command):
        self.seen = ""
        child, self.file = pty.fork()
        if child == 0:
            os.chdir(folder)
            path = f"{BIN}:{os.environ['PATH']}"
            os.execvpe(command[0], command, {"PATH": path, "HOME": str(folder), "TERM": "dumb", "LC_ALL": "C.UTF-8"})
        self.child = child

    def press(self, keys):
        os.write(self.file, keys.encode())

    def wait(self, pattern):
        """What came since the last call, up to what the pattern matches."""
        end = time.monotonic() + SECONDS
        while (found := re.search(pattern, self.seen)) is None:
            assert time.monotonic() < end, self.seen
            if select.select([self.file], [], [], 1)[0]:
                self.seen += CONTROL.sub("", os.read(self.file, 4096).decode(errors="replace"))
        before, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        return before

    def run(self, line):
        self.press(f"{line}; echo done''-now\n")
        return self.wait("done-now\r?\n")

    def close(self):
        os.close(self.file)
        os.waitpid(self.child, 0)


@pytest.fixture
def folder(sonde):
    (sonde.folder / "prog.py").write_text("print(sum(range(1000)))\n")
    (sonde.folder / "notes.txt").write_text("")
    sonde.command("trace", "--no-report", "-o", "calls.sonde", "prog.py")
    return sonde.folder


BASH = ("bash", "--norc", "--noprofile", "-i")
ZSH = ("zsh", "-f", "-i")


@pytest.fixture(params=[BASH, ZSH], ids=["bash", "zsh"])
def shell(request, folder):
    shell = Shell(folder, *request.param)
    if request.param == ZSH:
        shell.run("unsetopt zle_bracketed_paste prompt_sp; PS1='> '; autoload -U compinit; compinit -u -D")
    shell.run(f"source <(sonde completion {request.param[0]})")
    yield shell
    shell.press("\x15exit\n")
    shell.close()


# What is typed before the key Tab, and what stands there afterwards.
COMPLETED = {
    "sonde vi": "sonde view ",
    "sonde pr": "sonde prog.py",
    "sonde view ca": "sonde view calls.sonde",
    "sonde view calls.sonde --sig": "sonde view calls.sonde --signatures",
    "sonde view calls.sonde --functions -c primi": "-c primitive_calls",
    "sonde view calls.sonde --functions -c name,primi": "-c name,primitive_calls",
    "sonde export calls.sonde --view caller": "--view callers",
    "sonde export calls.sonde --format spee": "--format speedscope",
    "sonde run --mem": "sonde run --memory",
    "sonde run --no-rep": "sonde run --no-report",
    "sonde import no": "sonde import notes.txt",
    "sonde completion fi": "sonde completion fish",
    "sonde completion m": "sonde completion man",
}


@pytest.mark.parametrize("typed", COMPLETED)
def test_a_word_is_completed(shell, typed):
    shell.press(f"{typed}\t")
    shell.wait(re.escape(COMPLETED[typed]))


def fish(folder, line):
    path = f"{BIN}:{os.environ['PATH']}"
    code = f"sonde completion fish | source; complete -C '{line}'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", code],
        cwd=folder,
        env={"PATH": path, "HOME": str(folder), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert done.stderr == ""
    return {line.partition("\t")[0] for line in done.stdout.splitlines()}


def test_fish_completes_commands_options_recordings_views_and_columns(folder):
    assert {"view", "run", "prog.py"} <= fish(folder, "sonde ")
    assert fish(folder, "sonde view ca") == {"calls.sonde"}
    assert "--signatures" in fish(folder, "sonde view calls.sonde --sig")
    assert "--memory" not in fish(folder, "sonde sql calls.sonde --")
    assert {"callers", "callees"} <= fish(folder, "sonde export calls.sonde --view calle")
    assert "speedscope" in fish(folder, "sonde export calls.sonde --format ")
    assert "primitive_calls" in fish(folder, "sonde view calls.sonde --functions -c ")
    assert "name,primitive_calls" in fish(folder, "sonde view calls.sonde --functions -c name,")


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_a_shell_finds_no_fault_in_the_script(sonde, name):
    script = sonde.command("completion", name).stdout
    (sonde.folder / "script").write_text(script)
    done = sonde.run([name, "-n", "script"])
    assert done.stderr == ""
    assert all(f"{command}:" in script or f" {command})" in script for command in COMMANDS)


def test_columns_are_those_of_the_view(folder, sonde):
    names = sonde.command("completion", "columns", "view", "calls.sonde", "--functions").stdout.split()
    assert {"name", "calls", "self", "total"} <= set(names)
    names = sonde.command("completion", "columns", "export", "calls.sonde", "--view", "threads").stdout.split()
    assert "calls" not in names and "name" in names
    assert sonde.command("completion", "columns", "view", "none.sonde", status=2).stdout == ""


MISTAKES = {
    "completion": "completion needs a shell: sonde completion bash, zsh or fish",
    "completion tcsh": "unknown shell 'tcsh'; choose from bash, zsh, fish",
    "completion man veiw": "unknown command 'veiw'; did you mean 'view'?",
    "completion columns": "columns needs a command line to complete: sonde completion columns view FILE.sonde",
}


@pytest.mark.quick
@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_gets_one_line(sonde, words):
    assert sonde.command(*words.split(), status=2).stderr == f"sonde: {MISTAKES[words]}\n"


@pytest.mark.quick
@pytest.mark.parametrize("command", COMMANDS)
def test_a_man_page_has_all_options_and_no_fault(sonde, command):
    page = sonde.command("completion", "man", command).stdout
    (sonde.folder / "page.1").write_text(page)
    done = sonde.run([shutil.which("man"), "--warnings", "-l", "page.1"], env={"MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
    assert done.stderr == ""
    shown = re.sub(r"\s+", " ", done.stdout.replace("-\n", "-"))
    options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", sonde.command(command, "--help").stdout, re.M))
    assert options and all(option in shown for option in options)
    assert f"sonde-{command}" in shown


def test_all_of_it_is_installed_where_it_is_looked_for(sonde):
    for name, path in {
        "bash": "bash-completion/completions/sonde",
        "zsh": "zsh/site-functions/_sonde",
        "fish": "fish/vendor_completions.d/sonde.fish",
        "man": "man/man1/sonde.1",
    }.items():
        assert (SHARE / path).read_text() == sonde.command("completion", name).stdout
    for command in COMMANDS:
        assert (SHARE / f"man/man1/sonde-{command}.1").read_text() == sonde.command("completion", "man", command).stdout
