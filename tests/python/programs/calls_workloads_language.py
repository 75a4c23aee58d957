"""Small uses of the language and of what it is used with everywhere: classes, generators, coroutines, errors."""

from __future__ import annotations

import argparse
import asyncio
import bisect
import collections
import contextlib
import dataclasses
import enum
import functools
import heapq
import inspect
import io
import itertools
import operator
import textwrap
import threading
import typing


def use_asyncio():
    async def work(number, queue):
        await asyncio.sleep(0)
        await queue.put(number)
        return number

    async def main():
        queue = asyncio.Queue()
        tasks = [asyncio.create_task(work(i, queue)) for i in range(5)]
        await asyncio.gather(*tasks)
        while not queue.empty():
            await queue.get()

    loop = asyncio.SelectorEventLoop()
    try:
        loop.run_until_complete(main())
    finally:
        loop.close()


def use_coroutines_in_python():
    import asyncio.tasks

    async def work(number):
        await asyncio.sleep(0)
        return number

    async def both():  # nothing that asks for the current task: from 3.14 on that is known of tasks written in C only
        await asyncio.gather(work(3), work(4))

    loop = asyncio.SelectorEventLoop()
    loop.set_task_factory(lambda loop, coro, **more: asyncio.tasks._PyTask(coro, loop=loop, name="task", **more))
    try:
        loop.run_until_complete(both())
    finally:
        loop.close()


def use_dataclasses():
    @dataclasses.dataclass(order=True, frozen=True)
    class Point:
        x: int
        y: int = 0
        tags: list[str] = dataclasses.field(default_factory=list, compare=False)

    points = sorted(Point(i * 7 % 5, -i) for i in range(10))
    dataclasses.asdict(dataclasses.replace(points[0], y=9))
    repr(points)


def use_collections():
    counts = collections.Counter("abracadabra")
    counts.update(collections.Counter(a=3))
    counts.most_common(2)
    chain = collections.ChainMap({"a": 1}, {"b": 2}, counts)
    [chain[key] for key in sorted(chain)]
    Pair = collections.namedtuple("Pair", ["left", "right"], defaults=[0])
    Pair(1)._replace(right=2)._asdict()
    text = collections.UserString("some text")
    text.upper() + text
    collections.deque(range(10), 5).rotate(2)


def use_heapq():
    class Job:
        def __init__(self, rank):
            self.rank = rank

        def __lt__(self, other):
            return self.rank < other.rank

    heap = []
    for i in range(40):
        heapq.heappush(heap, Job(i * 37 % 41))
    [heapq.heappop(heap).rank for _ in range(40)]
    list(heapq.merge([1, 4], [2, 3], key=lambda value: -value, reverse=True))
    heapq.nlargest(3, [Job(i) for i in range(9)], key=lambda job: job.rank)
    bisect.insort([1, 5, 9], 4, key=lambda value: value)


def use_iterators():
    @functools.cache
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    @functools.singledispatch
    def show(value):
        return "object"

    @show.register
    def _(value: int):
        return "int"

    fibonacci(20)
    [show(value) for value in (1, "a", 2.0)]
    list(map(str, itertools.accumulate(range(10), operator.mul)))
    list(map(lambda a, b: a + b, range(5), itertools.repeat(1, 5)))
    [list(group) for _, group in itertools.groupby(sorted("aabbbc"), key=lambda letter: letter)]
    sorted(range(10), key=functools.cmp_to_key(lambda a, b: b - a))
    functools.reduce(lambda a, b: a * b, filter(lambda n: n % 2, range(1, 10)))
    functools.partial(max, key=lambda n: -n)([3, 1, 2])


def use_contexts():
    @contextlib.contextmanager
    def opened(name):
        try:
            yield name
        except ValueError:
            pass
        finally:
            name.upper()

    with contextlib.ExitStack() as stack:
        [stack.enter_context(opened(f"file{i}")) for i in range(5)]
        stack.callback(len, "abc")
        raise ValueError
    with opened("x"), contextlib.suppress(KeyError), contextlib.nullcontext(), contextlib.closing(io.StringIO()):
        {}["missing"]


