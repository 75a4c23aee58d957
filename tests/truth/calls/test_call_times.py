"""Programs that know how long each function took: under a clock that they move, or by their own measurement."""

import asyncio
import time

import pytest
from chance import expect, repeats

from sonde import tracing

pytestmark = pytest.mark.interpreter

US = 1000  # the clock's unit in nanoseconds


def test_own_time_and_total_time(timed, clock, functions):
    def leaf():
        clock.spend(10)

    def branch():
        clock.spend(1)
        leaf()
        clock.spend(2)
        leaf()
        clock.spend(3)

    def main():
        clock.spend(100)
        branch()
        branch()
        leaf()

    with timed:
        main()
    found = functions(timed)
    assert (found["leaf"].self_ns, found["leaf"].total_ns) == (50 * US, 50 * US)
    assert (found["branch"].self_ns, found["branch"].total_ns) == (12 * US, 52 * US)
    assert (found["main"].self_ns, found["main"].total_ns) == (100 * US, 162 * US)
    assert sum(function.self_ns for function in found.values()) == 162 * US


def test_recursion_adds_its_total_time_once(timed, clock, functions):
    def fall(depth):
        clock.spend(5)
        if depth:
            fall(depth - 1)
        clock.spend(2)

    with timed:
        fall(9)
        clock.spend(1000)
        fall(9)
    fall = functions(timed)["fall"]
    assert (fall.self_ns, fall.total_ns) == (140 * US, 140 * US)


def test_functions_that_call_each_other_add_their_total_time_once(timed, clock, functions):
    def ping(n):
        clock.spend(1)
        if n:
            pong(n - 1)

    def pong(n):
        clock.spend(10)
        if n:
            ping(n - 1)

    with timed:
        ping(9)
    found = functions(timed)
    assert (found["ping"].self_ns, found["ping"].total_ns) == (5 * US, 55 * US)
    assert (found["pong"].self_ns, found["pong"].total_ns) == (50 * US, 54 * US)


def test_a_pair_has_its_own_times(timed, clock):
    def leaf(units):
        clock.spend(units)

    def cheap():
        leaf(1)

    def dear():
        leaf(30)

    with timed:
        cheap()
        dear()
        dear()
    timed.create_stats()
    (callers,) = (row[4] for label, row in timed.stats.items() if label[2] == "leaf")
    times = {caller[2]: (pair[0], round(pair[2] * 1e6), round(pair[3] * 1e6)) for caller, pair in callers.items()}
    assert times == {"cheap": (1, 1, 1), "dear": (2, 60, 60)}


def test_time_in_a_generator_is_its_own_and_time_between_is_not(timed, clock, functions):
    def numbers():
        for _ in range(5):
            clock.spend(3)
            yield

    def main():
        for _ in numbers():
            clock.spend(100)

    with timed:
        main()
    found = functions(timed)
    assert (found["numbers"].self_ns, found["numbers"].total_ns) == (15 * US, 15 * US)
    assert (found["main"].self_ns, found["main"].total_ns) == (500 * US, 515 * US)


def test_an_exception_ends_the_time(timed, clock, functions):
    def fail():
        clock.spend(7)
        raise ValueError

    def main():
        try:
            fail()
        except ValueError:
            clock.spend(11)

    with timed:
        main()
    found = functions(timed)
    assert (found["fail"].self_ns, found["fail"].total_ns) == (7 * US, 7 * US)
    assert (found["main"].self_ns, found["main"].total_ns) == (11 * US, 18 * US)


def test_what_is_open_when_it_stops_ends_there(timed, clock, functions):
    def inner():
        clock.spend(4)
        timed.disable()
        clock.spend(1000)

    def outer():
        clock.spend(2)
        inner()
        clock.spend(1000)

    timed.enable()
    outer()
    found = functions(timed)
    assert (found["inner"].self_ns, found["inner"].total_ns) == (4 * US, 4 * US)
    assert (found["outer"].self_ns, found["outer"].total_ns) == (2 * US, 6 * US)


def test_time_while_it_is_off_does_not_count(timed, clock, functions):
    def work():
        clock.spend(5)

    for _ in range(3):
        timed.enable()
        work()
        timed.disable()
        clock.spend(10_000)
    work = functions(timed)["work"]
    assert (work.calls, work.self_ns, work.total_ns) == (3, 15 * US, 15 * US)


