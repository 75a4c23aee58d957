"""What a profile leaves behind: nothing that it saw is kept alive, and nothing grows."""

import functools
import gc
import sys
import weakref

import pytest
from calls_support import (
    both_kinds,
    counts,
    leaf,
    needs_numpy,
    nothing_is_left_running,  # noqa: F401
)

from sonde import profiler
from sonde.tracing import Profile

pytestmark = pytest.mark.interpreter

# What dies


@both_kinds
def test_a_profile_that_dies_while_it_runs_stops(builtins):
    profile = Profile(builtins=builtins)
    profile.enable()
    leaf()
    del profile
    gc.collect()
    leaf()
    with Profile(builtins=builtins) as other:
        leaf()
    assert counts(other)["leaf"] == 1


@both_kinds
def test_a_running_profile_in_a_cycle_stops_when_it_is_collected(builtins):
    class Holder:
        pass

    holder = Holder()
    holder.profile = Profile(builtins=builtins)
    holder.self = holder
    holder.profile.enable()
    leaf()
    died = weakref.ref(holder)
    del holder
    gc.collect()
    assert died() is None
    with Profile(builtins=builtins) as other:
        leaf()
    assert counts(other)["leaf"] == 1


@both_kinds
@pytest.mark.parametrize(
    "make",
    [Profile, profiler.Profile, functools.partial(profiler.Profile, returns=True)],
    ids=["plain", "signatures", "returns"],
)
def test_no_argument_is_kept_alive(builtins, make):
    class Thing:
        pass

    def every(a, *rest, named=None, **more):
        return a

    things = [Thing() for _ in range(7)]
    kind = type("Passing", (), {})
    died = [weakref.ref(thing) for thing in things]
    with make(builtins=builtins):
        every(things[0], things[1], [things[2]], named=things[3], other={"key": things[4]})
        every((things[5],), kind(), kind, named={"x": things[6]})
        things.clear()
        assert [ref() for ref in died] == [None] * 7
        died = weakref.ref(kind)
        del kind
        gc.collect()
        assert died() is None


@needs_numpy
def test_no_array_is_kept_alive():
    import numpy

    def look(array):
        pass

    arrays = [numpy.zeros(3), numpy.zeros(3, [("a", "i4")]), numpy.zeros(3, "M8[s]")]
    died = [weakref.ref(array) for array in arrays]
    with profiler.Profile(returns=True):
        for array in arrays:
            look(array)
            look([array])
        del array, arrays
        assert [ref() for ref in died] == [None] * 3


def test_reference_counts_are_as_before():
    def look(value):
        pass

    values = [object(), [object()], {"a": object()}, (object(),), type("A", (), {}), "text" * 3]
    before = [sys.getrefcount(value) for value in values]
    with profiler.Profile(returns=True):
        for _ in range(100):
            for value in values:
                look(value)
    del value
    assert [sys.getrefcount(item) for item in values] == before


@both_kinds
def test_generators_die_as_they_would(builtins):
    def numbers(value):
        yield value

    class Thing:
        pass

    thing = Thing()
    died = weakref.ref(thing)
    with profiler.Profile(builtins=builtins):
        generator = numbers(thing)
        next(generator)
        del generator, thing
        assert died() is None


def test_a_profile_keeps_no_function_alive_when_it_is_gone():
    names = {}
    exec("def local():\n    pass\n", names)
    function, code = weakref.ref(names["local"]), weakref.ref(names["local"].__code__)
    profile = Profile()
    profile.runcall(names["local"])
    names.clear()
    assert function() is None
    del profile
    gc.collect()
    assert code() is None


# What grows


LEAKS = """
import gc, os, sys
from sonde import profiler, tracing

def leaf(a, b=1, *c, **d):
    return a

def numbers(n):
    yield from range(n)

def work():
    leaf(1)
    leaf("a", c=[1, 2])
    list(numbers(3))
    len("")
    try:
        leaf()
    except TypeError:
        pass

def resident_kib():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024

def grown(cycle, times):
    for _ in range(times // 5):
        cycle()
    gc.collect()
    before = resident_kib(), len(gc.get_objects()), sys.getallocatedblocks()
    for _ in range(times):
        cycle()
    gc.collect()
    after = resident_kib(), len(gc.get_objects()), sys.getallocatedblocks()
    print(*(b - a for a, b in zip(before, after)))
"""


def assert_nothing_grows(sonde, program, *, kib, objects, blocks=None):
    """Run LEAKS and then `program`, which calls `grown` and so prints how much more there is than before."""
    lines = sonde.python(LEAKS + program).stdout.splitlines()
    assert lines
    for line in lines:
        more_kib, more_objects, more_blocks = map(int, line.split())
        assert more_kib < kib
        assert more_objects < objects
        assert blocks is None or more_blocks < blocks


def test_a_thousand_profiles_leave_nothing(sonde):
    assert_nothing_grows(
        sonde,
        """
def cycle(builtins, signatures):
    profile = profiler.Profile(builtins=builtins, signatures=signatures, returns=signatures)
    with profile:
        work()
    profile.getstats()
    profile.create_stats()

for builtins in (True, False):
    for signatures in (True, False):
        grown(lambda: cycle(builtins, signatures), 1000)
""",
        kib=1024,
        objects=50,
        blocks=400,
    )


def test_a_thousand_starts_of_one_profile_leave_nothing(sonde):
    assert_nothing_grows(
        sonde,
        """
for builtins in (True, False):
    profile = profiler.Profile(builtins=builtins)
    def cycle():
        profile.enable()
        work()
        profile.disable()
    grown(cycle, 1000)
""",
        kib=1024,
        objects=50,
        blocks=400,
    )


def test_functions_that_come_and_go_leave_nothing(sonde):
    """Thousands of functions from one place in the source: each dies at once."""
    assert_nothing_grows(
        sonde,
        """
def cycle():
    for _ in range(100):
        names = {}
        exec("def passing(a): return a", names)
        names["passing"](1)

for builtins in (True, False):
    for kind in (tracing.Profile, profiler.Profile):
        profile = kind(builtins=builtins)
        profile.enable()
        grown(cycle, 50)
        profile.disable()
        profile.create_stats()
        assert sum(row[1] for label, row in profile.stats.items() if label[2].startswith("passing")) == 6_000
""",
        kib=1024,
        objects=200,
    )


def test_classes_that_come_and_go_leave_nothing(sonde):
    assert_nothing_grows(
        sonde,
        """
def use(thing):
    pass

def cycle():
    class Passing:
        def method(self, other):
            pass
    Passing().method(Passing)
    use(Passing())

for builtins in (True, False):
    profile = profiler.Profile(builtins=builtins)
    profile.enable()
    grown(cycle, 2000)
    profile.disable()
""",
        kib=1024,
        objects=200,
    )


def test_generators_that_are_left_waiting_leave_nothing(sonde):
    assert_nothing_grows(
        sonde,
        """
def cycle():
    for _ in range(100):
        next(numbers(3))

for builtins in (True, False):
    profile = profiler.Profile(builtins=builtins)
    profile.enable()
    grown(cycle, 500)
    profile.disable()
""",
        kib=2048,
        objects=100,
    )
