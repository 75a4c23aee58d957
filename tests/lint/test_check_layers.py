"""The layer check finds what it is there to find, and nothing else."""

from pathlib import Path

import pytest

from check_layers import check


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        ("src/base/map.c", '#include "store/reader.h"\n', "map.c:1: src/base must not include store"),
        ("src/collect/api.c", '\n#  include "cli/options.h"\n', "api.c:2: src/collect must not include cli"),
        ("src/python/module.c", '#include "cli/common.h"\n', "must not include cli/common.h"),
        ("src/cli/main.c", '#include "python/state.h"\n', "must not include python/state.h"),
        ("src/view/tree.c", '#include "tree.h"\n', '"tree.h" is not of the form'),
        ("src/view/tree.c", "#include <sqlite3.h>\n", "only src/store includes sqlite3.h"),
        ("src/probe/site.c", "#include <Python.h>\n", "only src/python includes Python.h"),
        ("src/os/clock.c", "#ifdef Py_GIL_DISABLED\n", "only src/python names Py_GIL_DISABLED"),
        ("src/python/func.c", "#if PY_VERSION_HEX > 0\n", "name PY_VERSION_HEX"),
        ("src/python/func.c", "int a; /* b\n*/ _PyFrame_Get();\n", "src/python/func.c:2: only compat.h"),
        ("src/extra/new.c", "", "src/extra/new.c:1: is in no layer"),
        ("src/main.c", "", "src/main.c:1: is in no layer"),
        ("src/base/map.c", "\n" * 1001, "src/base/map.c:1001: more than 1000 lines"),
    ],
)
def test_a_broken_rule_is_reported_with_its_place(tmp_path: Path, path: str, text: str, fault: str) -> None:
    write(tmp_path, path, text)
    faults = check(tmp_path)
    assert len(faults) == 1
    assert fault in faults[0]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/store/reader.c", '#include <sqlite3.h>\n#include "model/profile.h"\n#include "store/a.h"\n'),
        ("src/collect/api.c", '#include "sonde.h"\n#include <stdio.h>\n'),
        ("src/cli/main.c", '#include "cli/python.h"\n#include "collect/session.h"\n'),
        ("src/python/compat.h", "#include <Python.h>\n#if PY_VERSION_HEX > 0\n_PyFrame_Get();\n#endif\n"),
        ("src/python/suspend_slots.c", "extern PyTypeObject _PyAsyncGenASend_Type;\n"),
        ("src/python/func.c", '/* unlike _PyFrame_Get */ char *url = "http://a"; // PY_VERSION_HEX\n'),
        ("src/base/map.c", "\n" * 1000),
    ],
)
def test_what_the_rules_allow_passes(tmp_path: Path, path: str, text: str) -> None:
    write(tmp_path, path, text)
    assert check(tmp_path) == []


def write(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True)
    file.write_text(text)
