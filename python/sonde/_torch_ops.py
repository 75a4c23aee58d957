"""PyTorch's operators next to those of NumPy: PyTorch's own profiler, for a block or for a window of a whole run.

PyTorch keeps every call until its profiler stops, and says only then how many it has. So a window has parts of so
little CPU time that one cannot have too many, and ends after some optimizer steps, events, or CPU time. A profiler of
the program itself comes first.
"""

from __future__ import annotations

import _thread
import gc
import os
import sys
import time
import warnings

from sonde import _core
from sonde._runtime import session as _session
from sonde._runtime.imports import Watch

TYPE_CHECKING = False  # as typing has it; importing that would double the time of `import sonde`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

EVENTS = 100_000  # of a window, about: 5 KB each until they are read
PART_SECONDS = 0.25  # of CPU time, in which there are up to 150,000 events
CPU_SECONDS = 2.0  # of a window: up to the first call of a module, and from there
STEP_SECONDS = 20.0  # of one that a number of steps is to end
TICK_SECONDS = 0.05
WAIT_NS = 5_000_000_000  # for the main thread to end a window, which may itself wait for others
_SEVEREST = 5  # of what PyTorch's library writes to standard error
_STARTERS = ("_prepare_profiler", "_enable_profiler")  # what starts a profiler, in torch.autograd.profiler
_WITHIN = ("torch/optim/optimizer.py", "torch/autograd/function.py")  # where an event is open while Python runs

_running: Collector | None = None
_outer: Collector | None = None  # of `sonde run`
_ended: list[Collector] = []  # those that it had
_clocks: list[int] = []  # threads that read the CPU clock
_interrupted: Collector | None = None  # by a fork
_handles_forks = False


class Collector:
    """PyTorch's own profiler, running along with sonde's, from now or from when the program imports PyTorch.

    ``window`` is the number of optimizer steps; 0: so much CPU time; None: there is no window.
    """

    def __init__(self, shapes: bool, window: int | None, is_outer: bool = False) -> None:
        self.is_outer = is_outer
        self.event_count = 0
        self.spent_ns = 0  # of CPU time, by starting, stopping and reading
        self._shapes = shapes
        self._window = window
        self._prof: Any = None
        self._begun = (0, 0)
        self._unjoined: Any = None  # a profile whose operators the measurement does not have
        self._bounds: _Bounds | None = None
        self._watch = Watch({"torch"}, self._start)
        torch = sys.modules.get("torch")
        if torch is None:
            self._watch.enter()
        elif hasattr(torch, "autograd"):  # or it is being imported
            self._start(torch)

    def _start(self, torch: Any) -> None:
        """Whatever is in the way, the program goes on."""
        try:
            self._start_now(torch)
        except Exception as error:
            self._note(f"PyTorch's operators are not measured: {error}")

    def _start_now(self, torch: Any) -> None:
        global _running
        self._watch.leave()
        if _running is not None and _running.is_outer:
            _running.end()  # what it has so far is in the recording
        reason = _why_not(torch)
        if reason is not None:
            self._note(reason)
            return
        self._prof = self._timed(lambda: _started(torch, self._shapes))
        self._begun = _core.kineto_begin()
        _running = self
        _guard(torch, True)
        if self._window is not None and self._bounds is None:
            self._bounds = _Bounds(torch, self, self._window)

    def end(self) -> None:
        """Stop collecting; while something is measured, its operators are in that from then on."""
        self._watch.leave()
        if self._bounds is not None:
            self._bounds.end()
        self.stop()

    def stop(self) -> bool:
        """Whether it may start again: nothing is open that would end in another profile, which breaks PyTorch."""
        global _running
        prof, self._prof = self._prof, None
        if prof is None:
            return True
        _running = None
        _guard(sys.modules["torch"], False)
        if not _core.is_running():
            return False
        stopped_ns = time.time_ns()
        events: _core.KinetoEvents | None = None
        try:
            with _Silence():
                self._timed(lambda: prof.profiler.__exit__(None, None, None))
            events = self._timed(prof._kineto)
            self._unjoined = None if events is not None else prof
            raw = prof.profiler.kineto_results.events()
            self.event_count += len(raw)
        except Exception as error:
            self._note(f"PyTorch's operators are lost: {error}")
            raw = []
        self._timed(lambda: _core.kineto_end(self._begun, events, self._shapes))
        self._tell()
        return not any(event.end_ns() >= stopped_ns for event in raw)

    def collect_no_more(self) -> None:
        """On any thread, while operators run on others: then PyTorch's profiler cannot be stopped safely."""
        prof = self._prof
        toggle = getattr(getattr(prof, "profiler", None), "toggle_collection_dynamic", None)
        if toggle is not None:
            toggle(False, prof.activities)

    def start_again(self) -> None:
        """After ``stop`` has allowed it."""
        torch = sys.modules["torch"]
        if _running is None and _why_not(torch) is None:
            self._start(torch)

    def give_way(self) -> None:
        """The program starts a profiler of its own."""
        self.end()
        self._note("PyTorch's operators are recorded only up to here: the program starts PyTorch's own profiler")

    def more(self, by_shape: bool) -> _core.Profile | None:
        """Its operators, unless the measurement has them already."""
        found: _core.Profile | None = None if self._unjoined is None else self._unjoined._profile(by_shape)
        return found

    def _timed(self, work: Callable[[], Any]) -> Any:
        begun = time.thread_time_ns()
        try:
            return work()
        finally:
            self.spent_ns += time.thread_time_ns() - begun

    def _tell(self) -> None:
        """What the recording says of PyTorch's own cost. Under ``sonde run``, blocks are a part of it."""
        if _outer is not None and not self.is_outer and self not in _ended:
            _ended.append(self)
        known = [self] if _outer is None and not self.is_outer else {*_ended, self, *([_outer] if _outer else [])}
        _core.set_info("torch_events", str(sum(one.event_count for one in known)))
        _core.set_info("own_torch_ns", str(sum(one.spent_ns for one in known)))
        if self._window is not None:
            _core.set_info("torch_window", str(self._window))

    def _note(self, text: str) -> None:
        if self.is_outer:
            _session.say(text)
        else:
            warnings.warn(text, stacklevel=6)


