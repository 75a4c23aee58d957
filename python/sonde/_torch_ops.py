"""PyTorch's operators for ``sonde.ops``: its rows beside those of NumPy, when the program has imported PyTorch."""

from __future__ import annotations

import sys
import warnings

TYPE_CHECKING = False  # as typing has it; importing that would double the time of `import sonde`
if TYPE_CHECKING:
    from typing import Any

    from sonde import _core


class Collector:
    """A collection of PyTorch's own that runs beside ours. Made by ``begin``."""

    def __init__(self, prof: Any) -> None:
        self._prof = prof

    def end(self) -> None:
        """Stop collecting."""
        self._prof.stop()

    def averages(self, by_shape: bool) -> _core.OpAverages:
        """The rows, to be joined with others: ``_core.op_averages(a.rows() + b.rows())``."""
        core: _core.OpAverages = self._prof.key_averages(group_by_input_shape=by_shape)._core
        return core


def begin(shapes: bool) -> Collector | None:
    """Start collecting. None: the program has not imported PyTorch, or profiles with it already, which is noted."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return None
    if torch.autograd._profiler_enabled():  # a second one would end the first
        warnings.warn("PyTorch's operators are not in the table: its profiler is running already", stacklevel=3)
        return None
    from sonde.torch import ProfilerActivity, profile

    prof = profile(activities=[ProfilerActivity.CPU], record_shapes=shapes)
    prof.start()
    return Collector(prof)
