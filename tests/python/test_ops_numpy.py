"""NumPy's operations: all are seen, none behaves differently, and nothing stays behind."""

import inspect
import re
import sys
import tracemalloc
import types
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

from ops_support import TYPES, measuring, slot  # noqa: E402

import sonde as sonde_package  # noqa: E402
from sonde import _core  # noqa: E402

pytestmark = pytest.mark.interpreter

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.fixture
def measured(tmp_path):
    with measuring(tmp_path) as one:
        yield one


@pytest.fixture(scope="module")
def hooked():
    _core.ops_start()
    names = set(_core.ops_hooked())
    _core.ops_stop()
    return names


# ---- what is seen ----


def public(place):
    return {
        name: value
        for name, value in vars(place).items()
        if not name.startswith("_") and callable(value) and not isinstance(value, type | types.ModuleType)
    }


def listed_as_unseen():
    """The names in docs/ops.md, or in the part of it that is about NumPy."""
    pages = [page.read_text() for page in DOCS.glob("ops*.md")]
    blocks = [block for page in pages for block in re.findall(r"<!-- not seen -->\n```\n(.*?)```", page, re.S)]
    return {name for block in blocks for name in block.split()}


@pytest.mark.parametrize("module", ["numpy", "numpy.linalg", "numpy.fft"])
def test_every_public_function_is_seen_or_listed_as_not_seen(module, hooked):
    assert hooked
    functions = public(sys.modules[module])
    before = {name: slot(value) for name, value in functions.items()}
    _core.ops_start()
    during = {name: slot(value) for name, value in functions.items()}
    _core.ops_stop()
    unseen = {f"{module}.{name}" for name in functions if before[name] == during[name]}
    assert unseen <= listed_as_unseen()


def test_every_ufunc_and_array_function_is_seen(hooked):
    for name, value in public(np).items():
        if isinstance(value, np.ufunc):
            assert f"numpy.{value.__name__}" in hooked, name
        elif type(value) is type(np.dot):
            assert f"{value.__module__}.{value.__name__}" in hooked, name


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_every_public_method_is_seen(kind, hooked):
    names = {name for name, value in vars(kind).items() if not name.startswith("_") and inspect.isroutine(value)}
    names -= {"resolve_dtypes"}  # of ufuncs: works on no array
    assert names
    assert {f"{kind.__name__}.{name}" for name in names} <= hooked


A = np.arange(12.0).reshape(3, 4)
B = np.arange(12.0).reshape(4, 3)
SQUARE = np.array([[4.0, 1.0], [2.0, 3.0]])


def iadd(value):
    value = value.copy()
    value += 1
    return value


