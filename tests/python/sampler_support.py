"""A program runs plainly and under the sampler, and both are the same.

Each scenario of a program runs once by default, at 1 or 20 kHz. With ``SONDE_STRESS=1`` it runs at both rates and
with frames that are read with the GIL held, and what takes time takes ten times as long.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
BIN = Path(sys.executable).parent
IS_STRESS = os.environ.get("SONDE_STRESS") == "1"
RATES = (1000, 20000)


def scenarios(program, *, unsafe=()):
    """The functions of a program that take no argument, each with a way to run it; some show who started them."""
    names = re.findall(r"^def (\w+)\(\):", (PROGRAMS / program).read_text(), re.M)
    if IS_STRESS:
        ways = [(name, way) for name in names for way in (*RATES, "safe")]
        return [(name, way) for name, way in ways if way != "safe" or name not in unsafe]
    return [(name, RATES[i % 2]) for i, name in enumerate(names)]


def under_sampler(way, *words):
    """The command that runs a program at a rate, or the safe way."""
    if way == "safe":
        return [str(BIN / "python"), str(PROGRAMS / "sampler_safe.py"), "1000", *words]
    return [str(BIN / "sonde"), "run", "--no-report", "-o", "r.sonde", "--rate", str(way), *words]


def start(command, folder):
    folder.mkdir()
    return subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process):
    """Exit status, output, and messages without those that are ours."""
    try:
        out, messages = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    messages = re.sub(r"(?mi)^sonde: (recording saved in|not followed:) .*\n", "", messages)
    messages = re.sub(r"\n+Extension modules: .*", "", messages)  # of faulthandler: ours is one of them
    return process.returncode, out, re.sub(r"0x[0-9a-f]+", "0xN", messages)


def compare(tmp_path, program, name, way, *words):
    """Both at once."""
    path = str(PROGRAMS / program)
    plain = start([str(BIN / "python"), path, name, *words], tmp_path / "plain")
    ours = start(under_sampler(way, path, name, *words), tmp_path / "sonde")
    wanted, got = finish(plain), finish(ours)
    assert got == wanted, f"{got} is not {wanted}"
    return got
