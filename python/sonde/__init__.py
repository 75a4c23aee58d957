"""sonde: one profiler for Python programs.

Look at where the time of a block goes, line by line, or run the whole program under ``sonde run``:

>>> import sonde
>>> with sonde.sample() as s:
...     work()
>>> s.print()

Or where its memory goes, with ``sonde run --memory`` for the whole program:

>>> with sonde.memory() as m:
...     work()
>>> m.peak_bytes

Mark regions of a program and get a table of their times at exit:

>>> sonde.install()
>>> with sonde.region("load"):
...     data = load()
"""

from sonde._core import __version__
from sonde.heap import memory
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
from sonde.snapshots import compare, snapshot

__all__ = [
    "ConsoleReporter",
    "CsvReporter",
    "SilentReporter",
    "__version__",
    "compare",
    "func",
    "install",
    "iter_proxy",
    "memory",
    "pop",
    "push",
    "record",
    "region",
    "report",
    "reset",
    "sample",
    "snapshot",
    "start",
    "stop",
    "uninstall",
]
