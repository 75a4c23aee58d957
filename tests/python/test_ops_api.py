"""Operators from inside a program: ops, key_averages, record; sonde run --ops and sonde view --ops."""

import csv
import io
import json
import re
import sqlite3
import sys
import threading

import pytest

import sonde
from sonde import _core, _ops, _torch_ops
from sonde._runtime import session as _session

pytestmark = pytest.mark.interpreter

np = pytest.importorskip("numpy")
from ops_support import rows_of  # noqa: E402

PROGRAM = """\
import numpy as np
import sonde
a = np.ones((50, 40))
with sonde.region("step"):
    for _ in range(3):
        b = a @ a.T
    b + 1
print(int(b.sum()))
"""


@pytest.fixture(autouse=True)
def nothing_is_left():
    finders = list(sys.meta_path)
    assert not _core.is_running()
    yield
    assert not _core.is_running()
    assert not _session._holders
    assert sys.meta_path == finders
    assert not _ops._is_hooked
    assert _core.ops_hooked() == []


def test_what_an_import_in_numpy_calls_counts_for_the_line_that_caused_it(sonde):
    (sonde.folder / "prog.py").write_text("import numpy as np\nnp.ones(3) + 1\nnp.random.rand(3)\n")
    sonde.command("run", "--ops", "--no-report", "-o", "r.sonde", "prog.py")
    text = sonde.command("export", "r.sonde", "--view", "ops", "--by-line", "-f", "json").stdout
    places = {row["place"] for row in json.loads(text)["rows"]}
    assert {"prog.py:2", "prog.py:3"} <= places <= {"prog.py:1", "prog.py:2", "prog.py:3"}


@pytest.mark.quick
def test_a_block_counts_its_operators():
    a = np.ones((20, 30))
    with sonde.ops() as prof:
        for _ in range(5):
            a @ a.T
        a + 1
    rows = rows_of(prof)
    assert rows["numpy.matmul"].count == 5
    assert rows["numpy.matmul"].flops == 5 * 2 * 20 * 20 * 30
    assert rows["numpy.add"].count == 1
    for row in rows.values():
        assert 0 <= row.self_cpu_time_total <= row.cpu_time_total


def test_results_are_the_same_and_exceptions_pass():
    a = np.arange(12.0).reshape(3, 4)
    with pytest.raises(ValueError, match="matmul"), sonde.ops() as prof:
        assert (a.T @ a == np.matmul(a.T, a)).all()
        a @ a
    assert rows_of(prof)["numpy.matmul"].count == 3


def test_other_inputs_are_other_rows_when_asked_for():
    with sonde.ops() as prof:
        np.add(np.ones(3), np.ones(3))
        np.add(np.ones(4, dtype="f4"), np.ones(4, dtype="f4"))
    assert [row.count for row in prof.key_averages() if row.key == "numpy.add"] == [2]
    found = {row.input_shapes: row.count for row in prof.key_averages(True) if row.key == "numpy.add"}
    assert found == {"float64[3], float64[3]": 1, "float32[4], float32[4]": 1}
    assert "Input Shapes" in prof.key_averages(group_by_input_shape=True).table()


def test_without_shapes_there_are_none():
    with sonde.ops(shapes=False) as prof:
        np.add(np.ones(3), np.ones(3))
    assert [row.input_shapes for row in prof.key_averages(True) if row.key == "numpy.add"] == [""]


def test_other_lines_are_other_rows_when_asked_for():
    a = np.ones(3)
    with sonde.ops(stacks=True) as prof:
        a + 1
        a + 1
        line = sys._getframe().f_lineno - 1
    stacks = sorted(row.stack for row in prof.key_averages(group_by_line=True) if row.key == "numpy.add")
    assert stacks == [[f"{__file__}({line - 1})"], [f"{__file__}({line})"]]
    assert [row.stack for row in prof.key_averages() if row.key == "numpy.add"] == [[]]


def test_regions_stand_in_the_same_table():
    a = np.ones(1000)
    with sonde.ops() as prof, sonde.region("outer"):
        np.sort(a)
    rows = rows_of(prof)
    assert rows["region outer"].is_user_annotation
    assert rows["region outer"].count == 1
    assert rows["region outer"].cpu_time_total >= rows["numpy.sort"].cpu_time_total
    (row,) = [row for row in prof.rows("regions") if row["name"] == "outer"]
    assert row["self_ns"] == pytest.approx(row["total_ns"], abs=10)  # each is rounded
    assert [row["name"] for row in prof.rows("regions")] == ["<main>", "outer"]


