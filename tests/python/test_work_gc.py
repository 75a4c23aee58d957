"""Garbage collections are in the recording, and the program's own callbacks stay as they are."""

import gc
import json

import pytest

pytestmark = pytest.mark.interpreter

PROGRAM = """\
import gc, json, threading, time

gc.disable()
seen = []

def first(phase, info):  # before all others, so that what is between the two is within what others see
    if phase == "stop":
        took = time.perf_counter_ns() - last.start
        seen.append((threading.current_thread().name, info["generation"], took, info["collected"]))

def last(phase, info):
    if phase == "start":
        last.start = time.perf_counter_ns()

class Loop:
    def __init__(self):
        self.me = self

def collect(times):
    for i in range(times):
        for _ in range(1000):
            Loop()
        gc.collect(i % 3)

gc.callbacks.insert(0, first)
gc.callbacks.append(last)
before = list(gc.callbacks)
collect(7)
thread = threading.Thread(target=collect, args=(5,), name="cleaner")
thread.start()
thread.join()
assert gc.callbacks == before
json.dump(seen, open("seen.json", "w"))
"""


def ask(sonde, recording, question):
    return json.loads(sonde.command("sql", recording, question, "--format", "json").stdout)["rows"]


def collections(sonde, recording):
    """By thread and generation: the metrics of a node."""
    found = {}
    for row in ask(sonde, recording, "select thread, name, detail, metric, value from measure where kind = 'gc'"):
        assert row["name"] == "gc"
        found.setdefault((row["thread"], row["detail"]), {})[row["metric"]] = row["value"]
    return found


@pytest.mark.quick
@pytest.mark.parametrize("words", [["run"], ["run", "--memory"], ["trace"], ["trace", "--timeline"]])
def test_every_collection_is_counted_with_its_generation_and_its_time(sonde, words):
    (sonde.folder / "prog.py").write_text(PROGRAM)
    sonde.command(*words, "--no-report", "-o", "r.sonde", "prog.py")
    seen = json.loads((sonde.folder / "seen.json").read_text())
    found = collections(sonde, "r.sonde")
    own = [node for (thread, _), node in found.items() if thread != "main"]
    theirs = [one for one in seen if one[0] == "cleaner"]
    assert sum(node["count"] for node in own) == 5
    assert sum(node["gc_collected"] for node in own) == sum(one[3] for one in theirs)
    for generation in range(3):
        counted = [node for (_, detail), node in found.items() if detail == f"generation {generation}"]
        took = [one[2] for one in seen if one[1] == generation]
        assert sum(node["count"] for node in counted) >= len(took)
        assert sum(node["total"] for node in counted) > sum(took) * 0.99  # two clocks
        assert all(node["min"] * node["count"] <= node["total"] <= node["max"] * node["count"] for node in counted)


def test_times_are_those_that_a_callback_of_python_measures(sonde):
    done = sonde.python(
        """
        import gc, sonde, time
        from sonde import _core
        gc.disable()
        class Loop:
            def __init__(self):
                self.me = self
        times = {"start": [], "stop": []}
        with sonde.sample() as s:
            first = lambda phase, info: times[phase].append(time.perf_counter_ns())
            last = lambda phase, info: times[phase].append(time.perf_counter_ns())
            gc.callbacks.insert(0, first)
            gc.callbacks.append(last)
            for _ in range(6):
                for _ in range(20000):
                    Loop()
                gc.collect()
            gc.callbacks.remove(first)
            gc.callbacks.remove(last)
            rows = s.profile.format(view="summary")
        print(sum(times["stop"][::2]) - sum(times["start"][1::2]), sum(times["stop"][1::2]) - sum(times["start"][::2]))
        print(next(line for line in rows.splitlines() if line.startswith("garbage")))
        """
    )
    bounds, line = done.stdout.splitlines()
    assert line.startswith("garbage collection: 6 runs, ")
    value, unit = line.split(", ")[1].removesuffix(" in total").split()
    total = float(value) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]
    inside, outside = map(int, bounds.split())  # of those called after ours at first, and before it at last
    assert 0.98 * inside < total < 1.02 * outside  # two clocks, and three digits


def test_collections_are_in_the_timeline_and_take_time_from_no_region(sonde):
    sonde.python(
        """
        import gc, sonde
        gc.disable()
        with sonde.record("r.sonde"):
            with sonde.region("work"):
                for _ in range(9):
                    gc.collect()
        """
    )
    (row,) = ask(sonde, "r.sonde", "select sum(value) as times from measure where kind = 'gc' and metric = 'count'")
    assert row["times"] == 9
    assert not ask(
        sonde, "r.sonde", "select * from measure where kind = 'gc' and metric in ('self', 'open', 'suspended')"
    )
    main = sonde.main("r.sonde")
    assert sum(one.self_ns for one in main.all_rows()) == pytest.approx(main.total_ns, abs=len(main.all_rows()))


def test_callbacks_of_the_program_keep_their_place_and_ours_goes():
    import sonde

    def mine(phase, info):
        pass

    before = list(gc.callbacks)
    gc.callbacks.append(mine)
    try:
        with sonde.sample():
            assert gc.callbacks[: len(before) + 1] == [*before, mine]
            assert len(gc.callbacks) == len(before) + 2
            gc.callbacks.append(mine)
            gc.collect()
        assert gc.callbacks == [*before, mine, mine]
    finally:
        gc.callbacks[:] = before


def test_a_program_that_clears_or_replaces_the_callbacks_is_unharmed(sonde):
    for change in ("gc.callbacks.clear()", "gc.callbacks = []", "gc.callbacks[:] = [None]", "del gc.callbacks"):
        done = sonde.python(
            f"""
            import gc, sonde
            with sonde.sample():
                gc.collect()
                kept = list(gc.callbacks)
                {change}
            print("end")
            """
        )
        assert done.stdout == "end\n"


def test_without_a_recording_and_without_samples_nothing_is_hooked(measured):
    assert not [one for one in gc.callbacks if "sonde" in repr(one)]


def test_a_forked_child_counts_its_own(sonde):
    sonde.python(
        """
        import gc, os, sonde
        gc.disable()
        with sonde.record("r-%p.sonde"):
            gc.collect()
            child = os.fork()
            if child == 0:
                with sonde.region("child"):
                    gc.collect(), gc.collect()
            else:
                os.waitpid(child, 0)
                print(child)
        """
    )
    counts = []
    for path in sorted(sonde.folder.glob("r-*.sonde")):
        (row,) = ask(sonde, path.name, "select sum(value) as times from measure where kind = 'gc' and metric = 'count'")
        counts.append(row["times"])
    assert sorted(counts) == [1, 2]
