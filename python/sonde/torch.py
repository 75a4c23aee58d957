"""PyTorch's profiler with sonde's aggregation: only the import changes.

>>> from sonde.torch import profile, ProfilerActivity, record_function, schedule
>>> with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
...     model(inputs)
>>> print(prof.key_averages(group_by_input_shape=True).table(sort_by="cpu_time_total", row_limit=10))

PyTorch itself collects the events, at its own cost. sonde computes the averages, in C.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from typing import Any

from sonde import _core
from sonde._averages import Average, Averages

try:
    _torch: Any = importlib.import_module("torch")
    _profiler: Any = importlib.import_module("torch.profiler")
    _autograd: Any = importlib.import_module("torch.autograd.profiler")
except ModuleNotFoundError as missing:
    if missing.name != "torch":
        raise
    raise ImportError("sonde.torch needs PyTorch: pip install torch") from None

ProfilerActivity = _profiler.ProfilerActivity

__all__ = ["Average", "Averages", "profile"]
__all__ += [name for name in dict.fromkeys((*_profiler.__all__, *_autograd.__all__)) if name not in __all__]


def __getattr__(name: str) -> Any:
    """Every other public name of ``torch.profiler`` and ``torch.autograd.profiler`` is PyTorch's own."""
    for module in (_profiler, _autograd):
        if not name.startswith("_") and hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
        lines = max(group_by_stack_n, 0)
        found = self._profile(group_by_input_shape, lines, group_by_overload_name)
        return Averages(
            found.op_averages(None, None, group_by_input_shape, lines, group_by_overload_name),
            use_device=getattr(inner, "use_device", None),
            profile_memory=self.profile_memory,
            with_flops=self.with_flops,
        )

    def _profile(self, by_shape: bool, lines: int = 0, by_overload: bool = False) -> _core.Profile:
        """What was collected, with what a question asks for."""
        events = self._kineto()
        if events is not None:
            return events.profile(by_shape, by_overload, lines > 0, False)
        # The documented way: PyTorch's own averages.
        more = {"group_by_overload_name": True} if by_overload else {}
        return _core.torch_profile(self.events().key_averages(by_shape, lines, **more))

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
        return events.profile(False, False, self.with_stack, True).transfers(name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the operators as a recording, for ``sonde view --ops`` and all other commands.

        >>> prof.save("train.sonde")
        """
        self._recorded().save(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write an HTML page with the operators.

        >>> prof.report("train.html")
        """
        _core.write_page(os.path.abspath(os.fsdecode(path)), self._recorded().page())  # noqa: PTH100

    def _repr_html_(self) -> str | None:
        """What a notebook shows of it when it is the last thing in a cell: the page."""
        from sonde._notebook import display

        if getattr(self, "profiler", None) is None or self._is_started:
            return None
        recorded = self._recorded()
        return display.frame(recorded.format(view="ops", width=110), recorded.page())

    def _recorded(self) -> _core.Profile:
        """What was collected, as a recording has it."""
        self._finished()
        events = self._kineto()
        return self._profile(self.record_shapes) if events is None else events.recorded(self.record_shapes)
