"""The standard profiler and ours count the same calls by the same callers, over the standard library."""

import cProfile
import gc
import re
import sys
from pathlib import Path

import pytest

import sonde.tracing

try:
    from cProfile import label
except ImportError:  # 3.15
    from profiling.tracing import label

sys.path.insert(0, str(Path(__file__).parent / "programs"))
from calls_workloads import WORKLOADS

pytestmark = pytest.mark.interpreter

ADDRESS = re.compile(r" at 0x[0-9a-f]+")
METHOD = re.compile(r"<(?:function .*?(\w+)>|method '(\w+)' of )")


def label_of(code):
    """The key of a code object, or of a C function's name, in pstats."""
    file, line, name = label(code)
    return (file, line, ADDRESS.sub("", name))


def is_profiler(label):
    return "_lsprof.Profiler" in label[2] or "-packages/sonde/" in label[0]


def add(table, key, calls, primitive):
    before = table.get(key, (0, 0))
    table[key] = (before[0] + calls, before[1] + primitive)


def run(profile, work):
    profile.enable()
    work()
    profile.disable()
    return profile


def counts_of_entries(profile):
    """Calls and primitive calls of each function and of each pair (callee, caller). From the entries, because the
    standard profiler's own dictionary forgets all but one of the functions that have one name at one place."""
    counts = {}
    for entry in profile.getstats():
        add(counts, label_of(entry.code), entry.callcount, entry.callcount - entry.reccallcount)
        for call in entry.calls or ():
            pair = label_of(call.code), label_of(entry.code)
            add(counts, pair, call.callcount, call.callcount - call.reccallcount)
    return counts


def counts_of_stats(profile):
    """The same from the dictionary of pstats."""
    profile.create_stats()
    counts = {}
    for (file, line, name), (primitive, calls, _, _, callers) in profile.stats.items():
        label = file, line, ADDRESS.sub("", name)
        add(counts, label, calls, primitive)
        for caller, pair in callers.items():
            add(counts, (label, (*caller[:2], ADDRESS.sub("", caller[2]))), *pair[:2])
    return counts


def without_overridden(theirs, ours):
    """Where a class overrides a method of C and calls it, the standard profiler names it by the override (``<function
    Counter.update>`` for dict's). Such methods are compared by their last name only."""
    names = {label[2].split(".")[-1].rstrip(">") for label in theirs if label[2:] and label[2].startswith("<function ")}

    def rename(label):
        found = METHOD.match(label[2])
        name = found and (found[1] or found[2])
        return ("~", 0, f"<method {name}>") if name in names else label

    renamed = ({}, {})
    for counts, table in zip(renamed, (theirs, ours), strict=True):
        for key, numbers in table.items():
            add(counts, rename(key) if len(key) == 3 else (rename(key[0]), rename(key[1])), *numbers)
    return renamed


def differences(theirs, ours):
    """What one has and the other has not, as text that a failed test can show."""
    theirs, ours = without_overridden(theirs, ours)
    keys = [key for key in {*theirs, *ours} if not is_profiler(key if len(key) == 3 else key[0])]
    return sorted(f"{key}: {theirs.get(key)} / {ours.get(key)}" for key in keys if theirs.get(key) != ours.get(key))


def without_c_functions(theirs, ours):
    """From 3.14 on the standard profiler counts C functions even with builtins=False, and names them as callers of what
    they call: pairs of such callees are left out."""

    def is_c(label):
        return label[0] == "~"

    called_by_c = {key[0] for key in theirs if len(key) == 2 and is_c(key[1])}

    def is_compared(key):
        return not is_c(key) if len(key) == 3 else not (is_c(key[0]) or is_c(key[1]) or key[0] in called_by_c)

    return tuple({key: value for key, value in table.items() if is_compared(key)} for table in (theirs, ours))


@pytest.fixture(autouse=True, scope="module")
def no_collector():
    """What the garbage collector finds would be counted wherever it happens to run."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def compare(work, **options):
    work()
    work()
    theirs = counts_of_entries(run(cProfile.Profile(**options), work))
    ours = run(sonde.tracing.Profile(**options, resumes=True), work)
    assert len(theirs) > 1
    for counts in (counts_of_entries(ours), counts_of_stats(ours)):
        pair = (theirs, counts) if options.get("builtins", True) else without_c_functions(theirs, counts)
        assert differences(*pair) == []


@pytest.mark.parametrize("work", WORKLOADS, ids=lambda work: work.__name__.removeprefix("use_"))
def test_counts_and_callers_are_those_of_the_standard_profiler(work):
    compare(work)


@pytest.mark.parametrize("work", WORKLOADS, ids=lambda work: work.__name__.removeprefix("use_"))
def test_without_builtins_they_agree_as_well(work):
    compare(work, builtins=False)


def test_there_are_workloads_enough():
    assert len(WORKLOADS) >= 40
