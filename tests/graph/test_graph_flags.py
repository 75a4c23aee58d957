"""The flags by which the libraries' own profile is directed have the same meaning here."""

import io
import re

import numpy as np
import pytest
from graph_support import INSTALLED, Lib, nodes_of, of_kind

import sonde.graph
from sonde.graph import memory, orders


def text_of(thing):
    out = io.StringIO()
    thing.summary(out)
    return out.getvalue()


@pytest.fixture
def flags(lib):
    return lib.root.config.change_flags


# ---- the first call ----


def test_the_first_call_is_left_out(lib, linker, flags):
    with flags(profiling__ignore_first_call=True), sonde.graph.profile() as g:
        chain = lib.chain(linker)
        chain(np.ones(1000))
        assert g.functions["chain"].calls == 0
        for _ in range(3):
            chain(np.ones(10))
    part = g.functions["chain"]
    assert part.calls == 3
    assert {row["calls"] for row in nodes_of(part).values()} == {3}
    (whole,) = of_kind(part, "graph")
    assert sum(row["time_ns"] for row in nodes_of(part).values()) <= whole["vm_ns"] <= whole["time_ns"]
    assert "the first call is left out" in part.output()


def test_the_first_call_of_a_scan_is_left_out_inside_too(lib, flags):
    with flags(profiling__ignore_first_call=True), sonde.graph.profile() as g:
        power = lib.power("vm")
        power(np.ones(3), 7)
        power(np.ones(3), 5)
    inner = [row for row in of_kind(g.functions["power"], "graph") if row["function"].endswith("(inner function)")]
    assert [row["calls"] for row in inner] == [5]


def test_a_profile_of_the_programs_own_leaves_the_first_call_out_itself(lib, flags):
    with flags(profiling__ignore_first_call=True), sonde.graph.profile() as g:
        stats = lib.ProfileStats(atexit_print=False, message="own")
        chain = lib.chain(profile=stats)
        for _ in range(3):
            chain(np.ones(10))
    assert g.functions["own"].calls == stats.fct_callcount == 2
    assert {row["calls"] for row in nodes_of(g.functions["own"]).values()} == {2}


# ---- what is printed ----


def test_lines_are_as_wide_as_the_flag_says(lib, flags):
    with sonde.graph.profile() as g:
        train, data = lib.logistic()
        train(*data)
    usual = max(map(len, tables_of(text_of(g))))
    for width in (90, 300):
        with flags(profiling__output_line_width=width):
            found = max(map(len, tables_of(text_of(g))))
            assert found <= width and (found < usual) == (width < usual)


def tables_of(text):
    """Without notes, tips and lists of names, which are no tables."""
    return [line for line in text.splitlines() if not line.startswith(("- ", "  "))]


def test_the_graph_is_printed(lib, flags, tmp_path, sonde):
    import sonde.graph as graph

    with flags(profiling__debugprint=True), graph.profile() as g:
        lib.chain()(np.ones(10))
        lib.chain(name="other")(np.ones(10))
    text = text_of(g)
    shown = re.search(r"(?ms)^Graph of chain\n(.*?)\n\n", text)[1]
    assert "Sum" in shown and "tanh" in shown.lower() and "x [id" in shown
    assert "Graph of other" in text and "Graph of other" not in text_of(g.functions["chain"])
    assert "Graph of" not in text_of(g.sum())
    g.save(tmp_path / "saved.sonde")
    assert shown in sonde.command("view", tmp_path / "saved.sonde", "--graph", "--function", "chain").stdout


def test_the_times_since_the_import_are_a_note(lib, flags):
    with flags(print_global_stats=True), sonde.graph.profile() as g:
        chain = lib.chain(profile=False)
        chain(np.ones(10))
    found = re.search(r"was imported ([\d.]+) s ago; since then ([\d.]+) s in .* ([\d.]+) s rewriting", text_of(g))
    since, called, rewriting = map(float, found.groups())
    assert since > called and since > rewriting > 0
    with sonde.graph.profile() as g:
        chain(np.ones(10))
    assert "was imported" not in text_of(g)


# ---- memory ----


