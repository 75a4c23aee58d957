"""Memory from inside a program: memory, record, snapshot, compare."""

import asyncio
import ctypes
import os
import sqlite3
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

import sonde
from sonde import _core
from sonde._runtime import session as _session

pytestmark = pytest.mark.interpreter

MB = 1_000_000


@pytest.fixture(autouse=True)
def nothing_is_left():
    assert not _core.is_running()
    before = allocators()
    yield
    assert not _core.is_running()
    assert not _session._holders
    assert allocators() == before


class Allocator(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("ctx", "malloc", "calloc", "realloc", "free")]


def allocators():
    """The functions behind the interpreter's three domains."""
    found = []
    for domain in range(3):
        one = Allocator()
        ctypes.pythonapi.PyMem_GetAllocator(domain, ctypes.byref(one))
        found += [(one.ctx, one.malloc, one.calloc, one.realloc, one.free)]
    return found


def line_before():
    return sys._getframe(1).f_lineno - 1


def at_line(measurement, folder, line, column):
    """The sum of a column of the recording's view of memory over a line of this file."""
    measurement.save(folder / "saved.sonde")
    with sqlite3.connect(folder / "saved.sonde") as db:
        sql = f"select sum({column}) from memory where file = ? and line = ?"
        (value,) = db.execute(sql, (__file__, line)).fetchone()
    return value or 0


@pytest.mark.quick
def test_a_block_knows_its_peak_and_what_stays():
    with sonde.memory() as m:
        data = bytes(50 * MB)
        kept = bytearray(10 * MB)
        assert m.live_bytes == pytest.approx(60 * MB, rel=0.01)
        del data
        assert m.live_bytes == pytest.approx(10 * MB, rel=0.05)
    assert m.peak_bytes == pytest.approx(60 * MB, rel=0.01)
    assert m.live_bytes == pytest.approx(10 * MB, rel=0.05)
    assert m.allocated_bytes == pytest.approx(60 * MB, rel=0.01)
    assert len(kept) == 10 * MB


def test_the_numbers_stay_as_they_were_at_the_end():
    with sonde.memory() as m:
        data = bytes(20 * MB)
    numbers = (m.peak_bytes, m.live_bytes, m.allocated_bytes, m.copied_bytes)
    more = bytes(bytearray(30 * MB))
    del data
    assert (m.peak_bytes, m.live_bytes, m.allocated_bytes, m.copied_bytes) == numbers
    assert len(more) == 30 * MB


@pytest.mark.quick
def test_a_known_line_has_its_bytes(tmp_path):
    with sonde.memory() as m:
        data = bytes(50 * MB)
        line = line_before()
    assert at_line(m, tmp_path, line, "alloc_python") == pytest.approx(50 * MB, rel=0.01)
    assert at_line(m, tmp_path, line, "live_peak") == pytest.approx(50 * MB, rel=0.01)
    assert at_line(m, tmp_path, line, "live") == pytest.approx(50 * MB, rel=0.01)
    assert at_line(m, tmp_path, line, "alloc_native") < MB
    assert len(data) == 50 * MB


def test_an_array_is_native(tmp_path):
    numpy = pytest.importorskip("numpy")
    with sonde.memory() as m:
        data = numpy.zeros(5 * MB)
        line = line_before()
    assert at_line(m, tmp_path, line, "alloc_native") == pytest.approx(40 * MB, rel=0.01)
    assert at_line(m, tmp_path, line, "alloc_python") < MB
    assert data.nbytes == 40 * MB


def test_exact_counts_every_small_block(tmp_path):
    size = sys.getsizeof(bytes(1000))
    with sonde.memory(exact=True) as m:
        data = [None] * 10_000
        for i in range(10_000):
            data[i] = bytes(1000)
            line = line_before()
    assert at_line(m, tmp_path, line, "live") == pytest.approx(10_000 * size, rel=0.01)
    assert at_line(m, tmp_path, line, "alloc_blocks") == pytest.approx(10_000, rel=0.01)
    assert m.peak_error_bytes == m.live_error_bytes == 0
    assert m.profile.info("memory_exact") == "1"


