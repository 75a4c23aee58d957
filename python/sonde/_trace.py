"""What ``sonde trace`` starts: the program, with every call measured, a recording, and a table at its end."""

from __future__ import annotations

import atexit

from sonde import _core, _run, _session
from sonde._program import end_as

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHOWN = {"functions": 25, "signatures": 10}  # functions


def main() -> None:
    """The words come from the program ``sonde``, which has checked them."""
    words, program = _run.take_words()
    given = dict(word.removeprefix("--").partition("=")[::2] for word in words)
    wishes: dict[str, Any] = {
        "builtins": "no-builtins" not in given,
        "signatures": "signatures" in given,
        "callables": "no-builtins" not in given,
    }
    patterns: dict[str, Any] = {name: _patterns(given.get(name)) for name in ("include", "exclude")}
    calls = _core.Calls(**wishes, **patterns, shared=True)
    cost = _core.Calls(**wishes).own_cost()
    _run.hold_outer(program, given.get("output"), calls=True, call_cost_ns=cost, timeline="timeline" in given)
    atexit.register(_at_exit, calls, "signatures" if wishes["signatures"] else "functions", "no-report" not in given)
    end_as(program.run(calls.enable))


def _patterns(text: str | None) -> list[str]:
    return [] if text is None else text.split(",")


def _at_exit(calls: _core.Calls, view: str, is_wanted: bool) -> None:
    calls.disable()
    if not _core.is_running():
        return
    try:
        if is_wanted:
            _run.show(_core.profile(), view, limit=SHOWN[view])
    except OSError:
        _session.say("no calls were measured")
    finally:
        _session.end().say()
