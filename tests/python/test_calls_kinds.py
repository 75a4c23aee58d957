"""All that can be called: functions of C, callbacks, special methods, generators, coroutines, and what they raise."""

import asyncio
import contextlib
import cProfile
import functools
import math
import sys
import time
import traceback
import types

import pytest
from calls_support import (
    HAS_MONITORING,
    both_kinds,
    branch,
    counts,
    leaf,
    nothing_is_left_running,  # noqa: F401
)

from sonde import profiler
from sonde.tracing import Profile

pytestmark = pytest.mark.interpreter

KEY = {"key": int}


# Functions of C


def test_a_method_of_c_has_its_own_name_though_a_class_overrides_it():
    class Noisy(set):
        def intersection_update(self, other):
            super().intersection_update(other)

    with Profile() as profile:
        Noisy().intersection_update(())
    with Profile() as again:
        set().intersection_update(())
    name = "<method 'intersection_update' of 'set' objects>"
    assert counts(again) == {name: 1}
    assert counts(profile)[name] == 1


def test_names_of_c_functions_are_those_of_the_standard_profiler():
    def use():
        len("")
        [].append(1)
        math.sqrt(2)
        time.monotonic()
        {}.get(1)
        "a".join([])
        dict.fromkeys([])
        str.upper("a")
        object.__new__(object)
        (5).bit_length()
        type.mro(int)
        b"".hex()
        sys.stdout.write("")
        [1, 2].__len__()
        isinstance(1, int)
        getattr(1, "real")  # noqa: B009

    with cProfile.Profile() as theirs:
        use()
    with Profile() as ours:
        use()
    expected = {
        name: count for name, count in counts(theirs).items() if "_lsprof" not in name and "_pytest" not in name
    }
    found = counts(ours)
    assert {name: found.get(name) for name in expected if name.startswith("<")} == {
        name: expected[name] for name in expected if name.startswith("<")
    }


def test_every_way_to_call_a_c_function_is_seen():
    def use():
        max([0])
        max([0], key=int)
        max([0], **KEY)
        max(*([0],))
        max(*([0],), key=int)
        max(*([0],), **KEY)

    with Profile() as profile:
        use()
    assert counts(profile)["<built-in method builtins.max>"] == 6


def test_c_functions_that_come_and_go_have_their_own_names():
    """An address that was freed and taken again is not the old function."""
    made = types.SimpleNamespace()
    with Profile() as profile:
        for name in ("append", "pop", "clear") * 50:
            made.method = getattr([1], name)
            made.method(*([1] if name == "append" else []))
            del made.method
    found = counts(profile)
    assert [found[f"<method '{name}' of 'list' objects>"] for name in ("append", "pop", "clear")] == [50, 50, 50]


def test_c_callables_that_the_standard_profiler_misses():
    def use():
        functools.partial(leaf)()
        list(range(2))
        int("5")

    with profiler.Profile() as profile:
        use()
    found = counts(profile)
    assert found["leaf()"] == 1
    if HAS_MONITORING:
        assert found["<type list>"] == found["<type int>"] == 1
        assert found["<call of functools.partial>"] == 1


def test_numpy_ufuncs_are_seen_where_the_version_allows():
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(4.0)
    with profiler.Profile() as profile:
        numpy.sin(array)
        numpy.sin(array)
        numpy.add(array, 1)
    found = counts(profile)
    if HAS_MONITORING:
        assert found["<ufunc 'sin'>"] == 2
        assert found["<ufunc 'add'>"] == 1


# Functions of Python


@both_kinds
def test_callbacks_of_c_code(builtins):
    def key(value):
        return -value

    def compare(a, b):
        return a - b

    def add(a, b=0):
        return a + b

    with Profile(builtins=builtins) as profile:
        list(map(key, range(10)))
        sorted(range(5), key=key)
        list(filter(key, range(3)))
        functools.reduce(add, range(5))
        functools.partial(add, 1)(2)
        sorted([2, 1], key=functools.cmp_to_key(compare))
        "".join(map(str, range(3)))
    found = counts(profile)
    assert (found["key"], found["add"], found["compare"]) == (18, 5, 1)


@both_kinds
def test_code_that_is_executed_and_evaluated(builtins):
    source = "def inner():\n    return leaf()\nfor _ in range(3):\n    inner()\n"
    with Profile(builtins=builtins) as profile:
        exec(compile(source, "<executed>", "exec"), {"leaf": leaf})
        eval("leaf()", {"leaf": leaf})
    found = counts(profile)
    assert (found["inner"], found["leaf"], found["<module>"]) == (3, 4, 2)
    assert ("<executed>", 1, "inner") in profile.stats


