"""Python calls a C extension module inside a region: the regions of both are in one tree."""

import array

import smooth

import sonde.regions as rp


@rp.func()
def main():
    values = array.array("d", range(100_000))
    for _ in range(3):
        with rp.region("call"):
            smooth.smooth(values, 10)
    return values[1]


if __name__ == "__main__":
    rp.install(recording="extension.sonde")
    main()
