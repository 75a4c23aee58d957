"""Threads that Python knows nothing of: the pool of the library that multiplies matrices."""

import answer  # noqa: I001 (first, so that its clock sees the other imports)
import os
import time
from pathlib import Path

import numpy as np


def multiply(a, b, out):
    np.matmul(a, b, out=out)


def thread_cpu(thread):
    """CPU time of any thread of this process since the program's first line."""
    clock = ~thread << 3 | 6  # how the kernel numbers the clocks of threads
    return time.clock_gettime_ns(clock) - (answer.THREAD_START if thread == os.getpid() else 0)


def main():
    watch = answer.Watch()
    a, b, out = (np.ones((400, 400)) for _ in range(3))
    for _ in answer.until():
        watch.run("multiply", multiply, a, b, out)
    folders = Path("/proc/self/task").iterdir()
    threads = [int(folder.name) for folder in folders if (folder / "comm").read_text() != "sonde\n"]
    answer.write(cpu={thread: thread_cpu(thread) for thread in threads})


main()
