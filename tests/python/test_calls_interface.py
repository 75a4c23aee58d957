"""The interface of the standard profiler, and what happens around it: timers, other profilers, deep stacks, forks."""

import asyncio
import contextlib
import cProfile
import functools
import gc
import importlib.util
import io
import marshal
import os
import pstats
import sys
import threading
import traceback
import types
import weakref

import pytest

import sonde.tracing
from sonde import profiler
from sonde.tracing import Profile

KEY = {"key": int}
HAS_MONITORING = sys.version_info >= (3, 12)

both_kinds = pytest.mark.parametrize("builtins", [True, False], ids=["builtins", "python only"])


def leaf():
    pass


def branch():
    leaf()
    leaf()


def counts(profile):
    """How often the functions of each name were called."""
    profile.create_stats()
    found = {}
    for label, row in profile.stats.items():
        found[label[2]] = found.get(label[2], 0) + row[1]
    return found


def entry_of(profile, code):
    (found,) = (entry for entry in profile.getstats() if entry.code == code)
    return found


@pytest.fixture(autouse=True)
def nothing_is_left_running():
    """A profile that a failed test left behind would fail all that come after."""
    yield
    try:
        with Profile():
            pass
    except (ValueError, RuntimeError):
        for left in gc.get_objects():
            if isinstance(left, Profile | profiler.Profile):
                left.disable()


# The object


def test_an_empty_profile_has_no_entries():
    assert Profile().getstats() == []
    profile = Profile()
    profile.create_stats()
    assert profile.stats == {}


def test_enable_and_disable_leave_no_trace_of_themselves():
    for make in (Profile, profiler.Profile):
        profile = make()
        profile.enable()
        profile.disable()
        assert counts(profile) == {}


def test_the_arguments_are_those_of_the_standard_profiler():
    profile = Profile(None, 0.0, True, True)
    profile.enable(subcalls=True, builtins=False)
    branch()
    len("")
    profile.disable()
    assert counts(profile) == {"branch": 1, "leaf": 2}
    profile.enable(True, True)
    len("")
    profile.disable()
    assert counts(profile) == {"branch": 1, "leaf": 2, "<built-in method builtins.len>": 1}


def test_without_subcalls_there_are_no_callers():
    with Profile(subcalls=False) as profile:
        branch()
    assert all(entry.calls is None for entry in profile.getstats())
    assert counts(profile) == {"branch": 1, "leaf": 2}
    assert all(row[4] == {} for row in profile.stats.values())


def test_unknown_arguments_are_refused():
    for make in (
        lambda: Profile(nonsense=1),
        lambda: Profile().enable(nonsense=1),
        lambda: Profile(timeunit="long"),
        lambda: Profile(include=[5]),
        lambda: Profile(1, 2, 3, 4, 5, 6),
    ):
        with pytest.raises((TypeError, OverflowError, ValueError)):
            make()


def test_a_negative_limit_is_refused():
    with pytest.raises((ValueError, OverflowError)):
        Profile(limit=-1)


def test_entries_have_the_fields_of_the_standard_profiler():
    def fall(depth):
        if depth:
            fall(depth - 1)
        len("")

    with Profile() as profile:
        fall(3)
        branch()
    fall_entry = entry_of(profile, fall.__code__)
    assert (fall_entry.callcount, fall_entry.reccallcount) == (4, 3)
    assert fall_entry.totaltime >= fall_entry.inlinetime > 0
    assert {(call.code, call.callcount, call.reccallcount) for call in fall_entry.calls} == {
        (fall.__code__, 3, 2),
        ("<built-in method builtins.len>", 4, 0),
    }
    assert all(call.totaltime >= call.inlinetime >= 0 for call in fall_entry.calls)
    assert entry_of(profile, leaf.__code__).calls is None
    assert fall_entry[:3] == (fall.__code__, 4, 3)  # it is a tuple as well
    assert len(fall_entry) == 6
    assert len(fall_entry.calls[0]) == 5


def test_results_can_be_had_while_it_runs():
    profile = Profile()
    profile.enable()
    branch()
    profile.snapshot_stats()
    first = {label[2]: row[1] for label, row in profile.stats.items()}
    branch()
    profile.disable()
    assert (first["branch"], first["leaf"]) == (1, 2)
    assert counts(profile)["branch"] == 2


def test_clear_forgets_everything():
    with Profile() as profile:
        branch()
    profile.clear()
    assert profile.getstats() == []
    with profile:
        leaf()
    assert counts(profile) == {"leaf": 1}


@both_kinds
def test_clear_while_calls_are_open(builtins):
    profile = Profile(builtins=builtins)

    def inner():
        leaf()
        profile.clear()
        leaf()

    def outer():
        inner()
        branch()

    with profile:
        outer()
    found = counts(profile)
    assert found["leaf"] == 3
    assert found["branch"] == 1


def test_enabling_twice_is_enabling_once():
    profile = Profile()
    profile.enable()
    profile.enable()
    leaf()
    profile.disable()
    leaf()
    profile.disable()
    assert counts(profile) == {"leaf": 1}


def test_a_second_profile_is_refused_by_name():
    class Mine(Profile):
        pass

    with Mine() as first:
        second = Profile()
        with pytest.raises(ValueError, match=r"another profile of calls \(.*Mine\).*one.*at a time"):
            second.enable()
        leaf()
    second.enable()
    leaf()
    second.disable()
    assert counts(first)["leaf"] == 1
    assert counts(second) == {"leaf": 1}


def test_an_error_in_enable_leaves_the_first_running():
    with Profile() as first:
        with contextlib.suppress(ValueError):
            Profile().enable()
        leaf()
    assert counts(first)["leaf"] == 1


