"""A free-threaded Python gets its GIL with sonde, and says so. Debian has none, so that another one claims to be it."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.interpreter

STAND_IN = "import sys\nsys.abiflags += 't'\n"
NOTE = "free-threaded Python: importing sonde turned the GIL on"


def test_the_gil_is_on_after_the_import(sonde):
    # Nothing to turn on in the builds that the tests have; the same program says True in a free-threaded one.
    done = sonde.python("import sys, sonde\nprint(getattr(sys, '_is_gil_enabled', lambda: True)())")
    assert done.stdout == "True\n"


def test_the_doctor_says_that_the_gil_is_turned_on(sonde):
    (sonde.folder / "sitecustomize.py").write_text(STAND_IN)
    lines = sonde.command("doctor", status=None, env={"PYTHONPATH": str(sonde.folder)}).stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("Python ")]
    assert line.endswith("; free-threaded: importing sonde turns the GIL on)")


@pytest.mark.parametrize("probe", ["region", "sample", "call", "memory"])
def test_the_footer_says_that_the_gil_was_turned_on(sonde, probe):
    sonde.python(
        f"{STAND_IN}import sonde\nwith sonde.record('free.sonde', [{probe!r}]), sonde.region('work'):\n    abs(1)"
    )
    assert NOTE in sonde.command("view", "free.sonde").stdout.splitlines()


def test_an_interpreter_without_that_flag_gets_no_such_note(sonde):
    sonde.python("import sonde\nsonde.install(recording='plain.sonde', reporter=sonde.SilentReporter())")
    assert "free-threaded" not in sonde.command("view", "plain.sonde").stdout + sonde.command("doctor").stdout


def test_a_gil_that_must_stay_off_is_refused_with_one_sentence(sonde):
    done = sonde.python(
        """
        import sys
        sys._is_gil_enabled = lambda: False
        try:
            import sonde
        except ImportError as error:
            print(error)
        """
    )
    assert done.stdout == "sonde needs the GIL: do not set PYTHON_GIL=0 or -X gil=0\n"


@pytest.mark.parametrize("page", ["README.md", "docs/cpython.md"])
def test_the_docs_say_so(page):
    root = Path(__file__).parents[2]
    assert "importing sonde turns the GIL on" in (root / page).read_text()
