"""Each thread has its own stack: what it calls is never charged to a function of another thread."""

import subprocess
import sys
import threading
import time

import pytest

pytestmark = pytest.mark.interpreter

COUNT = 200


def run_threads(*targets):
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_two_threads_that_take_turns_inside_their_calls(profile, functions):
    barrier = threading.Barrier(2)

    def shared():
        pass

    def first_outer():
        barrier.wait()  # both are inside their outer function now
        shared()
        barrier.wait()

    def second_outer():
        barrier.wait()
        shared()
        shared()
        barrier.wait()

    def first():
        for _ in range(COUNT):
            first_outer()

    def second():
        for _ in range(COUNT):
            second_outer()

    with profile:
        run_threads(first, second)
    found = functions(profile)
    assert found["shared"].callers == {"first_outer": COUNT, "second_outer": 2 * COUNT}
    assert found["first_outer"].callers == {"first": COUNT}
    assert found["second_outer"].callers == {"second": COUNT}
    assert found["first"].calls == found["second"].calls == 1


def test_recursion_on_two_threads_is_not_recursion_of_one(profile, functions):
    barrier = threading.Barrier(2)

    def both():
        barrier.wait()
        barrier.wait()

    with profile:
        run_threads(both, both)
    both = functions(profile)["both"]
    assert (both.calls, both.primitive) == (2, 2)


def test_threads_that_run_already_when_it_starts(profile, functions):
    go, ready, done = threading.Event(), threading.Barrier(4), threading.Barrier(4)

    def leaf():
        pass

    def work():
        for _ in range(COUNT):
            leaf()

    def worker():
        ready.wait()
        go.wait()
        work()
        done.wait()

    threads = [threading.Thread(target=worker) for _ in range(3)]
    for thread in threads:
        thread.start()
    ready.wait()
    with profile:
        go.set()
        done.wait()
    for thread in threads:
        thread.join()
    found = functions(profile)
    assert found["leaf"].callers == {"work": 3 * COUNT}
    assert (found["work"].calls, found["work"].primitive) == (3, 3)
    assert "worker" not in found  # it was called before


def test_threads_that_start_and_end_while_it_runs(profile, functions):
    def leaf():
        pass

    def worker():
        leaf()
        leaf()

    with profile:
        for _ in range(100):
            run_threads(worker)
    found = functions(profile)
    assert found["worker"].calls == 100
    assert found["leaf"].callers == {"worker": 200}


def test_threads_that_go_on_when_it_stops(profile, functions):
    stop, turns = threading.Event(), 0

    def leaf():
        pass

    def worker():
        nonlocal turns
        while not stop.is_set():
            leaf()
            turns += 1

    thread = threading.Thread(target=worker)
    with profile:
        thread.start()
        while turns < 1000:
            time.sleep(0.001)
    counted = functions(profile)["leaf"].calls
    before = turns
    while turns < before + 1000:
        time.sleep(0.001)
    stop.set()
    thread.join()
    assert 1000 <= counted <= before + 1
    assert functions(profile)["leaf"].calls == counted


@pytest.mark.parametrize("low_level", [False, True], ids=["threading", "_thread"])
def test_however_a_thread_is_started(profile, functions, low_level):
    import _thread

    done = threading.Event()

    def worker():
        leaf()
        done.set()

    def leaf():
        pass

    with profile:
        if low_level:
            _thread.start_new_thread(worker, ())
        else:
            threading.Thread(target=worker).start()
        done.wait()
    assert functions(profile)["leaf"].callers == {"worker": 1}


def test_times_of_threads_add_up(profile, functions):
    """Two threads that sleep at the same time have twice the time of one."""

    def sleeper():
        time.sleep(0.05)  # sleeps: its work

    start = time.perf_counter_ns()
    with profile:
        run_threads(sleeper, sleeper)
    wall = time.perf_counter_ns() - start
    sleeper = functions(profile)["sleeper"]
    assert sleeper.calls == 2
    assert 100_000_000 <= sleeper.total_ns <= 2 * wall


def test_a_pool_of_threads(profile, functions):
    from concurrent.futures import ThreadPoolExecutor

    def square(n):
        return n * n

    with profile, ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(square, range(100))) == 328350
    assert functions(profile)["square"].calls == 100


def test_hundreds_of_threads_at_once_lose_nothing(tmp_path):
    program = """
import sys, threading
from sonde import tracing
threading.stack_size(256 * 1024)
barrier = threading.Barrier(301)
def leaf(): pass
def worker():
    barrier.wait()
    for _ in range(50): leaf()
profile = tracing.Profile(builtins=sys.argv[1] == "yes")
with profile:
    threads = [threading.Thread(target=worker) for _ in range(300)]
    for thread in threads: thread.start()
    barrier.wait()
    for thread in threads: thread.join()
profile.create_stats()
print(*(row[1] for label, row in profile.stats.items() if label[2] == "leaf"))
"""
    for builtins in ("yes", "no"):
        command = [sys.executable, "-c", program, builtins]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["15000"]
