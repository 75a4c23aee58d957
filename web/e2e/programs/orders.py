"""A small report over orders, for pictures: it reads, counts, keeps too much, compresses and saves; two threads."""

import json
import random
import sys
import threading
import time
import zlib

import sonde

SEEN = []


class Order:
    def __init__(self, row):
        self.row = row
        self.links = [self]


def read(count):
    random.seed(7)
    rows = [{"id": i, "item": random.choice("abcdefgh"), "price": random.random()} for i in range(count)]
    return json.dumps(rows)


def parse(text):
    return [Order(row) for row in json.loads(text)]


def total(orders):
    sums = {}
    for order in orders:
        item = order.row["item"]
        sums[item] = sums.get(item, 0) + order.row["price"]
    return sums


def remember(sums):
    for item, value in sums.items():
        SEEN.append(f"{item}={value}" * 4000)


def pack(text, level):
    return zlib.compress(text.encode() * 3, level)


def save(data):
    with open("/dev/null", "wb") as out:
        for _ in range(40):
            out.write(bytes(data))
    time.sleep(0.02)


def watch(stop):
    while not stop.wait(0.05):
        sum(range(20000))


def report(rounds):
    for _ in range(rounds):
        with sonde.region("load"):
            text = read(6000)
            orders = parse(text)
        with sonde.region("count"):
            for _ in range(12):
                sums = total(orders)
            remember(sums)
        with sonde.region("save"):
            save(pack(text, 6))


def main(path, rounds):
    stop = threading.Event()
    with sonde.record(path, probes=["region", "sample", "memory"]):
        watcher = threading.Thread(target=watch, args=(stop,), name="watcher")
        watcher.start()
        report(rounds)
        stop.set()
        watcher.join()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
