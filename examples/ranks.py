"""A job of several ranks: all of them compute, and rank 3 has more work than the others."""

import os
import time

import sonde


def compute(amount):
    return sum(i * i for i in range(amount))


rank = int(os.environ["RANK"])
with sonde.region("step"):
    for _ in range(20):
        with sonde.region("compute"):
            compute(60_000 if rank == 3 else 30_000 + 200 * rank)
        with sonde.region("exchange"):
            time.sleep(0.002)
