"""Others at the same time: other profilers, trace functions, monitoring tools, regions, compilers."""

import contextlib
import cProfile
import sys

import pytest
from calls_support import (
    HAS_MONITORING,
    both_kinds,
    branch,
    counts,
    leaf,
    needs_monitoring,
    nothing_is_left_running,  # noqa: F401
)

import sonde
from sonde.tracing import Profile

pytestmark = pytest.mark.interpreter

one_hook = pytest.mark.skipif(HAS_MONITORING, reason="3.11 has one profile hook")
own_hook = pytest.mark.skipif(Profile(builtins=False).hook() != "the evaluation hook", reason="needs a hook of our own")


@needs_monitoring
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


@one_hook
def test_on_3_11_the_standard_profiler_that_came_first_is_named():
    with cProfile.Profile() as theirs:
        ours = Profile()
        with pytest.raises(RuntimeError, match="cProfile.Profile|_lsprof.Profiler|Profile"):
            ours.enable()
        branch()
    assert counts(theirs)["leaf"] == 2
    assert counts(ours) == {}


@own_hook
def test_on_3_11_python_calls_are_measured_beside_the_standard_profiler():
    with cProfile.Profile() as theirs, Profile(builtins=False) as ours:
        branch()
    assert counts(theirs)["leaf"] == 2
    assert counts(ours) == {"branch": 1, "leaf": 2}


@own_hook
def test_on_3_11_the_standard_profiler_may_come_second_beside_python_calls():
    with Profile(builtins=False) as ours, cProfile.Profile() as theirs:
        branch()
    assert counts(ours)["leaf"] == counts(theirs)["leaf"] == 2


@one_hook
def test_on_3_11_a_profile_hook_that_is_taken_away_does_no_harm():
    ours = Profile()
    ours.enable()
    leaf()
    with cProfile.Profile() as theirs:
        branch()
    lost = "another profiler took over this thread's profile hook: later calls are missing"
    with pytest.warns(RuntimeWarning, match=lost):
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

    if Profile(builtins=builtins).hook() == "the profile hook":
        sys.setprofile(hook)
        try:
            with pytest.raises(RuntimeError, match="another profiler"):
                Profile(builtins=builtins).enable()
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


@needs_monitoring
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


@needs_monitoring
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


@needs_monitoring
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


EXTRA = """\
import ctypes, sys
asked = "PyUnstable_Eval_RequestCodeExtraIndex" if sys.version_info >= (3, 12) else "_PyEval_RequestCodeExtraIndex"
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
freed = []
free = FREE(freed.append)
assert getattr(ctypes.pythonapi, asked)(free) >= 0
def dying():
    return 7
assert dying() == 7
del dying
print(freed)
del free
"""


@pytest.mark.parametrize("words", [["trace"], ["trace", "--signatures"], ["run"], ["run", "--memory"]], ids=" ".join)
def test_what_a_program_hangs_on_code_objects_is_its_own(sonde, words):
    """The program's function must neither be called for code that it hung nothing on, nor at all when it is gone."""
    (sonde.folder / "prog.py").write_text(EXTRA)
    done = sonde.command(*words, "--no-report", "-o", "r.sonde", "prog.py")
    assert done.stdout == "[]\n"


def test_code_that_dies_while_nothing_is_measured_is_forgotten(sonde):
    """Another function at its address is another function."""
    done = sonde.python(
        """
        from sonde.profiler import Profile
        def names(count):
            profile = Profile(builtins=False)
            for i in range(count):
                space = {}
                exec(f"def function_{i}(): pass", space)
                profile.enable()
                space[f"function_{i}"]()
                profile.disable()
                space.clear()
            return {entry.code.co_name for entry in profile.getstats() if hasattr(entry.code, "co_name")}
        for count in (1, 300, 3000):
            assert names(count) == {f"function_{i}" for i in range(count)}
        """
    )
    assert done.stderr == ""
