"""A pool of buffers that are taken and given back; it grows when many are wanted at once, and then no more."""

import random

from pace import steps, work

free, in_use = [], []
chance = random.Random(1)


def take():
    return free.pop() if free else bytearray(50_000)


for share in steps():
    work()
    wanted = min(200, int(share * 600)) - chance.randrange(40)
    while len(in_use) < wanted:
        in_use.append(take())
    while len(in_use) > max(wanted, 0):
        free.append(in_use.pop())
