"""Events of devices, made by hand: sonde.torch and torch read the same objects and print the same table."""

import random

import pytest
import torch
from torch.autograd import DeviceType

from sonde.torch import ProfilerActivity, profile

CPU, CUDA, XPU = DeviceType.CPU, DeviceType.CUDA, DeviceType.XPU

DEFAULTS = {
    "name": "aten::mm",
    "overload_name": "",
    "activity_type": "cpu_op",
    "is_hidden_event": False,
    "start_ns": 0,
    "end_ns": 0,
    "start_thread_id": 1,
    "end_thread_id": 1,
    "fwd_thread_id": 0,
    "is_async": False,
    "device_type": CPU,
    "device_index": 0,
    "device_resource_id": 0,
    "is_user_annotation": False,
    "is_python_function": False,
    "linked_correlation_id": 0,
    "correlation_id": 0,
    "nbytes": 0,
    "flops": 0,
    "cuda_elapsed_us": 0,
    "privateuse1_elapsed_us": 0,
    "shapes": [],
    "dtypes": [],
    "concrete_inputs": [],
    "kwinputs": {},
    "stack": [],
    "scope": 0,
    "sequence_nr": -1,
    "metadata_json": "",
    "extra_meta": {},
    "flow_id": 0,
    "flow_type": 0,
    "flow_start": False,
    "external_id": 0,
    "structured_input_shapes": [],
    "structured_input_strides": [],
    "python_id": -1,
    "python_parent_id": -1,
    "python_module_id": -1,
}


class Event:
    """What Kineto says of one event; each fact is a method."""

    def __init__(self, **facts):
        assert facts.keys() <= DEFAULTS.keys()
        self.facts = DEFAULTS | facts


for _word in DEFAULTS:
    setattr(Event, _word, lambda self, word=_word: self.facts[word])


class Results:
    """What a collection leaves behind."""

    def __init__(self, events):
        self._events = events

    def events(self):
        return list(self._events)

    def trace_start_ns(self):
        return 1_000_000


def at(start_us, end_us, **facts):
    return Event(start_ns=1_000_000 + start_us * 1000, end_ns=1_000_000 + end_us * 1000, **facts)


def kernel(name, start_us, end_us, linked, device=CUDA, **facts):
    kind = {"activity_type": "kernel", "device_type": device, "start_thread_id": 7, "end_thread_id": 7}
    return at(start_us, end_us, name=name, linked_correlation_id=linked, **(kind | facts))


def profile_of(events, device="cuda", **options):
    """A profile whose collection found these events."""
    prof = profile(activities=[ProfilerActivity.CPU], **options)
    with prof:
        pass
    prof.profiler.kineto_results = Results(events)
    prof.profiler.use_device = device
    prof.profiler.kineto_activities = {ProfilerActivity.CPU, ProfilerActivity.CUDA}
    prof.profiler._function_events = None
    return prof


def assert_same(prof, *grouping):
    ours, theirs = prof.key_averages(*grouping), prof.events().key_averages(*grouping)
    for sort_by in (None, "cpu_time_total", "cuda_time_total", "self_device_time_total", "device_time"):
        assert ours.table(sort_by=sort_by, row_limit=-1) == theirs.table(sort_by=sort_by, row_limit=-1), sort_by
    return ours


def linear_on(device):
    return [
        at(0, 1000, name="aten::linear", correlation_id=1, shapes=[[2, 3], [4, 3]]),
        at(100, 900, name="aten::addmm", correlation_id=2, shapes=[[4], [2, 3], [3, 4]], flops=48),
        at(300, 400, name="cudaLaunchKernel", activity_type="cuda_runtime", linked_correlation_id=2, start_thread_id=9),
        kernel("gemm", 950, 1950, 2, device),
        kernel("bias", 1950, 1962, 2, device),
        kernel("Memcpy HtoD (Pageable -> Device)", 20, 80, 1, device, activity_type="gpu_memcpy"),
        kernel("step", 0, 3000, 0, device, activity_type="gpu_user_annotation", is_user_annotation=True),
    ]


@pytest.mark.parametrize(("name", "device"), [("cuda", CUDA), ("xpu", XPU)])
def test_kernels_are_carried_through(name, device):
    prof = profile_of(linear_on(device), name, record_shapes=True, with_flops=True)
    text = assert_same(prof).table()
    assert f"Self {name.upper()} %" in text
    assert f"Self {name.upper()} time total: 1.072ms" in text
    assert_same(prof, True)
    row = next(row for row in prof.key_averages() if row.key == "aten::linear")
    assert row.device_time_total == 1072
    assert row.self_device_time_total == 60


def test_device_memory_has_columns():
    events = [
        *linear_on(CUDA),
        at(150, 150, name="[memory]", activity_type="cpu_instant_event", device_type=CUDA, nbytes=4 << 20),
        at(160, 160, name="[memory]", activity_type="cpu_instant_event", nbytes=-3 << 30),
        at(5000, 5000, name="[memory]", activity_type="cpu_instant_event", device_type=CUDA, nbytes=512),
        at(6000, 6000, name="[OutOfMemory]", activity_type="cpu_instant_event", device_type=CUDA, nbytes=9),
    ]
    text = assert_same(profile_of(events, profile_memory=True)).table()
    assert "CUDA Mem" in text
    assert "4.00 MB" in text
    assert "-3.00 GB" in text
    assert "[OutOfMemory]" in text


