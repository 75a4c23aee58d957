"""Signatures of other libraries, most of them with stand-ins that have their names."""

import sys
import types

import pytest
from calls_support import both_kinds, take, told

from sonde import profiler

pytestmark = pytest.mark.interpreter


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
