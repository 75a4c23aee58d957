"""Cells of a notebook, and of IPython at a terminal: what they are called, their texts, and which threads are theirs.

Everything here asks what is loaded already; nothing imports IPython.
"""

from __future__ import annotations

import glob
import os
import sys

from sonde import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Modules whose threads belong to the notebook, not to the program in it.
_KERNEL = ("ipykernel", "zmq", "tornado", "IPython", "jupyter_client", "debugpy", "_pydev", "pydevd", "google.colab")
_NATIVE_KERNEL = "ZMQbg/"
# What runs cells.
_RUNNERS = ("IPython", "ipykernel", "jupyter_client", "zmq", "tornado", "traitlets")


def shell() -> Any:
    """The running IPython; None where there is none."""
    module = sys.modules.get("IPython")
    found = getattr(module, "get_ipython", None)
    return None if found is None else found()


def begin() -> None:
    """Before something is measured: name the cells, and leave the notebook's own threads alone."""
    name_files()
    _core.quiet_threads(_kernel_threads())


def end() -> None:
    """After all was measured: the numbers of threads may be others' next time."""
    _core.quiet_threads([])


def runner_files() -> tuple[str, ...]:
    """Patterns for the files of what runs cells. A program's own folder may have the name of such a package."""
    packages = [sys.modules.get(name) for name in _RUNNERS]
    return tuple(f"{glob.escape(folder)}/*" for package in packages for folder in getattr(package, "__path__", ()))


def name_files() -> set[str]:
    """Show the code of cells in reports as ``In[3]``, with its text. Returns the files that have a name now."""
    running = shell()
    names = _names(running)
    for file, name in names.items():
        _core.name_file(file, name)
        text = _text_of(running, file)
        if text is not None:
            _core.add_source(name, text)
    return set(names)


def title() -> str:
    """What recordings made here are called: the notebook's name, where anybody knows it."""
    path = os.environ.get("JPY_SESSION_NAME") or shell().user_ns.get("__vsc_ipynb_file__")
    if isinstance(path, str) and path:
        return os.path.basename(path)  # noqa: PTH119
    return "notebook" if "ipykernel" in sys.modules else "ipython"


def file_of(running: Any, frame: Any) -> tuple[str, int] | None:
    """The cell's file and line of the frame, or of the nearest caller in a cell."""
    numbers = _numbers(running)
    while frame is not None:
        if frame.f_code.co_filename in numbers:
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def _numbers(running: Any) -> dict[str, int]:
    """The number of the cell, by the name of its file."""
    found = getattr(running.compile, "_filename_map", None)
    return found if isinstance(found, dict) else {}


def _names(running: Any) -> dict[str, str]:
    """Of cells that ran inside another one, the later ones get a letter."""
    taken: dict[int, int] = {}
    found = {}
    for file, number in _numbers(running).items():
        taken[number] = taken.get(number, 0) + 1
        again = "" if taken[number] == 1 else f".{taken[number]}"
        found[file] = f"In[{number}]{again}"
    return found


def _text_of(running: Any, file: str) -> str | None:
    """As it was typed, where that has the same lines as what ran."""
    lines = sys.modules.get("linecache")
    entry = None if lines is None else lines.cache.get(file)
    if entry is None or len(entry) != 4:
        return None
    ran: list[str] = entry[2]
    typed = _typed(running, _numbers(running)[file])
    return "".join(typed if len(typed) == len(ran) else ran)


def _typed(running: Any, number: int) -> list[str]:
    cells = getattr(getattr(running, "history_manager", None), "input_hist_raw", [])
    if not 0 <= number < len(cells):
        return []
    typed: list[str] = cells[number].splitlines(keepends=True)
    while typed and not typed[0].strip():  # IPython drops empty lines at the beginning
        del typed[0]
    return typed


def _kernel_threads() -> list[int]:
    """The native numbers of threads that the notebook started for itself."""
    threading = sys.modules.get("threading")
    main = os.getpid()
    found = []
    for thread in threading.enumerate() if threading is not None else []:
        if thread.native_id not in (None, main) and _is_kernel(thread):
            found.append(thread.native_id)
    return found + _native_threads()


def _is_kernel(thread: Any) -> bool:
    target = getattr(thread, "_target", None)
    owner = type(getattr(target, "__self__", None))
    homes = (type(thread).__module__, getattr(target, "__module__", None), owner.__module__)
    return any(isinstance(home, str) and home.startswith(_KERNEL) for home in homes)


def _native_threads() -> list[int]:
    found = []
    for number in os.listdir("/proc/self/task"):  # noqa: PTH208
        try:
            with open(f"/proc/self/task/{number}/comm") as file:
                if file.read().startswith(_NATIVE_KERNEL):
                    found.append(int(number))
        except OSError:
            continue
    return found
