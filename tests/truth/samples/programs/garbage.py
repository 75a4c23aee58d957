"""Garbage collections: those that allocations start, those that are asked for, and a finaliser that one of them runs.

Names: `compute`, `allocate` and `collect` without the collections in them, `allocate gc` and `collect gc` those without
the finaliser, and `finalise`.
"""

import gc
import time

import answer

gc.disable()
KEPT = [[i] for i in range(20_000)]  # what each full collection walks over
watch = answer.Watch()
spent = started = 0


def note(phase, info):
    global started, spent
    if phase == "start":
        started = time.thread_time_ns()
    else:
        spent += time.thread_time_ns() - started


class Loop:
    def __init__(self):
        self.me = self


class Ends(Loop):
    def __del__(self):
        watch.run("finalise", finalise, count)


def compute(times):
    total = 0
    for i in range(times):
        total = total * 3 + i & 0xFFFF


def finalise(times):
    total = 0
    for i in range(times):
        total = total * 3 + i & 0xFFFF


def allocate(times):
    gc.enable()
    for _ in range(times):
        Loop()
    gc.disable()


def collect(times):
    for _ in range(times):
        Ends()
        gc.collect()


def run(name, function, times):
    """What of a function's time its collections took, and what of that the finaliser."""
    global spent
    spent, before = 0, watch.spent.get("finalise", {"cpu": 0})["cpu"]
    watch.run(name, function, times)
    ended = watch.spent.get("finalise", {"cpu": 0})["cpu"] - before
    watch.spent[name]["cpu"] -= spent
    apart = watch.spent.setdefault(f"{name} gc", {"cpu": 0, "waited": 0, "ready": 0})
    apart["cpu"] += spent - ended


count = answer.count_for(compute, 2)
gc.set_threshold(2000, 1000, 1000)
gc.callbacks.insert(0, note)
gc.collect()
for _ in answer.until():
    run("compute", compute, count)
    run("allocate", allocate, 10_000)
    run("collect", collect, 5)
del watch.spent["compute gc"]
answer.write()