def test_run_and_its_kin(tmp_path, capsys):
    names = {"leaf": leaf}
    assert counts(Profile().runctx("leaf()", names, {}))["leaf"] == 1
    profile = Profile()
    assert profile.runcall(divmod, 7, 2) == (3, 1)
    assert Profile().runcall(lambda *, func, self: (func, self), func=1, self=2) == (1, 2)
    sys.modules["__main__"].__dict__["a_function_of_main"] = leaf
    try:
        assert counts(Profile().run("a_function_of_main()"))["leaf"] == 1
        profiler.run("a_function_of_main()", str(tmp_path / "out.prof"))
    finally:
        del sys.modules["__main__"].__dict__["a_function_of_main"]
    assert any("leaf" in label[2] for label in pstats.Stats(str(tmp_path / "out.prof")).stats)
    profiler.runctx("leaf()", names, {}, sort="calls")
    sonde.tracing.runctx("leaf()", names, {})
    assert capsys.readouterr().out.count("leaf") == 2


def test_a_c_function_may_be_run_by_runcall():
    profile = Profile()
    profile.runcall(divmod, 7, 2)
    assert counts(profile) == {"<built-in method builtins.divmod>": 1}


def test_run_shows_what_the_standard_profiler_shows():
    def rows(profile):
        return {name: count for name, count in counts(profile).items() if "_lsprof" not in name}

    names = {"branch": branch}
    assert rows(Profile().runctx("branch(); len('')", names, {})) == rows(
        cProfile.Profile().runctx("branch(); len('')", names, {})
    )


def test_a_program_that_exits_is_shown_all_the_same(capsys):
    sonde.tracing.runctx("leaf(); raise SystemExit(3)", {"leaf": leaf}, {})
    assert "(leaf)" in capsys.readouterr().out


def test_a_statement_that_fails_stops_the_profile():
    profile = Profile()
    with pytest.raises(ZeroDivisionError):
        profile.runctx("leaf(); 1 / 0", {"leaf": leaf}, {})
    assert not profile.is_enabled()
    with pytest.raises(KeyError):
        profile.runcall({}.__getitem__, 1)
    assert not profile.is_enabled()
    with pytest.raises(ValueError), profile:  # noqa: PT012
        raise ValueError
    assert not profile.is_enabled()
    assert counts(profile)["leaf"] == 1


def test_with_gives_the_profile():
    profile = Profile()
    with profile as same:
        assert same is profile


# pstats


def test_pstats_reads_the_profile_and_its_file(tmp_path):
    with Profile() as profile:
        branch()
    path = tmp_path / "run.prof"
    profile.dump_stats(path)
    profile.dump_stats(str(path))
    for given in (profile, str(path)):
        out = io.StringIO()
        stats = pstats.Stats(given, stream=out)
        stats.strip_dirs().sort_stats("cumulative", "name").print_stats("branch|leaf")
        stats.print_callers("leaf")
        stats.print_callees("branch")
        assert stats.total_calls == 3
        assert "test_calls_interface.py:" in out.getvalue()
    assert set(marshal.loads(path.read_bytes())) == set(pstats.Stats(profile).stats)
    assert pstats.Stats(profile, str(path)).total_calls == 6
    assert pstats.Stats(profile).get_stats_profile().func_profiles["leaf"].ncalls == "2"


def test_recursion_is_shown_as_total_and_primitive(capsys):
    def fall(depth):
        if depth:
            fall(depth - 1)

    with Profile() as profile:
        fall(9)
    profile.print_stats()
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "(fall)" in line)
    assert line.split()[0] == "10/1"


def test_the_table_is_that_of_pstats(capsys):
    with profiler.Profile() as profile:
        branch()
    for sort in (-1, 0, "tottime", pstats.SortKey.CALLS, ("calls", "name"), ("cumulative",)):
        profile.print_stats(sort)
        out = capsys.readouterr().out
        assert "ncalls  tottime  percall  cumtime  percall filename:lineno(function)" in out
        assert "test_calls_interface.py:" in out
        assert "(leaf())" in out
        assert "sonde" not in out
        assert "disable" not in out


def test_a_sort_key_that_does_not_exist_is_refused():
    with Profile() as profile:
        leaf()
    for bad in ("speed", ("calls", "speed"), "c"):
        with pytest.raises((KeyError, AttributeError)):
            profile.print_stats(bad)


def test_labels_with_signatures_are_in_the_file_too(tmp_path):
    def work(a, *, b):
        pass

    with profiler.Profile() as profile:
        work(1, b="two")
        work(1.5, b=None)
    profile.dump_stats(tmp_path / "run.prof")
    names = {label[2] for label in pstats.Stats(str(tmp_path / "run.prof")).stats}
    assert names == {"work(a:int, b:str)", "work(a:float, b:None)"}


def test_the_sum_over_signatures_is_the_function():
    def work(a):
        leaf()

    with profiler.Profile() as profile:
        for value in (1, 2, "x", None):
            work(value)
    found = counts(profile)
    assert {name: found[name] for name in found if name.startswith("work")} == {
        "work(a:int)": 2,
        "work(a:str)": 1,
        "work(a:None)": 1,
    }
    (callers,) = (row[4] for label, row in profile.stats.items() if label[2] == "leaf()")
    assert {caller[2]: pair[0] for caller, pair in callers.items()} == {
        "work(a:int)": 2,
        "work(a:str)": 1,
        "work(a:None)": 1,
    }


# Timers


class Ticks:
    """A timer that goes on by one at each question."""

    def __init__(self, step=1):
        self.now = 0
        self.step = step

    def __call__(self):
        self.now += self.step
        return self.now


class Hand:
    """A timer that is moved by hand."""

    now = 0

    def __call__(self):
        return self.now


@both_kinds
@pytest.mark.parametrize("unit", [0.0, 1.0, 0.5, 1e-3, 1e-6])
def test_a_timer_with_a_unit_gives_exact_times(builtins, unit):
    hand = Hand()

    def inner():
        hand.now += 3

    def outer():
        hand.now += 2
        inner()

    with Profile(hand, unit, builtins=builtins, exclude="Hand.*") as profile:
        outer()
    scale = unit or 1.0
    entry = entry_of(profile, outer.__code__)
    assert (entry.totaltime, entry.inlinetime) == pytest.approx((5 * scale, 2 * scale))
    entry = entry_of(profile, inner.__code__)
    assert (entry.totaltime, entry.inlinetime) == pytest.approx((3 * scale, 3 * scale))


