"""A pytest plugin: which tests failed, so that tools/steps.sh can run just these again, alone.

With ``--failed FILE`` their names are written to it. With SONDE_AGAIN in the environment the file is read instead, and
nothing but its tests runs. A crash, an error while collecting, or more failures than chance explains leave the file
empty, and then there is no second chance: to run no test is a failure.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

MOST = 5  # failures that may be chance, in one run
NONE = "all passed"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--failed", type=Path, help="where the names of tests that failed are kept")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("failed")
    if path is None:
        return
    if "SONDE_AGAIN" in os.environ:
        config.pluginmanager.register(Again(path.read_text().splitlines()))
    elif not hasattr(config, "workerinput"):  # its controller sees all results
        config.pluginmanager.register(Failed(path))


class Failed:
    """Writes the names down."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: set[str] = set()
        self.may_be_chance = True
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.names.add(report.nodeid)
            self.may_be_chance &= report.when in ("setup", "call", "teardown")  # else its process has died

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.may_be_chance &= not report.failed

    def pytest_sessionfinish(self) -> None:
        if self.may_be_chance and len(self.names) <= MOST:
            self.path.write_text("".join(f"{name}\n" for name in sorted(self.names) or [NONE]))


class Again:
    """Runs these and no others."""

    def __init__(self, names: list[str]) -> None:
        self.names = set(names)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in self.names])
        items[:] = [item for item in items if item.nodeid in self.names]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.names == {NONE}:
            session.exitstatus = pytest.ExitCode.OK
