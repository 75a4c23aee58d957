"""NumPy, PyTorch and regions in one measurement: one tree, whose times add up, in the table and in the recording."""

import asyncio
import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from ops_support import rows_of

import sonde
import sonde.torch
from sonde import _core

SIZE = 150


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.ones(3) + 1  # what the first operator of a process does besides
    yield
    torch.set_num_threads(before)


def work(times=5):
    left, right = torch.ones(SIZE, SIZE), np.ones((SIZE, SIZE))
    for _ in range(times):
        with sonde.region("step"):
            with sonde.region("torch"):
                left @ left
            with sonde.region("numpy"):
                right @ right
            torch.relu(left)
    left + 1


def test_every_operator_stands_in_the_table_once():
    with sonde.ops() as prof:
        work()
    rows = rows_of(prof)
    counts = {name: rows[name].count for name in ("aten::mm", "aten::relu", "aten::add", "numpy.matmul", "region step")}
    assert counts == {"aten::mm": 5, "aten::relu": 5, "aten::add": 1, "numpy.matmul": 5, "region step": 5}
    assert rows_of(prof, True)["aten::mm"].input_shapes == [[SIZE, SIZE], [SIZE, SIZE]]


def test_a_region_has_what_its_operators_leave_of_its_time():
    with sonde.ops() as prof, sonde.region("all"):
        work()
    rows = rows_of(prof)
    whole = sum(row.self_cpu_time_total for row in rows.values())
    assert whole == pytest.approx(rows["region all"].cpu_time_total, rel=1e-3)
    left = rows["region torch"].cpu_time_total - rows["aten::matmul"].cpu_time_total
    assert rows["region torch"].self_cpu_time_total == pytest.approx(left, abs=50)


def test_a_region_within_an_operator():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, value):
            with sonde.region("inside"):
                return value @ value

        @staticmethod
        def backward(ctx, grad):
            return grad

    with sonde.ops() as prof, sonde.region("outside"):
        Twice.apply(torch.ones(SIZE, SIZE, requires_grad=True))
    rows = rows_of(prof)
    whole = sum(row.self_cpu_time_total for row in rows.values())
    assert whole == pytest.approx(rows["region outside"].cpu_time_total, rel=1e-3)
    assert rows["region inside"].cpu_time_total >= rows["aten::matmul"].cpu_time_total
    assert rows["Twice"].self_cpu_time_total <= rows["Twice"].cpu_time_total - rows["aten::matmul"].cpu_time_total


def test_threads_have_their_own_operators(tmp_path):
    def other():
        with sonde.region("other"):
            torch.ones(SIZE, SIZE) @ torch.ones(SIZE, SIZE)

    with sonde.ops() as prof:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    rows = rows_of(prof)
    assert rows["aten::mm"].count == 1
    assert rows["region other"].self_cpu_time_total < rows["region other"].cpu_time_total / 2
    assert ("other", "aten::mm", f"[[{SIZE}, {SIZE}], [{SIZE}, {SIZE}]]", 1) in below_regions(prof, tmp_path)


def test_coroutines_that_take_turns(tmp_path):
    async def task(name, size):
        with sonde.region(name):
            for _ in range(3):
                torch.ones(size, size) @ torch.ones(size, size)
                await asyncio.sleep(0)

    async def main():
        await asyncio.gather(task("small", 20), task("large", 200))

    with sonde.ops() as prof:
        asyncio.run(main())
    found = {
        (region, inputs): calls for region, name, inputs, calls in below_regions(prof, tmp_path) if name == "aten::mm"
    }
    assert found == {("small", "[[20, 20], [20, 20]]"): 3, ("large", "[[200, 200], [200, 200]]"): 3}


def below_regions(prof, folder):
    """Region, name, inputs and calls of every operator of a recording, whatever operator called it."""
    path = folder / "r.sonde"
    prof.save(path)
    return in_recording(path)


def in_recording(path):
    base = sqlite3.connect(path)
    query = """
        with recursive step(node, region) as (
          select node.id, site.name from node join site on site.id = site where kind in ('region', 'thread')
          union all
          select node.id, region from node join step on parent = step.node join site on site.id = site where kind = 'op'
        )
        select region, site.name, detail, value from step join node on node.id = step.node
          join site on site.id = site join value on value.node = node.id join metric on metric.id = metric
        where kind = 'op' and metric.name = 'count'"""
    with contextlib.closing(base):
        return base.execute(query).fetchall()


