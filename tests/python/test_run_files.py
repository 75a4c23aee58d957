"""Neither the program nor its children see files of sonde's own, which do not depend on how many it has left."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from run_support import SONDE, infos, needs_tables
from sonde_programs import slow

PYTHON = str(Path(sys.executable).parent / "python")
SPIN = """
import json, os, resource, subprocess, sys, threading, time
def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(i * i for i in range(200))
"""

# What is open, by number and kind: a pipe is another one each time.
LISTS = """
def files():
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            found.append([int(number), os.readlink(f"/proc/self/fd/{number}").split("[")[0].split("/")[-1]])
        except OSError:  # that by which the folder is read
            pass
    return sorted(found)
seen = []
def note(name, some=None):
    some = files() if some is None else some
    if [name, some] not in seen:
        seen.append([name, some])
"""

SEES = """
import signal
listing = "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))"
def child(**options):
    done = subprocess.run([sys.executable, "-S", "-c", listing], capture_output=True, text=True, check=True, **options)
    return done.stdout
def version():  # of the recording, which plain Python has none of
    return os.path.exists("r.sonde") and os.stat("r.sonde").st_mtime_ns
is_over = threading.Event()
thread = threading.Thread(target=is_over.wait)
thread.start()
made, rounds = version(), 0
while rounds < 50 or made and version() == made:  # until a checkpoint
    spin(0.01)
    note("while it runs")
    rounds += 1
is_over.set()
thread.join()
note("child", child())
note("child that inherits", child(close_fds=False))
ends = os.pipe()
process = os.fork()
if process == 0:
    seen.clear()
    for _ in range(40):
        spin(0.01)
        note("forked")
    os.write(ends[1], json.dumps(seen).encode())
    os._exit(0)
os.waitpid(process, 0)
note("of the fork", json.loads(os.read(ends[0], 65536)))
note("at the end")
print(json.dumps(seen))
"""


def run(folder, *command, code):
    (folder / "prog.py").write_text(SPIN + LISTS + textwrap.dedent(code))
    return subprocess.run(
        [*command, "prog.py"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False
    )


def complete(sonde):
    return infos(sonde)["complete"] == "1"


WAYS = [
    ["run"],
    ["run", "--native"],
    ["run", "--memory"],
    ["run", "--native", "--memory", "--ops", "--rate", "5000"],
    ["run", "--no-signals"],
    ["run", "--no-children"],
    ["trace"],
    ["trace", "--timeline"],
]


@needs_tables
@pytest.mark.parametrize("way", [WAYS[3], WAYS[6], *slow(*WAYS[:3], *WAYS[4:6], *WAYS[7:])], ids=" ".join)
def test_a_program_and_its_children_see_the_files_of_plain_python(sonde, way):
    plain = run(sonde.folder, PYTHON, code=SEES)
    ours = run(sonde.folder, SONDE, *way, "-o", "r.sonde", code=SEES)
    assert (plain.returncode, ours.returncode) == (0, 0), ours.stderr
    assert json.loads(ours.stdout) == json.loads(plain.stdout)
    assert complete(sonde)


@needs_tables
def test_a_program_that_closes_all_files_opens_its_own_by_the_same_numbers(sonde):
    code = """
    numbers = set()
    for _ in range(150):
        threads = [threading.Thread(target=spin, args=(0.002,)) for _ in range(4)]  # which the sampler comes to know
        for thread in threads:
            thread.start()
        os.closerange(3, 65536)
        for _ in range(200):
            numbers.add(open(os.devnull).fileno())
        for thread in threads:
            thread.join()
    print(numbers)
    """
    done = run(sonde.folder, SONDE, "run", "--native", "-o", "r.sonde", code=code)
    assert done.stdout == b"{3}\n", done.stderr
    assert complete(sonde)


# Not one more can be opened from here to the end.
WITHOUT_FILES = """
spin(0.3)
process = os.fork()
if process == 0:
    while not os.path.exists("r.sonde.parts"):  # it has a recording once it has run for a moment
        spin(0.05)
    os._exit(0)
