"""Compiled functions are counted and timed as the library's own profile does it, and are left as they were."""

import copy
import importlib
import io
import pickle
import re
import traceback

import numpy as np
import pytest
from graph_support import STEP_NS, nodes_of, of_kind, theirs

import sonde.graph
from sonde.graph import records, tracking


def library_of(lib):
    from sonde.graph.library import Library

    return Library(lib.name)


# ---- the same as the library's own ----


@pytest.mark.quick
def test_counts_are_those_of_the_librarys_own_profile(lib, linker):
    stats = lib.ProfileStats(atexit_print=False)
    known, data = lib.logistic(linker, profile=stats)
    for _ in range(7):
        known(*data)
    with sonde.graph.profile() as g:
        train, data = lib.logistic(linker)
        for _ in range(7):
            train(*data)
    part = g.functions["train"]
    assert {key: row["calls"] for key, row in nodes_of(part).items()} == {k: n for k, (n, _) in theirs(stats).items()}
    assert part.calls == stats.fct_callcount == 7
    classes = {str(kind)[8:-2]: n for kind, n in stats.class_callcount().items()}
    assert {row["name"]: row["calls"] for row in of_kind(part, "graph_class")} == classes
    assert {row["name"]: row["nodes"] for row in of_kind(part, "graph_class")} == {
        str(kind)[8:-2]: n for kind, n in stats.class_nodes().items()
    }
    ops = sorted(n for n in stats.op_callcount().values())
    assert sorted(row["calls"] for row in of_kind(part, "graph_op")) == ops
    impls = {str(kind)[8:-2]: text.split() for kind, text in stats.class_impl().items()}
    assert {row["name"]: row["implementation"].split(" & ") for row in of_kind(part, "graph_class")} == impls


def test_times_of_the_c_vm_are_its_own(lib):
    with sonde.graph.profile() as g:
        chain = lib.chain("cvm")
        for _ in range(50):
            chain(np.ones(1000))
        own = [round(time * 1e9) for time in chain.vm.call_times]
        total, vm = round(chain.profile.fct_call_time * 1e9), round(chain.profile.vm_call_time * 1e9)
    part = g.functions["chain"]
    assert [row["time_ns"] for _, row in sorted(nodes_of(part).items(), key=lambda item: item[0][1])] == own
    (whole,) = of_kind(part, "graph")
    assert (whole["time_ns"], whole["vm_ns"], whole["calls"]) == (total, vm, 50)


def test_times_of_a_python_vm_are_within_those_of_the_library(lib):
    with sonde.graph.profile() as g:
        chain = lib.chain("vm")
        chain.vm.time_thunks = True  # the library takes the time of the same calls
        for _ in range(30):
            chain(np.ones(200_000))
        own = [time * 1e9 for time in chain.vm.call_times]
    rows = [row for _, row in sorted(nodes_of(g.functions["chain"]).items(), key=lambda item: item[0][1])]
    assert [row["calls"] for row in rows] == [30] * 3
    assert all(time / 2 < row["time_ns"] < time + 1 for row, time in zip(rows, own, strict=True))  # ours is inside


def test_a_profile_of_the_programs_own_is_read_as_it_is(lib, linker):
    stats = lib.ProfileStats(atexit_print=False, message="shared")
    one = lib.chain(linker, "one", profile=stats)
    one(np.ones(10))
    before = theirs(stats)
    with sonde.graph.profile() as g:
        two, data = lib.logistic(linker, profile=stats)
        for _ in range(3):
            one(np.ones(10))
            two(*data)
        assert one.profile is two.profile is stats
    part = g.functions["shared"]
    assert part.calls == 6 and stats.fct_callcount == 7
    counts = {key: n - before.get(key, (0, 0))[0] for key, (n, _) in theirs(stats).items()}
    assert {key: row["calls"] for key, row in nodes_of(part).items()} == counts
    times = {key: round(t * 1e9) - round(before.get(key, (0, 0))[1] * 1e9) for key, (_, t) in theirs(stats).items()}
    assert {key: row["time_ns"] for key, row in nodes_of(part).items()} == times


def test_profile_true_is_picked_up_too(lib):
    with sonde.graph.profile() as g:
        chain = lib.chain(profile=True)
        chain(np.ones(3))
    assert g.functions["chain"].calls == 1
    assert chain.profile is not None and chain.profile.fct_callcount == 1


