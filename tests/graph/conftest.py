"""The library that is installed, and the ways in which it runs a graph."""

import pytest
from graph_support import INSTALLED, VMS, Lib


@pytest.fixture(params=INSTALLED)
def lib(request):
    return Lib(request.param)


@pytest.fixture(params=VMS.values(), ids=VMS)
def linker(request):
    return request.param
