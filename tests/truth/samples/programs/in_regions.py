"""One function in two regions, one inside another, and outside of any."""

import answer

import sonde


def spin(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


def main():
    watch = answer.Watch()
    count = answer.count_for(spin, 2)
    for _ in answer.until():
        watch.run("none", spin, count)
        with sonde.region("outer"):
            watch.run("outer", spin, 2 * count)
            with sonde.region("inner"):
                watch.run("inner", spin, 4 * count)
    answer.write()


main()
