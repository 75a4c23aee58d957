"""Programs that know how much memory they have had at most.

usage: peaks.py MIX

Prints as JSON: `peak`, what the lines marked KEPT had allocated and not freed when that was most. Every mix has more
before or after it that must not count: it is freed before, or comes when other things are freed.
"""

import json
import mmap
import sys
from itertools import repeat

MB = 1_000_000


def objects(count):
    """Of 1,000 bytes each."""
    kept = [None] * count
    for i in range(count):
        kept[i] = bytes(967)  # KEPT
    return kept


def tables(count):
    template = {str(i): None for i in range(300)}
    kept = [None] * count
    for i in range(count):
        kept[i] = template.copy()  # KEPT
    return kept, count * sys.getsizeof(template.copy())


def churn(count):
    """Much that is soon gone."""
    for _ in repeat(None, count):
        bytes(5000)


def small():
    """Objects of Python's own allocator: up, down, up higher, down."""
    first = objects(60_000)
    churn(20_000)
    del first
    second = objects(150_000)
    churn(20_000)
    del second[:100_000]
    third = objects(50_000)
    return 150 * MB, second, third


def sawtooth():
    for _ in range(10):
        kept = objects(50_000)
        del kept
    kept = objects(100_000)
    del kept
    for _ in range(10):
        kept = objects(50_000)
        del kept
    return (100 * MB,)


def maps():
    # More than 32 MB is always a map of its own.
    kept = [mmap.mmap(-1, 50 * MB) for _ in range(4)]  # KEPT
    rest = objects(20_000)
    for one in kept:
        one.close()
    again = [mmap.mmap(-1, 50 * MB) for _ in range(2)]  # KEPT
    return 220 * MB, rest, again


def mixed():
    """Every allocator at once, and the most in the middle."""
    import truth_native

    small, (more, size) = objects(50_000), tables(3000)
    for _ in repeat(None, 10_000):
        truth_native.take(5000)  # KEPT
    room = mmap.mmap(-1, 40 * MB)  # KEPT
    large = bytearray(60 * MB)  # KEPT
    churn(20_000)
    truth_native.give()
    room.close()
    other = objects(20_000)
    return 50 * MB + size + 50 * MB + 40 * MB + 60 * MB, small, more, large, other


def arrays():
    import numpy as np

    kept = [np.empty(5 * MB // 8) for _ in range(40)]  # KEPT
    for one in kept[:20]:
        one[:] = 1.0
    small = objects(50_000)
    del kept[:30]
    temporary = [np.ones(MB // 8) for _ in range(50)]  # KEPT
    return 250 * MB, small, temporary, kept


def one_array():
    import numpy as np

    kept = np.empty(512 << 20, np.uint8)  # KEPT
    kept[: 100 * MB] = 1
    del kept
    return (512 << 20,)


def growing():
    """A list that grows by appending, and a buffer that is resized: only the last size of each is there.

    A block that is moved is not counted twice, though for a moment it may be there twice.
    """
    kept = []
    for _ in repeat(None, 10 * MB):
        kept.append(None)  # KEPT
    buffer = bytearray()
    for _ in repeat(None, 100):
        buffer.extend(bytes(MB))  # KEPT
    return sys.getsizeof(kept) + sys.getsizeof(buffer), kept, buffer


def main(mix):
    peak, *kept = globals()[mix]()
    print(json.dumps({"peak": peak}))


main(*sys.argv[1:])
