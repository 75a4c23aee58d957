"""Timers of the program: exact times from good ones, and no harm from bad ones."""

import gc
import sys
import time
import weakref

import pytest
from calls_support import (
    both_kinds,
    branch,
    counts,
    entry_of,
    leaf,
    nothing_is_left_running,  # noqa: F401
)

from sonde.tracing import Profile

pytestmark = pytest.mark.interpreter


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


@pytest.fixture
def reported(monkeypatch):
    """The errors that had nowhere to go, as class and text."""
    found = []
    monkeypatch.setattr(sys, "unraisablehook", lambda about: found.append((about.exc_type, str(about.exc_value))))
    return found


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


@pytest.mark.parametrize("timer", [5, "clock", object()], ids=["number", "text", "object"])
def test_a_timer_that_cannot_be_called_is_refused(timer):
    with pytest.raises(TypeError, match="the timer must be callable"):
        Profile(timer)


@both_kinds
@pytest.mark.parametrize("junk", [None, "soon", [1], 1j], ids=str)
def test_a_timer_that_gives_junk_is_reported_and_the_counts_stay_right(builtins, junk, reported):
    with Profile(lambda: junk, builtins=builtins) as profile:
        branch()
    assert {kind for kind, _ in reported} == {TypeError}
    found = counts(profile)
    assert (found["branch"], found["leaf"]) == (1, 2)


@both_kinds
def test_a_timer_that_raises_is_reported_and_the_program_goes_on(builtins, reported):
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
def test_a_timer_out_of_its_mind_does_no_harm(builtins, value, reported):
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
def test_a_timer_may_not_end_or_empty_its_profile(builtins, what, turn, reported):
    """As the standard profiler has it since 3.13."""
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
    assert [kind for kind, _ in reported] == [RuntimeError]


def test_a_timer_that_is_no_good_is_reported_though_nothing_is_called(reported):
    profile = Profile(lambda: int)
    profile.enable()
    profile.disable()
    profile.clear()
    assert {kind for kind, _ in reported} == {TypeError}


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
