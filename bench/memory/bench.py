"""What measuring memory costs: sonde beside Scalene, memray, tracemalloc and Fil, interleaved in one run.

Every program runs in fresh processes that alternate between the profilers; the figure is the least wall time of each,
by the program's own clock, without starting and ending. Prints each ratio to the plain program. sonde samples the time
as well, as it does by default; so does Scalene. The exact way is held to be below memray with Python's allocators.

Then what the recorder itself takes of memory, for a program that has a gigabyte in small objects.

The peers are looked for in an environment of their own (--peers); one that is missing or does not run is left out, and
one that fails on a program shows that.
"""

import argparse
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from table import as_text, verdict  # noqa: E402

PROGRAM = HERE / "programs.py"
SONDE = [str(Path(sys.executable).parent / "sonde"), "run", "--no-report", "-o", "bench.sonde", "--memory"]
MEDIAN, WORST = 1.05, 1.15
HEAP, HEAP_BAR = 1 << 30, 32 << 20
PYTHON_MEMRAY = "memray, Python"  # what the exact way is held to

#: title, program
BUSY = {
    "object churn": "objects",
    "list growth": "lists",
    "dict churn": "dicts",
    "string building": "texts",
    "NumPy temporaries": "arrays",
    "json load": "json_load",
    "pandas group-by": "group_by",
}


#: How long a plain run takes as programs.py finds its count, and how much slower than that is slow.
SECONDS, SLOW = 2.0, 3.0


def own_commands():
    return {
        "plain": [sys.executable],
        "sonde": SONDE,
        "exact": [*SONDE, "--exact"],
        "tracemalloc": [sys.executable, "-X", "tracemalloc"],
    }


def peer_commands(folder):
    """How each peer runs a program, by name. They write what they find to disk, as they do by default."""
    python = folder / "bin" / "python"
    memray = [python, "-m", "memray", "run", "-q", "-f", "-o", "peer.bin"]
    found = {
        "Scalene": [python, "-m", "scalene", "run", "-o", "peer.json"],
        "memray": memray,
        PYTHON_MEMRAY: [*memray, "--trace-python-allocators"],
        "Fil": [python, "-m", "filprofiler", "--no-browser", "-o", "peer.fil", "run"],
    }
    return {name: [str(word) for word in command] for name, command in found.items()}


class Bench:
    """A folder in which programs run, and the ways to run them."""

    def __init__(self, folder, peers):
        self.folder = folder
        self.commands = own_commands()
        self.programs = [program for program in BUSY.values() if self.works("plain", self.commands["plain"], program)]
        for name, command in (peer_commands(peers) if peers is not None else {}).items():
            if self.works(name, command, "lists"):
                self.commands[name] = command

    def works(self, name, command, program):
        try:
            self.take(command, program, 1)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            print(f"{name} is left out of {program}: {error}", flush=True)
            return False
        return True

    def take(self, command, program, count, *more):
        """What one run took, by the program's own figures."""
        result = self.folder / "result.json"
        result.unlink(missing_ok=True)
        words = [*command, str(PROGRAM), str(result), program, str(count), *more]
        quiet = subprocess.DEVNULL
        child = subprocess.run(words, cwd=self.folder, stdin=quiet, stdout=quiet, stderr=quiet, timeout=600)
        if not result.exists():
            raise ValueError(f"it ended with status {child.returncode} and no result")
        return json.loads(result.read_text())


