"""``sonde run``: however the program ends, and whatever it does to its files, the recording has what was seen."""

import signal
import subprocess
import sys

import pytest
from chance import expect, repeats
from run_support import SONDE, SPIN, functions, infos, run
from wait_support import sum_so_far, until

CPU = ("python_ns", "native_ns", "system_ns")

pytestmark = pytest.mark.interpreter


@pytest.mark.parametrize("how", ["return", "exit", "raise", "_exit", "term", "int"])
def test_the_recording_is_complete_however_it_ends(work, how):
    plain = work.run([sys.executable, "prog.py", how], status=None)
    done = work.command("run", "-o", "r.sonde", "--no-report", "prog.py", how, status=None)
    assert done.returncode == plain.returncode
    assert functions(work)["spin"] == pytest.approx(0.2, rel=0.3)
    assert infos(work)["complete"] == "1"


@pytest.mark.parametrize("how", ["exit", "raise", "int"])
def test_the_summary_comes_also_after_a_failure(work, how):
    done = work.command("run", "-o", "r.sonde", "prog.py", how, status=None)
    assert "samples at 1000 Hz" in done.stderr
    if how != "exit":
        assert done.stderr.index("Traceback") < done.stderr.index("samples at")


def test_a_killed_program_leaves_all_but_its_last_second(work):
    program = subprocess.Popen(
        [SONDE, "run", "-o", "r.sonde", "prog.py", "wait"],
        cwd=work.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == b"ready\n"
    until(lambda: sum_so_far(work, "functions", *CPU, function="spin") > 1.5e8)
    program.send_signal(signal.SIGKILL)
    program.wait()
    program.stdout.close()
    assert functions(work)["spin"] == pytest.approx(0.2, rel=0.3)
    assert infos(work)["complete"] == "0"


def test_files_and_folders_that_go_away(sonde):
    done = run(sonde, "import os, shutil\nos.closerange(3, 65536)\nspin(0.1)\nprint('ran')\n", "--no-report")
    assert done.stdout == "ran\n"
    assert functions(sonde)["spin"] == pytest.approx(0.1, rel=0.4)
    out = sonde.folder.parent / f"{sonde.folder.name}-out.sonde"
    (sonde.folder / "gone").mkdir()
    (sonde.folder / "gone" / "prog.py").write_text(SPIN + "import os, shutil\nshutil.rmtree(os.getcwd())\nspin(0.1)\n")
    command = [SONDE, "run", "-o", str(out), "prog.py"]
    done = subprocess.run(command, cwd=sonde.folder / "gone", capture_output=True, text=True, check=True)
    assert "spin" in done.stderr
    assert functions(sonde, str(out))["spin"] == pytest.approx(0.1, rel=0.4)
    (sonde.folder / "gone").mkdir()
    (sonde.folder / "gone" / "prog.py").write_text(SPIN + "import os, shutil\nshutil.rmtree(os.getcwd())\nspin(0.1)\n")
    done = subprocess.run(
        [SONDE, "run", "prog.py"], cwd=sonde.folder / "gone", capture_output=True, text=True, check=True
    )
    assert "could not save everything: No such file or directory" in done.stderr
    assert "spin" in done.stderr


def test_a_full_disk(sonde):
    """The program runs to its end, what was measured is shown, and one line says what is missing."""
    code = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (40960, 40960))
exec("".join(f"def f{i}(n=0):\\n    return f{i - 1}(n) if {i} else spin(0.002)\\n" for i in range(60)))
for i in range(60):
    globals()[f"f{i}"]()
time.sleep(1.2)  # sleeps: for a checkpoint that fails, of which nothing can be seen yet
print("ran")
"""
    done = run(sonde, code)
    assert done.stdout == "ran\n"
    assert "could not save everything: " in done.stderr
    assert "spin" in done.stderr
    assert "Traceback" not in done.stderr


@repeats
def test_forked_children_report_nothing_themselves_and_are_in_the_recording(sonde):
    code = """
import os, warnings
warnings.simplefilter("ignore")
pid = os.fork()
if not pid:
    def child(): spin(0.1)
    child()
    sys.exit(0)
os.waitpid(pid, 0)
spin(0.1)
"""
    done = run(sonde, code)
    assert done.stderr.count("samples at 1000 Hz") == 1
    assert done.stderr.count("r.sonde") == 1
    expect(functions(sonde)["spin"] == pytest.approx(0.2, rel=0.4), "CPU time of both")
