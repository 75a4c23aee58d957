"""A loop inside a graph (Scan), and the same computation without a loop: what the steps of the loop cost."""

import sys

import numpy as np

import sonde.graph

try:
    import pytensor as lib
    import pytensor.tensor as tensor
except ImportError:
    import aesara as lib
    import aesara.tensor as tensor

TERMS, CALLS = 200, 50


def make_functions():
    """A polynomial: by Horner's rule, one step per coefficient, and as a product of vectors."""
    x, coefficients = tensor.scalar("x"), tensor.vector("coefficients")
    options = {"return_updates": False} if lib.__name__ == "pytensor" else {}
    steps = lib.scan(
        lambda coefficient, before, x: before * x + coefficient,
        sequences=coefficients[::-1],
        outputs_info=tensor.zeros_like(x),
        non_sequences=x,
        name="horner",
        **options,
    )
    result = steps[0] if isinstance(steps, (list, tuple)) else steps
    powers = x ** tensor.arange(coefficients.shape[0])
    loop = lib.function([x, coefficients], result[-1], name="with a loop")
    return loop, lib.function([x, coefficients], tensor.dot(powers, coefficients), name="without")


def main():
    coefficients = np.random.default_rng(1).standard_normal(TERMS)
    with sonde.graph.profile(linker="cvm") as g:
        loop, plain = make_functions()
        for i in range(CALLS):
            assert np.isclose(loop(0.9, coefficients), plain(0.9, coefficients)), i
    g.summary(sys.stdout, n_ops_to_print=4, n_apply_to_print=3)


if __name__ == "__main__":
    main()
