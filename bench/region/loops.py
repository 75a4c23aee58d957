"""The loops that are timed, the same for both profilers. Run as a program it times one of them and prints ns an entry.

usage: loops.py PROFILER LOOP ENTRIES [off|on|timeline]
"""

import contextlib
import sys
import tempfile
import time
from pathlib import Path


class Quiet:
    def dump_profiler(self, profiler):
        pass


def empty(n, profiler):
    for _ in range(n):
        pass


def nullcontext(n, profiler):
    context = contextlib.nullcontext
    for _ in range(n):
        with context():
            pass


def with_region(n, profiler):
    region = profiler.region
    for _ in range(n):
        with region("name"):
            pass


def with_auto(n, profiler):
    region = profiler.region
    for _ in range(n):
        with region():
            pass


def push_pop(n, profiler):
    push, pop = profiler.push, profiler.pop
    for _ in range(n):
        push("name")
        pop()


def nothing():
    pass


def call(n, profiler):
    function = nothing
    for _ in range(n):
        function()


def func(n, profiler):
    function = profiler.func()(nothing)
    for _ in range(n):
        function()


#: What is taken off a loop's time, because it is not the profiler's.
BASE = {with_region: empty, with_auto: empty, push_pop: empty, nullcontext: empty, func: call}


def spent(loop, entries, profiler):
    """The least of a few tries: what disturbs a loop only ever adds to it."""
    least = float("inf")
    for _ in range(5):
        start = time.perf_counter_ns()
        loop(entries, profiler)
        least = min(least, (time.perf_counter_ns() - start) / entries)
    return least


def install(name, mode):
    if name == "region_profiler":
        import region_profiler as profiler
    else:
        import sonde.regions as profiler
    if mode == "on":
        profiler.install(reporter=Quiet())
    elif mode == "timeline":
        profiler.install(reporter=Quiet(), chrome_trace_file=str(Path(tempfile.mkdtemp()) / "trace.json"))
    return profiler


def main():
    name, loop_name, entries, mode = sys.argv[1:]
    profiler = install(name, mode)
    loop = globals()[loop_name]
    base = BASE[loop]
    loop(100, profiler)
    print(spent(loop, int(entries), profiler) - spent(base, int(entries), profiler))


if __name__ == "__main__":
    main()
