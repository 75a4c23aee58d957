"""Known owners of memory: a list that is kept, one that goes, a cache that grows, and copies."""

import time

CACHE = []


def keep(count):
    return [bytearray(200_000) for _ in range(count)]


def pass_by(count):
    for _ in range(count):
        bytes(3_000_000)
        time.sleep(0.002)


def grow(count):
    for number in range(count):
        CACHE.append(str(number) * 2000)
        time.sleep(0.001)


def copy(data, times):
    for _ in range(times):
        data = bytes(bytearray(data))
    return data


def main():
    kept = keep(100)
    pass_by(60)
    grow(400)
    copy(b"x" * 5_000_000, 20)
    return kept


if __name__ == "__main__":
    main()
