"""The layer check finds what it is there to find, and nothing else."""

from pathlib import Path

import pytest

from check_layers import MAY_INCLUDE, check


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        ("src/base/map.c", '#include "store/reader.h"\n', "map.c:1: src/base must not include store"),
        ("src/collect/api.c", '\n#  include "cli/options.h"\n', "api.c:2: src/collect must not include cli"),
        ("src/python/module/module.c", '#include "cli/common.h"\n', "must not include cli/common.h"),
        ("src/cli/main.c", '#include "python/module/state.h"\n', "must not include python/module/state.h"),
        ("src/view/sampled/tree.c", '#include "tree.h"\n', '"tree.h" is not of the form'),
        ("src/view/sampled/tree.c", "#include <sqlite3.h>\n", "only src/store includes sqlite3.h"),
        ("src/probe/core/site.c", "#include <Python.h>\n", "only src/python includes Python.h"),
        ("src/os/clock.c", "#ifdef Py_GIL_DISABLED\n", "only src/python names Py_GIL_DISABLED"),
        ("src/python/regions/func.c", "#if PY_VERSION_HEX > 0\n", "only src/python/compat names PY_VERSION_HEX"),
        (
            "src/python/regions/func.c",
            "int a; /* b\n*/ _PyFrame_Get();\n",
            "src/python/regions/func.c:2: only src/python/compat",
        ),
        ("src/python/compat/a.c", "\n#ifdef HAVE_GETTID\n", "a.c:2: HAVE_GETTID of pyconfig.h must decide"),
        ("src/extra/new.c", "", "src/extra/new.c:1: is in no room"),
        ("src/main.c", "", "src/main.c:1: is in no room"),
        ("src/base/map.c", "\n" * 1001, "src/base/map.c:1001: more than 1000 lines"),
        ("src/view/calls/a.c", '#include "store/reader.h"\n', "src/view/calls must not include store/reader.h"),
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
        ("src/cli/main.c", '#include "cli/python.h"\n#include "store/reader.h"\n'),
        ("src/python/compat/compat.h", "#include <Python.h>\n#if PY_VERSION_HEX > 0\n_PyFrame_Get();\n#endif\n"),
        ("src/python/compat/suspend_slots.c", "extern PyTypeObject _PyAsyncGenASend_Type;\n"),
        ("src/python/regions/func.c", '/* unlike _PyFrame_Get */ char *url = "http://a"; // PY_VERSION_HEX\n'),
        ("src/python/regions/func.c", "int flags = Py_TPFLAGS_HAVE_GC;\n"),
        ("src/base/map.c", "\n" * 1000),
    ],
)
def test_what_the_rules_allow_passes(tmp_path: Path, path: str, text: str) -> None:
    write(tmp_path, path, text)
    assert check(tmp_path) == []


def test_rooms_are_small_and_no_two_files_have_one_name(tmp_path: Path) -> None:
    for i in range(25):
        write(tmp_path, f"src/base/{i}.c", "")
    write(tmp_path, "src/os/1.c", "")
    assert check(tmp_path) == ["src/base:26: more than 25 files", "src: 2 files are called 1.c"]


def test_one_file_of_a_room_says_what_it_is_for(tmp_path: Path) -> None:
    write(tmp_path, "src/base/map.c", "")
    (tmp_path / "src" / "base" / "room.h").write_text("")
    assert check(tmp_path) == ["src/base: 0 files say what the room is for"]


def write(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    if file.parent.relative_to(root / "src").as_posix() in MAY_INCLUDE:
        (file.parent / "room.h").write_text("/* Room: what it is for. */\n")
