"""Regions, a function, an iterator and an automatic name: the table is printed at exit."""

import numpy as np

import sonde.regions as rp


@rp.func()
def f():
    with rp.region("init"):
        a = np.arange(1000000)
        b = a.copy("C")
    with rp.region("loop"):
        for x in rp.iter_proxy([1, 2, 3, 4], "iter"):
            a += x
    with rp.region():
        return np.sum(a * b)


if __name__ == "__main__":
    rp.install()
    f()
