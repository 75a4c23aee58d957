"""Where the interpreter expects no Python code (a garbage collection, an object's end), nothing of sonde's runs any.

On 3.11 every allocation may collect, so a collection that gave the GIL away would break C code that relies on keeping
it: CPython's own parser is such code (gh-106905)."""

import json
import sys

import pytest
from sonde_programs import slow

pytestmark = pytest.mark.interpreter

WAYS = [["run"], ["run", "--no-signals"], ["run", "--memory"], ["run", "--memory", "--exact"], ["trace"]]
WAYS_NAMES = [" ".join(way) for way in WAYS]

TREES = """\
import ast, threading
text = open(ast.__file__).read()
def work():
    for _ in range(40):
        ast.parse(text)
threads = [threading.Thread(target=work) for _ in range(2)]
[t.start() for t in threads]; [t.join() for t in threads]
"""

# A trace function sees every line of Python that a thread runs. The threads are new: sonde has met none of them.
SEEN = """\
import gc, json, sys, threading
seen = []
def note(frame, event, argument):
    seen.append(frame.f_code.co_qualname)
def collect():
    sys.settrace(note)
    gc.collect()
    sys.settrace(None)
def allocate():
    sys.settrace(note)
    kept = [bytearray(1 << 16) for _ in range(100)]
    sys.settrace(None)
for target in (collect, allocate):
    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
json.dump([name for name in seen if "<listcomp>" not in name], open("seen.json", "w"))
"""


@pytest.mark.parametrize("way", [WAYS[0], *slow(*WAYS[1:])], ids=WAYS_NAMES)
def test_two_threads_build_trees_at_the_same_time(sonde, way):
    (sonde.folder / "prog.py").write_text(TREES)
    done = sonde.command(*way, "--no-report", "-o", "r.sonde", "prog.py")
    assert "Error" not in done.stderr


@pytest.mark.parametrize("way", WAYS, ids=WAYS_NAMES)
def test_no_python_runs_where_a_new_thread_collects_or_allocates(sonde, way):
    (sonde.folder / "prog.py").write_text(SEEN)
    sonde.command(*way, "--no-report", "-o", "r.sonde", "prog.py")
    assert json.loads((sonde.folder / "seen.json").read_text()) == []


def test_no_python_runs_where_a_thread_enters_its_first_region(sonde):
    done = sonde.python(
        """
        import sys, threading
        import sonde.regions as rp
        seen = []
        def note(frame, event, argument):
            seen.append(frame.f_code.co_qualname)
        def work():
            region = rp.region("work")
            sys.settrace(note)
            with region:
                pass
            sys.settrace(None)
        rp.install(reporter=rp.SilentReporter())
        thread = threading.Thread(target=work, name="worker")
        thread.start()
        thread.join()
        from sonde import _core
        print(seen, sorted(row["name"] for row in _core.profile().rows()))
        """
    )
    assert done.stdout == "[] ['<main>', '<worker>', 'work']\n"


def test_the_programs_own_clock_is_not_asked_where_a_generator_dies(sonde):
    done = sonde.python(
        """
        import gc, sonde.regions as rp
        gc.disable()
        inside = False
        asked = []
        class Timer:
            def clock(self):
                asked.append(inside)
                return len(asked)
        def generate():
            rp.push("left open")
            yield
        def watch(phase, info):
            global inside
            inside = phase == "start"
        rp.install(reporter=rp.SilentReporter(), timer_cls=Timer)
        generator = generate()
        next(generator)
        loop = [generator]
        loop.append(loop)
        del generator, loop
        gc.callbacks.append(watch)
        gc.collect()
        gc.callbacks.remove(watch)
        print(any(asked), len(asked) > 1)
        """
    )
    assert done.stdout == "False True\n"


def test_a_profile_that_dies_runs_neither_its_timer_nor_an_audit_hook(sonde):
    done = sonde.python(
        """
        import sys
        from sonde.profiler import Profile
        asked = 0
        heard = []
        def timer():
            global asked
            asked += 1
            return asked
        sys.addaudithook(lambda event, arguments: heard.append(event) if "monitoring" in event else None)
        profile = Profile(timer)
        profile.enable()
        (lambda: None)()
        before = asked, heard[:]
        del profile
        after = asked, heard[:]
        print(before[0] > 0, before == after)
        print(Profile().runcall(int, "7"))
        """
    )
    assert done.stdout == "True True\n7\n"


def test_the_safe_way_of_sampling_runs_nothing_of_the_program(sonde):
    """Neither a finaliser nor an audit hook may find itself on sonde's own thread."""
    (sonde.folder / "prog.py").write_text(
        """\
import json, sys, threading, time
from sonde import _core
found = set()
here = threading.get_ident()
class Loop:
    def __init__(self):
        self.me = self
    def __del__(self):
        found.add(threading.get_ident() == here)
sys.addaudithook(lambda event, arguments: found.add(threading.get_ident() == here))
_core.start({"rate": 1000, "safe_frames": True})
while int(_core.profile().info("samples")) < 50:
    Loop()
names = [row["name"] for row in _core.profile().rows()]
_core.stop()
json.dump(sorted(found), open("found.json", "w"))
"""
    )
    sonde.run([sys.executable, "prog.py"])
    assert json.loads((sonde.folder / "found.json").read_text()) == [True]


def test_an_audit_hook_hears_nothing_at_exit(sonde):
    (sonde.folder / "prog.py").write_text(
        """\
import atexit, os, sys
import sonde.regions as rp
def hear(event, arguments):
    if event.startswith("sys.monitoring"):
        os.write(1, event.encode() + b"\\n")
def generate():
    with rp.region("inside"):
        yield 1
rp.install(reporter=rp.SilentReporter())
assert list(generate()) == [1]
sys.addaudithook(hear)
"""
    )
    for way in WAYS:
        done = sonde.command(*way, "--no-report", "-o", "r.sonde", "prog.py")
        assert done.stdout == ""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
def test_callbacks_that_stay_at_exit_do_nothing_to_another_tool(sonde):
    """What runs later at exit may use the number of a tool that was sonde's."""
    done = sonde.python(
        """
        import atexit, sys
        from sonde.profiler import Profile
        seen = []
        def later():
            for number in range(6):
                if sys.monitoring.get_tool(number) is None:
                    sys.monitoring.use_tool_id(number, "later")
                    events = sys.monitoring.events
                    before = sys.monitoring.register_callback(number, events.PY_RETURN, lambda *rest: seen.append(1))
                    sys.monitoring.set_events(number, events.PY_START | events.PY_RETURN | events.CALL)
                    (lambda: int("7"))()
                    (lambda: int("7"))()
                    sys.monitoring.set_events(number, 0)
                    sys.monitoring.free_tool_id(number)
            print(len(seen))
        atexit.register(later)
        profile = Profile()
        atexit.register(profile.disable)
        profile.enable()
        """
    )
    assert done.stdout == "12\n"
