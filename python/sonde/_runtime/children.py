"""How a measurement begins in a process, and in those that it starts; and how all come together in the end.

The program ``sonde`` puts the folder ``_site`` first on PYTHONPATH and what is wanted into the variable SONDE_RUN. The
interpreter imports ``sitecustomize`` from there, which calls ``enter``. Processes that the program starts inherit both.
"""

from __future__ import annotations

import os
import sys
from time import monotonic_ns, sleep

from sonde import _core
from sonde._runtime import session as _session
from sonde._runtime import settings as _settings
from sonde._runtime import unfollowed as _unfollowed
from sonde._runtime.program import Program, end_as

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NONE, PARTS = 1, 2  # what becomes of children, as in collect/session.h
# They end after the program, whose semaphores they remove, and do nothing else.
TRACKERS = ("multiprocessing.resource_tracker", "loky.backend.resource_tracker")

_SITE = f"{os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}/_site"  # noqa: PTH100, PTH120
_ESCAPES = (("%", "%25"), (" ", "%20"), ("\n", "%0A"))


class Wanted:
    """What SONDE_RUN says: the runner, its options, and for those that the program starts also where the parts are."""

    def __init__(self, text: str) -> None:
        self.runner, *words = (_plain(word) for word in text.split(" "))
        self.words = [word for word in words if word.startswith("--")]
        facts = dict(word.split("=", 1) for word in words if not word.startswith("--"))
        self.parts = facts.get("parts")
        self.root = facts.get("root")  # the first process; None: it is this one
        self.until_ns = int(facts.get("until", 0))
        self.process = os.getpid()
        self.gathers = self.root in (None, _identity())
        self.follows = True

    def is_first(self) -> bool:
        """Whether this is the process that the user started, also when it has become another program."""
        return self.gathers and os.getpid() == self.process

    def outputs(self, recording: str | None) -> dict[str, Any]:
        """Where this process and its children write, for the measurement."""
        if not self.follows:
            return {"recording": recording, "children": NONE}
        if self.parts is not None:
            recording = _core.part_path(self.parts).replace("%", "%%")
        return {"recording": recording, "children": PARTS, "parts": self.parts, "gathers": self.gathers}

    def pass_on(self, given: dict[str, Any]) -> None:
        """Let the processes that the program starts find it, with the options that hold for them, too."""
        if not self.follows:
            _clean(os.environ)
            return
        self.words = [_settings.as_word(name, value) for name, value in given.items() if _settings.is_passed_on(name)]
        self.parts = _core.parts()
        self.root = self.root or _identity()
        self._write()

    def end_after(self, seconds: float | None) -> None:
        """From now on, for so long; the processes that the program starts end at the same moment."""
        if seconds is not None:
            self.until_ns = monotonic_ns() + int(seconds * 1e9)
        _core.end_after(max(0, self.until_ns - monotonic_ns()) / 1e9)
        if self.follows:
            self._write()

    def end(self) -> Ended:
        """Complete what this process writes; the first one puts everything together."""
        if os.getpid() == self.process:
            _end_forkserver()
        if not (self.is_first() and self.follows):
            return Ended(_session.end())
        found = _core.look_at_parts()
        unmeasured_ns = max(0, found["children_ns"] - found["measured_ns"])
        notes = _unfollowed.take()
        if unmeasured_ns:
            _core.set_info("children_unmeasured_ns", str(unmeasured_ns))
        if notes:
            _core.set_info("not_followed", "\n".join(notes))
        ended = Ended(_session.end(), unmeasured_ns, notes)
        ended.gather()
        return ended

    def _write(self) -> None:
        facts = [f"parts={self.parts}", f"root={self.root}", *([f"until={self.until_ns}"] if self.until_ns else [])]
        os.environ[_unfollowed.VARIABLE] = " ".join(_escaped(word) for word in [self.runner, *self.words, *facts])
        path = os.environ.get("PYTHONPATH", "")
        if path.split(":")[0] != _SITE:
            os.environ["PYTHONPATH"] = f"{_SITE}:{path}" if path else _SITE