def test_a_timer_may_give_floats_and_be_written_in_c():
    import time

    for timer in (time.perf_counter, time.process_time, time.thread_time, lambda: 1.5, Ticks(0.25)):
        with Profile(timer) as profile:
            branch()
        assert counts(profile)["leaf"] == 2
        assert all(entry.totaltime >= 0 for entry in profile.getstats())


@both_kinds
def test_a_timer_is_no_part_of_the_program(builtins):
    def timer():
        leaf()
        return len("") + 1

    with Profile(timer, builtins=builtins) as profile:
        branch()
    found = counts(profile)
    assert (found["branch"], found["leaf"]) == (1, 2)
    assert "timer" not in found
    assert "<built-in method builtins.len>" not in found


@pytest.mark.parametrize("timer", [5, "clock", object()], ids=str)
def test_a_timer_that_cannot_be_called_is_refused(timer):
    with pytest.raises(TypeError, match="callable"):
        Profile(timer)


@both_kinds
@pytest.mark.parametrize("junk", [None, "soon", [1], 1j], ids=str)
def test_a_timer_that_gives_junk_is_reported_and_the_counts_stay_right(builtins, junk, monkeypatch):
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda about: reported.append(about.exc_type))
    with Profile(lambda: junk, builtins=builtins) as profile:
        branch()
    assert reported
    assert set(reported) == {TypeError}
    found = counts(profile)
    assert (found["branch"], found["leaf"]) == (1, 2)


@both_kinds
def test_a_timer_that_raises_is_reported_and_the_program_goes_on(builtins, monkeypatch):
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda about: reported.append((about.exc_type, str(about.exc_value))))

    def broken():
        raise RuntimeError("no time")

    with Profile(broken, builtins=builtins) as profile:
        branch()
    assert set(reported) == {(RuntimeError, "no time")}
    assert counts(profile)["leaf"] == 2


@both_kinds
@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), float("-inf"), -5.0, 1e300, 10**400], ids=lambda v: str(v)[:8]
)
def test_a_timer_out_of_its_mind_does_no_harm(builtins, value, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda about: None)
    values = iter([1.0, value] * 100)
    with Profile(lambda: next(values), builtins=builtins) as profile:
        branch()
    assert counts(profile)["leaf"] == 2


@both_kinds
def test_a_timer_that_goes_back_gives_no_negative_times(builtins):
    with Profile(Ticks(-1), builtins=builtins) as profile:
        branch()
    assert all(entry.totaltime >= 0 and entry.inlinetime >= 0 for entry in profile.getstats())


@both_kinds
def test_a_timer_that_ends_the_profile_does_no_harm(builtins):
    profile = Profile(lambda: profile.disable() or 1, builtins=builtins)
    profile.enable()
    branch()
    profile.disable()
    assert not profile.is_enabled()
    profile = Profile(lambda: profile.clear() or 1, builtins=builtins)
    with profile:
        branch()
    profile = Profile(lambda: profile.getstats() and 1 or 1, builtins=builtins)
    with profile:
        branch()
    assert counts(profile)["leaf"] == 2


@both_kinds
@pytest.mark.parametrize("what", ["disable", "clear"])
@pytest.mark.parametrize("turn", [1, 2, 3])
def test_a_timer_may_not_end_or_empty_its_profile(builtins, what, turn, monkeypatch):
    """As the standard profiler has it since 3.13."""
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda about: reported.append(about.exc_type))
    asked = 0

    def timer():
        nonlocal asked
        asked += 1
        if asked == turn:
            getattr(profile, what)()
        return asked

    profile = Profile(timer, builtins=builtins)
    profile.enable()
    branch()
    profile.disable()
    assert counts(profile)["leaf"] == 2
    assert reported == [RuntimeError]


def test_a_timer_that_is_no_good_is_reported_though_nothing_is_called(monkeypatch):
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda about: reported.append(about.exc_type))
    profile = Profile(lambda: int)
    profile.enable()
    profile.disable()
    profile.clear()
    assert reported
    assert set(reported) == {TypeError}


@both_kinds
@pytest.mark.parametrize("how", ["pop().disable", "clear"])
def test_a_timer_that_drops_its_profile_does_not_crash(sonde, builtins, how):
    done = sonde.python(
        """
        import gc, sys
        from sonde import profiler, tracing
        sys.unraisablehook = lambda about: None

        def leaf():
            pass

        for turn in range(1, 9):
            left = turn
            def timer():
                global left
                left -= 1
                if left == 0 and box:
                    box.HOW()
                    gc.collect()
                return 1.0
            box = [tracing.Profile(timer, builtins=sys.argv[1] == "yes")]
            box[0].enable()
            leaf()
            len("")
            leaf()
            box.clear()
            for thing in gc.get_objects():
                if isinstance(thing, profiler.Profile):
                    thing.disable()
            thing = None
        print("fine")
        """.replace("HOW", how),
        "yes" if builtins else "no",
        env={"MALLOC_PERTURB_": "165"},
    )
    assert done.stdout == "fine\n"


def test_a_timer_that_is_a_cycle_with_its_profile_is_collected():
    class Timer:
        def __call__(self):
            return 1

    timer = Timer()
    profile = Profile(timer)
    timer.profile = profile
    died = weakref.ref(timer)
    with profile:
        leaf()
    del timer, profile
    gc.collect()
    assert died() is None


@both_kinds
def test_a_profile_that_dies_while_it_runs_stops(builtins):
    profile = Profile(builtins=builtins)
    profile.enable()
    leaf()
    del profile
    gc.collect()
    leaf()
    with Profile(builtins=builtins) as other:
        leaf()
    assert counts(other)["leaf"] == 1


@both_kinds
def test_a_running_profile_in_a_cycle_stops_when_it_is_collected(builtins):
    class Holder:
        pass

    holder = Holder()
    holder.profile = Profile(builtins=builtins)
    holder.self = holder
    holder.profile.enable()
    leaf()
    died = weakref.ref(holder)
    del holder
    gc.collect()
    assert died() is None
    with Profile(builtins=builtins) as other:
        leaf()
    assert counts(other)["leaf"] == 1


def test_an_object_may_be_made_anew():
    profile = Profile()
    profile.enable()
    profile.__init__(builtins=False)
    assert not profile.is_enabled()
    with profile:
        len("")
        leaf()
    assert counts(profile) == {"leaf": 1}


