"""Which files are the program's own: what a recording has to know for that."""

from __future__ import annotations

import os
import sys

from sonde import _core
from sonde._runtime import session as _session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def choice(include: Iterable[str] | str, exclude: Iterable[str] | str, all_code: bool) -> dict[str, Any]:
    """What ``describe`` wants, from what a program passes."""
    return {"include": _patterns(include), "exclude": _patterns(exclude), "all_code": all_code}


def _patterns(given: Iterable[str] | str) -> str:
    return given if isinstance(given, str) else ",".join(given)


def describe(program: str | None, include: str = "", exclude: str = "", all_code: bool = False) -> None:
    """Say in the recording where the program and where the libraries are."""
    infos = {
        "program_path": program,
        "library_paths": "\n".join(library_paths(program)),
        "include": include,
        "exclude": exclude,
        "all_code": "1" if all_code else "0",
    }
    for key, value in infos.items():
        if value:
            _core.set_info(key, value)


def library_paths(program: str | None = None) -> list[str]:
    """Folders of the standard library, of installed packages and of this one, and the program if it is a script of one.

    Not by sysconfig, which takes long to import.
    """
    standard = os.path.dirname(os.__file__)  # noqa: PTH120
    name = os.path.basename(standard)  # noqa: PTH119
    found = [standard, f"{sys.base_exec_prefix}/{sys.platlibdir}/{name}"]
    scripts = [f"{sys.prefix}/bin", f"{sys.base_prefix}/bin"]
    site: Any = sys.modules.get("site")  # not there after python -S
    if site is not None:
        found += [*site.getsitepackages(), site.USER_SITE]
        scripts.append(f"{site.USER_BASE}/bin")
    found += [path for path in sys.path if path.endswith(("-packages", ".zip")) or _has_packages(path, program)]
    own = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120
    if os.path.dirname(own) not in found:  # noqa: PTH120 # it runs from its sources
        found.append(own)
    if program is not None and _is_script(program, scripts):
        found.append(program)
    found = [os.path.normpath(path) for path in found if path]
    return list(dict.fromkeys([*found, *(os.path.realpath(path) for path in found)]))


def _has_packages(folder: str, program: str | None) -> bool:
    """Whether an installer put packages into a folder (``pip install --target``) that is not the program's as well."""
    if not folder or folder in (_session.folder(), program and os.path.dirname(program)):  # noqa: PTH120
        return False
    try:
        return any(name.endswith(".dist-info") for name in os.listdir(folder))  # noqa: PTH208
    except OSError:
        return False


def _is_script(program: str, folders: list[str]) -> bool:
    """Whether a program is one that an installer made for a package: ``bin/pytest``."""
    folder, name = os.path.split(program)
    return "." not in name and os.path.realpath(folder) in map(os.path.realpath, folders)


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
