"""What each rewriter did while a graph was compiled: the tuples that the libraries' rewriters return, in one form."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Rewriter:
    """One rewriter: seconds, how often it changed the graph, nodes before and after; None where nobody counted."""

    def __init__(self, rewriter: Any, seconds: float, applied: int | None = None) -> None:
        self.name = _name_of(rewriter)
        self.kind = type(rewriter).__name__
        self.seconds = seconds
        self.applied = applied
        self.nodes: tuple[int, int] | None = None
        self.validation: float | None = None  # seconds
        self.parts: list[Rewriter] = []


def tree_of(profile: Any) -> list[Rewriter]:
    """The rewriters of one compilation, as ``ProfileStats.rewriter_profile`` has them; none where it has nothing."""
    if not profile or profile[1] is None:
        return []
    try:
        return list(_parts_of(*profile))
    except (TypeError, ValueError, IndexError, KeyError):
        return []  # a form that this version does not know


def _parts_of(rewriter: Any, profile: Any) -> Iterator[Rewriter]:
    """The rewriters inside one, from what that one has returned."""
    kinds = {kind.__name__ for kind in type(rewriter).__mro__}
    if profile is None:
        return
    if "SequentialGraphRewriter" in kinds:
        yield from _sequence(*profile)
    elif "EquilibriumGraphRewriter" in kinds:
        yield from _equilibrium(*profile)


def _sequence(
    rewriters: Any,
    times: list[float],
    _validate: Any,
    _callbacks: Any,
    _before: Any,
    _after: Any,
    profiles: list[Any],
    validations: list[float],
    nodes: list[tuple[int, int]],
    *_others: Any,
) -> Iterator[Rewriter]:
    """One after the other, each once."""
    for i, (rewriter, seconds, profile) in enumerate(zip(rewriters, times, profiles, strict=False)):
        made = Rewriter(rewriter, seconds, _applied(rewriter, profile, nodes[i]))
        made.nodes = nodes[i]
        if len(validations) > i + 1:
            made.validation = validations[i + 1] - validations[i]
        made.parts = list(_parts_of(rewriter, profile))
        yield made


def _equilibrium(
    rewriter: Any,
    _times: Any,
    counts: list[dict[Any, int]],
    _nodes: Any,
    _global: Any,
    _passes: Any,
    seconds: dict[Any, float],
    *_others: Any,
) -> Iterator[Rewriter]:
    """All of them, again and again, until nothing changes any more."""
    for part, spent in sorted(seconds.items(), key=lambda item: -item[1]):
        yield Rewriter(part, spent, sum(count.get(part, 0) for count in counts))


def _applied(rewriter: Any, profile: Any, nodes: tuple[int, int]) -> int | None:
    """How often one changed the graph; by its own count, which each kind keeps somewhere else."""
    kinds = {kind.__name__ for kind in type(rewriter).__mro__}
    if profile is not None:
        if "EquilibriumGraphRewriter" in kinds:
            return sum(sum(count.values()) for count in profile[2])
        if "MergeOptimizer" in kinds:
            return int(profile[5])
        if "WalkingGraphRewriter" in kinds:
            return int(profile[1])
        if kinds & {"GemmOptimizer", "FusionOptimizer"}:
            return int(profile[2])
    return None if nodes[0] == nodes[1] else 1


def _name_of(rewriter: Any) -> str:
    name = getattr(rewriter, "name", None) or getattr(rewriter, "__name__", None)
    return str(name or type(rewriter).__name__)
