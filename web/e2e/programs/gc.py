"""Collects garbage a known number of times, on two threads."""

import gc
import threading
import time


class Loop:
    def __init__(self):
        self.me = self


def collect(times):
    for i in range(times):
        for _ in range(2000):
            Loop()
        gc.collect(i % 3)
        time.sleep(0.01)


gc.disable()
collect(12)
thread = threading.Thread(target=collect, args=(5,), name="cleaner")
thread.start()
thread.join()
