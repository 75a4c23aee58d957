"""Files of strangers: what opening them must not do, and what stands in the way of what sonde writes."""

import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from chance import expect, repeats
from sonde_programs import Sonde
from wait_support import until

import sonde as sonde_package

SONDE = str(Path(sys.executable).parent / "sonde")
MAGIC = bytes.fromhex("d9d505f920a163d7")
NOBODY = 65534
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="another user's files need root to make them")
PROGRAM = "import time\nend = time.process_time() + 0.1\nwhile time.process_time() < end: pass\n"
COMMANDS = {
    "info": ["info", "{}"],
    "view": ["view", "{}"],
    "lines": ["view", "{}", "--lines"],
    "sql": ["sql", "{}", "select a.key from info a, info b order by random()"],
    "export": ["export", "{}", "--format", "json"],
    "speedscope": ["export", "{}", "--format", "speedscope"],
    "report": ["report", "{}", "-o", "-"],
    "diff": ["diff", "{}", "{}"],
    "merge": ["merge", "-o", "/dev/null/none", "{}"],
}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recording")
    (folder / "prog.py").write_text(PROGRAM)
    subprocess.run(
        [SONDE, "run", "--no-report", "-o", "r.sonde", "prog.py"], cwd=folder, check=True, capture_output=True
    )
    return folder / "r.sonde"


