"""Signatures: what is told of each argument, of every kind of parameter, and how many signatures there may be."""

import asyncio
import collections
import enum
import sys
import time
import types

import pytest
from calls_support import both_kinds, label_of, labels, take, told

from sonde import profiler

pytestmark = pytest.mark.interpreter

# Plain values


@pytest.mark.quick
def test_plain_values_by_their_type():
    class Thing:
        pass

    class Color(enum.Enum):
        RED = 1

    expected = {
        "int": 5,
        "float": 1.5,
        "str": "x",
        "bool": True,
        "bytes": b"x",
        "complex": 1j,
        "None": None,
        "Thing": Thing(),
        "Color": Color.RED,
        "range": range(3),
        "ellipsis": ...,
        "function": take,
        "builtin_function_or_method": len,
        "module": sys,
        "OrderedDict": collections.OrderedDict(a=1),
        "deque": collections.deque([1]),
        "generator": (i for i in ()),
        "slice": slice(1),
        "bytearray": bytearray(9),
        "memoryview": memoryview(b"x"),
        "object": object(),
        "SimpleNamespace": types.SimpleNamespace(a=1),
    }
    assert {name: told(value) for name, value in expected.items()} == {name: name for name in expected}


def test_classes_are_told_from_their_objects():
    class Thing:
        pass

    assert told(Thing) == "type[Thing]"
    assert told(int) == "type[int]"
    assert told(Thing()) == "Thing"


def test_objects_of_classes_made_from_built_in_ones_have_their_own_name():
    class Number(int):
        pass

    class Items(list):
        pass

    class Table(dict):
        pass

    class Pair(collections.namedtuple("Pair", "a b")):
        pass

    assert [told(value) for value in (Number(1), Items([1]), Table(a=1), Pair(1, 2))] == [
        "Number",
        "Items",
        "Table",
        "Pair",
    ]


# Containers


def test_containers_with_what_is_in_them_and_how_many():
    assert told([1] * 1000) == "list[int]×1000"
    assert told({str(i): float(i) for i in range(20)}) == "dict[str, float]×20"
    assert told(["a", "b"]) == "list[str]×2"
    assert told((1, "a", None)) == "tuple[int, str, None]"
    assert told([1, "a"]) == "list[int|str]×2"
    assert told([None, 1.5]) == "list[None|float]×2"
    assert told({1, 2, 3}).startswith("set")
    assert told({1, 2, 3}).endswith("×3")
    assert told(frozenset([1])).endswith("×1")
    assert told([]).startswith("list")
    assert told({}).startswith("dict")
    assert told(()).startswith("tuple")


def test_containers_in_containers():
    assert told([[1, 2], [3]]) == "list[list[int]]×2"
    assert told({"a": [1]}) == "dict[str, list[int]]×1"
    assert told({"a": {"b": 1.5}}) == "dict[str, dict[str, float]]×1"
    assert told([(1, "a")]) == "list[tuple[int, str]]×1"


def test_the_depth_and_the_kinds_are_bounded():
    deep = 1
    for _ in range(100):
        deep = [deep]
    endless = []
    endless.append(endless)
    cycle = {}
    cycle["self"] = cycle
    many = [1, "a", 1.5, None, b"", 1j, (), {}, [], set()] * 10
    for value in (deep, endless, cycle, many, tuple(many), {str(i): item for i, item in enumerate(many)}):
        assert len(told(value)) < 120
    assert "…" in told(many)
    assert told([1] * 100 + ["late"]) == "list[int]×101"  # only so many are looked at


def test_big_containers_cost_no_more_than_small_ones():
    def cost(value):
        profile = profiler.Profile(builtins=False)
        start = time.thread_time()
        with profile:
            for _ in range(200):
                take(value)
        return time.thread_time() - start

    small, big = list(range(20)), list(range(1_000_000))
    assert min(cost(big) for _ in range(5)) < 1000 * min(cost(small) for _ in range(5))  # of 50,000 times as many


