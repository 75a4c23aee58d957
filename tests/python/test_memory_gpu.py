"""The GPU's columns, with a library that has NVML's entry points; without one they are absent."""

import subprocess
from pathlib import Path

import pytest

LIBRARY = Path(__file__).parent.parent / "c" / "nvml_library.c"
PROGRAM = """\
import time
def work():
    end = time.thread_time() + 1.5
    while time.thread_time() < end:
        sum(range(1000))
work()
"""


@pytest.fixture
def stand_in(sonde):
    path = sonde.folder / "stand_in.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, LIBRARY], check=True, timeout=60)
    (sonde.folder / "prog.py").write_text(PROGRAM)
    return {"SONDE_NVML": str(path), "STAND_IN_BUSY": "40", "STAND_IN_MEMORY": str(3 << 30)}


def rows(sonde):
    return [row for row in sonde.export("r.sonde", "lines")["rows"] if row["file"].endswith("prog.py")]


@pytest.mark.quiet
@pytest.mark.parametrize("options", [[], ["--memory"]])
def test_the_share_of_the_gpu_stands_at_the_line_that_waits_for_it(sonde, stand_in, options):
    sonde.command("run", *options, "--no-report", "-o", "r.sonde", "prog.py", env=stand_in)
    share = {row["line"]: row["gpu_percent"] for row in rows(sonde) if row["gpu_percent"]}
    assert 25 < sum(share.values()) < 45
    assert share.get(4, 0) + share.get(5, 0) == pytest.approx(sum(share.values()), abs=2)
    assert {row["gpu_memory_bytes"] for row in rows(sonde) if row["line"] in share} == {3 << 30}


def test_without_a_gpu_there_is_no_such_column(sonde, stand_in):
    gone = {**stand_in, "SONDE_NVML": "/nowhere.so"}
    sonde.command("run", "--memory", "--no-report", "-o", "r.sonde", "prog.py", env=gone)
    assert not [name for row in rows(sonde) for name in row if "gpu" in name]
    shown = sonde.command("view", "r.sonde").stdout
    assert "GPU" not in shown
