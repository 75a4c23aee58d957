"""Compiled functions: Scan, linkers, memory, rewriters, tips, the tutorial's example and the command line."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from graph_support import INSTALLED, STEP_NS, Lib, inside, nodes_of, of_kind, theirs
from wait_support import sum_so_far, until

import sonde.graph

# ---- Scan ----


def test_a_scans_inner_function_hangs_below_its_node(lib, linker):
    with sonde.graph.profile() as g:
        power = lib.power(linker)
        for _ in range(3):
            assert power(np.full(20_000, 2.0), 10)[0] == 1024
    part = g.functions["power"]
    assert list(g.functions) == ["power"] and part.calls == 3
    (inner,) = inside(part, "graph")
    assert inner["name"].endswith("(inner function)") and inner["calls"] == 30
    (node,) = [row for (name, _), row in nodes_of(part).items() if name.startswith(("Scan", "for"))]
    assert node["calls"] == 3 and node["time_ns"] + 3 * STEP_NS > inner["time_ns"] > 0
    (multiply,) = inside(part, "graph_apply")
    assert multiply["calls"] == 30 and 0 < multiply["time_ns"] < inner["time_ns"] + 30 * STEP_NS
    # no sum counts it again: it is in the node of the Scan
    outer = sum(row["time_ns"] for row in nodes_of(part).values())
    classes = [row for row in of_kind(part, "graph_class") if row["function"] == "power"]
    assert sum(row["time_ns"] for row in classes) == outer
    whole = of_kind(g.sum(), "graph")[0]
    steps = STEP_NS * sum(row["calls"] for row in nodes_of(part).values())
    assert whole["calls"] == 3 and outer < whole["vm_ns"] + steps and whole["vm_ns"] <= whole["time_ns"]
    assert inner["name"] in part.output() and "Scan" in part.output()


def test_a_scan_that_was_made_before_is_seen_too_and_left_as_it_was(lib):
    power = lib.power()
    power(np.full(4, 2.0), 10)
    with sonde.graph.profile() as g:
        power(np.full(4, 2.0), 10)
    (inner,) = inside(g.functions["power"], "graph")
    assert inner["calls"] == 10
    (node,) = [node for node in power.vm.nodes if type(node.op).__name__ == "Scan"]
    assert not node.op.fn.maker.profile and node.op.fn.profile is None


def test_a_scan_is_seen_again_in_the_next_block_and_in_a_block_inside(lib):
    power = lib.power()
    with sonde.graph.profile() as outer:
        power(np.ones(4), 10)
        with sonde.graph.profile(memory=True) as inner:
            power(np.ones(4), 10)
        power(np.ones(4), 10)
    with sonde.graph.profile() as after:
        power(np.ones(4), 10)
    steps = [inside(g.functions["power"], "graph")[0]["calls"] for g in (outer, inner, after)]
    assert steps == [30, 10, 10]
    for g, calls in ((outer, 3), (inner, 1), (after, 1)):
        assert {row["calls"] for row in nodes_of(g.functions["power"]).values()} == {calls}
        assert all((row["flops"] or 0) >= 0 for row in nodes_of(g.functions["power"]).values())


def test_the_function_inside_an_op_made_of_a_graph_counts_once(lib):
    OpFromGraph = importlib.import_module(f"{lib.name}.compile.builders").OpFromGraph
    x, a = lib.tensor.vector("x"), lib.tensor.vector("a")
    double = OpFromGraph([a], [lib.tensor.tanh(a) * 2])
    with sonde.graph.profile() as g:
        f = lib.function([x], double(x) + 1, name="f", linker="vm", excluded=("inline_ofg_expansion",))
        for _ in range(4):
            f(np.ones(5))
    assert list(g.functions) == ["f"] and g.sum().calls == 4
    assert [row["calls"] for row in inside(g.functions["f"], "graph")] == [4]


def test_a_lazy_op_counts_as_in_the_librarys_own_profile(lib, linker):
    ifelse = importlib.import_module(f"{lib.name}.ifelse").ifelse
    x, c = lib.tensor.vector("x"), lib.tensor.iscalar("c")

    def make(**options):
        y = ifelse(c, lib.tensor.exp(x).sum(), lib.tensor.tanh(x).max())
        return lib.function([x, c], y, name="f", linker=linker, **options)

    stats = lib.ProfileStats(atexit_print=False)
    known = make(profile=stats)
    with lib.root.config.change_flags(profile=True):  # without which their Python VM counts lazy nodes only
        for value in (0, 1, 1):
            known(np.ones(3), value)
    for memory in (False, True):
        with sonde.graph.profile(memory=memory) as g:
            f = make()
            for value in (0, 1, 1):
                f(np.ones(3), value)
        counts = {key: row["calls"] for key, row in nodes_of(g.functions["f"]).items()}
        assert counts == {key: n for key, (n, _) in theirs(stats).items()}


def test_counts_of_a_scan_are_those_of_the_librarys_own_profile(lib):
    with lib.root.config.change_flags(profile=True):
        known = lib.power()
        for _ in range(3):
            known(np.ones(4), 5)
    (node,) = [node for node in known.vm.nodes if type(node.op).__name__ == "Scan"]
    inner_stats = node.op.fn.maker.profile
    with sonde.graph.profile() as g:
        power = lib.power()
        for _ in range(3):
            power(np.ones(4), 5)
    part = g.functions["power"]
    assert {k: row["calls"] for k, row in nodes_of(part).items()} == {
        k: n for k, (n, _) in theirs(known.profile).items()
    }
    (inner,) = inside(part, "graph")
    assert inner["calls"] == inner_stats.nbsteps == 15
    below = [row["calls"] for row in inside(part, "graph_apply")]
    assert below == list(inner_stats.apply_callcount.values())


# ---- linkers ----


@pytest.mark.skipif("pytensor" not in INSTALLED, reason="needs PyTensor, whose usual linker is numba")
def test_numba_keeps_no_times_of_nodes_and_cvm_does():
    lib = Lib("pytensor")
    x = lib.tensor.vector("x")
    with sonde.graph.profile() as g:
        f = lib.root.function([x], lib.tensor.exp(x).sum(), name="f")
        f(np.ones(3))
    text = g.functions["f"].output()
    assert g.functions["f"].calls == 1 and nodes_of(g.functions["f"]) == {}
    assert "numba" in text and 'sonde.graph.profile(linker="cvm")' in text
    with sonde.graph.profile(linker="cvm") as g:
        f = lib.root.function([x], lib.tensor.exp(x).sum(), name="f")
        assert f(np.zeros(3)) == 3
    assert g.functions["f"].calls == 1 and len(nodes_of(g.functions["f"])) >= 1
    assert "numba" not in g.functions["f"].output()
    assert {row["implementation"] for row in nodes_of(g.functions["f"]).values()} == {"C"}


@pytest.mark.skipif("pytensor" not in INSTALLED, reason="needs PyTensor, whose usual linker is numba")
def test_another_linker_keeps_the_rewrites_that_were_asked_for():
    lib = Lib("pytensor")
    x = lib.tensor.vector("x")
    mode = lib.root.compile.mode.get_mode("NUMBA").excluding("fusion")
    with sonde.graph.profile(linker="cvm") as g:
        lib.root.function([x], lib.tensor.exp(lib.tensor.tanh(x)), name="f", mode=mode)(np.ones(2))
    assert len(nodes_of(g.functions["f"])) == 2


@pytest.mark.parametrize("name", ["py", "c|py"])
def test_the_old_python_linkers_are_timed_by_us(lib, name):
    with sonde.graph.profile() as g:
        f = lib.chain(name)
        for _ in range(4):
            f(np.ones(100))
    assert [row["calls"] for row in nodes_of(g.functions["chain"]).values()] == [4] * 3
    f(np.ones(100))


# ---- memory ----


def test_memory_is_what_the_graph_makes_of_it(lib, linker):
    """tanh and exp of 8 MB each, then a sum: the second array is made while the first lives."""
    n, size = 1_000_000, 8_000_000
    with sonde.graph.profile(memory=True) as g:
        chain = lib.chain(linker)
        for _ in range(3):
            chain(np.ones(n))
    part = g.functions["chain"]
    peaks = {row["name"]: row["peak_bytes"] for row in of_kind(part, "graph_memory")}
    assert peaks["peak, as executed"] == 2 * size
    assert peaks["peak without in-place"] == 2 * size
    assert peaks["peak without garbage collection"] == 2 * size + 8
    assert 2 * size <= peaks["peak measured"] < 2 * size * 1.02
    rows = [row for _, row in sorted(nodes_of(part).items(), key=lambda item: item[0][1])]
    assert [row["created_bytes"] for row in rows] == [size, size, 8]
    assert [row["flops"] for row in rows[:2]] == [3 * n, 3 * n]
    texts = [row["description"] for row in of_kind(part, "graph_variable")]
    assert f"float64 ({n},), strides (8,)" in texts


def test_in_place_and_views_cost_nothing(lib):
    x = lib.tensor.vector("x")
    y = lib.tensor.exp(lib.tensor.tanh(x))[10:].sum()
    with sonde.graph.profile(memory=True) as g:
        f = lib.function([x], y, name="f", excluded=("fusion", "local_subtensor_lift", "local_subtensor_of_elemwise"))
        f(np.ones(10_010))
    rows = nodes_of(g.functions["f"]).values()
    peaks = {row["name"]: row["peak_bytes"] for row in of_kind(g.functions["f"], "graph_memory")}
    inplace = sum(row["inplace_bytes"] for row in rows)
    assert sum(row["view_bytes"] for row in rows) in (80_000, 80_080)
    assert inplace in (80_080, 80_000)
    assert peaks["peak without in-place"] - peaks["peak, as executed"] == pytest.approx(inplace, abs=80)


def test_a_block_lives_as_long_as_anything_shares_it(lib):
    from sonde.graph.memory import peak

    class Op:
        def __init__(self, destroy_map=None, view_map=None):
            self.destroy_map, self.view_map = destroy_map or {}, view_map or {}

    class Node:
        def __init__(self, op, inputs, outputs):
            self.op, self.inputs, self.outputs = op, inputs, outputs

    class Graph:
        outputs = ["e"]  # noqa: RUF012

    # a is new; v looks at a; b reads v, and a is still to be read by c: it must not be given back with v.
    order = [
        Node(Op(), ["x"], ["a"]),
        Node(Op(view_map={0: [0]}), ["a"], ["v"]),
        Node(Op(), ["v"], ["b"]),
        Node(Op(destroy_map={0: [0]}), ["a"], ["c"]),
        Node(Op(), ["b", "c"], ["d"]),
        Node(Op(), ["d"], ["e"]),
    ]
    sizes = {"a": 100, "v": 100, "b": 10, "c": 100, "d": 50, "e": 1}
    assert peak(order, Graph, sizes, is_inplace=True, frees=True) == 160
    assert peak(order, Graph, sizes, is_inplace=False, frees=True) == 210
    assert peak(order, Graph, sizes, is_inplace=True, frees=False) == 161


def test_memory_of_a_function_made_before(lib):
    train, data = lib.logistic()
    expected = train(*data)
    vm = train.vm
    with sonde.graph.profile(memory=True) as g:
        again = train(*data)
    assert train.vm is vm
    assert again < expected  # the updates were done
    part = g.functions["train"]
    assert of_kind(part, "graph_memory") and "the Python VM runs the nodes instead of the C VM" in part.output()
    assert train(*data) < again


def test_floating_point_operations_of_products(lib):
    a, b, v = lib.tensor.matrix("a"), lib.tensor.matrix("b"), lib.tensor.vector("v")
    with sonde.graph.profile(memory=True) as g:
        f = lib.function([a, b, v], [lib.tensor.dot(a, b), lib.tensor.dot(a, v)], name="f")
        for _ in range(2):
            f(np.ones((20, 30)), np.ones((30, 40)), np.ones(30))
    flops = {row["name"].split("(")[0]: row["flops"] for row in nodes_of(g.functions["f"]).values() if row["flops"]}
    assert sorted(flops.values()) == [2 * 2 * 20 * 30, 2 * 2 * 20 * 30 * 40]
    assert "Gflop/s" in g.functions["f"].output()


def test_operations_count_each_shape_as_often_as_it_came(lib):
    with sonde.graph.profile(memory=True) as g:
        chain = lib.chain()
        chain(np.ones(10))
        chain(np.ones(1000))
        chain(np.ones(1000))
    flops = [row["flops"] for row in nodes_of(g.functions["chain"]).values() if row["flops"]]
    assert flops == [2010, 2010]


@pytest.mark.skipif("aesara" not in INSTALLED, reason="only Aesara has these")
def test_floating_point_operations_of_convolutions():
    lib = Lib("aesara")
    from aesara.tensor.nnet import conv2d

    images, filters = lib.tensor.tensor4("images"), lib.tensor.tensor4("filters")
    with sonde.graph.profile(memory=True) as g:
        f = lib.root.function([images, filters], conv2d(images, filters), name="f", mode=lib.mode("vm", None))
        f(np.ones((2, 3, 8, 8)), np.ones((4, 3, 3, 3)))
    (flops,) = [
        row["flops"] for row in nodes_of(g.functions["f"]).values() if "onv" in row["name"] or "orr" in row["name"]
    ]
    assert flops == 2 * (2 * 4 * 6 * 6) * (3 * 3 * 3)


def test_memory_is_for_large_nodes(lib):
    with sonde.graph.profile(memory=True) as g:
        lib.chain()(np.ones(1000))
    part = g.functions["chain"]
    section = re.compile(r"by node\n(.*?)\n\n", re.S)
    shown = [line for line in section.search(part.output() + "\n\n")[1].splitlines() if "Sum" in line]
    assert shown == []
    assert "Sum" in section.search(part.output(min_memory_size=0) + "\n\n")[1]


# ---- rewriting ----


def test_rewriters_are_those_of_the_librarys_own_profile(lib):
    stats = lib.ProfileStats(atexit_print=False)
    with lib.root.config.change_flags(profile_optimizer=True):
        lib.logistic(profile=stats)
    rewriter, known = stats.rewriter_profile
    with sonde.graph.profile(rewriting=True) as g:
        lib.logistic()
    rows = of_kind(g.functions["train"], "graph_rewriter")
    top = [row for row in rows if row["depth"] == min(row["depth"] for row in rows)]
    names = sorted(str(getattr(one, "name", None) or getattr(one, "__name__", "")) for one in rewriter)
    assert sorted(row["name"] for row in top) == names
    assert {(row["nodes_before"], row["nodes_after"]) for row in top} == set(known[8])
    (rewriting,) = [row for row in of_kind(g.functions["train"], "graph_phase") if row["name"] == "rewriting"]
    assert 0 < sum(row["time_ns"] for row in top) <= rewriting["time_ns"]
    never = [row for row in rows if row["calls"] == 0]
    often = [row for row in rows if row["calls"]]
    assert never and often
    text = g.functions["train"].output()
    assert "Rewriting" in text and "Never applied" in text and never[0]["name"] in text


def test_compiling_is_split_into_phases(lib):
    with sonde.graph.profile() as g:
        train, data = lib.logistic()
    phases = {row["name"]: row["time_ns"] for row in of_kind(g.functions["train"], "graph_phase")}
    assert {"compile", "rewriting", "validation", "linking", "import", "C compilation"} <= set(phases)
    assert phases["compile"] >= phases["rewriting"] + phases["linking"]
    assert phases["rewriting"] > phases["validation"] >= 0
    nodes = [name for name in phases if "(" in name]
    assert 3 <= len(nodes) <= 5


# ---- tips ----


def tips_of(part):
    return part.output().partition("\nTips\n")[2]


def test_tips_are_true(lib):
    x, i = lib.tensor.matrix("x"), lib.tensor.imatrix("i")
    with sonde.graph.profile() as g:
        product = lib.function([x, i], lib.tensor.dot(x, i), name="product")
        product(np.ones((100, 100)), np.ones((100, 100), "int32"))
        chain = lib.chain()
        chain(np.ones(100_000))
        fused = lib.function([x], lib.tensor.exp(lib.tensor.tanh(x)), name="fused", linker="vm")
        fused(np.ones((300, 300)))
    assert "floatX=float32" in tips_of(g.functions["chain"])
    assert "fusion" not in tips_of(g.functions["fused"])
    if any("Dot(" in name or "dot(" in name for name, _ in nodes_of(g.functions["product"])):
        assert "BLAS" in tips_of(g.functions["product"])


def test_a_chain_that_was_not_fused_is_a_tip(lib):
    x = lib.tensor.vector("x")
    y = lib.tensor.exp(lib.tensor.tanh(lib.tensor.sin(lib.tensor.cos(x))))
    with sonde.graph.profile() as g:
        lib.function([x], y, name="f", excluded=("fusion",))(np.ones(1000))
    assert re.search(r"3 of 4 Elemwise nodes .*fusion", tips_of(g.functions["f"]))


def test_small_steps_of_a_scan_are_a_tip(lib):
    with sonde.graph.profile() as g:
        lib.power()(np.ones(2), 200)
    assert "overhead of its steps" in tips_of(g.functions["power"])


# ---- programs ----

PROGRAM = """
import sys, time
import numpy as np
import {name} as lib, {name}.tensor as at