def test_profile_false_stays_what_it_is(lib):
    with sonde.graph.profile() as g:
        chain = lib.chain(profile=False)
        chain(np.ones(3))
    assert g.functions["chain"].calls == 1
    assert chain.profile is False and chain.maker.profile is False


# ---- sums ----


def test_sums_add_up(lib, linker):
    with sonde.graph.profile() as g:
        train, data = lib.logistic(linker)
        chain = lib.chain(linker)
        for _ in range(5):
            train(*data)
            chain(np.ones(20_000))
    for part in (*g.functions.values(), g.sum()):
        rows = [row for row in part.rows() if row["kind"] != "graph_variable"]
        kinds = {kind: [r for r in rows if r["kind"] == kind] for kind in ("graph_class", "graph_op", "graph_apply")}
        for name in ("time_ns", "calls", "nodes"):
            assert len({sum(row[name] for row in found) for found in kinds.values()}) == 1, name
        whole = of_kind(part, "graph")[0]
        inside = sum(row["time_ns"] for row in kinds["graph_apply"])
        assert 0 < inside <= whole["vm_ns"] + STEP_NS * sum(row["calls"] for row in kinds["graph_apply"])
        assert whole["vm_ns"] <= whole["time_ns"]
    assert g.sum().calls == sum(part.calls for part in g.functions.values()) == 10
    every = [sum(row["time_ns"] for row in of_kind(part, "graph_apply")) for part in g.functions.values()]
    assert sum(row["time_ns"] for row in of_kind(g.sum(), "graph_apply")) == sum(every)


@pytest.mark.parametrize("limit", [1, 2, 20])
def test_cumulative_per_cent_end_at_100(lib, limit):
    with sonde.graph.profile() as g:
        train, data = lib.logistic()
        train(*data)
    text = g.functions["train"].output(limit, limit)
    sections = re.split(r"\n(?=Class|Ops|Apply|Memory|Tips|Notes)", text)
    seen = [part for part in sections if part.startswith(("Class", "Ops", "Apply"))]
    assert len(seen) == 3
    for part in seen:
        lines = [line for line in part.splitlines() if re.match(r" *[\d.]+% ", line)]
        sums = [float(line.split()[1].rstrip("%")) for line in lines]
        assert sums == sorted(sums) and sums[-1] == 100.0
        assert "remaining" in lines[-1] and len(lines) <= limit + 1


def test_times_keep_their_digits(lib):
    with sonde.graph.profile() as g:
        lib.chain()(np.ones(20_000))  # the clock of the C VM counts microseconds
    text = g.functions["chain"].output()
    lines = [line for line in text[text.index("\nApply") :].splitlines() if re.match(r" *[\d.]+% ", line)]
    assert len(lines) == 4
    for line in lines[:-1]:
        assert re.search(r"[1-9]\d*(\.\d+)? [num]s", line)


# ---- functions made before, inside and copied ----


def test_a_function_made_before_is_measured_inside_only(lib, linker):
    chain = lib.chain(linker)
    chain(np.ones(3))
    thunks, times = list(chain.vm.thunks), chain.vm.time_thunks
    with sonde.graph.profile() as g:
        chain(np.ones(3))
        chain(np.ones(3))
    assert chain.profile is None and not chain.maker.profile
    assert list(chain.vm.thunks) == thunks and chain.vm.time_thunks == times
    assert "update_profile" not in vars(chain.vm) and not any(chain.vm.call_counts)
    chain(np.ones(3))
    part = g.functions["chain"]
    assert part.calls == 2 and {row["calls"] for row in nodes_of(part).values()} == {2}
    assert of_kind(part, "graph_phase") == []  # it was not compiled inside


def test_nothing_stays_changed(lib):
    library = library_of(lib)
    places = [(library.Maker, "__init__"), (library.Maker, "create"), (library.Function, "__call__")]
    places.append((library.Compiler, "compile_str"))
    before = [owner.__dict__[name] for owner, name in places]
    flags = lib.flags()
    with sonde.graph.profile(memory=True, rewriting=True) as g:
        chain = lib.chain()
        chain(np.ones(3))
        assert [owner.__dict__[name] for owner, name in places] != before
    assert [owner.__dict__[name] for owner, name in places] == before
    assert lib.flags() == flags
    assert chain.profile is None and not chain.maker.profile and chain.maker.fgraph.profile is None
    chain(np.ones(3))
    assert g.functions["chain"].calls == 1


