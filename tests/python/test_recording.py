"""The recording: everything that was shown can be shown again, whatever ends the program."""

import json
import os
import signal
import sqlite3
import subprocess
import sys

import pytest
from wait_support import sum_so_far, until

pytestmark = pytest.mark.interpreter

WORK = """
import sonde, sys, os, time
sonde.install(recording="r.sonde")
for _ in range(3):
    with sonde.region("work"):
        time.sleep(0.001)
"""

ENDINGS = {
    "end": ("", 0),
    "exit": ("sys.exit(3)", 3),
    "exception": ("raise KeyError('x')", 1),
    "_exit": ("os._exit(4)", 4),
    "keyboard": ("import signal; os.kill(os.getpid(), signal.SIGINT); time.sleep(60)", -signal.SIGINT),
    "terminate": ("import signal; os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)", -signal.SIGTERM),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_it_is_complete_however_the_program_ends(sonde, ending):
    code, status = ENDINGS[ending]
    sonde.python(WORK + code, status=status)
    assert sonde.main("r.sonde")["work"].count == 3
    assert "complete" in sonde.command("info", "r.sonde").stdout.splitlines()[-1]


def test_an_exception_looks_as_without_sonde(sonde):
    done = sonde.python("import sonde\nsonde.install()\nwith sonde.region('x'):\n    1 / 0\n", status=1)
    trace = done.stderr[: done.stderr.index("ZeroDivisionError")]
    assert trace.count('File "') == 1
    assert "prog.py" in trace and "_core" not in trace


def test_a_killed_program_leaves_all_but_the_last_second(sonde):
    (sonde.folder / "prog.py").write_text(
        "import sonde, time\n"
        "sonde.install(recording='r.sonde', timeline=True)\n"
        "print('ready', flush=True)\n"
        "with sonde.region('main loop'):\n"
        "    while True:\n"
        "        with sonde.region('work'):\n"
        "            time.sleep(0.001)\n"
    )
    with subprocess.Popen([sys.executable, "prog.py"], cwd=sonde.folder, stdout=subprocess.PIPE) as program:
        try:
            program.stdout.readline()
            live = until(lambda: sum_so_far(sonde, "regions", "count", name="work"))
        finally:
            program.kill()
    loop = sonde.main("r.sonde")["main loop"]
    assert loop["work"].count >= live
    assert loop.open == 1 and loop.total_ns >= loop["work"].total_ns
    assert "killed" in sonde.command("info", "r.sonde").stdout
    events = json.loads(sonde.command("export", "r.sonde", "-f", "chrome").stdout)["traceEvents"]
    left = loop["work"].count - loop["work"].open
    assert 0 <= left - sum(event["name"] == "work" for event in events) <= 20  # between draining and counting


@pytest.mark.quick
def test_info_says_what_ran(sonde):
    sonde.python(WORK, "--some", "argument")
    facts = dict(line.split(maxsplit=1) for line in sonde.command("info", "r.sonde").stdout.splitlines())
    assert facts["program"] == "prog.py"
    assert json.loads(facts["arguments"]) == ["prog.py", "--some", "argument"]
    assert facts["host"] == os.uname().nodename
    assert facts["Python"] == ".".join(map(str, sys.version_info[:3]))
    assert facts["probes"] == "region"
    assert facts["entries"] == "3"
    assert facts["dropped"] == "0 entries, 0 events"
    assert "ns per entry" in facts["overhead"]


def test_the_default_name_is_program_and_process(sonde):
    sonde.python("import sonde\nsonde.install(recording=True)\n")
    (recording,) = sonde.folder.glob("prog-*.sonde")
    assert recording.stem.removeprefix("prog-").isdigit()


def test_a_forked_child_starts_empty_and_writes_its_own_part(sonde):
    done = sonde.python(
        """
        import os, sonde, warnings
        warnings.simplefilter("error")
        sonde.install(reporter=sonde.SilentReporter(), recording="r.sonde", chrome_trace_file="t.json")
        with sonde.region("before"):
            pass
        with sonde.region("around"):
            child = os.fork()
            with sonde.region("child" if child == 0 else "parent"):
                pass
        if child:
            print(child, os.waitpid(child, 0)[1])
        """
    )
    child, status = done.stdout.split()
    assert status == "0"
    parent = sonde.main("r.sonde")
    assert set(parent.children) == {"before", "around"}
    assert set(parent["around"].children) == {"parent"}
    own = sonde.main(f"r-{child}.sonde")
    assert set(own.children) == {"around"}
    assert set(own["around"].children) == {"child"}
    assert own.total_ns <= parent.total_ns  # which waits for it
    assert "child" in (sonde.folder / f"t-{child}.json").read_text()
    assert "child" not in (sonde.folder / "t.json").read_text()


def test_a_forked_child_without_regions_says_and_writes_nothing(sonde):
    done = sonde.python(
        """
        import os, sys, sonde
        sonde.install(recording="r.sonde")
        child = os.fork()
        if child == 0:
            sys.exit(0)
        os.waitpid(child, 0)
        """
    )
    assert done.stderr.count("<main>") == 1
    assert [path.name for path in sonde.folder.glob("*.sonde")] == ["r.sonde"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_still_works_and_forked_workers_write_their_parts(sonde, method):
    sonde.python(
        f"""
        import multiprocessing, sonde
        def square(x):
            with sonde.region("square"):
                return x * x
        if __name__ == "__main__":
            sonde.install(reporter=sonde.SilentReporter(), recording="r-%p.sonde")
            with multiprocessing.get_context({method!r}).Pool(2) as pool, sonde.region("pool"):
                assert pool.map(square, range(8)) == [x * x for x in range(8)]
                pool.close()
                pool.join()
        """
    )
    recordings = list(sonde.folder.glob("r-*.sonde"))
    counts = [
        child.count
        for recording in recordings
        for name, child in sonde.main(recording.name).children.items()
        if name == "square"
    ]
    assert sum(counts) == (8 if method == "fork" else 0)


def test_subprocesses_are_left_alone(sonde):
    done = sonde.python(
        """
        import subprocess, sys, sonde
        sonde.install(reporter=sonde.SilentReporter(), recording="r.sonde")
        with sonde.region("run"):
            for _ in range(3):
                subprocess.run([sys.executable, "-c", "print('hello')"], check=True)
            subprocess.run(["true"], preexec_fn=lambda: None, check=True)
        """
    )
    assert done.stdout == "hello\n" * 3
    assert [path.name for path in sonde.folder.glob("*.sonde")] == ["r.sonde"]


def test_a_program_may_close_all_descriptors_and_change_its_folder(sonde):
    sonde.python(
        """
        import os, time, sonde
        sonde.install(reporter=sonde.SilentReporter(), recording="r.sonde", chrome_trace_file="t.json")
        with sonde.region("a"):
            pass
        os.closerange(3, 100)
        written = os.stat("r.sonde").st_mtime_ns, os.stat("r.sonde").st_size
        folder = os.getcwd()
        os.chdir("/")
        while (os.stat(f"{folder}/r.sonde").st_mtime_ns, os.stat(f"{folder}/r.sonde").st_size) == written:
            time.sleep(0.01)
        with sonde.region("b"):
            pass
        """
    )
    assert set(sonde.main("r.sonde").children) == {"a", "b"}
    assert '"b"' in (sonde.folder / "t.json").read_text()


def test_a_recording_that_is_removed_comes_back(sonde):
    sonde.python(
        """
        import os, time, sonde
        sonde.install(reporter=sonde.SilentReporter(), recording="r.sonde")
        made = os.stat("r.sonde").st_mtime_ns
        with sonde.region("a"):
            while os.stat("r.sonde").st_mtime_ns == made:
                time.sleep(0.01)
        os.remove("r.sonde")
        """
    )
    assert sonde.main("r.sonde")["a"].count == 1


def test_another_kind_of_file_is_not_overwritten(sonde):
    (sonde.folder / "precious.txt").write_text("my thesis")
    done = sonde.python("import sonde\nsonde.install(recording='precious.txt')\n", status=1)
    assert "precious.txt: cannot be written: this file is not a sonde recording" in done.stderr
    assert (sonde.folder / "precious.txt").read_text() == "my thesis"


def test_somebodys_database_is_not_overwritten(sonde):
    with sqlite3.connect(sonde.folder / "mine.db") as mine:
        mine.execute("create table t (x)")
    done = sonde.python("import sonde\nsonde.install(recording='mine.db')\n", status=1)
    assert "mine.db: cannot be written: this file is not a sonde recording" in done.stderr
    with sqlite3.connect(sonde.folder / "mine.db") as mine:
        assert mine.execute("select count(*) from t").fetchone() == (0,)


@pytest.mark.parametrize("second", ["r", "other"])
def test_a_second_install_completes_the_first_recording(sonde, second):
    done = sonde.python(
        f"""
        import sonde
        sonde.install(reporter=sonde.SilentReporter(), recording="r.sonde", chrome_trace_file="r.json")
        with sonde.region("a"):
            pass
        sonde.install(reporter=sonde.SilentReporter(), recording="{second}.sonde", chrome_trace_file="{second}.json")
        with sonde.region("b"):
            pass
        """
    )
    assert "could not be saved" not in done.stderr
    assert set(sonde.main(f"{second}.sonde").children) == {"a", "b"}
    trace = (sonde.folder / "r.json").read_text()
    assert '"a"' in trace and ('"b"' in trace) == (second == "r")
    assert "a" in sonde.main("r.sonde").children


def test_a_full_disk_is_said_and_the_program_goes_on(sonde):
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a small file system")
    small = sonde.folder / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", str(small)], check=False).returncode:
        pytest.skip("cannot mount here")
    try:
        done = sonde.python(
            """
            import sonde
            sonde.install(recording="small/r.sonde", timeline=True)
            for i in range(200_000):
                with sonde.region(f"name {i % 5000}"):
                    pass
            print("done")
            """
        )
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert done.stdout == "done\n"
    assert "small/r.sonde: could not save everything: No space left on device" in done.stderr
    assert "name 4999" in done.stderr


def test_the_programs_own_sqlite_is_another_one(sonde):
    sonde.python(
        """
        import sqlite3, sonde
        sonde.install(reporter=sonde.SilentReporter(), recording="r.sonde")
        db = sqlite3.connect("mine.db")
        db.execute("create table t (x)")
        with sonde.region("a"):
            db.executemany("insert into t values (?)", [(i,) for i in range(1000)])
            db.commit()
        assert db.execute("select sum(x) from t").fetchone() == (499500,)
        """
    )
    assert sonde.main("r.sonde")["a"].count == 1