def test_an_estimate_is_as_good_as_it_says():
    size = sys.getsizeof(bytes(1000))
    with sonde.memory() as m:
        data = [bytes(1000) for _ in range(50_000)]
        live, error = m.live_bytes, m.live_error_bytes
        data.clear()
        del data
    assert 0.01 * live < error < 0.2 * live
    assert abs(live - 50_000 * (size + 8)) < 5 * error
    assert m.live_bytes < 0.1 * live
    assert m.peak_bytes >= live
    assert 0.01 * live < m.peak_error_bytes < 0.2 * live


def test_a_smaller_interval_has_a_smaller_error():
    errors = []
    for interval in (1 << 20, 1 << 12):
        with sonde.memory(interval=interval) as m:
            data = [bytes(1000) for _ in range(30_000)]
        errors.append(m.live_error_bytes)
        assert m.profile.info("memory_interval_bytes") == str(interval)
        assert len(data) == 30_000
    assert errors[1] < errors[0] / 4


def test_copies():
    source = bytearray(20 * MB)
    with sonde.memory() as m:
        copy = bytes(source)
    assert m.copied_bytes == pytest.approx(20 * MB, rel=0.05)
    assert copy == source


def test_another_thread_allocates():
    kept = []
    with sonde.memory() as m:
        thread = threading.Thread(target=lambda: kept.append(bytes(30 * MB)))
        thread.start()
        thread.join()
    assert m.live_bytes == pytest.approx(30 * MB, rel=0.02)


def test_results_before_anything_was_measured():
    for name in ("peak_bytes", "live_bytes", "allocated_bytes", "copied_bytes", "peak_error_bytes", "profile"):
        with pytest.raises(RuntimeError, match="nothing was measured yet"):
            getattr(sonde.memory(), name)
    with pytest.raises(RuntimeError, match="nothing was measured yet"):
        sonde.memory().snapshot()


def test_an_exception_passes_and_the_results_stay():
    with pytest.raises(ZeroDivisionError), sonde.memory() as m:
        data = bytes(20 * MB)
        1 / 0  # noqa: B018
    assert m.peak_bytes == pytest.approx(20 * MB, rel=0.05)
    assert len(data) == 20 * MB


def test_a_block_used_again_forgets_the_first_time():
    m = sonde.memory()
    with m:
        first = bytes(40 * MB)
    with m:
        second = bytes(10 * MB)
    assert m.peak_bytes == pytest.approx(10 * MB, rel=0.05)
    assert m.allocated_bytes == pytest.approx(10 * MB, rel=0.05)
    assert len(first) == 4 * len(second)


def test_a_block_inside_another_has_its_own_peak_and_leaves_the_other_its():
    with sonde.memory() as outer:
        data = bytes(60 * MB)
        del data
        with sonde.memory() as inner:
            data = bytes(20 * MB)
            assert outer.peak_bytes == pytest.approx(60 * MB, rel=0.02)
            del data
        data = bytes(30 * MB)
        del data
    assert inner.peak_bytes == pytest.approx(20 * MB, rel=0.02)
    assert inner.allocated_bytes == pytest.approx(20 * MB, rel=0.02)
    assert outer.peak_bytes == pytest.approx(60 * MB, rel=0.02)
    assert outer.allocated_bytes == pytest.approx(110 * MB, rel=0.02)
    assert int(outer.profile.info("peak_bytes")) == pytest.approx(60 * MB, rel=0.02)


def test_the_outer_peak_may_be_inside_the_inner_block():
    with sonde.memory() as outer:
        kept = bytes(10 * MB)
        with sonde.memory() as inner:
            data = bytes(20 * MB)
            del data
    assert outer.peak_bytes == inner.peak_bytes == pytest.approx(30 * MB, rel=0.02)
    assert inner.live_bytes == pytest.approx(len(kept), rel=0.05)


