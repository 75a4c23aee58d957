"""The time of importing a module is one row, which can be left out."""

import csv
import io
import sqlite3
import subprocess
from contextlib import closing

import pytest
from sampler_support import BIN, PROGRAMS

pytestmark = pytest.mark.interpreter


def sonde(*words):
    return subprocess.run([str(BIN / "sonde"), *map(str, words)], capture_output=True, text=True, check=True).stdout


def record(folder, *options):
    (folder / "modules").mkdir()
    path = folder / "run.sonde"
    sonde("run", "--no-report", *options, "-o", path, PROGRAMS / "imports.py", folder / "modules")
    return path


def rows_of(path, view):
    return list(csv.DictReader(io.StringIO(sonde("export", path, "--view", view, "--format", "csv"))))


@pytest.mark.parametrize("options", [[], ["--no-signals"], ["--native"]], ids=["signals", "outside", "native"])
def test_an_import_is_one_row_with_its_total(tmp_path, options):
    path = record(tmp_path, *options)
    functions = {row["function"]: int(row["total_cpu_ns"] or 0) for row in rows_of(path, "functions")}
    assert functions["import slow_package"] >= functions["import .inner"] >= 0.05e9
    assert functions["import (by name)"] >= 0.05e9
    assert not any(
        "importlib" in row["file"] for row in rows_of(path, "functions") if "_find_and_load" in row["function"]
    )
    assert any(row["name"].startswith("import slow_package") for row in rows_of(path, "tree"))


def test_imports_can_be_left_out(tmp_path):
    path = record(tmp_path, "--no-imports")
    with closing(sqlite3.connect(path)) as opened:
        infos = dict(opened.execute("select key, value from info"))
        whole = opened.execute("select sum(python_ns + native_ns + system_ns) from sample").fetchone()[0]
    assert int(infos["imports_left_out_ns"]) >= 0.25e9
    assert abs(whole - int(infos["cpu_ns"])) <= 0.1 * whole
    functions = {row["function"] for row in rows_of(path, "functions")}
    assert "work" in functions
    assert not any(name.startswith("import ") for name in functions)
    assert "imports left out: " in sonde("view", path, "--lines")
