"""Running a program as if Python had been started with it."""

from __future__ import annotations

import builtins
import os
import sys

from sonde import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Program:
    """A file, a module or a text, and the words after it.

    >>> Program(["train.py", "--fast"]).run(profile.enable)
    """

    def __init__(self, words: list[str], kind: str = "file") -> None:
        self.words = words
        self.kind = kind
        self.path = _find_module(words[0]) if kind == "module" else _find_file(words[0]) if kind == "file" else None

    @classmethod
    def of_process(cls) -> Program:
        """What this interpreter was started for, before it begins.

        >>> Program.of_process().path
        """
        kind = {"-m": "module", "-c": "code"}.get(sys.argv[0], "file")
        if kind == "file":
            return cls([sys.argv[0] or "-", *sys.argv[1:]])
        at = len(sys.orig_argv) - len(sys.argv)  # the text, alone or behind its option: -Bm module, -cpass
        word, before = sys.orig_argv[at], sys.orig_argv[at - 1]
        if not (before.startswith("-") and before.endswith(kind[0])):
            word = word.partition(kind[0])[2]
        return cls([word, *sys.argv[1:]], kind)

    @property
    def argv(self) -> list[str]:
        """What the program finds in ``sys.argv``, as long as it has not begun."""
        first = {"module": "-m", "code": "-c"}.get(self.kind, self.words[0])
        return [first, *self.words[1:]]

    @property
    def command(self) -> list[str]:
        """What the user started, as shown in reports: a program text is only called one."""
        return ["-m", *self.words] if self.kind == "module" else self.argv

    def run(self, start: Callable[[], object]) -> type[BaseException] | None:
        """Run it as ``__main__``, with its own ``sys.argv`` and ``sys.path``; ``start`` is called right before.

        What it raises is printed as without us, and its class returned; only ``SystemExit`` comes out.

        >>> Program(["train.py"]).run(profile.enable)
        """
        sys.argv[:] = self.argv
        names = _new_main()
        source = _take_boot_text()
        if self.kind == "module":
            return self._run_module(start, _folder(), self.words[0], True)
        if self.kind == "code":
            if source is not None:
                _keep_text(source, self.words[0])
            _set_first_path("")
            return _core.run_alone(start, exec, self.words[0], names)
        return self._run_file(start, names)

    def _run_module(
        self, start: Callable[[], object], folder: str | None, name: str, sets_argv: bool
    ) -> type[BaseException] | None:
        from runpy import _run_module_as_main  # type: ignore[attr-defined]

        if folder is not None:
            _set_first_path(folder)
        return _core.run_alone(start, _run_module_as_main, name, sets_argv)

    def _run_file(self, start: Callable[[], object], names: dict[str, Any]) -> type[BaseException] | None:
        import _frozen_importlib_external as importers

        path = self.path
        if path is None:  # standard input
            _set_first_path("")
            return _core.run_alone(start, _core.run_file, None, names)
        if _is_container(path):
            sys.path.insert(0, path)
            return self._run_module(start, None, "__main__", False)
        _set_first_path(os.path.dirname(os.path.realpath(path)))  # noqa: PTH120
        kind = importers.SourcelessFileLoader if path.endswith(".pyc") else importers.SourceFileLoader
        names.update(__file__=path, __cached__=None, __loader__=kind("__main__", path))
        if path.endswith(".pyc"):
            return _core.run_alone(start, exec, names["__loader__"].get_code("__main__"), names)
        return _core.run_alone(start, _core.run_file, path, names)


def end_as(failed: type[BaseException] | None) -> None:
    """End as Python does after the program: with status 1, or killed by Ctrl-C."""
    if failed is None or sys.flags.inspect:
        return
    if issubclass(failed, KeyboardInterrupt):
        sys.excepthook = lambda *_: None  # it has been printed
        raise KeyboardInterrupt
    sys.exit(1)


def _find_file(word: str) -> str | None:
    """The absolute path as in ``__file__``; None for standard input."""
    if word == "-":
        return None
    if os.path.isabs(word):  # noqa: PTH117
        return word
    folder = _folder()
    return word if folder is None else f"{folder}/{word}"


def _find_module(name: str) -> str | None:
    """The file a module will be loaded from, without importing anything; None if unknown."""
    import _frozen_importlib_external as importers

    first, *others = name.split(".")
    folder = _folder()
    spec = importers.PathFinder.find_spec(first, [*([] if folder is None else [folder]), *sys.path])
    if spec is None:
        return None
    if not spec.submodule_search_locations:
        return str(spec.origin)
    path = "/".join([next(iter(spec.submodule_search_locations)), *others])
    return next((file for file in (f"{path}/__main__.py", f"{path}.py") if os.path.exists(file)), None)  # noqa: PTH110


def _folder() -> str | None:
    """The current folder; None when it has been deleted."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return None


def _is_container(path: str) -> bool:
    """Whether Python looks for ``__main__`` in it: a folder or an archive."""
    for hook in sys.path_hooks:
        try:
            hook(path)
        except ImportError:
            continue
        return True
    return False


def _set_first_path(folder: str) -> None:
    if not sys.flags.safe_path:
        sys.path.insert(0, folder)


def _new_main() -> dict[str, Any]:
    """A fresh ``__main__`` instead of sonde's."""
    from _frozen_importlib import BuiltinImporter

    module = type(sys)("__main__")
    module.__dict__.update(__loader__=BuiltinImporter, __annotations__={}, __builtins__=builtins)
    sys.modules["__main__"] = module
    return module.__dict__


def _take_boot_text() -> Any:
    """From 3.13 on Python keeps the text of ``python -c``, with which we were started, for its tracebacks."""
    lines = sys.modules.get("linecache")
    return None if lines is None else lines.cache.pop("<string>", None)


def _keep_text(kept: Any, text: str) -> None:
    lines = [line + "\n" for line in text.splitlines()]
    sys.modules["linecache"].cache["<string>"] = (len(text), *kept[1:2], lines, *kept[3:])