def test_the_first_who_asks_decides():
    with sonde.memory(exact=True), sonde.memory(interval=4096) as inner:
        pass
    assert (inner.profile.info("memory_exact"), inner.profile.info("memory_interval_bytes")) == ("1", "0")


def test_memory_inside_samples_begins_and_ends_alone():
    before = allocators()
    with sonde.sample() as s:
        with sonde.memory() as m:
            assert allocators() != before
            data = bytes(20 * MB)
        assert allocators() == before
        assert _core.is_running()
        taken = int(s.profile.info("samples"))
        while int(s.profile.info("samples")) < taken + 20:
            pass
    assert m.peak_bytes == pytest.approx(20 * MB, rel=0.05)
    assert sum(row["samples"] for row in s.rows("functions")) >= 20
    assert len(data) == 20 * MB


def test_memory_alone_takes_no_samples():
    with sonde.memory() as m:
        end = time.thread_time() + 0.1
        while time.thread_time() < end:
            pass
        data = bytes(MB)
    assert "memory" in m.profile.info("probes")
    assert "sample" not in m.profile.info("probes")
    assert len(data) == MB


@pytest.mark.slow
def test_blocks_again_and_again_leave_the_allocators_as_they_were():
    before = allocators()
    kept = []
    for i in range(200):
        with sonde.memory(exact=i % 2 == 1):
            kept.append([bytes(2000) for _ in range(20)])
        assert allocators() == before
    kept.clear()


def test_tracemalloc_may_come_later_and_stay():
    before = allocators()
    with sonde.memory() as m:
        tracemalloc.start()
        data = bytes(20 * MB)
    try:
        assert tracemalloc.get_traced_memory()[0] > 19 * MB
        assert m.peak_bytes == pytest.approx(20 * MB, rel=0.1)
        with sonde.memory() as again:
            more = bytes(10 * MB)
        assert again.peak_bytes == pytest.approx(10 * MB, rel=0.1)
    finally:
        tracemalloc.stop()
    assert len(data) == 2 * len(more)
    with sonde.memory():  # what could not be given back below tracemalloc is, now
        pass
    assert allocators() == before


def test_a_bare_decorator_reports_each_call(capsys):
    @sonde.memory
    def work():
        """The text."""
        return len(bytes(20 * MB))

    assert work() == 20 * MB
    assert work.__doc__ == "The text."
    assert work.measurement.peak_bytes == pytest.approx(20 * MB, rel=0.05)
    text = capsys.readouterr().err
    assert "peak 19.1 MiB" in text


def test_a_decorator_with_options_on_a_coroutine(capsys):
    @sonde.memory(exact=True, report=False)
    async def work(size):
        data = bytes(size)
        await asyncio.sleep(0)
        return len(data)

    async def both():
        return await asyncio.gather(work(20 * MB), work(10 * MB))

    assert asyncio.run(both()) == [20 * MB, 10 * MB]
    assert work.measurement.peak_bytes == pytest.approx(30 * MB, rel=0.02)
    assert capsys.readouterr().err == ""


def test_start_and_stop():
    m = sonde.memory()
    with pytest.raises(RuntimeError, match="not started"):
        m.stop()
    assert m.start() is m
    data = bytes(20 * MB)
    assert m.stop() is m
    assert m.live_bytes == pytest.approx(len(data), rel=0.05)
    with pytest.raises(RuntimeError, match="not started"):
        m.stop()


def test_what_cannot_be_measured():
    for interval in (0, -1, 1023, 2**30 + 1, 1.5, "small", None):
        with pytest.raises(ValueError, match="^interval must be a whole number from 1024 to 1073741824, not "):
            sonde.memory(interval=interval)
    with pytest.raises(ValueError, match="whole number from 1024"):
        sonde.record("r.sonde", probes=["memory"], interval=1)
    with pytest.raises(TypeError, match="pass options as keywords"):
        sonde.memory(4096)


