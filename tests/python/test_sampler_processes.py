"""Programs that fork, spawn, exec and exit, under the sampler. See sampler_support for longer runs."""

import sqlite3

import pytest
from sampler_support import PROGRAMS, compare, finish, scenarios, start, under_sampler

pytestmark = pytest.mark.interpreter

PROGRAM = "sampler_processes.py"
SAFE = (
    "fork_among_threads",
    "pool_of_forks",
    "subprocesses",
    "leave_at_once",
    "exec_among_threads",
    "end_with_daemons",
)


@pytest.mark.parametrize(("name", "way"), scenarios(PROGRAM))
def test_processes(tmp_path, name, way):
    status, out, _ = compare(tmp_path, PROGRAM, name, way)
    assert out or status != 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SAFE)
def test_processes_when_frames_are_read_with_the_gil(tmp_path, name):
    compare(tmp_path, PROGRAM, name, "safe")


def test_the_interpreter_ends_while_threads_start_others(tmp_path):
    """What the threads say then is not the same twice."""
    path = str(PROGRAMS / PROGRAM)
    process = start(under_sampler(20000, path, "end_with_daemons", "others"), tmp_path / "sonde")
    assert finish(process)[:2] == (0, "end\n")


def test_each_process_is_in_the_recording(tmp_path):
    compare(tmp_path, PROGRAM, "fork_in_forks", 1000)
    (path,) = (tmp_path / "sonde").glob("r.sonde*")
    with sqlite3.connect(path) as recording:
        found = dict(recording.execute("select process_id, complete from process"))
    assert len(found) >= 2
    assert set(found.values()) == {1}
