import pytest

pytestmark = pytest.mark.interpreter
"""Nothing that the extension makes is left behind."""

LOOP = """
import asyncio, gc, sys, threading
import sonde

def every_call():
    with sonde.region("named"), sonde.region():
        sonde.push("pushed")
        sonde.pop()
    for _ in sonde.iter_proxy([1, 2, 3], "iter"):
        pass
    wrapped(1, b=2)
    Thing().method()
    list(generator())
    asyncio_like()
    for bad in (lambda: sonde.region(5), lambda: sonde.region(x=1), lambda: sonde.iter_proxy()):
        try:
            bad()
        except TypeError:
            pass
    try:
        with sonde.region("raises"):
            raise KeyError
    except KeyError:
        pass

@sonde.func()
def wrapped(a, b):
    return [a, b]

class Thing:
    @sonde.func()
    def method(self):
        return self

@sonde.func()
def generator():
    sonde.push("in generator")
    yield 1
    sonde.pop()
    with sonde.region("block"):
        yield 2

async def coroutine():
    with sonde.region("coroutine"):
        return 1

def asyncio_like():
    try:
        coroutine().send(None)
    except StopIteration:
        pass

def blocks(work, times):
    work()
    work()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(times):
        work()
    gc.collect()
    return sys.getallocatedblocks() - before
"""


def test_calls_leave_no_objects(sonde):
    done = sonde.python(
        LOOP
        + """
sonde.install(reporter=sonde.SilentReporter())
for _ in range(50):
    every_call()
print(blocks(every_call, 500))
"""
    )
    assert int(done.stdout) < 50


def test_reports_leave_no_objects(sonde):
    done = sonde.python(
        LOOP
        + """
import io
csv = sonde.CsvReporter(stream=io.StringIO())
silent = sonde.SilentReporter()
def report():
    csv.stream = io.StringIO()
    for reporter in (csv, silent):
        sonde.install(reporter=reporter)
        sonde.report()
sonde.install(reporter=silent)
every_call()
print(blocks(report, 100))
"""
    )
    assert int(done.stdout) < 50


@pytest.mark.slow
def test_a_thousand_installs_leave_nothing(sonde):
    done = sonde.python(
        LOOP
        + """
import os, resource
def cycle():
    sonde.install(reporter=sonde.SilentReporter(), recording="r.sonde", chrome_trace_file="t.json")
    every_call()
    sonde.uninstall()
for _ in range(50):
    cycle()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
objects = blocks(cycle, 300)
print(objects, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, len(os.listdir("/proc/self/fd")),
      threading.active_count(), len(os.listdir("/proc/self/task")))
"""
    )
    objects, grown_kib, descriptors, threads, tasks = map(int, done.stdout.split())
    assert objects < 50
    assert grown_kib < 1024
    assert descriptors < 10
    assert (threads, tasks) == (1, 1)


def test_threads_that_come_and_go_take_bounded_memory(sonde):
    done = sonde.python(
        """
        import resource, threading, sonde
        sonde.install(reporter=sonde.SilentReporter(), recording="r.sonde")
        def work():
            with sonde.region("work"):
                pass
        def run(n):
            for _ in range(n):
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
        run(400)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        run(4000)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        """
    )
    assert int(done.stdout) < 1024
    rows = sonde.export("r.sonde")["rows"]
    assert sum(row["count"] for row in rows if row["name"] == "work") == 4400
    assert len({row["thread"] for row in rows}) < 300
