"""Words that are interned: there are only so many of them, and most have come after half of the time."""

import random
import sys

from pace import steps, work

WORDS = 3000
known = set()
chance = random.Random(2)


def read():
    word = sys.intern(f"word {chance.randrange(WORDS):06} " + "x" * 3000)
    known.add(word)


for _ in steps():
    work()
    for _ in range(20):
        read()
