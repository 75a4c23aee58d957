"""Without Aesara and PyTensor: one line, and nothing is imported. Most of it holds with them too."""

import importlib.util

import pytest

HAS_ONE = any(importlib.util.find_spec(name) for name in ("aesara", "pytensor"))


def test_neither_library_is_imported_by_sonde(sonde):
    code = """
    import sys, sonde, sonde.graph
    assert not {"aesara", "pytensor"} & set(sys.modules)
    """
    sonde.python(code)


def test_import_sonde_does_not_import_the_adapter(sonde):
    sonde.python(
        "import sys, sonde; assert 'sonde.graph' not in sys.modules and 'sonde.graph.tracking' not in sys.modules"
    )


@pytest.mark.skipif(HAS_ONE, reason="one of them is installed")
def test_neither_installed_is_one_line(sonde):
    code = """
    import sonde.graph
    with sonde.graph.profile():
        pass
    """
    done = sonde.python(code, status=1)
    assert (
        done.stderr.splitlines()[-1] == "RuntimeError: neither Aesara nor PyTensor is installed: pip install pytensor"
    )


def test_a_library_that_is_unknown_inside_is_named_and_left_alone(sonde):
    (sonde.folder / "aesara.py").write_text("")
    (sonde.folder / "prog.py").write_text("import aesara\nprint('done')\n")
    done = sonde.command("run", "-o", "run.sonde", "--graph", "prog.py")
    assert done.stdout == "done\n"
    assert "sonde: cannot measure this version of aesara: No module named 'aesara.configdefaults'" in done.stderr


def test_a_program_without_graphs_runs_as_it_does_without(sonde):
    (sonde.folder / "prog.py").write_text("print('done')\n")
    done = sonde.command("run", "-o", "run.sonde", "--graph", "prog.py")
    assert done.stdout == "done\n" and "no function of Aesara or PyTensor was compiled or called" in done.stderr


def test_a_recording_without_graphs_says_so_in_one_line(sonde):
    sonde.python("import sonde; sonde.record('x.sonde').__enter__()")
    done = sonde.command("view", "x.sonde", "--graph", status=None)
    assert done.returncode != 0 and len(done.stderr.splitlines()) == 1
