"""What ``sonde run`` starts: the program with the sampler, a recording, and a summary at the end."""

from __future__ import annotations

import atexit
import os
import sys

from sonde import _core
from sonde._runtime import children as _children
from sonde._runtime import marks as _marks
from sonde._runtime import places as _places
from sonde._runtime import session as _session
from sonde._runtime import settings as _settings
from sonde._runtime.program import Program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sonde._runtime.children import Wanted

OPS_SHOWN = 15  # rows of operators at the end
AT_ONCE = "the program failed immediately; nothing to show"
LOADING_NS = 1_000_000_000  # a program that ran for longer has something to show, however it ended
HARDLY_NS = 10_000_000  # of its own code, seen by samples; less is chance


def main() -> None:
    """Where the interpreter imports no sitecustomize, or nobody knows where ours is."""
    _children.main(take_program())


def begin(wanted: Wanted, program: Program) -> Callable[[], object]:
    """Measure from the call of what this returns: right before the program begins."""
    given = _settings.read_words(wanted.words)
    if wanted.root is None:
        given = _settings.combined(_settings.read_project(_session.folder()), given)
    if "profile-builtin" not in given and _marks.are_used(program):
        given["profile-builtin"] = True
    has_memory = _settings.wants("memory", given)
    wanted.follows = "no-children" not in given
    _session._is_paused = True  # until the program begins
    hold_outer(
        program,
        wanted,
        given,
        rate=given.get("rate", _settings.usual_rate(has_memory)),
        memory=has_memory,
        ops=_settings.ops_wish(True, True, given.get("ops-window", 0)) if _settings.wants("ops", given) else None,
        graph=_settings.graph_wish(False, False, None) if "graph" in given else None,
        **_settings.wishes(given),
    )
    if "profile-builtin" in given:
        _marks.define()
    if program.kind == "code":
        _core.add_source("<string>", program.words[0])
    atexit.register(_at_exit, wanted, program, given)
    if "duration" in given or wanted.until_ns:
        _session.before_first_look.append(lambda: wanted.end_after(given.get("duration")))
    return _nothing if "start-paused" in given else _look


def take_program() -> Program:
    """The program, from the words behind ``-c``; ``sys.orig_argv`` becomes what it would be without us."""
    words = sys.argv[1:]
    end = words.index("--")
    program = Program(words[end + 1 :], words[0].removeprefix("--") if end > 0 else "file")
    first = {"module": ["-m"], "code": ["-c"]}.get(program.kind, [])
    sys.orig_argv[len(sys.orig_argv) - len(words) - 2 :] = [*first, *program.words]
    sys.argv[:] = program.argv
    return program


def hold_outer(program: Program, wanted: Wanted, given: dict[str, Any], **wishes: Any) -> None:
    """Begin the measurement in which all that the program measures itself takes part."""
    _session.command[:] = program.command
    _session.hold(_session.OUTER, **wanted.outputs(given.get("output") or _session.path_of(True)), **wishes)
    wanted.pass_on(given)
    if wanted.is_first():
        _core.announce()
    patterns = {name: given.get(name, "") for name in ("include", "exclude")} if "rate" in wishes else {}
    _places.describe(program.path and os.path.normpath(program.path), **patterns, all_code="all-code" in given)


def show(profile: _core.Profile, view: str, **options: Any) -> None:
    """A view of what was measured, on standard error."""
    _session.write(profile.format(view=view, **_core.look(), **options))


def failed_at_once(profile: _core.Profile | None, program: Program, hardly_ns: int) -> bool:
    """Whether the program came to nothing: it could not be loaded, or ended with an error when it had hardly begun."""
    if profile is None:
        return False
    spent_ns = int(profile.info("process_cpu_ns") or 0) - int(profile.info("process_cpu_before_ns") or 0)
    if spent_ns > LOADING_NS:
        return False
    error = getattr(sys, "last_type", None)  # what was raised and never caught
    if isinstance(error, type):
        return profile.own_ns() < (LOADING_NS if issubclass(error, (SyntaxError, ImportError)) else hardly_ns)
    main = sys.modules.get("__main__")  # a module that was never run has left it as the interpreter made it
    is_untouched = main is not None and main.__dict__.get("__spec__", main) is None
    return program.kind == "module" and is_untouched and (program.path is None or profile.own_ns() == 0)


def _look() -> None:
    _session.pause(False)


def _nothing() -> None:
    pass


def _at_exit(wanted: Wanted, program: Program, given: dict[str, Any]) -> None:
    """Complete the recording, then report."""
    is_wanted = "no-report" not in given
    if not _core.is_running():
        return
    _session.pause(True)
    _core.end()
    ended = wanted.end()
    if not wanted.is_first():
        return
    try:
        if "json-summary" in given:
            _print_json(ended)
        elif is_wanted and failed_at_once(ended.profile, program, HARDLY_NS):
            ended.comments.append(AT_ONCE)
        elif is_wanted:
            profile = ended.whole()
            show(profile, "summary", with_waiting="with-waiting" in given)
            _show_ops(profile)
            _show_graph(profile)
    except OSError:
        _session.say("no samples were taken")
    finally:
        ended.say()
        if "html" in given or "open" in given:
            _write_page(ended, "open" in given)


def _print_json(ended: _children.Ended) -> None:
    """On a line of its own, whatever the program has printed, or made of its streams."""
    if ended.profile is None:
        return
    text = "\n" + ended.whole().json_summary(ended.recording)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
        os.write(1, text.encode())
    except (OSError, ValueError):  # closed, or nobody reads
        pass


def _write_page(ended: _session.Ended, is_opened: bool) -> None:
    """The page of the recording, next to it."""
    if ended.failure is not None or ended.recording is None:
        return
    path = ended.recording.removesuffix(".sonde") + ".html"
    try:
        _core.write_page(path, _core.page(ended.recording))
        _session.say(f"page saved in {path}")
        if is_opened:
            import webbrowser

            webbrowser.open(f"file://{path}")
    except OSError as error:
        _session.say(f"{path}: cannot write the page: {error.strerror or error}")


def _show_ops(profile: _core.Profile) -> None:
    if "op" in (profile.info("probes") or "").split(", "):
        try:
            table = profile.format(view="ops", limit=OPS_SHOWN, by_shape=True, **_core.look())
        except OSError:
            table = "no operator of NumPy or PyTorch was called\n"
        _session.write(f"\nOperators\n{table}")


def _show_graph(profile: _core.Profile) -> None:
    if "graph" in (profile.info("probes") or "").split(", "):
        try:
            table = profile.format(view="graph", **_core.look())
        except OSError:
            table = "no function of Aesara or PyTensor was compiled or called\n"
        _session.write(f"\nCompiled functions\n{table}")
