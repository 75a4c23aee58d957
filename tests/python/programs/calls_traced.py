"""Known calls, for sonde trace: leaf 30 times by twice, 5 times on a thread; ends as its words say."""

import json
import os
import signal
import sys
import threading


def leaf(n):
    return n + 1


def twice(n):
    return leaf(n) + leaf(n)


def on_thread():
    for i in range(5):
        leaf(i)


class Point:
    def move(self, by, *, fast=False):
        return by


def main():
    for i in range(15):
        twice(i)
    Point().move(1.5, fast=True)
    thread = threading.Thread(target=on_thread)
    thread.start()
    thread.join()
    json.dumps([1, 2, 3])


if __name__ == "__main__":
    main()
    print("argv", *sys.argv[1:])
    how = sys.argv[1] if len(sys.argv) > 1 else "return"
    if how == "status":
        sys.exit(7)
    if how == "raise":
        raise KeyError("lost")
    if how == "_exit":
        os._exit(5)
    if how == "term":
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
    if how == "int":
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()
