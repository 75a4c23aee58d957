"""The programs that are sampled, the same for every profiler.

usage: programs.py RESULT PROGRAM COUNT [in_turns]

Runs a program and writes to the file RESULT, as JSON, what it took by its own clocks: `wall`, `cpu` (of the process)
and `thread` (CPU time of the thread that runs it), in seconds, and `rss`, the most memory it had, in bytes. COUNT 0
finds the count with which it takes about two seconds, and writes that. With in_turns, under sonde only, it pauses
sampling again and again and writes `wall_ratio` and `cpu_ratio`: what sampling adds, even where others are busy, too.
"""

import hashlib
import json
import resource
import statistics
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "trace"))

from loops import arrays, fib, generators, objects, recursion, strings  # noqa: E402

THREADS = 8


def run_threads(function, n):
    threads = [threading.Thread(target=function, args=(n,)) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def python_threads(n):
    """Eight threads that want the interpreter all the time."""
    run_threads(recursion, n)


def digests(n):
    data = b"x" * 100_000
    for _ in range(n):
        hashlib.sha256(data).digest()


def native_threads(n):
    """Eight threads that do without the interpreter nearly all the time."""
    run_threads(digests, n)


def spin(n):
    total = 0
    for i in range(n * 1000):
        total = total * 3 + i & 0xFFFF


def at_depth(depth, function, n):
    if depth > 1:
        at_depth(depth - 1, function, n)
    else:
        function(n)


def deep(n):
    """Busy at depth 50; main() and the module are two of them."""
    at_depth(46, spin, n)


def sleep(n):
    time.sleep(n)


def branch(path, depth):
    """Many different stacks: each call is on one of two lines."""
    if depth == 0:
        return fib(8)
    if path & 1:
        return branch(path >> 1, depth - 1)
    return branch(path >> 1, depth - 1)


def stacks(n):
    """For n seconds the same stacks again and again. What memory it has after a sixth of them comes first."""
    start, first = time.perf_counter(), None
    while time.perf_counter() < start + n:
        for path in range(256):
            branch(path, 8)
        if first is None and time.perf_counter() > start + n / 6:
            first = resident()
    return {"rss_first": first, "rss_last": resident()}


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


PROGRAMS = [
    recursion,
    objects,
    strings,
    generators,
    arrays,
    python_threads,
    native_threads,
    deep,
    sleep,
    stacks,
]


def in_turns(function, count):
    """The same in 40 short pieces with sampling, each beside one without: the middle of the ratios of each two."""
    from sonde import _core

    ratios = {"wall": [], "cpu": []}
    for i in range(40):
        took = {}
        for paused in (True, False) if i % 2 else (False, True):
            _core.pause_samples(paused)
            took[paused] = measure(function, max(1, count // 40))
        for key, found in ratios.items():
            found.append(took[False][key] / took[True][key])
    return {f"{key}_ratio": statistics.median(found) for key, found in ratios.items()}


def find_count(function):
    count = 1
    while True:
        start = time.perf_counter()
        function(count)
        taken = time.perf_counter() - start
        if taken > 0.1:
            return {"count": max(1, round(count * 2.2 / taken))}
        count *= 2


def measure(function, count):
    wall, cpu, thread = time.perf_counter(), time.process_time(), time.thread_time()
    more = function(count)
    result = {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "thread": time.thread_time() - thread,
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    return result | more if isinstance(more, dict) else result


def main(path, name, count, how="once"):
    function = next(function for function in PROGRAMS if function.__name__ == name)
    if count == "0":
        result = find_count(function)
    elif how == "in_turns":
        result = in_turns(function, int(count))
    else:
        result = measure(function, float(count) if name in ("sleep", "stacks") else int(count))
    Path(path).write_text(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
