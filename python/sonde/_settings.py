"""The options of ``sonde run``: from its command line, and before that from pyproject.toml."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RATE = 1000  # looks a second
RATE_WITH_MEMORY = 250  # both together are to stay as cheap
MEMORY_INTERVAL = 128 << 10  # bytes from one block that is looked at to the next, on average
LIMITS = {"rate": (1, 20000), "memory-interval": (1 << 10, 1 << 30)}

# What each takes: nothing (bool), a text, a whole number, seconds, or patterns.
_KINDS = {
    "output": "text",
    "rate": "whole",
    "native": "flag",
    "cpu-only": "flag",
    "memory": "flag",
    "exact": "flag",
    "memory-interval": "whole",
    "ops": "flag",
    "graph": "flag",
    "include": "patterns",
    "exclude": "patterns",
    "all-code": "flag",
    "no-signals": "flag",
    "no-timeline": "flag",
    "start-paused": "flag",
    "duration": "seconds",
    "children": "flag",
    "no-children": "flag",
    "no-report": "flag",
    "cli": "flag",
    "html": "flag",
    "with-waiting": "flag",
}


# What is settled once the first process has begun.
SETTLED = ("output", "duration", "children", "no-children", "cli")


class Mistake(Exception):
    """A line for the one who made it."""


def check(name: str, value: Any) -> None:
    """``ValueError`` for a number that a program gives and the option would not take."""
    low, high = LIMITS[name]
    if not isinstance(value, int) or not low <= value <= high:
        raise ValueError(_wrong(name, repr(value)).removeprefix("memory-"))  # which is an option of memory() there


def memory_wishes(exact: bool, interval: int) -> dict[str, Any]:
    """What a holder of the measurement says when it wants memory."""
    check("memory-interval", interval)
    return {"memory": True, "exact": exact, "memory_interval": interval}


def ops_wish(shapes: bool, stacks: bool) -> dict[str, bool]:
    """The same for operators, under the name ``ops``."""
    return {"shapes": bool(shapes), "stacks": bool(stacks)}


def graph_wish(memory: bool, rewriting: bool, linker: str | None) -> dict[str, Any]:
    """The same for compiled functions, under the name ``graph``."""
    return {"memory": bool(memory), "rewriting": bool(rewriting), "linker": linker}


def read_words(words: list[str]) -> dict[str, Any]:
    """The values of ``--name`` and ``--name=value``, as the program ``sonde`` hands them on."""
    given: dict[str, Any] = {}
    for word in words:
        name, _, text = word.removeprefix("--").partition("=")
        given[name] = _from_text(name, text)
    return given


def as_word(name: str, value: Any) -> str:
    """What ``read_words`` reads."""
    return f"--{name}" if value is True else f"--{name}={value}"


def combined(project: dict[str, Any], words: dict[str, Any]) -> dict[str, Any]:
    """The words win."""
    if not words.keys().isdisjoint(("children", "no-children")):
        project = {name: value for name, value in project.items() if not name.endswith("children")}
    return {**project, **words}


def read_project(folder: str) -> dict[str, Any]:
    """The table ``tool.sonde`` of the nearest pyproject.toml, in this folder or above."""
    while True:
        path = f"{folder.rstrip('/')}/pyproject.toml"
        try:
            _check_owner(os.lstat(path), os.stat(folder))  # noqa: PTH116
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            above = os.path.dirname(folder)  # noqa: PTH120
            if above == folder:
                return {}
            folder = above
            continue
        return _read_toml(path, data) if b"tool.sonde" in data else {}


def _check_owner(file: os.stat_result, folder: os.stat_result) -> None:
    """In a folder that everybody may write to, such as /tmp, what another user has put there says nothing to us."""
    is_shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if is_shared and file.st_uid not in (os.geteuid(), folder.st_uid):
        raise PermissionError


def _read_toml(path: str, data: bytes) -> dict[str, Any]:
    import tomllib

    try:
        table = tomllib.loads(data.decode()).get("tool", {}).get("sonde", {})
    except (ValueError, AttributeError) as error:
        raise Mistake(f"{path}: {error}") from None
    if not isinstance(table, dict):
        raise Mistake(f"{path}: tool.sonde must be a table")
    try:
        given = dict(_values(table))
    except Mistake as mistake:
        raise Mistake(f"{path}: [tool.sonde]: {mistake}") from None
    if given.get("children") is False:
        given["no-children"] = True
    return {name: value for name, value in given.items() if value is not False}


def _values(table: dict[str, Any]) -> list[tuple[str, Any]]:
    for name in table:
        if name not in _KINDS:
            raise Mistake(f"unknown key '{name}'; there are {', '.join(_KINDS)}")
    return [(name, _from_toml(name, value)) for name, value in table.items()]


def _from_text(name: str, text: str) -> Any:
    kind = _KINDS.get(name, "flag")
    if kind == "flag":
        return True
    if kind in ("text", "patterns"):
        return text
    try:
        number = float(text)
    except ValueError:
        raise Mistake(_wrong(name, text)) from None
    return _checked(name, number, text)


def _from_toml(name: str, value: Any) -> Any:
    kind = _KINDS[name]
    if kind == "flag" and isinstance(value, bool):
        return value
    if kind in ("text", "patterns") and isinstance(value, str):
        return value
    if kind == "patterns" and isinstance(value, list) and all(isinstance(pattern, str) for pattern in value):
        return ",".join(value)
    if kind in ("whole", "seconds") and isinstance(value, (int, float)) and not isinstance(value, bool):
        return _checked(name, float(value), str(value))
    raise Mistake(_wrong(name, repr(value)))


def _checked(name: str, number: float, text: str) -> Any:
    if _KINDS[name] == "whole" and LIMITS[name][0] <= number <= LIMITS[name][1] and number == int(number):
        return int(number)
    if _KINDS[name] == "seconds" and 0 < number < 1e9:
        return number
    raise Mistake(_wrong(name, text))


def _wrong(name: str, text: str) -> str:
    wanted = {
        "flag": "true or false",
        "text": "a text",
        "patterns": "a text or a list of texts",
        "whole": "a whole number from {} to {}".format(*LIMITS.get(name, (0, 0))),
        "seconds": "a number of seconds above 0",
    }[_KINDS[name]]
    return f"{name} must be {wanted}, not {text or 'nothing'}"
