"""Profile compiled graphs: what functions of Aesara and PyTensor cost, by class, Op and Apply node.

>>> import sonde.graph
>>> with sonde.graph.profile() as g:
...     train = pytensor.function([x, y], cost, updates=updates, name="train")
...     train(data, labels)
>>> g.summary()

This module imports neither library. It measures functions of both, from the moment you import one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sonde import _core
from sonde._runtime import places as _places
from sonde._runtime import settings as _settings
from sonde._runtime.terminal import look_of
from sonde.graph import stats as _stats
from sonde.graph import tracking
from sonde.graph.stats import ProfileStats
from sonde.sampling import Measurement, _lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Self, TextIO

    from sonde.graph.records import Numbers, Record
    from sonde.graph.rows import Row

__all__ = ["Graphs", "Part", "ProfileStats", "profile"]

WIDTH = 160  # of a summary that does not go to a terminal; names of nodes can be much longer

_written: set[str] = set()  # files that profiling__destination named


class _Usual(int):
    """A number that means the library's flag, which has this value unless somebody has set it."""


_N_OPS, _N_APPLY, _MIN_SIZE = _Usual(20), _Usual(20), _Usual(1024)


class Part:
    """The measurements of one function, or of all together.

    >>> g.functions["train"].calls
    1000
    """

    def __init__(
        self,
        name: str,
        rows: list[Row],
        infos: dict[str, str],
        options: dict[str, Any],
        measured: list[tuple[Record, Numbers]] | None = None,
    ) -> None:
        self.name = name
        self._rows = rows
        self._infos = infos
        self._options = options
        self._measured = measured or []

    @property
    def profile(self) -> _core.Profile:
        """This part alone, as a profile."""
        return _core.graph_profile(self._rows, self._infos)

    @property
    def stats(self) -> Any:
        """The numbers under the names of the library's own ``ProfileStats``, in seconds.

        >>> g.functions["train"].stats.fct_call_time
        0.589
        """
        return _stats.of_numbers(self._measured, self.name)

    @property
    def calls(self) -> int:
        """How often it was called."""
        return int(sum(metrics["count"] for parent, _, _, _, metrics in self._rows if parent == -1))

    def summary(
        self,
        file: TextIO | None = None,
        n_ops_to_print: int = _N_OPS,
        n_apply_to_print: int = _N_APPLY,
        min_memory_size: int = _MIN_SIZE,
    ) -> None:
        """Print it. The arguments are those of ``Graphs.summary``, and so is the default for ``file``.

        >>> g.functions["train"].summary(n_apply_to_print=5)
        """
        with _destination(file) as out:
            look = look_of(out)
            text = self.output(n_ops_to_print, n_apply_to_print, min_memory_size, **look, **_width(look))
            print(text, file=out, end="", flush=True)

    def output(
        self,
        n_ops_to_print: int = _N_OPS,
        n_apply_to_print: int = _N_APPLY,
        min_memory_size: int = _MIN_SIZE,
        *,
        width: int = WIDTH,
        **look: Any,
    ) -> str:
        """The same as a string, at most ``width`` wide (0: no limit).

        >>> "Elemwise" in g.functions["train"].output()
        True
        """
        limits: dict[str, Any] = {
            "n_ops": _limit(n_ops_to_print, "profiling__n_ops"),
            "n_apply": _limit(n_apply_to_print, "profiling__n_apply"),
            "min_memory": _limit(min_memory_size, "profiling__min_memory_size"),
        }
        return self.profile.format(view="graph", width=width, **limits, **self._options, **look)

    def rows(self) -> list[dict[str, Any]]:
        """The same as dictionaries: one row per function, class, Op, node, phase, rewriter and peak.

        >>> [row["name"] for row in g.functions["train"].rows() if row["kind"] == "graph_op"]
        ['Gemv{inplace}', 'Sum{axes=None}']
        """
        return self.profile.rows("graph", **self._options)

    def __str__(self) -> str:
        return self.output()

    def __repr__(self) -> str:
        return f"<{self.name}: {self.calls} calls>"


