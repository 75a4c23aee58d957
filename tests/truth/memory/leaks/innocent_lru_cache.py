"""A cache that is full after a third of the time; from then on something goes for everything that comes."""

import functools

from pace import steps, work


@functools.lru_cache(maxsize=250)
def load(key):
    return bytes(60_000)


for number, _ in enumerate(steps()):
    work()
    load(number)
    load(number // 2)
