"""The call profiler under the interface of the standard ``cProfile``: ``import sonde.tracing as cProfile``.

>>> import sonde.tracing as cProfile
>>> cProfile.run("work()")

``python -m sonde.tracing [-o FILE] [-s SORT] (-m MODULE | PROGRAM) …`` works as ``python -m cProfile`` does.
"""

from __future__ import annotations

from sonde import profiler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Profile", "label", "run", "runctx"]


class Profile(profiler.Profile):
    """A profile of calls without signatures, as ``cProfile.Profile`` takes it.

    >>> p = Profile()
    >>> p.runcall(sorted, [3, 1, 2])
    >>> p.print_stats()
    """

    def __init__(
        self,
        timer: Callable[[], float] | None = None,
        timeunit: float = 0.0,
        subcalls: bool = True,
        builtins: bool = True,
        signatures: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(timer, timeunit, subcalls, builtins, signatures, **more)


def run(statement: str, filename: Any = None, sort: Any = -1) -> None:
    """Profile a statement in the namespace of ``__main__``; print the result, or write it to ``filename``.

    >>> run("work()")
    """
    names = profiler._main_names()
    runctx(statement, names, names, filename, sort)


def runctx(statement: str, globals: dict[str, Any], locals: Any, filename: Any = None, sort: Any = -1) -> None:
    """The same as ``run`` in the given namespaces.

    >>> runctx("f(x)", globals(), {"x": 1})
    """
    profiler._run_and_show(Profile(), statement, globals, locals, filename, sort)


def label(code: Any) -> tuple[str, int, str]:
    """The key of a code object, or of a C function's name, in ``pstats``.

    >>> label(work.__code__)
    """
    if isinstance(code, str):
        return ("~", 0, code)
    return (code.co_filename, code.co_firstlineno, code.co_name)


def main() -> None:
    """What ``python -m sonde.tracing`` does.

    >>> main()
    """
    import os
    import pstats
    import sys
    from optparse import OptionParser

    from sonde._runtime.program import Program, end_as

    parser = OptionParser(usage="%prog [-o FILE] [-s SORT] [-m MODULE | PROGRAM] [ARGUMENT] ...", prog="sonde.tracing")
    parser.allow_interspersed_args = False
    parser.add_option("-o", "--outfile", help="write the statistics to FILE", metavar="FILE")
    keys = sorted(pstats.Stats.sort_arg_dict_default)
    parser.add_option("-s", "--sort", help="sort by a pstats key", default=2, choices=keys)
    parser.add_option("-m", dest="module", action="store_true", help="PROGRAM is the name of a module", default=False)
    options, words = parser.parse_args()
    if not words:
        parser.print_usage()
        sys.exit(2)
    outfile = options.outfile and os.path.abspath(options.outfile)  # noqa: PTH100
    if not sys.flags.safe_path:
        del sys.path[0]  # that of python -m; the program gets its own
    profile = Profile()
    failed = None
    try:
        failed = Program(words, "module" if options.module else "file").run(profile.enable)
    except SystemExit:
        pass
    finally:
        profile.disable()
        if outfile:
            profile.dump_stats(outfile)
        else:
            profile.print_stats(options.sort)
    end_as(failed)


if __name__ == "__main__":
    main()