@both_kinds
def test_special_methods_and_class_bodies(builtins):
    class Thing:
        def __init__(self):
            self.value = 1

        def __add__(self, other):
            return self

        def __len__(self):
            return 3

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return True

        def __iter__(self):
            return iter(())

        def __del__(self):
            leaf()

        @property
        def size(self):
            return 1

    def use():
        thing = Thing()
        thing + thing
        len(thing)
        list(thing)
        with thing:
            raise ValueError
        return thing.size

    with Profile(builtins=builtins) as profile:
        use()

        class Body:
            pass

    found = counts(profile)
    names = ("__init__", "__add__", "__iter__", "__enter__", "__exit__", "__del__", "size", "leaf", "Body")
    assert {name: found[name] for name in names} == dict.fromkeys(names, 1)
    assert found["__len__"] >= 1


# Generators and coroutines


def test_what_is_thrown_into_a_generator_that_has_not_started():
    def numbers():
        yield

    with Profile() as profile:
        generator = numbers()
        with contextlib.suppress(KeyError):
            generator.throw(KeyError())
    assert any("throw" in name for name in counts(profile))


@both_kinds
def test_generators_that_are_closed_thrown_into_and_left_alone(builtins):
    def numbers():
        try:
            yield 1
            yield 2
        finally:
            leaf()

    def fail():
        yield 1
        raise KeyError

    with Profile(builtins=builtins) as profile:
        closed = numbers()
        next(closed)
        closed.close()
        thrown = numbers()
        next(thrown)
        with contextlib.suppress(ValueError):
            thrown.throw(ValueError())
        left = numbers()
        next(left)
        del left
        numbers()  # never started
        unstarted = numbers()
        with contextlib.suppress(ValueError):
            unstarted.throw(ValueError())
        with contextlib.suppress(KeyError):
            list(fail())
        branch()
    found = counts(profile)
    assert found["leaf"] == 3 + 2
    assert found["fail"] == 1
    assert found["numbers"] == 3


@both_kinds
def test_asynchronous_generators_that_are_closed(builtins):
    async def numbers():
        try:
            while True:
                yield 1
        finally:
            leaf()

    async def main():
        generator = numbers()
        async for _ in generator:
            break
        await generator.aclose()
        with contextlib.suppress(KeyError):
            other = numbers()
            await other.__anext__()
            await other.athrow(KeyError())
        return [number async for number in few()]

    async def few():
        yield 1
        yield 2

    with Profile(builtins=builtins) as profile:
        assert asyncio.run(main()) == [1, 2]
    found = counts(profile)
    assert (found["numbers"], found["few"], found["main"]) == (2, 1, 1)


@both_kinds
def test_cancelled_tasks_and_exceptions_across_awaits(builtins):
    async def sleeper():
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            leaf()
            raise

    async def failing():
        await asyncio.sleep(0)
        raise KeyError

    async def main():
        task = asyncio.create_task(sleeper())
        await asyncio.sleep(0)
        task.cancel()
        results = await asyncio.gather(task, failing(), return_exceptions=True)
        return [type(result) for result in results]

    with Profile(builtins=builtins) as profile:
        assert asyncio.run(main()) == [asyncio.CancelledError, KeyError]
    found = counts(profile)
    assert (found["sleeper"], found["failing"], found["main"]) == (1, 1, 1)


# Exceptions


@both_kinds
def test_exceptions_keep_their_traceback_and_context(builtins):
    def inner():
        raise ValueError("inner")

    def outer():
        try:
            inner()
        except ValueError as error:
            raise KeyError("outer") from error

    def catch(profile):
        try:
            if profile is None:
                outer()
            else:
                profile.runcall(outer)
        except KeyError as error:
            frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
            causes = [frame.name for frame in traceback.extract_tb(error.__cause__.__traceback__)]
            return frames[-1:], causes, error.__cause__ is error.__context__
        raise AssertionError

    assert catch(Profile(builtins=builtins)) == catch(None)
    assert catch(profiler.Profile(builtins=builtins)) == catch(None)
    assert sys.exc_info() == (None, None, None)


@both_kinds
def test_calls_inside_an_exception_handler_see_the_exception(builtins):
    seen = []

    def look():
        seen.append(sys.exc_info()[0])

    def main():
        try:
            raise ValueError
        except ValueError:
            look()
        look()

    with profiler.Profile(builtins=builtins):
        main()
    assert seen == [ValueError, None]
