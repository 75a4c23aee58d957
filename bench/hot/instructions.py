"""Instructions that each hot path takes, counted by callgrind, so that a busy machine does not matter.

Not all of them repeat exactly: two runs of one build differed by 21 for an allocation and by 2 to 5 % for a sample, so
compare several runs of each build before you trust a small difference there.

usage: instructions.py [PYTHON ...]

Each PYTHON is an interpreter with sonde installed; this one unless given. Two of them compare two builds. What an
operation costs is the difference between a long and a short run of its loop, less that of the loop without sonde. What
a sample costs the thread is all that happens inside the signal handler, by the number of its calls.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from table import as_text

SHORT, LONG = 10_000, 60_000
# What starts sonde, the loop with it and the loop without.
LOOPS = {
    "region, enter and leave": (
        "import sonde; sonde.install(); region = sonde.region",
        "for _ in range(n):\n with region('name'): pass",
        "for _ in range(n): pass",
    ),
    "call and return": (
        "from sonde import profiler; p = profiler.Profile(); p.enable()",
        "def f(): pass\nfor _ in range(n): f()",
        "def f(): pass\nfor _ in range(n): f()",
    ),
    "allocation and free": (
        "import sonde; r = sonde.record('out.sonde', probes=['memory'], interval=1 << 30, report=False); r.__enter__()",
        "for _ in range(n): bytearray(600)",
        "for _ in range(n): bytearray(600)",
    ),
}
# Its stack has the same depth in every sample.
SAMPLED = """
import sonde, time
def inner(end):
    while time.monotonic() < end: pass
def outer(end): inner(end)
with sonde.record('out.sonde', rate=200, report=False):
    outer(time.monotonic() + 10)
"""


def callgrind(python, program, *annotate):
    """What callgrind_annotate says of a program's first thread."""
    with tempfile.TemporaryDirectory() as folder:
        out = f"--callgrind-out-file={folder}/out"
        environment = {"PYTHONHASHSEED": "0", "PATH": "/usr/bin:/bin"}
        command = ["valgrind", "-q", "--tool=callgrind", "--separate-threads=yes", out, python, "-c", program]
        subprocess.run(command, check=True, capture_output=True, cwd=folder, env=environment)
        command = ["callgrind_annotate", "--threshold=100", *annotate, f"{folder}/out-01"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def number(text):
    return int(text.replace(",", ""))


def of_loop(python, start, loop):
    texts = [callgrind(python, f"{start}\nn = {n}\n{loop}") for n in (SHORT, LONG)]
    short, long = (number(re.search(r"([\d,]+) .*PROGRAM TOTALS", text)[1]) for text in texts)
    return (long - short) / (LONG - SHORT)


def of_sample(python):
    """By what the handler calls most often: it leaves early where it has nothing to do."""
    text = callgrind(python, SAMPLED, "--inclusive=yes", "--tree=calling")
    whole, called = re.search(r"([\d,]+) \([^)]*\) +\* +\S*:on_signal .*\n((?:.*> .*\n)+)", text).groups()
    return number(whole) / max(number(count) for count in re.findall(r"\(([\d,]+)x\)", called))


def of_operation(python, start, loop, bare):
    return of_loop(python, start, loop) - of_loop(python, "", bare)


def main():
    pythons = sys.argv[1:] or [sys.executable]
    rows = [["instructions", *pythons]]
    rows += [[name, *(f"{of_operation(p, *loop):.1f}" for p in pythons)] for name, loop in LOOPS.items()]
    rows.append(["sample, in the handler", *(f"{of_sample(p):.1f}" for p in pythons)])
    print(as_text(rows))


if __name__ == "__main__":
    main()
