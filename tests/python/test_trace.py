"""The Chrome trace: valid JSON at any time."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from wait_support import until

import sonde as package


def load(path):
    """The events, without garbage collections, which come when they will."""
    return [event for event in json.loads(path.read_text())["traceEvents"] if event["name"] != "gc"]


@pytest.mark.quick
def test_the_trace_has_every_entry_with_nanoseconds(sonde):
    sonde.python(
        r"""
        import threading, sonde
        sonde.install(reporter=sonde.SilentReporter(), chrome_trace_file="trace.json")
        for name in ('say "hi"', "two\nlines", "back\\slash", "Größe 数据", "\x01\x7f\u2028"):
            with sonde.region(name):
                pass
        def other():
            with sonde.region("in thread"):
                pass
        thread = threading.Thread(target=other, name='a "named" thread')
        thread.start()
        thread.join()
        """
    )
    events = load(sonde.folder / "trace.json")
    spans = [event for event in events if event["ph"] == "X"]
    assert {event["name"] for event in spans} == {
        'say "hi"',
        "two\nlines",
        "back\\slash",
        "Größe 数据",
        "\x01\x7f\u2028",
        "in thread",
    }
    names = {event["args"]["name"] for event in events if event["ph"] == "M"}
    assert names == {"prog.py", "main", 'a "named" thread'}
    assert len({event["tid"] for event in spans}) == 2
    raw = (sonde.folder / "trace.json").read_text()
    assert '"displayTimeUnit": "ns"' in raw
    assert all(event["dur"] >= 0 and round(event["ts"] * 1000) >= 0 for event in spans)


def test_nested_entries_lie_within_each_other(sonde):
    sonde.python(
        """
        import sonde
        sonde.install(reporter=sonde.SilentReporter(), chrome_trace_file="trace.json")
        with sonde.region("outer"):
            for _ in range(10):
                with sonde.region("inner"):
                    pass
        """
    )
    spans = [event for event in load(sonde.folder / "trace.json") if event["ph"] == "X"]
    (outer,) = (event for event in spans if event["name"] == "outer")
    inner = sorted((event for event in spans if event["name"] == "inner"), key=lambda event: event["ts"])
    assert len(inner) == 10
    assert all(outer["ts"] <= event["ts"] for event in inner)
    assert all(event["ts"] + event["dur"] <= outer["ts"] + outer["dur"] + 0.001 for event in inner)
    assert all(a["ts"] + a["dur"] <= b["ts"] + 0.001 for a, b in zip(inner, inner[1:], strict=False))


def test_entries_of_tasks_are_asynchronous_events(sonde):
    sonde.python(
        """
        import asyncio, sonde
        sonde.install(reporter=sonde.SilentReporter(), chrome_trace_file="trace.json")
        async def work(name):
            with sonde.region(name):
                await asyncio.sleep(0.01)
        async def main():
            await asyncio.gather(work("a"), work("b"))
        asyncio.run(main())
        """
    )
    events = load(sonde.folder / "trace.json")
    begins = [event for event in events if event["ph"] == "b"]
    ends = [event for event in events if event["ph"] == "e"]
    assert {event["name"] for event in begins} == {"a", "b"}
    assert {event["id"] for event in begins} == {event["id"] for event in ends}
    assert len({event["id"] for event in begins}) == 2


def is_stopped(pid):
    """Whether all threads of the process are."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return all((task / "stat").read_text().rpartition(")")[2].split()[0] == "T" for task in tasks)


def test_a_killed_program_leaves_valid_json(sonde):
    (sonde.folder / "prog.py").write_text(
        "import sonde, time\n"
        "sonde.install(chrome_trace_file='trace.json')\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    with sonde.region('work'):\n"
        "        time.sleep(0.0001)\n"
    )
    with subprocess.Popen([sys.executable, "prog.py"], cwd=sonde.folder, stdout=subprocess.PIPE) as program:
        try:
            program.stdout.readline()
            until(lambda: (sonde.folder / "trace.json").stat().st_size > 200_000)
            # SIGKILL ends a write in the middle, SIGSTOP does not: it comes between two
            program.send_signal(signal.SIGSTOP)
            until(lambda: is_stopped(program.pid))
        finally:
            program.kill()
    spans = [event for event in load(sonde.folder / "trace.json") if event["ph"] == "X"]
    assert len(spans) > 1000


@pytest.mark.slow
def test_the_trace_is_written_while_running_in_bounded_memory(sonde):
    done = sonde.python(
        """
        import os, resource, sonde
        sonde.install(reporter=sonde.SilentReporter(), chrome_trace_file="trace.json", recording="r.sonde")
        def run(n):
            for i in range(n):
                with sonde.region("work"):
                    pass
        run(300_000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        run(1_500_000)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, os.stat("trace.json").st_size)
        """
    )
    grown_kib, size = map(int, done.stdout.split())
    assert grown_kib < 48 * 1024
    assert size > 1_000_000
    (main, *_) = sonde.export("r.sonde", "threads")["rows"]
    events = len(load(sonde.folder / "trace.json"))
    assert main["entries"] == 1_800_000
    assert events + main["dropped"] >= 1_800_000


def test_placeholders_in_paths(sonde):
    sonde.python(
        """
        import sonde
        sonde.install(reporter=sonde.SilentReporter(), chrome_trace_file="t-%r-%h-%%.json", recording="r%r-%p.sonde")
        with sonde.region("x"):
            pass
        """,
        env={"OMPI_COMM_WORLD_RANK": "7"},
    )
    assert (sonde.folder / f"t-7-{os.uname().nodename}-%.json").exists()
    (recording,) = sonde.folder.glob("r7-*.sonde")
    assert int(recording.stem.split("-")[1]) > 0
    facts = {
        row["fact"]: row["value"]
        for row in json.loads(sonde.command("info", recording.name, "-f", "json").stdout)["rows"]
    }
    assert facts["rank"] == "7"


def test_an_unwritable_trace_is_said_at_once_and_costs_nothing_else(sonde):
    done = sonde.python(
        """
        import sonde
        try:
            sonde.install(chrome_trace_file="/nowhere/trace.json", recording="r.sonde")
        except OSError as error:
            print(error)
        sonde.install(recording="r.sonde")
        with sonde.region("kept"):
            pass
        """
    )
    assert done.stdout == "/nowhere/trace.json: cannot be written: No such file or directory\n"
    assert sonde.main("r.sonde")["kept"].count == 1


def test_a_failing_second_install_keeps_the_first(measured):
    with package.region("a"):
        pass
    with pytest.raises(OSError, match="/nowhere"):
        package.install(chrome_trace_file="/nowhere/x.json")
    with package.region("a"):
        pass
    assert measured()["<main>"]["a"].count == 2
