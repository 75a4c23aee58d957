"""PyTorch's profiler with sonde's aggregation: you only change the import.

>>> from sonde.torch import profile, ProfilerActivity, record_function, schedule
>>> with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
...     model(inputs)
>>> print(prof.key_averages(group_by_input_shape=True).table(sort_by="cpu_time_total", row_limit=10))

PyTorch itself collects the events, at its own cost. sonde computes the averages, in C.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from collections.abc import Iterable
from typing import Any

from sonde import _core
from sonde._averages import Average, Averages

try:
    _torch: Any = importlib.import_module("torch")
    _profiler: Any = importlib.import_module("torch.profiler")
except ModuleNotFoundError as missing:
    if missing.name != "torch":
        raise
    raise ImportError("sonde.torch needs PyTorch: pip install torch") from None

ProfilerAction = _profiler.ProfilerAction
ProfilerActivity = _profiler.ProfilerActivity
record_function = _profiler.record_function
schedule = _profiler.schedule
supported_activities = _profiler.supported_activities
tensorboard_trace_handler = _profiler.tensorboard_trace_handler

__all__ = [
    "Average",
    "Averages",
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

#: Python adds up floats more exactly from 3.12 on; the last digit of a table shows it.
_SUMS_ARE_COMPENSATED = sys.version_info >= (3, 12)

_has_warned = False


def _warn_once(reason: str) -> None:
    global _has_warned
    if not _has_warned:
        _has_warned = True
        warnings.warn(
            f"sonde does not know the internals of torch {_torch.__version__} ({reason}); "
            "computing averages from events(), which is slower",
            stacklevel=4,
        )


def _elapsed_word(device: str | None) -> str | None:
    """Which method of an event says what device time a CPU event carries itself."""
    if device is None:
        return None
    if device == _torch._C._get_privateuse1_backend_name():
        return "privateuse1_elapsed_us"
    return "cuda_elapsed_us" if device == "cuda" else None


def _read_events(inner: Any) -> _core.KinetoEvents:
    """The events of a finished collection, read once. AttributeError when PyTorch's private names have moved."""
    results = inner.kineto_results
    is_cpu_only = inner.kineto_activities == {ProfilerActivity.CPU} and not _torch.is_vulkan_available()
    return _core.kineto_events(
        results.events(),
        results.trace_start_ns(),
        _torch._C._demangle,
        reads_devices=not is_cpu_only,
        has_device=bool(inner.use_device),
        reads_flops=bool(inner.with_flops),
        is_compensated=_SUMS_ARE_COMPENSATED,
        elapsed=_elapsed_word(inner.use_device),
    )


def _row_of(row: Any) -> tuple[Any, ...]:
    """One of PyTorch's own rows as one of sonde's."""
    return (
        row.key,
        row.count,
        float(row.cpu_time_total),
        float(row.self_cpu_time_total),
        float(row.cpu_time),
        float(row.device_time_total),
        float(row.self_device_time_total),
        float(row.device_time),
        row.cpu_memory_usage,
        row.self_cpu_memory_usage,
        row.device_memory_usage,
        row.self_device_memory_usage,
        row.flops or 0,
        str(row.input_shapes),
        getattr(row, "overload_name", None) or "",
        "\n".join(row.stack or ()),
        row.node_id,
        int(row.device_type),
        row.scope or 0,
        bool(row.is_async),
        bool(row.is_legacy),
        bool(getattr(row, "is_user_annotation", False)),
        row.cpu_parent is not None,
    )


class profile(_profiler.profile):  # type: ignore[misc]
    """PyTorch's own ``torch.profiler.profile``, with the same arguments and methods; the averages are sonde's.

    >>> with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as prof:
    ...     model(inputs)
    >>> prof.key_averages().to_csv("ops.csv")
    """

    _is_started = False
    _events_read: tuple[Any, _core.KinetoEvents] | None = None

    def start(self) -> None:
        """Start collecting. RuntimeError if this profile is running already.

        >>> prof.start()
        """
        if self._is_started:
            raise RuntimeError("this profile is already running; stop() it first")
        super().start()
        self._is_started = True

    def stop(self) -> None:
        """Stop collecting. RuntimeError if this profile is not running.

        >>> prof.stop()
        """
        if not self._is_started:
            raise RuntimeError("this profile is not running; start() it first")
        self._is_started = False
        super().stop()

    def _kineto(self) -> _core.KinetoEvents | None:
        """The events as the core has read them; None: take them from events()."""
        inner = self.profiler
        if getattr(inner, "acc_events", False):
            return None  # those of earlier cycles are in events() only
        try:
            results = inner.kineto_results
            if results is None:
                raise RuntimeError("this profile is still running; stop() it before asking for averages")
            if self._events_read is None or self._events_read[0] is not results:
                self._events_read = (results, _read_events(inner))
            return self._events_read[1]
        except (AttributeError, TypeError) as moved:
            _warn_once(str(moved))
            return None

    def _finished(self) -> Any:
        """PyTorch's inner profile. RuntimeError if nothing was collected, or if it was not to keep events."""
        if getattr(self, "profiler", None) is None:
            raise RuntimeError("nothing was profiled; call start() before key_averages()")
        if getattr(self.experimental_config, "trace_only", False):
            raise RuntimeError("trace_only=True keeps no averages; use export_chrome_trace()")
        return self.profiler

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> Averages:
        """The events summed by name and, if you like, by input shapes, stack lines and overload.

        >>> print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))
        """
        inner = self._finished()
        events = self._kineto()
        if events is None:
            core = self._from_events(group_by_input_shape, group_by_stack_n, group_by_overload_name)
        else:
            core = events.averages(group_by_input_shape, max(group_by_stack_n, 0), group_by_overload_name)
        return Averages(
            core,
            use_device=getattr(inner, "use_device", None),
            profile_memory=self.profile_memory,
            with_flops=self.with_flops,
        )

    def _from_events(self, by_shape: bool, stack_n: int, by_overload: bool) -> _core.OpAverages:
        """The documented way: PyTorch's own averages, row by row."""
        more = {"group_by_overload_name": True} if by_overload else {}
        rows: Iterable[Any] = self.events().key_averages(by_shape, stack_n, **more)
        return _core.op_averages([_row_of(row) for row in rows])

    def transfers(self) -> list[dict[str, Any]]:
        """Where data moves, by line: copies, transfers between host and device, and waits for a data loader.

        Bytes are known for transfers, and for copies with ``record_shapes=True``; lines with ``with_stack=True``.

        >>> for row in prof.transfers():
        ...     print(row["name"], row["place"], row["bytes"], row["bytes_per_second"])
        """
        answer: dict[str, Any] = json.loads(self._transfers_as("json"))
        return list(answer["rows"])

    def transfers_table(self) -> str:
        """The same as a text table.

        >>> print(prof.transfers_table())
        """
        return self._transfers_as("table")

    def _transfers_as(self, name: str) -> str:
        self._finished()
        events = self._kineto()
        if events is None:
            raise RuntimeError("transfers() needs events that this torch does not provide")
        return events.transfers(name, self.with_stack)
