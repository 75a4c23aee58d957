"""A program that is over after 50 ms, with two thirds of its time in one function."""

import answer


def larger(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


def smaller(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


def main():
    watch = answer.Watch()
    count = answer.count_for(larger, answer.seconds() * 1000 / 3)
    watch.run("larger", larger, 2 * count)
    watch.run("smaller", smaller, count)
    answer.write()


main()
