"""The sampler from inside a program: sample, start, stop, record."""

import asyncio
import threading
import time

import pytest
from sonde_programs import make_trees
from wait_support import spin, time_met

import sonde
from sonde import _core, sampling
from sonde._runtime import session as _session

pytestmark = pytest.mark.interpreter


def spin_elsewhere(seconds):
    spin(seconds)


@pytest.fixture(autouse=True)
def nothing_is_left_running():
    assert not _core.is_running()
    yield
    assert not _core.is_running()
    assert not _session._holders


def cpu_of(measurement, name):
    """CPU nanoseconds of a function itself, on all threads."""
    rows = measurement.rows("functions")
    kinds = ("python_ns", "native_ns", "system_ns")
    return sum(row[kind] for row in rows if row["function"] == name for kind in kinds)


@pytest.mark.quick
def test_a_block(capsys):
    with sonde.sample() as s:
        spin(0.2)
    assert cpu_of(s, "spin") == pytest.approx(2e8, rel=0.5)
    assert capsys.readouterr() == ("", "")
    assert "spin" in s.output("tree")
    s.print("lines")
    assert "wait_support.py" in capsys.readouterr().out


def test_results_before_anything_was_measured():
    with pytest.raises(RuntimeError, match="nothing was measured yet"):
        sonde.sample().output()


def test_results_while_it_runs():
    with sonde.sample() as s:
        spin(0.1)
        assert "spin" in s.output("functions")


def test_a_block_used_again_forgets_the_first_time():
    s = sonde.sample(rate=500)
    with s:
        spin(0.1)
    with s:
        spin_elsewhere(0.1)
    names = {row["function"] for row in s.rows("functions")}
    assert "spin_elsewhere" in names
    assert cpu_of(s, "spin") < 1.9e8


def test_an_exception_passes_and_the_results_stay():
    with pytest.raises(ZeroDivisionError), sonde.sample() as s:
        spin(0.1)
        1 / 0  # noqa: B018
    assert "spin" in s.output("functions")


def test_a_bare_decorator_reports_each_call_and_a_recursion_once(capsys):
    @sonde.sample
    def work(depth):
        """The text."""
        spin(0.05)
        return work(depth - 1) if depth else 5

    assert work(1) == 5
    assert work.__doc__ == "The text."
    text = capsys.readouterr().err
    assert text.count("samples at 1000 Hz") == 1
    assert "spin" in work.measurement.output("functions")


def test_a_decorator_with_options(capsys):
    @sonde.sample(rate=100, report=False)
    def work():
        spin(0.1)

    work()
    assert capsys.readouterr().err == ""
    assert "at 100 Hz" in work.measurement.output("functions")


def test_decorators_of_methods_coroutines_and_generators():
    quiet = sonde.sample(report=False)

    class Class:
        @quiet
        def method(self):
            spin(0.02)
            return "method"

        @quiet
        @classmethod
        def class_method(cls):
            return cls.__name__

        @staticmethod
        @quiet
        def static_method(x):
            return x

    assert (Class().method(), Class.class_method(), Class.static_method(3)) == ("method", "Class", 3)

    @quiet
    async def coroutine(x):
        spin(0.05)
        await asyncio.sleep(0)
        return x

    async def both():
        return await asyncio.gather(coroutine(1), coroutine(2))

    assert asyncio.run(both()) == [1, 2]
    assert "coroutine" in coroutine.measurement.output("functions")

    @quiet
    def generator():
        spin(0.02)
        yield 1
        yield 2

    assert list(generator()) == [1, 2]

    @quiet
    async def stream():
        yield 1
        yield 2

    async def take():
        return [x async for x in stream()]

    assert asyncio.run(take()) == [1, 2]


def test_what_cannot_be_measured():
    with pytest.raises(TypeError, match="pass options as keywords"):
        sonde.sample(100)
    for rate in (0, -1, 20001, 10**9, 1.5, "fast"):
        with pytest.raises(ValueError, match="whole number from 1 to 20000"):
            sonde.sample(rate=rate)
    with pytest.raises(ValueError, match="unknown probe 'samples'; choose from region, sample, call"):
        sonde.record("r.sonde", probes=["samples"])
    with pytest.raises(OSError, match="no/such/folder"), sonde.record("no/such/folder/r.sonde"):
        pass


def test_start_and_stop():
    assert sonde.stop() is None
    first = sonde.start(rate=400)
    assert sonde.start() is first
    spin(0.1)
    stopped = sonde.stop()
    assert stopped is first
    assert "spin" in stopped.output("functions")
    assert sonde.stop() is None
    sonde.start()
    spin_elsewhere(0.05)
    again = sonde.stop()
    assert again is not None
    assert "spin_elsewhere" in again.output("functions")


def test_a_block_inside_another_shares_its_measurement():
    with sonde.sample(rate=300) as outer:
        spin(0.1)
        with sonde.sample(rate=1000) as inner:
            spin_elsewhere(0.05)
        assert _core.is_running()
        spin(0.05)
    assert "at 300 Hz" in inner.output("functions")
    assert cpu_of(inner, "spin") < cpu_of(outer, "spin")


