"""Four functions with 50, 25, 12.5 and 12.5 % of the CPU time, on one thread."""

import answer


def first(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


def second(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


def third(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


def fourth(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


def main():
    watch = answer.Watch()
    count = answer.count_for(first, 2)
    for _ in answer.until():
        watch.run("first", first, 4 * count)
        watch.run("second", second, 2 * count)
        watch.run("third", third, count)
        watch.run("fourth", fourth, count)
    answer.write()


main()
