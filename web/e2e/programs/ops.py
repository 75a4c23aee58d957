"""Operators of NumPy with two shapes, in regions."""

import numpy as np

import sonde


def layer(x, w):
    with sonde.region("matmul"):
        y = x @ w
    with sonde.region("activate"):
        return np.maximum(y, 0.0)


def main():
    small, large = np.ones((64, 64)), np.ones((400, 400))
    for _ in range(40):
        layer(small, small)
        layer(large, large).sum(axis=0)
        np.exp(large).T.copy()


if __name__ == "__main__":
    main()