def test_time_and_memory_of_a_line_in_one_recording(tmp_path):
    with sonde.record(tmp_path / "r.sonde", probes=["sample", "memory"]) as m:
        end = time.thread_time() + 0.3
        while time.thread_time() < end:
            data = [bytes(1000) for _ in range(2000)]
            line = line_before()
    assert m.peak_bytes > 2 * MB
    with sqlite3.connect(tmp_path / "r.sonde") as db:
        where, here = "where file = ? and line = ?", (__file__, line)
        (cpu_ns,) = db.execute(f"select sum(python_ns + native_ns + system_ns) from sample {where}", here).fetchone()
        (allocated,) = db.execute(f"select sum(alloc_python + alloc_native) from memory {where}", here).fetchone()
        (probes,) = db.execute("select value from info where key = 'probes'").fetchone()
    assert cpu_ns > 1e8
    assert allocated == pytest.approx(m.allocated_bytes, rel=0.1)
    assert {"sample", "memory"} <= set(probes.split(", "))
    assert len(data) == 2000


def test_a_child_counts_anew_and_the_parent_goes_on():
    with sonde.memory() as m:
        data = bytes(30 * MB)
        child = os.fork()
        more = bytes(10 * MB)
        numbers = (m.live_bytes, m.peak_bytes, m.allocated_bytes)
        if child == 0:
            os._exit(0 if all(9 * MB < number < 12 * MB for number in numbers) else 1)
        _, status = os.waitpid(child, 0)
    assert status == 0
    assert numbers == pytest.approx((40 * MB,) * 3, rel=0.05)
    assert len(data) == 3 * len(more)


