"""Telling a signature has no effect on the program, however hostile its objects are."""

import sys

import pytest
from calls_support import both_kinds, labels, take, told

from sonde import profiler

pytestmark = pytest.mark.interpreter


def make_hostile():
    """An object that notes every question that is put to it."""
    asked = []

    def ask(name):
        def hook(*args, **kwargs):
            asked.append(name)
            raise RuntimeError(name)

        return hook

    hooks = (
        *("__repr__", "__str__", "__len__", "__iter__", "__hash__", "__eq__", "__bool__", "__getattr__", "__next__"),
        *("__getitem__", "__format__", "__dir__", "__index__", "__int__", "__float__", "__bytes__", "__call__"),
        *("__contains__", "__array__", "__array_interface__", "__torch_function__", "__buffer__"),
        *("__instancecheck__", "__subclasscheck__"),
    )

    class Meta(type):
        for hook in hooks:
            locals()[hook] = ask(f"meta {hook}")

    namespace = {hook: ask(hook) for hook in hooks}
    for name in ("__class__", "__dict__", "__name__", "__module__", "shape", "dtype", "dtypes", "device"):
        namespace[name] = property(ask(name))
    namespace["__getattribute__"] = ask("__getattribute__")
    namespace["__qualname__"] = "Hostile"
    kind = Meta("Hostile", (), namespace)
    return kind, asked


@both_kinds
def test_no_code_of_the_program_is_run(builtins):
    def every(a, *rest, named=None, **more):
        return a

    kind, asked = make_hostile()
    hostile = object.__new__(kind)
    profile = profiler.Profile(builtins=builtins, returns=True)
    profile.enable()
    every(hostile)
    every(kind)
    every([hostile, hostile], hostile, kind, named=(hostile,), other={"key": hostile})
    every({1: hostile}, {hostile_key(): 1})
    profile.disable()
    assert asked == []
    found = labels(profile)
    assert "every(a:Hostile, *rest:(), named:None, **more:{}) -> Hostile" in found
    assert "every(a:type[Hostile], *rest:(), named:None, **more:{}) -> type[Hostile]" in found


def hostile_key():
    """Fit for a dictionary once."""

    class Key:
        hashes = 0

        def __hash__(self):
            self.hashes += 1
            assert self.hashes == 1
            return 1

        def __eq__(self, other):
            raise AssertionError

    return Key()


def test_a_method_of_a_hostile_object():
    class Base:
        def __getattribute__(self, name):
            raise RuntimeError(name)

        @property
        def __class__(self):
            raise RuntimeError("class")

        def method(self, a):
            return None

    thing = object.__new__(Base)
    with profiler.Profile(builtins=False, returns=True) as profile:
        Base.method(thing, thing)
    assert labels(profile) == {"Base.method(a:Base) -> None": 1}


def test_a_class_that_says_it_is_another():
    class Liar:
        __class__ = list

    assert told(Liar()) == "Liar"
    assert told([Liar()]) == "list[Liar]×1"


def test_an_exception_under_way_survives():
    def gen():
        try:
            yield 1
        except KeyError:
            take([1, "a"])
            raise

    with profiler.Profile(returns=True) as profile:
        generator = gen()
        next(generator)
        with pytest.raises(KeyError, match="mine"):
            generator.throw(KeyError("mine"))
        try:
            raise ValueError("outer")
        except ValueError as error:
            take(error)
            assert sys.exc_info()[1] is error
    assert labels(profile)["take(a:list[int|str]×2) -> None"] == 1


def test_what_came_back_belongs_to_one_profile():
    def flip(a):
        return 1 if a == "x" else None

    def labels_of(word, **options):
        p = profiler.Profile(**options)
        p.runcall(flip, word)
        p.create_stats()
        return [label[2] for label in p.stats if "flip" in label[2]]

    assert labels_of("x", returns=True) == ["flip(a:str) -> int"]
    assert labels_of("y", returns=True) == ["flip(a:str) -> None"]
    assert labels_of("x") == ["flip(a:str)"]
