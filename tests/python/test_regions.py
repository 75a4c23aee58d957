"""What counts, where it hangs, and how often."""

import copy
import inspect
import pickle

import pytest

import sonde
import sonde.regions as rp

pytestmark = pytest.mark.interpreter


def test_both_modules_have_the_same_functions():
    names = ("install", "region", "func", "iter_proxy", "push", "pop", "report", "reset", "uninstall")
    assert all(getattr(sonde, name) is getattr(rp, name) for name in names)


@pytest.mark.quick
def test_regions_nest_and_their_self_times_add_up(clock):
    with sonde.region("outer"):
        clock.now += 1
        for _ in range(3):
            with sonde.region("inner"):
                clock.now += 2
        clock.now += 4
    main = clock.trees()["<main>"]
    assert (main["outer"].total_ns, main["outer"].self_ns, main["outer"].count) == (11e9, 5e9, 1)
    assert (main["outer"]["inner"].total_ns, main["outer"]["inner"].count) == (6e9, 3)
    assert sum(row.self_ns for row in main.all_rows()) == main.total_ns


def test_a_global_region_gathers_all_callers(clock):
    def shared():
        with sonde.region("shared", asglobal=True):
            clock.now += 1
            with sonde.region("below"):
                clock.now += 1

    for name in ("a", "b"):
        with sonde.region(name):
            shared()
    main = clock.trees()["<main>"]
    assert set(main.children) == {"a", "b", "shared"}
    assert (main["shared"].count, main["shared"].total_ns) == (2, 4e9)
    assert main["shared"]["below"].total_ns == 2e9
    assert main["a"].total_ns == 2e9 and main["a"].self_ns == 0
    assert sum(row.self_ns for row in main.all_rows()) == main.total_ns


@pytest.mark.parametrize("keyword", ["asglobal", "as_global"])
def test_recursion_into_a_global_region_counts_once(clock, keyword):
    def visit(depth):
        with sonde.region("visit", **{keyword: True}):
            clock.now += 1
            with sonde.region("other", **{keyword: True}):
                if depth:
                    visit(depth - 1)

    visit(4)
    main = clock.trees()["<main>"]
    assert (main["visit"].count, main["visit"].total_ns, main["visit"].self_ns) == (1, 5e9, 5e9)
    assert (main["other"].count, main["other"].total_ns) == (1, 4e9)
    assert sum(row.self_ns for row in main.all_rows()) == main.total_ns


@pytest.mark.quick
def test_recursion_makes_a_tree(clock):
    @sonde.func()
    def fib(n):
        clock.now += 1
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    fib(4)
    row = clock.trees()["<main>"]["fib()"]
    counts = []
    while row:
        counts.append(row.count)
        row = row.children.get("fib()")
    assert counts == [1, 2, 4, 2]


@pytest.mark.quick
def test_an_exception_closes_its_regions(clock):
    with pytest.raises(ZeroDivisionError), sonde.region("outer"), sonde.region("inner"):
        sonde.push("pushed")
        clock.now += 1
        1 / 0  # noqa: B018
    with sonde.region("next"):
        clock.now += 1
    main = clock.trees()["<main>"]
    assert set(main.children) == {"outer", "next"}
    assert main["outer"]["inner"]["pushed"].count == 1
    assert all(row.open == 0 for row in main.all_rows())


def test_automatic_names_say_function_and_place(measured):
    def f():
        with sonde.region():
            pass
        for _ in sonde.iter_proxy([1, 2]):
            pass

    f()
    f()
    first = inspect.getsourcelines(f)[1]
    main = measured()["<main>"]
    assert {name: row.count for name, row in main.children.items()} == {
        f"f() <test_regions.py:{first + 1}>": 2,
        f"f() <test_regions.py:{first + 3}>": 4,
    }


def test_iter_proxy_times_every_next_and_not_the_end(clock):
    def slow():
        for i in range(3):
            clock.now += 1
            yield i
        clock.now += 10

    proxy = sonde.iter_proxy(slow(), "fetch")
    assert list(proxy) == [0, 1, 2]
    main = clock.trees()["<main>"]
    assert (main["fetch"].count, main["fetch"].total_ns, main["fetch"].max_ns) == (3, 3e9, 1e9)
    assert (main["fetch"].self_ns, main.self_ns) == (3e9, 10e9)