def test_nothing_is_printed_at_exit_because_of_us(lib, sonde):
    code = f"""
    import numpy as np, sonde.graph, {lib.name} as lib, {lib.name}.tensor as at
    x = at.vector("x")
    with sonde.graph.profile():
        lib.function([x], x + 1)(np.ones(3))
    """
    done = sonde.python(code)
    assert "profil" not in (done.stdout + done.stderr).lower()


def test_blocks_inside_blocks_see_what_is_theirs(lib):
    with sonde.graph.profile() as outer:
        chain = lib.chain()
        chain(np.ones(3))
        with sonde.graph.profile() as inner:
            chain(np.ones(3))
        chain(np.ones(3))
    assert (outer.functions["chain"].calls, inner.functions["chain"].calls) == (3, 1)
    assert of_kind(inner.functions["chain"], "graph_phase") == [] != of_kind(outer.functions["chain"], "graph_phase")


def test_the_results_are_there_before_the_end(lib):
    with sonde.graph.profile() as g:
        chain = lib.chain()
        chain(np.ones(3))
        assert g.functions["chain"].calls == 1
        chain(np.ones(3))
        assert g.functions["chain"].calls == 2


def test_a_function_is_pickled_and_copied_without_us(lib):
    with sonde.graph.profile() as g:
        chain = lib.chain()
        text = pickle.dumps(chain)
        again = pickle.loads(text)
        other = copy.copy(chain)
        for one in (chain, again, other):
            assert one(np.zeros(2)) == 2
        assert pickle.dumps(other)
    assert b"sonde." not in text and b"\x05sonde" not in text  # names of modules; the path may have that word
    assert sum(part.calls for part in g.functions.values()) == 3


def test_functions_without_a_name_have_one_all_the_same(lib):
    with sonde.graph.profile() as g:
        lib.chain(name=None)(np.ones(3))
        lib.chain(name=None)(np.ones(3))
    first, second = g.functions
    assert second == f"{first} (2)"
    assert first == "function(x)" if lib.name == "pytensor" else re.search(r"graph_support.py:\d+$", first)


def test_a_dead_function_is_not_kept_alive(lib):
    import gc

    with sonde.graph.profile() as g:
        chain = lib.chain()
        chain(np.ones(3))
        vm = __import__("weakref").ref(chain.vm)
        del chain
        gc.collect()
        tracking.tracker.flush()
        gc.collect()
        assert vm() is None
    assert g.functions["chain"].calls == 1


# ---- errors ----


def failing(lib, linker):
    x, i = lib.tensor.vector("x"), lib.tensor.iscalar("i")
    y = lib.tensor.exp(x)[i].sum()
    return lib.function([x, i], y, linker=linker, excluded=("fusion",), name="failing")


@pytest.mark.parametrize("verbosity", ["low", "high"])
def test_a_failing_node_fails_as_it_would_without_us(lib, linker, verbosity):
    function = failing(lib, linker)

    def fail():
        with pytest.raises(IndexError) as caught:
            function(np.ones(3), 7)
        text = "".join(traceback.format_exception(caught.value))
        text = re.sub(r"0x[0-9a-f]+", "", text)
        return re.sub(r'(executor.py", line )\d+', r"\1N", text)  # PyTensor calls its VM in one of two lines

    with lib.root.config.change_flags(exception_verbosity=verbosity):
        plain = fail()
        with sonde.graph.profile() as g:
            function(np.ones(3), 1)
            measured = fail()
            function(np.ones(3), 1)
    assert measured == plain
    rows = nodes_of(g.functions["failing"])
    assert g.functions["failing"].calls == 2
    assert sorted({row["calls"] for row in rows.values()}) == [2, 3]  # what had run before it failed is kept


def test_a_wrong_argument_fails_as_it_would_without_us(lib):
    chain = lib.chain()

    def fail():
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            chain("no array")
        return "".join(traceback.format_exception(caught.value))

    plain = fail()
    with sonde.graph.profile() as g:
        assert fail() == plain
        chain(np.ones(2))
    assert g.functions["chain"].calls == 1


def test_a_graph_that_cannot_be_compiled_fails_as_it_would_without_us(lib):
    x, y = lib.tensor.vector("x"), lib.tensor.vector("y")

    def fail():
        with pytest.raises(Exception) as caught:  # noqa: PT011
            lib.root.function([x], x + y)
        return "".join(traceback.format_exception(caught.value))

    plain = fail()
    with sonde.graph.profile() as g:
        assert fail() == plain
    assert list(g.functions) == []
    with pytest.raises(RuntimeError, match="no function was compiled or called in the block"):
        g.summary()


