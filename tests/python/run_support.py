"""What the tests of ``sonde run`` share."""

import ctypes
import json
import sqlite3
import sys
import threading
from pathlib import Path

import pytest

SONDE = str(Path(sys.executable).parent / "sonde")
SPIN = """
import sys, time
import sonde
def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
"""


def run(sonde, code, *options, status=0, recording="r.sonde"):
    (sonde.folder / "prog.py").write_text(SPIN + code)
    return sonde.command("run", "-o", recording, *options, "prog.py", status=status)


def functions(sonde, recording="r.sonde"):
    """CPU seconds of the functions themselves."""
    kinds = ("python_ns", "native_ns", "system_ns")
    rows = sonde.export(recording, "functions")["rows"]
    return {row["function"]: sum(row[kind] or 0 for kind in kinds) / 1e9 for row in rows}


def total(sonde, name, recording="r.sonde"):
    return sum(row["total_ns"] for row in sonde.export(recording, "functions")["rows"] if row["function"] == name) / 1e9


def infos(sonde, recording="r.sonde"):
    text = sonde.command("sql", recording, "select key, value from info", "-f", "json").stdout
    return {row["key"]: row["value"] for row in json.loads(text)["rows"]}


def query(path, sql):
    """The rows of a recording, which must be there."""
    with sqlite3.connect(f"file:{path}?mode=rw", uri=True) as recording:
        return recording.execute(sql).fetchall()


def _has_tables() -> bool:
    """Whether the system gives a thread a table of files of its own."""
    answers = []
    libc = ctypes.CDLL(None, use_errno=True)
    thread = threading.Thread(target=lambda: answers.append(libc.syscall(436, 3, ctypes.c_uint(0xFFFFFFFF), 2)))
    thread.start()
    thread.join()
    return answers == [0]


needs_tables = pytest.mark.skipif(not _has_tables(), reason="close_range(CLOSE_RANGE_UNSHARE) is refused here")
