"""What sonde.graph offers in the place of the library's ProfileStats."""

import io
import pickle
import re
import sys

import numpy as np
import pytest
from graph_support import theirs

import sonde.graph


def test_a_part_has_the_attributes_of_the_librarys_own(lib, linker):
    stats = lib.ProfileStats(atexit_print=False)
    known, data = lib.logistic(linker, profile=stats)
    with sonde.graph.profile() as g:
        train, data = lib.logistic(linker)
        for _ in range(5):
            train(*data)
    for _ in range(5):
        known(*data)
    found = g.functions["train"].stats
    assert isinstance(found, lib.ProfileStats) and found.message == "train"
    assert (found.fct_callcount, found.nb_nodes) == (stats.fct_callcount, stats.nb_nodes)
    assert {key: count for key, (count, _) in theirs(found).items()} == {k: n for k, (n, _) in theirs(stats).items()}
    assert found.class_callcount() == stats.class_callcount() and found.class_impl() == stats.class_impl()
    assert found.op_nodes() == stats.op_nodes() and found.op_impl() == stats.op_impl()
    assert 0 < sum(found.class_time().values()) <= found.vm_call_time <= found.fct_call_time
    assert sum(found.op_time().values()) == pytest.approx(sum(found.apply_time.values()))
    assert found.compile_time >= found.rewriting_time + found.linker_time > 0
    assert found.rewriting_time > found.validate_time > 0
    assert g.sum().stats.fct_callcount == 5


def test_functions_share_one(lib, linker):
    shared = sonde.graph.ProfileStats(message="both")
    assert isinstance(shared, lib.ProfileStats)
    one, other = lib.chain(linker, "one", profile=shared), lib.chain(linker, "other", profile=shared)
    one(np.ones(10))
    with sonde.graph.profile() as g:
        one(np.ones(10))
        other(np.ones(10))
    assert shared.fct_callcount == 3 and len(shared.apply_callcount) == 6
    assert list(g.functions) == ["both"] and g.functions["both"].calls == 2
    out = io.StringIO()
    shared.summary(out, 5, n_apply_to_print=2)
    text = out.getvalue()
    assert "Function both" in text and "in 3 calls" in text and "rewriting" in text
    assert re.search(r"remaining: \d+ node", text)


def test_it_is_pickled_with_its_function(lib):
    shared = sonde.graph.ProfileStats(message="kept")
    chain = lib.chain(profile=shared)
    chain(np.ones(10))
    again = pickle.loads(pickle.dumps(chain))
    again(np.ones(10))
    assert type(again.profile) is type(shared) and again.profile.message == "kept"


def test_it_is_made_for_the_library_that_was_imported(lib, monkeypatch):
    monkeypatch.delitem(sys.modules, lib.name)
    with pytest.raises(RuntimeError, match="^import aesara or pytensor first$"):
        sonde.graph.ProfileStats()
