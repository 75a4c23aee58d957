"""Which files are the program's own: what a recording has to know for that."""

from __future__ import annotations

import os
import sys

from sonde import _core, _session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def choice(include: Iterable[str] | str, exclude: Iterable[str] | str, all_code: bool) -> dict[str, Any]:
    """What ``describe`` wants, from what a program gives."""
    return {"include": _patterns(include), "exclude": _patterns(exclude), "all_code": all_code}


def _patterns(given: Iterable[str] | str) -> str:
    return given if isinstance(given, str) else ",".join(given)


def describe(program: str | None, include: str = "", exclude: str = "", all_code: bool = False) -> None:
    """Say in the recording where the program and where the libraries are."""
    infos = {
        "program_path": program,
        "library_paths": "\n".join(library_paths()),
        "include": include,
        "exclude": exclude,
        "all_code": "1" if all_code else "0",
    }
    for key, value in infos.items():
        if value:
            _core.set_info(key, value)


def library_paths() -> list[str]:
    """Folders of the standard library and of installed packages. Not by sysconfig, which takes long to import."""
    standard = os.path.dirname(os.__file__)  # noqa: PTH120
    name = os.path.basename(standard)  # noqa: PTH119
    found = [standard, f"{sys.base_exec_prefix}/{sys.platlibdir}/{name}"]
    site: Any = sys.modules.get("site")  # not there after python -S
    if site is not None:
        found += [*site.getsitepackages(), site.USER_SITE]
    found += [path for path in sys.path if path.endswith(("-packages", ".zip"))]
    return list(dict.fromkeys(path for path in found if path))


def main_file() -> str | None:
    """The file of ``__main__``; None in a notebook or at a prompt."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.abspath(file) if isinstance(file, str) else None  # noqa: PTH100


def keep_texts() -> None:
    """Put the texts of code that is in no file (cells of a notebook, ``exec``) into the recording."""
    notebook = _session.cells()
    named = set() if notebook is None else notebook.name_files()
    lines = sys.modules.get("linecache")
    for name, entry in list(lines.cache.items()) if lines is not None else []:
        if isinstance(name, str) and name not in named and len(entry) == 4 and entry[1] is None:
            _core.add_source(name, "".join(entry[2]))
