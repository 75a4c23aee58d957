"""A hot loop: push() and pop() are the cheapest region, and a million entries need no more memory than one."""

import sonde.regions as rp


def collatz(n):
    steps = 0
    push, pop = rp.push, rp.pop
    while n != 1:
        push("odd" if n % 2 else "even")
        n = 3 * n + 1 if n % 2 else n // 2
        pop()
        steps += 1
    return steps


@rp.func()
def main():
    return max(collatz(n) for n in range(1, 10000))


if __name__ == "__main__":
    rp.install(reporter=rp.ConsoleReporter(columns=("name", "total", "self", "count", "average", "p50", "p99")))
    print("longest chain:", main())