def test_device_time_that_a_cpu_event_carries_itself():
    events = [
        at(0, 100, name="aten::linear", correlation_id=1, cuda_elapsed_us=80),
        at(10, 90, name="aten::mm", correlation_id=2, cuda_elapsed_us=60),
        at(200, 300, name="aten::mm", correlation_id=3),
    ]
    assert_same(profile_of(events))


def test_events_that_are_hidden_or_asynchronous():
    events = [
        at(0, 100, name="outer"),
        at(10, 20, name="hidden", is_hidden_event=True),
        at(20, 60, name="async", is_async=True),
        at(30, 50, name="wandering", end_thread_id=2),
        at(30, 40, name="aten::is_leaf"),
    ]
    ours = assert_same(profile_of(events, None))
    assert {row.key for row in ours} == {"outer", "async", "wandering"}


NAMES = ["a", "b", "c", "aten::add", "ProfilerStep#3", "ProfilerStep#4", "St6vectorIiSaIiEE"]


def random_events(seed):
    """Events that overlap, nest, repeat and link at random, in no order."""
    chance = random.Random(seed)
    events = []
    for number in range(1, 300):
        start = chance.randrange(0, 2000)
        event = Event(
            name=chance.choice(NAMES),
            start_ns=1_000_000 + start * 250 + chance.randrange(3),
            end_ns=1_000_000 + (start + chance.choice([0, 1, 2, 5, 40, 400])) * 250 + 3,
            start_thread_id=(thread := chance.choice([1, 1, 1, 2, 2**64 - 1])),
            end_thread_id=thread if chance.random() < 0.95 else 5,
            correlation_id=number,
            scope=int(chance.random() < 0.2),
            sequence_nr=chance.randrange(-1, 20),
            fwd_thread_id=chance.choice([0, 1, 2]),
            shapes=chance.choice([[], [[2, 3]], [[2, 3], []], [[10, 1]]]),
            stack=chance.choice([[], ["x.py(1): f"], ["x.py(2): g", "torch/tensor.py(1): backward", "x.py(1): f"]]),
            flops=chance.choice([0, 0, 12, 123456789]),
        )
        events.append(event)
        if chance.random() < 0.3:
            end = start + chance.randrange(100)
            events.append(kernel(chance.choice(["k1", "k2"]), start, end, chance.randrange(1, 300)))
        if chance.random() < 0.2:
            where = chance.choice([CPU, CUDA])
            events.append(
                at(start // 4, start // 4, name="[memory]", device_type=where, nbytes=chance.randrange(-99, 99))
            )
    chance.shuffle(events)
    return events


@pytest.mark.parametrize("seed", range(20))
def test_events_at_random_give_the_same_tables(seed):
    prof = profile_of(random_events(seed), profile_memory=True, with_stack=True, with_flops=True, record_shapes=True)
    assert_same(prof)
    assert_same(prof, True)
    assert_same(prof, False, 1)
    assert_same(prof, True, 5)


@pytest.mark.parametrize(("name", "size"), [("long int", 8), ("short int", 2), ("c10::complex<double>", 16)])
def test_bytes_of_a_copy_follow_from_the_type_of_its_elements(name, size):
    events = [at(0, 100, name="aten::copy_", correlation_id=1, shapes=[[3, 5], [3, 5]], dtypes=[name, "float"])]
    assert [row["bytes"] for row in profile_of(events).transfers()] == [15 * size]


def test_transfers_by_line():
    where = {"name": "train.py(12): to_device", "activity_type": "python_function"}
    events = [
        at(0, 10_000, **where),
        at(5, 9000, name="nn.Module: Model_0", activity_type="python_function"),
        at(
            100,
            2100,
            name="aten::copy_",
            correlation_id=1,
            shapes=[[1000, 1000], [1000, 1000]],
            dtypes=["float", "float"],
        ),
        at(3000, 3500, name="aten::copy_", correlation_id=2, shapes=[[3]], dtypes=["strange"]),
        kernel(
            "Memcpy HtoD (Pageable -> Device)",
            2200,
            4200,
            1,
            activity_type="gpu_memcpy",
            extra_meta={"bytes": "4000000"},
        ),
        at(20_000, 25_000, name="enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
    ]
    prof = profile_of(events, with_stack=True)
    rows = prof.transfers()
    by_name = {row["name"]: row for row in rows}
    loader = by_name["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"]
    assert (loader["time_ns"], loader["bytes"], loader["place"]) == (5_000_000, None, "")
    transfer = by_name["Memcpy HtoD (Pageable -> Device)"]
    assert transfer["place"] == "train.py(12): to_device"
    assert (transfer["bytes"], transfer["time_ns"]) == (4_000_000, 2_000_000)
    assert transfer["bytes_per_second"] == 2_000_000_000
    copies = by_name["aten::copy_"]
    assert (copies["count"], copies["bytes"], copies["time_ns"]) == (2, None, 2_500_000)
    text = prof.transfers_table()
    assert "train.py(12): to_device" in text


def test_copies_on_the_cpu_have_bytes_and_lines():
    source = torch.ones(256, 256)

    def copy_all():
        for _ in range(4):
            source.clone()
            torch.empty(256, 256, dtype=torch.float64).copy_(source)

    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=True) as prof:
        copy_all()
    rows = [row for row in prof.transfers() if row["name"] == "aten::copy_"]
    assert sum(row["count"] for row in rows) == 8
    assert sum(row["bytes"] for row in rows) == 4 * 256 * 256 * (4 + 8)
    assert all("copy_all" in row["place"] for row in rows)
    assert all(row["bytes_per_second"] > 0 for row in rows)
