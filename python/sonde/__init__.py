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

Or what the operators of NumPy cost, by their inputs' shapes:

>>> with sonde.ops() as prof:
...     work()
>>> print(prof.key_averages(group_by_input_shape=True).table(row_limit=10))

Mark regions of a program and get a table of their times at exit:

>>> sonde.install()
>>> with sonde.region("load"):
...     data = load()
"""

from sonde._core import __version__
from sonde._ops import ops
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
    "ops",
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
