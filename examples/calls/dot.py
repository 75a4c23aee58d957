"""One function called with different types and shapes: one row each."""

import numpy as np

from sonde import profiler


def dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


p = profiler.Profile()
p.enable()
dot(np.arange(16, dtype=np.float32), np.arange(16, dtype=np.float32))
dot(list(range(1000)), tuple(range(1000)))
p.disable()
p.print_stats("tottime")
