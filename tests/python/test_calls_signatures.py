"""Signatures: what is told of each argument, and that telling it has no effect on the program."""

import asyncio
import collections
import enum
import gc
import importlib.util
import sys
import types
import weakref

import pytest

from sonde import profiler

both_kinds = pytest.mark.parametrize("builtins", [True, False], ids=["builtins", "python only"])
needs_numpy = pytest.mark.skipif(importlib.util.find_spec("numpy") is None, reason="NumPy is not installed")


def labels(profile):
    """How often each label was called, without the functions of C."""
    profile.create_stats()
    found = {}
    for (file, _, name), row in profile.stats.items():
        if file != "~":
            found[name] = found.get(name, 0) + row[1]
    return found


def label_of(function, *args, **kwargs):
    """The label of one call; both ways to look at it must agree."""
    found = []
    for builtins in (True, False):
        profile = profiler.Profile(builtins=builtins)
        profile.runcall(function, *args, **kwargs)
        (label,) = (name for name, count in labels(profile).items() if count == 1)
        found.append(label)
    assert found[0] == found[1]
    return found[0]


def take(a):
    pass


def told(value):
    """What is told of a value."""
    label = label_of(take, value)
    assert label.startswith("take(a:")
    assert label.endswith(")")
    return label[len("take(a:") : -1]


# Plain values


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
    import time

    def cost(value):
        profile = profiler.Profile(builtins=False)
        start = time.perf_counter()
        with profile:
            for _ in range(200):
                take(value)
        return time.perf_counter() - start

    small, big = list(range(20)), list(range(1_000_000))
    assert min(cost(big) for _ in range(5)) < 20 * min(cost(small) for _ in range(5))


# Parameters


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


# NumPy


@needs_numpy
def test_arrays_have_dtype_and_shape():
    import numpy

    assert told(numpy.zeros(16, "f4")) == "ndarray(dtype=float32, shape=(16,))"
    assert told(numpy.zeros((3, 4))) == "ndarray(dtype=float64, shape=(3, 4))"
    assert told(numpy.array(5)) == "ndarray(dtype=int64, shape=())"
    assert told(numpy.zeros((0, 2), "u1")) == "ndarray(dtype=uint8, shape=(0, 2))"
    assert told(numpy.zeros((1,) * 20, "?")) == f"ndarray(dtype=bool, shape=({', '.join('1' * 20)}))"


@needs_numpy
def test_every_dtype_has_its_own_name():
    import numpy

    names = (
        *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32"),
        *("float64", "longdouble", "complex64", "complex128", "clongdouble", "object", "intc", "uintc", "longlong"),
        *("datetime64[ns]", "datetime64[D]", "timedelta64[s]", ">f8", ">i4", ">f2", ">c16", "S5", "U7", "S", "V3"),
        *("ulonglong", "intp"),
    )
    for name in names:
        array = numpy.zeros(2, name)
        assert told(array) == f"ndarray(dtype={array.dtype}, shape=(2,))"


@needs_numpy
def test_structured_and_string_dtypes():
    import numpy

    pair = numpy.dtype([("a", "i4"), ("b", "f8")])
    assert told(numpy.zeros(2, pair)) == f"ndarray(dtype={pair}, shape=(2,))"
    if hasattr(numpy.dtypes, "StringDType"):
        assert told(numpy.array(["a"], numpy.dtypes.StringDType())) == "ndarray(dtype=StringDType(), shape=(1,))"


@needs_numpy
def test_long_dtypes_are_cut_between_characters():
    import numpy

    for cut in range(4):
        odd = numpy.dtype([("x" * cut + "é" * 100, "f8")])
        assert "\ufffd" not in told(numpy.zeros(1, odd))
    wide = numpy.dtype([(f"größe{i}", "f8") for i in range(200)])
    assert len(told(numpy.zeros(1, wide)).encode()) < 1100
    assert "\ufffd" not in told(numpy.zeros(1, wide))


@needs_numpy
def test_many_dtypes_are_not_mistaken_for_each_other():
    import numpy

    dtypes = [numpy.dtype([(f"field{i}", "i4")]) for i in range(50)]
    arrays = [numpy.zeros(1, dtype) for dtype in dtypes]
    for _ in range(2):
        assert [told(array) for array in arrays] == [f"ndarray(dtype={dtype}, shape=(1,))" for dtype in dtypes]


