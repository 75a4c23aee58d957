"""A coroutine that two tasks await through another one, and a generator that two functions read through another one."""

import answer  # noqa: I001 (first, so that its clock sees the other imports)
import asyncio

watch = answer.Watch()


def spin(count):
    total = 0
    for i in range(count):
        total = total * 3 + i & 0xFFFF


async def fetch(name, count):
    watch.run(name, spin, count)
    await asyncio.sleep(0)
    watch.run(name, spin, count)


async def retry(name, count):
    await fetch(name, count)


async def heavy_task(count):
    for _ in answer.until(0.5):
        await retry("heavy_task", 3 * count)


async def light_task(count):
    for _ in answer.until(0.5):
        await retry("light_task", count)


async def tasks(count):
    await asyncio.gather(heavy_task(count), light_task(count))


def produce(name, count):
    while True:
        yield watch.run(name, spin, count)


def keep(source):
    yield from source


def heavy_reader(count):
    numbers = keep(produce("heavy_reader", 3 * count))
    for _ in range(3):
        next(numbers)


def light_reader(count):
    for _, _ in zip(range(3), keep(produce("light_reader", count)), strict=False):
        pass


def main():
    count = answer.count_for(spin, 2)
    asyncio.run(tasks(count))
    for _ in answer.until(0.5):
        heavy_reader(count)
        light_reader(count)
    answer.write()


main()
