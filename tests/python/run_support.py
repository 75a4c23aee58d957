"""What the tests of ``sonde run`` share."""

import json
import sqlite3
import sys
from pathlib import Path

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
