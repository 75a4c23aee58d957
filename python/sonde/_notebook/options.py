"""The options of the magics: sonde's own, and those that people know from Scalene."""

from __future__ import annotations

import re

from sonde import _core, sampling
from sonde._runtime import settings as _settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

Mistake = _settings.Mistake

_HELP = """%sonde [options] statement
%%sonde [options]
code in the lines below

Profile a statement or a cell and show the report below it. By default: where the time goes, line by line.

  --trace            measure every call instead of sampling
  --ops              also profile operators of NumPy and PyTorch, by input shapes
  --cli              show text only
  -o, --output FILE  keep the recording, or with a name ending in .html the page
  --height PIXELS    height of the report (default 640)
  -h, --help         show this help
"""

_HELP_SCALENE = """%scrun [options] statement
%%scalene [options]
code in the lines below

The same as %sonde and %%sonde, with Scalene's options. These have an effect:

  --cpu, --cpu-only  time without memory (default)
  --gpu              GPU time and memory; always shown if there is a GPU
  --memory           also profile memory
  --cli              show text only
  --html, --web, --viewer
                     show the page (default)
  -o, --outfile FILE
                     keep the recording, or with a name ending in .html the page
  --cpu-sampling-rate SECONDS
                     time between samples
  --allocation-sampling-window BYTES
                     average distance between sampled blocks
  --use-virtual-time leave out waiting threads
  --profile-all      show library code like your own
  --profile-only TEXTS, --profile-exclude TEXTS
                     only files, or no files, with one of these texts in their name
  --stacks, --memory-leak-detector
                     always on

Other Scalene options are accepted with a note that they have no effect. Options of %sonde work too.
"""


class Options:
    """What a magic was asked for."""

    def __init__(self) -> None:
        self.probes: list[str] = ["region", "sample"]
        self.settings: dict[str, Any] = {}  # further arguments of ``record``
        self.rate: int | None = None
        self.output: str | None = None
        self.height = 640
        self.is_text_only = False
        self.with_waiting = False
        self.wants_help = False
        self.view: str | None = None  # of the text; None: what fits
        self.remarks: list[str] = []

    def add_probe(self, probe: str) -> None:
        if probe not in sampling.PROBES:
            raise Mistake(f"this sonde does not support --{probe}")
        if probe not in self.probes:
            self.probes.append(probe)

    def trace(self, signatures: bool) -> None:
        """Calls are exact; samples of a program slowed down by that would say little."""
        self.add_probe("call")
        if "sample" in self.probes:
            self.probes.remove("sample")
        signatures = signatures or bool(self.settings.get("signatures"))
        self.settings["signatures"] = signatures
        self.view = "signatures" if signatures else "functions"

    def choose(self, **settings: Any) -> None:
        self.settings.update(settings)


if TYPE_CHECKING:
    Taker = Callable[[Options, Any], object]

_TYPES: dict[str, type | None] = {"flag": None, "text": str, "patterns": str, "count": int, "seconds": float}

# Settings that say what is measured and shown. Others are arguments of ``record``.
_TAKERS: dict[str, Taker] = {
    "memory": lambda to, _: to.add_probe("memory"),
    "signatures": lambda to, _: to.trace(True),
    "ops": lambda to, _: to.add_probe("op"),
    "graph": lambda to, _: to.add_probe("graph"),
    "cli": lambda to, _: setattr(to, "is_text_only", True),
    "rate": lambda to, rate: setattr(to, "rate", rate),
    "output": lambda to, file: setattr(to, "output", file),
    "with-waiting": lambda to, _: setattr(to, "with_waiting", True),
}


def _argument(setting: _core.Setting) -> Taker:
    def take(to: Options, value: Any) -> None:
        probe = {"memory": "memory", "ops": "op"}.get(setting["part_of"] or "")
        if probe is not None:
            to.add_probe(probe)
        is_off = setting["name"].startswith("no-")
        to.choose(**{str(setting["keyword"]): not is_off if value is None else value})

    return take


# What an option takes (None: nothing), and what it does.
_OWN: dict[str, tuple[type | None, Taker]] = {
    **{
        f"--{setting['name']}": (_TYPES[setting["kind"]], _TAKERS.get(setting["name"]) or _argument(setting))
        for setting in _settings.magics()
    },
    "--trace": (None, lambda to, _: to.trace(False)),
    "--height": (int, lambda to, pixels: setattr(to, "height", pixels)),
    "--help": (None, lambda to, _: setattr(to, "wants_help", True)),
}


def _texts(given: str) -> str:
    """Scalene looks for a text anywhere in the name; a pattern has to say so."""
    return ",".join(f"*{text}*" for text in given.split(",") if text)


def _nothing(to: Options, _: Any) -> None:
    pass


def _useless(name: str, why: str) -> Taker:
    return lambda to, _: to.remarks.append(f"{name} has no effect: {why}")


def _only(to: Options, given: str) -> None:
    to.choose(include=_texts(given), exclude="")
    to.remarks.append("--profile-only adds these files to your own code")


