"""The one measurement of a process, and all who hold it.

Regions, samples and ``sonde run`` share it: each says what it wants, and it runs with all of that until the last has
let go.
"""

from __future__ import annotations

import atexit
import os
import sys
from _io import BufferedWriter, TextIOWrapper
from _thread import RLock

from sonde import _core
from sonde._runtime import settings as _settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

OUTER = "outer"  # who holds it for a program that runs under `sonde run` or `sonde trace`

_holders: dict[Any, dict[str, Any]] = {}  # what each wants; the first one's choice counts
_lock = RLock()
_is_paused = False  # the sampler, and memory, operators and compiled functions with it
before_first_look: list[Callable[[], object]] = []  # of the sampler
_has_hooks = False
command: list[str] = []  # the program and its words as the user gave them; empty: not known before it begins

_ONE_OF = ("recording", "chrome_trace", "clock", "parts")
_SAMPLING = ("rate", "safe_frames", *_settings.parts_of("rate"))
_MEMORY = ("memory", *_settings.parts_of("memory"))
_ANY_OF = ("entries", "cpu", "debug", "calls", "ops", "graph", "gathers")


class Ended:
    """What is left of a measurement."""

    def __init__(
        self,
        failure: str | None = None,
        profile: _core.Profile | None = None,
        recording: str | None = None,
        trace: str | None = None,
    ) -> None:
        self.failure = failure
        self.profile = profile  # as it was saved
        self.recording = recording
        self.trace = trace

    def say(self) -> None:
        """Where the files are, or why not."""
        say(self.failure)
        if self.failure is None:
            say(self.recording and f"recording saved in {self.recording}")
            say(self.trace and f"trace saved in {self.trace}")


def say(line: str | None) -> None:
    if line:
        write(f"sonde: {line}\n")


def write(text: str) -> None:
    """To standard error as it is now, behind what the program has written; its stream objects may be gone.

    A notebook has no other place than the stream.
    """
    output, error = getattr(sys, "stdout", None), getattr(sys, "stderr", None)
    if cells() is not None and error is not None:
        print(text, file=error, end="")
        return
    _flush(output)
    _flush(error)
    _core.say(text)


def _flush(stream: Any) -> None:
    """Only what the interpreter itself made; what fails now fails again when it ends, and counts then."""
    try:
        if type(stream) is TextIOWrapper and type(stream.buffer) is BufferedWriter:
            stream.flush()
    except (OSError, ValueError):
        pass


def hold(holder: Any, **wishes: Any) -> None:
    """Measure, at least with these wishes, until ``release``. A second call has new wishes."""
    with _lock:
        kept = dict(_holders)
        if not _core.is_running():
            _holders.clear()  # those of the process that we were forked from
        _holders[holder] = wishes
        try:
            _core.start(_merged())
        except BaseException:
            _holders.clear()
            _holders.update(kept)
            raise
        _install_hooks()
        _switch()
        asked, written = wishes.get("recording"), wish("recording", OUTER)
        if asked and written and holder != OUTER:
            say(f"{asked} is not written; everything goes into the recording of the whole run")


def release(holder: Any) -> Ended:
    """Let go. The last one ends the measurement, which completes the files."""
    with _lock:
        if _holders.pop(holder, None) is None:
            return Ended()
        if not _holders:
            return end()
        profile = None
        if _core.is_running():  # not in a forked child, which measures only once it is asked to
            profile = _core.profile(True)
            _core.start(_merged())
        _switch()
        return Ended(profile=profile)


def end() -> Ended:
    """End the measurement, whoever holds it."""
    global _is_paused
    with _lock:
        _holders.clear()
        _is_paused = False
        _switch()
        recording, trace = _core.outputs() if _core.is_running() else (None, None)
        failure, profile = _core.stop()
        return Ended(failure, profile, recording, trace)


def pause(is_paused: bool) -> bool:
    """Let the sampler, memory, operators and compiled functions rest, or go on; what it was before."""
    global _is_paused
    with _lock:
        before, _is_paused = _is_paused, is_paused
        while before_first_look and not is_paused:
            before_first_look.pop()()
        _core.pause_samples(is_paused)
        _switch()
        return before