x = at.vector("x")
f = lib.function([x], at.exp(x), name="f", mode=lib.compile.mode.Mode("cvm", "fast_run"))
for _ in range(100):
    f(np.ones(1000))
"""

COUNTS = """
select site.name, value.value from node join site on site.id = node.site join value on value.node = node.id
join metric on metric.id = value.metric where site.kind = '{kind}' and metric.name = 'count'
"""


def test_sonde_run_keeps_it_in_the_recording(lib, sonde):
    (sonde.folder / "prog.py").write_text(PROGRAM.format(name=lib.name))
    done = sonde.command("run", "-o", "run.sonde", "--graph", "prog.py")
    assert "Function f" in done.stderr and "in 100 calls" in done.stderr
    shown = sonde.command("view", "run.sonde", "--graph").stdout
    assert "Function f" in shown and "Class" in shown and f"{lib.name}.tensor" in shown
    found = sonde.command("sql", "run.sonde", COUNTS.format(kind="graph"), "--format", "json").stdout
    assert re.search(r'"f".*100|100.*"f"', found.replace("\n", " "))
    exported = json.loads(sonde.command("export", "run.sonde", "--format", "json", "--view", "graph").stdout)["rows"]
    assert {row["calls"] for row in exported if row["kind"] == "graph_apply"} == {100}


def test_a_killed_program_leaves_what_was_measured(lib, sonde):
    (sonde.folder / "prog.py").write_text(
        PROGRAM.format(name=lib.name).replace("for _ in range(100):", "print('ready', flush=True)\nwhile True:")
    )
    command = [str(Path(sys.executable).parent / "sonde"), "run", "-o", "r.sonde", "--graph", "prog.py"]
    with subprocess.Popen(command, cwd=sonde.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        try:
            assert running.stdout.readline() == b"ready\n"
            until(lambda: sum_so_far(sonde, "graph", "calls", kind="graph") > 100)
        finally:
            running.kill()
    shown = sonde.command("view", "r.sonde", "--graph").stdout
    assert re.search(r"in \d{3,} calls", shown)


def test_record_takes_graph_as_a_probe(lib, sonde, tmp_path):
    import sonde as package

    with package.record(tmp_path / "block.sonde", probes=["region", "graph"]) as g:
        lib.chain()(np.ones(3))
    assert g.functions["chain"].calls == 1
    assert "Function chain" in sonde.command("view", str(tmp_path / "block.sonde"), "--graph").stdout


def test_a_block_is_saved_and_viewed(lib, sonde, tmp_path):
    with globals()["sonde"].graph.profile() as g:
        lib.chain()(np.ones(3))
    g.save(tmp_path / "block.sonde")
    assert "Function chain" in sonde.command("view", str(tmp_path / "block.sonde"), "--graph").stdout


TUTORIAL = """
import numpy as np
import sonde.graph
import {name} as lib, {name}.tensor as at