def test_start_inside_a_block_and_blocks_that_end_in_the_other_order():
    with sonde.sample() as s:
        sonde.start()
        spin(0.2)
    assert _core.is_running()
    stopped = sonde.stop()
    assert stopped is not None
    assert "spin" in s.output("functions")


def test_blocks_on_several_threads_at_once():
    results = []

    def work():
        with sonde.sample() as s:
            spin(0.05)
        results.append(s)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    assert all("spin" in s.output("functions") for s in results)


def test_one_measurement_entered_by_several_threads_ends_with_the_last():
    s = sonde.sample()
    inside = threading.Barrier(3)

    def work():
        with s:
            inside.wait()
            spin(0.05)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cpu_of(s, "spin") > 1e8


def test_installed_regions_go_on_before_in_and_after_a_block():
    sonde.install(sonde.SilentReporter())
    with sonde.region("before"):
        pass
    with sonde.sample() as s, sonde.region("inside"):
        spin(0.1)
    with sonde.region("after"):
        pass
    main = make_trees(_core.profile().rows())["<main>"]
    assert set(main.children) == {"before", "inside", "after"}
    sonde.uninstall()
    assert "spin" in s.output("functions")


def test_regions_that_are_uninstalled_in_a_block():
    with sonde.sample() as s:
        sonde.install(sonde.SilentReporter())
        spin(0.05)
        sonde.uninstall()
        assert _core.is_running()
    assert "spin" in s.output("functions")


def test_regions_count_in_a_block_without_install():
    with sonde.sample() as s, sonde.region("inside"):
        spin(0.1)
    assert make_trees(s.rows("regions"))["<main>"]["inside"].count == 1


def test_a_recording_of_several_probes(sonde_folder):
    with sonde.record("r.sonde", probes=["region", "sample", "call"], builtins=False) as r:
        with sonde.region("part"):
            spin(0.1)
        with pytest.raises(RuntimeError, match="already writing a recording: "), sonde.record("other.sonde"):
            pass
    assert r.recording == str(sonde_folder.folder / "r.sonde")
    assert sonde_folder.main("r.sonde")["part"].count == 1
    shown = sonde_folder.command("view", "r.sonde", "--tree").stdout
    assert "region part" in shown and "spin" in shown
    calls = sonde_folder.export("r.sonde", "callers")["rows"]
    assert [row["calls"] for row in calls if row["name"] == "spin" and row["depth"] == 0] == [1]
    assert "complete" in sonde_folder.command("info", "r.sonde").stdout


def test_record_as_a_decorator_names_the_recording_after_the_program(sonde_folder):
    @sonde.record(True, report=False)
    def work():
        spin(0.02)

    work()
    assert list(sonde_folder.folder.glob("*.sonde"))


def test_a_record_joins_regions_that_are_installed(sonde_folder):
    sonde.install(sonde.SilentReporter())
    with sonde.record("r.sonde"), sonde.region("part"):
        spin(0.05)
    assert _core.is_running()
    assert "complete" in sonde_folder.command("info", "r.sonde").stdout
    sonde.uninstall()
    assert sonde_folder.main("r.sonde")["part"].count == 1


def test_saving_the_results(sonde_folder):
    with sonde.sample() as s:
        spin(0.1)
    s.save("block.sonde")
    assert "spin" in sonde_folder.command("view", "block.sonde", "--functions").stdout
    assert "complete" in sonde_folder.command("info", "block.sonde").stdout
    with pytest.raises(OSError):
        s.save("no/such/folder.sonde")


def test_code_of_a_notebook_is_shown_with_its_text():
    import linecache

    text = "def cell(end):\n    while time.thread_time() < end:\n        pass\n"
    name = "<ipython-input-7-0123456789ab>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"time": time}
    exec(compile(text, name, "exec"), names)
    with sonde.sample() as s:
        while not time_met("cell"):
            names["cell"](time.thread_time() + 0.1)
    assert "while time.thread_time() < end:" in s.output("lines")


def test_the_measurement_is_given_back_when_starting_fails(monkeypatch):
    def fail(_):
        raise OSError("no")

    monkeypatch.setattr(sampling._core, "start", fail)
    with pytest.raises(OSError), sonde.sample():
        pass
    monkeypatch.undo()
    with sonde.sample():
        pass


@pytest.fixture
def sonde_folder(tmp_path, monkeypatch):
    from sonde_programs import Sonde

    monkeypatch.chdir(tmp_path)
    return Sonde(tmp_path)


def test_an_interpreter_whose_machine_code_is_not_found_is_noted(sonde):
    """Where no file can be opened, nobody says where it is."""
    done = sonde.python(
        """
        import resource
        from sonde import _core
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        _core.start({"rate": 1000})
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        print(_core.profile().info("note"))
        _core.stop()
        """
    )
    assert done.stdout == (
        "cannot find the interpreter's machine code; separating Python and native time by the instruction only\n"
    )
