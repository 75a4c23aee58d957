"""A skip that the list does not allow fails, also under xdist, and what is skipped is printed."""

from pathlib import Path

import pytest
import sonde_skips

pytest_plugins = ["pytester"]

TESTS = """
import pytest

@pytest.mark.skipif(True, reason="no such machine")
def test_marked(): pass

def test_inside():
    pytest.skip("no such machine")

@pytest.mark.xfail(reason="broken")
def test_broken():
    assert False

def test_imports():
    pytest.importorskip("no_such_module")

def test_passes(): pass
"""
FILE = "import pytest\npytest.skip('not this file', allow_module_level=True)\n"
ALL = """
# every one of them
test_it.py::* | always | no such *
test_it.py::test_imports | before 99.0 | could not import 'no_such_module'*
test_it.py::test_broken | with pytest | expected to fail: broken
test_file.py | from 3.11 | not this file
"""


@pytest.fixture(params=[[], ["-n", "2"]], ids=["one process", "xdist"])
def run(request, pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(sonde_skips.__file__).parent))

    def run(rules):
        path = pytester.makefile(".txt", skips=rules)
        pytester.makepyfile(test_it=TESTS, test_file=FILE)
        plugins = ["-p", "no:randomly", "-p", "no:anyio", "-p", "no:cacheprovider", "-p", "sonde_skips"]
        options = ["--continue-on-collection-errors", "--skips", str(path)]
        return pytester.runpytest_subprocess(*plugins, *options, *request.param)

    return run


def test_what_the_list_allows_is_printed_by_reason(run):
    done = run(ALL)
    assert done.ret == 0
    assert done.parseoutcomes()["passed"] == done.parseoutcomes()["xfailed"] == 1
    done.stdout.fnmatch_lines(
        [
            "*= skipped =*",
            "not this file: test_file.py",
            "expected to fail: broken: test_it.py::test_broken",
            "could not import 'no_such_module'*: test_it.py::test_imports",
            "no such machine: test_it.py::test_inside and 1 more",
        ]
    )


def test_what_the_list_does_not_allow_fails(run):
    done = run("test_it.py::test_marked | always | no such machine\n")
    done.assert_outcomes(passed=1, skipped=1, failed=3, errors=1)
    for test, reason in {"test_file.py": "not this file", "test_it.py::test_inside": "no such machine"}.items():
        done.stdout.fnmatch_lines([f"*{test}: {reason}", "*skips.txt does not allow this here*"])


@pytest.mark.quick
@pytest.mark.parametrize(
    ("rule", "is_allowed"),
    [
        ("test_it.py::* | always | no such *", True),
        ("test_it.py::* | always | another reason", False),
        ("test_other.py::* | always | no such machine", False),
        ("test_it.py::* | before 3.11 | no such machine", False),
        ("test_it.py::* | before 99.0 | no such machine", True),
        ("test_it.py::* | from 99.0 | no such machine", False),
        ("test_it.py::* | from 3.11 | no such machine", True),
        ("test_it.py::* | with no_such_module | no such machine", False),
        ("test_it.py::* | with pytest | no such machine", True),
    ],
)
def test_the_test_the_condition_and_the_reason_must_fit(tmp_path, rule, is_allowed):
    (tmp_path / "skips.txt").write_text(f"# a comment\n\n{rule}\n")
    (rule,) = sonde_skips.read_rules(tmp_path / "skips.txt")
    assert rule.allows("test_it.py::test_inside", "no such machine") == is_allowed


@pytest.mark.parametrize("line", ["test_it.py::*", "test_it.py::* | sometimes | x"])
def test_a_line_that_makes_no_sense_is_refused(tmp_path, line):
    (tmp_path / "skips.txt").write_text(f"{line}\n")
    with pytest.raises((TypeError, KeyError)):
        sonde_skips.read_rules(tmp_path / "skips.txt")