# Parameters


@pytest.mark.quick
def test_every_kind_of_parameter():
    def every(first, /, second, third=3, *rest, named, other=None, **more):
        pass

    assert (
        label_of(every, 1, "two", named=b"")
        == "every(first:int, second:str, third:int, *rest:(), named:bytes, other:None, **more:{})"
    )
    label = label_of(every, 1, 2, 3, 4.0, "five", named=1, other=2, extra="x", less=None)
    assert label.startswith(
        "every(first:int, second:int, third:int, *rest:(float, str), named:int, other:int, **more:{"
    )
    assert "extra:str" in label
    assert "less:None" in label


def test_no_parameters():
    def nothing():
        pass

    assert label_of(nothing) == "nothing()"
    assert label_of(lambda: None) == "<lambda>()"


def test_rests_are_bounded():
    def rest(*args, **kwargs):
        pass

    label = label_of(rest, *range(1000), **{f"name{i}": i for i in range(1000)})
    assert len(label) < 400
    assert label.count("…") == 2
    assert label_of(rest, 1) == "rest(*args:(int,), **kwargs:{})"


def test_only_rests():
    def positional(*args):
        pass

    def named(**kwargs):
        pass

    def bare(*, a):
        pass

    assert label_of(positional, 1, "a") == "positional(*args:(int, str))"
    assert label_of(named, a=1) == "named(**kwargs:{a:int})"
    assert label_of(bare, a=1) == "bare(a:int)"


def test_methods_are_shown_with_the_class_they_were_called_on():
    class Base:
        def method(self, a):
            pass

        @classmethod
        def make(cls, a):
            pass

        @staticmethod
        def plain(a):
            pass

        def __call__(self, a):
            pass

    class Derived(Base):
        pass

    assert label_of(Base().method, 1) == "Base.method(a:int)"
    assert label_of(Derived().method, "a") == "Derived.method(a:str)"
    assert label_of(Base.make, 1) == "Base.make(a:int)"
    assert label_of(Derived.make, 1) == "Derived.make(a:int)"
    assert label_of(Base.plain, 1) == "plain(a:int)"
    assert label_of(Derived(), 1) == "Derived.__call__(a:int)"
    assert label_of(Base.method, Derived(), 1) == "Derived.method(a:int)"


def plain_with_cls(cls, a):
    pass


def plain_with_self(self):
    pass


def test_a_plain_function_is_no_method_whatever_its_parameter_is_called():
    def inner(cls):
        pass

    assert label_of(plain_with_cls, int, 1) == "plain_with_cls(cls:type[int], a:int)"
    assert label_of(plain_with_self, 1.5) == "plain_with_self(self:float)"
    assert label_of(inner, 1) == "inner(cls:int)"


def test_the_same_method_on_two_classes_is_two_rows():
    class Base:
        def method(self):
            pass

    class Derived(Base):
        pass

    with profiler.Profile() as profile:
        Base().method()
        Derived().method()
        Derived().method()
    assert labels(profile) == {"Base.method()": 1, "Derived.method()": 2}


def test_an_argument_that_an_inner_function_uses():
    def outer(a, *rest, key=None):
        def inner():
            return a, rest, key

        return inner

    assert label_of(outer, 1.5, "x", key=2) == "outer(a:float, *rest:(str,), key:int)"

    class Thing:
        def method(self, a):
            return lambda: (self, a)

    assert label_of(Thing().method, b"") == "Thing.method(a:bytes)"


def test_an_argument_that_is_changed_was_what_it_was():
    def change(a):
        a = str(a)
        del a
        change_more([])

    def change_more(items):
        items.append(1)

    with profiler.Profile(builtins=False) as profile:
        change(1)
    assert labels(profile)["change(a:int)"] == 1


def test_comprehensions_and_class_bodies_have_labels_too():
    with profiler.Profile() as profile:
        sum(i for i in [1, 2])

        class Body:
            pass

    found = labels(profile)
    assert any("<genexpr>" in name for name in found)
    assert found["Body()"] == 1


