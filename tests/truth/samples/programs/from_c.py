"""Functions that only C code calls: a sort's key, and what map calls."""

import answer


def work(number):
    total = 0
    for i in range(300):
        total = total * 3 + i & 0xFFFF
    return total


def key(number):
    return work(number)


def each(number):
    return work(number)


def sort(numbers):
    return sorted(numbers, key=key)


def apply(numbers):
    return list(map(each, numbers))


def main():
    watch = answer.Watch()
    for _ in answer.until():
        watch.run("sort", sort, range(300))
        watch.run("apply", apply, range(100))
    answer.write()


main()
