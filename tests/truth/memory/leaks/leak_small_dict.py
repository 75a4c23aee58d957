"""A dictionary that grows by less than 20 MB in all."""

from pace import steps, work

seen = {}


def note(number):
    seen[f"user {number}"] = [number] * 1900  # LEAK


for number, _ in enumerate(steps()):
    work()
    note(number)
