"""How far a measurement may be off by chance, and how often a test here fails although nothing is wrong.

A test that compares measurements has the decorator `repeats`: it fails only when TRIES runs, one after the other, are
all off. Each run is allowed what chance exceeds in about 1 of 100 runs (`share_error`, `Z`), beside the limit that the
test states: four in a row are off once in 10^8. `make test` has about 45 such tests and `make truth` 90, so either
fails by chance about once in a million times. A busy machine adds what no formula has: the promise, less than 1 in
10,000, holds as long as it puts less than 3 of 100 runs off. There, fewer samples count, so that smaller errors pass.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Iterable
from typing import Any

TRIES = 4

#: Standard deviations: a normal error is larger in 1 of 100.
Z = 2.58

#: How long a program runs. `make truth` sets it to 20, for all cases; below 1 it is the short form for one more
#: interpreter, with the most important cases.
SECONDS = float(os.environ.get("SONDE_TRUTH_SECONDS", "2"))
IS_LONG = SECONDS >= 20
IS_SHORT = SECONDS < 1


class Off(AssertionError):
    """A measurement is further away from the truth than chance explains."""


def expect(holds: bool, said: str) -> None:
    if not holds:
        raise Off(said)


def repeats(test: Callable[..., None]) -> Callable[..., None]:
    """Runs a test again when it is off, and lets it fail when it is each time. What else goes wrong fails at once."""

    @functools.wraps(test)
    def wrapper(*args: Any, **named: Any) -> None:
        for i in range(1, TRIES):
            try:
                test(*args, **named)
            except Off as error:
                print(f"run {i} of {TRIES}: {error}")
            else:
                return
        test(*args, **named)

    return wrapper


def some(cases: Iterable[Any], count: int, short: int = 1) -> list[Any]:
    """All of them in the long form; else so many, spread evenly, the first one always."""
    every = list(cases)
    wanted = min(len(every), short if IS_SHORT else count)
    return every if IS_LONG else [every[i * len(every) // wanted] for i in range(wanted)]


def share_error(shares: Iterable[float], samples: float) -> float:
    """The distance between shares and what so many independent samples find of them, exceeded in less than 1 of 100.

    Half the sum of the absolute errors, each nearly normal: its mean and three standard deviations. With two shares,
    the widest case, 0.93 of 100 are further off, with more of them fewer.
    """
    whole = [share for share in shares if 0 < share < 1]
    deviation = [math.sqrt(p * (1 - p) / max(samples, 1)) for p in whole]
    mean = sum(deviation) * math.sqrt(2 / math.pi) / 2
    variance = 0.0
    for i, (p, a) in enumerate(zip(whole, deviation, strict=True)):
        for j, (q, b) in enumerate(zip(whole, deviation, strict=True)):
            # What one share has too much, the others have too little; the same share twice is correlated by 1.
            r = 1.0 if i == j else -math.sqrt(min(1.0, p * q / ((1 - p) * (1 - q))))
            variance += a * b * (math.sqrt(1 - r * r) + r * math.asin(r) - 1) * 2 / math.pi / 4
    return mean + 3 * math.sqrt(variance)
