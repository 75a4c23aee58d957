"""PyTorch's operators for ``sonde.ops``: its rows next to those of NumPy, if the program has imported PyTorch."""

from __future__ import annotations

import sys
import warnings

from sonde import _core

TYPE_CHECKING = False  # as typing has it; importing that would double the time of `import sonde`
if TYPE_CHECKING:
    from typing import Any


_is_running = False


class Collector:
    """PyTorch's own profiler, running along with sonde's. Made by ``begin``."""

    def __init__(self, prof: Any, shapes: bool) -> None:
        self._prof = prof
        self._shapes = shapes
        self._begun = _core.kineto_begin()
        self._is_joined = False

    def end(self) -> None:
        """Stop collecting; while something is measured, its operators are in that from then on."""
        global _is_running
        _is_running = False
        if not _core.is_running():  # in a child that was forked meanwhile PyTorch's threads are no more
            return
        events: _core.KinetoEvents | None = None
        try:
            self._prof.stop()
            events = self._prof._kineto()
        except Exception as error:
            warnings.warn(f"PyTorch's operators are lost: {error}", stacklevel=5)
        _core.kineto_end(self._begun, events, self._shapes)
        self._is_joined = events is not None

    def join(self, averages: _core.OpAverages, by_shape: bool) -> None:
        """Add its rows to those of the measurement, unless that has them already."""
        if not self._is_joined:
            averages.join(self._prof.key_averages(group_by_input_shape=by_shape)._core)


def begin(shapes: bool) -> Collector | None:
    """Start collecting. None: the program has not imported PyTorch, or it collects already, which is noted."""
    global _is_running
    torch: Any = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "autograd"):  # or it is being imported
        return None
    reason = _why_not(torch)
    if reason is not None:
        warnings.warn(reason, stacklevel=5)
        return None
    from sonde.torch import ProfilerActivity, profile

    prof = profile(activities=[ProfilerActivity.CPU], record_shapes=shapes, experimental_config=_all_threads(torch))
    prof.start()
    _is_running = True
    return Collector(prof, shapes)


def _why_not(torch: Any) -> str | None:
    """PyTorch has one profile at a time: a second one would end the first."""
    if _is_running:
        return "PyTorch's operators are measured only for the enclosing block"
    if torch.autograd._profiler_enabled():
        return "PyTorch's operators are not measured: its profiler is already running"
    return None


def _all_threads(torch: Any) -> Any:
    """A wish for the operators of all threads; None where this PyTorch knows those of the calling one only."""
    try:
        return torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    except (AttributeError, TypeError):
        return None
