"""Known volumes that are copied, each on one line.

usage: copies.py CASE

Prints as JSON `bytes`: what the line marked with the case's name copied. Small pieces come to so much that chance has a
share of 1 % at most.
"""

import io
import json
import sys
from itertools import repeat

MB = 1_000_000
SMALL = 6000 * MB  # of pieces that are far smaller than the step from one look to the next


def array_copy():
    import numpy as np

    one = np.ones(20 * MB // 8)
    for _ in repeat(None, 20):
        np.copy(one)  # HERE: array_copy
    return 400 * MB


def array_slices():
    """Contiguous parts, assigned and copied."""
    import numpy as np

    one, other = np.ones(20 * MB // 8), np.zeros(20 * MB // 8)
    quarter = len(one) // 4
    for _ in repeat(None, 10):
        for i in range(4):
            other[i * quarter : (i + 1) * quarter] = one[i * quarter : (i + 1) * quarter]  # HERE: array_slices
    return 200 * MB


def array_rows():
    import numpy as np

    one = np.ones((2000, 1000))
    for _ in repeat(None, 40):
        one[500:1500].copy()  # HERE: array_rows
    return 320 * MB


def bytes_of_bytearray():
    one = bytearray(10 * MB)
    for _ in repeat(None, 30):
        bytes(one)  # HERE: bytes_of_bytearray
    return 300 * MB


def bytes_slices():
    one = bytes(10 * MB)
    half = slice(0, 5 * MB)
    for _ in repeat(None, 40):
        one[half]  # HERE: bytes_slices
    return 200 * MB


def small_slices():
    one, part = bytes(100_000), slice(1000, 9000)
    for _ in repeat(None, SMALL // 8000):
        one[part]  # HERE: small_slices
    return SMALL


def buffered_writes():
    piece = b"x" * 2000
    with open("/dev/null", "wb", 0) as raw, io.BufferedWriter(raw, 64_000) as file:
        for _ in repeat(None, SMALL // 2000):
            file.write(piece)  # HERE: buffered_writes
    return SMALL


def main(case):
    print(json.dumps({"bytes": globals()[case]()}))


main(*sys.argv[1:])
