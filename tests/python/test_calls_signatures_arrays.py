"""Signatures of NumPy: arrays with dtype, shape and order, past what a subclass says of itself."""

import sys

import pytest
from calls_support import labels, told

from sonde import profiler

pytestmark = pytest.mark.interpreter

numpy = pytest.importorskip("numpy")


def test_arrays_have_dtype_and_shape():
    assert told(numpy.zeros(16, "f4")) == "ndarray(dtype=float32, shape=(16,))"
    assert told(numpy.zeros((3, 4))) == "ndarray(dtype=float64, shape=(3, 4))"
    assert told(numpy.array(5)) == "ndarray(dtype=int64, shape=())"
    assert told(numpy.zeros((0, 2), "u1")) == "ndarray(dtype=uint8, shape=(0, 2))"
    assert told(numpy.zeros((1,) * 20, "?")) == f"ndarray(dtype=bool, shape=({', '.join('1' * 20)}))"


def test_every_dtype_has_its_own_name():
    names = (
        *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32"),
        *("float64", "longdouble", "complex64", "complex128", "clongdouble", "object", "intc", "uintc", "longlong"),
        *("datetime64[ns]", "datetime64[D]", "timedelta64[s]", ">f8", ">i4", ">f2", ">c16", "S5", "U7", "S", "V3"),
        *("ulonglong", "intp"),
    )
    for name in names:
        array = numpy.zeros(2, name)
        assert told(array) == f"ndarray(dtype={array.dtype}, shape=(2,))"


def test_structured_and_string_dtypes():
    pair = numpy.dtype([("a", "i4"), ("b", "f8")])
    assert told(numpy.zeros(2, pair)) == f"ndarray(dtype={pair}, shape=(2,))"
    if hasattr(numpy.dtypes, "StringDType"):
        assert told(numpy.array(["a"], numpy.dtypes.StringDType())) == "ndarray(dtype=StringDType(), shape=(1,))"


def test_long_dtypes_are_cut_between_characters():
    for cut in range(4):
        odd = numpy.dtype([("x" * cut + "é" * 100, "f8")])
        assert "\ufffd" not in told(numpy.zeros(1, odd))
    wide = numpy.dtype([(f"größe{i}", "f8") for i in range(200)])
    assert len(told(numpy.zeros(1, wide)).encode()) < 1100
    assert "\ufffd" not in told(numpy.zeros(1, wide))


def test_many_dtypes_are_not_mistaken_for_each_other():
    dtypes = [numpy.dtype([(f"field{i}", "i4")]) for i in range(50)]
    arrays = [numpy.zeros(1, dtype) for dtype in dtypes]
    for _ in range(2):
        assert [told(array) for array in arrays] == [f"ndarray(dtype={dtype}, shape=(1,))" for dtype in dtypes]


def test_the_order_of_an_array():
    array = numpy.zeros((4, 6))
    assert told(numpy.asfortranarray(array)) == "ndarray(dtype=float64, shape=(4, 6), order=F)"
    assert told(array.T) == "ndarray(dtype=float64, shape=(6, 4), order=F)"
    assert told(array[:, ::2]) == "ndarray(dtype=float64, shape=(4, 3), strided)"
    assert told(array[::-1]) == "ndarray(dtype=float64, shape=(4, 6), strided)"
    assert told(array[1:3]) == "ndarray(dtype=float64, shape=(2, 6))"
    assert told(numpy.zeros(5)[::2]) == "ndarray(dtype=float64, shape=(3,), strided)"
    assert told(numpy.asfortranarray(numpy.zeros(5))) == "ndarray(dtype=float64, shape=(5,))"


def test_subclasses_of_arrays_are_read_past_their_own_properties():
    class Mine(numpy.ndarray):
        dtype = shape = strides = flags = property(lambda self: 1 / 0)

    matrix = numpy.zeros((2, 2)).view(numpy.matrix)
    assert told(matrix) == "matrix(dtype=float64, shape=(2, 2))"
    assert told(numpy.zeros(3, "i2").view(Mine)) == "Mine(dtype=int16, shape=(3,))"
    assert told(numpy.rec.array([(1, 2.0)])).startswith("recarray(dtype=")
    masked = told(numpy.ma.array([1.0, 2.0]))
    assert masked == "MaskedArray(dtype=float64, shape=(2,))"


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


def test_numpy_scalars_and_other_objects():
    assert told(numpy.float32(1)) == "float32"
    assert told(numpy.int64(1)) == "int64"
    assert told(numpy.bool_(True)) == "bool"
    assert told(numpy.datetime64("2020-01-01")) == "datetime64"
    assert told(numpy.str_("a")) == "str_"
    assert told(numpy.float64) == "type[float64]"
    assert told(numpy.random.default_rng(1)) == "Generator"


def test_arrays_in_containers():
    assert told([numpy.zeros(3)]) == "list[ndarray(dtype=float64, shape=(3,))]×1"
    assert told({"x": numpy.zeros((2, 2), "f4")}) == "dict[str, ndarray(dtype=float32, shape=(2, 2))]×1"


def test_shapes_are_told_apart():
    def dot(a, b):
        return a @ b

    with profiler.Profile() as profile:
        for n in (2, 3, 2):
            dot(numpy.zeros((n, n)), numpy.zeros(n))
    assert labels(profile) == {
        "dot(a:ndarray(dtype=float64, shape=(2, 2)), b:ndarray(dtype=float64, shape=(2,)))": 2,
        "dot(a:ndarray(dtype=float64, shape=(3, 3)), b:ndarray(dtype=float64, shape=(3,)))": 1,
    }


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
