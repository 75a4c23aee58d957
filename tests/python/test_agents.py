"""``--json-summary``: a script that reads nothing else names the slow line of programs that it has not seen."""

import json
import textwrap

import pytest

# Each has a line that ends in "# slow": it takes most of the time.
PROGRAMS = {
    "a list that is searched": """
        known = []
        for i in range(6000):
            if i not in known:  # slow
                known.append(i)
        """,
    "text that grows": """
        import re
        def clean(words):
            return [re.sub(r"(a|b)*c", "", word) for word in words]  # slow
        for _ in range(60):
            clean(["abab" * 20] * 100)
        print("output of the program", end="")
        """,
    "a loop in the loop": """
        def pairs(points):
            best = 0
            for a in points:
                best = max(best, max(abs(a - b) for b in points))  # slow
            return best
        pairs(list(range(2500)))
        """,
    "sorting again and again": """
        import random
        queue = []
        for i in range(1500):
            queue.append(random.random())
            queue = sorted(queue, key=lambda x: str(x))  # slow
        """,
    "a copy of everything": """
        import copy
        state = {i: [i] * 10 for i in range(500)}
        def step():
            return copy.deepcopy(state)  # slow
        for _ in range(60):
            step()
        """,
    "parsing in a loop": """
        import json
        text = json.dumps(list(range(20000)))
        total = 0
        for _ in range(400):
            total += len(json.loads(text))  # slow
        """,
    "sleeping": """
        import time
        def fetch():
            time.sleep(0.3)  # slow
        for _ in range(4):
            fetch()
        """,
    "waiting for a process": """
        import subprocess, sys
        subprocess.run([sys.executable, "-S", "-c", "import time; time.sleep(0.9)"])  # slow
        """,
    "a method of a class": """
        class Matrix:
            def __init__(self, n):
                self.rows = [[1.0] * n for _ in range(n)]
            def trace(self):
                return sum(sum(row) for row in self.rows)  # slow
        matrix = Matrix(300)
        for _ in range(300):
            matrix.trace()
        """,
    "hashing in a thread": """
        import hashlib, threading
        def work():
            for _ in range(40):
                hashlib.sha256(b"x" * 8_000_000).digest()  # slow
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """,
    "computing while others wait for a lock": """
        import threading
        lock = threading.Lock()
        def work():
            with lock:
                total = 0
                for i in range(800_000): total += i * i % 7  # slow
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """,
}


def name_slow_line(text):
    """The script, as docs/agents.md has it."""
    first = json.loads(text)["verdicts"][0]
    return first["line"], first["source"]


# Where other programs take the processors, all that this one does is wait.
CROWDED = {"computing while others wait for a lock": [pytest.mark.quiet]}


@pytest.mark.parametrize("name", [pytest.param(name, marks=CROWDED.get(name, [])) for name in PROGRAMS])
def test_a_script_names_the_slow_line(sonde, name):
    text = textwrap.dedent(PROGRAMS[name]).lstrip()
    (sonde.folder / "prog.py").write_text(text)
    done = sonde.command("run", "--json-summary", "-o", "r.sonde", "prog.py")
    line, source = name_slow_line(done.stdout.splitlines()[-1])
    lines = text.splitlines()
    assert (line, source) == next((i + 1, one.strip()) for i, one in enumerate(lines) if "# slow" in one)


def test_the_line_is_the_last_one_and_the_summary_is_not_printed(sonde):
    (sonde.folder / "prog.py").write_text("print('no line end', end='')\n")
    done = sonde.command("run", "--json-summary", "-o", "r.sonde", "prog.py", "a b")
    assert done.stdout.startswith("no line end\n{")
    assert done.stdout.count("\n") == 2
    assert done.stderr == f"sonde: recording saved in {sonde.folder / 'r.sonde'}\n"
    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary["version"] == 1
    assert summary["program"] == ["prog.py", "a b"]
    assert summary["recording"] == str(sonde.folder / "r.sonde")
    assert summary["memory"] is None


def test_a_program_that_closes_its_output_keeps_its_exit_status(sonde):
    (sonde.folder / "prog.py").write_text("import sys, os\nsys.stdout.close()\nos.close(1)\nsys.exit(3)\n")
    done = sonde.command("run", "--json-summary", "-o", "r.sonde", "prog.py", status=3)
    assert "Traceback" not in done.stderr


def test_memory_and_leaks_are_in_it(sonde):
    code = """
        kept = []
        def keep():
            kept.append(bytearray(1 << 20))
        for _ in range(60):
            keep()
        """
    (sonde.folder / "prog.py").write_text(textwrap.dedent(code))
    done = sonde.command("run", "--json-summary", "--memory", "-o", "r.sonde", "prog.py")
    memory = json.loads(done.stdout)["memory"]
    assert memory["peak_bytes"] > 50 << 20
    assert memory["lines"][0]["source"] == "kept.append(bytearray(1 << 20))"
    assert memory["lines"][0]["peak_percent"] > 80
    kinds = [verdict["kind"] for verdict in json.loads(done.stdout)["verdicts"]]
    assert "memory" in kinds


def test_what_to_run_next_can_be_run(sonde):
    (sonde.folder / "prog.py").write_text("sum(i * i for i in range(2_000_000))\n")
    done = sonde.command("run", "--json-summary", "-o", "r.sonde", "prog.py")
    commands = {one["why"]: one["command"] for one in json.loads(done.stdout)["next"]}
    assert commands["see who calls the slow lines"] == ["sonde", "view", str(sonde.folder / "r.sonde"), "--tree"]
    assert commands["also profile memory"] == ["sonde", "run", "--memory", "prog.py"]
    for command in commands.values():
        sonde.command(*command[1:])


def test_native_time_leads_to_native_functions(sonde):
    (sonde.folder / "prog.py").write_text("for _ in range(300):\n    sorted(range(100_000), reverse=True)\n")
    done = sonde.command("run", "--json-summary", "-o", "r.sonde", "prog.py")
    reasons = {one["why"] for one in json.loads(done.stdout)["next"]}
    assert "see native functions below the lines" in reasons


def test_a_recording_gives_the_same(sonde):
    (sonde.folder / "prog.py").write_text("sum(i * i for i in range(2_000_000))\n")
    at_exit = json.loads(sonde.command("run", "--json-summary", "-o", "r.sonde", "prog.py").stdout)
    later = json.loads(sonde.command("view", "r.sonde", "--json-summary").stdout)
    assert later["lines"] == at_exit["lines"]
    assert later["verdicts"] == at_exit["verdicts"]


def test_a_recording_without_samples_says_what_to_record(sonde):
    sonde.python("import sonde\nsonde.install(recording='r.sonde')\nwith sonde.region('x'):\n    pass\n")
    done = sonde.command("view", "r.sonde", "--json-summary", status=2)
    assert done.stderr.startswith("sonde: r.sonde: ")
