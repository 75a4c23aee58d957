"""Regions in coroutines and generators belong to their own task."""

import asyncio
import gc
import inspect
import sys

import pytest
from sonde_programs import Sonde

import sonde
import sonde.regions as rp

pytestmark = pytest.mark.interpreter


@pytest.mark.quick
def test_gathered_tasks_never_nest_into_each_other(measured):
    async def work(name, pauses):
        with sonde.region(name):
            for _ in range(pauses):
                with sonde.region("step"):
                    await asyncio.sleep(0)

    async def main():
        with sonde.region("main"):
            await asyncio.gather(work("a", 5), work("b", 3), work("c", 4))

    with sonde.region("run"):
        asyncio.run(main())
    run = measured()["<main>"]["run"]
    assert set(run.children) == {"main", "a", "b", "c"}
    assert [run[name]["step"].count for name in "abc"] == [5, 3, 4]
    assert not run["main"].children
    assert not run["a"]["step"].children


def test_a_task_tells_how_long_it_was_suspended(clock):
    async def slow():
        with sonde.region("task"):
            clock.now += 1
            await pause()
            clock.now += 2

    class pause:
        def __await__(self):
            yield

    coroutine = slow()
    coroutine.send(None)
    with sonde.region("elsewhere"):
        clock.now += 10
    with pytest.raises(StopIteration):
        coroutine.send(None)
    main = clock.trees()["<main>"]
    assert (main["task"].total_ns, main["task"].suspended_ns, main["task"].self_ns) == (13e9, 10e9, 3e9)
    assert main["elsewhere"].self_ns == 10e9
    assert sum(row.self_ns for row in main.all_rows()) == main.total_ns


def test_awaited_coroutines_nest_below_who_awaits_them(measured):
    async def inner():
        with sonde.region("inner"):
            await asyncio.sleep(0)
            with sonde.region("leaf"):
                await asyncio.sleep(0)

    async def outer():
        with sonde.region("outer"):
            await inner()
            await inner()

    async def main():
        await asyncio.gather(outer(), outer())

    asyncio.run(main())
    tree = measured()["<main>"]
    assert (tree["outer"].count, tree["outer"]["inner"].count, tree["outer"]["inner"]["leaf"].count) == (2, 4, 4)
    assert set(tree.children) == {"outer"}


@pytest.mark.quick
def test_interleaved_generators_keep_their_own_regions(clock):
    def numbers(name):
        with sonde.region(name):
            for i in range(3):
                with sonde.region("item"):
                    clock.now += 1
                    yield i

    with sonde.region("loop"):
        for pair in zip(numbers("a"), numbers("b"), strict=True):
            with sonde.region("body"):
                clock.now += pair[0]
    loop = clock.trees()["<main>"]["loop"]
    assert set(loop.children) == {"a", "b", "body"}
    for name in "ab":
        assert (loop[name].count, loop[name]["item"].count) == (1, 3)
        assert loop[name]["item"].self_ns == 3e9
        assert loop[name].suspended_ns == loop[name].total_ns - 3e9
    assert loop["body"].count == 3
    assert sum(row.self_ns for row in clock.trees()["<main>"].all_rows()) == clock.trees()["<main>"].total_ns


def test_a_generator_that_outlives_the_region_it_began_in(clock):
    def numbers():
        with sonde.region("gen"):
            clock.now += 1
            yield 1
            clock.now += 1
            yield 2

    with sonde.region("first"):
        generator = numbers()
        next(generator)
    with sonde.region("second"):
        next(generator)
        next(generator, None)
    main = clock.trees()["<main>"]
    assert main["first"]["gen"].self_ns == 2e9
    assert main["second"].self_ns == 0
    assert sum(row.self_ns for row in main.all_rows()) == main.total_ns


def test_functions_called_by_a_generator_nest_below_its_region(measured):
    @rp.func()
    def helper():
        with sonde.region("inside"):
            return list(numbers())

    def numbers():
        with sonde.region("numbers"):
            yield from range(2)

    def generator():
        with sonde.region("gen"):
            yield helper()
            yield helper()

    for _ in generator():
        with sonde.region("outside"):
            pass
    tree = measured()["<main>"]
    assert set(tree.children) == {"gen", "outside"}
    assert tree["gen"]["helper()"]["inside"]["numbers"].count == 2


