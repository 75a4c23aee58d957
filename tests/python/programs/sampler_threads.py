"""Programs with threads, deep stacks, generators and tasks. The name of one is the argument."""

import asyncio
import gc
import hashlib
import os
import queue
import sys
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(50))


def come_and_go():
    """2,000 threads, at most 20 at a time, and each did its work."""
    results = []
    for start in range(0, 2000, 20):
        threads = [threading.Thread(target=results.append, args=(start + i,)) for i in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(sorted(results) == list(range(2000)), threading.active_count())


def many_at_once():
    """300 threads wait, and all are woken."""
    everybody = threading.Barrier(301)
    results = queue.Queue()

    def work(i):
        everybody.wait(60)
        results.put(sum(range(i)))
        everybody.wait(60)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(300)]
    for thread in threads:
        thread.start()
    everybody.wait(60)
    everybody.wait(60)
    for thread in threads:
        thread.join()
    print(sum(results.get() for _ in range(300)))


def names_and_numbers():
    """What threading says of a thread is what the system says."""
    found = []

    def work():
        me = threading.current_thread()
        found.append(me.native_id == threading.get_native_id() and Path(f"/proc/self/task/{me.native_id}").exists())
        me.name = "new"
        found.append(me.name == "new" and me.ident == threading.get_ident())

    for _ in range(5):
        thread = threading.Thread(target=work, name="\N{SNOWMAN}" * 100)
        thread.start()
        thread.join()
    import _thread

    one = threading.get_native_id
    print(all(found), one is _thread.get_native_id, repr(one), one.__module__, one.__doc__, one.__self__)
    print(threading.main_thread().native_id == os.getpid(), threading.active_count())


def limits():
    """The same depth, wherever recursion ends."""

    def dive(n):
        deepest[0] = n
        dive(n + 1)

    deepest = [0]
    for limit in (200, 1000, 3000):
        sys.setrecursionlimit(limit)
        try:
            dive(0)
        except RecursionError as error:
            print(deepest, error)
    sys.setrecursionlimit(1000)

    def through_c(n):
        deepest[0] = n
        return max(map(through_c, [n + 1]))

    try:
        through_c(0)
    except RecursionError as error:
        print(deepest, error)
    for text in ("[" * 300, "-" * 200000 + "1"):
        try:
            print(len(str(compile(text, "<x>", "eval").co_code)))
        except (RecursionError, MemoryError, SyntaxError) as error:
            print(type(error).__name__)


def very_deep():
    """A hundred thousand frames, on a thread with a large stack."""

    def dive(n):
        return 1 + (dive(n - 1) if n else 0)

    class Deep:
        def __init__(self, n):
            self.n = n

        def __repr__(self):  # through C, so that the C stack grows, too
            return repr(Deep(self.n - 1)) + "." if self.n else ""

    def work():
        print(dive(100000), [dive(20000) for _ in range(5)])
        print(len(repr(Deep(1500))))

    sys.setrecursionlimit(10**6)
    threading.stack_size(256 << 20)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def generators():
    """Frames on the heap: chains of generators, coroutines and asynchronous generators."""

    def chain(depth):
        if depth:
            yield from chain(depth - 1)
        else:
            for i in range(30):
                spin(0.002)
                yield i

    async def deeper(depth):
        if depth:
            return await deeper(depth - 1) + 1
        await asyncio.sleep(0.001)
        spin(0.01)
        return 0

    async def numbers():
        for i in range(10):
            await asyncio.sleep(0)
            spin(0.003)
            yield i

    async def main():
        results = await asyncio.gather(*(deeper(depth) for depth in range(0, 200, 40)))
        return results, [i async for i in numbers()], await asyncio.to_thread(sum, range(1000))

    print(sum(chain(300)), asyncio.run(main()))
    half = chain(3)
    next(half)
    half.close()
    try:
        half.throw(KeyError("x"))
    except KeyError as error:
        print(repr(error))


def collections():
    """The garbage collector runs all the time."""
    gc.set_threshold(5, 2, 2)
    log = []

    class Node:
        def __init__(self):
            self.me = self
            self.call = lambda: self

        def __del__(self):
            log.append(self.call() is self)

    def work():
        for _ in range(300):
            Node()
        gc.collect()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    print(len(log), all(log), gc.garbage)


def without_the_lock():
    """C code that lets others run: the same results."""
    data = bytes(range(256)) * 8192
    with ThreadPoolExecutor(4) as pool:
        digests = set(pool.map(lambda _: hashlib.sha256(zlib.compress(data, 1)).hexdigest(), range(24)))
    print(digests == {hashlib.sha256(zlib.compress(data, 1)).hexdigest()})
    try:
        import numpy
    except ImportError:
        return
    matrix = numpy.arange(90000.0).reshape(300, 300)
    with ThreadPoolExecutor(4) as pool:
        print({float((matrix @ matrix).sum()) for _ in pool.map(lambda _: matrix @ matrix, range(30))})


def greenlets():
    import greenlet

    log = []

    def count(depth, name):
        if depth:
            return count(depth - 1, name)
        for i in range(200):
            sum(range(200))
            log.append((name, i))
            greenlet.getcurrent().parent.switch()
        return name

    def work():
        many = [greenlet.greenlet(count) for _ in range(8)]
        for i, one in enumerate(many):
            one.switch(i * 10, i)
        while not all(one.dead for one in many):
            for one in many:
                if not one.dead:
                    one.switch()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(len(log), sorted(log)[:4])


def gevents():
    import gevent
    from gevent import monkey

    monkey.patch_all()

    def work(i):
        for _ in range(5):
            sum(range(5000))
            time.sleep(0.001)
        return i

    jobs = [gevent.spawn(work, i) for i in range(100)]
    gevent.joinall(jobs)
    thread = threading.Thread(target=work, args=(1,))
    thread.start()
    thread.join()
    print(sum(job.value for job in jobs))


def interpreters():
    """Other interpreters come, work and go, while threads of theirs run."""
    try:
        import _interpreters as one
    except ImportError:
        import _xxsubinterpreters as one
    program = "def f(x):\n    return sum(range(x))\nfor i in range(200):\n    f(i * 10)\n"

    def work():
        for _ in range(8):
            made = one.create()
            one.run_string(made, program)
            one.destroy(made)

    for _ in range(2):
        work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    print(len(one.list_all()))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
