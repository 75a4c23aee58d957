"""Python code, native code, the kernel and sleep, one after the other."""

import answer  # noqa: I001 (first, so that its clock sees the other imports)
import hashlib
import os
import time
import zlib

try:
    import numpy as np
except ImportError:
    np = None


def python(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


def compress(data):
    zlib.compress(data, 6)


def digest(data):
    hashlib.sha256(data).digest()


def arrays(array):
    for _ in range(10):
        np.sqrt(array, out=array)


def read_zeros(file, buffers):
    for _ in range(12):
        os.readv(file, buffers)


def sleep():
    time.sleep(0.003)


def main():
    watch = answer.Watch()
    count = answer.count_for(python, 3)
    # Small enough that no call asks the kernel for memory, and touched before.
    text = bytes(i * i >> 4 & 0xFF for i in range(60_000))
    buffers, zeros = [bytearray(b"x" * 2_000_000)], os.open("/dev/zero", os.O_RDONLY)
    array = np.ones(100_000) if np is not None else None
    for _ in answer.until(0.8):  # the rest of it sleeps
        watch.run("python", python, count)
        watch.run("native", compress, text)
        watch.run("native", digest, buffers[0])
        if array is not None:
            watch.run("native", arrays, array)
        watch.run("system", read_zeros, zeros, buffers)
        watch.run("sleep", sleep)
    answer.write()


main()
