"""Programs that use signals themselves behave under the sampler as without it. See sampler_support for longer runs."""

import pytest
from sampler_support import compare, scenarios

pytestmark = pytest.mark.interpreter

PROGRAM = "sampler_signals.py"
SAFE = ("raising_handler", "wait_for_any")


@pytest.mark.parametrize(("name", "way"), scenarios(PROGRAM, unsafe=["dumps_later"]))
def test_signals(tmp_path, name, way):
    status, out, _ = compare(tmp_path, PROGRAM, name, way)
    assert out or status != 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SAFE)
def test_signals_when_frames_are_read_with_the_gil(tmp_path, name):
    compare(tmp_path, PROGRAM, name, "safe")
