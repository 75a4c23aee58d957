"""A cache whose keys never come again."""

from pace import steps, work

cache = {}


def load(key):
    return [key] * 4000  # LEAK


def look_up(key):
    if key not in cache:
        cache[key] = load(key)
    return cache[key]


for number, _ in enumerate(steps()):
    work()
    look_up(number)
    look_up(number)
    look_up(number % 10)