def test_a_generator_keeps_its_signature_when_it_goes_on():
    def numbers(n, kind):
        yield from range(n)

    for builtins in (True, False):
        with profiler.Profile(builtins=builtins) as profile:
            one, two = numbers(10, "a"), numbers(10.0 and 10, None)
            for _ in zip(one, two, strict=True):
                pass
        assert labels(profile) == {"numbers(n:int, kind:str)": 1, "numbers(n:int, kind:None)": 1}
        with profiler.Profile(builtins=builtins, resumes=True) as profile:
            list(numbers(3, 1.5))
        assert labels(profile) == {"numbers(n:int, kind:float)": 4}


def test_a_coroutine_keeps_its_signature_when_it_goes_on():
    async def wait(times):
        for _ in range(times):
            await asyncio.sleep(0)

    async def main():
        await asyncio.gather(wait(3), wait(True))

    for builtins in (True, False):
        with profiler.Profile(builtins=builtins) as profile:
            asyncio.run(main())
        found = labels(profile)
        assert {name: found[name] for name in found if name.startswith("wait")} == {
            "wait(times:int)": 1,
            "wait(times:bool)": 1,
        }


def test_recursion_with_several_signatures():
    def fall(depth, value):
        if depth:
            fall(depth - 1, str(value) if depth % 2 else 1)

    with profiler.Profile(builtins=False) as profile:
        fall(9, 1)
    profile.create_stats()
    rows = {label[2]: (row[1], row[0]) for label, row in profile.stats.items()}
    assert rows == {"fall(depth:int, value:int)": (5, 1), "fall(depth:int, value:str)": (5, 1)}


@both_kinds
def test_return_types_on_request(builtins):
    def either(a):
        return a if a else None

    def fail(a):
        raise ValueError

    def numbers(n):
        yield from range(n)

    with profiler.Profile(builtins=builtins, returns=True) as profile:
        either("x")
        either(1)
        either(0)
        list(numbers(3))
        with pytest.raises(ValueError):
            fail(1)
    found = labels(profile)
    assert found["either(a:str) -> str"] == 1
    assert found["either(a:int) -> int|None"] == 2
    assert found["fail(a:int)"] == 1
    assert any(name.startswith("numbers(n:int)") for name in found)


def test_return_types_are_bounded():
    def echo(a):
        return a[0]

    with profiler.Profile(returns=True) as profile:
        for value in (1, "a", 1.5, None, b"", 1j, (), [], {}, set()):
            echo([value, value])
    assert all(len(name) < 200 for name in labels(profile))
    with profiler.Profile(returns=True) as profile:
        for value in range(100):
            take(value)
    assert labels(profile) == {"take(a:int) -> None": 100}


# The bound


@both_kinds
def test_beyond_the_limit_there_is_one_row_for_the_rest(builtins):
    def work(a):
        pass

    with profiler.Profile(builtins=builtins, limit=3) as profile:
        for value in (1, "a", 1.5, None, b"", 1j, 2, "b"):
            work(value)
    assert labels(profile) == {
        "work(a:int)": 2,
        "work(a:str)": 2,
        "work(a:float)": 1,
        "work(other signatures)": 3,
    }


def test_the_limit_is_a_thousand():
    def work(a):
        pass

    with profiler.Profile(builtins=False) as profile:
        for i in range(1200):
            work([None] * i)
    found = labels(profile)
    assert len(found) == 1001
    assert found["work(other signatures)"] == 200
    assert sum(found.values()) == 1200


def test_each_profile_has_a_limit_of_its_own():
    def work(a):
        pass

    with profiler.Profile(limit=2):
        for value in (1, "a", 1.5):
            work(value)
    with profiler.Profile(limit=2) as second:
        for value in (None, b""):
            work(value)
    assert labels(second) == {"work(a:None)": 1, "work(a:bytes)": 1}