def test_iter_proxy_keeps_len_attributes_and_can_be_walked_again(measured):
    class Loader:
        batch = 8

        def __len__(self):
            return 3

        def __iter__(self):
            return iter("abc")

    proxy = sonde.iter_proxy(Loader(), name="fetch")
    assert (len(proxy), proxy.batch, bool(proxy)) == (3, 8, True)
    assert [list(proxy), list(proxy)] == [list("abc")] * 2
    assert next(proxy, None) is None
    with pytest.raises(TypeError):
        len(sonde.iter_proxy(x for x in ()))
    assert bool(sonde.iter_proxy(x for x in ()))
    assert measured()["<main>"]["fetch"].count == 6


def test_iter_proxy_passes_exceptions_on(measured):
    def bad():
        yield 1
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        list(sonde.iter_proxy(bad(), "fetch"))
    assert measured()["<main>"]["fetch"].count == 2


@pytest.mark.quick
def test_push_and_pop(clock):
    sonde.push("a")
    sonde.push("b")
    clock.now += 1
    sonde.pop()
    sonde.pop()
    main = clock.trees()["<main>"]
    assert main["a"]["b"].total_ns == 1e9


def test_a_region_can_be_a_decorator_and_be_used_again(measured):
    @sonde.region("decorated")
    def f(x):
        return x + 1

    again = sonde.region("again")
    for _ in range(2):
        with again:
            assert f(1) == 2
    main = measured()["<main>"]
    assert main["again"].count == 2
    assert main["again"]["decorated"].count == 2


def module_level(a: int, *, b: str = "x") -> str:
    """Says b a times."""
    return b * a


wrapped = rp.func()(module_level)


def test_func_keeps_what_the_function_is():
    assert (wrapped.__name__, wrapped.__doc__) == ("module_level", "Says b a times.")
    assert inspect.signature(wrapped) == inspect.signature(module_level)
    assert wrapped.__wrapped__ is module_level
    assert wrapped.__annotations__ == module_level.__annotations__
    assert copy.deepcopy(wrapped) is wrapped
    assert wrapped(2, b="y") == "yy"
    with pytest.raises(TypeError, match="b"):
        wrapped(2, "y")


def test_func_can_be_pickled_by_name(monkeypatch):
    monkeypatch.setitem(globals(), "module_level", wrapped)
    assert pickle.loads(pickle.dumps(wrapped)) is wrapped


def test_func_on_methods_of_all_kinds(measured):
    class Thing:
        @rp.func()
        def method(self, x):
            return (self, x)

        @classmethod
        @rp.func()
        def inner_class(cls):
            return cls

        @rp.func()
        @classmethod
        def outer_class(cls):
            return cls

        @rp.func("named")
        @staticmethod
        def static(x):
            return x

        @rp.func
        def bare(self):
            return 1

    thing = Thing()
    assert thing.method(1) == (thing, 1)
    assert Thing.method(thing, x=2) == (thing, 2)
    assert Thing.inner_class() is Thing and thing.outer_class() is Thing
    assert Thing.static(3) == 3 and thing.bare() == 1
    counts = {name: row.count for name, row in measured()["<main>"].children.items()}
    assert counts == {"method()": 2, "inner_class()": 1, "outer_class()": 1, "named()": 1, "bare()": 1}


def test_func_on_what_only_looks_like_a_coroutine_function(measured):
    import asyncio
    import functools

    async def slow():
        return 7

    @functools.wraps(slow)
    def run():
        return asyncio.run(slow())

    assert rp.func()(run)() == 7
    assert asyncio.run(rp.func("partial")(functools.partial(slow))()) == 7
    assert {name: row.count for name, row in measured()["<main>"].children.items()} == {"slow()": 1, "partial()": 1}


def test_the_place_of_a_function_is_its_definition(measured):
    @rp.func()
    def somewhere():
        pass

    somewhere()
    line = inspect.getsourcelines(somewhere)[1]
    assert measured()["<main>"]["somewhere()"].place.endswith(f"test_regions.py:{line}")