class _Bounds:
    """Where a window ends: PyTorch's own hooks count modules and steps, and a thread reads the CPU clock."""

    def __init__(self, torch: Any, collector: Collector, steps: int) -> None:
        self._collector = collector
        self._steps = steps
        self._steps_done = 0
        self._is_early = True  # no module was called
        self._may_go_on = False  # it was stopped so early
        self._number = 0  # of the thread that runs; another one has ended
        self._until = self._last = 0.0  # the CPU time at which the part ends, and the window
        self._events_left = 0
        self._hooks = [torch.nn.modules.module.register_module_forward_pre_hook(self._on_module)]
        if steps:
            optimizer: Any = sys.modules["torch.optim.optimizer"]  # torch.optim deletes its name
            self._hooks.append(optimizer.register_optimizer_step_post_hook(self._on_step))
        self._go(CPU_SECONDS)

    def end(self) -> None:
        """There is no more to come."""
        self._may_go_on = False
        self._number += 1
        while self._hooks:
            self._hooks.pop().remove()

    def _go(self, seconds: float) -> None:
        self._last = time.process_time() + seconds
        self._events_left = EVENTS
        self._go_on(PART_SECONDS)

    def _go_on(self, seconds: float) -> None:
        self._until = min(time.process_time() + seconds, self._last)
        self._number += 1
        _thread.start_new_thread(self._watch_clock, (self._number,))

    def _watch_clock(self, number: int) -> None:
        """On a thread of its own. The main thread ends the window, because no operator of its own runs meanwhile."""
        _clocks.append(_thread.get_native_id())
        _quiet()
        is_asked_ns = 0
        while self._number == number:
            time.sleep(TICK_SECONDS)
            if _main_imports():
                self._last = max(self._last, time.process_time() + CPU_SECONDS)
                self._until = max(self._until, time.process_time() + PART_SECONDS)
            elif is_asked_ns == 0 and time.process_time() >= self._until:
                is_asked_ns = time.monotonic_ns()
                _core.call_soon(lambda: self._time_is_over(number))
            elif is_asked_ns != 0 and time.monotonic_ns() - is_asked_ns > WAIT_NS and time.process_time() >= self._last:
                self._collector.collect_no_more()
                self.end()
        _clocks.remove(_thread.get_native_id())
        _quiet()

    def _time_is_over(self, number: int) -> None:
        if self._number != number:
            return
        is_last = time.process_time() >= self._last
        if not is_last and (_is_in(sys._getframe(), _WITHIN) or _has_open_blocks()):
            self._go_on(PART_SECONDS / 2)
            return
        self._number += 1
        before = self._collector.event_count
        may_go_on = self._collector.stop()
        count = self._collector.event_count - before
        self._events_left -= count
        if may_go_on and not is_last and self._events_left > count / 2:  # the next part has as many, more or less
            self._collector.start_again()
            self._go_on(PART_SECONDS)
            return
        self._may_go_on = may_go_on and self._is_early
        if not self._may_go_on:
            self.end()

    def _on_module(self, module: Any, arguments: Any) -> None:
        """The first call of a module: what came before was to get ready."""
        self._is_early = False
        self._hooks.pop(0).remove()
        if self._may_go_on:
            self._may_go_on = False
            self._collector.start_again()
        self._go(STEP_SECONDS if self._steps else CPU_SECONDS)

    def _on_step(self, *arguments: Any) -> None:
        self._steps_done += 1
        if self._steps_done == self._steps:
            self._collector.end()


def begin(shapes: bool, window: int | None, stacks: bool) -> Collector:
    """For a block, whose wish this is."""
    return Collector(shapes, window)


def follow(wanted: dict[str, Any] | None) -> None:
    """What ``sonde run`` wants now: it may pause, and begins a new window when it goes on."""
    global _outer
    if wanted is None and _outer is not None:
        _outer.end()
        _ended.append(_outer)
        _outer = None
    elif wanted is not None and _outer is None:
        _outer = Collector(wanted["shapes"], wanted["window"], is_outer=True)


