"""The volume that a line copies is the known one."""

import pytest
from chance import expect, repeats, some
from memory_support import PROGRAMS, describe, error_of, marked_lines, marks, run

pytestmark = pytest.mark.interpreter

PROGRAM = PROGRAMS / "copies.py"


@pytest.mark.parametrize("case", some(marks(PROGRAM), 2))
@repeats
def test_copies_within_three_per_cent(tmp_path, case):
    if case.startswith("array"):
        pytest.importorskip("numpy")
    done = run(tmp_path, PROGRAM, case)
    found = done.recording.at(*marked_lines(PROGRAM, f"HERE: {case}"))
    truth, error = done.answer["bytes"], error_of(found, "copy_variance")
    said = describe(found["copied"], truth, error)
    print(said)
    assert error <= 0.01 * truth
    expect(abs(found["copied"] - truth) <= 0.03 * truth, said)
