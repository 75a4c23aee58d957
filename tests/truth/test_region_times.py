"""Programs that time themselves know their own answer; regions must agree with it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from chance import expect, repeats

pytestmark = pytest.mark.quiet

PROGRAM = """
import json, random, threading, time
import sonde

random.seed(7)
sonde.install(reporter=sonde.SilentReporter(), recording="r.sonde", cpu=True)
truth = {}

def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass

def measure(thread, shares):
    start = time.perf_counter_ns()
    for name, seconds in shares:
        before, cpu = time.perf_counter_ns(), time.thread_time_ns()
        with sonde.region(name):
            (spin if name.startswith("spin") else time.sleep)(seconds)
        wall, cpu = time.perf_counter_ns() - before, time.thread_time_ns() - cpu
        total = truth.setdefault(f"{thread} {name}", [0, 0, 0])
        total[0] += 1
        total[1] += wall
        total[2] += cpu

def plan(n):
    names = ["spin a", "spin b", "sleep c", "sleep d"]
    return [(name, random.uniform(0.001, 0.006)) for _ in range(n) for name in names]

threads = [threading.Thread(target=measure, args=(f"worker {i}", plan(15)), name=f"worker {i}") for i in range(3)]
for thread in threads:
    thread.start()
measure("main", plan(15))
for thread in threads:
    thread.join()
print(json.dumps(truth))
"""


def run(tmp_path):
    (tmp_path / "prog.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "prog.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    program = Path(sys.executable).parent / "sonde"
    export = [program, "export", "r.sonde", "--format", "json"]
    rows = json.loads(subprocess.run(export, cwd=tmp_path, capture_output=True, check=True).stdout)["rows"]
    return json.loads(done.stdout), rows


@repeats
def test_wall_and_cpu_time_agree_with_the_program(tmp_path):
    truth, rows = run(tmp_path)
    found = {f"{row['thread']} {row['name']}": row for row in rows if row["depth"] == 1}
    assert set(found) == set(truth)
    for name, (count, wall_ns, cpu_ns) in truth.items():
        row = found[name]
        assert row["count"] == count
        # what the program measures contains what sonde measures, and the two clock reads around it
        assert row["total_ns"] <= wall_ns
        assert row["cpu_ns"] <= cpu_ns
        if name.endswith(("a", "b")):
            expect(row["cpu_ns"] >= cpu_ns - count * 100_000, f"{name}: {row['cpu_ns']} ns of {cpu_ns} ns")


def test_the_columns_add_up(tmp_path):
    _, rows = run(tmp_path)
    for thread in {row["thread"] for row in rows}:
        mine = [row for row in rows if row["thread"] == thread]
        root = next(row for row in mine if row["depth"] == 0)
        assert abs(sum(row["self_ns"] for row in mine) - root["total_ns"]) <= len(mine)
        for row in mine:
            assert row["min_ns"] <= row["average_ns"] <= row["max_ns"]
            assert row["min_ns"] <= row["p50_ns"] <= row["p90_ns"] <= row["p99_ns"] <= row["max_ns"]
