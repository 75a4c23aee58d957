"""Time stands at the line, under the caller and below the awaiter that it belongs to."""

import os
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack

import pytest
from chance import expect, repeats
from sample_support import innermost, run

pytestmark = [pytest.mark.interpreter, pytest.mark.quiet]


@repeats
def test_the_lines_of_one_loop(tmp_path):
    done = run(tmp_path, "lines")
    first = done.answer["first_line"]

    def line(node):
        """Where the loop was, whatever it had called from there."""
        while node is not None and node.name != "hot":
            node = node.parent
        return None if node is None else str(node.line - first)

    found, samples = done.recording.spent(line)
    truth = done.truth()
    del truth["clock"]
    # The line of the `for` is no line of the answer, and takes next to nothing.
    done.check(truth, found, samples, 0.03)


@repeats
def test_a_function_that_only_c_calls_stands_below_its_caller(tmp_path):
    done = run(tmp_path, "from_c")
    found, samples = done.recording.spent(innermost("sort", "apply"))
    done.check(done.truth(), found, samples, 0.01)
    callers = Counter()
    for node in done.recording.nodes:
        if node.name in ("key", "each"):
            callers[node.parent.name, node.name] += 1
    assert set(callers) == {("sort", "key"), ("apply", "each")}


@repeats
def test_a_coroutine_stands_below_its_awaiters_and_a_generator_below_its_readers(tmp_path):
    done = run(tmp_path, "suspended")
    chains = {
        "heavy_task": ["heavy_task", "retry", "fetch", "Watch.run", "spin"],
        "light_task": ["light_task", "retry", "fetch", "Watch.run", "spin"],
        "heavy_reader": ["heavy_reader", "keep", "produce", "Watch.run", "spin"],
        "light_reader": ["light_reader", "keep", "produce", "Watch.run", "spin"],
    }

    def chain(node):
        names = node.names()
        if "spin" not in names or "count_for" in names:
            return None
        end = names.index("spin") + 1
        return next((key for key, wanted in chains.items() if names[end - len(wanted) : end] == wanted), "astray")

    found, samples = done.recording.spent(chain)
    done.check(done.truth(), found, samples, 0.01)
    assert found["astray"] == 0


@repeats
def test_samples_inside_a_region_stand_below_it(tmp_path):
    done = run(tmp_path, "in_regions")

    def region(node):
        if "spin" not in node.names() or "count_for" in node.names():
            return None
        return next((above.name for above in reversed(node.stack()) if above.kind == "region"), "none")

    found, samples = done.recording.spent(region)
    done.check(done.truth(), found, samples, 0.02)


@repeats
def test_a_program_of_50_ms_gives_a_sensible_report(tmp_path):
    done = run(tmp_path, "short", seconds=0.05)
    found, samples = done.recording.spent(innermost("larger", "smaller"))
    seen = int(done.recording.info["samples"])
    expect(seen >= 10, f"{seen} samples")
    done.check(done.truth(), found, samples, 0.1, least=10)
    expect("larger" in done.output and "smaller" in done.output, done.output)


CROWDED = """
import sonde, time

def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass

found = whole = 0
for _ in range(8):
    with sonde.sample(rate=100) as block:
        spin(0.1)
    for row in block.rows("functions"):
        cpu = sum(row[part] for part in ("python_ns", "native_ns", "system_ns"))
        whole += cpu
        found += cpu * (row["function"] == "spin")
print(found / whole)
"""


def run_crowded(folder, code):
    """What the program prints beside four times as many busy processes as there are processors."""
    (folder / "prog.py").write_text(code)
    with ExitStack() as others:
        for _ in range(4 * os.cpu_count()):
            other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            others.callback(other.wait)
            others.callback(other.kill)
        done = subprocess.run([sys.executable, "prog.py"], cwd=folder, check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


@repeats
def test_a_thread_is_seen_on_a_crowded_machine(tmp_path):
    """Our own thread runs when others do not: one that was only asked while it ran had 0 to 70 % of its time here."""
    (found,) = run_crowded(tmp_path, CROWDED)
    expect(found > 0.8, f"{found} of the CPU time is where it was spent")


CALLS = """
import hashlib, sonde, threading, time

def measured(loop):
    start = time.thread_time()
    loop()
    return time.thread_time() - start

def clock():
    for _ in range(200_000):
        time.thread_time()

def add():
    for _ in range(200_000):
        sum(items)

def both():
    for _ in range(600_000):
        time.thread_time()
        sum(items)

items = [1] * 60
alone = [measured(clock), measured(add)]
ended = threading.Event()
data = bytes(20_000_000)

def busy():
    while not ended.is_set():
        hashlib.sha256(data)

beside = threading.Thread(target=busy)
with sonde.sample() as block:
    beside.start()
    both()
    ended.set()
    beside.join()
first = both.__code__.co_firstlineno
lines = {row["line"] - first: row for row in block.rows("lines") if row["line"] is not None}
cpu = [sum(lines[line][part] for part in ("python_ns", "native_ns", "system_ns")) for line in (2, 3)]
print(alone[0] / sum(alone), cpu[0] / sum(cpu))
"""


@repeats
def test_system_calls_have_their_share_on_a_crowded_machine(tmp_path):
    """A signal from another processor mostly arrives at the next system call: that had 96 % instead of half.

    Two threads work, so that the sampler shares the processor of none.
    """
    truth, found = run_crowded(tmp_path, CALLS)
    expect(
        abs(found - truth) < 0.15, f"{found} of the time is in the line with the system call, {truth} was spent there"
    )
