"""Calls that are over sooner than a stack is read."""

import answer


def outer(number):
    return middle(number) + 1


def middle(number):
    return inner(number) + 1


def inner(number):
    return number


def other(number):
    return [inner(i) for i in range(number)]


def main():
    for _ in answer.until():
        for i in range(100):
            outer(i)
            other(3)
    answer.write()


main()
