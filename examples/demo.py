"""The region example of the README with a recording and a trace; what `make demo` runs."""

import atexit
import sys
from pathlib import Path

import numpy as np

import sonde.regions as rp

FOLDER = Path("build/demo")
RECORDING = FOLDER / "demo.sonde"
TRACE = FOLDER / "demo.json"


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


def say_what_next():
    """Registered before install(), so it comes after the report."""
    program = Path(sys.executable).parent / "sonde"
    if program.is_relative_to(Path.cwd()):
        program = program.relative_to(Path.cwd())
    print(
        f"""
Look at the recording again, with other columns:
    {program} view {RECORDING} --columns name,total,self,p99
See it on a time line: open {TRACE} in https://ui.perfetto.dev or chrome://tracing.""",
        file=sys.stderr,
    )


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    atexit.register(say_what_next)
    rp.install(chrome_trace_file=TRACE, recording=RECORDING)
    f()
