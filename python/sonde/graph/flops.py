"""How many floating-point operations a node does, for the Ops that have a formula."""

from __future__ import annotations

from math import prod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sonde.graph.library import Library

    Shapes = list[Any]  # of tuples; None where something is no array

_FREE = ("Identity", "Cast", "Second")  # scalar operations that compute nothing


def of_node(library: Library, node: Any, inputs: Shapes, outputs: Shapes) -> float | None:
    """The operations of one call with arrays of these shapes; None where no formula is known.

    A product of matrices counts a multiplication and an addition for each pair, an element-wise operation one for each
    scalar operation and element.
    """
    for kind in type(node.op).__mro__:
        formula = _FORMULAS.get(kind.__name__)
        if formula is not None and kind.__module__.startswith(library.name):
            try:
                return float(formula(node.op, inputs, outputs))
            except (TypeError, ValueError, IndexError, AttributeError):
                return None  # a shape that nobody has seen, or a form that the formula does not know
    return _own_formula(node.op, inputs, outputs)


def scalar_operations(op: Any) -> int:
    """How many operations an element-wise Op does for each element."""
    graph = getattr(op, "fgraph", None)
    if graph is None:
        return 0 if type(op).__name__ in _FREE else 1
    return sum(scalar_operations(node.op) for node in graph.apply_nodes)


def _own_formula(op: Any, inputs: Shapes, outputs: Shapes) -> float | None:
    """What an Op says of itself, as the libraries' own profiles ask it."""
    formula = getattr(op, "flops", None)
    if formula is None:
        return None
    try:
        return float(formula(inputs, outputs))
    except Exception:  # somebody else's code
        return None


def _elemwise(op: Any, inputs: Shapes, outputs: Shapes) -> Any:
    return scalar_operations(op.scalar_op) * prod(outputs[0])


def _dot(op: Any, inputs: Shapes, outputs: Shapes) -> Any:
    return 2 * prod(outputs[0]) * inputs[0][-1]


def _blockwise(op: Any, inputs: Shapes, outputs: Shapes) -> Any:
    if type(op.core_op).__name__ != "Dot":
        raise ValueError
    return _dot(op, inputs, outputs)


def _gemm(op: Any, inputs: Shapes, outputs: Shapes) -> Any:
    return 2 * prod(outputs[0]) * inputs[2][-1]  # z, a, x, y, b


def _ger(op: Any, inputs: Shapes, outputs: Shapes) -> Any:
    return 2 * prod(outputs[0])


def _convolution(op: Any, inputs: Shapes, outputs: Shapes) -> Any:
    return 2 * prod(outputs[0]) * prod(inputs[1][1:])  # each output element takes one filter


def _convolution_for_filters(op: Any, inputs: Shapes, outputs: Shapes) -> Any:
    return 2 * prod(inputs[1]) * prod(outputs[0][1:])


def _convolution_for_images(op: Any, inputs: Shapes, outputs: Shapes) -> Any:
    return 2 * prod(inputs[1]) * prod(inputs[0][1:])


def _old_convolution(op: Any, inputs: Shapes, outputs: Shapes) -> Any:
    images, filters = inputs[0], inputs[1]
    places = outputs[0][2:] if op.out_mode == "valid" else images[2:]
    return 2 * images[0] * filters[0] * images[1] * prod(filters[2:]) * prod(places)


def _plain_convolution(op: Any, inputs: Shapes, outputs: Shapes) -> Any:
    """Without channels: in the full mode every element meets every element of the kernel."""
    first, second, result = inputs[0], inputs[1], outputs[0]
    ways = 1
    for a, b, c in zip(first, second, result, strict=True):
        ways *= a * b if c == a + b - 1 else c * min(a, b)
    return 2 * ways


_FORMULAS = {
    "Elemwise": _elemwise,
    "Dot": _dot,
    "Dot22": _dot,
    "Dot22Scalar": _dot,
    "BatchedDot": _dot,
    "MatMul": _dot,
    "Blockwise": _blockwise,
    "Gemm": _gemm,
    "Gemv": _gemm,
    "Ger": _ger,
    "CGer": _ger,
    "AbstractConv": _convolution,
    "BaseCorrMM": _convolution,
    "BaseCorr3dMM": _convolution,
    "ConvOp": _old_convolution,
    "AbstractConv_gradWeights": _convolution_for_filters,
    "CorrMM_gradWeights": _convolution_for_filters,
    "Corr3dMMGradWeights": _convolution_for_filters,
    "AbstractConv_gradInputs": _convolution_for_images,
    "CorrMM_gradInputs": _convolution_for_images,
    "Corr3dMMGradInputs": _convolution_for_images,
    "Convolve": _plain_convolution,
    "AbstractConvolveNd": _plain_convolution,
}
