"""Signatures with odd names and long ones: text that can be written, cut between characters."""

import sys
import types

import pytest
from calls_support import label_of, labels, take, told

from sonde import profiler

pytestmark = pytest.mark.interpreter


def test_names_beyond_ascii():
    def größe(länge, *ärger, **数据):
        pass

    assert label_of(größe, 1, "x", ключ=None) == "größe(länge:int, *ärger:(str,), **数据:{ключ:None})"
    assert told(type("Straße", (), {})()) == "Straße"


def test_names_that_are_no_text():
    def rest(**more):
        pass

    label = label_of(rest, **{"\udc80": 1, "a b": [1], "": 2})
    assert label.startswith("rest(**more:{")
    label.encode()
    assert sys.exc_info() == (None, None, None)


def test_code_with_odd_names():
    def plain(a):
        pass

    for name in ("a b", "(", "\n", "ä" * 3000, "x" * 5000):
        odd = types.FunctionType(plain.__code__.replace(co_name=name, co_qualname=name, co_varnames=(name,)), {})
        label = label_of(odd, 1)
        label.encode()
        assert "\ufffd" not in label
        assert len(label) < 1100


@pytest.mark.parametrize("start", range(4))
def test_long_labels_are_cut_between_characters(start):
    names = {}
    parameters = ", ".join(f"{'x' * start if i == 0 else ''}größe_数据_{i}" for i in range(100))
    exec(f"def wide({parameters}): return 1", names)
    for values in ([1] * 100, [["é"]] * 100, [{"a": [1.5]}] * 100):
        label = label_of(names["wide"], *values)
        assert 500 < len(label.encode()) <= 1100
        assert "\ufffd" not in label


def test_long_class_names_are_cut_between_characters():
    for start in range(4):
        kind = type("x" * start + "é" * 2000, (), {})
        label = label_of(take, kind())
        assert "\ufffd" not in label
        assert len(label.encode()) <= 1100


def test_long_labels_that_differ_early_are_told_apart():
    names = {}
    exec("def wide({}): return 1".format(", ".join(f"a_parameter_of_long_name_{i}" for i in range(60))), names)
    with profiler.Profile() as profile:
        names["wide"](*[1] * 60)
        names["wide"]("x", *[1] * 59)
    assert len(labels(profile)) == 2