def measure_busy(bench, programs, options):
    """The least wall time by (program, who). Plain and sonde alternate `inner` times within a round.

    Who is several times slower anyway runs once, but for the two that are held against each other.
    """
    figures = {}
    others = [who for who in bench.commands if who not in ("plain", "sonde")]
    for program in programs:
        count = max(1, round(bench.take(bench.commands["plain"], program, 0)["count"] * options.seconds / SECONDS))
        for _ in range(options.rounds):
            for who in [*["plain", "sonde"] * options.inner, *others]:
                slow = figures.get((program, who), 0) > SLOW * figures.get((program, "plain"), math.inf)
                if slow and who not in ("exact", PYTHON_MEMRAY):
                    continue
                try:
                    wall = bench.take(bench.commands[who], program, count)["wall"]
                except (subprocess.SubprocessError, ValueError) as error:
                    print(f"{who} failed on {program}: {error}", flush=True)
                    wall = math.inf
                figures[program, who] = min(figures.get((program, who), math.inf), wall)
        turns = bench.take(bench.commands["plain"], program, 8 * count, "in_turns")["wall"]
        figures[program, "in turns"] = turns * figures[program, "plain"]
        print(f"{program}:", *(f"{who} {figures[program, who]:.2f} s" for who in bench.commands), sep="  ", flush=True)
    return figures


def busy_rows(figures, whos):
    """A table of ratios to the plain program."""
    peers = [who for who in whos if who not in ("plain", "sonde", "exact")]
    whos = [*whos, "in turns"]
    yield ("wall, to plain", "plain", "sonde", "in turns", "bar", "", "exact", "", *peers)
    ratios = []
    for title, program in BUSY.items():
        if (program, "plain") not in figures:
            continue
        plain = figures[program, "plain"]
        found = {who: figures[program, who] / plain for who in whos}
        ratios.append(found)
        yield (title, f"{plain:.2f} s", *beside(found, WORST, peers))
    median = {who: statistics.median(found[who] for found in ratios) for who in whos}
    yield ("median", "", *beside(median, MEDIAN, peers))


def beside(found, bar, peers):
    """The cells of a row: sonde with its bar, the exact way with what it is held to, then the others."""
    memray = found.get(PYTHON_MEMRAY)
    exact = "" if memray is None else verdict(found["exact"], memray)
    turns = found["in turns"]
    own = (f"{found['sonde']:.3f}", f"{turns:.3f}", f"{bar:.2f}", verdict(turns, bar), shown(found["exact"]), exact)
    return (*own, *(shown(found[who]) for who in peers))


def shown(ratio):
    return "failed" if math.isinf(ratio) else f"{ratio:.2f}"


def heap_rows(bench, rounds):
    """The most memory of the process, over that of the plain program."""
    yield ("a heap of 1 GiB in small objects", "most memory", "over plain", "bar", "")
    plain = min(bench.take(bench.commands["plain"], "heap", HEAP)["rss"] for _ in range(rounds))
    yield ("plain", f"{plain / 2**20:.0f} MiB", "", "", "")
    for who, command in bench.commands.items():
        if who == "plain":
            continue
        try:
            most = min(bench.take(command, "heap", HEAP)["rss"] for _ in range(rounds))
        except (subprocess.SubprocessError, ValueError) as error:
            print(f"{who} failed on the heap: {error}", flush=True)
            yield (who, "failed", "", "", "")
            continue
        over = most - plain
        bar = (f"{HEAP_BAR / 2**20:.0f} MiB", verdict(over, HEAP_BAR)) if who == "sonde" else ("", "")
        yield (who, f"{most / 2**20:.0f} MiB", f"{over / 2**20:.1f} MiB", *bar)


def show_busy(bench, programs, options):
    figures = measure_busy(bench, programs, options)
    runs = options.rounds * options.inner
    print(f"{runs} runs of plain and sonde, {options.rounds} of the others, the least of each")
    print("", as_text(list(busy_rows(figures, list(bench.commands)))), sep="\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--inner", type=int, default=2, help="how often plain and sonde run in a round")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long a plain run takes, about")
    parser.add_argument("--peers", type=Path, default=Path("build/peers"), help="an environment with the peers")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--only", choices=["busy", "heap", *BUSY.values()], help="one part of it, or one program")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sonde-bench-"))
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.2f}")
    try:
        bench = Bench(folder, None if options.alone else options.peers.absolute())
        if options.only != "heap":
            show_busy(bench, [p for p in bench.programs if options.only in (None, "busy", p)], options)
        if options.only in (None, "heap"):
            print("", as_text(list(heap_rows(bench, 1))), sep="\n")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