def test_the_table_is_sorted_and_limited():
    a = np.ones((200, 200))
    with sonde.ops() as prof:
        a @ a
        a + 1
    lines = prof.key_averages().table(sort_by="count", row_limit=1).splitlines()
    assert len([line for line in lines if "numpy." in line]) == 1
    assert "Self CPU time total" in lines[-1] or "Self CPU time total" in lines[-2]
    averages = prof.key_averages()
    names = [line.split()[0] for line in averages.table(sort_by="cpu_time_total").splitlines()[3:5]]
    assert names == [one.key for one in sorted(averages, key=lambda one: -one.cpu_time_total)]


def test_an_unknown_key_names_the_known_ones():
    with sonde.ops() as prof:
        np.ones(2) + 1
    with pytest.raises(ValueError, match="unknown sort_by 'wrong'; choose from .*cpu_time_total"):
        prof.key_averages().table(sort_by="wrong")
    with pytest.raises(TypeError, match="a Profile or None is needed, not int"):
        prof.profile.op_averages(None, 5, False, 0, False)


def test_averages_as_csv(tmp_path):
    with sonde.ops() as prof:
        np.ones(2) + 1
    text = prof.key_averages().to_csv(tmp_path / "ops.csv")
    assert (tmp_path / "ops.csv").read_text() == text
    assert "numpy.add" in [row["name"] for row in csv.DictReader(io.StringIO(text))]


def test_operators_that_torch_cannot_give_are_a_warning(monkeypatch):
    class Broken:
        @property
        def profiler(self):
            raise RuntimeError("it is gone")

    with sonde.ops():
        collector = _torch_ops.Collector(shapes=False, window=None)
        monkeypatch.setattr(_torch_ops, "_guard", lambda torch, is_on: None)
        monkeypatch.setitem(sys.modules, "torch", sys.modules.get("torch"))
        collector._prof = Broken()
        with pytest.warns(UserWarning, match="PyTorch's operators are lost: it is gone"):
            collector.end()


def test_a_dataframe_needs_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with sonde.ops() as prof:
        np.ones(2) + 1
    with pytest.raises(ImportError, match=r"to_dataframe\(\) needs pandas: pip install pandas"):
        prof.key_averages().to_dataframe()


def test_start_and_stop():
    prof = sonde.ops()
    with pytest.raises(RuntimeError, match="not started"):
        prof.stop()
    with pytest.raises(RuntimeError, match="nothing was measured yet"):
        prof.key_averages()
    assert prof.start() is prof
    with pytest.raises(RuntimeError, match="already started"):
        prof.start()
    np.ones(2) + 1
    assert rows_of(prof)["numpy.add"].count == 1  # while it runs
    prof.stop()
    assert rows_of(prof)["numpy.add"].count == 1
    with pytest.raises(RuntimeError, match="not started"):
        prof.stop()


def test_a_decorator(capsys):
    @sonde.ops
    def work(a):
        return a + 1

    assert work(np.ones(2)).tolist() == [2, 2]
    assert "numpy.add" in capsys.readouterr().err
    assert rows_of(work.measurement)["numpy.add"].count == 1
    with pytest.raises(TypeError, match="only a function can be measured"):
        sonde.ops(3)


def test_a_second_block_counts_its_own():
    a = np.ones(2)
    with sonde.sample(rate=10):
        with sonde.ops() as first:
            a + 1
            a - 1
        with sonde.ops() as second:
            a + 1
            a + 1
    assert {key: row.count for key, row in rows_of(first).items()} == {"numpy.add": 1, "numpy.subtract": 1}
    assert {key: row.count for key, row in rows_of(second).items()} == {"numpy.add": 2}


def test_a_block_in_a_block_and_the_first_ones_choice():
    a = np.ones(2)
    with sonde.ops(shapes=False) as outer:
        with sonde.ops(shapes=True) as inner:
            a + 1
        a + 1
    assert rows_of(outer)["numpy.add"].count == 2
    assert rows_of(inner)["numpy.add"].count == 1
    assert rows_of(outer, True)["numpy.add"].input_shapes == ""


def test_threads_count_together():
    def work():
        for _ in range(10):
            np.ones(2) + 1

    with sonde.ops() as prof:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert rows_of(prof)["numpy.add"].count == 40


def test_samples_inside_an_operator_are_its_regions(tmp_path):
    a = np.random.default_rng(0).standard_normal((400, 400))
    with sonde.record(tmp_path / "r.sonde", probes=["sample", "op"]) as r, sonde.region("busy"):
        for _ in range(30):
            a @ a
    with sqlite3.connect(tmp_path / "r.sonde") as db:
        above = "select site.kind from sample join node on node.id = sample.parent join site on site.id = node.site"
        assert ("op",) not in db.execute(above).fetchall()
        assert db.execute("select sum(count) from op where name = 'numpy.matmul'").fetchone() == (30,)
        (probes,) = db.execute("select value from info where key = 'probes'").fetchone()
    assert {"sample", "op"} <= set(probes.split(", "))
    assert isinstance(r, _ops.Ops)


