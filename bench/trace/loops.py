"""The programs that are timed, the same for every profiler. Run as a program it times one of them and prints ns.

usage: loops.py PROFILER PROGRAM COUNT [OPTION ...]

PROFILER is none, sonde, cProfile, yappi or viztracer. Options: builtins (count C functions too), signatures, exclude (a
filter leaves out this file).
"""

import json
import sys
import time

try:
    import numpy as np
except ImportError:
    np = None


def nothing():
    pass


def calls(n):
    function = nothing
    for _ in range(n):
        function()


def builtin_calls(n):
    function, value = abs, 1
    for _ in range(n):
        function(value)


def three(a, b, c):
    pass


def three_arguments(n):
    function, array = three, np.zeros((4, 5))
    for _ in range(n):
        function(array, 1, "x")


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def recursion(n):
    for _ in range(n):
        fib(18)


class Particle:
    def __init__(self, x, v):
        self.x = x
        self.v = v

    def move(self, dt):
        self.x += self.v * dt
        self.bounce()

    def bounce(self):
        if not 0 <= self.x <= 100:
            self.v = -self.v

    def energy(self):
        return square(self.v) / 2


def square(x):
    return x * x


def objects(n):
    particles = [Particle(i % 97, i % 7 - 3) for i in range(100)]
    for _ in range(n):
        for particle in particles:
            particle.move(0.1)
        sum([particle.energy() for particle in particles])


def clean(word):
    return word.strip().lower().replace("-", "_")


def strings(n):
    document = {"rows": [{"id": i, "name": f"Row-{i} ", "tags": ["a", "b"]} for i in range(50)]}
    for _ in range(n):
        text = json.dumps(document, indent=None)
        rows = json.loads(text)["rows"]
        " ".join(sorted((clean(row["name"]) for row in rows), key=str.upper)).split()


def numbers(n):
    yield from range(n)


def evens(source):
    for number in source:
        if number % 2 == 0:
            yield number


def generators(n):
    for _ in range(n):
        sum(x * x for x in evens(numbers(1000)))


def step(a, b):
    return scale(a + b, 0.5)


def scale(a, factor):
    return a * factor


def arrays(n):
    a, b = np.ones(1000), np.ones(1000)
    for _ in range(n):
        for _ in range(100):
            a = step(a, b)


class Nothing:
    def start(self):
        pass

    def stop(self):
        pass


class Standard:
    def __init__(self, options):
        import cProfile

        self.profile = cProfile.Profile(builtins="builtins" in options)
        self.start, self.stop = self.profile.enable, self.profile.disable


class Sonde:
    def __init__(self, options):
        from sonde import profiler

        self.profile = profiler.Profile(
            builtins="builtins" in options,
            signatures="signatures" in options,
            exclude=[__file__] if "exclude" in options else [],
        )
        self.start, self.stop = self.profile.enable, self.profile.disable


class Yappi:
    def __init__(self, options):
        import yappi

        yappi.set_clock_type("wall")
        self.options, self.yappi = options, yappi

    def start(self):
        self.yappi.start(builtins="builtins" in self.options)

    def stop(self):
        self.yappi.stop()


class Viz:
    def __init__(self, options):
        from viztracer import VizTracer

        self.tracer = VizTracer(ignore_c_function="builtins" not in options, verbose=0, tracer_entries=1_000_000)
        self.start, self.stop = self.tracer.start, self.tracer.stop


PROFILERS = {"none": lambda options: Nothing(), "cProfile": Standard, "sonde": Sonde, "yappi": Yappi, "viztracer": Viz}


def main(profiler, program, count, *options):
    function = globals()[program]
    function(max(1, int(count) // 10))
    tool = PROFILERS[profiler](options)
    best = float("inf")
    for _ in range(5):
        tool.start()
        began = time.perf_counter_ns()
        function(int(count))
        ended = time.perf_counter_ns()
        tool.stop()
        best = min(best, ended - began)
    print(best / int(count))


if __name__ == "__main__":
    main(*sys.argv[1:])
