"""The pace of the programs: a step every 5 ms, for as many seconds as the first argument says."""

import sys
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0


def steps():
    """The share of the time that has gone, from 0 to 1, at every step."""
    start = now = time.perf_counter()
    while now < start + SECONDS:
        yield (now - start) / SECONDS
        time.sleep(0.005)
        now = time.perf_counter()


def work():
    """What every program does besides: much is allocated, and none of it stays."""
    text = " ".join(map(str, range(2000)))
    return len({word: word * 3 for word in text.split()})
