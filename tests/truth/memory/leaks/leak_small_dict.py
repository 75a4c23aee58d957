"""A dictionary that grows by less than 20 MB in all."""

from pace import steps, work

seen = {}


def note(number):
    seen[f"user {number}"] = [number] * 1900  # LEAK


number = 0
for share in steps():
    work()
    while number < share * 1200:  # however busy the machine is
        note(number)
        number += 1