# What is called


def test_a_method_of_c_has_its_own_name_though_a_class_overrides_it():
    class Noisy(set):
        def intersection_update(self, other):
            super().intersection_update(other)

    with Profile() as profile:
        Noisy().intersection_update(())
    with Profile() as again:
        set().intersection_update(())
    name = "<method 'intersection_update' of 'set' objects>"
    assert counts(again) == {name: 1}
    assert counts(profile)[name] == 1


def test_names_of_c_functions_are_those_of_the_standard_profiler():
    import math
    import time

    def use():
        len("")
        [].append(1)
        math.sqrt(2)
        time.monotonic()
        {}.get(1)
        "a".join([])
        dict.fromkeys([])
        str.upper("a")
        object.__new__(object)
        (5).bit_length()
        type.mro(int)
        b"".hex()
        sys.stdout.write("")
        [1, 2].__len__()
        isinstance(1, int)
        getattr(1, "real")  # noqa: B009

    with cProfile.Profile() as theirs:
        use()
    with Profile() as ours:
        use()
    expected = {
        name: count for name, count in counts(theirs).items() if "_lsprof" not in name and "_pytest" not in name
    }
    found = counts(ours)
    assert {name: found.get(name) for name in expected if name.startswith("<")} == {
        name: expected[name] for name in expected if name.startswith("<")
    }


def test_every_way_to_call_a_c_function_is_seen():
    def use():
        max([0])
        max([0], key=int)
        max([0], **KEY)
        max(*([0],))
        max(*([0],), key=int)
        max(*([0],), **KEY)

    with Profile() as profile:
        use()
    assert counts(profile)["<built-in method builtins.max>"] == 6


def test_what_is_thrown_into_a_generator_that_has_not_started():
    def numbers():
        yield

    with Profile() as profile:
        generator = numbers()
        with contextlib.suppress(KeyError):
            generator.throw(KeyError())
    assert any("throw" in name for name in counts(profile))


def test_c_callables_that_the_standard_profiler_misses():
    def use():
        functools.partial(leaf)()
        list(range(2))
        int("5")

    with profiler.Profile() as profile:
        use()
    found = counts(profile)
    assert found["leaf()"] == 1
    if HAS_MONITORING:
        assert found["<type list>"] == found["<type int>"] == 1
        assert any("partial" in name for name in found)


def test_numpy_ufuncs_are_seen_where_the_version_allows():
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(4.0)
    with profiler.Profile() as profile:
        numpy.sin(array)
        numpy.sin(array)
        numpy.add(array, 1)
    found = counts(profile)
    if HAS_MONITORING:
        assert found["<ufunc 'sin'>"] == 2
        assert found["<ufunc 'add'>"] == 1


@both_kinds
def test_callbacks_of_c_code(builtins):
    def key(value):
        return -value

    def compare(a, b):
        return a - b

    def add(a, b=0):
        return a + b

    with Profile(builtins=builtins) as profile:
        list(map(key, range(10)))
        sorted(range(5), key=key)
        list(filter(key, range(3)))
        functools.reduce(add, range(5))
        functools.partial(add, 1)(2)
        sorted([2, 1], key=functools.cmp_to_key(compare))
        "".join(map(str, range(3)))
    found = counts(profile)
    assert (found["key"], found["add"], found["compare"]) == (18, 5, 1)


@both_kinds
def test_code_that_is_executed_and_evaluated(builtins):
    source = "def inner():\n    return leaf()\nfor _ in range(3):\n    inner()\n"
    with Profile(builtins=builtins) as profile:
        exec(compile(source, "<executed>", "exec"), {"leaf": leaf})
        eval("leaf()", {"leaf": leaf})
    found = counts(profile)
    assert (found["inner"], found["leaf"], found["<module>"]) == (3, 4, 2)
    assert ("<executed>", 1, "inner") in profile.stats


@both_kinds
def test_special_methods_and_class_bodies(builtins):
    class Thing:
        def __init__(self):
            self.value = 1

        def __add__(self, other):
            return self

        def __len__(self):
            return 3

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return True

        def __iter__(self):
            return iter(())

        def __del__(self):
            leaf()

        @property
        def size(self):
            return 1

    def use():
        thing = Thing()
        thing + thing
        len(thing)
        list(thing)
        with thing:
            raise ValueError
        return thing.size

    with Profile(builtins=builtins) as profile:
        use()

        class Body:
            pass

    found = counts(profile)
    names = ("__init__", "__add__", "__iter__", "__enter__", "__exit__", "__del__", "size", "leaf", "Body")
    assert {name: found[name] for name in names} == dict.fromkeys(names, 1)
    assert found["__len__"] >= 1


@both_kinds
def test_generators_that_are_closed_thrown_into_and_left_alone(builtins):
    def numbers():
        try:
            yield 1
            yield 2
        finally:
            leaf()

    def fail():
        yield 1
        raise KeyError

    with Profile(builtins=builtins) as profile:
        closed = numbers()
        next(closed)
        closed.close()
        thrown = numbers()
        next(thrown)
        with contextlib.suppress(ValueError):
            thrown.throw(ValueError())
        left = numbers()
        next(left)
        del left
        numbers()  # never started
        unstarted = numbers()
        with contextlib.suppress(ValueError):
            unstarted.throw(ValueError())
        with contextlib.suppress(KeyError):
            list(fail())
        branch()
    found = counts(profile)
    assert found["leaf"] == 3 + 2
    assert found["fail"] == 1
    assert found["numbers"] == 3


@both_kinds
def test_asynchronous_generators_that_are_closed(builtins):
    async def numbers():
        try:
            while True:
                yield 1
        finally:
            leaf()

    async def main():
        generator = numbers()
        async for _ in generator:
            break
        await generator.aclose()
        with contextlib.suppress(KeyError):
            other = numbers()
            await other.__anext__()
            await other.athrow(KeyError())
        return [number async for number in few()]

    async def few():
        yield 1
        yield 2

    with Profile(builtins=builtins) as profile:
        assert asyncio.run(main()) == [1, 2]
    found = counts(profile)
    assert (found["numbers"], found["few"], found["main"]) == (2, 1, 1)


