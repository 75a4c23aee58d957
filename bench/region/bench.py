"""Cost of one region: sonde beside region_profiler, interleaved in one run.

Every figure is the median of several fresh processes, which alternate between the profilers, so that a noisy machine
hurts both alike. Prints a table with the ratios and the bars they are held to, and writes it to bench/region/RESULT.md
with --write.
"""

import argparse
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from table import as_text, time_program, verdict  # noqa: E402

#: name, loop, mode, entries for region_profiler, entries for sonde, the bar as a ratio.
PAIRS = [
    ("with region('name')", "with_region", "on", 20_000, 200_000, 1 / 12),
    ("@func()", "func", "on", 20_000, 200_000, 1 / 30),
    ("with region(), automatic name", "with_auto", "on", 200, 200_000, 1 / 500),
    ("with region('name'), not installed", "with_region", "off", 100_000, 200_000, 2 / 3),
]

#: name, loop, mode, the bar in ns or, as a text, the row it may be twice of.
ALONE = [
    ("push('name'); pop()", "push_pop", "on", 80.0),
    ("with region('name'), timeline on", "with_region", "timeline", "with region('name')"),
    ("@func(), timeline on", "func", "timeline", "@func()"),
    ("push('name'); pop(), timeline on", "push_pop", "timeline", "push('name'); pop()"),
    ("contextlib.nullcontext(), for comparison", "nullcontext", "off", None),
]


def loop(profiler, name, entries, mode):
    return time_program(HERE / "loops.py", profiler, name, entries, mode)


def build_c(folder):
    program = Path(sys.executable).parent / "sonde"
    flags = subprocess.run([program, "config", "--cflags", "--libs"], check=True, capture_output=True, text=True)
    target = Path(folder) / "bench_c"
    subprocess.run(["gcc", "-O2", str(HERE / "bench_c.c"), "-o", str(target), *flags.stdout.split()], check=True)
    return target


def run_c(program, mode, folder):
    done = subprocess.run([program, mode], check=True, capture_output=True, text=True, cwd=folder)
    for trace in Path(folder).glob("bench-*.json"):
        trace.unlink()
    return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}


def measure(rounds):
    """All figures as lists of ns, one a round, by (row, who)."""
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        program = build_c(folder)
        for _ in range(rounds):
            for name, loop_name, mode, theirs, ours, _bar in PAIRS:
                figures.setdefault((name, "peer"), []).append(loop("region_profiler", loop_name, theirs, mode))
                figures.setdefault((name, "sonde"), []).append(loop("sonde", loop_name, ours, mode))
            for name, loop_name, mode, _bar in ALONE:
                figures.setdefault((name, "sonde"), []).append(loop("sonde", loop_name, 200_000, mode))
            for mode in ("plain", "timeline"):
                for name, value in run_c(program, mode, folder).items():
                    figures.setdefault((f"C {name} {mode}", "sonde"), []).append(value)
    return {key: statistics.median(values) for key, values in figures.items()}


def rows_of(figures):
    yield ("region, enter + leave", "region_profiler", "sonde", "ratio", "bar", "")
    for name, _loop, _mode, _theirs, _ours, bar in PAIRS:
        theirs, ours = figures[name, "peer"], figures[name, "sonde"]
        ratio = f"1/{theirs / ours:.0f}" if bar < 0.5 else f"{ours / theirs:.2f}"
        limit = f"1/{1 / bar:.0f}" if bar < 0.5 else f"{bar:.2f}"
        yield (name, f"{theirs:,.0f} ns", f"{ours:.0f} ns", ratio, limit, verdict(ours / theirs, bar))
    for name, _loop, _mode, bar in ALONE:
        ours = figures[name, "sonde"]
        if isinstance(bar, str):
            ratio = ours / figures[bar, "sonde"]
            yield (name, "", f"{ours:.0f} ns", f"{ratio:.2f} x", "2 x", verdict(ratio, 2))
        elif bar is None:
            yield (name, "", f"{ours:.0f} ns", "", "", "")
        else:
            yield (name, "", f"{ours:.0f} ns", "", f"{bar:.0f} ns", verdict(ours, bar))
    one, two = figures["C one plain", "sonde"], figures["C two plain", "sonde"]
    both = figures["C one timeline", "sonde"]
    yield ("SONDE_REGION in C, one thread", "", f"{one:.1f} ns", "", "40 ns", verdict(one, 40))
    yield ("SONDE_REGION in C, two threads at once", "", f"{two:.1f} ns", f"{two / one:.2f} x", "", "")
    yield ("SONDE_REGION in C, timeline on", "", f"{both:.1f} ns", f"{both / one:.2f} x", "2 x", verdict(both / one, 2))
    yield ("SONDE_REGION in C, not started", "", f"{figures['C off plain', 'sonde']:.1f} ns", "", "", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="keep the table in bench/region/RESULT.md")
    options = parser.parse_args()
    table = as_text(list(rows_of(measure(options.rounds))))
    head = f"Python {platform.python_version()}, {options.rounds} rounds, medians"
    print(head, table, sep="\n\n")
    if options.write:
        (HERE / "RESULT.md").write_text(f"# Cost of one region\n\n{head}, `make bench`:\n\n```\n{table}\n```\n")


if __name__ == "__main__":
    main()
