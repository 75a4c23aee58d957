"""Aesara and PyTensor as one: everything that differs between the two, or is internal to them, is here."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from importlib import import_module
from time import perf_counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAMES = ("aesara", "pytensor")
_TITLES = {"aesara": "Aesara", "pytensor": "PyTensor"}

# Where a part of a library is; the first that there is counts, the newest first.
_PROFILING = ("compile.debug.profiling", "compile.profiling")
_EXECUTOR = ("compile.executor", "compile.function.types")
_MAKER = ("compile.maker", "compile.function.types")
_FOREIGN_TAGS = ("numba", "jax", "mlx", "pytorch", "py_only")  # of rewrites that are for one linker only


class Library:
    """One of the two, imported: its classes, and what to do with its objects.

    >>> Library("pytensor").flag("profile_memory")
    False
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.title = _TITLES[name]
        self.config = self.module("configdefaults").config
        self.Function = self.module(*_EXECUTOR).Function
        self.Maker = self.module(*_MAKER).FunctionMaker
        self.ProfileStats = self.module(*_PROFILING).ProfileStats
        self.Compiler = self.module("link.c.cmodule").GCC_compiler
        self.Mode = self.module("compile.mode").Mode
        vm = self.module("link.vm")
        self.Loop, self.Stack, self.VMLinker = vm.Loop, vm.Stack, vm.VMLinker
        self.Scan = self.module("scan.op").Scan
        self.Stats = _stats_class(self.module("scan.utils").ScanProfileStats)

    def module(self, *paths: str) -> Any:
        """The first of these modules that there is."""
        for path in paths[:-1]:
            try:
                return import_module(f"{self.name}.{path}")
            except ImportError:
                continue
        return import_module(f"{self.name}.{paths[-1]}")

    def type_named(self, path: str, name: str) -> Any:
        """A class by its place; a class without instances where this version has no such."""
        try:
            return getattr(import_module(f"{self.name}.{path}"), name)
        except (ImportError, AttributeError):
            return _NoSuch

    def flag(self, name: str, default: Any = None) -> Any:
        """The value of a flag, as it was given in the environment or set since."""
        return getattr(self.config, name, default)

    def is_set(self, name: str, usual: Any) -> bool:
        """Whether somebody has given a flag a value, be it the usual one."""
        about = getattr(self.config, "_config_var_dict", {}).get(name)
        return self.flag(name, usual) != usual or not getattr(about, "is_default", True)

    def flags(self, **values: Any) -> Any:
        """A block in which flags have these values."""
        return self.config.change_flags(**values) if values else nullcontext()

    # ---- what runs a function ----

    def kind_of(self, vm: Any) -> str:
        """How the nodes of a function are run: ``"c"``, ``"python"``, ``"list"`` (old Python linkers), ``"whole"``."""
        if isinstance(vm, (self.Loop, self.Stack)):
            return "python"
        if hasattr(vm, "call_times") and hasattr(vm, "time_thunks") and hasattr(vm, "nodes"):
            return "c"
        return "whole" if thunk_list(vm) is None else "list"

    def linker_name(self, function: Any) -> str:
        """What compiled it, as shown in reports: ``numba``, ``c``, ``jax`` …"""
        linker = type(getattr(function.maker, "linker", None)).__name__
        return linker.removesuffix("Linker").lower() or linker

    def as_stack(self, function: Any) -> Any:
        """A Python VM that does what the C VM of this function does, in the same order and with the same storage."""
        vm, linker = function.vm, function.maker.linker
        made = self.Stack(
            vm.fgraph,
            vm.nodes,
            vm.thunks,
            [vm.storage_map[variable] for variable in linker.no_recycling],
            vm.storage_map,
            [container.storage for container in function.input_storage],
            [container.storage for container in function.output_storage],
            linker.updated_vars,
            vm.compute_map,
            bool(vm.allow_gc),
            dependencies=linker.compute_gc_dependencies(vm.storage_map),
        )
        made.storage_map, made.compute_map = vm.storage_map, vm.compute_map
        return made

    def inner_of(self, node: Any) -> Any:
        """The compiled function inside a Scan or another Op made of a graph; None where there is none (yet)."""
        made = getattr(node.op, "_fn", None)
        return made if isinstance(made, self.Function) else None

    def text_of(self, graph: Any) -> str:
        """A graph as their ``debugprint`` prints it, with types."""
        return str(self.module("printing").debugprint(graph, print_type=True, file="str"))

    def times_since_import(self) -> tuple[float, float, float, float]:
        """Seconds since it was imported; of those in functions, rewriting graphs, and linking them."""
        profiling = self.module(*_PROFILING)
        since = perf_counter() - getattr(profiling, f"{self.name}_imported_time")
        return since, profiling.total_fct_exec_time, profiling.total_graph_rewrite_time, profiling.total_time_linker

    def is_scan(self, node: Any) -> bool:
        return isinstance(node.op, self.Scan)

    # ---- compiling ----

    def mode_with(self, mode: Any, linker: str) -> Any:
        """The same rewrites, linked by another linker; as it is where it has that one already."""
        mode = self.module("compile.mode").get_mode(mode)
        wanted = self.module("compile.mode").predefined_linkers[linker]
        if type(mode) is not self.Mode or _is_same_linker(mode.linker, wanted):
            return mode  # a mode that checks what it runs has a linker of its own
        query = mode.provided_optimizer
        tags = [tag for tag in _FOREIGN_TAGS if tag in (getattr(query, "include", None) or ())]
        if tags or not isinstance(mode.linker, self.VMLinker):
            query = type(query)(
                include=[tag for tag in query.include if tag not in tags],
                require=query.require,
                exclude=[tag for tag in query.exclude or () if tag not in ("cxx_only", "BlasOpt")],
                subquery=query.subquery,
                position_cutoff=query.position_cutoff,
                extra_rewrites=query.extra_rewrites,
            )
        return self.Mode(linker, query)

    def linkers(self) -> list[str]:
        """The names of all linkers."""
        return list(self.module("compile.mode").predefined_linkers)


