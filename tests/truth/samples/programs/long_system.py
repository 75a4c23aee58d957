"""System calls in which the kernel works for many ticks and takes no signal, each before a short computation."""

import os
import tempfile

import answer

SIZE = 8 << 20


def compute(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


def read(file, buffers):
    os.preadv(file, buffers, 0)


def main():
    watch = answer.Watch()
    count = answer.count_for(compute, 3)
    buffers = [bytearray(b"x" * SIZE)]
    with tempfile.TemporaryFile() as file:
        file.write(buffers[0])
        file.flush()
        for _ in answer.until():
            watch.run("read", read, file.fileno(), buffers)
            watch.run("compute", compute, count)
    answer.write()


main()
