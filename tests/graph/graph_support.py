"""Functions of a real Aesara or PyTensor, and what was measured of them."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

NAMES = ("aesara", "pytensor")
NAMED = {name: importlib.util.find_spec(name) is not None for name in NAMES}
INSTALLED = [name for name, is_there in NAMED.items() if is_there]
VMS = {"C VM": "cvm", "Python VM": "vm"}
STEP_NS = 1000  # of the C VM's clock: a call seems longer than it is by less than this


@dataclass
class Lib:
    """One of the two."""

    name: str

    @property
    def root(self) -> Any:
        return importlib.import_module(self.name)

    @property
    def tensor(self) -> Any:
        return importlib.import_module(f"{self.name}.tensor")

    @property
    def ProfileStats(self) -> Any:
        return self.root.compile.ProfileStats if hasattr(self.root.compile, "ProfileStats") else self._stats()

    def _stats(self) -> Any:
        return importlib.import_module(f"{self.name}.compile.debug.profiling").ProfileStats

    def mode(self, linker: str, rewrites: str = "fast_run", *excluded: str) -> Any:
        made = self.root.compile.mode.Mode(linker, rewrites)
        return made.excluding(*excluded) if excluded else made

    def function(self, *args: Any, linker: str = "cvm", excluded: tuple[str, ...] = (), **options: Any) -> Any:
        return self.root.function(*args, mode=self.mode(linker, "fast_run", *excluded), **options)

    def scan(self, function: Any, **options: Any) -> Any:
        """The result alone: in the newest versions that is all there is."""
        options = {**options, "return_updates": False} if self.name == "pytensor" else options
        found = self.root.scan(function, **options)
        return found if self.name == "pytensor" else found[0]

    def logistic(self, linker: str = "cvm", **options: Any) -> tuple[Any, tuple[Any, ...]]:
        """The training of a logistic regression, and its arguments."""
        at, rng = self.tensor, np.random.default_rng(1)
        x, y = at.matrix("x"), at.vector("y")
        w, b = self.root.shared(rng.standard_normal(50), name="w"), self.root.shared(0.0, name="b")
        p = 1 / (1 + at.exp(-at.dot(x, w) - b))
        cost = (-y * at.log(p) - (1 - y) * at.log(1 - p)).mean() + 0.01 * (w**2).sum()
        gw, gb = self.root.grad(cost, [w, b])
        updates = [(w, w - 0.1 * gw), (b, b - 0.1 * gb)]
        train = self.function([x, y], cost, updates=updates, linker=linker, **{"name": "train", **options})
        return train, (rng.standard_normal((40, 50)), rng.integers(0, 2, 40).astype("float64"))

    def chain(self, linker: str = "cvm", name: str | None = "chain", **options: Any) -> Any:
        """Three nodes that are not fused: tanh, exp, sum."""
        x = self.tensor.vector("x")
        y = self.tensor.exp(self.tensor.tanh(x)).sum()
        return self.function([x], y, linker=linker, excluded=("fusion", "inplace"), name=name, **options)

    def power(self, linker: str = "cvm", **options: Any) -> Any:
        """A Scan: a vector to a power, one multiplication a step."""
        a, k = self.tensor.vector("a"), self.tensor.iscalar("k")
        steps = self.scan(
            lambda before, a: before * a, outputs_info=self.tensor.ones_like(a), non_sequences=a, n_steps=k
        )
        return self.function([a, k], steps[-1], linker=linker, **{"name": "power", **options})

    def flags(self) -> dict[str, Any]:
        """All flags, as they are now."""
        config = self.root.config
        return {name: getattr(config, name, None) for name in sorted(config._config_var_dict)}


def nodes_of(part: Any) -> dict[tuple[str, int], dict[str, Any]]:
    """The Apply nodes of one function, by text and id; not those of functions inside it."""
    rows = [row for row in part.rows() if row["kind"] == "graph_apply" and row["function"] == part.name]
    return {(row["name"], row["id"]): row for row in rows}


def inside(part: Any, kind: str) -> list[dict[str, Any]]:
    """The rows of the functions that run inside a node of this one."""
    return [row for row in of_kind(part, kind) if row["function"].endswith("(inner function)")]


def theirs(stats: Any) -> dict[tuple[str, int], tuple[int, float]]:
    """The same from one of the library's own profiles: counts and seconds."""
    found = {}
    for (graph, node), count in stats.apply_callcount.items():
        place = graph.toposort().index(node)
        found[str(node), place] = (count, stats.apply_time[graph, node])
    return found


def of_kind(part: Any, kind: str) -> list[dict[str, Any]]:
    return [row for row in part.rows() if row["kind"] == kind]
