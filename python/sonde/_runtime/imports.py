"""Something to do once a module has been imported, by whom and when ever that happens."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any


class Watch:
    """Calls ``then`` with each of the named modules right after it was loaded, between ``enter`` and ``leave``.

    >>> Watch({"numpy"}, hook).enter()
    """

    def __init__(self, names: Collection[str], then: Callable[[Any], object]) -> None:
        self._names = names
        self._then = then

    def enter(self) -> None:
        """Begin to watch."""
        sys.meta_path.insert(0, self)

    def leave(self) -> None:
        """Watch no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """What the others find, with something to do after it has been loaded."""
        if name not in self._names:
            return None
        for finder in list(sys.meta_path):
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = None if find is None else find(name, path, target)
            if spec is not None:
                self._follow(spec.loader)
                return spec
        return None

    def _follow(self, loader: Any) -> None:
        """Let this loader report, once, what it has loaded. A loader that takes no attributes is left alone."""
        load = getattr(loader, "exec_module", None)
        if load is None or not hasattr(loader, "__dict__"):
            return

        def exec_module(module: Any) -> None:
            del loader.exec_module
            load(module)
            if self in sys.meta_path:
                self._then(module)

        loader.exec_module = exec_module
