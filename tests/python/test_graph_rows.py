"""Compiled functions as rows: what the core makes of them, without any library that compiles."""

import sqlite3
import threading

import pytest

from sonde import _core

ADD = "Elemwise{add}(x, y)"


def rows_of(calls, shape="(3,)", name="f"):
    """A function with one node that has an input."""
    return [
        (-1, "graph", name, "", {"count": calls, "total": 100 * calls, "graph_vm": 90 * calls}),
        (0, "graph_class", "Elemwise", "tensor.Elemwise", {}),
        (1, "graph_op", "Elemwise{add}", "", {}),
        (2, "graph_apply", ADD, f"#0 C\ninput 0: float64 {shape}", {"count": calls, "total": 70.4 * calls}),
        (0, "graph_memory", "peak measured", "", {"graph_peak": 4096}),
    ]


@pytest.fixture
def measuring(tmp_path):
    path = tmp_path / "run.sonde"
    _core.start({"recording": str(path), "graph": True})
    yield path
    _core.stop()


def only(rows, name):
    (row,) = [row for row in rows if row["name"] == name]
    return row


@pytest.mark.quick
def test_rows_become_a_profile():
    profile = _core.graph_profile(rows_of(10), {"graph_note_1": "a note", "graph_n_ops": "0"})
    text = profile.format(view="graph")
    assert text.startswith("Function f\n==========\n") and text.endswith("\nNotes\n- a note\n")
    assert "remaining: 1 class" in text and "input 0: float64 (3,)" in text
    assert "remaining: 0 classes" in profile.format(view="graph", n_ops=20)
    node = only(profile.rows("graph"), ADD)
    assert (node["calls"], node["time_ns"], node["implementation"], node["id"]) == (10, 704, "C", 0)
    assert only(profile.rows("graph"), "tensor.Elemwise")["time_ns"] == 704
    assert only(profile.rows("graph", total=True), "f")["vm_ns"] == 900
    with pytest.raises(OSError, match="nothing"):
        profile.format(view="graph", function="g")


def test_rows_of_one_place_are_added_up():
    profile = _core.graph_profile(rows_of(1) + [(0, *rest) for _, *rest in rows_of(2)[1:2]] + rows_of(3)[:1], {})
    assert only(profile.rows("graph"), "f")["calls"] == 4


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (5, TypeError, "not iterable"),
        ([5], TypeError, "a graph row must be a tuple"),
        ([(-1, "graph", "f", "")], TypeError, "5 arguments"),
        ([(0, "graph", "f", "", {})], ValueError, "the parent of row 0 must be a row before it or -1, not 0"),
        ([(-2, "graph", "f", "", {})], ValueError, "not -2"),
        ([(-1, "region", "f", "", {})], ValueError, "a graph row cannot be of kind 'region'"),
        ([(-1, "planet", "f", "", {})], ValueError, "a graph row cannot be of kind 'planet'"),
        ([(-1, "graph", "f\0", "", {})], ValueError, "null character"),
        ([(-1, "graph", "f", "", {"weight": 1})], ValueError, "unknown metric 'weight'"),
        ([(-1, "graph", "f", "", {"count": -1})], OverflowError, "negative"),
        (
            [(-1, "graph", "f", "", {"count": float("nan")})],
            ValueError,
            "a graph's number must be finite and not negative",
        ),
        ([(-1, "graph", "f", "", {"count": "1"})], TypeError, "integer"),
        ([(-1, "graph", "f", "", {1: 1})], TypeError, "bad argument"),
    ],
)
def test_bad_rows_are_refused(rows, error, message):
    with pytest.raises(error, match=message):
        _core.graph_profile(rows, {})
    with pytest.raises(error, match=message):
        _core.graph_attach(rows)


def test_a_measurement_has_the_last_ones(measuring):
    _core.graph_attach(rows_of(1))
    _core.graph_attach(rows_of(2, "(4,)"))
    thread = threading.Thread(target=_core.graph_attach, args=(rows_of(3, "(5,)"),))
    thread.start()
    thread.join()
    profile = _core.profile()
    assert profile.info("probes") == "region, graph"
    assert profile.format(view="graph") == _core.graph_profile(rows_of(3, "(5,)"), {}).format(view="graph")
    assert _core.stop()[0] is None
    db = sqlite3.connect(measuring)
    assert db.execute("select name, count, total_ns from graph where kind = 'graph'").fetchall() == [("f", 3, 300)]
    assert db.execute("select detail from graph where kind = 'graph_variable'").fetchall() == [("float64 (5,)",)]
    assert db.execute("select count(*) from region where count > 0").fetchone() == (0,)


def test_what_is_not_told_of_any_more_is_not_shown(measuring):
    _core.graph_attach(rows_of(1, name="old"))
    _core.graph_attach(rows_of(1, name="new"))
    assert "old" not in _core.profile().format(view="graph")
    _core.reset()
    _core.graph_attach(rows_of(2, name="old"))
    text = _core.profile().format(view="graph")
    assert text.startswith("Function old\n") and "new" not in text


def test_a_recording_of_an_earlier_measurement_has_nothing_of_the_next(tmp_path):
    for name in ("first", "second"):
        _core.start({"recording": str(tmp_path / name), "graph": True})
        _core.graph_attach(rows_of(1, name=name))
        _core.stop()
    names = [
        sqlite3.connect(tmp_path / name).execute("select name from graph where kind = 'graph'").fetchall()
        for name in ("first", "second")
    ]
    assert names == [[("first",)], [("second",)]]