@needs_numpy
def test_the_order_of_an_array():
    import numpy

    array = numpy.zeros((4, 6))
    assert told(numpy.asfortranarray(array)) == "ndarray(dtype=float64, shape=(4, 6), order=F)"
    assert told(array.T) == "ndarray(dtype=float64, shape=(6, 4), order=F)"
    assert told(array[:, ::2]) == "ndarray(dtype=float64, shape=(4, 3), strided)"
    assert told(array[::-1]) == "ndarray(dtype=float64, shape=(4, 6), strided)"
    assert told(array[1:3]) == "ndarray(dtype=float64, shape=(2, 6))"
    assert told(numpy.zeros(5)[::2]) == "ndarray(dtype=float64, shape=(3,), strided)"
    assert told(numpy.asfortranarray(numpy.zeros(5))) == "ndarray(dtype=float64, shape=(5,))"


@needs_numpy
def test_subclasses_of_arrays_are_read_past_their_own_properties():
    import numpy

    class Mine(numpy.ndarray):
        dtype = shape = strides = flags = property(lambda self: 1 / 0)

    matrix = numpy.zeros((2, 2)).view(numpy.matrix)
    assert told(matrix) == "matrix(dtype=float64, shape=(2, 2))"
    assert told(numpy.zeros(3, "i2").view(Mine)) == "Mine(dtype=int16, shape=(3,))"
    assert told(numpy.rec.array([(1, 2.0)])).startswith("recarray(dtype=")
    masked = told(numpy.ma.array([1.0, 2.0]))
    assert masked == "MaskedArray(dtype=float64, shape=(2,))"


@needs_numpy
def test_a_subclass_may_be_the_first_array_of_the_program(sonde):
    done = sonde.python(
        """
        import numpy
        from sonde import profiler
        def take(a): pass
        with profiler.Profile(builtins=False) as profile:
            take(numpy.zeros((2, 2)).view(numpy.matrix))
        profile.create_stats()
        print(*(label[2] for label in profile.stats if label[2].startswith("take")))
        """
    )
    assert done.stdout == "take(a:matrix(dtype=float64, shape=(2, 2)))\n"


@needs_numpy
def test_numpy_scalars_and_other_objects():
    import numpy

    assert told(numpy.float32(1)) == "float32"
    assert told(numpy.int64(1)) == "int64"
    assert told(numpy.bool_(True)) == "bool"
    assert told(numpy.datetime64("2020-01-01")) == "datetime64"
    assert told(numpy.str_("a")) == "str_"
    assert told(numpy.float64) == "type[float64]"
    assert told(numpy.random.default_rng(1)) == "Generator"


@needs_numpy
def test_arrays_in_containers():
    import numpy

    assert told([numpy.zeros(3)]) == "list[ndarray(dtype=float64, shape=(3,))]×1"
    assert told({"x": numpy.zeros((2, 2), "f4")}) == "dict[str, ndarray(dtype=float32, shape=(2, 2))]×1"


@needs_numpy
def test_shapes_are_told_apart():
    import numpy

    def dot(a, b):
        return a @ b

    with profiler.Profile() as profile:
        for n in (2, 3, 2):
            dot(numpy.zeros((n, n)), numpy.zeros(n))
    assert labels(profile) == {
        "dot(a:ndarray(dtype=float64, shape=(2, 2)), b:ndarray(dtype=float64, shape=(2,)))": 2,
        "dot(a:ndarray(dtype=float64, shape=(3, 3)), b:ndarray(dtype=float64, shape=(3,)))": 1,
    }


@needs_numpy
def test_the_example_of_the_documentation(sonde):
    (sonde.folder / "dot.py").write_text(
        "import numpy as np\n\nfrom sonde import profiler\n\n\n\ndef dot(a, b):\n    len(a)\n    return 0\n\n\n"
        'a = np.arange(16, dtype="float32")\np = profiler.Profile()\np.enable()\ndot(a, a)\np.disable()\n'
        "p.print_stats()\n"
    )
    lines = sonde.run([sys.executable, "dot.py"]).stdout.splitlines()
    table = [line.split(None, 5) for line in lines[lines.index("") :] if "dot.py" in line or "built-in" in line]
    array = "ndarray(dtype=float32, shape=(16,))"
    assert [(row[0], row[5]) for row in table] == [
        ("1", f"dot.py:7(dot(a:{array}, b:{array}))"),
        ("1", "{built-in method builtins.len}"),
    ]