@both_kinds
def test_cancelled_tasks_and_exceptions_across_awaits(builtins):
    async def sleeper():
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            leaf()
            raise

    async def failing():
        await asyncio.sleep(0)
        raise KeyError

    async def main():
        task = asyncio.create_task(sleeper())
        await asyncio.sleep(0)
        task.cancel()
        results = await asyncio.gather(task, failing(), return_exceptions=True)
        return [type(result) for result in results]

    with Profile(builtins=builtins) as profile:
        assert asyncio.run(main()) == [asyncio.CancelledError, KeyError]
    found = counts(profile)
    assert (found["sleeper"], found["failing"], found["main"]) == (1, 1, 1)


@both_kinds
def test_exceptions_keep_their_traceback_and_context(builtins):
    def inner():
        raise ValueError("inner")

    def outer():
        try:
            inner()
        except ValueError as error:
            raise KeyError("outer") from error

    def catch(profile):
        try:
            if profile is None:
                outer()
            else:
                profile.runcall(outer)
        except KeyError as error:
            frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
            causes = [frame.name for frame in traceback.extract_tb(error.__cause__.__traceback__)]
            return frames[-1:], causes, error.__cause__ is error.__context__
        raise AssertionError

    assert catch(Profile(builtins=builtins)) == catch(None)
    assert catch(profiler.Profile(builtins=builtins)) == catch(None)
    assert sys.exc_info() == (None, None, None)


@both_kinds
def test_calls_inside_an_exception_handler_see_the_exception(builtins):
    seen = []

    def look():
        seen.append(sys.exc_info()[0])

    def main():
        try:
            raise ValueError
        except ValueError:
            look()
        look()

    with profiler.Profile(builtins=builtins):
        main()
    assert seen == [ValueError, None]


# Filters


@both_kinds
def test_only_what_is_included_is_counted(builtins):
    with Profile(builtins=builtins, include=["leaf"]) as profile:
        branch()
        len("")
    assert counts(profile) == {"leaf": 2}
    with Profile(builtins=builtins, include="test_calls_*.py") as profile:
        branch()
        textwrap_dedent("  a")
    found = counts(profile)
    assert (found["branch"], found["leaf"], found["textwrap_dedent"]) == (1, 2, 1)
    assert "dedent" not in found


def textwrap_dedent(text):
    import textwrap

    return textwrap.dedent(text)


@both_kinds
def test_what_is_excluded_is_not_counted_and_what_it_calls_is(builtins):
    with Profile(builtins=builtins, exclude="branch") as profile:
        branch()
    found = counts(profile)
    assert found == {"leaf": 2}
    with Profile(builtins=builtins, exclude=["*/textwrap.py", "*/re/*.py", "l?af"]) as profile:
        branch()
        textwrap_dedent("  a")
    found = counts(profile)
    assert (found["branch"], found["textwrap_dedent"]) == (1, 1)
    assert "leaf" not in found
    assert "dedent" not in found


@both_kinds
def test_a_filter_holds_for_its_own_profile_only(builtins):
    for _ in range(3):
        with Profile(builtins=builtins, exclude="leaf") as filtered:
            branch()
        with Profile(builtins=builtins) as whole:
            branch()
        assert counts(filtered) == {"branch": 1}
        assert counts(whole) == {"branch": 1, "leaf": 2}


@both_kinds
def test_exclude_wins_over_include(builtins):
    with Profile(builtins=builtins, include=["branch", "leaf"], exclude=["leaf"]) as profile:
        branch()
    assert counts(profile) == {"branch": 1}


# Others at the same time


@pytest.mark.skipif(not HAS_MONITORING, reason="3.11 has one profile hook")
@both_kinds
@pytest.mark.parametrize("first", ["sonde", "cProfile"])
def test_the_standard_profiler_at_the_same_time(builtins, first):
    ours, theirs = Profile(builtins=builtins), cProfile.Profile()
    with contextlib.ExitStack() as stack:
        for profile in (ours, theirs) if first == "sonde" else (theirs, ours):
            stack.enter_context(profile)
        branch()
        len("")
    theirs.create_stats()
    assert counts(ours)["leaf"] == counts(theirs)["leaf"] == 2
    assert counts(theirs)["<built-in method builtins.len>"] >= 1
    if builtins:
        assert counts(ours)["<built-in method builtins.len>"] == 1


@pytest.mark.skipif(HAS_MONITORING, reason="3.11 has one profile hook")
def test_on_3_11_the_standard_profiler_that_came_first_is_named():
    with cProfile.Profile() as theirs:
        ours = Profile()
        with pytest.raises(RuntimeError, match="cProfile.Profile|_lsprof.Profiler|Profile"):
            ours.enable()
        branch()
        with Profile(builtins=False) as python_only:
            branch()
    assert counts(theirs)["leaf"] == 4
    assert counts(python_only) == {"branch": 1, "leaf": 2}
    assert counts(ours) == {}


@pytest.mark.skipif(HAS_MONITORING, reason="3.11 has one profile hook")
def test_on_3_11_the_standard_profiler_may_come_second_beside_python_calls():
    with Profile(builtins=False) as ours, cProfile.Profile() as theirs:
        branch()
    assert counts(ours)["leaf"] == counts(theirs)["leaf"] == 2


@pytest.mark.skipif(HAS_MONITORING, reason="3.11 has one profile hook")
def test_on_3_11_a_profile_hook_that_is_taken_away_does_no_harm():
    ours = Profile()
    ours.enable()
    leaf()
    with cProfile.Profile() as theirs:
        branch()
    ours.disable()
    assert counts(theirs)["leaf"] == 2
    assert counts(ours)["leaf"] >= 1
    assert sys.getprofile() is None