def killed(recording, path):
    """A copy whose process was killed within a checkpoint, with its journal."""
    shutil.copy(recording, path)
    code = (
        "import os, sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "for sql in ('pragma synchronous = off', 'pragma cache_size = 1', 'begin',\n"
        "            'update value set value = 99', \"update info set value = 'half'\",\n"
        "            \"update site set name = 'half'\"): db.execute(sql)\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    journal = path.with_name(path.name + "-journal")
    assert journal.stat().st_size > 4096
    assert path.read_bytes() != recording.read_bytes()
    return journal


def add_super_journal(journal, name):
    name = os.fsencode(name)
    tail = struct.pack(">II", len(name), sum(name)) + MAGIC
    journal.write_bytes(journal.read_bytes() + struct.pack(">I", 0x40001) + name + tail)


def listing(*folders):
    """All that can be known of the files, but for when they were last read."""
    found = {}
    for folder in folders:
        for path in [folder, *folder.rglob("*")]:
            about = path.lstat()
            content = path.read_bytes() if path.is_file() and not path.is_symlink() else None
            times = (about.st_mtime_ns, about.st_ctime_ns)
            found[path] = (about.st_ino, about.st_mode, about.st_uid, about.st_size, times, content)
    return found


def hostile_super_journal(recording, folder, precious):
    add_super_journal(killed(recording, folder / "gift.sonde"), precious)


def hostile_super_journal_beside_a_whole_file(recording, folder, precious):
    hostile_super_journal(recording, folder, precious)
    shutil.copy(recording, folder / "gift.sonde")


def own_journal(recording, folder, precious):
    killed(recording, folder / "gift.sonde")


def empty_with_journal(recording, folder, precious):
    own_journal(recording, folder, precious)
    (folder / "gift.sonde").write_bytes(b"")


def write_ahead_log(recording, folder, precious):
    path = folder / "gift.sonde"
    shutil.copy(recording, folder / "other")
    db = sqlite3.connect(folder / "other")
    db.execute("pragma journal_mode = wal")
    db.execute("create table more (x)")
    for end in ("", "-wal", "-shm"):
        shutil.copy(f"{folder}/other{end}", f"{path}{end}")
    db.close()
    (folder / "other").unlink()


def log_beside_a_plain_file(recording, folder, precious):
    write_ahead_log(recording, folder, precious)
    shutil.copy(recording, folder / "gift.sonde")


def journal_that_is_a_link(recording, folder, precious):
    journal = killed(recording, folder / "gift.sonde")
    journal.rename(folder / "elsewhere")
    journal.symlink_to(folder / "elsewhere")
    shutil.copy(recording, folder / "gift.sonde")


def journal_that_is_a_pipe(recording, folder, precious):
    shutil.copy(recording, folder / "gift.sonde")
    os.mkfifo(folder / "gift.sonde-journal")


HOSTILE = {
    hostile_super_journal: "its journal names another file",
    hostile_super_journal_beside_a_whole_file: "its journal names another file",
    own_journal: None,
    empty_with_journal: "the recording is damaged",
    write_ahead_log: "WAL mode",
    log_beside_a_plain_file: None,
    journal_that_is_a_link: None,
    journal_that_is_a_pipe: None,
}


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
def test_no_command_changes_anything_beside_a_recording(sonde, recording, make):
    folder, elsewhere = sonde.folder / "gift", sonde.folder / "mine"
    folder.mkdir()
    elsewhere.mkdir()
    precious = elsewhere / "precious"
    precious.write_text("all my work")  # SQLite takes an empty file for one that does not exist
    make(recording, folder, precious)
    before = listing(sonde.folder)
    expected = HOSTILE[make]
    for name, words in COMMANDS.items():
        done = sonde.command(*(word.format("gift/gift.sonde") for word in words), status=None)
        assert listing(sonde.folder) == before, name
        if expected is not None:
            assert expected in done.stderr and done.stderr.count("\n") == 1, (name, done.stderr)
        elif name != "merge":
            assert done.returncode == 0 and done.stderr == "", (name, done.stderr)
    if expected is None:
        assert sonde.command("info", "gift/gift.sonde").stdout.replace("gift/gift", "r") == sonde.command(
            "info", str(recording)
        ).stdout.replace(str(recording), "r.sonde")
        sonde.command("merge", "-o", "copy.sonde", "gift/gift.sonde")
        del before[sonde.folder]
        after = listing(sonde.folder)
        assert {path: after[path] for path in before} == before
        with sqlite3.connect(sonde.folder / "copy.sonde") as db:
            assert db.execute("select count(*) from site where name = 'half'").fetchone() == (0,)


def test_commands_work_where_nothing_can_be_written(sonde, recording):
    """Not by permission, which root does not need."""
    folder = sonde.folder / "gift"
    folder.mkdir()
    killed(recording, folder / "gift.sonde")
    trace = sonde.folder / "trace"
    kinds = "open,openat,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,truncate,ftruncate,link,symlink"
    kinds += ",linkat,symlinkat,chmod,fchmod,chown,fchown,lchown,fchownat,utimensat,execve,pwrite64,write,mknod,mknodat"
    for name, words in COMMANDS.items():
        command = ["strace", "-f", "-o", str(trace), "-e", f"trace={kinds}", SONDE]
        done = sonde.run([*command, *(word.format("gift/gift.sonde") for word in words)], status=None)
        if "ptrace" in done.stderr or not trace.exists():
            pytest.skip("strace may not trace here")
        calls = [line.split(" ", 1)[1].strip() for line in trace.read_text().splitlines()]
        changing = [
            call
            for call in calls
            if not call.startswith(("open", "write(1,", "write(2,", "execve(", "+++", "---", "<..."))
            or ("O_WRONLY" in call or "O_RDWR" in call or "O_CREAT" in call)
        ]
        if name == "merge":  # which is to write, and cannot: the name is that of no folder
            changing = [call for call in changing if "/dev/null/none" not in call]
        assert changing == [], (name, changing)
        assert sum(call.startswith("execve(") for call in calls) == 1, name


def test_a_recording_is_read_while_it_is_written(sonde):
    """Many times, and never half of a checkpoint."""
    (sonde.folder / "prog.py").write_text(
        "import os\nfrom sonde.regions import region\nn = 0\n"
        "while not os.path.exists('enough'):\n    n += 1\n    with region(f'r{n % 2000}'): pass\n"
    )
    running = subprocess.Popen(
        [SONDE, "run", "--no-report", "-o", "live.sonde", "prog.py"],
        cwd=sonde.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    good, checkpoints = 0, set()
    while good < 20 or len(checkpoints) < 4:
        assert running.poll() is None
        if (sonde.folder / "live.sonde").exists():
            done = sonde.command("info", "live.sonde", status=None)
            good += done.returncode == 0
            assert done.returncode == 0 or "the file is empty" in done.stderr, done.stderr
            checkpoints.add((sonde.folder / "live.sonde").stat().st_mtime_ns)
    (sonde.folder / "enough").touch()
    assert running.wait() == 0
    assert "complete" in sonde.command("info", "live.sonde").stdout


@pytest.mark.quick
def test_a_name_that_looks_like_an_address_of_sqlite_is_a_name(sonde, recording):
    shutil.copy(recording, sonde.folder / "secret.sonde")
    (sonde.folder / "file:secret.sonde?mode=rw").write_text("text\n")
    done = sonde.command("info", "file:secret.sonde?mode=rw", status=2)
    assert "this file is not a sonde recording" in done.stderr
    (sonde.folder / "file:secret.sonde?mode=rw").unlink()
    assert "No such file" in sonde.command("info", "file:secret.sonde?mode=rw", status=2).stderr


# ---- across users, in a folder like /tmp ----


@pytest.fixture
def sonde():
    """Not in pytest's folders: they are for one user, and are made so again whenever another pytest begins."""
    with tempfile.TemporaryDirectory(prefix="sonde-strangers-") as folder:
        Path(folder).chmod(0o755)
        yield Sonde(Path(folder))


@pytest.fixture
def shared(sonde):
    folder = sonde.folder / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def as_nobody(function):
    """Run it as another user, in a child."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            function()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@AS_ROOT
def test_the_journal_of_a_stranger_beside_a_live_recording_is_never_rolled_back(sonde, shared, recording):
    precious = sonde.folder / "precious"
    precious.write_text("all my work")
    journal = killed(recording, sonde.folder / "made.sonde")
    add_super_journal(journal, precious)
    planted = journal.read_bytes()
    (shared / "prog.py").write_text(PROGRAM.replace("0.1", "1.5"))
    running = subprocess.Popen(
        [SONDE, "run", "--no-report", "-o", "live.sonde", "prog.py"],
        cwd=shared,
        stderr=subprocess.PIPE,
        text=True,
    )
    until(lambda: (shared / "live.sonde").exists() and (shared / "live.sonde").stat().st_size > 0)
    theirs = shared / "live.sonde-journal"

    def is_planted():
        try:
            with open(theirs, "xb") as file:
                return file.write(planted)
        except FileExistsError:
            return 0

    def plant():
        until(is_planted)

    as_nobody(plant)
    assert sonde.command("info", "shared/live.sonde", status=None).returncode == 0
    _, said = running.communicate()
    assert "could not save everything" in said
    assert precious.exists() and theirs.read_bytes() == planted and theirs.stat().st_uid == NOBODY
    assert sonde.command("info", "shared/live.sonde").returncode == 0
    assert precious.exists() and theirs.read_bytes() == planted
    again = sonde.command("run", "--no-report", "-o", "shared/live.sonde", "shared/prog.py", status=2)
    assert "another user" in again.stderr and again.stderr.count("\n") == 1


@AS_ROOT
@pytest.mark.parametrize("kind", ["folder", "link"])
def test_a_folder_of_parts_that_a_stranger_made_is_refused(sonde, shared, recording, kind):
    precious = sonde.folder / "precious"
    precious.mkdir()
    gift = sonde.folder / "1-1.sonde"
    add_super_journal(killed(recording, gift), precious / "file")
    (precious / "file").write_text("all my work")
    folder = shared / "run.sonde.parts"

    def plant():
        if kind == "link":
            folder.symlink_to(precious)
            return
        folder.mkdir()
        folder.chmod(0o777)
        for end in ("", "-journal"):
            (folder / f"1-1.sonde{end}").write_bytes(Path(f"{gift}{end}").read_bytes())

    for path in (gift, Path(f"{gift}-journal")):
        path.chmod(0o644)
    as_nobody(plant)
    (sonde.folder / "prog.py").write_text(PROGRAM)
    before = listing(folder, precious)
    done = sonde.command("run", "--no-report", "-o", "shared/run.sonde", "prog.py", status=2)
    assert "run.sonde.parts: not a folder that this user created for parts" in done.stderr
    assert done.stderr.count("\n") == 1
    assert listing(folder, precious) == before
    assert not (shared / "run.sonde").exists()


@AS_ROOT
def test_a_folder_of_parts_that_comes_later_is_not_used(sonde, shared):
    """The program's children are then not measured, and the end says so."""
    (sonde.folder / "prog.py").write_text(
        "import os, subprocess, sys, time\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os.setgid(65534); os.setuid(65534)\n"
        "    os.mkdir('shared/run.sonde.parts'); os.chmod('shared/run.sonde.parts', 0o777)\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
        "subprocess.run([sys.executable, '-c', 'pass'], check=True)\n"
    )
    done = sonde.command("run", "--no-report", "-o", "shared/run.sonde", "prog.py")
    assert "run.sonde.parts: owned by another user; child processes are not in the recording" in done.stderr
    assert list((shared / "run.sonde.parts").iterdir()) == []
    assert "complete" in sonde.command("info", "shared/run.sonde").stdout


def nobody_can_run(python):
    core = repr(str(Path(sonde_package.__file__).parent / "_core"))
    code = "import sys, _imp; open(" + core + " + _imp.extension_suffixes()[0]).close(); print(sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-c", code], user=NOBODY, capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.stdout == f"{sys.version_info[:2]}\n"


# On a very busy machine a forked child may be over before the sampler's thread has had its first turn in it.
@AS_ROOT
@repeats
@pytest.mark.parametrize("way", ["fork", "exec"])
def test_a_child_that_changed_its_user_is_told_of(sonde, shared, way):
    python = next(filter(nobody_can_run, (sys.executable, "/usr/bin/python3")), None)
    if way == "exec" and python is None:
        pytest.skip("another user can run no Python of this version, or not read the package")
    work = "end = time.process_time() + 0.5\nwhile time.process_time() < end: pass\n"
    child = f"import time\n{work}" if way == "exec" else ""
    (shared / "prog.py").write_text(
        "import os, subprocess, sys, time\n"
        + (
            f"subprocess.run([{python!r}, '-c', {child!r}], user={NOBODY}, check=True)\n"
            if way == "exec"
            else f"child = os.fork()\nif child == 0:\n    os.setuid({NOBODY})\n"
            + "".join(f"    {line}\n" for line in work.splitlines())
            + "    os._exit(0)\nos.waitpid(child, 0)\n"
        )
    )
    done = sonde.command("run", "--no-report", "-o", "shared/r.sonde", "shared/prog.py")
    expect(f"runs as user {NOBODY} and cannot write there; it is not profiled" in done.stderr, done.stderr)
    assert sorted(path.name for path in shared.iterdir()) == ["prog.py", "r.sonde"]
    assert sonde.command("info", "shared/r.sonde").returncode == 0


@AS_ROOT
def test_outputs_do_not_follow_the_link_of_a_stranger(sonde, shared, recording):
    precious = sonde.folder / "precious"
    precious.write_text("mine\n")
    old = shutil.copy(recording, sonde.folder / "old.sonde")
    for name, words in {
        "page.html": ["report", str(recording), "-o", "shared/page.html"],
        "r.html": ["report", str(recording)],
        "out.json": ["export", str(recording), "--format", "json", "-o", "shared/out.json"],
        "all.sonde": ["merge", "-o", "shared/all.sonde", str(recording)],
    }.items():
        target = Path(old) if name == "all.sonde" else precious
        as_nobody(lambda name=name, target=target: (shared / name).symlink_to(target))
        before = listing(sonde.folder)
        folder = shared if name == "r.html" else sonde.folder
        done = subprocess.run([SONDE, *words], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "Permission denied" in done.stderr, (name, done.stderr)
        assert listing(sonde.folder) == before
    (sonde.folder / "own.html").symlink_to(precious)  # one's own is followed as ever
    sonde.command("report", str(recording), "-o", "own.html")
    assert "<html" in precious.read_text()


@AS_ROOT
def test_a_trace_does_not_follow_the_link_of_a_stranger(sonde, shared):
    precious = sonde.folder / "precious"
    precious.write_text("mine\n")
    as_nobody(lambda: (shared / "trace.json").symlink_to(precious))
    code = "import sonde.regions as rp\nrp.install(chrome_trace_file='shared/trace.json')\n"
    done = sonde.python(code, status=None)
    assert done.returncode != 0 and "Permission denied" in done.stderr
    assert precious.read_text() == "mine\n"


@AS_ROOT
def test_settings_of_a_stranger_are_not_read(sonde, shared):
    (shared / "prog.py").write_text(PROGRAM)
    as_nobody(lambda: (shared / "pyproject.toml").write_text("[tool.sonde]\noutput = '../elsewhere.sonde'\n"))
    subprocess.run([SONDE, "run", "--no-report", "prog.py"], cwd=shared, check=True, capture_output=True)
    assert not (sonde.folder / "elsewhere.sonde").exists()
    os.chown(shared / "pyproject.toml", os.geteuid(), os.getegid())
    subprocess.run([SONDE, "run", "--no-report", "prog.py"], cwd=shared, check=True, capture_output=True)
    assert (sonde.folder / "elsewhere.sonde").exists()


def test_the_doctor_removes_only_what_it_made(sonde):
    """Its file has a name that everybody can tell before."""
    code = (
        "import os, sys\n"
        "name = f'.sonde-doctor-{os.getpid()}.sonde'\n"
        "open(name, 'w').write('mine')\nprint(name, flush=True)\nos.execv(sys.argv[1], [sys.argv[1], 'doctor'])\n"
    )
    done = sonde.run([sys.executable, "-c", code, SONDE], status=None)
    name = done.stdout.splitlines()[0]
    assert (sonde.folder / name).read_text() == "mine"
    assert "this file is not a sonde recording" in done.stdout


# ---- killed children ----


def children(sonde, text):
    (sonde.folder / "prog.py").write_text(text)
    return sonde.command("run", "--no-report", "-o", "r.sonde", "prog.py")


def left(sonde):
    return sorted(path.name for path in sonde.folder.iterdir() if path.name != "prog.py")


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"SQLite for", b"text"], ids=["empty", "zeros", "cut", "text"])
def test_a_part_without_a_first_checkpoint_is_counted(sonde, content):
    done = children(
        sonde,
        "import os, subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'pass'], check=True)\n"
        "parts = 'r.sonde.parts'\n"
        f"open(f'{{parts}}/4194305-7.sonde', 'wb').write({content!r})\n"
        "open(f'{parts}/4194305-7.sonde-journal', 'wb').write(b'text')\n"
        "open(f'{parts}/4194305-8.sonde-journal', 'wb').write(b'text')\n",
    )
    assert "2 processes" in done.stderr and "1 ended before writing anything" in done.stderr
    assert left(sonde) == ["r.sonde"]


def test_a_part_with_a_journal_is_merged_and_both_go(sonde, recording):
    killed(recording, sonde.folder / "4194305-7.sonde")
    done = children(
        sonde,
        "import os, shutil\nos.mkdir('r.sonde.parts', 0o700)\n"
        "for end in ('', '-journal'): os.rename(f'4194305-7.sonde{end}', f'r.sonde.parts/4194305-7.sonde{end}')\n",
    )
    assert "2 processes" in done.stderr
    assert left(sonde) == ["r.sonde"]
    with sqlite3.connect(sonde.folder / "r.sonde") as db:
        assert db.execute("select count(*) from site where name = 'half'").fetchone() == (0,)


def test_what_stays_is_said(sonde, recording):
    part = sonde.folder / "4194305-7.sonde"
    shutil.copy(recording, part)
    part.write_bytes(part.read_bytes()[:20000])
    done = children(
        sonde,
        "import os\nos.mkdir('r.sonde.parts', 0o700)\n"
        "os.rename('4194305-7.sonde', 'r.sonde.parts/4194305-7.sonde')\n"
        "open('r.sonde.parts/mine.txt', 'w').close()\n",
    )
    line = done.stderr.splitlines()[-1]
    assert "r.sonde.parts is kept: 1 part cannot be read (" in line
    assert "4194305-7.sonde: the recording is damaged), and 1 file is in it that sonde did not write" in line
    assert len(list((sonde.folder / "r.sonde.parts").iterdir())) == 2


def test_children_killed_at_any_moment_leave_nothing_behind(sonde):
    """Each a little later than the one before: while Python starts, while the part is made, and after."""
    done = children(
        sonde,
        "import subprocess, sys, time\n"
        "for n in range(24):\n"
        "    child = subprocess.Popen([sys.executable, '-c', 'while True: pass'])\n"
        "    time.sleep(0.004 * n)\n"
        "    child.kill()\n"
        "    child.wait()\n",
    )
    assert left(sonde) == ["r.sonde"], done.stderr
    assert "is kept" not in done.stderr and "cannot" not in done.stderr
    sonde.command("info", "r.sonde")


def test_empty_parts_do_not_keep_others_from_being_merged_by_hand(sonde, recording):
    shutil.copy(recording, sonde.folder / "one.sonde")
    (sonde.folder / "none.sonde").write_bytes(b"")
    done = sonde.command("merge", "-o", "all.sonde", "one.sonde", "none.sonde")
    assert "sonde: 1 file is empty: killed before the first checkpoint\n" in done.stderr
    assert "1 process merged into all.sonde" in done.stderr
    only = sonde.command("merge", "-o", "all.sonde", "none.sonde", status=2)
    assert "none.sonde: the file is empty" in only.stderr and only.stderr.count("\n") == 1


def test_merging_into_a_killed_recording_takes_its_journal_away(sonde, recording):
    journal = killed(recording, sonde.folder / "r.sonde")
    sonde.command("merge", "-o", "r.sonde", "r.sonde")
    assert not journal.exists()
    assert "half" not in sonde.command("sql", "r.sonde", "select value from info").stdout


def test_parts_of_an_earlier_run_are_not_in_the_next(sonde):
    (sonde.folder / "prog.py").write_text(
        "import os, signal, subprocess, sys\nsubprocess.run([sys.executable, '-c', 'pass'])\n"
        "if len(sys.argv) > 1: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    first = sonde.command("run", "--no-report", "-o", "r.sonde", "prog.py", "killed", status=None)
    assert first.returncode == -signal.SIGKILL
    assert oct((sonde.folder / "r.sonde.parts").stat().st_mode & 0o777) == "0o700"
    assert "2 processes" in sonde.command("run", "--no-report", "-o", "r.sonde", "prog.py").stderr
    assert left(sonde) == ["r.sonde"]


def test_what_is_not_followed_is_in_the_recording_of_a_program_that_leaves_by_exit(sonde):
    done = children(
        sonde, "import os, subprocess, sys\nsubprocess.run([sys.executable, '-I', '-c', 'pass'])\nos._exit(0)\n"
    )
    assert left(sonde) == ["r.sonde"], done.stderr
    facts = sonde.command("sql", "r.sonde", "select value from info where key = 'not_followed'").stdout
    assert "-I -c pass: started with -I" in facts
