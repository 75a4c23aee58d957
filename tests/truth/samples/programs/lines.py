"""One loop, and the same loop with a clock between its lines, in turns.

A line that is alone in a loop is no answer: a sort takes up to a quarter less there, since the processor learns its
branches when nothing comes in between. The loops get lists of many lengths, so that no rhythm of the machine meets the
same line again and again. The answer's names are the places of the lines, counted from the first of them, and `clock`.

The loop that is sampled reads no clock: a thread that reads its own CPU time on a busy machine often loses its
processor right there, since the kernel then sees that its turn is over, and the sampler finds it there.
"""

import random
from time import thread_time_ns as now

import answer

draw = random.Random(1)
LISTS = [[i * 7919 % 2003 for i in range(draw.randrange(1000, 3000))] for _ in range(16)]
TEXTS = [" ".join(map(str, numbers)) for numbers in LISTS]


def cube(number):
    return number * number * number


def hot(numbers, words, count):
    for _ in range(count):
        a = sorted(numbers)
        b = words.split()
        c = [i * i for i in numbers]
        d = sum(i for i in numbers)
        e = [cube(i) for i in numbers]
        f = words.replace("1", "one")
    return a, b, c, d, e, f


def timed(numbers, words, count):
    times = [0] * 6
    for _ in range(count):
        at_0 = now()
        a = sorted(numbers)
        at_1 = now()
        b = words.split()
        at_2 = now()
        c = [i * i for i in numbers]
        at_3 = now()
        d = sum(i for i in numbers)
        at_4 = now()
        e = [cube(i) for i in numbers]
        at_5 = now()
        f = words.replace("1", "one")
        ends = (at_0, at_1, at_2, at_3, at_4, at_5, now())
        times = [times[i] + ends[i + 1] - ends[i] for i in range(6)]
    return times, (a, b, c, d, e, f)


def main():
    watch = answer.Watch()
    order = list(range(len(LISTS)))
    for _ in answer.until():
        draw.shuffle(order)
        for i in order:
            hot(LISTS[i], TEXTS[i], 6)
            times, _ = watch.run("clock", timed, LISTS[i], TEXTS[i], 3)
            for line, ns in enumerate(times):
                spent = watch.spent.setdefault(str(line), {"cpu": 0, "waited": 0, "ready": 0})
                spent["cpu"] += ns
            watch.spent["clock"]["cpu"] -= sum(times)
    answer.write(first_line=hot.__code__.co_firstlineno + 2)


main()
