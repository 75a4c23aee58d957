"""Every export carries the recording's sums: each file is read again, by readers of another hand, and compared."""

import json
import pstats
import subprocess
import sys

import export_readers as read
import jsonschema
import pytest
from sonde_programs import Sonde

WORK = """
import time
kept = []
def leaf(n):
    return sum(i * i for i in range(n))
def middle(n):
    kept.append(bytearray(20_000))
    return leaf(n) + leaf(n + 1)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def main(size=10):
    for i in range(60):
        middle(size + i)
    fib(12)
    time.sleep(0.02)
"""
SAMPLED = (
    WORK
    + """
import threading
thread = threading.Thread(target=main, args=(1000,), name="worker; 1")
thread.start()
main(1000)
thread.join()
"""
)
REGIONS = """
import ctypes, pathlib, threading, time, sonde
class Site(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("file", ctypes.c_char_p)]
    _fields_ += [("line", ctypes.c_uint32), ("id", ctypes.c_uint32)]
things = Site(b"things", b"prog.py", 3, 0)
set_counter = ctypes.CDLL(pathlib.Path(sonde.__file__).parent / "libsonde.so").sonde_counter_set
set_counter.argtypes = [ctypes.POINTER(Site), ctypes.c_double]
sonde.install(reporter=sonde.SilentReporter(), recording="regions.sonde", timeline=True)
def work():
    for i in range(5):
        with sonde.region("outer"):
            with sonde.region("inner"):
                time.sleep(0.001)
            with sonde.region("outer"):
                set_counter(things, i)
thread = threading.Thread(target=work, name="worker")
thread.start()
work()
thread.join()
"""
OPS = """
import numpy as np, sonde
with sonde.region("load"):
    a = np.arange(1000.0)
    for _ in range(20):
        b = np.dot(a, a) + np.sum(a + a)
"""
KINDS = ("samples", "memory", "regions", "ops", "calls")
ENTERED = ("time", "entries")
SAMPLE = ("wall", "cpu", "samples")
SPACE = ("alloc_space", "alloc_objects", "inuse_space", "peak_space", "temporary_space", "copied_space")
STACKS = {"samples": SAMPLE, "memory": SAMPLE + SPACE, "regions": ENTERED, "ops": SAMPLE + ENTERED}


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """A folder with a recording of each kind."""
    sonde = Sonde(tmp_path_factory.mktemp("exports"))
    (sonde.folder / "sampled.py").write_text(SAMPLED)
    (sonde.folder / "called.py").write_text(WORK + "main()\n")
    sonde.command("run", "--no-report", "-o", "samples.sonde", "sampled.py")
    sonde.command("run", "--no-report", "--memory", "--exact", "-o", "memory.sonde", "called.py")
    sonde.command("trace", "--timeline", "-o", "calls.sonde", "called.py")
    sonde.python(REGIONS)
    if subprocess.run([sys.executable, "-c", "import numpy"], capture_output=True, check=False).returncode == 0:
        (sonde.folder / "ops.py").write_text(OPS)
        sonde.command("run", "--no-report", "--ops", "-o", "ops.sonde", "ops.py")
    return sonde


@pytest.fixture
def kind(request, recordings):
    if not (recordings.folder / f"{request.param}.sonde").exists():
        pytest.skip("needs NumPy")
    return request.param


def sql(recordings, kind, query):
    text = recordings.command("sql", f"{kind}.sonde", query, "-f", "json").stdout
    return [list(row.values()) for row in json.loads(text)["rows"]]


def sums(recordings, kind):
    """What the recording itself says, asked in SQL."""
    waits = " + ".join(f"coalesce(wait_{name}_ns, 0)" for name in ("cpu", "lock", "gil", "io", "sleep", "other"))
    cpu = "coalesce(python_ns, 0) + coalesce(native_ns, 0) + coalesce(system_ns, 0)"
    [[wall, ran, samples]] = sql(recordings, kind, f"select sum({cpu} + {waits}), sum({cpu}), sum(samples) from sample")
    memory = (
        "select sum(coalesce(alloc_python, 0) + coalesce(alloc_native, 0)), sum(alloc_blocks), sum(live),"
        " sum(live_peak), sum(temporary), sum(copied) from memory"
    )
    entered = "from measure where kind in ('region', 'op'"
    [[count]] = sql(recordings, kind, f"select sum(value) {entered}) and metric = 'count'")
    [[time]] = sql(recordings, kind, f"select sum(value) {entered}, 'thread') and metric = 'self'")
    found = dict(zip(SPACE, sql(recordings, kind, memory)[0], strict=True))
    found.update(wall=wall, cpu=ran, samples=samples, entries=count, time=time if count else None)
    return {name: value for name, value in found.items() if value}


