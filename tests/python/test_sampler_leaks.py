"""Starting and stopping the sampler leaves nothing behind. With SONDE_STRESS=1 ten times as often."""

import pytest
from sampler_support import IS_STRESS
from sonde_programs import slow

pytestmark = pytest.mark.interpreter

CYCLES = 1000 if IS_STRESS else 150

LOOP = """
import gc, os, resource, sys, threading, time
import sonde
from sonde import _core

def tasks():
    return len(os.listdir("/proc/self/task"))

def state(alone):
    gc.collect()
    end = time.monotonic() + 60
    while tasks() > alone and time.monotonic() < end:  # the system may still be busy ending threads that were joined
        time.sleep(0.01)
    return (sys.getallocatedblocks(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
            len(os.listdir("/proc/self/fd")), tasks(), sys.gettotalrefcount()
            if hasattr(sys, "gettotalrefcount") else 0)

def work():
    sum(i * i for i in range(2000))

def run(cycle, times):
    alone = tasks()
    for _ in range(30):
        cycle()
    before = state(alone)
    for _ in range(times):
        cycle()
    after = state(alone)
    print(*(b - a for a, b in zip(before, after)))
"""

CYCLE = {
    "start and stop": """
def cycle():
    sonde.start(rate=20000)
    work()
    sonde.stop()
""",
    "block": """
def cycle():
    with sonde.sample(rate=20000) as s:
        work()
    assert s.profile
""",
    "recording": """
def cycle():
    with sonde.record("r.sonde", probes=["sample", "region"], rate=20000):
        with sonde.region("x"):
            work()
""",
    "threads": """
def cycle():
    with sonde.sample(rate=20000):
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
""",
    "the safe way": """
def cycle():
    _core.start({"rate": 1000, "safe_frames": True})
    work()
    _core.stop()
""",
    "pauses": """
sonde.start(rate=20000)
def cycle():
    _core.pause_samples(True)
    _core.pause_samples(False)
    work()
""",
}


@pytest.mark.parametrize("name", ["block", "the safe way", "pauses", *slow("start and stop", "recording", "threads")])
def test_nothing_is_left(sonde, name):
    done = sonde.python(LOOP + CYCLE[name] + f"\nrun(cycle, {CYCLES})\n")
    blocks, grown_kib, files, tasks, _ = map(int, done.stdout.split())
    assert blocks < 100
    assert grown_kib < 3000
    assert (files, tasks) == (0, 0)


def test_code_that_dies_is_forgotten(sonde):
    """Memory follows what lives: a million of functions would else be kept for ever."""
    done = sonde.python(
        LOOP
        + """
def cycle():
    names = {}
    for _ in range(50):
        exec("def f():\\n  for i in range(200): i * i\\nf()", names)
sonde.start(rate=20000)
"""
        + f"run(cycle, {CYCLES})\n"
    )
    blocks, grown_kib, files, tasks, _ = map(int, done.stdout.split())
    assert blocks < 200
    assert grown_kib < 4000
    assert (files, tasks) == (0, 0)


def test_threads_that_come_and_go_take_bounded_memory(sonde):
    done = sonde.python(
        LOOP
        + """
def cycle():
    for _ in range(8):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
sonde.start(rate=1000)
"""
        + f"run(cycle, {CYCLES})\n"
    )
    _, grown_kib, files, tasks, _ = map(int, done.stdout.split())
    assert grown_kib < 4000
    assert files < 20  # of threads that ended just now
    assert tasks == 0
