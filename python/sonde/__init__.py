"""sonde: one profiler for Python programs.

Mark regions of a program and get a table of their times at exit:

>>> import sonde
>>> sonde.install()
>>> with sonde.region("load"):
...     data = load()
"""

from sonde._core import __version__
from sonde.regions import (
    ConsoleReporter,
    CsvReporter,
    SilentReporter,
    func,
    install,
    iter_proxy,
    pop,
    push,
    region,
    report,
    reset,
    uninstall,
)

__all__ = [
    "ConsoleReporter",
    "CsvReporter",
    "SilentReporter",
    "__version__",
    "func",
    "install",
    "iter_proxy",
    "pop",
    "push",
    "region",
    "report",
    "reset",
    "uninstall",
]
