"""sonde.torch beside torch.profiler on the same events: every table is the same, character for character."""

import csv
import importlib.util
import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import sonde.torch
from sonde.torch import ProfilerActivity, profile, record_function, schedule

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CPU = [ProfilerActivity.CPU]


def load_example():
    spec = importlib.util.spec_from_file_location("torch_models", EXAMPLES / "torch_models.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


models = load_example()


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def theirs(prof, *grouping):
    """The averages that torch makes of the same events."""
    return prof.events().key_averages(*grouping)


def profiled(name, steps=1, **options):
    _model, optimizer, loss_of = models.MODELS[name]()
    models.train_step(optimizer, loss_of)
    with profile(activities=CPU, **options) as prof:
        for _ in range(steps):
            models.train_step(optimizer, loss_of)
    return prof


SORTS = [None, "cpu_time_total", "self_cpu_time_total", "cpu_time", "count", "cpu_memory_usage", "flops", "key"]


def assert_same_tables(prof, *grouping):
    ours, their = prof.key_averages(*grouping), theirs(prof, *grouping)
    assert len(ours) == len(their)
    for sort_by in SORTS:
        for limit in (10, 30, -1):
            words = {"sort_by": sort_by, "row_limit": limit}
            assert ours.table(**words) == their.table(**words), words


@pytest.mark.parametrize("name", list(models.MODELS))
@pytest.mark.parametrize("by_shape", [False, True])
def test_the_table_of_a_training_step_equals_that_of_torch(name, by_shape):
    prof = profiled(name, steps=2, record_shapes=True)
    assert_same_tables(prof, by_shape)
    text = prof.key_averages(by_shape).table(sort_by="cpu_time_total", row_limit=10)
    assert "Self CPU time total: " in text
    assert ("Input Shapes" in text) == by_shape
    assert "backward" in text


@pytest.mark.parametrize("name", list(models.MODELS))
def test_memory_equals_that_of_torch(name):
    prof = profiled(name, profile_memory=True, record_shapes=True)
    assert_same_tables(prof)
    assert_same_tables(prof, True)
    text = prof.key_averages().table(row_limit=-1)
    assert "Self CPU Mem" in text
    assert "[memory]" in text


def test_flops_equal_those_of_torch():
    prof = profiled("resnet18", with_flops=True)
    assert_same_tables(prof)
    assert_same_tables(prof, True)
    assert "FLOPs" in prof.key_averages().table()


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("with_flops", [False, True])
def test_stacks_equal_those_of_torch(verbose, with_flops):
    config = torch._C._profiler._ExperimentalConfig(verbose=verbose)
    prof = profiled("transformer", with_stack=True, with_flops=with_flops, experimental_config=config)
    assert_same_tables(prof)
    for count in (1, 5):
        assert_same_tables(prof, False, count)
    assert_same_tables(prof, True, 2)
    assert ("Source Location" in prof.key_averages(group_by_stack_n=3).table()) == verbose


def test_overloads_equal_those_of_torch():
    config = torch._C._profiler._ExperimentalConfig(capture_overload_names=True)
    prof = profiled("transformer", experimental_config=config)
    assert_same_tables(prof, False, 0, True)
    assert_same_tables(prof, True, 0, True)
    assert "Overload Name" in prof.key_averages(group_by_overload_name=True).table()


def test_every_option_of_the_table_does_what_it_does_in_torch():
    prof = profiled("transformer", record_shapes=True, with_modules=True)
    ours, their = prof.key_averages(True), theirs(prof, True)
    for words in [
        {"header": "One step"},
        {"top_level_events_only": True},
        {"top_level_events_only": True, "header": "Above", "sort_by": "self_cpu_time_total", "row_limit": 3},
        {"max_name_column_width": 20},
        {"max_name_column_width": None, "max_shapes_column_width": None},
        {"max_shapes_column_width": 11},
        {"time_unit": "s"},
        {"time_unit": "ms"},
        {"time_unit": "us"},
        {"row_limit": 0},
        {"sort_by": "self_cuda_time_total"},
        {"sort_by": "xpu_time_total"},
    ]:
        assert ours.table(**words) == their.table(**words), words
    assert str(ours) == str(their)


def test_names_that_are_not_ascii_are_cut_at_characters():
    with profile(activities=CPU) as prof:
        for name in ("größer als alles andere, was hier einen Namen hat, und noch länger", "短い", "é" * 52, "x" * 51):
            with record_function(name):
                torch.ones(2)
    assert prof.key_averages().table() == theirs(prof).table()
    assert prof.key_averages().table(max_name_column_width=9) == theirs(prof).table(max_name_column_width=9)


def test_threads_have_their_own_trees():
    def work():
        with record_function("work"):
            for _ in range(20):
                torch.ones(8, 8) @ torch.ones(8, 8)

    with profile(activities=CPU, record_shapes=True, profile_memory=True) as prof:
        loss = (torch.ones(4, 4, requires_grad=True) * 2).sum()
        loss.backward()
        torch.jit.wait(torch.jit.fork(work))
        work()
    assert_same_tables(prof, True)


ATTRIBUTES = [
    "key",
    "count",
    "flops",
    "input_shapes",
    "overload_name",
    "stack",
    "node_id",
    "device_type",
    "scope",
    "cpu_time",
    "cpu_time_total",
    "self_cpu_time_total",
    "device_time",
    "device_time_total",
    "self_device_time_total",
    "cpu_time_str",
    "cpu_time_total_str",
    "self_cpu_time_total_str",
    "device_time_str",
    "device_time_total_str",
    "self_device_time_total_str",
    "cpu_memory_usage",
    "self_cpu_memory_usage",
    "device_memory_usage",
    "self_device_memory_usage",
    "is_async",
    "is_legacy",
    "is_user_annotation",
]


def test_rows_have_the_attributes_of_torch():
    prof = profiled("transformer", record_shapes=True, profile_memory=True)
    ours, their = prof.key_averages(True), theirs(prof, True)
    for mine, other in zip(ours, their, strict=True):
        for name in ATTRIBUTES:
            assert getattr(mine, name) == getattr(other, name), name
    assert ours.total_average().key == "Total"
    assert ours.total_average().count == their.total_average().count
    assert ours.total_average().self_cpu_time_total == their.total_average().self_cpu_time_total
    assert ours[0].key == their[0].key
    assert len(ours[:3]) == 3


def test_csv_and_dataframe(tmp_path):
    prof = profiled("transformer", record_shapes=True)
    averages = prof.key_averages(group_by_input_shape=True)
    text = averages.to_csv(tmp_path / "ops.csv", sort_by="cpu_time_total")
    assert (tmp_path / "ops.csv").read_text() == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(averages)
    times = [float(row["cpu_time_total"]) for row in rows]
    assert times == sorted(times, reverse=True)
    by_key = {(row.key, row.shapes_text): row for row in averages}
    assert all(by_key[row["name"], row["input_shapes"]].count == int(row["count"]) for row in rows)
    import pandas

    frame = averages.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["count"].sum() == sum(row.count for row in averages)


def test_start_and_stop_without_a_block():
    prof = profile(activities=CPU, record_shapes=True)
    prof.start()
    torch.ones(3) + 1
    prof.stop()
    assert_same_tables(prof, True)


def test_a_schedule_with_steps_calls_back_with_averages():
    seen = []

    def ready(prof):
        seen.append(prof.key_averages().table(row_limit=5))
        assert seen[-1] == theirs(prof).table(row_limit=5)

    with profile(activities=CPU, schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready) as prof:
        for _ in range(8):
            torch.ones(4) + 1
            prof.step()
    assert len(seen) == 2
    assert all("ProfilerStep*" in text for text in seen)


def test_accumulated_events_equal_those_of_torch():
    with profile(activities=CPU, schedule=schedule(wait=0, warmup=0, active=1, repeat=3), acc_events=True) as prof:
        for _ in range(3):
            torch.ones(4) + 1
            prof.step()
    assert_same_tables(prof)


def test_exports_and_metadata_are_those_of_torch(tmp_path):
    config = torch._C._profiler._ExperimentalConfig(verbose=True)
    with profile(activities=CPU, with_stack=True, experimental_config=config) as prof:
        prof.add_metadata("what", "a test")
        prof.add_metadata_json("numbers", "[1, 2]")
        for _ in range(50):
            torch.ones(100, 100) @ torch.ones(100, 100)
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert trace["what"] == "a test"
    assert trace["numbers"] == [1, 2]
    prof.export_stacks(str(tmp_path / "stacks.txt"))
    assert "test_torch.py" in (tmp_path / "stacks.txt").read_text()
    assert any(event.name == "aten::mm" for event in prof.events())


def test_an_empty_profile_has_an_empty_table():
    with profile(activities=CPU) as prof:
        pass
    assert prof.key_averages().table() == theirs(prof).table()


def test_mistakes_have_one_clear_line():
    prof = profile(activities=CPU)
    with pytest.raises(RuntimeError, match="not running"):
        prof.stop()
    with pytest.raises(RuntimeError, match="nothing was profiled; call start"):
        prof.key_averages()
    prof.start()
    with pytest.raises(RuntimeError, match="this profile is already running; stop"):
        prof.start()
    with pytest.raises(RuntimeError, match="this profile is still running; stop"):
        prof.key_averages()
    torch.ones(2)
    prof.stop()
    with pytest.raises(RuntimeError, match="not running"):
        prof.stop()
    averages = prof.key_averages()
    with pytest.raises(ValueError, match="unknown sort_by 'time'; choose from count, cpu_time, cpu_time_total"):
        averages.table(sort_by="time")
    with pytest.raises(ValueError, match="unknown sort_by"):
        averages.to_csv(sort_by="self_cpu")
    with pytest.raises(ValueError, match="unknown time_unit 'ns'; choose from s, ms and us"):
        averages.table(time_unit="ns")
    with pytest.raises(ValueError, match="width of a column"):
        averages.table(max_name_column_width=0)
    prof.experimental_config = SimpleNamespace(trace_only=True)
    with pytest.raises(RuntimeError, match="trace_only=True keeps no averages"):
        prof.key_averages()


def test_without_torch_there_is_one_line():
    code = "import sys; sys.modules['torch'] = None; import sonde; import sonde.torch"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1] == "ImportError: sonde.torch needs PyTorch: pip install torch"