def thunk_list(vm: Any) -> tuple[list[Any], Any] | None:
    """The thunks and the nodes that an old Python linker loops over; None where it keeps no such lists."""
    code, cells = getattr(vm, "__code__", None), getattr(vm, "__closure__", None)
    if code is None or cells is None:
        return None
    found = {name: cell.cell_contents for name, cell in zip(code.co_freevars, cells, strict=True)}
    thunks, nodes = found.get("thunks"), found.get("order")
    return (thunks, nodes) if isinstance(thunks, list) and nodes is not None and len(nodes) == len(thunks) else None


def is_imported(name: str) -> bool:
    """Whether a library was imported, to its end."""
    module = sys.modules.get(name)
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)


def is_installed(name: str) -> bool:
    """Whether a library could be imported."""
    from importlib.util import find_spec

    return name in sys.modules or find_spec(name) is not None


def _is_same_linker(one: Any, other: Any) -> bool:
    return type(one) is type(other) and getattr(one, "use_cloop", None) == getattr(other, "use_cloop", None)


def _stats_class(base: type) -> Any:
    """What a function has as its ``profile`` as long as it is measured; it leaves no trace in a pickle or a copy."""

    def __init__(self: Any) -> None:
        base.__init__(self, atexit_print=False)  # type: ignore[misc]
        self.making_ns = 0  # spent in making the function
        self.given = None  # what the function had in its place
        self.forget = _nothing  # the calls so far

    def reset(self: Any) -> None:
        self.forget()

    def __reduce__(self: Any) -> Any:
        return type(None), ()

    methods = {"__init__": __init__, "reset": reset, "__reduce__": __reduce__, "__module__": __name__}
    return type("Stats", (base,), methods)


def _nothing() -> None:
    pass


class _NoSuch:
    """No object is one of these."""
