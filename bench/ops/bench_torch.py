"""Averages of 200,000 events: sonde.torch beside torch.profiler, on the same events in one run.

Both start from what the collection left behind, and every round makes both anew, one after the other. Times are CPU
times of the process, so that a busy machine hurts both alike. Also measured is that collecting costs what it costs in
torch. Prints a table with the ratios and the bars they are held to, and keeps it in bench/ops/RESULT_TORCH.md with
--write.
"""

import argparse
import gc
import platform
import statistics
import sys
import time
from pathlib import Path

import torch

import sonde.torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from table import as_text  # noqa: E402

CPU = [torch.profiler.ProfilerActivity.CPU]

#: name, the arguments of key_averages, the bar as a ratio.
GROUPINGS = [
    ("key_averages()", (), 10),
    ("key_averages(group_by_input_shape=True)", (True,), 10),
]


def work(count):
    """Operators of several kinds and shapes, with children, until there are about `count` events."""
    small, wide = torch.ones(4, 4), torch.ones(2, 16)
    for _ in range(count // 30):
        torch.nn.functional.linear(wide, torch.relu(wide.t().reshape(16, 2).t())).sum()
        (small @ small + small).softmax(-1)


def collect(count):
    with sonde.torch.profile(activities=CPU, record_shapes=True) as prof:
        work(count)
    return prof


def forget(prof):
    """Both make everything anew the next time."""
    prof._events_read = None
    prof.profiler._function_events = None
    prof.profiler._needs_processing = True
    gc.collect()


def seconds(function, *arguments):
    begin = time.process_time()
    result = function(*arguments)
    return time.process_time() - begin, result


def measure(prof, grouping):
    forget(prof)
    ours, mine = seconds(prof.key_averages, *grouping)
    text = mine.table(sort_by="cpu_time_total", row_limit=-1)
    forget(prof)
    theirs, other = seconds(torch.profiler.profile.key_averages, prof, *grouping)
    assert text == other.table(sort_by="cpu_time_total", row_limit=-1), "the tables differ"
    return ours, theirs


def collecting(profile, count):
    """Seconds for running under the profiler, without making averages."""
    prof = profile(activities=CPU)
    begin = time.process_time()
    with prof:
        work(count)
    return time.process_time() - begin


def verdict(ratio, bar):
    return "ok" if ratio >= bar else "MISSED"


def rows_of(options):
    prof = collect(options.events)
    count = len(prof.profiler.kineto_results.events())
    yield (f"{count:,} events", "torch", "sonde", "ratio", "bar", "")
    for name, grouping, bar in GROUPINGS:
        pairs = [measure(prof, grouping) for _ in range(options.rounds)]
        ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = theirs / ours
        yield (name, f"{theirs:.2f} s", f"{ours:.3f} s", f"{ratio:.1f} x", f"{bar} x", verdict(ratio, bar))
    forget(prof)
    sides = [
        (collecting(torch.profiler.profile, 50_000), collecting(sonde.torch.profile, 50_000))
        for _ in range(max(options.rounds, 9))
    ]
    theirs, ours = (statistics.median(side) for side in zip(*sides, strict=True))
    yield ("collecting 50,000 events", f"{theirs:.3f} s", f"{ours:.3f} s", f"{theirs / ours:.2f} x", "", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--write", action="store_true", help="keep the table in bench/ops/RESULT_TORCH.md")
    options = parser.parse_args()
    table = as_text(list(rows_of(options)))
    head = f"Python {platform.python_version()}, torch {torch.__version__}, {options.rounds} rounds, medians"
    print(head, table, sep="\n\n")
    if options.write:
        (HERE / "RESULT_TORCH.md").write_text(f"# Averages of PyTorch's events\n\n{head}:\n\n```\n{table}\n```\n")
    sys.exit("MISSED" in table)


if __name__ == "__main__":
    main()