def _started(torch: Any, shapes: bool) -> Any:
    """PyTorch's inner profiler: the outer one would import its compiler."""
    from sonde.torch import ProfilerActivity, _autograd, profile

    config = _all_threads(torch)
    prof = profile(activities=[ProfilerActivity.CPU], record_shapes=shapes, experimental_config=config)
    prof.profiler = _autograd.profile(use_kineto=True, record_shapes=shapes, experimental_config=config)
    _enter(prof.profiler)
    _handle_forks()
    return prof


def _enter(inner: Any) -> None:
    """In its two steps: PyTorch's library chooses what it writes to standard error in the first."""
    prepare, begin = getattr(inner, "_prepare_trace", None), getattr(inner, "_start_trace", None)
    if prepare is None or begin is None:
        inner.__enter__()
        return
    prepare()
    with _Silence():
        begin()


class _Silence:
    """While we start and stop PyTorch's profiler, it writes no lines of its own to the program's standard error.

    Its library keeps the least severity that it writes in a variable. All else is as the program has it.
    """

    _level: Any = None  # the variable; None: not looked for yet
    _is_missing = False

    def __enter__(self) -> None:
        level = self._find()
        self._before = None if level is None else level.value
        if level is not None:
            level.value = max(level.value, _SEVEREST + 1)

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            type(self)._level.value = self._before

    @classmethod
    def _find(cls) -> Any:
        if cls._level is None and not cls._is_missing:
            import ctypes  # which PyTorch has imported

            (folder, *_) = getattr(sys.modules.get("torch"), "__path__", None) or [""]
            file = f"{folder}/lib/libtorch_cpu.so"
            try:
                library = ctypes.CDLL(file, mode=os.RTLD_LAZY | os.RTLD_NOLOAD)
                cls._level = ctypes.c_int.in_dll(library, "_ZN9libkineto6Logger14severityLevel_E")
            except (OSError, ValueError):
                cls._is_missing = True
        return cls._level


def _why_not(torch: Any) -> str | None:
    """PyTorch has one profile at a time: a second one would end the first."""
    if _running is not None:
        return "PyTorch's operators are measured only for the enclosing block"
    if torch.autograd._profiler_enabled():
        return "PyTorch's operators are not measured: its profiler is already running"
    return None


def _guard(torch: Any, is_on: bool) -> None:
    """While ours runs, what starts a profiler ends ours first."""
    module = torch.autograd.profiler
    for name in _STARTERS:
        start = getattr(module, name, None)
        ours = getattr(start, "_sonde_original", None)
        if is_on and start is not None and ours is None:
            setattr(module, name, _giving_way(start))
        elif not is_on and ours is not None:
            setattr(module, name, ours)


def _giving_way(start: Any) -> Any:
    def first_ours(*args: Any, **kwargs: Any) -> Any:
        if _running is not None:
            _running.give_way()
        return start(*args, **kwargs)

    first_ours._sonde_original = start  # type: ignore[attr-defined]
    return first_ours


def _is_in(frame: Any, files: tuple[str, ...]) -> bool:
    """Whether a frame or one of its callers is of one of these files."""
    while frame is not None and not frame.f_code.co_filename.endswith(files):
        frame = frame.f_back
    return frame is not None


def _main_imports() -> bool:
    """Whether the main thread is importing something, which takes time and calls few operators."""
    threading = sys.modules.get("threading")
    frame = None if threading is None else sys._current_frames().get(threading.main_thread().ident)
    return _is_in(frame, ("<frozen importlib._bootstrap>",))


def _has_open_blocks() -> bool:
    """Whether a ``with record_function(...)`` of the program may be open: that keeps its object alive."""
    kind = sys.modules["torch.autograd.profiler"].record_function
    return any(one.record is not None for one in gc.get_objects() if type(one) is kind)


def _quiet() -> None:
    """What our threads wait for is nothing of the program's."""
    notebook = _session.cells()
    _core.quiet_threads(_clocks if notebook is None else [*notebook._kernel_threads(), *_clocks])


def _handle_forks() -> None:
    global _handles_forks
    if not _handles_forks:
        _handles_forks = True
        os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)


def _before_fork() -> None:
    """A child could not stop PyTorch's profiler: there is none while it comes to be."""
    global _interrupted
    collector = _running
    if collector is not None:
        _interrupted = collector if collector.stop() else None


def _after_fork() -> None:
    global _interrupted
    collector, _interrupted = _interrupted, None
    if collector is not None:
        collector.start_again()


def _in_child() -> None:
    """The operators of a forked process are not recorded."""
    global _interrupted, _outer
    if _interrupted is not None and _interrupted._bounds is not None:
        _interrupted._bounds.end()
    _interrupted = _outer = None


def _all_threads(torch: Any) -> Any:
    """A wish for the operators of all threads; None where this PyTorch knows those of the calling one only."""
    try:
        return torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    except (AttributeError, TypeError):
        return None
