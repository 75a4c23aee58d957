"""Works for a moment while sonde asks a library that stands in for NVIDIA's how busy the GPU is."""

import time


def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))


def load():
    work(0.25)


def train():
    work(0.5)


def test():
    work(0.25)


def main():
    load()
    train()
    test()


main()
