"""A program whose times are known: it moves the clock itself."""

import asyncio
import gc
import threading

import sonde.regions as rp

gc.disable()  # a collection would be in the timeline


class Timer:
    now = 0.0

    def clock(self):
        return Timer.now


@rp.func()
def load(seconds):
    Timer.now += seconds


async def request(name, seconds):
    with rp.region(name):
        await asyncio.sleep(0)
        Timer.now += seconds


async def serve():
    await asyncio.gather(request("GET /", 0.5), request("GET /slow", 1.5))


def main():
    with rp.region("prepare"):
        for seconds in (0.001, 0.002, 0.0015):
            load(seconds)
        Timer.now += 0.0001234
    with rp.region('odd "name", with\nlines and 数据', asglobal=True):
        Timer.now += 12.5
    asyncio.run(serve())
    for _ in rp.iter_proxy(range(3), "fetch"):
        Timer.now += 1e-6


def worker():
    with rp.region("in thread"):
        Timer.now += 0.25


if __name__ == "__main__":
    rp.install(reporter=rp.SilentReporter(), timer_cls=Timer, recording="golden.sonde", chrome_trace_file="golden.json")
    main()
    thread = threading.Thread(target=worker, name="worker")
    thread.start()
    thread.join()
