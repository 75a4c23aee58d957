"""Tasks of asyncio: each has its own regions, and a column shows how long it was suspended."""

import asyncio

import sonde.regions as rp


@rp.func()
async def fetch(seconds):
    await asyncio.sleep(seconds)
    return list(range(20000))


async def customer(seconds):
    with rp.region("customer"):
        rows = await fetch(seconds)
        with rp.region("sort"):
            rows.sort(key=lambda row: -row)


async def main():
    with rp.region("all customers"):
        await asyncio.gather(*(customer(0.05 * i) for i in range(1, 6)))


if __name__ == "__main__":
    rp.install(reporter=rp.ConsoleReporter(columns=("name", "total", "suspended", "self", "count")))
    asyncio.run(main())
