"""What the tests of calls share: functions to call, what a profile counted of them, and marks."""

import gc
import importlib.util
import sys
import textwrap

import pytest

from sonde import profiler
from sonde.tracing import Profile

HAS_MONITORING = sys.version_info >= (3, 12)

both_kinds = pytest.mark.parametrize("builtins", [True, False], ids=["builtins", "python only"])
needs_monitoring = pytest.mark.skipif(not HAS_MONITORING, reason="sys.monitoring is new in 3.12")
needs_numpy = pytest.mark.skipif(importlib.util.find_spec("numpy") is None, reason="needs NumPy")


@pytest.fixture(autouse=True)
def nothing_is_left_running():
    """A profile that a failed test left behind would fail all that come after. No garbage collection comes between:
    it would close generators that others left behind, which are calls."""
    gc.disable()
    yield
    gc.enable()
    try:
        with Profile():
            pass
    except (ValueError, RuntimeError):
        for left in gc.get_objects():
            if isinstance(left, Profile | profiler.Profile):
                left.disable()


# Functions to call


def leaf():
    pass


def branch():
    leaf()
    leaf()


def textwrap_dedent(text):
    return textwrap.dedent(text)


def take(a):
    pass


# What was counted


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


def labels(profile):
    """How often each label was called, without the functions of C."""
    profile.create_stats()
    found = {}
    for (file, _, name), row in profile.stats.items():
        if file != "~":
            found[name] = found.get(name, 0) + row[1]
    return found


def label_of(function, *args, **kwargs):
    """The label of one call; both ways to look at it must agree."""
    found = []
    for builtins in (True, False):
        profile = profiler.Profile(builtins=builtins)
        profile.runcall(function, *args, **kwargs)
        (label,) = (name for name, count in labels(profile).items() if count == 1)
        found.append(label)
    assert found[0] == found[1]
    return found[0]


def told(value):
    """What is told of a value."""
    label = label_of(take, value)
    assert label.startswith("take(a:")
    assert label.endswith(")")
    return label[len("take(a:") : -1]
