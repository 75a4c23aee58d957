"""Programs that allocate in awkward places. The name of one is the argument, with what it needs after it."""

import _ctypes
import collections
import ctypes
import gc
import hashlib
import json
import mmap
import multiprocessing
import os
import queue
import random
import shutil
import signal
import sys
import threading
import time
import tracemalloc
import warnings
from pathlib import Path

warnings.simplefilter("ignore", DeprecationWarning)  # of forks among threads, which are the point here

SECONDS = 60 if os.environ.get("SONDE_STRESS") == "1" else 1


def churn(rounds=200, seed=1):
    """Blocks of every size, in every order, with contents that are checked. Gives a number that says it all."""
    chance, kept, digest = random.Random(seed), [], hashlib.sha1()
    for i in range(rounds):
        kept.append(bytearray(i % 256 for _ in range(chance.randrange(1, 400))))
        kept.append(bytes([i % 256]) * chance.randrange(1, 300_000))
        kept.append([i] * chance.randrange(1, 5000))
        kept.append({str(j): j for j in range(chance.randrange(1, 300))})
        kept[chance.randrange(len(kept))] = None
        if len(kept) > 100:
            for one in kept[:50]:
                digest.update(json.dumps(one).encode() if isinstance(one, list | dict) else one or b"")
            del kept[:50]
    return digest.hexdigest()


def objects():
    print(churn(400))


def resizing():
    text, grown, room = bytearray(), [], mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for i in range(2000):
        text += b"%d " % i * 50
        grown.extend([i] * 100)
        if i % 7 == 0:
            del text[: len(text) // 2]
            del grown[len(grown) // 2 :]
    for i in range(1, 20):
        room.resize(i << 20)
        room[-1] = i
    print(hashlib.sha1(text).hexdigest(), sum(grown), len(room), room[-1])


def cycles():
    class Node:
        def __del__(self):
            ended[0] += 1

    ended = [0]
    for _ in range(20_000):
        one, other = Node(), Node()
        one.other, other.other = other, one
        one.data = bytes(500)
    del one, other
    gc.collect()
    print(ended)


def deep():
    def down(depth):
        data = bytes(2000)
        return len(data) + down(depth - 1) if depth else 0

    sys.setrecursionlimit(20_000)
    print(sum(down(3000) for _ in range(10)))


def across_threads():
    """One thread allocates, another one frees; the last blocks outlive the thread they came from."""
    pipe, total = queue.SimpleQueue(), [0]

    def make(seed):
        chance = random.Random(seed)
        for _ in range(3000):
            pipe.put(bytes(chance.randrange(1, 50_000)))
        pipe.put(None)

    makers = [threading.Thread(target=make, args=(seed,)) for seed in range(4)]
    for thread in makers:
        thread.start()
    ended = 0
    while ended < len(makers):
        one = pipe.get()
        ended += one is None
        total[0] += len(one or b"")
    print(total)


def many_threads():
    """64 at once."""
    end, shared, wrong = time.monotonic() + SECONDS, collections.deque(maxlen=500), []

    def work(seed):
        chance, kept = random.Random(seed), {}
        while time.monotonic() < end or len(shared) < shared.maxlen:
            for _ in range(50):
                size = chance.choice((10, 100, 1000, 10_000, 200_000))
                kept[chance.randrange(20)] = one = bytes([seed]) * size
                if one[0] != seed or one[-1] != seed:
                    wrong.append(seed)
            shared.append(kept.popitem()[1])
            hashlib.sha1(b"x" * 5000)  # without the interpreter's lock

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(wrong, len(shared))


def short_threads():
    got = []
    for i in range(500):
        thread = threading.Thread(target=lambda i=i: got.append(bytes(i * 100)))
        thread.start()
        thread.join()
    print(sum(map(len, got)))


def signals():
    """A handler allocates and frees a thousand times a second, whatever the program is just allocating."""
    kept = collections.deque(maxlen=10)
    calls = [0]

    def handle(*_):
        calls[0] += 1
        kept.append([bytes(20_000), {str(i): i for i in range(20)}])

    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    texts = {churn(100) for _ in range(5)}
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(texts, calls[0] > 10)


def native_signals():
    """A handler in C copies and maps memory, at any instruction."""
    plugin = ctypes.CDLL(sys.argv[2])
    plugin.plugin_catch(signal.SIGALRM)
    signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
    texts = {churn(100) for _ in range(5)}
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(texts, plugin.plugin_caught() > 10)


def libraries():
    """Threads load and unload libraries that allocate, while others allocate."""
    folder = Path("libraries").resolve()
    folder.mkdir()
    wrong, over = [], threading.Event()

    def load(number):
        path = folder / f"plugin{number}.so"
        shutil.copy(sys.argv[2], path)
        for i in range(150):
            plugin = ctypes.CDLL(str(path))
            if plugin.plugin_work(1000 + i) != (1000 + i) * 7:
                wrong.append(number)
            _ctypes.dlclose(plugin._handle)

    def allocate():
        while not over.is_set():
            churn(5)

    loaders = [threading.Thread(target=load, args=(number,)) for number in range(4)]
    others = [threading.Thread(target=allocate) for _ in range(2)]
    for thread in loaders + others:
        thread.start()
    for thread in loaders:
        thread.join()
    over.set()
    for thread in others:
        thread.join()
    print(wrong)


def leave(status):
    os._exit(status)


def forks():
    for i in range(20):
        child = os.fork()
        if child == 0:
            churn(10)
            leave(i)
        churn(5)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), end=" ")
    print()


def forks_among_threads():
    over = threading.Event()

    def work():
        while not over.is_set():
            churn(3)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(20):
        child = os.fork()
        if child == 0:
            churn(5)
            leave(i)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), end=" ")
    over.set()
    for thread in threads:
        thread.join()
    print(threading.active_count())


def pool_of_forks():
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(pool.map(churn, [20] * 12))


def pool_of_spawns():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(churn, [20] * 6))


def tracemalloc_inside():
    one = churn(50)
    tracemalloc.start(5)
    kept = [bytes(1000) for _ in range(1000)]
    size, _ = tracemalloc.get_traced_memory()
    other = churn(50)
    tracemalloc.stop()
    print(one == other, len(kept), 1_000_000 < size < 1_500_000)


def tracemalloc_to_the_end():
    tracemalloc.start()
    print(churn(50))


def end_with_exception():
    churn(20)
    raise MemoryError("not really")


def end_with_status():
    churn(20)
    sys.exit(3)


def end_at_once():
    print(churn(20), flush=True)
    leave(4)


def too_much():
    """What cannot be had is refused as ever."""
    for ask in (lambda: bytearray(1 << 60), lambda: [None] * (1 << 58), lambda: mmap.mmap(-1, 1 << 60)):
        try:
            ask()
        except (MemoryError, OSError) as error:
            print(type(error).__name__)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
