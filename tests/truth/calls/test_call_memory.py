"""Memory follows the number of functions and of pairs, never the number of calls."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.interpreter

CALLS = int(os.environ.get("SONDE_CALLS", "1000000"))  # the figure that is promised is for ten million
LIMIT_KIB = 20 * 1024

PROGRAM = """
import sys
from sonde import profiler

calls, kind = int(sys.argv[1]), sys.argv[2]
names = {}
exec("\\n".join(f"def f{i}(a, b): return a" for i in range(200)), names)
functions = [names[f"f{i}"] for i in range(200)]

def run(count):
    for _ in range(count // 200):
        for function in functions:
            function(1, "two")

def resident_kib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

run(2000)
profile = profiler.Profile(builtins=kind != "python", signatures=kind == "signatures")
before = resident_kib()
profile.enable()
run(calls)
profile.disable()
after = resident_kib()
rows = [row for row in profile.profile().rows("functions") if row["name"].startswith("f") and row["name"][1:].isdigit()]
print(after - before, len(rows), sum(row["calls"] for row in rows))
"""


@pytest.mark.parametrize("kind", ["python", "builtins", "signatures"])
def test_many_calls_of_200_functions_take_little_memory(tmp_path, kind):
    command = [sys.executable, "-c", PROGRAM, str(CALLS), kind]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    grown_kib, functions, calls = map(int, done.stdout.split())
    assert (functions, calls) == (200, CALLS)
    assert grown_kib < LIMIT_KIB
