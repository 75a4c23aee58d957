"""Two threads with regions: Python, native code, the kernel and waiting. `--more` makes one part of it longer."""

import hashlib
import sys
import threading
import time
import zlib

import sonde

TEXT = b"all work and no play makes jack a dull boy " * 4000
ROUNDS = 40 if "--more" in sys.argv else 24


def parse(lines):
    total = 0
    for line in lines:
        total += sum(int(word) for word in line.split())
    return total


def compress(level):
    return len(zlib.compress(TEXT * 6, level))


def write_out(count):
    with open("/dev/null", "wb", buffering=0) as out:
        for _ in range(count):
            out.write(TEXT)


def wait(seconds):
    time.sleep(seconds)


def background():
    for _ in range(6):
        hashlib.sha256(TEXT * 20).hexdigest()
        wait(0.05)


def main():
    lines = ["1 2 3 4 5 6 7 8 9 10"] * 4000
    helper = threading.Thread(target=background, name="background")
    helper.start()
    for _ in range(ROUNDS):
        with sonde.region("parse"):
            parse(lines)
        with sonde.region("compress"):
            compress(6)
        with sonde.region("write"):
            write_out(2000)
    wait(0.2)
    helper.join()


if __name__ == "__main__":
    main()