def export(recordings, kind, form, *words, status=0):
    path = recordings.folder / f"{kind}.{form}"
    path.unlink(missing_ok=True)
    done = recordings.command("export", f"{kind}.sonde", "-f", form, "-o", str(path), *words, status=status)
    assert status == 0 or (done.stderr.count("\n") == 1 and not path.exists())
    return path if status == 0 else done.stderr


def functions(recordings, short=True):
    """Calls, primitive ones, self and total of every function by place and name, as pstats names it or in full."""
    rows = sql(
        recordings,
        "calls",
        "select file, line, name, sum(count), sum(count - coalesce(recursive, 0)), sum(self_ns), sum(total_ns)"
        " from call join node on node.id = call.parent where node.parent is null and detail = '' group by 1, 2, 3",
    )
    return {
        (file or "~", line, name.rpartition(".")[2] if file and short else name): numbers
        for file, line, name, *numbers in rows
    }


# ---- stacks ----


@pytest.mark.parametrize("kind", STACKS, indirect=True)
def test_pprof_carries_all_sums(recordings, kind):
    file = read.Pprof(export(recordings, kind, "pprof"))
    wanted = sums(recordings, kind)
    assert file.sums() == wanted and set(wanted) >= set(STACKS[kind]) - {"copied_space", "temporary_space"}
    units = {"samples": "count", "entries": "count", "alloc_objects": "count"}
    assert all(unit == units.get(name, "bytes" if name in SPACE else "nanoseconds") for name, unit in file.types)
    [[start, length]] = sql(
        recordings,
        kind,
        "select (select value from info where key = 'start_realtime_ns') || '',"
        " (select value from info where key = 'length_ns') || ''",
    )
    assert (read.one(file.fields, 9), read.one(file.fields, 10)) == (int(start), int(length))
    assert file.texts[read.one(file.fields, 14)] == ("wall" if "wall" in wanted else "time")
    assert set(file.label("thread")) <= {row[0] for row in sql(recordings, kind, "select name from track")}
    assert set(file.label("process")) == {row[0] for row in sql(recordings, kind, "select process_id from track")}


def test_pprof_knows_functions_lines_and_threads(recordings):
    file = read.Pprof(export(recordings, "samples", "pprof"))
    lines = {}
    for locations, _, _ in file.samples:
        for place, (name, path, start) in zip(locations, file.stack(locations), strict=True):
            if path.endswith("/sampled.py"):
                lines.setdefault((name, start), set()).add(read.one(file.locations[place], 2))
    source = SAMPLED.splitlines()
    assert ("main", source.index("def main(size=10):") + 1) in lines
    assert all(line >= start for (_, start), found in lines.items() for line in found)
    assert {"main", "worker; 1"} <= set(file.label("thread"))
    outermost = {file.stack(locations)[-1][0] for locations, _, _ in file.samples}
    assert "<module>" in outermost


