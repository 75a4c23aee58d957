"""Waiting for a lock and for a socket at the same time, then for the interpreter.

Threads that want the interpreter all the time would make the others wait for it, too: they come afterwards.
"""

import answer  # noqa: I001 (first, so that its clock sees the other imports)
import socket
import threading
import time


def take(lock):
    lock.acquire()


def receive(end):
    end.recv(1)


def compute(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


def wait_for(name, function, thing, over):
    watch = answer.Watch()
    while not over.is_set():
        watch.run(name, function, thing)


def feed(lock, end, over):
    """Gives both what they wait for, every 10 ms, and once more at the end."""
    for _ in answer.until(0.5, time.perf_counter):
        time.sleep(0.01)
        give(lock, end)
    over.set()
    give(lock, end)


def give(lock, end):
    if lock.locked():  # else nobody took it since the last time
        lock.release()
    end.send(b"x")


def wait_for_interpreter(count):
    watch = answer.Watch()
    for _ in answer.until(0.5):
        watch.run("compute", compute, count)


def main():
    lock, over, (near, far) = threading.Lock(), threading.Event(), socket.socketpair()
    lock.acquire()
    answer.run_threads(
        {
            "lock": lambda: wait_for("take", take, lock, over),
            "socket": lambda: wait_for("receive", receive, near, over),
            "feeder": lambda: feed(lock, far, over),
        }
    )
    count = answer.count_for(compute, 40)
    answer.run_threads({name: lambda: wait_for_interpreter(count) for name in ("one", "other")})
    answer.write()


main()
