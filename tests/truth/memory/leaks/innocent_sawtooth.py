"""Batches that are collected and written out together."""

from pace import steps, work

batch = []
for _ in steps():
    work()
    batch.append(bytes(100_000))
    if len(batch) == 170:
        batch.clear()
