"""What a user may set: the table of collect/setting_table.c, and values for it from words and from pyproject.toml."""

from __future__ import annotations

import os
import stat

from sonde import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TABLE = _core.settings()
_RUN = {setting["name"]: setting for setting in _TABLE if "run" in setting["of"]}
_WORDS = {setting["name"]: setting for setting in _TABLE}  # kinds, and who gets them, are the same for all commands
_KEYWORDS = {setting["keyword"]: setting for setting in _RUN.values() if setting["keyword"] is not None}
_RATE_WITH_MEMORY = 250  # both together are to stay as cheap


class Mistake(Exception):
    """A line for the one who made it."""


def magics() -> list[_core.Setting]:
    """The settings that the magics of a notebook take."""
    return [setting for setting in _TABLE if "magic" in setting["of"]]


def is_passed_on(name: str) -> bool:
    """Whether processes that the program starts get an option: it is not settled by then."""
    return not _WORDS[name]["is_settled"]


def limits(keyword: str) -> tuple[int, int]:
    """The least and the most that a number may be."""
    return _KEYWORDS[keyword]["least"], _KEYWORDS[keyword]["most"]


def check(**given: Any) -> None:
    """``ValueError`` for a keyword's number that the option would not take."""
    for keyword, value in given.items():
        if keyword in _KEYWORDS and _KEYWORDS[keyword]["kind"] == "count":
            low, high = limits(keyword)
            if not isinstance(value, int) or not low <= value <= high:
                raise ValueError(_wrong(_KEYWORDS[keyword], keyword, repr(value)))


def usual_rate(with_memory: bool) -> int:
    """The default sampling rate."""
    return _RATE_WITH_MEMORY if with_memory else _RUN["rate"]["usual"]


def parts_of(name: str) -> list[str]:
    """The keywords of what means something only with another setting."""
    return [keyword for keyword, setting in _KEYWORDS.items() if setting["part_of"] == name]


def wants(name: str, given: dict[str, Any]) -> bool:
    """Whether ``run`` was given a setting or a part of it."""
    return any(name in (one, _RUN[one]["part_of"]) for one in given)


def wishes(given: dict[str, Any]) -> dict[str, Any]:
    """What the options of ``run`` say about the parts of what it measures, by keyword."""
    return {keyword: _wish(setting, given) for keyword, setting in _KEYWORDS.items() if setting["part_of"]}


def _wish(setting: _core.Setting, given: dict[str, Any]) -> Any:
    if setting["kind"] == "flag":
        return (setting["name"] in given) != setting["name"].startswith("no-")
    return given.get(setting["name"], setting["usual"])


def memory_wishes(exact: bool, interval: int) -> dict[str, Any]:
    """What a holder of the measurement says when it wants memory."""
    check(interval=interval)
    return {"memory": True, "exact": exact, "interval": interval}


def ops_wish(shapes: bool, stacks: bool, window: int | None = None) -> dict[str, Any]:
    """The same for operators, under the name ``ops``; the window is PyTorch's, None: all of the block."""
    return {"shapes": bool(shapes), "stacks": bool(stacks), "window": window}


def graph_wish(memory: bool, rewriting: bool, linker: str | None) -> dict[str, Any]:
    """The same for compiled functions, under the name ``graph``."""
    return {"memory": bool(memory), "rewriting": bool(rewriting), "linker": linker}


def read_words(words: list[str]) -> dict[str, Any]:
    """The values of ``--name`` and ``--name=value``, as the program ``sonde`` hands them on."""
    given: dict[str, Any] = {}
    for word in words:
        name, _, text = word.removeprefix("--").partition("=")
        if name in _WORDS:
            given[name] = _from_text(_WORDS[name], text)
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
    known = [name for name, setting in _RUN.items() if setting["about"] is not None]
    for name in table:
        if name not in known:
            raise Mistake(f"unknown key '{name}'; choose from {', '.join(known)}")
    return [(name, _from_toml(_RUN[name], value)) for name, value in table.items()]


def _from_text(setting: _core.Setting, text: str) -> Any:
    if setting["kind"] == "flag":
        return True
    if setting["kind"] in ("text", "patterns"):
        return text
    try:
        number = float(text)
    except ValueError:
        raise Mistake(_wrong(setting, setting["name"], text)) from None
    return _checked(setting, number, text)


def _from_toml(setting: _core.Setting, value: Any) -> Any:
    kind = setting["kind"]
    if kind == "flag" and isinstance(value, bool):
        return value
    if kind in ("text", "patterns") and isinstance(value, str):
        return value
    if kind == "patterns" and isinstance(value, list) and all(isinstance(pattern, str) for pattern in value):
        return ",".join(value)
    if kind in ("count", "seconds") and isinstance(value, (int, float)) and not isinstance(value, bool):
        return _checked(setting, float(value), str(value))
    raise Mistake(_wrong(setting, setting["name"], repr(value)))


def _checked(setting: _core.Setting, number: float, text: str) -> Any:
    if setting["kind"] == "count" and setting["least"] <= number <= setting["most"] and number == int(number):
        return int(number)
    if setting["kind"] == "seconds" and 0 < number < 1e9:
        return number
    raise Mistake(_wrong(setting, setting["name"], text))


def _wrong(setting: _core.Setting, called: str, text: str) -> str:
    wanted = {
        "flag": "true or false",
        "text": "a text",
        "patterns": "a string or a list of strings",
        "count": f"a whole number from {setting['least']} to {setting['most']}",
        "seconds": "a number of seconds above 0",
    }[setting["kind"]]
    return f"{called} must be {wanted}, not {text or 'nothing'}"