def test_importing_sonde_does_not_import_torch():
    code = "import sys, sonde; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_another_torch_is_read_by_its_events_and_a_note_says_so(monkeypatch):
    prof = profiled("transformer", record_shapes=True)
    fast = prof.key_averages(True).table(sort_by="cpu_time_total")

    def moved(inner):
        raise AttributeError("'_KinetoEvent' object has no attribute 'activity_type'")

    monkeypatch.setattr(sonde.torch, "_read_events", moved)
    monkeypatch.setattr(sonde.torch, "_has_warned", False)
    prof._events_read = None
    with pytest.warns(UserWarning, match="computing averages from events"):
        slow = prof.key_averages(True)
    assert slow.table(sort_by="cpu_time_total") == fast
    assert slow[0].key == theirs(prof)[0].key
    with pytest.raises(RuntimeError, match=r"transfers\(\) needs events that this torch does not provide"):
        prof.transfers()


def test_reading_events_leaks_nothing():
    with profile(activities=CPU, record_shapes=True) as prof:
        for _ in range(20):
            torch.ones(4) + 1
    prof.key_averages(True)
    event = prof._events_read[1]
    before = sys.getrefcount(event)
    for _ in range(100):
        prof.key_averages(True).table(sort_by="count")
    assert sys.getrefcount(event) == before


@pytest.mark.parametrize("name", list(models.MODELS))
def test_the_example_runs(name):
    command = [sys.executable, str(EXAMPLES / "torch_models.py"), name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.count("Self CPU time total: ") == 2
    assert "Input Shapes" in done.stdout


def test_rows_that_are_none_are_refused():
    from sonde import _core

    for rows, error in (([1], AttributeError), ([SimpleNamespace(key="x")], AttributeError), (5, TypeError)):
        with pytest.raises(error):
            _core.torch_profile(rows)
    assert _core.torch_profile([]).op_averages(None, None, False, 0, False).table() == ""
