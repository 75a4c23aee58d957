"""What it costs a process to be followed: ``python -c pass``, plain and as a child of ``sonde run``, interleaved.

Wall time from starting it to its end, and its CPU time; medians, and the difference, held to 50 ms.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from table import as_text, verdict  # noqa: E402

BAR_MS = 50.0
WORDS = [sys.executable, "-c", "pass"]
OURS = ("SONDE_RUN", "PYTHONPATH")


def run_once(environment):
    """Wall and CPU time in ms."""
    before = time.perf_counter()
    process = os.posix_spawn(WORDS[0], WORDS, environment)
    _, _, used = os.wait4(process, 0)
    return (time.perf_counter() - before) * 1e3, (used.ru_utime + used.ru_stime) * 1e3


def measure(rounds):
    """Under ``sonde run``: the table."""
    followed = dict(os.environ)
    plain = {name: value for name, value in followed.items() if name not in OURS}
    figures = {"plain": [], "followed": []}
    for _ in range(rounds):
        figures["plain"].append(run_once(plain))
        figures["followed"].append(run_once(followed))
    rows = [["python -c pass", "plain", "followed", "difference", "bar", ""]]
    for at, name in enumerate(("wall time", "CPU time")):
        a, b = (median(pair[at] for pair in figures[who]) for who in ("plain", "followed"))
        rows.append([name, f"{a:.1f} ms", f"{b:.1f} ms", f"{b - a:.1f} ms", f"{BAR_MS:.0f} ms", verdict(b - a, BAR_MS)])
    print(as_text(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    if "SONDE_RUN" in os.environ:
        measure(rounds)
        return
    with tempfile.TemporaryDirectory() as folder:
        program = Path(sys.executable).parent / "sonde"
        words = [program, "run", "--no-report", "-o", f"{folder}/r.sonde", __file__, "--rounds", str(rounds)]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
    print(done.stdout, end="")


if __name__ == "__main__":
    main()
