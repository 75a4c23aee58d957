"""How tables look on the terminal, or in the file, that they are printed to."""

from __future__ import annotations

import os

from sonde import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def look_of(file: Any) -> dict[str, Any]:
    """Options for ``Profile.format``: the same as the program ``sonde`` has for its own output."""
    encoding = str(getattr(file, "encoding", None) or "utf8")  # text in memory takes anything
    takes_all = encoding.lower().replace("-", "") == "utf8"
    look: dict[str, Any] = {"unicode": takes_all and _core.look()["unicode"]}
    try:
        is_terminal = file.isatty()
        if is_terminal:
            look["width"] = os.get_terminal_size(file.fileno()).columns
    except (AttributeError, OSError, ValueError):  # no file of the system's, or closed
        return look
    look["colour"] = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
    return look
