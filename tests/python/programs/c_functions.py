"""Calls C functions in all the ways that code can name them, each for a while of CPU time."""

import hashlib
import time
import zlib

DATA = bytes(range(256)) * 8000
count = DATA.count


class Holder:
    def __init__(self):
        self.data = DATA
        self.parts = [DATA]


def by_module():
    hashlib.md5(DATA)


def by_method(data=DATA):
    data.count(b"\x07\x09")


def by_global():
    count(b"\x07\x09")


def by_local(squeeze=zlib.compress):
    squeeze(DATA, 1)


HELD = Holder()


def by_attribute(held=HELD):
    held.data.count(b"\x07\x09")


def by_names():
    zlib.compress(DATA, level=1)


def by_unpacking(words=(DATA, 1)):
    zlib.crc32(*words)


def by_constant(texts=["x" * 99] * 9999):  # noqa: B006
    ", ".join(texts)


def by_item(held=HELD):
    held.parts[0].count(b"\x07\x09")


def by_call(data=DATA):
    sum(zlib.crc32(data[start:]) for start in (0, 1))


def by_operator(data=DATA):
    data + data


def by_item_of(data=DATA):
    data[1:]


def by_comparison(data=DATA, same=bytes(range(256)) * 8000):  # noqa: B008
    data == same  # noqa: B015


def in_python():
    for _ in range(20000):
        pass


WAYS = [
    by_module,
    by_method,
    by_global,
    by_local,
    by_attribute,
    by_names,
    by_unpacking,
    by_constant,
    by_item,
    by_call,
    by_operator,
    by_item_of,
    by_comparison,
]

for way in [*WAYS, in_python]:
    end = time.process_time() + 0.12
    while time.process_time() < end:
        way()
