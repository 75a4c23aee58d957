"""Known bytes, each on one line.

usage: lines.py CASE VOLUME

Allocates about VOLUME bytes on the line that is marked with the case's name, and prints as JSON what that line asked
for: `bytes`, `kind` (who asks for nearly all of it) and, where it is known, `live`: what of it is there at the end.

What an object asks for is mostly what sys.getsizeof says, which includes the collector's head. Numbers would be blocks
of their own: the marked lines make none. A block that is resized counts as another one of the new size.
"""

import json
import mmap
import queue
import sys
import threading
from array import array
from itertools import repeat

KEPT = 200  # how many are there at once, at most


def bytes_tiny(volume):
    kept, size = [None] * KEPT, 20
    for _ in range(volume // (KEPT * sys.getsizeof(bytes(size)))):
        for i in range(KEPT):
            kept[i] = bytes(size)  # HERE: bytes_tiny
    return {"bytes": volume // (KEPT * 53) * KEPT * 53, "kind": "python"}


def bytes_middle(volume):
    kept, size = [None] * KEPT, 967
    for _ in range(volume // (KEPT * 1000)):
        for i in range(KEPT):
            kept[i] = bytes(size)  # HERE: bytes_middle
    return {"bytes": volume // (KEPT * 1000) * KEPT * 1000, "kind": "python", "live": 0}


def bytes_large(volume):
    kept, size = [None] * 20, 99_967
    for _ in range(volume // 2_000_000):
        for i in range(20):
            kept[i] = bytes(size)  # HERE: bytes_large
    return {"bytes": volume // 2_000_000 * 2_000_000, "kind": "python", "live": 0}


def bytes_kept(volume):
    global everything
    everything = kept = [None] * (volume // 1000)
    for i in range(len(kept)):
        kept[i] = bytes(967)  # HERE: bytes_kept
    return {"bytes": len(kept) * 1000, "kind": "python", "live": len(kept) * 1000}


def byte_array(volume):
    kept, one = [None] * KEPT, sys.getsizeof(bytearray(2000))
    rounds = volume // (KEPT * one)
    for _ in range(rounds):
        for i in range(KEPT):
            kept[i] = bytearray(2000)  # HERE: byte_array
    return {"bytes": rounds * KEPT * one, "kind": "python"}


def list_made(volume):
    # The lists themselves come from a list of free ones; the one that is repeated has one place.
    kept, one = [None] * 20, 8 * 5000 + 8
    rounds = volume // (20 * one)
    for _ in range(rounds):
        for i in range(20):
            kept[i] = [None] * 5000  # HERE: list_made
    return {"bytes": rounds * 20 * one, "kind": "python"}


def growth(make, add, count):
    """What all the sizes that a container has had on its way come to, without the container itself."""
    one, total = make(), 0
    empty = last = sys.getsizeof(one)
    for i in range(count):
        add(one, i)
        if sys.getsizeof(one) != last:
            last = sys.getsizeof(one)
            total += last - empty
    return total


def list_growth(volume):
    one = growth(list, lambda grown, _: grown.append(None), 5000)
    rounds = volume // one
    for _ in range(rounds):
        grown = []
        for _ in repeat(None, 5000):
            grown.append(None)  # HERE: list_growth
    return {"bytes": rounds * one, "kind": "python"}


def dict_made(volume):
    kept, template = [None] * KEPT, {str(i): None for i in range(300)}
    one = sys.getsizeof(template.copy()) - sys.getsizeof({})  # which come from a list of free ones
    rounds = volume // (KEPT * one)
    for _ in range(rounds):
        for i in range(KEPT):
            kept[i] = template.copy()  # HERE: dict_made
    return {"bytes": rounds * KEPT * one, "kind": "python"}


def dict_growth(volume):
    keys = [str(i) for i in range(3000)]
    one = growth(dict, lambda table, i: table.update({keys[i]: None}), len(keys))
    rounds = volume // one
    for _ in range(rounds):
        table = {}
        for key in keys:
            table[key] = None  # HERE: dict_growth
    return {"bytes": rounds * one, "kind": "python"}


def number_array(volume):
    kept, seed = [None] * KEPT, array("d", [1.0])
    one = sys.getsizeof(seed * 400)
    rounds = volume // (KEPT * one)
    for _ in range(rounds):
        for i in range(KEPT):
            kept[i] = seed * 400  # HERE: number_array
    return {"bytes": rounds * KEPT * one, "kind": "python"}


def touch(volume, share, make):
    """Arrays that are written to up to a share of their length: what was asked for is the same."""
    kept, one = [None] * 20, sys.getsizeof(make())
    rounds = volume // (20 * one)
    for _ in range(rounds):
        for i in range(20):
            kept[i] = make()
            kept[i][: int(share * len(kept[i]))] = 1.0
    return {"bytes": rounds * 20 * one + one, "kind": "native", "live": 0}


def numpy_untouched(volume):
    import numpy as np

    return touch(volume, 0, lambda: np.empty(12_500))  # HERE: numpy_untouched


def numpy_half(volume):
    import numpy as np

    return touch(volume, 0.5, lambda: np.empty(12_500))  # HERE: numpy_half


def numpy_whole(volume):
    import numpy as np

    return touch(volume, 1, lambda: np.empty(12_500))  # HERE: numpy_whole


def numpy_zeros(volume):
    import numpy as np

    return touch(volume, 0, lambda: np.zeros(12_500))  # HERE: numpy_zeros


def maps(volume):
    count = volume // (1 << 20)
    for _ in repeat(None, count):
        one = mmap.mmap(-1, 1 << 20)  # HERE: maps
        one[0] = 1
        one.close()
    return {"bytes": count << 20, "kind": "native", "live": 0}


def native_take(volume):
    import truth_native

    rounds = volume // 2_000_000
    for _ in range(rounds):
        for _ in repeat(None, 1000):
            truth_native.take(2000)  # HERE: native_take
        truth_native.give()
    return {"bytes": rounds * 2_000_000, "kind": "native", "live": 0}


def native_kept(volume):
    import truth_native

    for _ in repeat(None, volume // 2000):
        truth_native.take(2000)  # HERE: native_kept
    return {"bytes": volume // 2000 * 2000, "kind": "native", "live": volume // 2000 * 2000}


def native_growth(volume):
    import truth_native

    one = 500 * sum(range(1, 101))
    for _ in repeat(None, volume // one):
        truth_native.grow(500, 100)  # HERE: native_growth
    return {"bytes": volume // one * one, "kind": "native", "live": 0}


def native_aligned(volume):
    import truth_native

    rounds = volume // 1_920_000
    for _ in range(rounds):
        for _ in repeat(None, 1000):
            truth_native.aligned(1900)  # HERE: native_aligned
        truth_native.give()
    return {"bytes": rounds * 1_920_000, "kind": "native", "live": 0}


def make_batches(pipe, count):
    for _ in range(count):
        batch = [None] * 1000
        for i in range(1000):
            batch[i] = bytes(967)  # HERE: across_threads
        pipe.put(batch)
    pipe.put(None)


def drop_batches(pipe):
    while pipe.get() is not None:
        pass


def across_threads(volume):
    """Two threads allocate, two others free."""
    count, threads = volume // 2_000_000, []
    for _ in range(2):
        pipe = queue.Queue(4)
        threads.append(threading.Thread(target=make_batches, args=(pipe, count)))
        threads.append(threading.Thread(target=drop_batches, args=(pipe,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"bytes": 2 * count * 1_000_000, "kind": "python", "live": 0}


def main(case, volume):
    print(json.dumps(globals()[case](int(volume))))


main(*sys.argv[1:])
