"""Starts and stops `sonde.memory()` again and again, and prints as JSON what is left of it.

usage: memory_often.py TIMES [FOLDER]

FOLDER has the extension module truth_native, whose slots are bound at once and read-only from then on.
"""

import ctypes
import gc
import json
import os
import sys
from pathlib import Path

import sonde

sys.path[:0] = sys.argv[2:]
try:
    import truth_native
except ImportError:
    truth_native = None


class Allocator(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("context", "malloc", "calloc", "realloc", "free")]


def allocators():
    found = []
    for domain in range(3):
        one = Allocator()
        ctypes.pythonapi.PyMem_GetAllocator(domain, ctypes.byref(one))
        found.append([getattr(one, name) for name, _ in Allocator._fields_])
    return found


def maps():
    """Of files: address, permissions and path."""
    lines = [line.split(maxsplit=5) for line in Path("/proc/self/maps").read_text().splitlines()]
    return [(line[0], line[1], line[5]) for line in lines if len(line) == 6 and line[5].startswith("/")]


def slots(files):
    """What stands in the parts of the extension that are neither code nor to be written."""
    found = []
    with open("/proc/self/mem", "rb", 0) as memory:
        for addresses, permissions, path in files:
            if "truth_native" in path and permissions.startswith("r--"):
                start, end = (int(word, 16) for word in addresses.split("-"))
                memory.seek(start)
                found.append(memory.read(end - start).hex())
    return found


def resident():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def work():
    kept = [bytes(1000) for _ in range(300)]
    if truth_native is not None:
        for _ in range(100):
            truth_native.take(1000)
        truth_native.give()
    return sum(map(len, kept))


def cycle():
    with sonde.memory() as memory:
        done = work()
    return done, memory.peak_bytes


def main(times):
    work()
    files = maps()
    before = allocators(), slots(files)
    results, peaks, first = set(), 0, 0
    for i in range(times):
        done, peak = cycle()
        results.add(done)
        peaks += peak
        if i == times // 5:
            first, blocks = resident(), sys.getallocatedblocks()
    paths = {path for *_, path in files}
    print(
        json.dumps(
            {
                "results": sorted(results),
                "peaks": peaks,
                "grown": resident() - first,
                "blocks": sys.getallocatedblocks() - blocks,
                "allocators": allocators() == before[0],
                "slots": slots(files) == before[1],
                "slots_seen": sum(map(len, before[1])),
                "maps": [one for one in maps() if one[2] in paths] == files,
                "files": len(list(Path("/proc/self/fd").iterdir())),
                "threads": len(list(Path("/proc/self/task").iterdir())),
            }
        )
    )


main(int(sys.argv[1]))