_SCALENE: dict[str, tuple[type | None, Taker]] = {
    **_OWN,
    "--cpu": (None, _nothing),
    "--cpu-only": (None, _nothing),
    "--gpu": (None, _nothing),
    "--html": (None, _nothing),
    "--web": (None, _nothing),
    "--viewer": (None, _nothing),
    "--stacks": (None, _nothing),
    "--memory-leak-detector": (None, _nothing),
    "--on": (None, _nothing),
    "--no-browser": (None, _nothing),
    "--outfile": (str, lambda to, file: setattr(to, "output", file)),
    "--cpu-sampling-rate": (float, lambda to, seconds: setattr(to, "rate", _looks(seconds))),
    "--allocation-sampling-window": (
        int,
        lambda to, size: to.choose(interval=max(size, _settings.limits("interval")[0])),
    ),
    "--use-virtual-time": (None, lambda to, _: to.choose(cpu_only=True)),
    "--profile-all": (None, lambda to, _: to.choose(all_code=True)),
    "--profile-system-libraries": (None, lambda to, _: to.choose(all_code=True)),
    "--profile-only": (str, _only),
    "--profile-exclude": (str, lambda to, texts: to.choose(exclude=_texts(texts))),
}
# name, what it takes, why it has no meaning here
for _name, _kind, _why in (
    ("--reduced-profile", None, "the page already hides cold lines"),
    ("--cpu-percent-threshold", float, "the page already hides cold lines"),
    ("--malloc-threshold", int, "the page already hides cold lines"),
    ("--profile-interval", float, "the recording is always up to date"),
    ("--column-width", int, "text is never truncated"),
    ("--json", None, "the page is shown; use `sonde export --format json` for JSON"),
    ("--program-path", str, "the program is the notebook's cells"),
    ("--off", None, "use sonde.start() and sonde.stop() for a part of a cell"),
    ("--pid", int, "internal to Scalene"),
    ("--port", int, "sonde runs no server"),
    ("--version", None, "see sonde.__version__"),
    ("--config", str, "options go after the magic"),
    ("--disable-jit", None, "sonde does not change compiled code"),
    ("--use-legacy-tracer", None, "sonde has only one way to profile lines"),
    ("--use-python-callback", None, "sonde has only one way to profile lines"),
    ("--ipython", None, "internal to Scalene"),
):
    _SCALENE[_name] = (_kind, _useless(_name, _why))

_SHORT = {"-o": "--output", "-h": "--help"}
_SHORT_SCALENE = {"-o": "--outfile", "-h": "--help", "-c": "--config"}
_WORD = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|\S)+)""")


def _looks(seconds: float) -> int:
    if seconds <= 0:
        raise Mistake(f"--cpu-sampling-rate must be a number of seconds above 0, not {seconds}")
    return min(max(round(1 / seconds), 1), _settings.limits("rate")[1])


def help_own() -> str:
    """The help of %sonde: the text above, and a line for each setting of the table that it does not name."""
    lines = _HELP.splitlines()
    for setting in _settings.magics():
        option = " ".join(filter(None, (f"--{setting['name']}", setting["value"])))
        if re.search(rf"--{setting['name']}(?![\w-])", _HELP) is None and setting["about"] is not None:
            lines.insert(-1, f"  {option:<18} {setting['about']}")
    return "\n".join(lines) + "\n"


def help_scalene() -> str:
    """The help of the magics with Scalene's options."""
    return _HELP_SCALENE


def read_own(line: str) -> tuple[Options, str]:
    """The options in front of a line, and the statement behind them."""
    return _read(line, _OWN, _SHORT)


def read_scalene(line: str) -> tuple[Options, str]:
    """The same with Scalene's options."""
    return _read(line, _SCALENE, _SHORT_SCALENE)


def _read(line: str, known: dict[str, tuple[type | None, Taker]], short: dict[str, str]) -> tuple[Options, str]:
    options = Options()
    found = _WORD.match(line)
    while found is not None and found[1].startswith("-"):
        rest = line[found.end() :]
        if found[1] in ("--", "---"):
            return options, rest.strip()
        name, equals, text = found[1].partition("=")
        name = short.get(name, name)
        if name not in known:
            raise Mistake(f"unknown option {name}; %sonde --help lists the options")
        kind, take = known[name]
        if kind is None and equals:
            raise Mistake(f"{name} takes no value")
        if kind is not None and not equals:
            found = _WORD.match(rest)
            if found is None:
                raise Mistake(f"{name} needs a value")
            text, rest = found[1], rest[found.end() :]
        take(options, None if kind is None else _value(name, kind, text))
        line, found = rest, _WORD.match(rest)
    _check(options)
    return options, line.strip()


def _value(name: str, kind: type, text: str) -> Any:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    try:
        return kind(text)
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise Mistake(f"{name} takes {wanted}, not {text!r}") from None


def _check(options: Options) -> None:
    try:
        _settings.check(**options.settings, **({} if options.rate is None else {"rate": options.rate}))
    except ValueError as error:
        raise Mistake(str(error)) from None
    if not 100 <= options.height <= 10000:
        raise Mistake(f"--height must be from 100 to 10000 pixels, not {options.height}")
