"""Works for a moment while sonde asks a library that stands in for NVIDIA's how busy the GPU is."""

import time


def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))


work(1.0)