@both_kinds
def test_a_trace_function_of_the_program_goes_on(builtins):
    """As a debugger or a coverage tool on 3.11 has one."""
    lines = []

    def trace(frame, event, arg):
        if frame.f_code is branch.__code__:
            lines.append((event, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        branch()
        alone = list(lines)
        lines.clear()
        with Profile(builtins=builtins) as profile:
            branch()
        together = list(lines)
        lines.clear()
        branch()
    finally:
        sys.settrace(before)
    assert alone == together == lines
    assert len(alone) == 4
    assert counts(profile)["leaf"] == 2


@both_kinds
def test_a_trace_function_that_is_set_while_it_runs(builtins):
    seen = []

    def trace(frame, event, arg):
        seen.append(frame.f_code.co_name)

    before = sys.gettrace()
    with Profile(builtins=builtins) as profile:
        sys.settrace(trace)
        branch()
        sys.settrace(before)
        branch()
    assert seen.count("leaf") == 2
    assert counts(profile)["leaf"] == 4


@both_kinds
def test_a_profile_function_of_the_program(builtins):
    seen = []

    def hook(frame, event, arg):
        if event == "call":
            seen.append(frame.f_code.co_name)

    if not HAS_MONITORING and builtins:
        sys.setprofile(hook)
        try:
            with pytest.raises(RuntimeError, match="another profiler"):
                Profile(builtins=True).enable()
            assert sys.getprofile() is hook
        finally:
            sys.setprofile(None)
        return
    sys.setprofile(hook)
    try:
        with Profile(builtins=builtins) as profile:
            branch()
        assert sys.getprofile() is hook
        branch()
    finally:
        sys.setprofile(None)
    assert seen.count("leaf") == 4
    assert counts(profile)["leaf"] == 2


@pytest.mark.skipif(not HAS_MONITORING, reason="sys.monitoring is new in 3.12")
@both_kinds
def test_a_monitoring_tool_as_coverage_has_one(builtins):
    monitoring = sys.monitoring
    lines = []

    def on_line(code, line):
        if code is not branch.__code__:
            return monitoring.DISABLE
        lines.append(line)
        return None

    monitoring.use_tool_id(monitoring.COVERAGE_ID, "lines")
    try:
        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, on_line)
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE | monitoring.events.PY_START)
        branch()
        with Profile(builtins=builtins) as profile:
            branch()
        with Profile(builtins=builtins, exclude="leaf"):
            branch()
        branch()
        assert monitoring.get_tool(monitoring.COVERAGE_ID) == "lines"
    finally:
        monitoring.set_events(monitoring.COVERAGE_ID, 0)
        monitoring.free_tool_id(monitoring.COVERAGE_ID)
    assert len(lines) == 8
    assert counts(profile)["leaf"] == 2


@pytest.mark.skipif(not HAS_MONITORING, reason="sys.monitoring is new in 3.12")
def test_when_all_tools_are_taken_it_says_so():
    monitoring = sys.monitoring
    taken = []
    for tool in range(6):
        with contextlib.suppress(ValueError):
            monitoring.use_tool_id(tool, f"tool {tool}")
            taken.append(tool)
    try:
        with pytest.raises(RuntimeError, match="sys.monitoring"):
            Profile().enable()
    finally:
        for tool in taken:
            monitoring.free_tool_id(tool)
    with Profile() as profile:
        leaf()
    assert counts(profile)["leaf"] == 1


@pytest.mark.skipif(not HAS_MONITORING, reason="sys.monitoring is new in 3.12")
def test_it_leaves_no_tool_behind():
    before = [sys.monitoring.get_tool(tool) for tool in range(6)]
    with Profile():
        assert [sys.monitoring.get_tool(tool) for tool in range(6)] != before
    assert [sys.monitoring.get_tool(tool) for tool in range(6)] == before


@both_kinds
def test_regions_at_the_same_time(measured, builtins):
    with Profile(builtins=builtins) as profile:
        for _ in range(3):
            with sonde.region("work"):
                branch()
    assert measured()["<main>"]["work"].count == 3
    assert counts(profile)["leaf"] == 6


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@both_kinds
def test_torch_compile_goes_on(sonde, builtins):
    done = sonde.python(
        """
        import sys, torch
        from sonde.tracing import Profile
        compiled = torch.compile(lambda x: x * 2 + 1, backend="eager")
        def leaf(): pass
        with Profile(builtins=sys.argv[1] == "yes") as profile:
            for _ in range(3):
                leaf()
                assert compiled(torch.ones(3)).tolist() == [3.0, 3.0, 3.0]
        profile.create_stats()
        print(*(row[1] for label, row in profile.stats.items() if label[2] == "leaf"))
        """,
        "yes" if builtins else "no",
    )
    assert done.stdout.split() == ["3"]


# Threads, forks, interpreters


@both_kinds
def test_disable_from_another_thread(builtins):
    profile = Profile(builtins=builtins)

    def outer():
        leaf()
        thread = threading.Thread(target=profile.disable)
        thread.start()
        thread.join()
        leaf()

    profile.enable()
    outer()
    branch()
    assert not profile.is_enabled()
    found = counts(profile)
    assert (found["outer"], found["leaf"]) == (1, 1)
    assert "branch" not in found


@both_kinds
def test_enable_from_another_thread_is_for_all(builtins):
    profile = Profile(builtins=builtins)
    thread = threading.Thread(target=profile.enable)
    thread.start()
    thread.join()
    branch()
    profile.disable()
    assert counts(profile)["leaf"] == 2


