"""The extension module, built once."""

import memory_support  # noqa: F401 (finds build_native)
import pytest
from build_native import build, why_not


@pytest.fixture(scope="session")
def native(tmp_path_factory):
    """A folder with the module truth_native."""
    reason = why_not()
    if reason is not None:
        pytest.skip(f"the tests of native memory need a C extension, and {reason}")
    return build(tmp_path_factory.mktemp("native"))
