"""Averages of operators: what ``key_averages()`` returns, for PyTorch and for NumPy."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, overload

from sonde import _core


@dataclass(frozen=True, slots=True)
class Average:
    """One row: an operator, with the attributes that PyTorch's rows have. Times are microseconds, memory is bytes.

    >>> slowest = max(prof.key_averages(), key=lambda row: row.self_cpu_time_total)
    >>> slowest.key, slowest.count
    """

    key: str
    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    cpu_time: float
    device_time_total: float
    self_device_time_total: float
    device_time: float
    cpu_memory_usage: int
    self_cpu_memory_usage: int
    device_memory_usage: int
    self_device_memory_usage: int
    flops: int
    shapes_text: str
    overload_name: str
    stack_text: str
    node_id: int
    device_number: int
    scope: int
    is_async: bool
    is_legacy: bool
    is_user_annotation: bool
    has_parent: bool

    @property
    def input_shapes(self) -> Any:
        """The shapes of the inputs as lists, or "" when rows were not grouped by them."""
        if not self.shapes_text.startswith("["):
            return self.shapes_text
        try:
            return json.loads(self.shapes_text)
        except ValueError:
            return self.shapes_text

    @property
    def stack(self) -> list[str]:
        """The lines that called it, the innermost first."""
        return self.stack_text.split("\n") if self.stack_text else []

    @property
    def device_type(self) -> Any:
        """Where it ran: PyTorch's DeviceType, or its number when PyTorch is not loaded."""
        torch = sys.modules.get("torch")
        return self.device_number if torch is None else torch.autograd.DeviceType(self.device_number)

    @property
    def cpu_time_str(self) -> str:
        """``cpu_time`` with its unit, as in the table; the others that end in ``_str`` are alike."""
        return _core.op_time_text(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        return _core.op_time_text(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        return _core.op_time_text(self.self_cpu_time_total)

    @property
    def device_time_str(self) -> str:
        return _core.op_time_text(self.device_time)

    @property
    def device_time_total_str(self) -> str:
        return _core.op_time_text(self.device_time_total)

    @property
    def self_device_time_total_str(self) -> str:
        return _core.op_time_text(self.self_device_time_total)


class Averages(Sequence[Average]):
    """The rows of ``key_averages()``, in the order in which the operators first ran.

    >>> print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))
    """

    def __init__(
        self,
        core: _core.OpAverages,
        *,
        use_device: str | None = None,
        profile_memory: bool = False,
        with_flops: bool = False,
    ) -> None:
        self._core = core
        self._use_device = use_device
        self._profile_memory = profile_memory
        self._with_flops = with_flops
        self._rows: list[Average] | None = None

    def _all(self) -> list[Average]:
        if self._rows is None:
            self._rows = [Average(*row) for row in self._core.rows()]
        return self._rows

    def __len__(self) -> int:
        return len(self._core)

    @overload
    def __getitem__(self, index: int) -> Average: ...
    @overload
    def __getitem__(self, index: slice) -> list[Average]: ...
    def __getitem__(self, index: int | slice) -> Average | list[Average]:
        return self._all()[index]

    def __iter__(self) -> Iterator[Average]:
        return iter(self._all())

    def __str__(self) -> str:
        return self.table()

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The table, character for character as PyTorch prints it. A ``row_limit`` of -1 shows all rows.

        >>> print(averages.table(sort_by="self_cpu_time_total", row_limit=20))
        """
        return self._core.table(
            sort_by,
            row_limit,
            max_src_column_width,
            max_name_column_width,
            max_shapes_column_width,
            header,
            top_level_events_only,
            time_unit,
            self._use_device,
            self._profile_memory,
            self._with_flops,
        )

    def total_average(self) -> Average:
        """The sum of all rows, under the name "Total"."""
        return Average(*self._core.total())

    @property
    def self_cpu_time_total(self) -> float:
        """The self time of all rows, in microseconds."""
        return self.total_average().self_cpu_time_total

    def to_csv(self, path: str | Path | None = None, sort_by: str | None = None) -> str:
        """All rows and columns as comma-separated values; also written to `path` if you give one.

        >>> averages.to_csv("ops.csv", sort_by="cpu_time_total")
        """
        text = self._core.csv(sort_by)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with one row per operator.

        >>> averages.to_dataframe().sort_values("cpu_time_total")
        """
        try:
            import pandas  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            raise ImportError("to_dataframe() needs pandas: pip install pandas") from None
        hidden = {"shapes_text": "input_shapes", "stack_text": "stack", "device_number": "device_type"}
        names = [hidden.get(field.name, field.name) for field in fields(Average)]
        return pandas.DataFrame(self._core.rows(), columns=names)
