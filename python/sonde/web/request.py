"""One request that is recorded: who may ask for it, the measurement, and the answer with its report."""

from __future__ import annotations

import hmac
import json
import os
import re
import time
from _thread import allocate_lock
from contextlib import contextmanager
from urllib.parse import unquote_plus, unquote_to_bytes

from sonde import _core, sampling
from sonde._runtime import places as _places
from sonde._runtime import settings as _settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

VIEWS = ("page", "text")
SCOPES = ("request", "process")

_turn = allocate_lock()  # a process has one measurement, so one request is recorded at a time


class CutOff(OSError):
    """What an application that runs for too long receives, as if its client had disconnected."""


class Asked:
    """What a request wants of us."""

    def __init__(self, query: str, view: str, scope: str | None, memory: bool) -> None:
        self.query = query  # for the application: without our part
        self.view = view
        self.scope = scope
        self.memory = memory
        self.method = self.path = self.name = ""

    def describe(self, method: str, path: str) -> None:
        self.method = _clean(method)
        self.path = _clean(path)
        self.name = f"{self.method} {self.path}"  # of its region


class Guard:
    """Who may ask."""

    def __init__(self, secret: str | None, parameter: str, is_on: bool) -> None:
        if secret is not None and (not isinstance(secret, str) or not secret):
            raise ValueError("secret must be a non-empty string")
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", parameter):
            raise ValueError(f"parameter must be a word, not {parameter!r}")
        self.is_on = is_on
        self._secret = None if secret is None else secret.encode("utf-8", "surrogatepass")
        self._parameter = parameter

    def read(self, query: str, header: str | None) -> Asked | None:
        """What a request asks for; None: nothing, or without the secret."""
        if not self.is_on or self._parameter not in query:
            return None
        ours, others = self._split(query)
        given = ours.get(self._parameter)
        if given is None or not self._is_right(given if header is None else _sent(header)):
            return None
        view, scope = (
            ours.get(f"{self._parameter}_{name}", b"").decode("ascii", "replace") for name in ("view", "scope")
        )
        has_memory = f"{self._parameter}_memory" in ours
        return Asked(others, view if view in VIEWS else "page", scope if scope in SCOPES else None, has_memory)

    def _split(self, query: str) -> tuple[dict[str, bytes], str]:
        """Our parameters, and the rest of the query, character for character."""
        ours, others = {}, []
        for part in query.split("&"):
            name, _, value = part.partition("=")
            name = unquote_plus(name)
            if name == self._parameter or name.startswith(self._parameter + "_"):
                ours[name] = unquote_to_bytes(_sent(value.replace("+", " ")))
            else:
                others.append(part)
        return ours, "&".join(others)

    def _is_right(self, given: bytes) -> bool:
        return self._secret is None or hmac.compare_digest(given, self._secret)


def _sent(text: str) -> bytes:
    """The bytes of the request: a server makes a character of each. Other texts are no server's, and are no error."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _clean(text: str) -> str:
    """What can be written as UTF-8."""
    return text.encode("utf-8", "replace").decode()


class Answer:
    """A response of our own."""

    def __init__(self, status: str, kind: str, body: str, more: Iterable[tuple[str, str]] = ()) -> None:
        self.status = status
        self.body = body.encode("utf-8", "replace")
        self.headers = [
            ("Content-Type", f"text/{kind}; charset=utf-8"),
            ("Content-Length", str(len(self.body))),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            *more,
        ]


BUSY = Answer(
    "503 Service Unavailable",
    "plain",
    "sonde: another request is being recorded, so this one was not answered. Try again.\n",
    [("Retry-After", "1")],
)


@contextmanager
def turn() -> Iterator[bool]:
    """Whether it is ours to record."""
    is_ours = _turn.acquire(blocking=False)
    try:
        yield is_ours
    finally:
        if is_ours:
            _turn.release()


class Recorded:
    """A request while it is recorded, and afterwards."""

    def __init__(self, asked: Asked, measurement: Any) -> None:
        self.asked = asked
        self.status = ""
        self.size = 0
        self.seconds = 0.0
        self.is_cut_off = False
        self.profile: _core.Profile | None = None
        self._measurement = measurement
        self._start = time.perf_counter()

    def count(self, part: bytes) -> None:
        self.size += len(part)

    def end(self) -> None:
        self.seconds = time.perf_counter() - self._start
        self.profile = self._measurement.stop().profile

    def story(self) -> str:
        """What the application has answered."""
        story = f"{self.asked.name}: {self.status or 'no status'}, {self.size} bytes in {self.seconds:.4g} s"
        return f"{story}; it was cut off" if self.is_cut_off else story


class Recorder:
    """How requests are recorded, and what is made of it."""

    def __init__(
        self,
        memory: bool,
        rate: int,
        source: bool,
        keep: str | os.PathLike[str] | None,
        include: Iterable[str] | str,
        exclude: Iterable[str] | str,
    ) -> None:
        _settings.check(rate=rate)
        self._memory = memory
        self._rate = rate
        self._source = source
        self._keep = None if keep is None else os.path.abspath(os.fsdecode(keep))  # noqa: PTH100
        places = _places.choice(include, exclude, False)
        self._include = places["include"]
        self._exclude = places["exclude"]

    def begin(self, asked: Asked) -> Recorded | Answer:
        """Measure from here on; an answer where that is not possible."""
        probes = ["sample", "memory"] if self._memory or asked.memory else ["sample"]
        measurement = sampling.record(
            False, probes, rate=self._rate, timeline=False, include=self._include, exclude=self._exclude
        )
        try:
            return Recorded(asked, measurement.start())
        except (OSError, RuntimeError, ValueError) as error:
            return Answer("503 Service Unavailable", "plain", f"sonde: cannot record the request: {error}\n")

    def answer(self, taken: Recorded, only_own: bool) -> Answer:
        """The report. ``only_own``: of what happened inside the request, not of what else the process did."""
        asked, profile = taken.asked, taken.profile
        assert profile is not None
        if only_own:
            profile = profile.inside(asked.name)
        scope = "what the request itself did" if only_own else "everything the process did meanwhile"
        profile.set_info("program", asked.name)
        profile.set_info("arguments", json.dumps([asked.method, asked.path]))
        profile.set_info("note", f"{taken.story()}. This shows {scope}")
        more = [("X-Sonde-Status", taken.status), ("X-Sonde-Scope", "request" if only_own else "process")]
        if self._keep is not None:
            more.append(("X-Sonde-Recording", self._save(profile, asked)))
        kind, body = self._body(profile, asked, taken)
        return Answer("200 OK", kind, body, more)

    def _body(self, profile: _core.Profile, asked: Asked, taken: Recorded) -> tuple[str, str]:
        try:
            if asked.view == "page":
                return "html", profile.page(source=self._source)
        except OSError:  # this sonde was built without the page
            pass
        return "plain", f"{taken.story()}\n\n{self._text(profile)}"

    def _text(self, profile: _core.Profile) -> str:
        try:
            return profile.format(view="summary" if self._source else "functions", width=110)
        except OSError:
            return "no samples: the request was too short\n"

    def _save(self, profile: _core.Profile, asked: Asked) -> str:
        assert self._keep is not None
        os.makedirs(self._keep, exist_ok=True)  # noqa: PTH103
        words = re.sub(r"[^\w.]+", "-", asked.name, flags=re.ASCII).strip("-.")[:100]
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**9:09}-{words}.sonde"
        profile.save(f"{self._keep}/{name}")
        return name


def status_line(code: int) -> str:
    """200 OK."""
    from http import HTTPStatus

    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)