def test_push_in_a_generator_that_is_dropped(measured):
    def generator():
        sonde.push("left open")
        yield

    g = generator()
    next(g)
    del g
    gc.collect()
    row = measured()["<main>"]["left open"]
    assert (row.count, row.open) == (1, 0)


def test_an_exception_thrown_into_a_generator_closes_its_region(clock):
    def generator():
        with sonde.region("gen"):
            try:
                yield
            except KeyError:
                clock.now += 1
                yield
                clock.now += 1

    g = generator()
    next(g)
    clock.now += 5
    g.throw(KeyError())
    clock.now += 5
    g.close()
    row = clock.trees()["<main>"]["gen"]
    assert (row.count, row.open, row.total_ns, row.suspended_ns) == (1, 0, 11e9, 10e9)


def test_cancelled_tasks_close_their_regions(clock):
    async def forever():
        with sonde.region("forever"):
            clock.now += 1
            await asyncio.sleep(3600)

    async def main():
        task = asyncio.create_task(forever())
        await asyncio.sleep(0)
        clock.now += 5
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    row = clock.trees()["<main>"]["forever"]
    assert (row.count, row.open, row.total_ns, row.suspended_ns) == (1, 0, 6e9, 5e9)


def test_func_on_coroutines_generators_and_async_generators(measured):
    @rp.func()
    async def coroutine(x):
        await asyncio.sleep(0)
        return x

    @rp.func()
    def generator(n):
        got = []
        for i in range(n):
            got.append((yield i))
        return got

    @rp.func()
    async def stream(n):
        for i in range(n):
            try:
                sent = yield i
            except KeyError:
                sent = "caught"
            if sent:
                yield sent

    async def main():
        assert await coroutine(5) == 5
        assert [x async for x in stream(3)] == [0, 1, 2]
        s = stream(3)
        assert await s.asend(None) == 0
        assert await s.asend("hello") == "hello"
        assert await s.asend(None) == 1
        assert await s.athrow(KeyError()) == "caught"
        await s.aclose()

    asyncio.run(main())
    g = generator(2)
    assert (next(g), g.send("a")) == (0, 1)
    with pytest.raises(StopIteration) as stop:
        g.send("b")
    assert stop.value.value == ["a", "b"]
    assert inspect.iscoroutinefunction(coroutine)
    assert inspect.isgeneratorfunction(generator)
    assert inspect.isasyncgenfunction(stream)
    tree = measured()["<main>"]
    assert {name: row.count for name, row in tree.children.items()} == {
        "coroutine()": 1,
        "generator()": 1,
        "stream()": 2,
    }
    assert all(row.open == 0 for row in tree.all_rows())


def test_recursion_of_a_global_region_across_coroutines_counts_once(clock):
    async def query(depth):
        with sonde.region("db", asglobal=True):
            clock.now += 1
            if depth:
                await query(depth - 1)

    asyncio.run(query(3))
    row = clock.trees()["<main>"]["db"]
    assert (row.count, row.total_ns) == (1, 4e9)


def test_generators_handed_to_another_thread(measured):
    import threading

    def generator():
        with sonde.region("gen"):
            for i in range(4):
                with sonde.region("item"):
                    yield i

    g = generator()
    next(g)
    thread = threading.Thread(target=lambda: [next(g), next(g)], name="other")
    thread.start()
    thread.join()
    assert list(g) == [3]
    trees = measured()
    items = sum(row.count for tree in trees.values() for row in tree.all_rows() if row.name == "item")
    assert items == 4
    assert all(row.open == 0 for tree in trees.values() for row in tree.all_rows())
    assert trees["<main>"]["gen"].count == 1


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
def test_without_a_free_monitoring_tool_the_report_says_so(tmp_path):
    done = Sonde(tmp_path).python(
        """
        import sys, sonde
        for number in range(6):
            sys.monitoring.use_tool_id(number, "taken")
        def generator():
            with sonde.region("gen"):
                yield
        sonde.install()
        list(generator())
        """
    )
    assert "waiting time of tasks is unknown: all tools of sys.monitoring are taken" in done.stderr


def test_uninstall_gives_back_what_it_patched(measured):
    def generator():
        with sonde.region("gen"):
            yield

    list(generator())
    rp.uninstall()
    monitoring = getattr(__import__("sys"), "monitoring", None)
    if monitoring is not None:
        assert all(monitoring.get_tool(number) != "sonde regions" for number in range(6))
    assert list(generator()) == [None]
