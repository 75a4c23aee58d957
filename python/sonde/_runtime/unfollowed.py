"""Processes that the program starts and that cannot be followed, as far as their arguments show."""

from __future__ import annotations

import os
import sys

from sonde import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VARIABLE = "SONDE_RUN"  # without it nobody knows that anything is to be measured
WORDS_SHOWN = 8
SHELLS = ("sh", "bash", "dash", "zsh", "ksh")

_NAME = "not-followed"  # the file of such lines in the folder of parts; sitecustomize writes to it, too


def notice(event: str, arguments: tuple[Any, ...]) -> None:
    """Another program is about to run, according to the interpreter's audit event."""
    if event == "os.posix_spawn" and sys._getframe(1).f_globals.get("__name__") == "subprocess":
        return  # which has told it already
    words, environment = _command(event, arguments)
    text = _shell_text(words)
    if text is not None:
        words = _split(text)
    commands = [words] if text is None else [words[at:] for at in range(len(words))]
    for command in commands:
        if command and "python" in os.path.basename(command[0]):  # noqa: PTH119
            reason = _reason(command[1:], environment)
            if reason:
                _note(" ".join(command[:WORDS_SHOWN]), reason)
            return


def take() -> list[str]:
    """What was noted, once each, with how often; the file is gone then."""
    path = f"{_core.parts()}/{_NAME}"
    try:
        with open(path, errors="replace") as file:
            lines = file.read().splitlines()
        os.unlink(path)  # noqa: PTH108
    except OSError:
        return []
    return [line if lines.count(line) == 1 else f"{line} ({lines.count(line)} times)" for line in dict.fromkeys(lines)]


def _command(event: str, arguments: tuple[Any, ...]) -> tuple[list[str], Any]:
    """The words of what is run, and its environment; None: ours."""
    if event == "os.system":
        return ["sh", "-c", os.fsdecode(arguments[0])], None
    words, environment = (arguments[1], arguments[3]) if event == "subprocess.Popen" else arguments[1:3]
    return [os.fsdecode(word) for word in ([words] if isinstance(words, (str, bytes)) else words)], environment


def _shell_text(words: list[str]) -> str | None:
    is_shell = len(words) > 2 and os.path.basename(words[0]) in SHELLS and words[1] == "-c"  # noqa: PTH119
    return words[2] if is_shell else None


def _split(text: str) -> list[str]:
    """The words of a shell's line: near enough, and without a module more where nothing is quoted."""
    if any(letter in text for letter in "'\"\\"):
        import shlex

        try:
            return shlex.split(text)
        except ValueError:
            pass
    return text.split()


def _reason(options: list[str], environment: Any) -> str | None:
    """Why an interpreter with these words does not import our sitecustomize; None: it does."""
    for word in options:
        if not word.startswith("-") or word.startswith("--") or word == "-":
            break
        taking = next((at for at, letter in enumerate(word) if letter in "cmWX"), len(word))
        found = [letter for letter in word[1:taking] if letter in "IES"]
        if found:
            return f"started with -{found[0]}"
        if word[taking : taking + 1] in ("c", "m"):
            break
    if environment is not None and not {VARIABLE, VARIABLE.encode()} & set(environment):
        return "started with its own environment"
    return None


def _note(command: str, reason: str) -> None:
    if not _core.make_parts():
        return
    with open(f"{_core.parts()}/{_NAME}", "a") as file:
        file.write(f"{command}: {reason}".replace("\n", " ") + "\n")