# What is called, and the operation that has to show up.
CALLS = {
    "a + b": (lambda: A + A, "numpy.add"),
    "1 - a": (lambda: 1 - A, "numpy.subtract"),
    "a * 2": (lambda: A * 2, "numpy.multiply"),
    "a / a": (lambda: A / (A + 1), "numpy.divide"),
    "a // 2": (lambda: A // 2, "numpy.floor_divide"),
    "a % 2": (lambda: A % 2, "numpy.remainder"),
    "a ** 3": (lambda: A**3, "numpy.power"),
    "-a": (lambda: -A, "numpy.negative"),
    "abs(a)": (lambda: abs(A), "numpy.absolute"),
    "a @ b": (lambda: A @ B, "numpy.matmul"),
    "a += 1": (lambda: iadd(A), "numpy.add"),
    "a < 3": (lambda: A < 3, "numpy.less"),
    "a == a": (lambda: A == A, "numpy.equal"),  # noqa: PLR0124
    "a & a": (lambda: (A > 1) & (A < 5), "numpy.bitwise_and"),
    "~a": (lambda: ~(A > 1), "numpy.invert"),
    "sqrt": (lambda: np.sqrt(A), "numpy.sqrt"),
    "exp out": (lambda: np.exp(A, out=np.empty_like(A)), "numpy.exp"),
    "where=": (lambda: np.add(A, A, where=A > 3, out=np.zeros_like(A)), "numpy.add"),
    "reduce": (lambda: np.add.reduce(A, axis=1), "numpy.add.reduce"),
    "accumulate": (lambda: np.multiply.accumulate(A), "numpy.multiply.accumulate"),
    "reduceat": (lambda: np.add.reduceat(A[0], [0, 2]), "numpy.add.reduceat"),
    "outer": (lambda: np.subtract.outer(A[0], A[0]), "numpy.subtract.outer"),
    "at": (lambda: np.add.at(A.copy(), 1, 1), "numpy.add.at"),
    "dot": (lambda: np.dot(A, B), "numpy.dot"),
    "method dot": (lambda: A.dot(B), "ndarray.dot"),
    "inner": (lambda: np.inner(A, A), "numpy.inner"),
    "vdot": (lambda: np.vdot(A, A), "numpy.vdot"),
    "concatenate": (lambda: np.concatenate([A, A]), "numpy.concatenate"),
    "where": (lambda: np.where(A > 3, A, 0), "numpy.where"),
    "einsum": (lambda: np.einsum("ij,jk->ik", A, B), "numpy.einsum"),
    "solve": (lambda: np.linalg.solve(SQUARE, SQUARE), "numpy.linalg.solve"),
    "inv": (lambda: np.linalg.inv(SQUARE), "numpy.linalg.inv"),
    "svd": (lambda: np.linalg.svd(SQUARE), "numpy.linalg.svd"),
    "eigh": (lambda: np.linalg.eigh(SQUARE), "numpy.linalg.eigh"),
    "fft": (lambda: np.fft.fft(A), "numpy.fft.fft"),
    "irfft": (lambda: np.fft.irfft(A), "numpy.fft.irfft"),
    "sort": (lambda: np.sort(A), "numpy.sort"),
    "method sort": (lambda: A.copy().sort(), "ndarray.sort"),
    "sum": (lambda: A.sum(), "ndarray.sum"),
    "np.sum": (lambda: np.sum(A, axis=0), "numpy.sum"),
    "mean": (lambda: A.mean(0), "ndarray.mean"),
    "astype": (lambda: A.astype("f4"), "ndarray.astype"),
    "copy": (lambda: A.copy(), "ndarray.copy"),
    "reshape": (lambda: A.reshape(-1), "ndarray.reshape"),
    "take": (lambda: A.take([1, 2]), "ndarray.take"),
    "tolist": (lambda: A.tolist(), "ndarray.tolist"),
    "array": (lambda: np.array([1, 2, 3]), "numpy.array"),
    "zeros": (lambda: np.zeros((2, 3)), "numpy.zeros"),
    "arange": (lambda: np.arange(7), "numpy.arange"),
    "ones": (lambda: np.ones(3), "numpy.empty"),
    "fromiter": (lambda: np.fromiter(range(3), float), "numpy.fromiter"),
    "frombuffer": (lambda: np.frombuffer(b"abcd", "u1"), "numpy.frombuffer"),
    "normal": (lambda: np.random.default_rng(1).normal(size=(2, 3)), "Generator.normal"),
    "integers": (lambda: np.random.default_rng(1).integers(0, 9, 5), "Generator.integers"),
    "shuffle": (lambda: np.random.default_rng(1).permutation(A), "Generator.permutation"),
    "RandomState": (lambda: np.random.RandomState(1).rand(3), "RandomState.rand"),
    "np.random": (lambda: (np.random.seed(1), np.random.normal(size=3)), "RandomState.normal"),  # noqa: NPY002
    "strings": (lambda: np.char.upper(np.array(["a", "bc"])), "numpy.array"),
    "objects": (lambda: np.array([1, "a", None], object) == None, "numpy.equal"),  # noqa: E711
    "structured": (lambda: np.zeros(3, "i4,f8").copy(), "ndarray.copy"),
    "dates": (lambda: np.array(["2020-01-01"], "M8[D]") + 1, "numpy.add"),
    "masked": (lambda: np.ma.array([1.0, 2.0], mask=[0, 1]).sum(), "numpy.add.reduce"),
    "matrix": (lambda: np.asmatrix(SQUARE) * np.asmatrix(SQUARE), "numpy.dot"),
}


def as_bytes(value):
    """Everything about a result: type, dtype, shape, layout and bits."""
    if isinstance(value, tuple | list):
        return type(value).__name__, [as_bytes(one) for one in value]
    if isinstance(value, np.ndarray):
        bits = repr(value.tolist()) if value.dtype.hasobject else value.tobytes()
        return type(value), value.dtype, value.shape, value.strides, bits
    return type(value), value.tobytes() if isinstance(value, np.generic) else value


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_seen_and_its_result_is_the_same_to_the_bit(name, measured):
    call, op = CALLS[name]
    before = as_bytes(call())
    with measured():
        during = as_bytes(call())
        again = as_bytes(call())
    assert before == during == again == as_bytes(call())
    assert measured.seen().count(op) >= 2


@pytest.mark.quick
def test_one_call_is_one_call_though_the_interpreter_specialises_it(measured):
    add, dot = np.add, np.dot
    with measured():
        for _ in range(1000):
            add(A, A)
            A + A
            dot(A, B)
            A.sum()
            A.copy()
            np.zeros(3)
    seen = measured.seen()
    assert seen.count("numpy.add") == 2000
    for name in ("numpy.dot", "ndarray.sum", "ndarray.copy", "numpy.zeros", "numpy.add.reduce"):
        assert seen.count(name) == 1000, name


def test_times_of_nested_operations_add_up(measured):
    with measured():
        for _ in range(50):
            A.sum()
    seen = measured.seen()
    outer, inner = seen.one("ndarray.sum"), seen.one("numpy.add.reduce")
    assert seen.nodes[inner.parent] is outer
    assert outer.self + inner.total == pytest.approx(outer.total, rel=0.01)


def test_operations_stand_below_their_region(measured):
    with measured(), sonde_package.region("step"):
        np.sqrt(A)
    seen = measured.seen()
    assert seen.nodes[seen.one("numpy.sqrt").parent].name == "step"


def test_scalars_and_indexing_are_not_seen(measured):
    x, y = np.float64(3), np.float64(4)
    with measured():
        x + y
        A[0]
        A[0, 1]
        A.T  # noqa: B018
        len(A)
    assert measured.seen().names() == set()


# ---- what is told of a call ----


def detail_of(measured, call, name):
    with measured():
        call()
    return measured.seen().one(name)


@pytest.mark.parametrize(
    ("call", "name", "detail"),
    [
        (lambda: A + B.T, "numpy.add", "float64[3,4], float64[3,4] F"),
        (lambda: A + 1, "numpy.add", "float64[3,4], int"),
        (lambda: A[:, ::2] * 2.5, "numpy.multiply", "float64[3,2] strided, float"),
        (lambda: A[:, :2] + A[:, 2:], "numpy.add", "float64[3,2] part, float64[3,2] part"),
        (lambda: np.add(A, A, out=A.astype("f4"), casting="unsafe"), "numpy.add",
         "float64[3,4], float64[3,4], out=float32[3,4], casting='unsafe'"),
        (lambda: np.sqrt(np.float32(2)), "numpy.sqrt", "float32"),
        (lambda: np.sum(A, axis=(0, 1)), "numpy.sum", "float64[3,4], axis=(0, 1)"),
        (lambda: np.concatenate([A, A]), "numpy.concatenate", "(float64[3,4], float64[3,4])"),
        (lambda: np.concatenate([A] * 20), "numpy.concatenate", "(float64[3,4] … 20)"),
        (lambda: A.astype(np.float32), "ndarray.astype", "float64[3,4], float32"),
        (lambda: A.astype(np.dtype("i8")), "ndarray.astype", "float64[3,4], int64"),
        (lambda: np.zeros((2, 3), dtype="S7").copy(), "ndarray.copy", "bytes7[2,3]"),
        (lambda: np.array("abc").copy(), "ndarray.copy", "str3[]"),
        (lambda: A.astype(">f8").copy(), "ndarray.copy", "swapped float64[3,4]"),
        (lambda: np.einsum("ij,jk->ik", A, B), "numpy.einsum", "'ij,jk->ik', float64[3,4], float64[4,3]"),
    ],
)  # fmt: skip
def test_the_inputs_are_told(measured, call, name, detail):
    assert detail_of(measured, call, name).detail == detail


N = 64


@pytest.mark.parametrize(
    ("call", "name", "facts"),
    [
        (lambda: A + A, "numpy.add", {"op_read": 192, "op_written": 96, "op_flops": 12}),
        (lambda: np.arange(3) + 0.5, "numpy.add", {"op_read": 24, "op_written": 24, "op_flops": 3, "op_casts": 1}),
        (lambda: np.arange(3) < 1.5, "numpy.less", {"op_read": 24, "op_written": 3, "op_casts": 1}),
        (lambda: np.add(A, A, out=np.empty((3, 4), "f4"), casting="unsafe"), "numpy.add",
         {"op_read": 192, "op_written": 48, "op_flops": 12, "op_casts": 1}),
        (lambda: np.ones((3, 5)) @ np.ones((5, 7)), "numpy.matmul",
         {"op_read": 400, "op_written": 168, "op_flops": 210}),
        (lambda: np.ones((3, 5)).dot(np.ones(5)), "ndarray.dot", {"op_read": 160, "op_written": 24, "op_flops": 30}),
        (lambda: np.vdot(A, A), "numpy.vdot", {"op_read": 192, "op_flops": 24}),
        (lambda: np.einsum("ij,jk->ik", A, B), "numpy.einsum", {"op_read": 192, "op_written": 72, "op_flops": 72}),
        (lambda: np.einsum("ij,ij->ij", A, A), "numpy.einsum", {"op_read": 192, "op_written": 96, "op_flops": 12}),
        (lambda: np.add.reduce(A, axis=0), "numpy.add.reduce", {"op_read": 96, "op_written": 32, "op_flops": 8}),
        (lambda: np.add.reduce(np.ones(4, "i4")), "numpy.add.reduce", {"op_read": 16, "op_flops": 3, "op_casts": 1}),
        (lambda: np.linalg.solve(np.eye(6), np.ones(6)), "numpy.linalg.solve",
         {"op_read": 336, "op_written": 48, "op_flops": 2 / 3 * 216 + 72}),
        (lambda: np.fft.fft(np.ones(8)), "numpy.fft.fft", {"op_read": 64, "op_written": 128, "op_flops": 120}),
        (lambda: A.astype("f4"), "ndarray.astype", {"op_read": 96, "op_written": 48, "op_copies": 1, "op_casts": 1}),
        (lambda: A.astype("f8", copy=False), "ndarray.astype", {}),
        (lambda: A.reshape(-1), "ndarray.reshape", {}),
        (lambda: A.T.reshape(-1), "ndarray.reshape", {"op_read": 96, "op_written": 96, "op_copies": 1}),
        (lambda: A.transpose(), "ndarray.transpose", {}),
        (lambda: np.asarray(A), "numpy.asarray", {}),
        (lambda: np.array(A), "numpy.array", {"op_read": 96, "op_written": 96, "op_copies": 1}),
        (lambda: A.copy().fill(3), "ndarray.fill", {"op_written": 96}),
        (lambda: A.copy().sort(), "ndarray.sort", {"op_read": 96, "op_written": 96}),
        (lambda: np.concatenate([A, A.astype("f4")]), "numpy.concatenate",
         {"op_read": 144, "op_written": 192, "op_casts": 1}),
        (lambda: np.where(A > 1, A, A.astype("f4")), "numpy.where",
         {"op_read": 156, "op_written": 96, "op_casts": 1}),
        (lambda: np.random.default_rng(1).normal(size=5), "Generator.normal", {"op_written": 40}),
    ],
)  # fmt: skip
def test_what_a_call_does_is_told(measured, call, name, facts):
    op = detail_of(measured, call, name)
    told = {metric: value for metric, value in op.values.items() if metric.startswith("op_") and value}
    assert told == pytest.approx(facts)


def test_what_calls_do_grows_with_their_number(measured):
    with measured():
        for _ in range(10):
            A + A
    assert measured.seen().one("numpy.add").op_read == 1920


LARGE = np.ones((200, 200))
LEFT = {
    "C order": np.ones((100, 100)),
    "F order": np.ones((100, 100), order="F"),
    "rows": LARGE[::2, :100],
    "columns": LARGE[:100, ::2],
    "part": LARGE[:100, :100],
    "transposed part": LARGE[:100, :100].T,
    "upside down": np.ones((100, 100))[::-1],
    "stretched": np.broadcast_to(np.ones(100), (100, 100)),
}
PRODUCTS = {"dot": (np.dot, "numpy.dot"), "inner": (np.inner, "numpy.inner"), "matmul": (np.matmul, "numpy.matmul")}


VERSION = tuple(int(part) for part in np.__version__.split(".")[:2])


def temporary_bytes(call):
    """How much memory a call needed for a while, beside its result: NumPy reports its arrays to tracemalloc."""
    tracemalloc.start()
    result = call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak - result.nbytes


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("kind", LEFT)
def test_a_copy_for_blas_is_told_where_numpy_makes_one(measured, kind, product):
    function, name = PRODUCTS[product]
    left, right = LEFT[kind], LEFT["C order"]
    is_copied = temporary_bytes(lambda: function(left, right)) >= left.nbytes
    if product == "matmul" and (2, 3) <= VERSION < (2, 5):  # does not report that memory
        is_copied = kind in ("columns", "upside down", "stretched")
    with measured():
        function(left, right)
    assert measured.seen().one(name).op_copies == is_copied


def test_without_shapes_all_calls_are_one(measured):
    with measured(shapes=False):
        np.sqrt(A)
        np.sqrt(A[0])
    op = measured.seen().one("numpy.sqrt")
    assert (op.detail, op.count, op.op_read) == ("", 2, 0)


def test_with_stacks_the_calling_line_is_told(measured):
    line = inspect.currentframe().f_lineno
    with measured(stacks=True):
        np.sqrt(A)
        np.sqrt(A)
        for _ in range(3):
            np.sqrt(A)
    seen = {op.line - line: op.count for op in measured.seen().all("numpy.sqrt")}
    assert seen == {2: 1, 3: 1, 5: 3}
    assert {op.file for op in measured.seen().all("numpy.sqrt")} == {__file__}


def test_what_numpy_itself_calls_counts_for_the_line_that_called_numpy(measured):
    line = inspect.currentframe().f_lineno
    with measured(stacks=True):
        A.mean()  # in numpy/_core/_methods.py
        np.std(A)
        np.pad(A, 1)
    ops = measured.seen().ops
    assert {op.file for op in ops} == {__file__}
    assert {op.line - line for op in ops if op.name == "numpy.add.reduce"} == {2, 3}
    assert {op.line - line for op in ops} == {2, 3, 4}


def test_shapes_without_end_have_one_row(measured):
    arrays = [np.ones(count) for count in range(1, 1501)]
    with measured():
        for array in arrays:
            np.cbrt(array)
    ops = measured.seen().all("numpy.cbrt")
    (other,) = (op for op in ops if op.detail == "[other shapes]")
    assert len(ops) <= 1025
    assert sum(op.count for op in ops) == 1500
    assert other.count >= 400


def test_numbers_without_end_are_no_longer_told(measured):
    with measured():
        for shift in range(500):
            np.rollaxis(A, 0, shift % 2)
            A.repeat(shift)
    assert len(measured.seen().all("ndarray.repeat")) <= 65
    assert measured.seen().count("ndarray.repeat") == 500
