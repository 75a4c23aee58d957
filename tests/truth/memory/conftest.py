"""The extension module, built once."""

import memory_support  # noqa: F401 (finds build_native)
import pytest
from build_native import build


@pytest.fixture(scope="session")
def native(tmp_path_factory):
    """A folder with the module truth_native."""
    return build(tmp_path_factory.mktemp("native"))