def test_the_best_order_is_that_of_all_orders(lib):
    """As good as the best of all orders, tried one by one."""
    at = lib.tensor
    x, y = at.vector("x"), at.vector("y")
    outputs = [at.exp(x).sum() * at.tanh(at.concatenate([x, y])).sum(), at.sqrt(y)[2:]]
    function = lib.function([x, y], outputs, excluded=("fusion",))
    graph = function.maker.fgraph
    nodes = graph.toposort()
    rng = np.random.default_rng(4)
    sizes = {output: int(rng.integers(1, 1000)) for node in nodes for output in node.outputs}
    found = [memory.peak(order, graph, sizes, is_inplace=True, frees=True) for order in orders_of(graph, nodes)]
    assert len(set(found)) > 1
    assert orders.least_peak(nodes, graph, sizes) == min(found)
    assert orders.least_peak(nodes, graph, sizes, limit=2) is None


def orders_of(graph, nodes, done=()):
    """All in which these nodes could run."""
    if len(done) == len(nodes):
        yield list(done)
    more = graph.orderings()
    for node in nodes:
        before = [v.owner for v in node.inputs if v.owner is not None] + list(more.get(node, ()))
        if node not in done and all(other in done for other in before):
            yield from orders_of(graph, nodes, (*done, node))


def test_the_lowest_peak_is_shown(lib, flags, monkeypatch):
    with flags(profiling__min_peak_memory=True), sonde.graph.profile(memory=True) as g:
        lib.chain()(np.ones(3000))
    peaks = {row["name"]: row["peak_bytes"] for row in of_kind(g.functions["chain"], "graph_memory")}
    assert 0 < peaks["lowest peak of all orders"] <= peaks["peak, as executed"]
    monkeypatch.setattr(orders.least_peak, "__defaults__", (1,))
    with flags(profiling__min_peak_memory=True), sonde.graph.profile(memory=True) as g:
        lib.chain()(np.ones(3000))
    assert "lowest peak of all orders is not known" in text_of(g)
    with sonde.graph.profile(memory=True) as g:
        lib.chain()(np.ones(3000))
    assert "lowest peak" not in text_of(g)


# ---- numba ----


@pytest.mark.skipif("pytensor" not in INSTALLED, reason="needs PyTensor, whose usual linker is numba")
@pytest.mark.parametrize("profile", [None, True])
@pytest.mark.parametrize("ignores", [False, True])
def test_compiling_by_numba_is_apart_from_running(profile, ignores):
    lib = Lib("pytensor")
    x = lib.tensor.vector("x")
    flags = lib.root.config.change_flags(profiling__ignore_first_call=ignores, numba__cache=False)
    with flags, sonde.graph.profile() as g:
        f = lib.root.function([x], lib.tensor.exp(x).sum() * 3, name="f", profile=profile, mode="NUMBA")
        for _ in range(2):
            f(np.ones(3))
    part = g.functions["f"]
    phases = {row["name"]: row["time_ns"] for row in of_kind(part, "graph_phase")}
    compiled = phases["numba, during calls"]
    (whole,) = of_kind(part, "graph")
    assert part.calls == 2 - ignores
    assert compiled > 10 * whole["time_ns"] > 0
    assert phases["compile"] >= phases["rewriting"] + phases["linking"] + compiled
    assert part.stats.compile_time == pytest.approx(phases["compile"] / 1e9)


@pytest.mark.skipif("pytensor" not in INSTALLED, reason="needs PyTensor, whose usual linker is numba")
def test_a_function_that_numba_compiles_in_a_later_block(capfd):
    lib = Lib("pytensor")
    x = lib.tensor.vector("x")
    with lib.root.config.change_flags(numba__cache=False):
        f = lib.root.function([x], lib.tensor.exp(x).sum() * 5, name="f", mode="NUMBA")
        with sonde.graph.profile() as g:
            f(np.ones(3))
        assert [row["name"] for row in of_kind(g.functions["f"], "graph_phase")] == ["compile", "numba, during calls"]
        with sonde.graph.profile() as g:
            f(np.ones(3))
        assert of_kind(g.functions["f"], "graph_phase") == []
        f(np.ones(3))
    assert capfd.readouterr().err == ""