def profile_class():
    """Profile of profile.proto, as far as it is wanted here, built at run time."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    fields = {
        "ValueType": [("type", 1, 3), ("unit", 2, 3)],
        "Label": [("key", 1, 3), ("str", 2, 3), ("num", 3, 3), ("num_unit", 4, 3)],
        "Sample": [("location_id", 1, 4, "*"), ("value", 2, 3, "*"), ("label", 3, "Label", "*")],
        "Mapping": [("id", 1, 4), ("filename", 5, 3), ("has_functions", 7, 8)],
        "Line": [("function_id", 1, 4), ("line", 2, 3)],
        "Location": [("id", 1, 4), ("mapping_id", 2, 4), ("address", 3, 4), ("line", 4, "Line", "*")],
        "Function": [("id", 1, 4), ("name", 2, 3), ("system_name", 3, 3), ("filename", 4, 3), ("start_line", 5, 3)],
        "Profile": [
            ("sample_type", 1, "ValueType", "*"), ("sample", 2, "Sample", "*"), ("mapping", 3, "Mapping", "*"),
            ("location", 4, "Location", "*"), ("function", 5, "Function", "*"), ("string_table", 6, 9, "*"),
            ("drop_frames", 7, 3), ("keep_frames", 8, 3), ("time_nanos", 9, 3), ("duration_nanos", 10, 3),
            ("period_type", 11, "ValueType"), ("period", 12, 3), ("comment", 13, 3, "*"),
            ("default_sample_type", 14, 3),
        ],
    }  # fmt: skip
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="perftools.profiles", syntax="proto3")
    for name, members in fields.items():
        about = file.message_type.add(name=name)
        for member, number, kind, *repeated in members:
            field = about.field.add(name=member, number=number, label=3 if repeated else 1)
            field.type = 11 if isinstance(kind, str) else kind
            if isinstance(kind, str):
                field.type_name = f".perftools.profiles.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file) if hasattr(pool, "Add") else pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("perftools.profiles.Profile"))


@pytest.mark.parametrize("kind", STACKS, indirect=True)
def test_googles_protobuf_reads_the_pprof_file(recordings, kind):
    import gzip

    path = export(recordings, kind, "pprof")
    profile = profile_class().FromString(gzip.decompress(path.read_bytes()))
    assert not [field for field, _ in profile.ListFields() if field.name.startswith("unknown")]
    names = [profile.string_table[kind.type] for kind in profile.sample_type]
    totals = [sum(sample.value[i] for sample in profile.sample) for i in range(len(names))]
    assert dict(zip(names, totals, strict=True)) == sums(recordings, kind)
    places = {place.id for place in profile.location}
    assert all(set(sample.location_id) <= places for sample in profile.sample)


@pytest.mark.parametrize("kind", STACKS, indirect=True)
def test_go_tool_pprof_opens_it(recordings, kind):
    path = export(recordings, kind, "pprof")
    cost = "wall" if kind in ("samples", "memory") else "entries"
    words = ["go", "tool", "pprof", "-raw", f"-sample_index={cost}", str(path)]
    raw = recordings.run(words, env={"HOME": str(recordings.folder)}).stdout
    types, head, total = None, None, 0
    for line in raw.split("Locations\n")[0].splitlines():
        if line.startswith("Samples:"):
            head = True
        elif head is True:
            types = [word.partition("/")[0] for word in line.split()]
            head = [word.removesuffix("[dflt]") for word in types]
        elif head and ":" in line and line.split(":")[0].split() and line.split(":")[0].split()[0].isdigit():
            total += int(line.split(":")[0].split()[head.index(cost)])
    assert total == sums(recordings, kind)[cost]


@pytest.mark.parametrize("form", ["collapsed", "speedscope"])
@pytest.mark.parametrize("kind", STACKS, indirect=True)
def test_stacks_carry_the_sum_of_each_cost(recordings, kind, form):
    for cost, wanted in sums(recordings, kind).items():
        path = export(recordings, kind, form, "--cost", cost)
        is_time = cost in ("wall", "cpu", "time", "gpu")
        if form == "speedscope":
            assert read.speedscope_sum(path, cost == "time") == wanted, cost
        else:
            assert sum(read.collapsed(path).values()) == ((wanted + 500) // 1000 if is_time else wanted), cost


def test_operators_are_frames_below_their_regions(recordings):
    if not (recordings.folder / "ops.sonde").exists():
        pytest.skip("needs NumPy")
    stacks = read.collapsed(export(recordings, "ops", "collapsed", "--cost", "entries"))
    below = {
        frames[2].split(" (")[0]: number for frames, number in stacks.items() if frames[1:2] == ("load",) and frames[2:]
    }
    assert sum(number for frames, number in stacks.items() if "numpy.dot" in frames[-1]) == 20
    assert "numpy.dot" in below


# ---- functions and pairs ----


def seconds(ns):
    return ns / 1e9


def test_pstats_of_calls_is_exact(recordings):
    path = export(recordings, "calls", "pstats")
    stats = read.pstats(path)
    wanted = functions(recordings)
    assert set(stats) == set(wanted)
    for place, (count, primitive, self_ns, total_ns) in wanted.items():
        assert stats[place][:4] == (primitive, count, seconds(self_ns), seconds(total_ns)), place
    pairs = sql(
        recordings,
        "calls",
        "select caller.name as caller, call.name as callee, sum(call.count) as n, sum(call.self_ns) as ns"
        " from call join call as caller on caller.node = call.parent group by 1, 2",
    )
    found = {
        (caller[2], place[2]): (numbers[0], round(numbers[2] * 1e9))
        for place, (*_, callers) in stats.items()
        for caller, numbers in callers.items()
    }
    own = {
        (caller, callee): (n, ns)
        for caller, callee, n, ns in pairs
        if {caller, callee} <= {"main", "middle", "leaf", "fib"}
    }
    assert len(own) == 4 and own == {pair: found[pair] for pair in own}
    assert found["fib", "fib"][0] == wanted[next(key for key in wanted if key[2] == "fib")][0] - 1


def test_the_standard_module_prints_it(recordings):
    path = export(recordings, "calls", "pstats")
    stats = pstats.Stats(str(path))
    wanted = functions(recordings)
    assert stats.total_calls == sum(row[0] for row in wanted.values())
    assert stats.prim_calls == sum(row[1] for row in wanted.values())
    assert stats.total_tt == pytest.approx(seconds(sum(row[2] for row in wanted.values())), rel=1e-12)
    shown = recordings.run(
        [
            sys.executable,
            "-c",
            f"import pstats; pstats.Stats({str(path)!r}).sort_stats('cumtime').print_callers('leaf')",
        ]
    )
    assert "(middle)" in shown.stdout and "(leaf)" in shown.stdout


def test_snakeviz_loads_it(recordings):
    import snakeviz.stats

    for kind in ("calls", "samples", "regions"):
        stats = pstats.Stats(str(export(recordings, kind, "pstats")))
        assert len(snakeviz.stats.table_rows(stats)) == len(stats.stats)
        assert snakeviz.stats.json_stats(stats)


@pytest.mark.parametrize("kind", STACKS, indirect=True)
def test_pstats_of_stacks_has_their_times_and_counts(recordings, kind):
    wanted = sums(recordings, kind)
    cost, count = ("wall", "samples") if "wall" in wanted else ("time", "entries")
    stats = read.pstats(export(recordings, kind, "pstats"))
    assert sum(round(row[2] * 1e9) for row in stats.values()) == wanted[cost]
    assert sum(row[1] for row in stats.values()) == wanted[count] + (wanted["entries"] if kind == "ops" else 0)
    alone = read.pstats(export(recordings, kind, "pstats", "--cost", "cpu")) if "cpu" in wanted else {}
    assert sum(round(row[2] * 1e9) for row in alone.values()) == wanted.get("cpu", 0)


def test_totals_of_stacks_count_recursion_once(recordings):
    stats = read.pstats(export(recordings, "regions", "pstats"))
    [outer] = [row for place, row in stats.items() if place[2] == "outer"]
    [[total]] = sql(
        recordings,
        "regions",
        "select sum(total_ns) from region where name = 'outer'"
        " and parent in (select id from node where parent is null)",
    )
    assert (outer[0], outer[1]) == (10, 20)
    assert abs(round(outer[3] * 1e9) - total) <= 6  # a nanosecond a node of rounding
    [caller] = [numbers for place, numbers in outer[4].items() if place[2] == "outer"]
    assert caller[:2] == (10, 0)


@pytest.mark.parametrize("kind", STACKS, indirect=True)
def test_callgrind_carries_all_sums(recordings, kind):
    events, own, _ = read.callgrind(export(recordings, kind, "callgrind"))
    found = {event: sum(costs[i] for costs in own.values()) for i, event in enumerate(events)}
    assert found == sums(recordings, kind)


def test_callgrind_of_calls_has_calls_and_inclusive_costs(recordings):
    events, own, calls = read.callgrind(export(recordings, "calls", "callgrind"))
    wanted = functions(recordings, short=False)
    assert events == ["time"]
    assert {place: costs[0] for place, costs in own.items()} == {(p[0], p[2]): row[2] for p, row in wanted.items()}
    for place, (_, _, _, total_ns) in wanted.items():
        if not place[0].endswith("called.py"):
            continue  # functions that call each other in a circle count twice in programs that add up pairs
        callees = sum(costs[1] for (caller, _), costs in calls.items() if caller == (place[0], place[2]))
        inclusive = own[place[0], place[2]][0] + callees
        assert abs(inclusive - total_ns) <= len(calls) + 1, place  # a nanosecond a pair of rounding
    counts = {(caller[1], callee[1]): costs[0] for (caller, callee), costs in calls.items()}
    assert counts["middle", "leaf"] == 120 and counts["main", "middle"] == 60


@pytest.mark.parametrize("kind", KINDS, indirect=True)
def test_callgrind_annotate_opens_it(recordings, kind, tmp_path):
    path = export(recordings, kind, "callgrind")
    shown = subprocess.run(
        ["callgrind_annotate", "--auto=no", "--threshold=100", str(path)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    totals = next(line for line in shown.stdout.splitlines() if line.endswith("PROGRAM TOTALS"))
    first = int(totals.split()[0].replace(",", ""))
    if kind == "calls":
        assert first == sum(row[2] for row in functions(recordings).values())
    else:
        wanted = sums(recordings, kind)
        assert first == wanted.get("wall", wanted.get("time"))
    assert not shown.stderr


# ---- traces ----


@pytest.mark.parametrize("form", ["chrome", "perfetto"])
def test_a_trace_of_regions_has_every_entry(recordings, form):
    path = export(recordings, "regions", form)
    if form == "perfetto":
        slices, counters = read.perfetto(path)
        assert sorted(counters["things"]) == sorted([float(i) for i in range(5)] * 2)
    else:
        ids = dict(sql(recordings, "regions", "select thread_id, name from track"))
        slices = {(ids[tid], name): numbers for (tid, name), numbers in read.chrome(path).items()}
    rows = sql(recordings, "regions", "select thread, name, sum(count), sum(total_ns) from region group by 1, 2")
    assert set(slices) == {(thread, name) for thread, name, _, _ in rows}
    for thread, name, count, total_ns in rows:
        assert slices[thread, name][0] == count
        assert abs(slices[thread, name][1] - total_ns) <= count + 2  # each is rounded to a nanosecond


@pytest.mark.parametrize("form", ["chrome", "perfetto"])
def test_a_trace_of_calls_has_every_call(recordings, form):
    path = export(recordings, "calls", form)
    slices = read.perfetto(path)[0] if form == "perfetto" else read.chrome(path)
    counts = {}
    for (_, name), (count, _) in slices.items():
        counts[name] = counts.get(name, 0) + count
    wanted = {}
    for _, _, name, number in sql(
        recordings,
        "calls",
        "select file, line, name, count from call join node on node.id = call.parent where node.parent is null",
    ):
        wanted[name] = wanted.get(name, 0) + number
    assert {name: number for name, number in wanted.items() if name in ("leaf", "middle", "fib", "main")} == {
        name: counts[name] for name in ("leaf", "middle", "fib", "main")
    }


def test_both_traces_of_samples_have_the_same_slices(recordings):
    ids = {}
    for event in json.loads(export(recordings, "samples", "chrome").read_text())["traceEvents"]:
        if event["name"] == "thread_name":
            ids[event["tid"]] = event["args"]["name"]
    drawn = read.chrome(recordings.folder / "samples.chrome")
    slices, _ = read.perfetto(export(recordings, "samples", "perfetto"))
    threads = ("main (samples)", "worker; 1 (samples)")
    wanted = {(ids[tid], name): numbers for (tid, name), numbers in drawn.items() if ids[tid] in threads}
    assert {line for line, _ in wanted} == set(threads)
    assert {key: numbers for key, numbers in slices.items() if key[0] in threads} == wanted


def test_perfetto_has_the_memory_over_time(recordings):
    _, counters = read.perfetto(export(recordings, "memory", "perfetto"))
    points = sql(recordings, "memory", "select name, value from series order by name, at_ns")
    for name in ("heap", "rss"):
        assert counters[name] == [value for which, value in points if which == name]


def test_perfettos_own_description_fits(recordings):
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as trace

    found = trace.Trace.FromString(export(recordings, "regions", "perfetto").read_bytes())
    assert {packet.track_descriptor.thread.thread_name for packet in found.packet} >= {"main", "worker"}
    begins = [packet for packet in found.packet if packet.track_event.type == trace.TrackEvent.TYPE_SLICE_BEGIN]
    assert len(begins) == 30 and all(packet.track_event.name_iid for packet in begins)


# ---- tables ----


@pytest.mark.parametrize("kind", KINDS, indirect=True)
def test_json_is_as_the_schema_says(recordings, kind):
    schema = json.loads(recordings.command("export", "--schema").stdout)
    checked = 0
    for view in ("lines", "tree", "functions", "regions", "ops", "memory", "threads", "callers", "counters", "owners"):
        done = recordings.command("export", f"{kind}.sonde", "-f", "json", "--view", view, status=None)
        if done.returncode != 0:
            assert done.returncode == 2 and done.stderr.count("\n") == 1
            continue
        table = json.loads(done.stdout)
        check_table(table)
        jsonschema.validate(table, schema, jsonschema.Draft202012Validator)
        checked += 1
    assert checked >= 3


def check_table(table):
    """Every value is of the kind that its column's unit says."""
    units = {column["name"]: column["unit"] for column in table["columns"]}
    kinds = {"text": str, "percent": (int, float), "number": (int, float)}
    for row in table["rows"]:
        assert set(row) - {"depth"} == set(units)
        for name, value in row.items():
            kind = int if name == "depth" and name not in units else kinds.get(units[name], int)
            assert value is None or isinstance(value, kind), (name, value)
            assert not isinstance(value, bool)