def use_generators():
    def walk(depth):
        if depth:
            yield from walk(depth - 1)
            yield depth
            yield from walk(depth - 1)

    def echo():
        received = None
        while True:
            try:
                received = yield received
            except KeyError:
                received = "caught"

    assert sum(walk(6)) == 120
    talker = echo()
    next(talker)
    [talker.send(i) for i in range(5)]
    talker.throw(KeyError())
    talker.close()
    unfinished = walk(3)
    next(unfinished)
    del unfinished
    doubled = (number * 2 for number in range(10))
    assert sum(number for number in doubled if number % 3) == 54


def use_namesakes():
    assert sum(i for i in (j * 2 for j in range(10)) if i % 3) == 54
    (lambda call: call())(lambda: None)


def use_async_generators():
    async def numbers(n):
        for i in range(n):
            yield i

    async def total():
        found = 0
        async for number in numbers(5):
            found += number
        return found + sum([number async for number in numbers(3)])

    running = total()
    with contextlib.suppress(StopIteration):
        running.send(None)


def use_classes():
    class Field:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, instance, owner=None):
            return self if instance is None else getattr(instance, self.name, 0)

        def __set__(self, instance, value):
            setattr(instance, self.name, value)

    class Counted(type):
        def __call__(cls, *args, **kwargs):
            return super().__call__(*args, **kwargs)

    class Thing(metaclass=Counted):
        size = Field()

        def __init__(self, size):
            self.size = size

        @property
        def area(self):
            return self.size**2

        @classmethod
        def make(cls, size):
            return cls(size)

        @staticmethod
        def check(size):
            return size > 0

        def __eq__(self, other):
            return self.size == other.size

        __hash__ = None

        def __getattr__(self, name):
            raise AttributeError(name)

    things = [Thing.make(i) for i in range(5)]
    [thing.area for thing in things if Thing.check(thing.size)]
    assert things.index(Thing(3)) == 3
    getattr(things[0], "missing", None)


def use_enum():
    class Color(enum.IntFlag):
        RED = enum.auto()
        GREEN = enum.auto()
        BLUE = enum.auto()

    assert Color.RED | Color.BLUE in Color.RED | Color.GREEN | Color.BLUE
    [color.name for color in Color]
    Color(3), Color["RED"], ~Color.RED


def use_exceptions():
    def fail(depth):
        if depth == 0:
            raise LookupError("deep")
        try:
            fail(depth - 1)
        finally:
            len("clean")

    for depth in range(5):
        try:
            fail(depth)
        except LookupError as error:
            error.add_note("note")
    with contextlib.suppress(TypeError):
        len(5)
    with contextlib.suppress(ValueError):
        int("x")
    with contextlib.suppress(ExceptionGroup):
        raise ExceptionGroup("many", [ValueError(1), TypeError(2)])


def use_recursion():
    def is_even(n):
        return n == 0 or is_odd(n - 1)

    def is_odd(n):
        return n != 0 and is_even(n - 1)

    def ackermann(m, n):
        if m == 0:
            return n + 1
        return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))

    is_even(50)
    ackermann(2, 5)


def use_inspect():
    inspect.signature(argparse.ArgumentParser.add_argument).bind(None, "-v", action="count")
    inspect.getmembers(Shape, callable)
    inspect.cleandoc(textwrap.__doc__ or "")
    typing.get_type_hints(Shape.area)


def use_locks():
    lock = threading.RLock()
    condition = threading.Condition(lock)
    with condition:
        condition.notify_all()
    event = threading.Event()
    event.set()
    event.wait(1)
    with threading.Semaphore(2):
        pass


class Shape:
    """Something to inspect."""

    def area(self, scale: float = 1.0, *, named: int | None = None) -> float:
        return scale
