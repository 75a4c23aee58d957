"""Reference cycles that the collector finds, and whose __del__ brings them back to life."""

import gc

from pace import steps, work

graveyard = set()


class Session:
    __slots__ = ("data", "me")

    def __init__(self, data):
        self.data = data
        self.me = self

    def __del__(self):
        graveyard.add(self)


def handle():
    Session(bytearray(40_000))  # LEAK


for number, _ in enumerate(steps()):
    work()
    handle()
    if number % 20 == 0:
        gc.collect()