class Graphs(Measurement):
    """What ``profile`` returns: a context manager with one profile per function, and their total.

    >>> g = sonde.graph.profile(memory=True).start()
    >>> train(data, labels)
    >>> g.stop().summary()
    """

    def __init__(
        self, wishes: dict[str, Any], calls: dict[str, Any] | None, places: dict[str, Any], report: bool | None
    ):
        super().__init__(wishes, calls, places, report)
        self._before: dict[int, Numbers] = {}  # the counters of all functions when it began
        self._parts: dict[str, tuple[list[Row], dict[str, str]]] | None = None
        self._all: tuple[list[Row], dict[str, str]] = ([], {})
        self._shown: list[tuple[Record, Numbers]] = []

    def start(self) -> Self:
        """Start without a block, until ``stop``.

        >>> g = sonde.graph.profile().start()
        """
        with _lock:
            if self._depth > 0:
                raise RuntimeError("already started")
            return self.__enter__()

    @property
    def functions(self) -> Mapping[str, Part]:
        """The measurements of each function, by name. An unnamed function is named after its inputs.

        >>> list(g.functions)
        ['train', 'predict']
        """
        self._take()
        found = self._parts or {}
        shown = {item[0].name: item for item in self._shown}
        return {
            name: Part(name, rows, infos, {"function": name}, [shown[name]]) for name, (rows, infos) in found.items()
        }

    def sum(self) -> Part:
        """All functions together.

        >>> g.sum().summary()
        """
        self._take()
        return Part("total of all functions", *self._all, {"total": True}, self._shown)

    def summary(
        self,
        file: TextIO | None = None,
        n_ops_to_print: int = _N_OPS,
        n_apply_to_print: int = _N_APPLY,
        min_memory_size: int = _MIN_SIZE,
    ) -> None:
        """Print every function, and their total if there are several.

        It lists at most ``n_ops_to_print`` classes and Ops (20), ``n_apply_to_print`` Apply nodes (20), and memory
        only of nodes with at least ``min_memory_size`` bytes of output (1024). The library's flags can change these
        defaults, and where the text goes without a ``file``.

        >>> g.summary(n_ops_to_print=5)
        """
        self._take()
        if not self._all[0]:
            raise RuntimeError(_nothing_to_show())
        Part("all", *self._all, {}).summary(file, n_ops_to_print, n_apply_to_print, min_memory_size)

    def output(self, view: str | None = None, *, format: str = "table", width: int = 0, **options: Any) -> str:
        """A view as text; without a name, the block's functions.

        >>> g.output(format="csv")
        """
        if (view or self._main_view()) != "graph":
            return super().output(view, format=format, width=width, **options)
        self._take()
        return _core.graph_profile(*self._all).format(format, view="graph", width=width, **options)

    def _take(self) -> None:
        """Fetch the numbers, as long as it runs; after that they are kept."""
        with _lock:
            if self._depth > 0:
                self._keep()
            elif self._parts is None:
                raise RuntimeError("nothing was measured yet")

    def _keep(self) -> None:
        tracker, before = tracking.tracker, self._before
        self._shown = shown = tracker.shown(before)
        self._parts = {item[0].name: (tracker.rows([item], before), tracker.infos([item])) for item in shown}
        self._all = (tracker.rows(shown, before), tracker.infos(shown))

    def _main_view(self) -> str:
        return "summary" if "sample" in (self.profile.info("probes") or "") else "graph"

    def _begin(self) -> None:
        if not tracking.libraries():
            raise RuntimeError("neither Aesara nor PyTensor is installed: pip install pytensor")
        self._before = tracking.tracker.snapshot()
        self._parts = None
        super()._begin()

    def _end(self) -> None:
        self._keep()
        tracking.tracker.flush()
        super()._end()


def profile(
    *, memory: bool = False, rewriting: bool = False, linker: str | None = None, report: bool | None = None
) -> Graphs:
    """Measure the functions of Aesara and PyTensor that are compiled or called in a ``with`` block.

    ``memory`` tracks the arrays of every node, simulates memory peaks and measures the actual peak; ``rewriting``
    records what each rewriter did during compilation. ``linker`` compiles functions in the block with another linker:
    ``"cvm"`` if the default linker keeps no node times. ``report`` prints a summary to standard error at the end.

    >>> with sonde.graph.profile(memory=True) as g:
    ...     train(data, labels)
    >>> g.summary()
    """
    _check_linker(linker)
    return Graphs(
        {"graph": _settings.graph_wish(memory, rewriting, linker)}, None, _places.choice((), (), False), report
    )


def _check_linker(linker: str | None) -> None:
    known = [name for library in _loaded() for name in library.linkers()]
    if linker is not None and known and linker not in known:
        raise ValueError(f"unknown linker {linker!r}; choose from {', '.join(dict.fromkeys(known))}")


def _loaded() -> Iterator[Any]:
    """The libraries that are imported."""
    from sonde.graph import library

    for name in library.NAMES:
        if library.is_imported(name):
            yield library.Library(name)


def _limit(number: int, flag: str) -> int:
    if isinstance(number, _Usual):
        return next((int(library.flag(flag, number)) for library in _loaded()), int(number))
    return int(number)


def _width(look: dict[str, Any]) -> dict[str, int]:
    """The width from the library's flag, if somebody has set it; on a narrower terminal, its width."""
    flag, usual = "profiling__output_line_width", 512
    given = next((int(library.flag(flag, usual)) for library in _loaded() if library.is_set(flag, usual)), None)
    return {} if given is None else {"width": min(given, look.pop("width", given))}


def _nothing_to_show() -> str:
    if any(name in sys.modules for name in ("aesara", "pytensor")):
        return "no function was compiled or called in the block"
    return "neither Aesara nor PyTensor was imported in the block"


class _destination:
    """Where a summary goes: to a given file, or where the library's flag says."""

    def __init__(self, file: TextIO | None) -> None:
        self._file = file
        self._opened: TextIO | None = None

    def __enter__(self) -> TextIO:
        if self._file is not None:
            return self._file
        named = next((str(library.flag("profiling__destination", "stderr")) for library in _loaded()), "stderr")
        if named in ("stderr", "stdout"):
            return sys.stderr if named == "stderr" else sys.stdout
        path = os.path.abspath(named)  # noqa: PTH100
        self._opened = Path(path).open("a" if path in _written else "w")
        _written.add(path)
        return self._opened

    def __exit__(self, *exc_info: object) -> None:
        if self._opened is not None:
            self._opened.close()
