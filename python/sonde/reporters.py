"""How regions are reported at exit: as a table, as CSV, or only as rows.

A reporter is any object with ``dump_profiler(profiler)``; ``profiler`` is a :class:`Profiler`.
"""

from __future__ import annotations

from sonde import _core
from sonde._runtime import session as _session

TYPE_CHECKING = False  # as typing has it; importing that would double the time of `import sonde`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Protocol, TextIO

    #: A column by name, or a function ``(row, all_rows) -> str`` with the attribute ``column_name``.
    Column = str | Callable[["Slice", "list[Slice]"], str]

    class Reporter(Protocol):
        """What ``install`` takes as a reporter."""

        def dump_profiler(self, profiler: Profiler, /) -> object: ...


CONSOLE_COLUMNS: tuple[Column, ...] = ("name", "total", "percent_of_total", "count", "min", "average", "max")
CSV_COLUMNS: tuple[Column, ...] = (
    "id",
    "name",
    "parent_id",
    "parent_name",
    "total_us",
    "total_inner_us=self_us",
    "count",
    "min_us",
    "average_us",
    "max_us",
)

# What the columns of Region Profiler are called here.
_SYNONYMS = {
    "total_inner": "total_inner=self",
    "total_inner_us": "total_inner_us=self_us",
    "percents_of_total": "percent_of_total",
    "indented_name": "name",
    "node_id": "id",
    "stddev": "deviation",
    "file:line": "place",
}


class Stats:
    """Numbers of one region, in seconds."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.count: int = row["count"]
        self.total: float = row["total_ns"] / 1e9
        self.min: float = row["min_ns"] / 1e9
        self.max: float = row["max_ns"] / 1e9
        self.avg: float = (row["average_ns"] or 0) / 1e9


class Node:
    """One region below its parent, as reporters written for Region Profiler expect it."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.name: str = row["name"]
        self.stats = Stats(row)
        self.children: dict[str, Node] = {}
        self.row = row

    def __str__(self) -> str:
        return self.name


class Slice:
    """One row of the report, as column functions written for Region Profiler expect it. Times in seconds."""

    def __init__(self, row: dict[str, Any], parent: Slice | None) -> None:
        stats = Stats(row)
        self.id: int = row["id"]
        self.name: str = row["name"]
        self.parent = parent
        self.parent_name = parent.name if parent else ""
        self.call_depth: int = row["depth"]
        self.count = stats.count
        self.total_time = stats.total
        self.total_inner_time: float = row["self_ns"] / 1e9
        self.avg_time = stats.avg
        self.min_time = stats.min
        self.max_time = stats.max


class Profiler:
    """The results up to one moment, as a reporter gets them."""

    def __init__(self, profile: _core.Profile) -> None:
        self._profile = profile

    def format(
        self,
        format: str = "table",
        columns: Iterable[str] | None = None,
        footer: bool = True,
        unicode: bool = False,
    ) -> str:
        """The regions as text.

        >>> profiler.format("csv", columns=["name", "total_ns"])
        """
        return self._profile.format(format, columns=columns, footer=footer, unicode=unicode)

    def texts(self, columns: Iterable[str], unicode: bool = False) -> list[list[str]]:
        """The regions as lists of strings, as in a table. The first list has the column names."""
        return self._profile.texts(columns, unicode)

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per row, in the order of the table; times in whole nanoseconds."""
        return self._profile.rows("regions")

    @property
    def root(self) -> Node:
        """The main thread as a tree of nodes; other threads are below it, under their own names."""
        nodes: list[Node] = []
        for row in self.rows():
            node = Node(row)
            nodes.append(node)
            if len(nodes) > 1:
                siblings = nodes[row["parent_id"] or 0].children
                key = node.name
                while key in siblings:  # threads may share a name
                    key += "'"
                siblings[key] = node
        return nodes[0]

    def slices(self) -> list[Slice]:
        """The rows as objects, each with its parent."""
        slices: list[Slice] = []
        for row in self.rows():
            parent = row["parent_id"]
            slices.append(Slice(row, None if parent is None else slices[parent]))
        return slices


def _own_name(column: str) -> str:
    return _SYNONYMS.get(column, column)


def _present(columns: Sequence[Column], usual: Sequence[Column], profiler: Profiler) -> list[Column]:
    """The columns without counters that were not measured; those that were come after the usual ones."""
    counters = [name.replace("-", "_") for name in _core.counter_names()]
    counted = [name for name in counters if name in profiler.rows()[0]]
    shown = [column for column in columns if column not in counters or column in counted]
    return [*shown, *counted] if columns is usual else shown


def _checked(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns, should all their names be known: better said now than at exit."""
    _core.check_columns([_own_name(column) for column in columns if isinstance(column, str)])
    return tuple(columns)  # of a tuple the same one