def test_a_result_taken_while_calls_are_open_has_their_time_so_far(timed, clock):
    def work():
        clock.spend(5)
        timed.snapshot_stats()

    with timed:
        work()
    (row,) = (row for label, row in timed.stats.items() if label[2] == "work")
    assert (row[1], round(row[3] * 1e6)) == (1, 5)


def suspended_of(profile, name):
    (row,) = (row for row in profile.profile().rows("functions") if row["name"].endswith(name))
    return row


def test_waiting_is_apart_from_own_time(timed, clock):
    class Wait:
        def __await__(self):
            yield

    async def worker():
        clock.spend(3)
        await Wait()
        clock.spend(4)

    async def idle():
        clock.spend(1)

    with timed:
        one, two = worker(), worker()
        for coroutine in (one, two):
            coroutine.send(None)
        clock.spend(500)
        for coroutine in (two, one):
            with pytest.raises(StopIteration):
                coroutine.send(None)
        with pytest.raises(StopIteration):
            idle().send(None)
    row = suspended_of(timed, "worker")
    assert (row["calls"], row["self_ns"], row["total_ns"]) == (2, 14 * US, 14 * US)
    # the first waits while the second works for 3 before and 4 after those 500
    assert row["suspended_ns"] == (500 + 3 + 4 + 500) * US
    assert row["resumes"] == 2
    assert suspended_of(timed, "idle")["suspended_ns"] == 0


@pytest.mark.parametrize("builtins", [True, False])
@repeats
def test_the_time_of_asyncio_sleep_is_suspended(builtins):
    async def sleeper():
        for _ in range(3):
            await asyncio.sleep(0.02)  # sleeps: its work

    async def main():
        await asyncio.gather(*(sleeper() for _ in range(4)))

    profile = tracing.Profile(builtins=builtins)
    start = time.perf_counter_ns()
    with profile:
        asyncio.run(main())
    wall = time.perf_counter_ns() - start
    row = suspended_of(profile, "sleeper")
    assert row["calls"] == 4
    assert row["suspended_ns"] >= 4 * 3 * 20_000_000 * 0.99
    assert row["suspended_ns"] + row["total_ns"] <= 4 * wall
    expect(row["total_ns"] < 20_000_000, f"{row['total_ns']} ns of its own")


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


@repeats
def test_shares_and_the_total_agree_with_the_program(profile, functions):
    """What the program measures contains what sonde does. Tolerance: 2 % of the time and 1 ms for each call, for a
    machine that takes the processor away just between two clocks."""
    profile.clear()
    truth = {}

    def measure(function):
        start = time.perf_counter_ns()
        function()
        truth[function.__name__] = truth.get(function.__name__, 0) + time.perf_counter_ns() - start

    def short():
        spin(0.005)

    def long():
        spin(0.015)

    def main():
        for _ in range(8):
            measure(short)
            measure(long)

    start = time.perf_counter_ns()
    with profile:
        main()
    wall = time.perf_counter_ns() - start
    found = functions(profile)
    for name in ("short", "long"):
        assert found[name].total_ns <= truth[name]
        expect(truth[name] * 0.98 - 8_000_000 <= found[name].total_ns, f"{name}: {found[name].total_ns} ns")
    assert found["main"].total_ns <= wall
    expect(wall * 0.98 - 1_000_000 <= found["main"].total_ns, f"{found['main'].total_ns} ns of {wall} ns")
    roots = sum(function.total_ns for function in found.values() if not function.callers)
    own = sum(function.self_ns for function in found.values())
    assert abs(own - roots) <= 1000 * len(found)


def test_sleep_is_the_time_of_the_function_that_sleeps(profile, functions):
    def sleeper():
        time.sleep(0.05)  # sleeps: its work

    with profile:
        sleeper()
    found = functions(profile)
    assert found["sleeper"].total_ns >= 50_000_000
    if "<built-in method time.sleep>" in found:
        slept = found["<built-in method time.sleep>"].self_ns
        assert slept >= 50_000_000
        assert abs(found["sleeper"].self_ns + slept - found["sleeper"].total_ns) <= 1000