# Other libraries, with stand-ins that have their names


class Library:
    """A module with a class of a known name, and a count of what was asked of it."""

    def __init__(self, monkeypatch, module, name, **values):
        self.asked = []

        def ask(attribute):
            def get(_):
                self.asked.append(attribute)
                helper()
                if isinstance(values[attribute], Exception):
                    raise values[attribute]
                return values[attribute]

            return property(get)

        def helper():
            return len("")

        self.kind = type(name, (), {attribute: ask(attribute) for attribute in values})
        stand_in = types.ModuleType(module)
        setattr(stand_in, name, self.kind)
        monkeypatch.setitem(sys.modules, module, stand_in)


class Text:
    """An object of a library: shown by its own text."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


def test_tensors(monkeypatch):
    values = {"dtype": Text("torch.float32"), "shape": (2, 3), "device": Text("cuda:0")}
    tensor = Library(monkeypatch, "torch", "Tensor", **values)
    assert told(tensor.kind()) == "Tensor(dtype=float32, shape=(2, 3), device=cuda:0)"
    parameter = Library(monkeypatch, "torch.nn.parameter", "Parameter", **values)
    assert told(parameter.kind()) == "Parameter(dtype=float32, shape=(2, 3), device=cuda:0)"


@pytest.mark.parametrize("module", ["jaxlib._jax", "jaxlib.xla_extension", "jax._src.array"])
def test_jax_arrays(monkeypatch, module):
    values = {"dtype": Text("float32"), "shape": (4,), "device": Text("TFRT_CPU_0")}
    array = Library(monkeypatch, module, "ArrayImpl", **values)
    assert told(array.kind()) == "Array(dtype=float32, shape=(4,), device=TFRT_CPU_0)"


@pytest.mark.parametrize("module", ["pandas", "polars"])
def test_frames_and_series(monkeypatch, module):
    frame = Library(monkeypatch, module, "DataFrame", shape=(10, 2), dtypes=[Text("int64"), Text("object")])
    assert told(frame.kind()) == "DataFrame(shape=(10, 2), dtypes=(int64, object))"
    series = Library(monkeypatch, module, "Series", shape=(10,), dtype=Text("float64"))
    assert told(series.kind()) == "Series(shape=(10,), dtype=float64)"


def test_frames_with_many_columns_are_cut(monkeypatch):
    frame = Library(monkeypatch, "pandas", "DataFrame", shape=(10, 500), dtypes=[Text("int64")] * 500)
    label = told(frame.kind())
    assert len(label) < 250
    assert "…" in label


def test_a_class_made_from_a_library_class_is_told_by_name_only(monkeypatch):
    frame = Library(monkeypatch, "pandas", "DataFrame", shape=(1, 1), dtypes=[])
    derived = type("GeoFrame", (frame.kind,), {})
    assert told(derived()) == "GeoFrame"
    namesake = type("DataFrame", (frame.kind,), {})
    assert told(namesake()) == "DataFrame"
    assert frame.asked == []


def test_a_class_of_the_program_with_a_library_name_is_left_alone():
    class DataFrame:
        shape = dtypes = property(lambda self: 1 / 0)

    class Tensor(DataFrame):
        dtype = device = DataFrame.shape

    assert told(DataFrame()) == "DataFrame"
    assert told(Tensor()) == "Tensor"


def test_nothing_is_imported():
    assert {"pandas", "polars", "jax"}.isdisjoint(sys.modules)
    told(type("DataFrame", (), {})())
    told(type("ArrayImpl", (), {})())
    assert {"pandas", "polars", "jax"}.isdisjoint(sys.modules)


def test_properties_of_libraries_are_no_calls_of_the_program(monkeypatch):
    frame = Library(monkeypatch, "pandas", "DataFrame", shape=(1, 1), dtypes=[Text("int64")])
    for builtins in (True, False):
        with profiler.Profile(builtins=builtins, returns=True) as profile:
            take(frame.kind)
            take(frame.kind())
        profile.create_stats()
        assert {label[2] for label in profile.stats} == {
            "take(a:type[DataFrame]) -> None",
            "take(a:DataFrame(shape=(1, 1), dtypes=(int64,))) -> None",
            *({"<type DataFrame>"} & {label[2] for label in profile.stats}),
        }


def test_properties_of_libraries_that_raise_are_left_out(monkeypatch):
    frame = Library(monkeypatch, "pandas", "DataFrame", shape=KeyError("no"), dtypes=[Text("int64")])
    assert told(frame.kind()) == "DataFrame(dtypes=(int64,))"
    series = Library(monkeypatch, "pandas", "Series", shape=5, dtype=None)
    assert told(series.kind()).startswith("Series(")
    assert sys.exc_info() == (None, None, None)


def test_a_module_that_is_no_module_does_no_harm(monkeypatch):
    class Odd:
        def __getattr__(self, name):
            raise SystemExit

    monkeypatch.setitem(sys.modules, "pandas", Odd())
    monkeypatch.setitem(sys.modules, "torch", None)
    assert told(type("DataFrame", (), {})()) == "DataFrame"
    assert told(type("Tensor", (), {})()) == "Tensor"


def test_a_library_that_changes_the_container_it_is_in(sonde):
    """As another thread can, while the library's own code runs."""
    done = sonde.python(
        """
        import sys, types
        from sonde import profiler

        class DataFrame:
            @property
            def shape(self):
                for container in containers:
                    container.clear()
                junk.append([object() for _ in range(1000)])
                return (1, 1)
            dtypes = shape

        sys.modules["pandas"] = types.ModuleType("pandas")
        sys.modules["pandas"].DataFrame = DataFrame
        junk = []

        def take(a):
            pass

        with profiler.Profile(builtins=False, returns=True) as profile:
            for _ in range(200):
                items = [DataFrame(), *(type(f"T{i}", (), {})() for i in range(15))]
                table = dict(enumerate(items))
                named = {i: [item] for i, item in enumerate(items)}
                for container in (items, table, named, [items, items]):
                    containers = [items, table, named]
                    take(container)
                junk.clear()
        print("fine")
        """
    )
    assert done.stdout == "fine\n"


