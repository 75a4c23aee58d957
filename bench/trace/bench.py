"""Cost of a profiled call: sonde beside cProfile, yappi and VizTracer, interleaved in one run.

Every figure is the least over several rounds of fresh processes, which alternate between the profilers, so that a noisy
machine hurts all alike, and seldom. Prints what each adds to a call, as ratios to what cProfile adds and the bars they
are held to, and how much each slows whole programs down.
"""

import argparse
import math
import platform
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from table import as_text, time_program, verdict  # noqa: E402

IS_3_11 = sys.version_info < (3, 12)

#: name, program, count, options, the options of cProfile it is compared with, the bar as a ratio.
CALLS = [
    ("Python call, builtins off", "calls", 100_000, [], [], 0.35 if IS_3_11 else 0.45),
    ("Python call, builtins on", "calls", 100_000, ["builtins"], ["builtins"], 0.85 if IS_3_11 else 0.65),
    ("C call, builtins on", "builtin_calls", 100_000, ["builtins"], ["builtins"], 0.85 if IS_3_11 else 0.65),
    ("call with three arguments, signatures", "three_arguments", 50_000, ["signatures"], [], 1.2),
    ("call excluded by a filter", "calls", 100_000, ["exclude"], [], 0.15),
]
PEERS = ["cProfile", "sonde", "yappi", "viztracer"]

#: name, program, count.
PROGRAMS = [
    ("recursion", "recursion", 3),
    ("objects", "objects", 60),
    ("json and strings", "strings", 100),
    ("generators", "generators", 30),
    ("NumPy loop", "arrays", 60),
]


def measure(rounds, peers):
    """All figures in ns, by (row, who)."""
    figures = {}

    def take(row, who, *words):
        figures.setdefault((row, who), []).append(time_program(HERE / "loops.py", *words))

    for _ in range(rounds):
        for name, program, count, ours, theirs, _bar in CALLS:
            take(name, "none", "none", program, count)
            for who in peers:
                take(name, who, who, program, count, *(ours if who == "sonde" else theirs))
        for name, program, count in PROGRAMS:
            for who in ["none", *peers]:
                take(name, who, who, program, count)
    return {key: min(values) for key, values in figures.items()}


def call_rows(figures, peers):
    others = [who for who in peers if who not in ("cProfile", "sonde")]
    yield ("added to one call", "plain", "cProfile", "sonde", "ratio", "bar", "", *others)
    for name, *_rest, bar in CALLS:
        plain = figures[name, "none"]
        added = {who: figures[name, who] - plain for who in peers}
        ratio = added["sonde"] / added["cProfile"]
        yield (
            name,
            f"{plain:.0f} ns",
            f"+{added['cProfile']:.0f} ns",
            f"{added['sonde']:+.0f} ns",
            f"{ratio:.2f}",
            f"{bar:.2f}",
            verdict(ratio, bar),
            *(f"{added[who]:+.0f} ns" for who in others),
        )


def program_rows(figures, peers):
    yield ("slowdown, builtins off", *peers)
    slow = {who: [figures[name, who] / figures[name, "none"] for name, *_ in PROGRAMS] for who in peers}
    for i, (name, *_rest) in enumerate(PROGRAMS):
        yield (name, *(f"{slow[who][i]:.2f} x" for who in peers))
    mean = {who: math.exp(statistics.fmean(map(math.log, slow[who]))) for who in peers}
    yield ("geometric mean", *(f"{mean[who]:.2f} x" for who in peers))
    ratio = (mean["sonde"] - 1) / (mean["cProfile"] - 1)
    yield ("above 1, against cProfile's", "", f"{ratio:.2f} of 0.50 {verdict(ratio, 0.5)}", *[""] * (len(peers) - 2))
    if "viztracer" in peers:
        below = verdict(mean["sonde"], mean["viztracer"])
        yield ("below VizTracer's", "", below, *[""] * (len(peers) - 2))


def installed(peers):
    import importlib.util

    return [who for who in peers if importlib.util.find_spec(who) is not None]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    peers = installed(PEERS)
    figures = measure(options.rounds, peers)
    print(f"Python {platform.python_version()}, {options.rounds} rounds, the least of each\n")
    print(as_text(list(call_rows(figures, peers))), as_text(list(program_rows(figures, peers))), sep="\n\n")


if __name__ == "__main__":
    main()
