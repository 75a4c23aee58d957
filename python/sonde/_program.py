"""Running a program as if Python had been started with it."""

from __future__ import annotations

import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from collections.abc import Callable
    from typing import Any


class Program:
    """A script or module, and the words after it.

    >>> Program(["train.py", "--fast"]).run(start, stop)
    """

    def __init__(self, words: list[str], is_module: bool = False) -> None:
        self.words = words
        self.is_module = is_module

    def run(self, start: Callable[[], object]) -> None:
        """Run it as ``__main__``, with its own ``sys.argv`` and ``sys.path``; ``start`` is called right before.

        Its exceptions come out as they would without us: no line of a traceback is ours.

        >>> Program(["train.py"]).run(profile.enable)
        """
        try:
            code, names = self._load_module() if self.is_module else self._load_script()
            start()
            exec(code, names)
        except SystemExit:
            raise
        except BaseException as error:
            _show(error)
            raise

    def _load_script(self) -> tuple[types.CodeType, dict[str, Any]]:
        path = os.path.abspath(self.words[0])  # noqa: PTH100
        sys.argv[:] = self.words
        if not sys.flags.safe_path:
            sys.path[0] = os.path.dirname(path)  # noqa: PTH120
        with io.open_code(path) as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        return code, _new_main(path)

    def _load_module(self) -> tuple[types.CodeType, dict[str, Any]]:
        import runpy

        sys.argv[:] = self.words
        name, spec, code = runpy._get_module_details(self.words[0])  # type: ignore[attr-defined]
        sys.argv[0] = spec.origin
        names = _new_main(spec.origin)
        names.update(__spec__=spec, __loader__=spec.loader, __package__=spec.parent, __cached__=spec.cached)
        return code, names


def _new_main(file: str) -> dict[str, Any]:
    """A fresh ``__main__`` in the place of ours."""
    import builtins
    import importlib.machinery
    import types

    module = types.ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", file)
    module.__dict__.update(__builtins__=builtins, __file__=file, __cached__=None, __loader__=loader, __package__=None)
    module.__annotations__ = {}
    sys.modules["__main__"] = module
    return module.__dict__


def _show(error: BaseException) -> None:
    """Print the exception without our own frames; it is raised again only for its exit status."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace
    sys.excepthook(type(error), error, trace)
    sys.excepthook = lambda *_: None
