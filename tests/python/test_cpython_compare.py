"""``make test-cpython`` compares as it says; the comparison itself takes too long for these tests."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "cpython" / "compare.py"


@pytest.fixture
def compare():
    spec = importlib.util.spec_from_file_location("cpython_compare", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclass looks there
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_what_differs_is_named_by_test_and_else_by_module(compare):
    plain = {"test.test_x.T.a": "ok", "test.test_x.T.b": "skipped", "test_x": "status 0"}
    assert compare.differing(plain, dict(plain)) == []
    failed = {**plain, "test.test_x.T.a": "failure", "test_x": "status 2"}
    assert compare.differing(plain, failed) == ["test.test_x.T.a"]
    assert compare.differing(plain, {**plain, "test_x": "status -11"}) == ["test_x"]
    crashed = {"test_x": "status -11"}
    assert compare.differing(plain, crashed) == ["test.test_x.T.a", "test.test_x.T.b"]


def test_outcomes_are_read_from_what_tests_print_too(compare, tmp_path):
    file = tmp_path / "result.xml"
    assert compare.read_outcomes(file) == {}
    file.write_text(
        '<testsuites><testsuite><testcase name="a"/><testcase name="b"><failure>\x00\x1b</failure></testcase>'
        '<testcase name="c"><skipped>x</skipped></testcase><testcase/></testsuite></testsuites>'
    )
    assert compare.read_outcomes(file) == {"a": "ok", "b": "failure", "c": "skipped"}


def test_a_difference_without_a_reason_fails(compare, capsys):
    known = compare.Known("test.test_x.*", ("run",), (compare.VERSION,), "so it is")
    report = compare.Report([known])
    report.add("test_x", 1, {"run": {"test.test_x.T.a": "ok -> failure"}})
    assert report.finish(is_whole=True) == 0
    report.add("test_x", 1, {"trace": {"test.test_x.T.a": "ok -> failure"}})
    assert report.finish(is_whole=True) == 1
    assert f"differs: test.test_x.T.a trace {compare.VERSION}: ok -> failure" in capsys.readouterr().out
    assert compare.Report([known]).finish(is_whole=True) == 0
    assert "listed, and the same this time: test.test_x.*" in capsys.readouterr().out


def test_the_lists_are_in_order(compare):
    modules = compare.read_lines("modules.txt")
    assert modules == sorted(set(modules))
    assert len(modules) >= 60
    for known in compare.read_known():
        assert set(known.settings) <= set(compare.SETTINGS)
        assert all(version.startswith("3.") for version in known.versions)
        assert known.test.split(".")[1] in modules
        assert known.reason


def test_an_interpreter_without_the_package_is_skipped_by_name():
    code = f"import runpy, sys; sys.modules['test'] = None; runpy.run_path({str(SCRIPT)!r}, {{}}, '__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"skipped: {sys.executable} has no package test\n")
