"""What ``sonde trace`` starts: the program, with every call measured, a recording, and a table at its end."""

from __future__ import annotations

import atexit
import os
import sys

from sonde import _core, regions
from sonde._program import Program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHOWN = {"functions": 25, "signatures": 10}  # functions


def main() -> None:
    """The words come from the program ``sonde``, which has checked them."""
    words = sys.argv[1:]
    end = words.index("--")
    given = dict(word.removeprefix("--").partition("=")[::2] for word in words[:end])
    program = Program(words[end + 1 :], is_module="module" in given)
    sys.argv[:] = program.words
    wishes: dict[str, Any] = {
        "builtins": "no-builtins" not in given,
        "signatures": "signatures" in given,
        "callables": "no-builtins" not in given,
    }
    patterns: dict[str, Any] = {name: _patterns(given.get(name)) for name in ("include", "exclude")}
    calls = _core.Calls(**wishes, **patterns, shared=True)
    cost = _core.Calls(**wishes).own_cost()
    regions._outer.update(calls=True, call_cost_ns=cost, timeline="timeline" in given)
    regions._outer["recording"] = given.get("output") or regions._recording_path(True)
    try:
        regions.install(regions.SilentReporter(), recording=regions._outer["recording"])
    except (OSError, ValueError) as error:
        sys.exit(f"sonde: {error}")
    atexit.register(_report, calls, "signatures" if wishes["signatures"] else "functions", "no-report" not in given)
    program.run(calls.enable)


def _patterns(text: str | None) -> list[str]:
    return [] if text is None else text.split(",")


def _report(calls: _core.Calls, view: str, is_wanted: bool) -> None:
    calls.disable()
    sys.stdout.flush()
    if not is_wanted:
        return
    try:
        print(_core.profile().format(view=view, limit=SHOWN[view], width=_width()), file=sys.stderr, end="")
    except OSError:
        print("sonde: no calls were measured", file=sys.stderr)


def _width() -> int:
    """Of the terminal; 0 where it is none."""
    try:
        return os.get_terminal_size(2).columns
    except OSError:
        return 0


if __name__ == "__main__":
    main()
