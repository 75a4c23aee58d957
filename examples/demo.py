"""Run by `make demo`: a program under `sonde run`, then the region example of the README with a trace."""

import atexit
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np

import sonde.regions as rp

FOLDER = Path("build/demo")
SAMPLES = FOLDER / "words.sonde"
RECORDING = FOLDER / "demo.sonde"
TRACE = FOLDER / "demo.json"
WORDS = Path(__file__).parent / "sampling" / "words.py"


@rp.func()
def f():
    with rp.region("init"):
        a = np.arange(1000000)
        b = a.copy("C")
    with rp.region("loop"):
        for x in rp.iter_proxy([1, 2, 3, 4], "iter"):
            a += x
    with rp.region():
        return np.sum(a * b)


def shown(path):
    """The path as you would type it: relative to the current folder if it is below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


PROGRAM = str(shown(Path(sys.executable).parent / "sonde"))


def run_words():
    command = [PROGRAM, "run", "-o", str(SAMPLES), str(shown(WORDS))]
    print("$", shlex.join(command), file=sys.stderr, flush=True)
    subprocess.run(command, check=True)


def say_what_next():
    """Registered before install(), so it runs after the report."""
    view = shlex.join([PROGRAM, "view"])
    print(
        f"""
Show the samples again, line by line or as a tree:
    {view} {SAMPLES} --lines
    {view} {SAMPLES} --tree
Show the regions again, with other columns:
    {view} {RECORDING} --columns name,total,self,p99
Show them on a timeline: open {TRACE} in https://ui.perfetto.dev or chrome://tracing.""",
        file=sys.stderr,
    )


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    run_words()
    print("\nRegions marked by hand:\n", file=sys.stderr)
    atexit.register(say_what_next)
    rp.install(chrome_trace_file=TRACE, recording=RECORDING)
    f()
