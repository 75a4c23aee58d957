"""Programs that hook into the interpreter themselves, under the sampler. See sampler_support for longer runs."""

import pytest
from sampler_support import compare, scenarios

pytestmark = pytest.mark.interpreter

PROGRAM = "sampler_hooks.py"


@pytest.mark.parametrize(("name", "way"), scenarios(PROGRAM))
def test_hooks(tmp_path, name, way):
    compare(tmp_path, PROGRAM, name, way)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["traced", "memory_traced", "replaced"])
def test_hooks_when_frames_are_read_with_the_gil(tmp_path, name):
    compare(tmp_path, PROGRAM, name, "safe")