@both_kinds
@pytest.mark.parametrize("how", ["pop().disable", "clear"])
@pytest.mark.parametrize("where", ["take(DataFrame())", "give()"], ids=["argument", "result"])
def test_a_library_that_drops_the_profile_does_not_crash(sonde, builtins, how, where):
    """As another thread can, while the library's own code runs."""
    done = sonde.python(
        """
        import gc, sys, types
        from sonde import profiler

        class DataFrame:
            @property
            def shape(self):
                if box:
                    box.HOW()
                    gc.collect()
                return (1, 1)
            dtypes = shape

        sys.modules["pandas"] = types.ModuleType("pandas")
        sys.modules["pandas"].DataFrame = DataFrame
        box = []

        def take(a):
            pass

        def give():
            return DataFrame()

        for _ in range(20):
            box.append(profiler.Profile(builtins=sys.argv[1] == "yes", returns=True))
            box[0].enable()
            WHERE
            take(1)
            box.clear()
            for thing in gc.get_objects():
                if isinstance(thing, profiler.Profile):
                    thing.disable()
            thing = None
        print("fine")
        """.replace("HOW", how).replace("WHERE", where),
        "yes" if builtins else "no",
        env={"MALLOC_PERTURB_": "165"},
    )
    assert done.stdout == "fine\n"


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_real_tensors(sonde):
    done = sonde.python(
        """
        import torch
        from sonde import profiler
        def take(a): pass
        class Mine(torch.Tensor): pass
        with profiler.Profile(builtins=False) as profile:
            take(torch.zeros(2, 3))
            take(torch.nn.Parameter(torch.zeros(4, dtype=torch.float64)))
            take(torch.zeros(2).as_subclass(Mine))
        profile.create_stats()
        print(*sorted(label[2] for label in profile.stats), sep="\\n")
        """
    )
    assert [line for line in done.stdout.splitlines() if line.startswith("take(")] == [
        "take(a:Mine)",
        "take(a:Parameter(dtype=float64, shape=(4,), device=cpu))",
        "take(a:Tensor(dtype=float32, shape=(2, 3), device=cpu))",
    ]


# Without effect


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


