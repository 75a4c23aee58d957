"""The call profiler: every call, exactly, with the types and shapes of its arguments.

>>> from sonde import profiler
>>> p = profiler.Profile()
>>> p.enable()
>>> work()
>>> p.disable()
>>> p.print_stats("cumtime")

It has the interface of the standard ``cProfile``; with ``signatures=False`` it shows the same as that.
"""

from __future__ import annotations

from sonde import _core
from sonde._core import Calls
from sonde._runtime import session as _session

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Sequence
    from typing import Any, ParamSpec, Self, TypeVar

    P = ParamSpec("P")
    T = TypeVar("T")

__all__ = ["Profile", "plot", "run", "runctx"]


class Profile(Calls):
    """A profile of calls.

    ``timer`` is a function that returns the time, in seconds or in units of ``timeunit``. ``subcalls=False`` leaves
    out who called whom, ``builtins=False`` leaves out functions written in C. ``signatures`` separates calls by the
    types of their arguments (``returns``: and of their results), up to ``limit`` combinations per function.
    ``resumes`` counts each resumption of a generator as a call, as ``cProfile`` does. ``include`` and ``exclude`` are
    patterns (``*`` and ``?``) of files or functions.

    >>> with Profile() as p:
    ...     work()
    >>> p.print_stats()
    """

    stats: dict[Any, Any]

    def __init__(
        self,
        timer: Callable[[], float] | None = None,
        timeunit: float = 0.0,
        subcalls: bool = True,
        builtins: bool = True,
        signatures: bool = True,
        *,
        returns: bool = False,
        resumes: bool = False,
        include: Sequence[str] | str = (),
        exclude: Sequence[str] | str = (),
        limit: int = 1000,
    ) -> None:
        super().__init__(
            timer,
            timeunit,
            subcalls,
            builtins,
            signatures,
            callables=signatures,
            returns=returns,
            resumes=resumes,
            include=include,
            exclude=exclude,
            limit=limit,
        )
        notebook = _session.cells()
        if notebook is not None:
            notebook.begin()  # its own threads make calls, too

    def create_stats(self) -> None:
        """Stop, and keep the result in ``stats``.

        >>> p.create_stats()
        """
        self.disable()
        self.snapshot_stats()

    def snapshot_stats(self) -> None:
        """Keep the result so far in ``stats``, in the form that ``pstats`` reads.

        >>> p.snapshot_stats()
        """
        self.stats = self.pstats()

    def print_stats(self, sort: Any = -1) -> None:
        """Print the functions as ``pstats`` does, sorted by one of its keys or a tuple of them.

        >>> p.print_stats("tottime")
        """
        import pstats

        keys = sort if isinstance(sort, tuple) else (sort,)
        stats = pstats.Stats(self)  # type: ignore[arg-type]
        stats.strip_dirs().sort_stats(*keys).print_stats()

    def dump_stats(self, file: Any) -> None:
        """Write the result to a file that ``pstats.Stats`` loads.

        >>> p.dump_stats("run.prof")
        """
        import marshal

        self.create_stats()
        with open(file, "wb") as out:
            marshal.dump(self.stats, out)

    def run(self, cmd: str) -> Self:
        """Profile a statement in the namespace of ``__main__``.

        >>> Profile().run("work()").print_stats()
        """
        names = _main_names()
        return self.runctx(cmd, names, names)

    def runctx(self, cmd: str | types.CodeType, globals: dict[str, Any], locals: Any) -> Self:
        """Profile a statement in the given namespaces.

        >>> Profile().runctx("f(x)", globals(), {"x": 1})
        """
        self.enable()
        try:
            exec(cmd, globals, locals)
        finally:
            self.disable()
        return self

    def runcall(self, func: Callable[P, T], /, *args: P.args, **kw: P.kwargs) -> T:
        """Profile one call, and return what it returns.

        >>> Profile().runcall(sorted, [3, 1, 2])
        """
        self.enable()
        try:
            return func(*args, **kw)
        finally:
            self.disable()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """What a notebook shows of it when it is the last thing in a cell: the page, and a table as text."""
        from sonde._notebook import display

        return display.bundle(_text(self), _page(self))

    def _repr_html_(self) -> str | None:
        shown: str | None = self._repr_mimebundle_().get("text/html")
        return shown

    def __enter__(self) -> Self:
        self.enable()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.disable()


def run(statement: str, filename: Any = None, sort: Any = -1) -> None:
    """Profile a statement in the namespace of ``__main__``; print the result, or write it to ``filename``.

    >>> run("work()")
    """
    names = _main_names()
    runctx(statement, names, names, filename, sort)


def runctx(statement: str, globals: dict[str, Any], locals: Any, filename: Any = None, sort: Any = -1) -> None:
    """The same as ``run`` in the given namespaces.

    >>> runctx("f(x)", globals(), {"x": 1})
    """
    _run_and_show(Profile(), statement, globals, locals, filename, sort)


def _main_names() -> dict[str, Any]:
    import __main__

    names: dict[str, Any] = __main__.__dict__
    return names


def _run_and_show(
    profile: Profile, statement: str, globals: dict[str, Any], locals: Any, filename: Any, sort: Any
) -> None:
    try:
        profile.runctx(statement, globals, locals)
    except SystemExit:
        pass
    finally:
        if filename is None:
            profile.print_stats(sort)
        else:
            profile.dump_stats(filename)


def plot(profile: Profile, filename: str | None = None) -> Any:
    """Show the profile as a page that starts with the sunburst: below the cell in a notebook, else in a browser.

    Returns what the notebook shows, or the file name.

    >>> plot(p)
    """
    from sonde._notebook import display

    page = _page(profile)
    if page is not None:
        page = display.starting_with(page, "v=sunburst")
    if filename is None and _session.cells() is not None:
        return display.Shown(_text(profile), page)
    return _show_in_browser(page or profile.profile().format("html", view="signatures"), filename)


def _page(profile: Profile) -> str | None:
    """The report page; None where it was not built in, or there is nothing to show."""
    try:
        return _named(profile).page()
    except OSError:
        return None


def _text(profile: Profile) -> str:
    try:
        return _named(profile).format(view="signatures", limit=25, width=110, unicode=True)
    except OSError as error:
        return f"{error}\n"


def _named(profile: Profile) -> _core.Profile:
    """What was measured, with the cells of a notebook under their names."""
    notebook = _session.cells()
    if notebook is not None:
        notebook.name_files()
    return profile.profile()


def _show_in_browser(page: str, filename: str | None) -> str:
    import os
    import pathlib
    import tempfile
    import webbrowser

    if filename is None:
        handle, filename = tempfile.mkstemp(".html", "sonde-")
        os.close(handle)
    with open(filename, "w", encoding="utf-8") as out:
        out.write(page)
    webbrowser.open(pathlib.Path(filename).absolute().as_uri())
    return filename
