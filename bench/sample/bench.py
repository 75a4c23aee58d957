"""What sampling costs at 1 kHz: sonde beside Scalene, py-spy, pyinstrument and austin, interleaved in one run.

Every program runs in fresh processes that alternate between the profilers; the figure is the least of each. Wall is the
time of the program by its own clock, without starting and ending; CPU is that of all processes together, from start to
end. Prints each ratio to the plain program, with the bar that sonde is held to. In turns: sonde again, in one process
that samples and pauses in short turns, so that what else the machine does hits both alike; its CPU is without starting.

The peers are looked for in an environment of their own (--peers); one that is missing or does not run is left out.
"""

import argparse
import json
import math
import os
import platform
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from table import as_text, verdict  # noqa: E402

PROGRAM = HERE / "programs.py"
SONDE = [str(Path(sys.executable).parent / "sonde"), "run", "--no-report", "-o", "bench.sonde"]

#: name, program, the bar for wall, the bar for CPU.
BUSY = [
    ("recursion", "recursion", 1.01, 1.03),
    ("objects", "objects", 1.01, 1.03),
    ("json and strings", "strings", 1.01, 1.03),
    ("generators", "generators", 1.01, 1.03),
    ("NumPy loop", "arrays", 1.01, 1.03),
    ("8 threads, Python", "python_threads", 1.05, None),
    ("8 threads, native", "native_threads", 1.05, None),
]
ONE_THREAD = 5


def peer_commands(folder):
    """How each peer runs a program at 1 kHz, by name."""
    python, programs = folder / "bin" / "python", folder / "bin"
    py_spy = [programs / "py-spy", "record", "--rate", "1000", "--format", "raw", "-o", "peer.out"]
    found = {
        "py-spy": [*py_spy, "--", python],
        "py-spy, no stop": [*py_spy, "--nonblocking", "--", python],
        "austin": [programs / "austin", "-i", "1ms", "-o", "peer.out", python],
        "pyinstrument": [python, "-m", "pyinstrument", "-i", "0.001", "-r", "json", "-o", "peer.out"],
        "Scalene": [python, "-m", "scalene", "run", "--cpu-only", "--cpu-sampling-rate", "0.001", "-o", "peer.json"],
    }
    return {name: [str(word) for word in command] for name, command in found.items()}


