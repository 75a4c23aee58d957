"""The magics of a notebook: ``%load_ext sonde``, then ``%sonde work()`` or ``%%sonde`` above a cell.

A cell below ``%%sonde`` runs as IPython runs any other: only its first line is another one. So its lines keep their
numbers, its errors look as usual, and ``await`` works. What was measured is shown after the cell.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from contextlib import suppress
from tempfile import TemporaryDirectory

from IPython.core.error import UsageError  # type: ignore[import-not-found, unused-ignore]
from IPython.display import display as show  # type: ignore[import-not-found, unused-ignore]

from sonde import sampling
from sonde._notebook import cells, display
from sonde._notebook.options import Mistake, Options, help_own, help_scalene, read_own, read_scalene
from sonde._runtime import session as _session
from sonde._runtime import settings as _settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BEGIN = "_sonde_begin"  # a line magic that is not meant to be typed
_FIRST_LINE = re.compile(r"%%(sonde|scalene|scrun)(?=\s|$)(.*)")
_READERS = {"sonde": read_own, "scalene": read_scalene, "scrun": read_scalene}
_LIMITS: dict[str | None, dict[str, int]] = {"functions": {"limit": 25}, "signatures": {"limit": 10}}
_loaded: _Magics | None = None


def load(shell: Any) -> None:
    """What ``%load_ext sonde`` does; again it does nothing."""
    global _loaded
    if _loaded is None or _loaded.shell is not shell:
        _loaded = _Magics(shell)
        _loaded.register()


def unload(shell: Any) -> None:
    """What ``%unload_ext sonde`` does."""
    global _loaded
    if _loaded is not None and _loaded.shell is shell:
        _loaded.remove()
        _loaded = None


class _Run:
    """One use of a magic: it measures from ``begin`` to ``end``, and can be shown afterwards."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._folder: TemporaryDirectory[str] | None = None
        self._is_open = False
        self._measurement = self._make()

    def _make(self) -> sampling.Measurement:
        given = self.options
        rate = given.rate or _settings.usual_rate("memory" in given.probes)
        made = sampling.record(
            self._path(),  # type: ignore[arg-type]
            probes=given.probes,
            rate=rate,
            report=False,
            **given.settings,
        )
        if made._call_options is not None:
            made._call_options["exclude"] = cells.runner_files()
        return made

    def _path(self) -> str | None:
        """The recording: for ever, for the page, or none where one is being written already."""
        if self.options.output is not None and not self.options.output.endswith(".html"):
            return self.options.output
        if _session.wish("recording"):
            return None
        self._folder = TemporaryDirectory(prefix="sonde-")
        return f"{self._folder.name}/cell.sonde".replace("%", "%%")

    def begin(self) -> None:
        self._is_open = True
        try:
            self._measurement.start()
        except (OSError, RuntimeError, ValueError) as error:
            self._clean()
            raise UsageError(str(error)) from None

    def end(self) -> None:
        """Nothing happens a second time."""
        if self._is_open:
            self._is_open = False
            self._measurement.stop()

    def show(self) -> None:
        """The page and the text, as one output."""
        try:
            view = self.options.view
            with_waiting = self.options.with_waiting
            text = self._measurement._text(view, with_waiting=with_waiting, **_LIMITS.get(view, {}))
            page = None if self.options.is_text_only else self._measurement._page()
            if page is not None and with_waiting:
                page = display.starting_with(page, "page.waiting=1")
            self._write_page(page)
        finally:
            self._clean()
        for line in self.options.remarks:
            print(f"sonde: {line}", file=sys.stderr)
        if self.options.is_text_only:
            print(text, end="")
        else:
            show(display.bundle(text, page, self.options.height), raw=True)

    def _write_page(self, page: str | None) -> None:
        wanted = self.options.output
        if wanted is not None and wanted.endswith(".html"):
            with open(wanted, "w", encoding="utf-8") as file:
                file.write(page or self._measurement._page() or "")

    def _clean(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()


class _Magics:
    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self._cell: _Run | None = None  # what runs for the whole cell
        self._transform = _first_line_changer()

    def register(self) -> None:
        shell = self.shell
        for name in _READERS:
            shell.register_magic_function(self._line_or_cell(name), "line_cell", name)
        shell.register_magic_function(self._begin_cell, "line", _BEGIN)
        shell.input_transformers_cleanup.append(self._transform)
        shell.events.register("post_run_cell", self._end_cell)

    def remove(self) -> None:
        shell = self.shell
        for kind, names in (("line", (*_READERS, _BEGIN)), ("cell", tuple(_READERS))):
            for name in names:
                shell.magics_manager.magics[kind].pop(name, None)
        shell.input_transformers_cleanup.remove(self._transform)
        shell.events.unregister("post_run_cell", self._end_cell)

    def _line_or_cell(self, name: str) -> Callable[..., Any]:
        def magic(line: str, cell: str | None = None) -> Any:
            options, statement = _read(name, line)
            if options.wants_help:
                print(_help(name), end="")
                return None
            if cell is None:
                return self._run_statement(options, statement)
            _refuse_words(statement, name)
            return self._run_cell(options, cell)

        magic.__doc__ = _help(name)
        magic.__name__ = magic.__qualname__ = name
        return magic

    # ---- a whole cell ----

    def _begin_cell(self, line: str) -> None:
        """The first line of a cell that is measured; the end of the cell ends it."""
        name, _, words = line.partition(" ")
        options, statement = _read(name, words)
        _refuse_words(statement, name)
        if options.wants_help:
            print(_help(name), end="")
            return
        if self._cell is None:
            run = _Run(options)
            _show_as_typed(self.shell, f"%%{line}")
            self._watch_errors(run)
            run.begin()
            self._cell = run

    def _watch_errors(self, run: _Run) -> None:
        """The time to write a traceback is not the cell's."""
        shown = self.shell.showtraceback

        def showtraceback(*args: Any, **keywords: Any) -> Any:
            run.end()
            return shown(*args, **keywords)

        self.shell.showtraceback = showtraceback

    def _end_cell(self, result: Any) -> None:
        run, self._cell = self._cell, None
        self.shell.__dict__.pop("showtraceback", None)
        if run is not None:
            run.end()
            run.show()

    # ---- a statement, and a cell that others hand over ----

    def _run_statement(self, options: Options, statement: str) -> Any:
        if not statement:
            raise UsageError("no statement given; use %sonde work(), or put %%sonde on the first line of a cell")
        place = cells.file_of(self.shell, sys._getframe(1))
        text = self.shell.transform_cell(statement)
        file, line = place or (self.shell.compile.cache(text, self.shell.execution_count), 1)
        return self._measure(options, _compiled(text, file, line))

    def _run_cell(self, options: Options, cell: str) -> Any:
        text = "\n" + self.shell.transform_cell(cell)  # below the line of the magic
        return self._measure(options, _compiled(text, self.shell.compile.cache(text, self.shell.execution_count), 1))

    def _measure(self, options: Options, codes: list[Any]) -> Any:
        run = _Run(options)
        names = self.shell.user_ns
        run.begin()
        try:
            exec(codes[0], self.shell.user_global_ns, names)
            return eval(codes[1], self.shell.user_global_ns, names) if len(codes) > 1 else None
        except BaseException as error:
            self._show_without_us(error)
            raise
        finally:
            run.end()
            run.show()

    def _show_without_us(self, error: BaseException) -> None:
        """Let IPython show the error from the statement on, as it would be without a magic."""
        trace = error.__traceback__ and error.__traceback__.tb_next

        def render() -> Any:
            return self.shell.InteractiveTB.structured_traceback(type(error), error, trace, tb_offset=0)

        with suppress(AttributeError, TypeError):  # an error that takes no attributes
            error._render_traceback_ = render  # type: ignore[attr-defined]


def _show_as_typed(shell: Any, line: str) -> None:
    """Let tracebacks have a comment for the cell's first line instead of what we made of it."""
    place = cells.file_of(shell, sys._getframe(2))
    entry = linecache.cache.get(place[0]) if place is not None else None
    if entry is not None and len(entry) == 4 and entry[2] and _BEGIN in entry[2][0]:
        entry[2][0] = f"# {line}\n"


def _read(name: str, line: str) -> tuple[Options, str]:
    try:
        return _READERS[name](line)
    except Mistake as mistake:
        raise UsageError(f"%{name}: {mistake}") from None


def _refuse_words(statement: str, name: str) -> None:
    if statement:
        raise UsageError(f"%%{name}: {statement!r} is not an option; put the code on the lines below")


def _compiled(text: str, file: str, line: int) -> list[Any]:
    """The statements, and the value of the last one where it has one."""
    tree = ast.parse(text, file)
    ast.increment_lineno(tree, line - 1)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    codes = [compile(tree, file, "exec")]
    if isinstance(last, ast.Expr):
        codes.append(compile(ast.Expression(last.value), file, "eval"))
    return codes


def _first_line_changer() -> Callable[[list[str]], list[str]]:
    """Lets ``%%sonde`` begin the measurement as the cell's first line instead of swallowing the cell."""

    def change(lines: list[str]) -> list[str]:
        found = _FIRST_LINE.match(lines[0]) if lines else None
        if found is None or not any(line.strip() for line in lines[1:]) or lines[1].startswith("%%"):
            return lines
        words = f"{found[1]} {found[2].strip()}".strip()
        return [f"get_ipython().run_line_magic({_BEGIN!r}, {words!r})\n", *lines[1:]]

    change.has_side_effects = True  # type: ignore[attr-defined]  # IPython does not ask it whether a cell is complete
    return change


def _help(name: str) -> str:
    return help_own() if name == "sonde" else help_scalene()