def test_an_error_in_the_block_passes_and_the_results_stay(lib):
    g = sonde.graph.profile()
    with pytest.raises(ZeroDivisionError), g:
        lib.chain()(np.ones(3))
        raise ZeroDivisionError
    assert g.functions["chain"].calls == 1


@pytest.mark.parametrize("place", ["attach", "_attach_c", "now"])
def test_a_mistake_of_ours_is_one_line_and_the_program_goes_on(lib, place, monkeypatch, capfd):
    def fail(*_):
        raise LookupError("a mistake")

    chain = lib.chain()
    with sonde.graph.profile() as g:
        chain(np.zeros(2))
        monkeypatch.setattr(records.Record, place, fail)
        other = lib.chain()
        assert other(np.zeros(2)) == chain(np.zeros(2)) == 2
        if place == "now":
            tracking.tracker.flush()
        assert other(np.zeros(2)) == chain(np.zeros(2)) == 2
        monkeypatch.undo()
    said = capfd.readouterr().err
    assert said.count("sonde: stopped measuring compiled functions: LookupError: a mistake\n") == 1
    assert chain.profile is None and other.profile is None
    assert g.functions["chain"].calls >= 1


def test_a_function_that_never_ran_has_no_calls(lib):
    with sonde.graph.profile() as g:
        lib.chain()
    text = g.functions["chain"].output()
    assert "no calls" in text and "compile" in text and g.functions["chain"].calls == 0


def test_an_unknown_linker_is_one_line(lib):
    with pytest.raises(ValueError, match="unknown linker 'fast'; choose from .*cvm"):
        sonde.graph.profile(linker="fast")


# ---- where a summary goes ----


def test_a_summary_has_all_sections(lib):
    out = io.StringIO()
    with sonde.graph.profile() as g:
        train, data = lib.logistic()
        train(*data)
    g.summary(out)
    for word in ("Function train", "call overhead", "VM overhead", "rewriting", "validation", "linking",
                 "import", "Class", "Ops", "Apply", "remaining", "Tips"):  # fmt: skip
        assert word in out.getvalue(), word


def test_the_flags_of_the_library_are_obeyed(lib, tmp_path, capsys):
    with sonde.graph.profile() as g:
        train, data = lib.logistic()
        train(*data)
    path = tmp_path / "out.txt"
    with lib.root.config.change_flags(profiling__n_ops=2, profiling__n_apply=1, profiling__destination=str(path)):
        g.summary()
        g.summary()
        assert path.read_text().count("Function train") == 2
    text = path.read_text()
    assert re.search(r"remaining: \d+ classes", text) and text.count("Gemv") >= 1
    apply = text[text.index("\nApply") :].split("\n\n")[0]
    assert len([line for line in apply.splitlines() if re.match(r" *[\d.]+% ", line)]) == 2
    with lib.root.config.change_flags(profiling__destination="stdout"):
        g.summary()
    assert "Function train" in capsys.readouterr().out
    g.summary()
    assert "Function train" in capsys.readouterr().err


def test_flags_switch_memory_and_rewriting_on(lib):
    with lib.root.config.change_flags(profile_memory=True, profile_optimizer=True), sonde.graph.profile() as g:
        lib.chain()(np.ones(300))
    part = g.functions["chain"]
    assert of_kind(part, "graph_memory") and of_kind(part, "graph_rewriter")


# ---- ops ----


def test_ops_merge_by_equality_not_by_text(lib):
    Op = importlib.import_module(f"{lib.name}.graph.op").Op
    Apply = importlib.import_module(f"{lib.name}.graph.basic").Apply

    class Same(Op):
        __props__ = ("number",)

        def __init__(self, number):
            self.number = number

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, outputs):
            outputs[0][0] = inputs[0] + self.number

        def __str__(self):
            return "Same"

    x = lib.tensor.vector("x")
    with sonde.graph.profile() as g:
        f = lib.function([x], Same(1)(Same(2)(Same(1)(x))), name="f", linker="vm")
        assert f(np.zeros(1)) == 4
    rows = [row for row in of_kind(g.functions["f"], "graph_op") if row["name"].startswith("Same")]
    assert sorted(row["nodes"] for row in rows) == [1, 2]
    (same,) = [row for row in of_kind(g.functions["f"], "graph_class") if row["name"].endswith("Same")]
    assert (same["nodes"], same["calls"], same["implementation"]) == (3, 3, "Py")