os.waitpid(process, 0)
resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
kept = []
try:
    while True:
        kept.append(os.open(os.devnull, os.O_RDONLY))
except OSError as error:
    print(error.strerror)
threads = [threading.Thread(target=spin, args=(0.3,)) for _ in range(20)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
spin(0.3)
"""
ENDS = {
    "as usual": "",
    "by an exception": "raise SystemExit(0)",
    "at once": "sys.stdout.flush(); os._exit(0)",
}


@needs_tables
@pytest.mark.parametrize("end", ["as usual", *slow("at once", "by an exception")])
@pytest.mark.parametrize("way", [["run"], *slow(["run", "--native", "--memory", "--html"], ["trace"])], ids=" ".join)
def test_a_program_without_files_is_saved_and_reported(sonde, way, end):
    done = run(sonde.folder, SONDE, *way, "-o", "r.sonde", code=WITHOUT_FILES + ENDS[end])
    said = done.stderr.decode()
    assert done.stdout == b"Too many open files\n"
    assert (done.returncode, "Traceback" in said) == (0, False), said
    assert complete(sonde)
    assert infos(sonde)["processes"] == "2"
    assert not (sonde.folder / "r.sonde.parts").exists()
    if end != "at once":
        assert "recording saved in" in said
        assert "spin" in said
    if way[0] == "run" and end != "at once":
        assert "sum(i * i for i in range(200))" in said  # the text of a line, which is in a file
        assert (sonde.folder / "r.html").exists() == ("--html" in way)


def test_the_recording_being_written_can_be_read_by_the_program(sonde):
    code = """
    import sonde
    from sonde import _core
    sonde.install(recording="r.sonde")
    made = os.stat("r.sonde").st_mtime_ns
    while os.stat("r.sonde").st_mtime_ns == made or os.path.exists("r.sonde-journal"):  # until it has been written once
        spin(0.01)
    made = os.stat("r.sonde").st_mtime_ns
    before, profiles = files(), []
    def read():
        for _ in range(30):
            profiles.append(_core.read("r.sonde"))
        while os.stat("r.sonde").st_mtime_ns == made:  # also while it is written
            profiles.append(_core.read("r.sonde"))
    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(len(profiles) >= 90, files() == before)
    sonde.uninstall()
    print(sorted(os.listdir(".")))
    """
    done = run(sonde.folder, PYTHON, code=code)
    assert done.stdout.decode() == "True True\n['prog.py', 'r.sonde']\n", done.stderr
    assert complete(sonde)
    assert "ok" in sonde.command("sql", "r.sonde", "select 'ok' from info limit 1").stdout


# Starts a command as a container may, whose filter knows no close_range.
REFUSES = """
import ctypes, os, struct, sys
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 436), (6, 0, 0, 0x50001), (6, 0, 0, 0x7FFF0000)]
rules = b"".join(struct.pack("HBBI", *step) for step in steps)
kept = ctypes.create_string_buffer(rules)
filter = ctypes.create_string_buffer(struct.pack("HP", 4, ctypes.addressof(kept)))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filter) == 0
assert libc.syscall(436, 3, 3, 0) == -1
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.parametrize("way", [["run", "--native", "--memory"], *slow(["run"])], ids=" ".join)
def test_where_a_table_is_refused_files_are_among_the_programs_and_out_of_its_way(sonde, way):
    ours = run(sonde.folder, PYTHON, "-c", REFUSES, SONDE, *way, "-o", "r.sonde", code=SEES)
    assert (ours.returncode, complete(sonde)) == (0, True), ours.stderr
    assert "spin" in ours.stderr.decode()
    seen = [some for name, some in json.loads(ours.stdout) if name == "while it runs"]
    assert any(number >= 200 and name == "syscall" for some in seen for number, name in some)
