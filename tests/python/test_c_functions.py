"""Time in C functions has the name by which the program's code calls them."""

import csv
import io
import json
import re
import sqlite3
import subprocess
import textwrap
from contextlib import closing

import pytest
from sampler_support import BIN, PROGRAMS

pytestmark = pytest.mark.interpreter

PROGRAM = PROGRAMS / "c_functions.py"
NAMES = {
    "by_module": "hashlib.md5",
    "by_method": "data.count",
    "by_global": "count",
    "by_local": "squeeze",
    "by_attribute": "held.data.count",
    "by_names": "zlib.compress",
    "by_unpacking": "zlib.crc32",
    "by_constant": "str.join",
    "by_item": ".count",
    "by_operator": "operator.add",
    "by_item_of": "operator.getitem",
    "by_comparison": "operator.eq",
}


def sonde(*words):
    return subprocess.run([str(BIN / "sonde"), *map(str, words)], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module", params=["", "--native", "--no-signals"])
def recording(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("c") / "c.sonde"
    sonde("run", "--no-report", "--rate", "2000", *filter(None, [request.param]), "-o", path, PROGRAM)
    return request.param, path


def table(path, view, *words):
    return list(csv.DictReader(io.StringIO(sonde("export", path, "--view", view, "--format", "csv", *words))))


def named(path):
    with closing(sqlite3.connect(path)) as opened:
        rows = opened.execute("select name, detail from site where kind = 'line' and detail != ''").fetchall()
    return {name: {detail for other, detail in rows if other == name} for name, _ in rows}


def test_each_way_to_name_a_function_is_understood(recording):
    how, path = recording
    found = named(path)
    for function, name in NAMES.items():
        if how == "--native" or (how == "--no-signals" and name.startswith("operator.")):  # which count as Python there
            continue
        assert name in found.get(function, ()), (function, found)
    assert found.get("in_python", set()) <= {"range"}


def test_native_time_has_a_name(recording):
    """From the native symbol where native frames are recorded, from the code else."""
    _, path = recording
    query = """select sum(native_ns), sum(case when site.kind = 'line' and site.detail = '' then native_ns else 0 end)
               from sample join node on node.id = sample.node join site on site.id = node.site"""
    with closing(sqlite3.connect(path)) as opened:
        native, without = opened.execute(query).fetchone()
    assert without < 0.2 * native


def test_no_total_changes(recording):
    _, path = recording
    with closing(sqlite3.connect(path)) as opened:
        whole = opened.execute("select sum(python_ns + native_ns + system_ns) from sample").fetchone()[0]
    assert sum(int(row["self_cpu_ns"]) for row in table(path, "functions")) == whole
    assert sum(int(row["cpu_ns"]) for row in table(path, "lines")) == whole
    tree = table(path, "tree")
    assert sum(int(row["cpu_ns"]) for row in tree if row["parent_id"] == "") == whole


def test_every_view_and_export_shows_the_names(recording):
    how, path = recording
    if how == "--native":
        return
    assert "[in hashlib.md5()]" in sonde("view", path, "--tree")
    functions = {row["function"]: row["c_functions"] for row in table(path, "functions")}
    assert functions["by_names"].startswith("zlib.compress() ")
    lines = {row["function"]: row["c_functions"] for row in table(path, "lines") if row["c_functions"]}
    assert lines["by_method"].startswith("data.count() ")
    stacks = sonde("export", path, "--format", "collapsed")
    assert re.search(r"(?m);by_module \(c_functions.py:\d+\);\[in hashlib.md5\(\)\] \d+$", stacks)
    speedscope = json.loads(sonde("export", path, "--format", "speedscope"))
    assert "[in zlib.compress()]" in {frame["name"] for frame in speedscope["shared"]["frames"]}


# As Cython's C files have it with emit_linenums.
PYX = """
double spin(long n)
{
    double t = 1;
#line 3 "%s"
    for (long i = 0; i < n; i++)
#line 4 "%s"
        t = t * 0.999 + 1 / (t + i);
    return t;
}
"""


@pytest.fixture(scope="module")
def pyx(tmp_path_factory):
    """A recording of a program with the compiled code of a .pyx file next to it."""
    folder = tmp_path_factory.mktemp("pyx")
    path = folder / "fast.pyx"
    path.write_text(
        "def spin(long n):\n    cdef double t = 1\n    for i in range(n):\n        t = t * 0.999 + 1 / (t + i)\n"
    )
    (folder / "fast.c").write_text(PYX % (path, path))
    subprocess.run(["cc", "-O1", "-g", "-shared", "-fPIC", "-o", folder / "fast.so", folder / "fast.c"], check=True)
    program = """
        import ctypes, pathlib
        spin = ctypes.CDLL(pathlib.Path(__file__).with_name("fast.so")).spin
        for _ in range(10):
            spin(4_000_000)
        """
    (folder / "prog.py").write_text(textwrap.dedent(program))
    sonde("run", "--no-report", "--native", "-o", folder / "pyx.sonde", folder / "prog.py")
    return folder / "pyx.sonde"


def test_lines_of_a_pyx_file_are_the_programs_own(pyx):
    first = max(table(pyx, "lines"), key=lambda row: int(row["cpu_ns"] or 0))
    assert first["file"].endswith("/fast.pyx")
    assert first["line"] == "4"
    assert first["source"].strip() == "t = t * 0.999 + 1 / (t + i)"
    summary = json.loads(sonde("view", pyx, "--json-summary"))
    assert (summary["verdicts"][0]["line"], summary["verdicts"][0]["file"]) == (4, first["file"])


def test_a_function_of_a_pyx_file_is_not_folded(pyx):
    shown = sonde("view", pyx, "--tree")
    assert re.search(r"spin \(native\) +(\S*/)?fast\.pyx", shown), shown
    functions = {row["function"]: row for row in table(pyx, "functions")}
    assert functions["spin"]["code"] == "own"