class Ended(_session.Ended):
    """What is left of the measurement of a program and of the processes that it started."""

    def __init__(self, own: _session.Ended, unmeasured_ns: int = 0, notes: list[str] | None = None) -> None:
        super().__init__(own.failure, own.profile, own.recording, own.trace)
        self.unmeasured_ns = unmeasured_ns
        self.notes = notes or []
        self.comments: list[str] = []  # for the line that says where the recording is
        self.found: dict[str, Any] = {}

    def gather(self) -> None:
        folder = _core.parts()
        try:
            self.found = _core.gather()
        except OSError as error:
            self.failure = self.failure or str(error)
        if folder is not None:
            self.recording = folder.removesuffix(".parts")

    def whole(self) -> _core.Profile:
        """All processes; what this one measured itself when there is nobody else."""
        if self.recording and self.found.get("parts"):
            return _core.read(self.recording)
        if self.profile is None:
            raise OSError("nothing was measured")
        return self.profile

    def say(self) -> None:
        parts, running, lost = (self.found.get(name, 0) for name in ("parts", "running", "lost"))
        _session.say(self.failure)
        if self.failure is None and self.recording:
            more = [*self.comments, *([f"{parts + 1} processes"] if parts else [])]
            more += [f"{self.unmeasured_ns / 1e9:.2f} s of CPU time in child processes not profiled"] * (
                self.unmeasured_ns >= 5_000_000
            )
            more += [f"{lost} ended before writing anything"] * (lost > 0)
            _session.say(f"recording saved in {self.recording}{': ' * bool(more)}{', '.join(more)}")
        for note in self.notes:
            _session.say(f"not followed: {note}")
        _session.say(self.found.get("left") or None)
        if running:
            _session.say(
                f"{running} still running; when they have ended: "
                f"sonde merge -o {self.recording} {self.recording} {self.recording}.parts/*.sonde"
            )


def enter() -> None:
    """From sitecustomize: measure this process, from where its program begins."""
    program = Program.of_process()
    wanted = Wanted(os.environ[_unfollowed.VARIABLE])
    is_tracker = program.kind == "code" and any(name in program.words[0] for name in TRACKERS)
    if is_tracker or 0 < wanted.until_ns <= monotonic_ns():
        return
    begin = _begin(wanted, program)
    _core.call_at_program(begin, _unfollowed.notice if wanted.follows else None)


def main(program: Program) -> None:
    """Without sitecustomize: measure this process, and run the program."""
    wanted = Wanted(os.environ[_unfollowed.VARIABLE])
    begin = _begin(wanted, program)
    if wanted.follows:
        _core.call_at_program(None, _unfollowed.notice)
    end_as(program.run(begin))


def _begin(wanted: Wanted, program: Program) -> Callable[[], object]:
    """A mistake ends the first process, before the program begins; a child runs on without us."""
    runner = __import__(f"sonde._runtime.{wanted.runner[1:]}", fromlist=["begin"])
    try:
        begin: Callable[[], object] = runner.begin(wanted, program)
    except (_settings.Mistake, OSError, ValueError) as error:
        if wanted.root is not None:
            raise
        _session.say(str(error))
        os._exit(2)  # the interpreter may not even be complete
    return begin


def _identity() -> str:
    """This process, also after it has become another program; no other that had or will have its number."""
    with open("/proc/self/stat", "rb") as file:
        return f"{os.getpid()}.{file.read().rpartition(b')')[2].split()[19].decode()}"


def _clean(environment: Any) -> None:
    """Take out what ``sonde`` has put there."""
    environment.pop(_unfollowed.VARIABLE, None)
    first, _, rest = environment.get("PYTHONPATH", "").partition(":")
    if first == _SITE and rest:
        environment["PYTHONPATH"] = rest
    elif first == _SITE:
        del environment["PYTHONPATH"]


def _escaped(word: str) -> str:
    for letter, escape in _ESCAPES:
        word = word.replace(letter, escape)
    return word


def _plain(word: str) -> str:
    for letter, escape in reversed(_ESCAPES):
        word = word.replace(escape, letter)
    return word


def _end_forkserver() -> None:
    """The fork server of multiprocessing ends when its pipe is closed, which is when we have ended: too late for us."""
    server: Any = getattr(sys.modules.get("multiprocessing.forkserver"), "_forkserver", None)
    pipe, process = getattr(server, "_forkserver_alive_fd", None), getattr(server, "_forkserver_pid", None)
    if pipe is None or process is None:
        return
    try:
        server._forkserver_alive_fd = server._forkserver_pid = None
        os.close(pipe)
        for _ in range(50):
            if os.waitpid(process, os.WNOHANG)[0] != 0:
                return
            sleep(0.01)
    except OSError:
        pass
