"""sonde: one profiler for Python programs.

See where a block spends its time, line by line; for a whole program, use ``sonde run``:

>>> import sonde
>>> with sonde.sample() as s:
...     work()
>>> s.print()

See where its memory goes; for a whole program, use ``sonde run --memory``:

>>> with sonde.memory() as m:
...     work()
>>> m.peak_bytes

See what NumPy's operators cost, by input shapes:

>>> with sonde.ops() as prof:
...     work()
>>> print(prof.key_averages(group_by_input_shape=True).table(row_limit=10))

Mark regions of a program and get a table of their times at exit:

>>> sonde.install()
>>> with sonde.region("load"):
...     data = load()
"""

from __future__ import annotations

from sonde._core import __version__
from sonde._ops import ops
from sonde.heap import memory
from sonde.regions import (
    ConsoleReporter,
    CsvReporter,
    SilentReporter,
    counter,
    func,
    install,
    iter_proxy,
    mark,
    pop,
    push,
    region,
    report,
    reset,
    uninstall,
)
from sonde.sampling import record, sample, start, stop
from sonde.snapshots import compare, snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Else pytest, which knows that a plugin is in this package, warns where it was imported before, as `sonde run` does.
__doc__ = f"{__doc__}\nPYTEST_DONT_REWRITE\n"

__all__ = [
    "ConsoleReporter",
    "CsvReporter",
    "SilentReporter",
    "__version__",
    "compare",
    "counter",
    "func",
    "install",
    "iter_proxy",
    "load_ipython_extension",
    "mark",
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
    "unload_ipython_extension",
]


def load_ipython_extension(ipython: Any) -> None:
    """Add the magics ``%sonde``, ``%%sonde``, ``%scrun`` and ``%%scalene`` to a notebook; see ``%sonde --help``.

    >>> %load_ext sonde
    >>> %sonde work()
    """
    from sonde._notebook import magics

    magics.load(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """Remove the magics.

    >>> %unload_ext sonde
    """
    from sonde._notebook import magics

    magics.unload(ipython)