def in_child(work):
    """What `work` gives in a fork, as text; the child never comes back into the test."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        told = "nothing"
        try:
            told = repr(work())
        except BaseException:
            told = traceback.format_exc()
        finally:
            os.write(writing, told.encode())
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        told = pipe.read().decode()
    assert os.waitpid(child, 0)[1] == 0
    return told


@both_kinds
def test_parent_and_child_of_a_fork_go_on(builtins):
    profile = Profile(builtins=builtins)

    def child():
        branch()
        profile.disable()
        found = counts(profile)
        return [found[name] for name in ("outer", "branch", "leaf")]

    def outer():
        leaf()
        told = in_child(child)
        leaf()
        return told

    with profile:
        assert outer() == "[1, 1, 3]"
    found = counts(profile)
    assert (found["outer"], found["leaf"]) == (1, 2)
    assert "branch" not in found


@both_kinds
def test_a_fork_while_other_threads_call(builtins):
    stop = threading.Event()
    profile = Profile(builtins=builtins)

    def busy():
        while not stop.is_set():
            branch()

    def child():
        for _ in range(100):
            branch()
        profile.disable()
        return counts(profile)["branch"] >= 100

    threads = [threading.Thread(target=busy, daemon=True) for _ in range(2)]
    with profile:
        for thread in threads:
            thread.start()
        told = [in_child(child) for _ in range(5)]
        stop.set()
        for thread in threads:
            thread.join()
    assert told == ["True"] * 5
    found = counts(profile)
    assert found["leaf"] == 2 * found["branch"]


def test_processes_of_a_pool(sonde):
    done = sonde.python(
        """
        import multiprocessing
        from sonde.tracing import Profile

        def work(n):
            return n * n

        if __name__ == "__main__":
            for method in ("fork", "spawn"):
                profile = Profile()
                with profile, multiprocessing.get_context(method).Pool(2) as pool:
                    print(sum(pool.map(work, range(20))))
        """
    )
    assert done.stdout.split() == ["2470", "2470"]


def test_another_interpreter_is_refused_cleanly(sonde):
    done = sonde.python(
        """
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        from sonde.tracing import Profile
        profile = Profile()
        profile.enable()
        other = interpreters.create()
        try:
            told = interpreters.run_string(other, "import sonde.tracing; sonde.tracing.Profile().enable()")
        except Exception as error:
            told = error
        print("ImportError" in repr(told) or "RuntimeError" in repr(told), "interpreter" in str(told))
        interpreters.run_string(other, "def f(): pass\\nfor _ in range(100): f()\\nlen('')")
        interpreters.destroy(other)
        profile.disable()
        """
    )
    assert done.stdout.split() == ["True", "True"], done.stdout + done.stderr


# Depth

DEEP = """
import sys, threading
from sonde import profiler, tracing

builtins, depth, stack_mb, signatures = sys.argv[1] == "yes", int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "yes"
sys.setrecursionlimit(100_000)

def fall(depth):
    return 1 + fall(depth - 1) if depth else 0

def fall_through_c(depth):
    return 1 + next(map(fall_through_c, [depth - 1])) if depth else 0

def after():
    pass

def main():
    profile = profiler.Profile(builtins=builtins, signatures=signatures)
    profile.enable()
    result = fall(depth)
    after()
    fall(10)
    fall_through_c(100)
    profile.disable()
    rows = {row["name"]: row for row in profile.profile().rows("functions")}
    row = rows["fall"]
    print(result, row["calls"], row["primitive_calls"], rows["after"]["calls"], rows["fall_through_c"]["calls"])

if stack_mb:
    threading.stack_size(stack_mb << 20)
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
else:
    main()
"""


@both_kinds
@pytest.mark.parametrize("signatures", ["yes", "no"], ids=["signatures", "plain"])
@pytest.mark.parametrize(
    ("depth", "stack_mb"), [(90_000, 0), (20_000, 512), (20_000, 16), (5_000, 1)], ids=["main", "512MB", "16MB", "1MB"]
)
def test_deep_recursion_is_counted_without_a_crash(sonde, builtins, depth, stack_mb, signatures):
    done = sonde.python(DEEP, "yes" if builtins else "no", str(depth), str(stack_mb), signatures)
    assert done.stdout.split() == [str(depth), str(depth + 1 + 11), "2", "1", "101"]


@both_kinds
def test_recursion_without_end_is_the_programs_error(sonde, builtins):
    done = sonde.python(
        """
        import sys
        from sonde.tracing import Profile
        profile = Profile(builtins=sys.argv[1] == "yes")

        def fall():
            fall()

        def after():
            pass

        with profile:
            for _ in range(3):
                try:
                    fall()
                except RecursionError:
                    after()
        profile.create_stats()
        rows = {label[2]: row for label, row in profile.stats.items()}
        print(rows["fall"][0], rows["fall"][1] > 2000, rows["after"][1], rows["after"][4])
        """,
        "yes" if builtins else "no",
    )
    assert done.stdout.split() == ["3", "True", "3", "{}"]


# What is left behind


@both_kinds
def test_no_argument_is_kept_alive(builtins):
    class Thing:
        pass

    def take(thing, *rest, named=None, **more):
        return thing

    for make in (Profile, profiler.Profile, functools.partial(profiler.Profile, returns=True)):
        things = [Thing() for _ in range(5)]
        died = [weakref.ref(thing) for thing in things]
        profile = make(builtins=builtins)
        profile.enable()
        take(things[0], things[1], [things[2]], named=things[3], other={"key": things[4]})
        things.clear()
        assert [ref() for ref in died] == [None] * 5
        profile.disable()


@both_kinds
def test_generators_die_as_they_would(builtins):
    def numbers(value):
        yield value

    class Thing:
        pass

    thing = Thing()
    died = weakref.ref(thing)
    with profiler.Profile(builtins=builtins):
        generator = numbers(thing)
        next(generator)
        del generator, thing
        assert died() is None


def test_a_profile_keeps_no_function_alive_when_it_is_gone():
    names = {}
    exec("def local():\n    pass\n", names)
    function, code = weakref.ref(names["local"]), weakref.ref(names["local"].__code__)
    profile = Profile()
    profile.runcall(names["local"])
    names.clear()
    assert function() is None
    del profile
    gc.collect()
    assert code() is None


LEAKS = """
import gc, os, sys
from sonde import profiler, tracing

def leaf(a, b=1, *c, **d):
    return a

def numbers(n):
    yield from range(n)

def work():
    leaf(1)
    leaf("a", c=[1, 2])
    list(numbers(3))
    len("")
    try:
        leaf()
    except TypeError:
        pass

def resident_kib():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024

