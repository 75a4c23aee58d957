"""The same four functions on four threads at once, each with shares of its own."""

import answer

SHARES = {
    "half": {"first": 4, "second": 2, "third": 1, "fourth": 1},
    "even": {"first": 2, "second": 2, "third": 2, "fourth": 2},
    "last": {"first": 1, "second": 1, "third": 2, "fourth": 6},
    "only": {"second": 8},
}


def first(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


def second(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


def third(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


def fourth(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


def work(shares, count):
    watch = answer.Watch()
    for _ in answer.until():
        for name, share in shares.items():
            watch.run(name, globals()[name], share * count)


def main():
    count = answer.count_for(first, 2)
    answer.run_threads({name: lambda shares=shares: work(shares, count) for name, shares in SHARES.items()})
    answer.write()


main()
