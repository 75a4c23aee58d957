"""Sample one block of a program: the hottest line, the tree, and regions in the same recording."""

import zlib

import sonde


def squares(count):
    total = 0
    for i in range(count):
        total += i * i
    return total


def pack(size):
    return len(zlib.compress(bytes(range(256)) * size, 9))


with sonde.sample() as s:
    squares(2_000_000)
    pack(8000)
hottest = max(s.rows("lines"), key=lambda row: row["python_ns"] or 0)
print(f"most Python time in line {hottest['line']}: {hottest['source'].strip()}")
s.print("tree")

with sonde.record("block.sonde", probes=["region", "sample"]) as r:
    for _ in range(3):
        with sonde.region("numbers"):
            squares(500_000)
        with sonde.region("bytes"):
            pack(2000)
print(f"to see the tree: sonde view {r.recording} --tree")


@sonde.sample(rate=2000, report=False)
def both():
    squares(1_000_000)
    pack(40_000)


both()
print("functions seen:", sorted({row["function"] for row in both.measurement.rows("functions")} & {"squares", "pack"}))
