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
    import __main__

    names = __main__.__dict__
    runctx(statement, names, names, filename, sort)


def runctx(statement: str, globals: dict[str, Any], locals: Any, filename: Any = None, sort: Any = -1) -> None:
    """The same as ``run`` in the given namespaces.

    >>> runctx("f(x)", globals(), {"x": 1})
    """
    profiler._run_and_show(Profile(), statement, globals, locals, filename, sort)


def label(code: Any) -> tuple[str, int, str]:
    """The key of a code object, or of the name of a C function, in ``pstats``.

    >>> label(work.__code__)
    """
    if isinstance(code, str):
        return ("~", 0, code)
    return (code.co_filename, code.co_firstlineno, code.co_name)


def main() -> None:
    """What ``python -m sonde.tracing`` does.

    >>> main()
    """
    from sonde._program import Program, split_arguments

    usage = "python -m sonde.tracing [-o FILE] [-s SORT] (-m MODULE | PROGRAM) ..."
    options, words = split_arguments(usage, {"-o": "--outfile", "-s": "--sort"})
    program = Program(words, is_module="-m" in options, usage=usage)
    profile = Profile()
    try:
        program.run(profile)
    finally:
        profile.disable()
        outfile = options.get("-o")
        if outfile is not None:
            profile.dump_stats(outfile)
        else:
            profile.print_stats(_sort_key(options.get("-s", "-1")))


def _sort_key(text: str) -> str | int:
    return int(text) if text.lstrip("-").isdigit() else text


if __name__ == "__main__":
    main()
