"""One loop, and what each of its lines takes when it is alone in a loop.

Both take turns all the time, so that a machine that gets slower does so for both. The answer's names are the places of
the lines, counted from the first of them.
"""

import answer

numbers = [i * 7919 % 2003 for i in range(2000)]
words = " ".join(map(str, numbers))


def cube(number):
    return number * number * number


def hot(count):
    for _ in range(count):
        a = sorted(numbers)
        b = words.split()
        c = [i * i for i in numbers]
        d = sum(i for i in numbers)
        e = [cube(i) for i in numbers]
        f = words.replace("1", "one")
    return a, b, c, d, e, f


def alone_0(count):
    for _ in range(count):
        a = sorted(numbers)
    return a


def alone_1(count):
    for _ in range(count):
        b = words.split()
    return b


def alone_2(count):
    for _ in range(count):
        c = [i * i for i in numbers]
    return c


def alone_3(count):
    for _ in range(count):
        d = sum(i for i in numbers)
    return d


def alone_4(count):
    for _ in range(count):
        e = [cube(i) for i in numbers]
    return e


def alone_5(count):
    for _ in range(count):
        f = words.replace("1", "one")
    return f


def main():
    watch = answer.Watch()
    alone = [alone_0, alone_1, alone_2, alone_3, alone_4, alone_5]
    for _ in answer.until():
        for i, function in enumerate(alone):
            watch.run(str(i), function, 10)
        hot(40)
    answer.write(first_line=hot.__code__.co_firstlineno + 2)


main()