x, y, z = at.dvectors("x", "y", "z") if hasattr(at, "dvectors") else (at.dvector(n) for n in "xyz")
with sonde.graph.profile({options}) as g:
    f = lib.function([x, y, z], [(x + y + z) * 2], name="f")
    ones = np.ones(1000)
    for _ in range(10):
        f(ones, ones, ones)
import sys
g.summary(sys.stdout)
"""


def test_the_tutorials_example_without_fusion_and_in_place(lib, sonde):
    """Two additions and a multiplication stay three nodes: that is what the flag is for."""
    options = 'linker="cvm"' if lib.name == "pytensor" else ""
    env = {f"{lib.name.upper()}_FLAGS": "optimizer_excluding=fusion:inplace"}
    code = TUTORIAL.format(name=lib.name, options=options)
    shown = sonde.python(code, env=env).stdout
    assert "in 10 calls" in shown
    section = shown[shown.index("\nApply") :].split("\n\n")[0]
    lines = [line for line in section.splitlines() if re.match(r" *[\d.]+% ", line) and "remaining" not in line]
    assert len(lines) >= 2 and "Composite" not in section
    fused = sonde.python(code).stdout
    assert "Composite" in fused
    both = {
        **env,
        f"{lib.name.upper()}_FLAGS": "optimizer_excluding=fusion:inplace,profile_memory=True,profiling__n_apply=1",
    }
    with_memory = sonde.python(code, env=both).stdout
    assert "Memory" in with_memory and "peak, as executed" in with_memory


def test_a_program_that_profiles_itself_by_flags(lib, sonde):
    """What the library's own profile keeps is shown, and its own report stays what it is."""
    (sonde.folder / "prog.py").write_text(PROGRAM.format(name=lib.name))
    names = ("profile", "profile_memory", "profile_optimizer")
    env = {f"{lib.name.upper()}_FLAGS": ",".join([*(f"{name}=True" for name in names), "profiling__n_apply=1"])}
    done = sonde.command("run", "-o", "run.sonde", "--graph", "prog.py", env=env)
    ours = done.stderr[done.stderr.index("\nCompiled functions\n") :]
    for word in ("Function f", "in 100 calls", "peak, as executed", "input 0: float64 (1000,)", "Rewriting", "Gflop/s"):
        assert word in ours, word
    shown = sonde.command("view", "run.sonde", "--graph").stdout
    apply = shown[shown.index("\nApply") :].split("\n\n")[0]
    assert len([line for line in apply.splitlines() if re.match(r" *[\d.]+% ", line)]) <= 2