def grown(cycle, times):
    for _ in range(times // 5):
        cycle()
    gc.collect()
    before = resident_kib(), len(gc.get_objects()), sys.getallocatedblocks()
    for _ in range(times):
        cycle()
    gc.collect()
    after = resident_kib(), len(gc.get_objects()), sys.getallocatedblocks()
    print(*(b - a for a, b in zip(before, after)))
"""


def grown(done):
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]


def test_a_thousand_profiles_leave_nothing(sonde):
    done = sonde.python(
        LEAKS
        + """
def cycle(builtins, signatures):
    profile = profiler.Profile(builtins=builtins, signatures=signatures, returns=signatures)
    with profile:
        work()
    profile.getstats()
    profile.create_stats()

for builtins in (True, False):
    for signatures in (True, False):
        grown(lambda: cycle(builtins, signatures), 1000)
"""
    )
    for resident_kib, objects, blocks in grown(done):
        assert resident_kib < 1024
        assert objects < 50
        assert blocks < 400


def test_a_thousand_starts_of_one_profile_leave_nothing(sonde):
    done = sonde.python(
        LEAKS
        + """
for builtins in (True, False):
    profile = profiler.Profile(builtins=builtins)
    def cycle():
        profile.enable()
        work()
        profile.disable()
    grown(cycle, 1000)
"""
    )
    for resident_kib, objects, blocks in grown(done):
        assert resident_kib < 1024
        assert objects < 50
        assert blocks < 400


def test_functions_that_come_and_go_leave_nothing(sonde):
    """A hundred thousand functions from one place in the source: each dies at once."""
    done = sonde.python(
        LEAKS
        + """
def cycle():
    for _ in range(100):
        names = {}
        exec("def passing(a): return a", names)
        names["passing"](1)

for builtins in (True, False):
    for kind in (tracing.Profile, profiler.Profile):
        profile = kind(builtins=builtins)
        profile.enable()
        grown(cycle, 250)
        profile.disable()
        profile.create_stats()
        assert sum(row[1] for label, row in profile.stats.items() if label[2].startswith("passing")) == 30_000
"""
    )
    for resident_kib, objects, _ in grown(done):
        assert resident_kib < 4096
        assert objects < 200


def test_classes_that_come_and_go_leave_nothing(sonde):
    done = sonde.python(
        LEAKS
        + """
def use(thing):
    pass

def cycle():
    class Passing:
        def method(self, other):
            pass
    Passing().method(Passing)
    use(Passing())

for builtins in (True, False):
    profile = profiler.Profile(builtins=builtins)
    profile.enable()
    grown(cycle, 2000)
    profile.disable()
"""
    )
    for resident_kib, objects, _ in grown(done):
        assert resident_kib < 1024
        assert objects < 200


def test_generators_that_are_left_waiting_leave_nothing(sonde):
    done = sonde.python(
        LEAKS
        + """
def cycle():
    for _ in range(100):
        next(numbers(3))

for builtins in (True, False):
    profile = profiler.Profile(builtins=builtins)
    profile.enable()
    grown(cycle, 500)
    profile.disable()
"""
    )
    for resident_kib, objects, _ in grown(done):
        assert resident_kib < 2048
        assert objects < 100


def test_c_functions_that_come_and_go_have_their_own_names():
    """An address that was freed and taken again is not the old function."""
    made = types.SimpleNamespace()
    with Profile() as profile:
        for name in ("append", "pop", "clear") * 50:
            made.method = getattr([1], name)
            made.method(*([1] if name == "append" else []))
            del made.method
    found = counts(profile)
    assert [found[f"<method '{name}' of 'list' objects>"] for name in ("append", "pop", "clear")] == [50, 50, 50]


# The command


def test_python_dash_m_works_as_that_of_the_standard_profiler(sonde):
    (sonde.folder / "work.py").write_text(
        "import sys\n\ndef leaf():\n    pass\n\nif __name__ == '__main__':\n    leaf()\n    print(sys.argv, __file__)\n"
    )
    done = sonde.run([sys.executable, "-m", "sonde.tracing", "-s", "calls", "work.py", "-x", "y"])
    first, *rest = done.stdout.splitlines()
    assert first.startswith("['work.py', '-x', 'y']")
    assert any("work.py:3(leaf)" in line for line in rest)
    done = sonde.run([sys.executable, "-m", "sonde.tracing", "-o", "out.prof", "work.py"])
    assert "ncalls" not in done.stdout
    assert any(label[2] == "leaf" for label in pstats.Stats(str(sonde.folder / "out.prof")).stats)
    done = sonde.run([sys.executable, "-m", "sonde.tracing", "-m", "work", "z"])
    assert "'z']" in done.stdout.splitlines()[0]
    assert "(leaf)" in done.stdout


def test_the_file_lies_where_the_program_started(sonde):
    (sonde.folder / "work.py").write_text("import os\nos.mkdir('below')\nos.chdir('below')\n")
    sonde.run([sys.executable, "-m", "sonde.tracing", "-o", "out.prof", "work.py"])
    assert (sonde.folder / "out.prof").exists()


def test_python_dash_m_with_bad_words(sonde):
    (sonde.folder / "work.py").write_text("1 / 0\n")
    done = sonde.run([sys.executable, "-m", "sonde.tracing", "work.py"], status=1)
    assert "ZeroDivisionError" in done.stderr
    assert "ncalls" in done.stdout
    (sonde.folder / "exits.py").write_text("import sys\nsys.exit(3)\n")
    sonde.run([sys.executable, "-m", "sonde.tracing", "exits.py"], status=None)
    done = sonde.run([sys.executable, "-m", "sonde.tracing"], status=None)
    assert done.returncode != 0
    assert "usage" in (done.stdout + done.stderr).lower()
    done = sonde.run([sys.executable, "-m", "sonde.tracing", "nowhere.py"], status=None)
    assert done.returncode != 0
    assert "nowhere.py" in done.stderr


def test_a_drop_in_for_the_standard_profiler(sonde):
    done = sonde.python(
        """
        import sonde.tracing as cProfile
        import pstats

        def work():
            return len("abc")

        with cProfile.Profile() as pr:
            work()
        pstats.Stats(pr).strip_dirs().sort_stats("name").print_stats()
        cProfile.run("work()", sort="cumtime")
        print(cProfile.label(work.__code__), cProfile.label("len"))
        """
    )
    assert done.stdout.count("prog.py:5(work)") == 2
    assert done.stdout.count("{built-in method builtins.len}") == 2
    assert "'work') ('~', 0, 'len')" in done.stdout