@both_kinds
def test_nothing_is_kept_alive(builtins):
    class Thing:
        pass

    def every(a, *rest, named=None, **more):
        return a

    things = [Thing() for _ in range(6)]
    died = [weakref.ref(thing) for thing in things]
    kind = type("Passing", (), {})
    died.append(weakref.ref(kind))
    profile = profiler.Profile(builtins=builtins, returns=True)
    with profile:
        every(things[0], things[1], [things[2]], named={"x": things[3]}, other=(things[4],))
        every(things[5], kind(), kind)
        del things, kind
        gc.collect()
        assert [ref() for ref in died] == [None] * 7


@needs_numpy
def test_no_array_is_kept_alive():
    import numpy

    arrays = [numpy.zeros(3), numpy.zeros(3, [("a", "i4")]), numpy.zeros(3, "M8[s]")]
    died = [weakref.ref(array) for array in arrays]
    with profiler.Profile(returns=True):
        for array in arrays:
            take(array)
            take([array])
        del array, arrays
        assert [ref() for ref in died] == [None] * 3


def test_reference_counts_are_as_before():
    values = [object(), [object()], {"a": object()}, (object(),), type("A", (), {}), "text" * 3]
    before = [sys.getrefcount(value) for value in values]
    with profiler.Profile(returns=True):
        for _ in range(100):
            for value in values:
                take(value)
    del value
    assert [sys.getrefcount(item) for item in values] == before


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


# Odd texts


def test_names_beyond_ascii():
    def größe(länge, *ärger, **数据):
        pass

    assert label_of(größe, 1, "x", ключ=None) == "größe(länge:int, *ärger:(str,), **数据:{ключ:None})"
    assert told(type("Straße", (), {})()) == "Straße"


def test_names_that_are_no_text():
    def rest(**more):
        pass

    label = label_of(rest, **{"\udc80": 1, "a b": [1], "": 2})
    assert label.startswith("rest(**more:{")
    label.encode()
    assert sys.exc_info() == (None, None, None)


def test_code_with_odd_names():
    def plain(a):
        pass

    for name in ("a b", "(", "\n", "ä" * 3000, "x" * 5000):
        odd = types.FunctionType(plain.__code__.replace(co_name=name, co_qualname=name, co_varnames=(name,)), {})
        label = label_of(odd, 1)
        label.encode()
        assert "\ufffd" not in label
        assert len(label) < 1100


@pytest.mark.parametrize("start", range(4))
def test_long_labels_are_cut_between_characters(start):
    names = {}
    parameters = ", ".join(f"{'x' * start if i == 0 else ''}größe_数据_{i}" for i in range(100))
    exec(f"def wide({parameters}): return 1", names)
    for values in ([1] * 100, [["é"]] * 100, [{"a": [1.5]}] * 100):
        label = label_of(names["wide"], *values)
        assert 500 < len(label.encode()) <= 1100
        assert "\ufffd" not in label


def test_long_class_names_are_cut_between_characters():
    for start in range(4):
        kind = type("x" * start + "é" * 2000, (), {})
        label = label_of(take, kind())
        assert "\ufffd" not in label
        assert len(label.encode()) <= 1100


def test_long_labels_that_differ_early_are_told_apart():
    names = {}
    exec("def wide({}): return 1".format(", ".join(f"a_parameter_of_long_name_{i}" for i in range(60))), names)
    with profiler.Profile() as profile:
        names["wide"](*[1] * 60)
        names["wide"]("x", *[1] * 59)
    assert len(labels(profile)) == 2


def test_labels_survive_the_file(tmp_path):
    import pstats

    def größe(a):
        pass

    with profiler.Profile() as profile:
        größe([1, 2])
    profile.dump_stats(tmp_path / "run.prof")
    assert {label[2] for label in pstats.Stats(str(tmp_path / "run.prof")).stats} == {"größe(a:list[int]×2)"}


@both_kinds
def test_threads_that_call_with_many_signatures_at_once(builtins):
    import threading

    def work(a, b):
        return b

    def loop(seed):
        for i in range(400):
            work([None] * (i % 20), (1, "a", None, 1.5)[(i + seed) % 4])

    threads = [threading.Thread(target=loop, args=(seed,)) for seed in range(4)]
    with profiler.Profile(builtins=builtins, returns=True) as profile:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = {name: count for name, count in labels(profile).items() if name.startswith("work(")}
    assert sum(found.values()) == 1600
    assert len(found) == 80