def _switch() -> None:
    """Operators and compiled functions are hooked as long as somebody wants them."""
    _switch_ops()
    _switch_graph()


def _switch_graph() -> None:
    """Of compiled functions everything is measured that anybody wants."""
    wishes = [given["graph"] for given in _holders.values() if given.get("graph")]
    if wishes or "sonde.graph.tracking" in sys.modules:
        from sonde.graph import tracking

        tracking.switch([] if _is_paused else wishes, is_over=not _holders)


def _switch_ops() -> None:
    """The first one's choice counts."""
    wanted = None if _is_paused else wish("ops")
    if wanted or "sonde._ops" in sys.modules:
        from sonde import _ops

        _ops._switch(wanted)


def wish(name: str, holder: Any = None) -> Any:
    """What the given holder wants, or the first one who wants anything; None when nobody does."""
    wishes = _holders.values() if holder is None else [_holders.get(holder, {})]
    return next((given[name] for given in wishes if given.get(name)), None)


def is_outer() -> bool:
    """Whether the program runs under ``sonde run`` or ``sonde trace``."""
    return OUTER in _holders


def _merged() -> dict[str, Any]:
    looks: dict[str, Any] = {**_first_of("rate", _SAMPLING), **_first_of("memory", _MEMORY)}
    options: dict[str, Any] = {name: wish(name) for name in _ONE_OF}
    options.update({name: bool(wish(name)) for name in _ANY_OF})
    if looks:
        options.update(looks, paused=_is_paused)
    options.update(call_cost_ns=wish("call_cost_ns") or 0, children=wish("children") or 0)
    counters = [name for given in _holders.values() for name in given.get("counters") or ()]
    options.update(counters=",".join(dict.fromkeys(counters)))
    return {**options, "program": program(), "arguments": _arguments()}


def _first_of(probe: str, names: tuple[str, ...]) -> dict[str, Any]:
    """What the first one who wants a probe wants of it."""
    first: dict[str, Any] = next((given for given in _holders.values() if given.get(probe)), {})
    return {name: first[name] for name in names if name in first}


def program() -> str:
    """The name that recordings are called after."""
    notebook = cells()
    if notebook is not None:
        return str(notebook.title())
    first, *words = _command() or [""]
    if first == "-m" and words:
        return words[0]
    name = os.path.basename(first.rstrip("/"))  # noqa: PTH119
    return "python" if name in ("", "-", "-c", "-m") else name


def _arguments() -> list[str]:
    """Those of a notebook are its server's, and say nothing."""
    return [program()] if cells() is not None else _command()


def _command() -> list[str]:
    """What the user started: a module goes by its name, not by the file that it is in."""
    if command:
        return command
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    name = str(getattr(spec, "name", "__main__"))
    words = [str(word) for word in sys.argv]
    return words if name == "__main__" else ["-m", name.removesuffix(".__main__"), *words[1:]]


def cells() -> Any:
    """The module that knows notebooks; None where no IPython runs, without the time to load it."""
    if "IPython" not in sys.modules:
        return None
    from sonde._notebook import cells

    return None if cells.shell() is None else cells


def folder() -> str:
    """The current folder; the root when it has been deleted."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return "/"


def path_of(recording: str | os.PathLike[str] | bool | None) -> str | None:
    """A path for ``_core.start``; True means a name made from the program's."""
    if recording is None or recording is False:
        return None
    if recording is True:
        is_module = _command()[:1] == ["-m"]  # whose dots are its name
        return path_named(program() if is_module else os.path.splitext(program())[0])  # noqa: PTH122
    return os.fsdecode(recording)


def path_named(stem: str) -> str:
    """The default path of a recording: in the current folder, with the process's number."""
    return f"{stem.replace('%', '%%')}-%p.sonde"


def _install_hooks() -> None:
    global _has_hooks
    if _has_hooks:
        return
    _has_hooks = True
    atexit.register(end)
    os.register_at_fork(
        before=_core.before_fork, after_in_parent=_core.after_fork, after_in_child=_core.after_fork_in_child
    )