def test_nothing_counts_when_nothing_is_installed():
    rp.uninstall()
    with sonde.region("x"), sonde.region():
        sonde.push("y")
        sonde.pop()
    sonde.pop()
    assert list(sonde.iter_proxy([1, 2], "z")) == [1, 2]
    assert wrapped(1) == "x"
    with pytest.raises(RuntimeError, match="install"):
        rp.report()


def test_reset_forgets_and_open_regions_count_from_then(clock):
    with sonde.region("open"):
        with sonde.region("gone"):
            clock.now += 5
        clock.now += 1
        rp.reset()
        clock.now += 2
        with sonde.region("new"):
            clock.now += 1
    main = clock.trees()["<main>"]
    assert set(main.children) == {"open"} and set(main["open"].children) == {"new"}
    assert (main.total_ns, main["open"].total_ns, main["open"].count, main["open"].min_ns) == (3e9, 3e9, 1, 3e9)
    assert sum(row.self_ns for row in main.all_rows()) == main.total_ns


def test_an_open_region_counts_up_to_now(clock):
    with sonde.region("open"):
        clock.now += 2
        row = clock.trees()["<main>"]["open"]
        assert (row.count, row.open, row.total_ns, row.average_ns, row.self_ns) == (1, 1, 2e9, 2e9, 2e9)


def test_a_second_install_keeps_what_was_counted(measured):
    with sonde.region("first"):
        pass
    silent = rp.SilentReporter(columns=("name", "count"))
    rp.install(reporter=silent)
    with sonde.region("second"):
        pass
    rp.report()
    assert silent.rows[0] == ["name", "count"]
    assert sorted(silent.rows[2:]) == [["first", "1"], ["second", "1"]]


def test_ten_thousand_levels_deep(sonde):
    sonde.python(
        """
        import sys, threading, sonde
        sys.setrecursionlimit(50_000)
        threading.stack_size(512 << 20)
        sonde.install(reporter=sonde.SilentReporter(), recording="r.sonde")
        def deep(n):
            with sonde.region("deep"):
                return deep(n - 1) if n else 0
        thread = threading.Thread(target=deep, args=(9_999,), name="diver")
        thread.start()
        thread.join()
        """
    )
    rows = sonde.export("r.sonde")["rows"]
    assert max(row["depth"] for row in rows) == 10_000
    diver = [row for row in rows if row["thread"] == "diver"]
    assert sum(row["self_ns"] for row in diver) == pytest.approx(diver[0]["total_ns"], abs=10_001)


@pytest.mark.slow
def test_millions_of_entries_take_constant_memory(sonde):
    done = sonde.python(
        """
        import resource, sonde
        sonde.install(reporter=sonde.SilentReporter())
        def run(n):
            push, pop = sonde.push, sonde.pop
            for i in range(n):
                push("a")
                with sonde.region("b"):
                    pass
                pop()
        run(10_000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        run(5_000_000)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        """
    )
    assert int(done.stdout) < 512  # KiB, for ten million entries


def test_debug_mode_prints_enter_and_leave(sonde):
    done = sonde.python(
        """
        import sonde
        class Timer:
            now = 5.0
            def start(self):
                Timer.now += 0.001
            def begin_ts(self):
                return Timer.now
        sonde.install(reporter=sonde.SilentReporter(), debug_mode=True, timer_cls=Timer)
        with sonde.region("outer"):
            with sonde.region("inner"):
                pass
        """
    )
    lines = done.stderr.splitlines()
    assert [line.split(" at ")[0] for line in lines] == [
        "sonde: entered outer",
        "sonde: entered inner",
        "sonde: left inner",
        "sonde: left outer",
    ]
    assert lines[2].endswith(" after 1.000 ms")
    assert lines[3].endswith(" after 3.000 ms")


def test_two_threads_of_one_name_are_both_in_the_tree(measured):
    import threading

    def work():
        with sonde.region("work"):
            pass

    for _ in range(2):
        thread = threading.Thread(target=work, name="twin")
        thread.start()
        thread.join()
    kept = []

    class Mine:
        def dump_profiler(self, profiler):
            kept.append(profiler.root)

    rp.install(reporter=Mine())
    rp.report()
    twins = [node for name, node in kept[0].children.items() if name.startswith("<twin>")]
    assert [list(node.children) for node in twins] == [["work"], ["work"]]