def _heading(column: str) -> str:
    """What was asked for is what it is called; as with Region Profiler, two columns go by another name."""
    return {"indented_name": "name", "node_id": "id"}.get(column, column.partition("=")[0])


def _values(profiler: Profiler, column: str, unicode: bool) -> list[str]:
    """As a table has them: ``total`` is "84.77 us". A column in whole nanoseconds has nothing but the number."""
    name = _own_name(column).rpartition("=")[2]
    if name.endswith("_ns"):
        return ["" if row[name] is None else str(row[name]) for row in profiler.rows()]
    return [row[0] for row in profiler.texts([_own_name(column)], unicode)[1:]]


def _texts(profiler: Profiler, columns: Sequence[Column], title: str, unicode: bool = False) -> list[list[str]]:
    """A list of titles, then a list of texts a region; ``title`` is the attribute that names a column function."""
    slices = profiler.slices()
    by_column = []
    for column in columns:
        if isinstance(column, str):
            texts = [_heading(column), *_values(profiler, column, unicode)]
            if column == "indented_name":
                texts[1:] = [". " * row.call_depth + text for row, text in zip(slices, texts[1:], strict=True)]
        else:
            texts = [str(getattr(column, title, column.__name__)), *(str(column(row, slices)) for row in slices)]
        by_column.append(texts)
    return [list(row) for row in zip(*by_column, strict=True)]


def _has_unicode(stream: TextIO | None) -> bool:
    """As ``sonde view`` decides for its output: by the locale, and by what the stream can take."""
    if stream is None:
        return bool(_core.look()["unicode"])
    from sonde._runtime.terminal import look_of

    return bool(look_of(stream)["unicode"])


class _TableReporter:
    """Columns and a stream; the formats differ."""

    _format = "table"
    _title = "column_print_name"
    _usual = CONSOLE_COLUMNS

    def __init__(self, columns: Sequence[Column], stream: TextIO | None) -> None:
        self.columns = _checked(columns)
        self.stream = stream

    @property
    def wants_cpu(self) -> bool:
        """Whether ``install`` must measure CPU time for this reporter."""
        return any(isinstance(column, str) and column.split("=")[-1].startswith("cpu") for column in self.columns)

    def _text(self, profiler: Profiler) -> str:
        columns = _present(self.columns, self._usual, profiler)
        names = [_own_name(column) for column in columns if isinstance(column, str)]
        unicode = self._format == "table" and _has_unicode(self.stream)
        if len(names) == len(columns):
            return profiler.format(self._format, names, unicode=unicode)
        titles, *rows = _texts(profiler, columns, self._title, unicode)
        return _core.format_cells(titles, rows, self._format, unicode)

    def dump_profiler(self, profiler: Profiler) -> None:
        """Write the report."""
        if self.stream is None:
            _session.write(self._text(profiler))
            return
        self.stream.write(self._text(profiler))
        self.stream.flush()


class ConsoleReporter(_TableReporter):
    """Prints a table, by default to standard error.

    >>> install(reporter=ConsoleReporter(columns=("name", "total", "self", "p99"), stream=sys.stdout))
    """

    def __init__(self, columns: Sequence[Column] = CONSOLE_COLUMNS, stream: TextIO | None = None) -> None:
        super().__init__(columns, stream)


class CsvReporter(_TableReporter):
    """Writes comma-separated values, by default to standard error.

    >>> install(reporter=CsvReporter(stream=open("regions.csv", "w")))
    """

    _format = "csv"
    _title = "column_name"
    _usual = CSV_COLUMNS

    def __init__(self, columns: Sequence[Column] = CSV_COLUMNS, stream: TextIO | None = None) -> None:
        super().__init__(columns, stream)


class SilentReporter:
    """Prints nothing and keeps the rows: ``rows[0]`` has the column names as given, then one list of strings per
    region.

    The text of ``total`` has its unit, as in "84.77 us"; ``total_us`` and ``total_ns`` are whole numbers.

    >>> silent = SilentReporter()
    >>> install(reporter=silent)
    >>> report()
    >>> silent.rows[1][0]
    '<main>'
    """

    def __init__(self, columns: Sequence[Column] = CONSOLE_COLUMNS) -> None:
        self.columns = _checked(columns)
        self.rows: list[list[str]] | None = None

    def dump_profiler(self, profiler: Profiler) -> None:
        """Keep the rows."""
        self.rows = _texts(profiler, _present(self.columns, CONSOLE_COLUMNS, profiler), "column_name")