def test_a_child_leaves_the_block():
    with sonde.memory() as m:
        data = bytes(20 * MB)
        child = os.fork()
    if child == 0:
        with sonde.memory() as again:
            data = bytes(10 * MB)
        os._exit(0 if 9 * MB < again.peak_bytes < 12 * MB else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert m.peak_bytes == pytest.approx(len(data), rel=0.05)


# ---- snapshots ----


def grow(kept, size):
    kept.append(bytes(size))


GROW = grow.__code__.co_firstlineno + 1


def test_a_snapshot_finds_a_line():
    kept = []
    with sonde.memory() as m:
        grow(kept, 30 * MB)
        (first, *_) = sonde.snapshot().statistics("lineno")
        kept.clear()
        after = sonde.snapshot().statistics("lineno")
        grow(kept, 20 * MB)
    assert first.size == pytest.approx(30 * MB, rel=0.01)
    assert first.count == 1
    assert (first.traceback[0].filename, first.traceback[0].lineno) == (__file__, GROW)
    assert str(first) == f"{__file__}:{GROW}: size=28.6 MiB, count=1, average=28.6 MiB"
    assert all(one.size < MB for one in after)
    (last, *_) = m.snapshot().statistics()
    assert last.size == pytest.approx(20 * MB, rel=0.01)


def test_a_snapshot_by_file_and_by_stack():
    kept = []
    with sonde.memory() as m:
        grow(kept, 30 * MB)
        line = line_before()
        grow(kept, 10 * MB)
    (by_file, *_) = m.snapshot().statistics("filename")
    assert by_file.size == pytest.approx(40 * MB, rel=0.01)
    assert (by_file.traceback[0].filename, by_file.traceback[0].lineno) == (__file__, 0)
    first, second, *_ = m.snapshot().statistics("traceback")
    assert [frame.lineno for frame in first.traceback][-2:] == [line, GROW]  # as in tracemalloc: the oldest first
    assert [frame.lineno for frame in second.traceback][-2:] == [line + 2, GROW]
    assert (first.size, second.size) == (pytest.approx(30 * MB, rel=0.01), pytest.approx(10 * MB, rel=0.01))
    with pytest.raises(ValueError, match="unknown key type 'line'; choose from 'lineno', 'filename' and 'traceback'"):
        m.snapshot().statistics("line")


def test_compare_finds_what_grew_and_what_shrank():
    kept, other = [], [None]
    with sonde.memory():
        other[0] = bytearray(15 * MB)
        line = line_before()
        before = sonde.snapshot()
        grow(kept, 30 * MB)
        other[0] = None
        after = sonde.snapshot()
    first, second, *rest = sonde.compare(before, after)
    assert first.traceback[0].lineno == GROW
    assert (first.size_diff, first.count_diff) == (pytest.approx(30 * MB, rel=0.01), 1)
    assert second.traceback[0].lineno == line
    assert (second.size_diff, second.count_diff) == (pytest.approx(-15 * MB, rel=0.01), -1)
    assert second.size == 0
    assert all(abs(change.size_diff) < MB for change in rest)
    assert "size=28.6 MiB (+28.6 MiB), count=1 (+1)" in str(first)
    assert after.compare_to(before, "lineno") == sonde.compare(before, after)
    assert sonde.compare(after, before)[0].size_diff == -first.size_diff


def test_compare_counts_like_tracemalloc():
    kept = []
    with sonde.memory(exact=True):
        before = sonde.snapshot()
        for _ in range(2000):
            grow(kept, 1000)
        after = sonde.snapshot()
    changes = {change.traceback[0].lineno: change for change in sonde.compare(before, after)}
    size = sys.getsizeof(bytes(1000))
    assert changes[GROW].size_diff == pytest.approx(2000 * size, rel=0.05)  # and the list, which grows there
    assert changes[GROW].count_diff == pytest.approx(2000, abs=2)


def test_a_snapshot_where_memory_is_not_measured():
    with pytest.raises(RuntimeError, match="memory is not being measured; take snapshots inside `with sonde.memory"):
        sonde.snapshot()
    with sonde.sample() as s, pytest.raises(RuntimeError, match="memory is not being measured"):
        sonde.snapshot()
    from sonde.snapshots import Snapshot

    with pytest.raises(RuntimeError, match="memory is not being measured"):
        Snapshot(s.profile)


def test_a_cell_of_a_notebook():
    import linecache

    name, text = "<ipython-input-7-0123456789ab>", "def cell(kept):\n    kept.append(bytes(20_000_000))\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names, kept = {}, []
    exec(compile(text, name, "exec"), names)
    with sonde.memory() as m:
        names["cell"](kept)
    (first, *_) = m.snapshot().statistics("lineno")
    assert (first.traceback[0].filename, first.traceback[0].lineno) == (name, 2)
    assert "kept.append(bytes(20_000_000))" in m.output("memory")


def test_views_that_are_reports_are_those_in_python_too():
    with sonde.memory(interval=4096) as m:
        kept = [bytes(1000) for _ in range(10_000)]
    whole = m.output("memory")
    titles = ("Memory at the peak, by owner", "The same by call stack", "Allocations by size")
    assert all(title in whole for title in titles)
    assert m.output() == whole  # of memory alone it is the main view
    assert "heap" in m.output("footprint") and "peak" in m.output("footprint")
    assert len(kept) == 10_000


def test_a_report_goes_to_people_and_a_table_to_programs():
    with sonde.memory() as m:
        kept = bytes(20_000_000)
    place = f"{Path(__file__).name}:{line_before()}"
    for options in ({"format": "csv"}, {"format": "json"}, {"limit": 1}, {"columns": ["place", "peak_bytes"]}):
        text = m.output("memory", **options)
        assert place in text and "The same by call stack" not in text
    assert len(m.output("memory", width=60).splitlines()[3]) <= 60
    assert len(kept) == 20_000_000


def test_print_shows_the_whole_report(capsys):
    with sonde.memory() as m:
        kept = bytes(20_000_000)
    m.print()
    out = capsys.readouterr().out
    assert out.startswith("peak 19.") and "The same by call stack" in out
    assert len(kept) == 20_000_000
