"""Budgets for tests, and where their time goes: sonde in pytest, which loads it by itself.

>>> @pytest.mark.sonde(max_seconds=0.5, max_peak="24 MB", max_leak="1 MB", max_calls={"query": 10})
... def test_report():
...     make_report()

``pytest --sonde`` profiles every test, lists the slowest with their hot lines, and keeps their recordings.
"""

from __future__ import annotations

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from sonde.pytest_plugin.budget import Budget
    from sonde.pytest_plugin.slowest import Slowest

_MARK = (
    "sonde(max_seconds=None, max_cpu_seconds=None, max_peak=None, max_leak=None, max_calls=None, warmups=0): "
    "fail the test if it takes longer, needs or keeps more memory ('24 MB'), or exceeds a number of calls"
)

_budgets: pytest.StashKey[Budget | str] = pytest.StashKey()  # or what is wrong with it
_slowest: pytest.StashKey[Slowest] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("sonde", "sonde: where your tests spend their time")
    group.addoption(
        "--sonde", action="store_true", help="list the slowest tests with their hot lines, and keep recordings"
    )
    group.addoption("--sonde-memory", action="store_true", help="like --sonde, and also record memory")
    group.addoption("--sonde-dir", metavar="DIR", default=".sonde", help="folder for recordings (default .sonde)")
    group.addoption("--sonde-top", metavar="N", type=_count, default=10, help="number of tests to list (default 10)")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ValueError(text)
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARK)
    options = config.option
    if options.sonde or options.sonde_memory:
        from sonde.pytest_plugin.slowest import Slowest

        config.stash[_slowest] = Slowest(config.rootpath, options.sonde_dir, options.sonde_top, options.sonde_memory)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Report a mistake in a mark before any test runs."""
    mistakes = []
    for item in items:
        budget = _read_marks(item)
        if budget is not None:
            item.stash[_budgets] = budget
        if isinstance(budget, str):
            mistakes.append(f"{item.nodeid}: {budget}")
    if mistakes and not hasattr(config, "workerinput"):  # a worker of pytest-xdist has no way to tell: its tests fail
        raise pytest.UsageError("\n".join(mistakes))


def _read_marks(item: pytest.Item) -> Budget | str | None:
    marks = list(item.iter_markers("sonde"))
    if not marks:
        return None
    from sonde.pytest_plugin import budget

    try:
        return budget.read([(mark.args, mark.kwargs) for mark in reversed(marks)])
    except budget.Mistake as mistake:
        return str(mistake)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """Around the test itself, and nothing that pytest or its plugins do: what it runs is replaced for the moment."""
    budget = item.stash.get(_budgets, None)
    slowest = item.config.stash.get(_slowest, None)
    if budget is None and slowest is None:
        yield
        return
    from sonde.pytest_plugin.budget import Exceeded, run_within

    run = item.runtest

    def measured() -> None:
        if isinstance(budget, str):
            raise pytest.fail.Exception(f"sonde: {budget}", pytrace=False)
        try:
            run_within(item.nodeid, run, budget, slowest)
        except Exceeded as excess:
            failure = pytest.fail.Exception(str(excess), pytrace=False)
        else:
            return
        raise failure

    item.runtest = measured  # type: ignore[method-assign]
    yield
    del item.runtest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """What was seen of a test travels with its report, also from a worker of pytest-xdist."""
    outcome = yield
    slowest = item.config.stash.get(_slowest, None)
    if slowest is not None and call.when == "call":
        outcome.get_result().sonde = slowest.take(item.nodeid)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    slowest = config.stash.get(_slowest, None)
    if slowest is None or hasattr(config, "workerinput"):
        return
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    lines = slowest.summary([seen for report in reports if (seen := getattr(report, "sonde", None)) is not None])
    terminalreporter.section("slowest tests", sep="=")
    for line in lines:
        terminalreporter.write_line(line)
