"""A program for ``sonde run``: half of its CPU time in one function, half in another, and ways to end."""

import os
import signal
import sys
import threading
import time

import sonde


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def first(seconds):
    spin(seconds)


def second(seconds):
    spin(seconds)


def main(seconds=0.1):
    with sonde.region("both"):
        first(seconds)
        second(seconds)


def in_thread():
    thread = threading.Thread(target=first, args=(0.1,), name="helper")
    thread.start()
    thread.join()


WAYS = {
    "return": lambda: None,
    "exit": lambda: sys.exit(3),
    "raise": lambda: 1 / 0,
    "_exit": lambda: os._exit(4),
    "term": lambda: (os.kill(os.getpid(), signal.SIGTERM), time.sleep(60)),
    "int": lambda: (os.kill(os.getpid(), signal.SIGINT), time.sleep(60)),
    "wait": lambda: (print("ready", flush=True), time.sleep(60)),
    "thread": in_thread,
}

if __name__ == "__main__":
    main()
    for way in sys.argv[1:]:
        WAYS[way]()
