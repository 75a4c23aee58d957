"""Reading a profile by the names of the functions of a program that knows its own answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from sonde import tracing


@dataclass
class Function:
    """What was counted of all functions of one name."""

    calls: int = 0
    primitive: int = 0
    self_ns: int = 0
    total_ns: int = 0
    callers: dict[str, int] = field(default_factory=dict)


def functions_of(profile: Any) -> dict[str, Function]:
    """By name, as pstats has them."""
    profile.create_stats()
    found: dict[str, Function] = {}
    for label, (primitive, calls, own, total, callers) in profile.stats.items():
        function = found.setdefault(label[2], Function())
        function.calls += calls
        function.primitive += primitive
        function.self_ns += round(own * 1e9)
        function.total_ns += round(total * 1e9)
        for caller, pair in callers.items():
            function.callers[caller[2]] = function.callers.get(caller[2], 0) + pair[0]
    return found


@pytest.fixture
def functions() -> Callable[[Any], dict[str, Function]]:
    return functions_of


@pytest.fixture(params=[True, False], ids=["builtins", "python only"])
def profile(request: Any) -> Any:
    """Both kinds: on 3.11 they go through different hooks of the interpreter."""
    made = tracing.Profile(builtins=request.param)
    yield made
    made.disable()


class Clock:
    """A time that stands still until the program says how long something took."""

    now = 1_000_000

    def __call__(self) -> int:
        return self.now

    def spend(self, units: int) -> None:
        self.now += units


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=[True, False], ids=["builtins", "python only"])
def timed(request: Any, clock: Clock) -> Any:
    """A profile under that clock, whose unit is a microsecond."""
    made = tracing.Profile(clock, 1e-6, builtins=request.param, exclude=["Clock.*"])
    yield made
    made.disable()
