"""What the sampler knows of the interpreter's inside: its loop's machine code, what it compiles, other interpreters."""

import json
import sys

import pytest

pytestmark = pytest.mark.interpreter


def numbers_of(done):
    return json.loads(done.stdout.splitlines()[-1])


def test_native_stacks_match_the_python_ones(sonde):
    """Also if most of the loop's machine code has no name, and on several threads, whose stacks may share a mapping."""
    done = sonde.python(
        """
        import json, threading
        from sonde import _core

        def count(name):
            return int(_core.profile().info(name))

        def work():
            while not is_over.is_set():
                sorted(range(300), key=lambda x: -x)
                sum(x for x in range(300))
                max(map(str, range(100)), key=len)

        is_over = threading.Event()
        _core.start({"rate": 1000, "native": True})
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        while count("native_stitched") < 60:
            sorted(range(300), key=lambda x: -x)
        is_over.set()
        for thread in threads:
            thread.join()
        seen = _core.profile()
        rows = [row["function"] for row in seen.rows("functions")]
        print(json.dumps([seen.info("note"), count("native_stitched"), count("native_misfits"), rows]))
        _core.stop()
        """
    )
    note, stitched, misfits, functions = numbers_of(done)
    assert note == ""
    assert misfits <= stitched * 0.02
    assert "work" in functions


def test_a_plain_loop_runs_in_the_loops_machine_code(sonde):
    done = sonde.python(
        """
        import json
        from sonde import _core

        def count(name):
            return int(_core.profile().info(name))

        exec("def loop(a, b):\\n for _ in range(40): " + "a = b; b = a; " * 1000)
        _core.start({"rate": 1000})
        while count("samples_plain") < 40:
            loop(None, None)
        print(json.dumps([count("samples_plain"), count("samples_plain_inside")]))
        _core.stop()
        """
    )
    plain, inside = numbers_of(done)
    assert inside > plain * 0.5  # nearly all of them


def test_time_in_compiled_code_is_python_time(sonde):
    if sys.version_info < (3, 14) or not sys._jit.is_available():
        pytest.skip("this interpreter has no JIT")
    done = sonde.python(
        """
        import json, sys
        from sonde import _core
        assert sys._jit.is_enabled()

        def loop(number):
            total = 0
            for i in range(number):
                total = (total + i) & 1023
            return total

        loop(20_000)
        _core.start({"rate": 1000})
        while int(_core.profile().info("samples_plain")) < 60:
            loop(20_000)
        rows = [row for row in _core.profile().rows("functions") if row["function"] == "loop"]
        print(json.dumps([sum(row[kind] for row in rows) for kind in ("python_ns", "native_ns")]))
        _core.stop()
        """,
        env={"PYTHON_JIT": "1"},
    )
    python, native = numbers_of(done)
    assert native < python * 0.1


INTERPRETERS = """
        import json
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        from sonde import _core

        inside = '''
        import time
        def busy(seconds):
            end = time.thread_time() + seconds
            while time.thread_time() < end:
                sum(range(300))
        def rest(seconds):
            time.sleep(seconds)
        '''

        def enter(text):
            other = interpreters.create()
            interpreters.run_string(other, inside + text)
            interpreters.destroy(other)
"""


needs_states = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="3.11 does not tell which interpreter a thread is in"
)


@needs_states
def test_frames_of_another_interpreter_stand_below_those_that_entered_it(sonde):
    done = sonde.python(
        INTERPRETERS
        + """
        _core.start({"rate": 1000})
        enter("\\nbusy(0.3)\\nrest(0.2)")
        seen = _core.profile()
        _core.stop()
        cpu = {row["function"]: row["total_cpu_ns"] for row in seen.rows("functions")}
        print(json.dumps([cpu, [[row["depth"], row["name"]] for row in seen.rows("tree")]]))
        """
    )
    cpu, tree = numbers_of(done)
    assert cpu["busy"] == pytest.approx(3e8, rel=0.3)
    assert cpu["enter"] >= cpu["busy"]
    depths = {name: next(depth for depth, found in tree if found == name) for name in ("enter", "busy", "rest")}
    assert depths["enter"] < depths["busy"] == depths["rest"]


@needs_states
def test_code_of_another_interpreter_that_comes_to_the_place_of_a_dead_one_has_its_own_name(sonde):
    done = sonde.python(
        INTERPRETERS
        + """
        _core.start({"rate": 1000})
        for i in range(6):
            enter(f"\\ndef task_{i}():\\n    busy(0.15)\\ntask_{i}()")
        met = {row["function"] for row in _core.profile().rows("functions")}
        print(json.dumps(sorted(name for name in met if name.startswith("task_"))))
        _core.stop()
        """
    )
    assert numbers_of(done) == [f"task_{i}" for i in range(6)]
