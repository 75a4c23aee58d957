"""A logistic regression in Aesara or PyTensor: which nodes of a compiled function use time and memory."""

# With this flag, nodes are not fused into a few large ones and do not work in place:
#     PYTENSOR_FLAGS=optimizer_excluding=fusion:inplace python examples/graph_logistic.py

import sys

import numpy as np

import sonde.graph

try:
    import pytensor as lib
    import pytensor.tensor as tensor
except ImportError:
    import aesara as lib
    import aesara.tensor as tensor

SAMPLES, FEATURES, STEPS = 4000, 784, 100


def make_functions():
    """The two functions of the tutorial: one that learns, one that predicts."""
    x, y = tensor.matrix("x"), tensor.vector("y")
    w = lib.shared(np.zeros(FEATURES), name="w")
    b = lib.shared(0.0, name="b")
    probability = 1 / (1 + tensor.exp(-tensor.dot(x, w) - b))
    entropy = -y * tensor.log(probability) - (1 - y) * tensor.log(1 - probability)
    cost = entropy.mean() + 0.01 * (w**2).sum()
    by_w, by_b = lib.grad(cost, [w, b])
    train = lib.function([x, y], cost, updates=[(w, w - 0.1 * by_w), (b, b - 0.1 * by_b)], name="train")
    return train, lib.function([x], probability > 0.5, name="predict")


def main():
    random = np.random.default_rng(1)
    x = random.standard_normal((SAMPLES, FEATURES))
    y = (x @ random.standard_normal(FEATURES) > 0).astype("float64")
    with sonde.graph.profile(memory=True, linker="cvm") as g:  # PyTensor's usual linker keeps no times of nodes
        train, predict = make_functions()
        for _ in range(STEPS):
            train(x, y)
        right = (predict(x) == y).mean()
    print(f"{right:.1%} of the samples are predicted")
    g.summary(sys.stdout, n_ops_to_print=6, n_apply_to_print=4)


if __name__ == "__main__":
    main()
