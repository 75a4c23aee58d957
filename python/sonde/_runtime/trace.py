"""What ``sonde trace`` starts: the program, with every call measured, a recording, and a table at its end."""

from __future__ import annotations

import atexit

from sonde import _core
from sonde._runtime import children as _children
from sonde._runtime import marks as _marks
from sonde._runtime import run as _run
from sonde._runtime import session as _session
from sonde._runtime import settings as _settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sonde._runtime.children import Wanted
    from sonde._runtime.program import Program

SHOWN = {"functions": 25, "signatures": 10}  # functions


def main() -> None:
    """Where the interpreter imports no sitecustomize, or nobody knows where ours is."""
    _children.main(_run.take_program())


def begin(wanted: Wanted, program: Program) -> Callable[[], object]:
    """Measure from the call of what this returns: right before the program begins."""
    given = _settings.read_words(wanted.words)
    wanted.follows = "no-children" not in given
    wishes: dict[str, Any] = {
        "builtins": "no-builtins" not in given,
        "signatures": "signatures" in given,
        "callables": "no-builtins" not in given,
    }
    patterns: dict[str, Any] = {name: _patterns(given.get(name)) for name in ("include", "exclude")}
    calls = _core.Calls(**wishes, **patterns, shared=True)
    cost = _core.Calls(**wishes).own_cost()
    _run.hold_outer(program, wanted, given, calls=True, call_cost_ns=cost, entries="timeline" in given)
    if _marks.are_used(program):
        _marks.define()
    view = "signatures" if wishes["signatures"] else "functions"
    atexit.register(_at_exit, wanted, program, calls, view, "no-report" not in given)
    return calls.enable


def _patterns(text: str | None) -> list[str]:
    return [] if text is None else text.split(",")


def _at_exit(wanted: Wanted, program: Program, calls: _core.Calls, view: str, is_wanted: bool) -> None:
    calls.disable()
    if not _core.is_running():
        return
    _core.end()
    ended = wanted.end()
    if not wanted.is_first():
        return
    try:
        if is_wanted and _run.failed_at_once(ended.profile, program, 1):
            ended.comments.append(_run.AT_ONCE)
        elif is_wanted:
            _run.show(ended.whole(), view, limit=SHOWN[view])
    except OSError:
        _session.say("no calls were measured")
    finally:
        ended.say()