class Bench:
    """A folder in which programs run, and the ways to run them."""

    def __init__(self, folder, peers):
        self.folder = folder
        self.commands = {"plain": [sys.executable], "sonde": SONDE}
        for name, command in (peer_commands(peers) if peers is not None else {}).items():
            if self.works(name, command):
                self.commands[name] = command

    def works(self, name, command):
        try:
            self.take(command, "recursion", 100)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            print(f"{name} is left out: {error}")
            return False
        return True

    def take(self, command, program, count, *more):
        """What one run took: the program's own figures, and `all_wall` and `all_cpu` from start to end."""
        result = self.folder / "result.json"
        result.unlink(missing_ok=True)
        words = [*command, str(PROGRAM), str(result), program, str(count), *more]
        start = time.perf_counter()
        child = subprocess.Popen(
            words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        if not result.exists():
            raise ValueError(f"it ended with status {child.returncode} and no result")
        took = json.loads(result.read_text())
        cpu = usage.ru_utime + usage.ru_stime
        # A profiler that does not wait for the program it started leaves the program's time out.
        cpu += took.get("cpu", 0) if cpu < took.get("cpu", 0) else 0
        return took | {"all_wall": wall, "all_cpu": cpu}

    def info(self):
        base = sqlite3.connect(self.folder / "bench.sonde")
        found = dict(base.execute("select key, value from info"))
        base.close()
        return found


def measure_busy(bench, rounds, inner):
    """The least wall and CPU by (program, who). Plain and sonde alternate `inner` times within a round."""
    figures = {}
    peers = [who for who in bench.commands if who not in ("plain", "sonde")]
    for _, program, *_ in BUSY:
        count = bench.take(bench.commands["plain"], program, 0)["count"]
        for _ in range(rounds):
            for who in [*["plain", "sonde"] * inner, *peers]:
                wall, cpu = figures.get((program, who), (math.inf, math.inf))
                try:
                    run = bench.take(bench.commands[who], program, count)
                except ValueError as error:
                    print(f"{who} failed on {program}: {error}", flush=True)
                    run = {"wall": math.inf, "all_cpu": math.inf}
                figures[program, who] = min(wall, run["wall"]), min(cpu, run["all_cpu"])
        turns = bench.take(SONDE, program, count, "in_turns")
        figures[program, "in turns"] = turns["wall_ratio"], turns["cpu_ratio"]
    return figures


def busy_rows(figures, what, title, peers):
    """A table of ratios to the plain program: wall (0) or CPU (1)."""
    yield (title, "plain", "sonde", "bar", "", "in turns", *peers)
    ratios = {who: [] for who in ("sonde", "in turns", *peers)}
    for name, program, *bars in BUSY:
        plain = figures[program, "plain"][what]
        for who, found in ratios.items():
            found.append(figures[program, who][what] / (1 if who == "in turns" else plain))
        last = {who: found[-1] for who, found in ratios.items()}
        yield (name, f"{plain:.2f} s", *beside(last, bars[what]))
    mean = {who: statistics.geometric_mean(found[:ONE_THREAD]) for who, found in ratios.items()}
    yield ("mean of one thread", "", *beside(mean, BUSY[0][2 + what]))


def beside(ratios, bar):
    """The cells of a row: sonde's ratio with its bar, then the others."""
    sonde, *others = ratios.values()
    cells = ("", "") if bar is None else (f"{bar:.2f}", verdict(sonde, bar))
    shown = ("failed" if math.isinf(ratio) else f"{ratio:.2f}" for ratio in others[1:])
    return f"{sonde:.3f}", *cells, f"{others[0]:.3f}", *shown


def look_rows(bench, rounds):
    """What one look costs the thread that is looked at, by sonde's own measurement and by the thread's clock."""
    count = bench.take(bench.commands["plain"], "deep", 0)["count"]
    fast = [*SONDE, "--rate", "10000"]
    plain, sampled, samples = [], [], []
    for _ in range(rounds):
        plain.append(bench.take(bench.commands["plain"], "deep", count)["thread"])
        sampled.append(bench.take(fast, "deep", count)["thread"])
        samples.append(int(bench.info()["samples"]))
    info = bench.info()
    own = int(info["own_sample_cost_ns"]) / 1000
    added = (min(sampled) - min(plain)) / statistics.fmean(samples) * 1e6
    yield "one look, depth 50, as recorded", f"{own:.2f} us", "3.00 us", verdict(own, 3)
    yield "one look, depth 50, added CPU with the signal", f"{added:.2f} us", "", ""


def idle_row(bench, seconds):
    run = bench.take(SONDE, "sleep", seconds)
    plain = bench.take(bench.commands["plain"], "sleep", 0.1)
    share = (run["cpu"] - plain["cpu"]) / seconds * 100
    return "idle program, share of a core", f"{share:.2f} %", "0.50 %", verdict(share, 0.5)


def start_rows(bench, rounds):
    """Around a program that imports nothing: what a program imports is its own, and sampled as the rest of it."""
    least = {}
    for _ in range(rounds):
        for who, command in (("plain", [sys.executable]), ("sonde", SONDE)):
            start = time.perf_counter()
            subprocess.run([*command, "-c", "pass"], cwd=bench.folder, check=True, capture_output=True)
            least[who] = min(least.get(who, math.inf), time.perf_counter() - start)
    added = (least["sonde"] - least["plain"]) * 1000
    yield "start and end, wall over plain", f"{added:.1f} ms", "30.0 ms", verdict(added, 30)


def memory_rows(bench, seconds):
    """At 20 kHz, so that a minute has the samples of a third of an hour."""
    plain = bench.take(bench.commands["plain"], "stacks", 1)
    run = bench.take([*SONDE, "--rate", "20000"], "stacks", seconds)
    ratio = run["rss_last"] / run["rss_first"]
    samples = int(bench.info()["samples"])
    yield f"memory after {samples} samples, to that after a sixth", f"{ratio:.3f}", "1.05", verdict(ratio, 1.05)
    yield "most memory over plain", f"{(run['rss'] - plain['rss']) / 2**20:.1f} MiB", "", ""
    yield "recording", f"{(bench.folder / 'bench.sonde').stat().st_size / 2**20:.1f} MiB", "", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--inner", type=int, default=2, help="how often plain and sonde run in a round")
    parser.add_argument("--peers", type=Path, default=Path("build/peers"), help="an environment with the peers")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--only", choices=["busy", "rest"], help="one half of it")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sonde-bench-"))
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.2f}")
    try:
        bench = Bench(folder, None if options.alone else options.peers.absolute())
        if options.only != "rest":
            show_busy(bench, options)
        if options.only != "busy":
            rows = [("sonde alone", "", "bar", ""), *look_rows(bench, 3), *start_rows(bench, 20)]
            print("", as_text([*rows, idle_row(bench, 20), *memory_rows(bench, 60)]), sep="\n")
    finally:
        shutil.rmtree(folder)


def show_busy(bench, options):
    figures = measure_busy(bench, options.rounds, options.inner)
    peers = [who for who in bench.commands if who not in ("plain", "sonde")]
    print(
        f"{options.rounds * options.inner} runs of plain and sonde, {options.rounds} of the others, the least of each"
    )
    for what, title in enumerate(("wall, to plain", "CPU of all processes, to plain")):
        print("", as_text(list(busy_rows(figures, what, title, peers))), sep="\n")


if __name__ == "__main__":
    main()
