"""A C extension that forgets to free."""

import truth_native
from pace import steps, work


def decode():
    for _ in range(10):
        truth_native.take(20_000)
    truth_native.give()
    truth_native.leak(30_000)  # LEAK


for _ in steps():
    work()
    decode()