def test_shapes_and_lines_stand_in_the_recording(tmp_path):
    a = np.ones((5, 7))
    with sonde.ops(stacks=True) as prof:
        a @ a.T
        line = sys._getframe().f_lineno - 1
    prof.save(tmp_path / "r.sonde")
    with sqlite3.connect(tmp_path / "r.sonde") as db:
        sql = "select detail, file, line, count, flops, read_bytes from op where name = 'numpy.matmul' and count"
        ((detail, *rest),) = db.execute(sql).fetchall()
    assert detail.startswith("float64[5,7], float64[7,5]")
    assert rest == [__file__, line, 1, 350, 560]


# ---- sonde run, sonde view ----


@pytest.mark.quick
def test_run_and_view(sonde):
    (sonde.folder / "prog.py").write_text(PROGRAM)
    done = sonde.command("run", "--ops", "-o", "r.sonde", "prog.py")
    assert done.stdout == "100000\n"
    assert "\nOperators\n" in done.stderr and "numpy.matmul" in done.stderr
    rows = {row["name"]: row for row in view(sonde)}
    assert rows["numpy.matmul"]["calls"] == 3
    assert rows["numpy.matmul"]["flops"] == 3 * 2 * 50 * 50 * 40
    assert rows["region step"]["calls"] == 1
    (matmul,) = [row for row in view(sonde, "--by-shape", "--by-line") if row["name"] == "numpy.matmul"]
    assert (matmul["place"], matmul["line"]) == ("prog.py:6", 6)
    assert matmul["shapes"].startswith("float64[50,40], float64[40,50]")
    assert "region step" in sonde.command("view", "r.sonde", "--ops", "--by-shape").stdout
    assert "numpy" not in sonde.command("view", "r.sonde", "--regions").stdout


def view(sonde, *options):
    text = sonde.command("export", "r.sonde", "--view", "ops", "-f", "json", *options).stdout
    return json.loads(text)["rows"]


def test_run_without_numpy(sonde):
    (sonde.folder / "prog.py").write_text("print(1)\n")
    done = sonde.command("run", "--ops", "-o", "r.sonde", "prog.py")
    assert "no operator of NumPy or PyTorch was called" in done.stderr
    failed = sonde.command("view", "r.sonde", "--ops", status=2)
    assert failed.stderr == (
        "sonde: r.sonde: recorded without --ops, or no operator was called; record again with sonde run --ops\n"
    )


def test_the_footer_says_what_it_cost(sonde):
    (sonde.folder / "prog.py").write_text("import numpy as np\na = np.ones(8)\nfor _ in range(20_000): a + a\n")
    sonde.command("run", "--ops", "-o", "r.sonde", "prog.py")
    question = "select value from info where key = 'own_op_cost_ns'"
    cost = int(sonde.command("sql", "r.sonde", question).stdout.split()[-1])
    footer = sonde.command("view", "r.sonde", "--ops").stdout.splitlines()[-1]
    assert cost > 0
    assert re.search(r"profiler overhead about [\d.]+ (µs|us|m?s) \(", footer)
    assert [row["calls"] for row in view(sonde) if row["name"] == "numpy.add"] == [20_000]


def test_a_setting_of_the_project(sonde):
    (sonde.folder / "pyproject.toml").write_text("[tool.sonde]\nops = true\n")
    (sonde.folder / "prog.py").write_text(PROGRAM)
    sonde.command("run", "-o", "r.sonde", "prog.py")
    assert {row["name"] for row in view(sonde)} >= {"numpy.matmul", "numpy.add"}


def test_a_program_that_pauses(sonde):
    code = "import numpy as np, sonde\na = np.ones(2)\na + 1\nsonde.start()\na - 1\nsonde.stop()\na * 1\n"
    (sonde.folder / "prog.py").write_text(code)
    sonde.command("run", "--ops", "--start-paused", "-o", "r.sonde", "prog.py")
    assert {row["name"] for row in view(sonde)} == {"numpy.subtract"}


def test_what_is_imported_in_the_block_is_seen(sonde):
    done = sonde.python(
        """
        import sys, sonde
        with sonde.ops() as prof:
            import numpy
            numpy.fft.fft(numpy.ones(8))
            numpy.random.default_rng(0).random(3)
        assert not any("sonde" in repr(finder) for finder in sys.meta_path)
        assert "exec_module" not in vars(numpy.__spec__.loader)
        print(sorted({row.key for row in prof.key_averages()} & {"numpy.fft.fft", "Generator.random"}))
        """
    )
    assert done.stdout == "['Generator.random', 'numpy.fft.fft']\n"


def test_import_sonde_imports_no_numpy(sonde):
    done = sonde.python("import sys, sonde\nprint({'numpy', 'torch', 'json'} & set(sys.modules))\n")
    assert done.stdout == "set()\n"
