"""The pace of the programs: a step every 6 ms, for about as many seconds as the first argument says. A busy machine
takes longer for the same steps."""

import sys
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0


def steps():
    """The share of the steps that were done, from 0 to 1, at every step."""
    count = int(SECONDS / 0.006)
    for number in range(count):
        yield number / count
        time.sleep(0.005)  # sleeps: the pace of a program under test


def work():
    """What every program does besides: much is allocated, and none of it stays."""
    text = " ".join(map(str, range(2000)))
    return len({word: word * 3 for word in text.split()})