def test_the_schema_refuses_what_is_none(recordings):
    schema = json.loads(recordings.command("export", "--schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    good = {"view": "x", "columns": [{"name": "a_ns", "unit": "ns"}], "rows": [{"a_ns": 3}]}
    jsonschema.validate(good, schema)
    for bad in ({**good, "rows": [{"a_ns": []}]}, {**good, "columns": [{"name": "a", "unit": "hours"}]}, {"view": "x"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)


@pytest.mark.parametrize("kind", ["calls", "regions"])
def test_csv_has_the_sums_of_json(recordings, kind):
    import csv
    import io

    view = "functions" if kind == "calls" else "regions"
    words = ("export", f"{kind}.sonde", "--view", view, "-f")
    table = json.loads(recordings.command(*words, "json").stdout)
    rows = list(csv.DictReader(io.StringIO(recordings.command(*words, "csv").stdout)))
    for column in table["columns"]:
        if column["unit"] in ("ns", "count"):
            values = [int(row[column["name"]] or 0) for row in rows]
            assert values == [row[column["name"]] or 0 for row in table["rows"]]


# ---- what a format cannot have ----


@pytest.mark.parametrize("form", ["collapsed", "speedscope", "pprof"])
def test_calls_have_no_stacks(recordings, form):
    said = export(recordings, "calls", form, status=2)
    assert "traced calls have no full stacks" in said and "pstats" in said


def test_what_is_not_there_is_said_in_a_line(recordings):
    recordings.python("import sonde\nsonde.install(reporter=sonde.SilentReporter(), recording='none.sonde')\n")
    for form in ("collapsed", "speedscope", "pprof", "pstats", "callgrind"):
        assert f"to write as {form}" in export(recordings, "none", form, status=2)
    assert "no timeline" in export(recordings, "none", "chrome", status=2)
    assert "no timeline" in export(recordings, "none", "perfetto", status=2)
    refused = export(recordings, "memory", "pstats", "--cost", "alloc_space", status=2)
    assert "pstats holds time only, not 'alloc_space'" in refused
    assert "no cost 'gpu'" in export(recordings, "samples", "collapsed", "--cost", "gpu", status=2)
    assert "did you mean 'wall'" in export(recordings, "samples", "collapsed", "--cost", "wal", status=2)
