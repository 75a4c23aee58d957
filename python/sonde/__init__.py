"""sonde: one profiler for Python programs.

Look at where the time of a block goes, line by line, or run the whole program under ``sonde run``:

>>> import sonde
>>> with sonde.sample() as s:
...     work()
>>> s.print()

Mark regions of a program and get a table of their times at exit:

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
from sonde.sampling import record, sample, start, stop

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
    "record",
    "region",
    "report",
    "reset",
    "sample",
    "start",
    "stop",
    "uninstall",
]