def test_it_is_all_in_the_recording(tmp_path):
    with sonde.ops() as prof:
        work()
    found = below_regions(prof, tmp_path)
    shape = f"[[{SIZE}, {SIZE}], [{SIZE}, {SIZE}]]"
    assert ("torch", "aten::mm", shape, 5) in found
    assert ("numpy", "numpy.matmul", f"float64[{SIZE},{SIZE}], float64[{SIZE},{SIZE}]", 5) in found
    assert ("step", "aten::relu", f"[[{SIZE}, {SIZE}]]", 5) in found
    program = Path(sys.executable).parent / "sonde"
    shown = subprocess.check_output([program, "view", tmp_path / "r.sonde", "--ops", "--by-shape"], text=True)
    assert shape in next(line for line in shown.splitlines() if line.startswith("aten::mm "))
    question = "select detail, count from op where name = 'aten::mm'"
    asked = subprocess.check_output([program, "sql", tmp_path / "r.sonde", question], text=True)
    assert asked.splitlines()[2].rsplit(maxsplit=1) == [shape, "5"]


def test_blocks_one_after_the_other_and_one_in_the_other():
    with sonde.ops() as first:
        torch.ones(3) + 1
    with sonde.ops() as second:
        torch.ones(3) * 2
    assert "aten::mul" not in rows_of(first)
    assert "aten::add" not in rows_of(second)
    assert rows_of(second)["aten::mul"].count == 1
    expected = pytest.warns(UserWarning, match="only for the enclosing block")
    with sonde.ops() as outer, expected, sonde.ops() as inner:
        np.ones(3) + 1
        torch.ones(3) + 1
    assert rows_of(inner).keys() & {"numpy.add", "aten::add"} == {"numpy.add"}
    assert rows_of(outer).keys() >= {"numpy.add", "aten::add"}


def test_a_recording_of_several_probes_has_them(tmp_path):
    with sonde.record(tmp_path / "r.sonde", probes=["region", "op"]), sonde.region("step"):
        torch.ones(3) + 1
    assert ("step", "aten::add", "[[3], [], []]", 1) in in_recording(tmp_path / "r.sonde")


def test_while_a_profile_of_torch_runs_there_is_a_note():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as theirs:
        with pytest.warns(UserWarning, match="its profiler is already running"):
            prof = sonde.ops().start()
        torch.ones(3) + 1
        np.ones(3) + 1
        prof.stop()
    assert rows_of(prof).keys() & {"numpy.add", "aten::add"} == {"numpy.add"}
    assert "aten::add" in {row.key for row in theirs.key_averages()}


def test_another_torch_stands_in_the_table_beside_others(monkeypatch):
    monkeypatch.setattr(sonde.torch.profile, "_kineto", lambda self: None)  # as where private names have moved
    with sonde.ops() as prof, sonde.region("step"):
        torch.ones(3, 2) + 1
        np.ones(3) + 1
    rows = rows_of(prof, True)
    assert rows.keys() >= {"numpy.add", "aten::add", "region step"}
    assert rows["aten::add"].input_shapes == [[3, 2], [], []]


def test_a_child_of_the_block_ends_it_without_torch(tmp_path):
    with sonde.ops() as prof:
        child = os.fork()
        if child == 0:
            try:
                prof.stop()
            finally:
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        torch.ones(3) + 1
    assert rows_of(prof)["aten::add"].count == 1


def test_an_exception_passes_and_the_table_is_kept():
    with pytest.raises(RuntimeError, match="size"), sonde.ops() as prof:
        torch.ones(3) + 1
        torch.ones(3) + torch.ones(4)
    assert rows_of(prof)["aten::ones"].count == 3
    assert not _core.is_running()


def test_a_hundred_blocks_leak_nothing():
    def block():
        with sonde.ops(), sonde.region("step"):
            np.ones(3) + 1

    def memory():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    for _ in range(20):
        block()
    before = memory()
    for _ in range(100):
        block()
    assert memory() - before < 8 << 20
