"""Programs that use signals themselves behave under the sampler as without it. See sampler_support for longer runs."""

import pytest
from sampler_support import compare, scenarios

PROGRAM = "sampler_signals.py"
SAFE = ("raising_handler", "wait_for_any")


@pytest.mark.parametrize(("name", "way"), scenarios(PROGRAM))
def test_signals(tmp_path, name, way):
    if way == "safe" and name == "dumps_later":
        pytest.skip("the program that starts this one is in its tracebacks")
    status, out, _ = compare(tmp_path, PROGRAM, name, way)
    assert out or status != 0


@pytest.mark.parametrize("name", SAFE)
def test_signals_when_frames_are_read_with_the_gil(tmp_path, name):
    compare(tmp_path, PROGRAM, name, "safe")
