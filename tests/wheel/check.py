"""Tries the sonde that is installed beside this interpreter, as users get it: nothing but the interpreter is there."""

import importlib.metadata
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import sonde

PROGRAM = """
import time
import zlib


def squeeze(data):
    end = time.process_time() + 0.5
    while time.process_time() < end:
        zlib.compress(data, 9)


def keep():
    return bytearray(64 << 20)


kept = keep()
squeeze(bytes(range(256)) * 400)
with open("/proc/self/maps") as maps:
    print(*{line.split()[-1] for line in maps if "/libdw" in line or "/libelf" in line})
"""
SONDE = Path(sys.executable).parent / "sonde"
ENV = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


def run(*words: str) -> str:
    done = subprocess.run([SONDE, *words], env=ENV, capture_output=True, text=True, check=False)
    print(f"sonde {' '.join(words)}\n{done.stdout}{done.stderr}")
    assert done.returncode == 0, words
    return done.stdout + done.stderr


def check() -> None:
    files = importlib.metadata.files("sonde-profiler") or []
    licences = {file.name for file in files if file.parent.name == "licenses"}
    assert licences > {"LICENSE", "preact-LICENSE.txt", "sqlite3.h.txt", "uplot-LICENSE.txt", "zlib.h.txt"}
    assert "\nfeatures  report page, native frames\n" in run("--version")
    assert "page       ok" in run("doctor")
    Path("program.py").write_text(PROGRAM)

    assert "squeeze" in run("run", "-o", "samples.sonde", "program.py")
    said = run("run", "--memory", "--native", "-o", "native.sonde", "program.py")
    assert "squeeze" in said and "(native)" in said and "64.0 MiB" in said
    libraries = {Path(word).parent for word in said.splitlines()[0].split()}
    assert libraries == {Path(sonde.__file__).parents[1] / "sonde_profiler.libs"}
    assert "(squeeze)" in run("trace", "-o", "calls.sonde", "program.py")

    run("report", "-o", "page.html", "native.sonde")
    page = Path("page.html").read_text()
    assert 'id="sonde-code"' in page


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check()
