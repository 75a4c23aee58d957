"""Threads, deep stacks, generators, greenlets, interpreters under the sampler. See sampler_support for longer runs."""

import importlib.util

import pytest
from sampler_support import compare, scenarios

pytestmark = pytest.mark.interpreter

PROGRAM = "sampler_threads.py"
NEEDS = {"greenlets": "greenlet", "gevents": "gevent"}
SAFE = ("come_and_go", "generators", "interpreters")


@pytest.mark.parametrize(("name", "way"), scenarios(PROGRAM, unsafe=["limits"]))
def test_threads(tmp_path, name, way):
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    _, out, _ = compare(tmp_path, PROGRAM, name, way)
    assert out


@pytest.mark.slow
@pytest.mark.parametrize("name", SAFE)
def test_threads_when_frames_are_read_with_the_gil(tmp_path, name):
    compare(tmp_path, PROGRAM, name, "safe")
