"""A thread's time is told apart as its own clocks tell it: Python, native, system, and what it waits for."""

import math
from collections import Counter

import pytest
from chance import repeats
from sample_support import CPU, WAITS, expect_close, innermost, run

pytestmark = [pytest.mark.interpreter, pytest.mark.quiet]

#: The functions of programs/kinds.py.
KINDS = ("python", "compress", "digest", "arrays", "read_zeros", "sleep")


def check_among(states, done, truth, found, samples, limit):
    """Some of the states by themselves: on a busy machine most time is none of them, and would hide what they are. A
    thread that waits is followed, not sampled, which leaves nothing to chance."""
    done.check(
        {state: truth.get(state, 0) for state in states}, {state: found[state] for state in states}, samples, limit
    )


@repeats
def test_python_native_system_and_sleep(tmp_path):
    done = run(tmp_path, "kinds")
    states, samples = done.recording.states(innermost(*KINDS))
    found = Counter()
    for (_, state), value in states.items():
        found[state] += value
    cpu, waited = done.truth(), done.truth("waited")
    truth = {kind: cpu[kind] for kind in ("python", "native", "system")}
    truth["wait_sleep"] = waited["sleep"]
    # Others may be busy, too: the thread was ready to run, or the machine itself had no processor.
    truth["wait_cpu"] = sum(done.truth("ready").values()) + sum(waited[kind] for kind in ("python", "native", "system"))
    truth["system"] += cpu["sleep"]
    done.check(truth, found, samples, 0.03)
    check_among(CPU, done, truth, found, samples, 0.03)
    check_among(WAITS[1:], done, truth, found, math.inf, 0.05)


@repeats
def test_waiting_for_a_lock_a_socket_and_the_interpreter(tmp_path):
    done = run(tmp_path, "waits")
    states, samples = done.recording.states(innermost("take", "receive", "compute"))
    found = Counter()
    for (_, state), value in states.items():
        found["cpu" if state in ("python", "native", "system") else state] += value
    waited = done.truth("waited")
    truth = {
        "wait_lock": waited["take"],
        "wait_io": waited["receive"],
        "wait_gil": waited["compute"],
        "wait_cpu": sum(done.truth("ready").values()),
        "cpu": sum(done.truth().values()),
    }
    done.check(truth, found, samples, 0.05)
    check_among(("wait_lock", "wait_io", "wait_gil"), done, truth, found, math.inf, 0.05)


@repeats
def test_a_loop_without_calls_and_calls_that_do_not_come_back(tmp_path):
    done = run(tmp_path, "long_calls")
    states, samples = done.recording.states(innermost("loop", "power", "digest"))
    cpu = done.truth()
    truth = {("loop", "python"): cpu["loop"], ("power", "native"): cpu["power"], ("digest", "native"): cpu["digest"]}
    found = {key: value for key, value in states.items() if key[1] in ("python", "native", "system")}
    done.check(truth, found, samples, 0.02)


@repeats
def test_threads_that_python_does_not_know(tmp_path):
    pytest.importorskip("numpy")
    done = run(tmp_path, "pool", OPENBLAS_NUM_THREADS="2", OMP_NUM_THREADS="2")
    cpu, _ = done.recording.spent(lambda node: node.thread)
    truth = {int(thread): value for thread, value in done.answer["cpu"].items()}
    assert len(truth) >= 2, "the library has no pool here"
    for thread, value in truth.items():
        expect_close(cpu[thread], value, 40e6)
    pool = [node for node in done.recording.nodes if node.thread != done.main_thread and node.values["native"]]
    assert pool and all(node.kind in ("native", "other", "thread") for node in pool)


@repeats
def test_what_the_kernel_does_belongs_to_the_call_and_not_to_what_comes_next(tmp_path):
    done = run(tmp_path, "long_system")
    states, samples = done.recording.states(innermost("read", "compute"))
    cpu = done.truth()
    truth = {("read", "system"): cpu["read"], ("compute", "python"): cpu["compute"]}
    found = {key: value for key, value in states.items() if key[1] in CPU}
    done.check(truth, found, samples, 0.03)
