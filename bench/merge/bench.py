"""A thousand recordings of about 1 MB merged into one: how long it takes, and how much memory.

    python bench/merge/bench.py [--count 1000]

One recording is made by sonde itself, of a program with many distinct stacks, and varied: other processes and ranks,
other starts, other values.
"""

import argparse
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
import sys, time
import sonde

def make(name, callees):
    lines = [f"def {name}(depth, turn):", "    total = 0", "    for i in range(40):", "        total += i * i"]
    for k, callee in enumerate(callees):
        lines.append(f"    if depth and (turn >> {k}) & 1: total += {callee}(depth - 1, turn * 7 + {k})")
    return "\\n".join([*lines, "    return total"])

names = [f"function_{i}" for i in range(60)]
space = {}
for i, name in enumerate(names):
    callees = [names[(i * 7 + k * 11 + 1) % 60] for k in range(6)]
    exec(compile(make(name, callees), f"module_{i % 12}.py", "exec"), space)
end = time.monotonic() + 12
turn = 0
while time.monotonic() < end:
    with sonde.region(f"step {turn % 50}"):
        for i in range(20):
            space[names[(turn + i) % 60]](4, turn * 31 + i)
    turn += 1
"""


def record(folder: Path) -> Path:
    """A recording of sonde's own, without the timeline."""
    (folder / "program.py").write_text(PROGRAM)
    sonde = Path(sys.executable).parent / "sonde"
    path = folder / "one.sonde"
    command = [sonde, "run", "--no-timeline", "-o", path, "program.py"]
    subprocess.run(command, cwd=folder, check=True, stderr=subprocess.DEVNULL)
    return path


def vary(path: Path, number: int) -> None:
    """Another process: its own number, rank, start and values."""
    with sqlite3.connect(path) as db:
        db.execute("pragma synchronous = off")
        facts = {"process_id": 1000 + number, "rank": number, "host": f"node{number // 16}"}
        for key, value in facts.items():
            db.execute("insert or replace into info values (?, ?)", (key, str(value)))
            db.execute(f"update process set {key} = ?", (value,))  # noqa: S608
        for key in ("start_realtime_ns", "start_monotonic_ns"):
            db.execute("update info set value = cast(value + ? as text) where key = ?", (number * 1000, key))
            db.execute(f"update process set {key} = {key} + ?", (number * 1000,))  # noqa: S608
        db.execute("update value set value = value + ? where typeof(value) = 'integer' and value > 1000", (number,))
        db.execute("update track set process_id = ?", (1000 + number,))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    count = parser.parse_args().count
    with tempfile.TemporaryDirectory(prefix="sonde-merge-") as name:
        folder = Path(name)
        one = record(folder)
        paths = [folder / f"part{i}.sonde" for i in range(count)]
        for i, path in enumerate(paths):
            shutil.copy(one, path)
            vary(path, i)
        size = sum(path.stat().st_size for path in paths)
        with sqlite3.connect(paths[0]) as db:
            nodes = db.execute("select count(*) from node").fetchone()[0]
            values = db.execute("select count(*) from value").fetchone()[0]
        print(f"{count} recordings, {size / 1e6 / count:.2f} MB each: {nodes} nodes, {values} values")
        sonde = Path(sys.executable).parent / "sonde"
        start = time.monotonic()
        merge = subprocess.Popen([sonde, "merge", "-o", folder / "all.sonde", *paths], stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(merge.pid, 0)
        took = time.monotonic() - start
        if status != 0:
            sys.exit("sonde merge failed")
        all_size = (folder / "all.sonde").stat().st_size
        cpu = used.ru_utime + used.ru_stime
        print(
            f"merged in {took:.1f} s, {cpu:.1f} s of CPU, peak {used.ru_maxrss / 1024:.0f} MB; {all_size / 1e6:.0f} MB"
        )
        start = time.monotonic()
        subprocess.run([sonde, "view", folder / "all.sonde", "--ranks"], check=True, stdout=subprocess.DEVNULL)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"view --ranks in {time.monotonic() - start:.1f} s, peak of all {peak:.0f} MB")


if __name__ == "__main__":
    main()
