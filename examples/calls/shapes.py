"""One function, two kinds of arguments: ``sonde trace --signatures shapes.py`` has one row for each."""

import numpy as np


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


for _ in range(100):
    dot([1, 2, 3], (4, 5, 6))
dot(np.ones(16, "f4"), np.ones(16, "f4"))
