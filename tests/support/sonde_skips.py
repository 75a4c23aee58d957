"""A pytest plugin: a skip or an expected failure that tests/skips.txt does not allow is a failure.

What was skipped is printed at the end, one line a reason.
"""

from __future__ import annotations

import collections
import fnmatch
import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

LIST = Path(__file__).resolve().parents[1] / "skips.txt"
SKIPPED = pytest.StashKey[list[tuple[str, str]]]()
RULES = pytest.StashKey["list[Rule]"]()


def version_of(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


CONDITIONS = {
    "always": lambda _: True,
    "before": lambda version: sys.version_info[:3] < version_of(version),
    "from": lambda version: sys.version_info[:3] >= version_of(version),
    "with": lambda module: importlib.util.find_spec(module) is not None,
    "not": lambda user: os.geteuid() != 0,
}


@dataclass
class Rule:
    test: str
    when: str
    reason: str

    def __post_init__(self) -> None:
        word, _, value = self.when.partition(" ")
        self.holds = CONDITIONS[word](value)

    def allows(self, test: str, reason: str) -> bool:
        return self.holds and fnmatch.fnmatchcase(test, self.test) and fnmatch.fnmatchcase(reason, self.reason)


def read_rules(path: Path) -> list[Rule]:
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [Rule(*(cell.strip() for cell in line.split(" | ", 2))) for line in lines]


def reason_of(report: Any) -> str | None:
    """Why a test or a file is skipped, or expected to fail; None when it is neither."""
    if hasattr(report, "wasxfail"):
        return f"expected to fail: {report.wasxfail}"
    if not report.skipped:
        return None
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def judge(config: pytest.Config, report: Any) -> Any:
    """Turns what is not allowed into a failure."""
    reason = reason_of(report)
    if reason is None or any(rule.allows(report.nodeid, reason) for rule in config.stash[RULES]):
        return report
    if hasattr(report, "wasxfail"):
        del report.wasxfail
    report.outcome = "failed"
    report.longrepr = f"{report.nodeid}: {reason}\n{LIST.name} does not allow this here: see what it says"
    return report


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--skips", type=Path, default=LIST, help="the list of skips that are allowed")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RULES] = read_rules(config.getoption("skips"))
    config.stash[SKIPPED] = []


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    return judge(item.config, (yield))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    report = judge(collector.config, (yield))
    if report.skipped:
        collector.config.stash[SKIPPED].append((report.nodeid, reason_of(report)))
    return report


class Summary:
    """Where results come together: the one process without xdist, its controller with it."""

    def __init__(self, config: pytest.Config) -> None:
        self.skipped = config.stash[SKIPPED]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        reason = reason_of(report)
        if reason is not None:
            self.skipped.append((report.nodeid, reason))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.skipped += map(tuple, getattr(node, "workeroutput", {}).get("skipped", ()))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        tests = collections.defaultdict(list)
        for test, reason in sorted(set(self.skipped)):  # each worker collects each file
            tests[reason].append(test)
        if tests:
            terminalreporter.section("skipped")
        for reason, names in tests.items():
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            terminalreporter.line(f"{reason}: {names[0]}{more}")


def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workeroutput"):
        session.config.pluginmanager.register(Summary(session.config))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["skipped"] = session.config.stash[SKIPPED]
