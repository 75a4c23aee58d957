"""What recording PyTorch's operators costs: the same steps without and with it, in turn, in one process.

Times are CPU times of the process, so that a busy machine hurts both alike. `each` is what collecting adds to an
operator while it runs; starting, stopping and reading come on top, and are what `sonde run --ops` reports. Prints a
table; there is no bar, because collecting is PyTorch's own.
"""

import argparse
import platform
import statistics
import sys
import time
from pathlib import Path

import torch

import sonde

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "examples")]

from table import as_text  # noqa: E402
from torch_models import ResNet18  # noqa: E402


def small_operators():
    """Nothing but overhead: as many operators a second as there can be."""
    small = torch.ones(4, 4)
    for _ in range(2000):
        (small @ small + small).relu()


def training(model, inputs, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step():
        for _ in range(steps):
            optimizer.zero_grad()
            model(inputs).sum().backward()
            optimizer.step()

    return step


def seconds(work):
    begin = time.process_time()
    work()
    return time.process_time() - begin


def measure(work):
    """Seconds without, with, to start and stop; and how many operators there were."""
    without = seconds(work)
    prof = sonde.ops()
    around = seconds(prof.start)
    within = seconds(work)
    around += seconds(prof.stop)
    return without, within, around, sum(row.count for row in prof.key_averages())


def rows_of(rounds):
    layers = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
    works = {
        "4 × 4 matrices": small_operators,
        "two layers, 64 rows": training(layers, torch.rand(64, 256), 100),
        "ResNet-18, one image": training(ResNet18(), torch.rand(1, 3, 64, 64), 3),
    }
    yield ("", "operators", "without", "with", "slower", "each", "start, stop, read")
    for name, work in works.items():
        measure(work)
        found = [measure(work) for _ in range(rounds)]
        without, within, around, count = (statistics.median(column) for column in zip(*found, strict=True))
        added = statistics.median(pair[1] - pair[0] for pair in found)
        yield (
            name,
            f"{count:,.0f}",
            f"{without * 1e3:.0f} ms",
            f"{within * 1e3:.0f} ms",
            f"{100 * added / without:.0f}%",
            f"{added / count * 1e6:.2f} µs",
            f"{around * 1e3:.0f} ms",
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"Python {platform.python_version()}, torch {torch.__version__}, {options.rounds} rounds, medians\n")
    print(as_text(list(rows_of(options.rounds))))


if __name__ == "__main__":
    main()
