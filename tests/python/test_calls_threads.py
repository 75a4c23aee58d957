"""Threads, forks, pools of processes and other interpreters."""

import _thread
import os
import sys
import threading
import traceback

import pytest
from calls_support import (
    both_kinds,
    branch,
    counts,
    labels,
    leaf,
    nothing_is_left_running,  # noqa: F401
)

from sonde import profiler
from sonde.tracing import Profile

pytestmark = pytest.mark.interpreter


@both_kinds
def test_disable_from_another_thread(builtins):
    profile = Profile(builtins=builtins)

    def outer():
        leaf()
        thread = threading.Thread(target=profile.disable)
        thread.start()
        thread.join()
        leaf()

    profile.enable()
    outer()
    branch()
    assert not profile.is_enabled()
    found = counts(profile)
    assert (found["outer"], found["leaf"]) == (1, 1)
    assert "branch" not in found


@pytest.mark.quick
@both_kinds
def test_enable_from_another_thread_is_for_all(builtins):
    profile = Profile(builtins=builtins)
    thread = threading.Thread(target=profile.enable)
    thread.start()
    thread.join()
    branch()
    profile.disable()
    assert counts(profile)["leaf"] == 2


@both_kinds
def test_threads_that_call_with_many_signatures_at_once(builtins):
    def work(a, b):
        return b

    def loop(seed):
        for i in range(400):
            work([None] * (i % 20), (1, "a", None, 1.5)[(i + seed) % 4])

    threads = [threading.Thread(target=loop, args=(seed,)) for seed in range(4)]
    with profiler.Profile(builtins=builtins, returns=True) as profile:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = {name: count for name, count in labels(profile).items() if name.startswith("work(")}
    assert sum(found.values()) == 1600
    assert len(found) == 80


def in_child(work):
    """What `work` gives in a fork, as text; the child never comes back into the test."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        told = "nothing"
        try:
            told = repr(work())
        except BaseException:
            told = traceback.format_exc()
        finally:
            os.write(writing, told.encode())
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        told = pipe.read().decode()
    assert os.waitpid(child, 0)[1] == 0
    return told


@both_kinds
def test_parent_and_child_of_a_fork_go_on(builtins):
    profile = Profile(builtins=builtins)

    def child():
        branch()
        profile.disable()
        found = counts(profile)
        return [found[name] for name in ("outer", "branch", "leaf")]

    def outer():
        leaf()
        told = in_child(child)
        leaf()
        return told

    with profile:
        assert outer() == "[1, 1, 3]"
    found = counts(profile)
    assert (found["outer"], found["leaf"]) == (1, 2)
    assert "branch" not in found


@both_kinds
def test_a_fork_while_other_threads_call(builtins):
    stop = threading.Event()
    profile = Profile(builtins=builtins)

    def busy():
        while not stop.is_set():
            branch()

    def child():
        for _ in range(100):
            branch()
        profile.disable()
        return counts(profile)["branch"] >= 100

    threads = [threading.Thread(target=busy, daemon=True) for _ in range(2)]
    with profile:
        for thread in threads:
            thread.start()
        told = [in_child(child) for _ in range(5)]
        stop.set()
        for thread in threads:
            thread.join()
    assert told == ["True"] * 5
    found = counts(profile)
    assert found["leaf"] == 2 * found["branch"]


def test_processes_of_a_pool(sonde):
    done = sonde.python(
        """
        import multiprocessing
        from sonde.tracing import Profile

        def work(n):
            return n * n

        if __name__ == "__main__":
            for method in ("fork", "spawn"):
                profile = Profile()
                with profile, multiprocessing.get_context(method).Pool(2) as pool:
                    print(sum(pool.map(work, range(20))))
        """
    )
    assert done.stdout.split() == ["2470", "2470"]


def test_another_interpreter_is_refused_cleanly(sonde):
    done = sonde.python(
        """
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        from sonde.tracing import Profile
        profile = Profile()
        profile.enable()
        other = interpreters.create()
        try:
            told = interpreters.run_string(other, "import sonde.tracing; sonde.tracing.Profile().enable()")
        except Exception as error:
            told = error
        print("ImportError" in repr(told) or "RuntimeError" in repr(told), "interpreter" in str(told))
        interpreters.run_string(other, "def f(): pass\\nfor _ in range(100): f()\\nlen('')")
        interpreters.destroy(other)
        profile.disable()
        """
    )
    assert done.stdout.split() == ["True", "True"], done.stdout + done.stderr


@both_kinds
def test_an_exception_that_ends_a_bare_thread_is_reported_as_ever(builtins, monkeypatch):
    reported, done = [], threading.Event()

    def fail():
        raise ValueError("lost")

    def hook(unraisable):
        reported.append((unraisable.object, unraisable.err_msg, type(unraisable.exc_value)))
        done.set()

    monkeypatch.setattr(sys, "unraisablehook", hook)
    with Profile(builtins=builtins) as profile:
        _thread.start_new_thread(fail, ())
        assert done.wait(240)
    ((thing, message, kind),) = reported
    assert thing is fail or repr(fail) in message  # from 3.13 on the message names it
    assert "in thread started by" in message
    assert kind is ValueError
    assert counts(profile)["fail"] == 1
