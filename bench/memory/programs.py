"""The programs whose memory is measured, the same for every profiler.

usage: programs.py RESULT PROGRAM COUNT

Runs a program and writes to the file RESULT, as JSON, what it took by its own clocks: `wall` and `cpu` (of the
process), in seconds, and `rss`, the most memory it had, in bytes. COUNT 0 finds the count with which it takes about two
seconds, and writes that.
"""

import json
import resource
import statistics
import sys
import time
from pathlib import Path


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y
        self.near = [x, y]


def objects(n):
    """Instances that come and go; some hundred are there at once."""
    kept = [None] * 500
    for i in range(n * 1000):
        kept[i % 500] = Point(i, (i, i + 1))


def lists(n):
    for _ in range(n):
        grown = []
        for i in range(10_000):
            grown.append(i)
        del grown[5000:]
        grown.extend([None] * 5000)


def dicts(n):
    for i in range(n):
        table = {}
        for j in range(1000):
            table[j] = (i, j)
        copy = dict(table)
        for j in range(0, 1000, 2):
            del copy[j]


def texts(n):
    for i in range(n):
        parts = [f"{i}:{j}" for j in range(200)]
        text = ""
        for part in parts:
            text += part + ","
        "\n".join(parts).upper().encode().split(b"\n")


def arrays(n):
    """Temporary arrays of 800 kB."""
    import numpy as np

    a, b = np.ones(100_000), np.arange(100_000.0)
    for _ in range(n):
        a = a * 0.5 + b * 2 - np.sqrt(b + 1)


def json_load(n):
    text = json.dumps([{"id": i, "name": f"name {i}", "values": [i, i / 3, None], "is": True} for i in range(2000)])
    for _ in range(n):
        json.loads(text)


def group_by(n):
    import numpy as np
    import pandas as pd

    chance = np.random.default_rng(1)
    frame = pd.DataFrame({"key": chance.integers(0, 500, 100_000), "a": chance.random(100_000), "b": 1.0})
    for _ in range(n):
        frame.assign(c=frame.a * frame.b).groupby("key").agg({"a": "mean", "b": "sum", "c": "max"})


def heap(n):
    """n bytes in objects of 64."""
    kept = [bytes(31) for _ in range(n // (64 + 8))]
    return {"objects": len(kept)}


PROGRAMS = [objects, lists, dicts, texts, arrays, json_load, group_by, heap]


def find_count(function):
    function(1)  # what it imports does not count
    count = 1
    while True:
        start = time.perf_counter()
        function(count)
        taken = time.perf_counter() - start
        if taken > 0.1:
            return {"count": max(1, round(count * 2.2 / taken))}
        count *= 2


def measure(function, count):
    if function is not heap:
        function(1)
    wall, cpu = time.perf_counter(), time.process_time()
    more = function(count)
    result = {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    return result | (more or {})


def in_turns(function, count):
    """In 20 pieces with memory and time measured, as `sonde run --memory` does, each beside one without: the middle."""
    from sonde import _core

    ratios = []
    function(1)
    for i in range(20):
        took = {}
        for measured in (True, False) if i % 2 else (False, True):
            if measured:
                _core.start({"rate": 250, "memory": True})
            took[measured] = measure(function, max(1, count // 20))["wall"]
            if measured:
                _core.stop()
        ratios.append(took[True] / took[False])
    return {"wall": statistics.median(ratios)}


def main(path, name, count, how="once"):
    function = next(function for function in PROGRAMS if function.__name__ == name)
    if count == "0":
        result = find_count(function)
    elif how == "in_turns":
        result = in_turns(function, int(count))
    else:
        result = measure(function, int(count))
    Path(path).write_text(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
