"""The bytes of a line are those that its program asked for there."""

import pytest
from chance import Z, expect, repeats, some
from memory_support import ALLOCATED, PROGRAMS, describe, error_of, marked_lines, marks, run
from sonde_programs import slow

pytestmark = pytest.mark.interpreter

PROGRAM = PROGRAMS / "lines.py"
CASES = some(marks(PROGRAM), 3)
SAMPLED, EXACT = 256_000_000, 40_000_000

#: What a line does besides, and so rarely or in such small pieces that the answer leaves it out.
BESIDES = 0.002


def measure(tmp_path, request, case, exact=False):
    if case.startswith("numpy"):
        pytest.importorskip("numpy")
    native = request.getfixturevalue("native") if case.startswith("native") else None
    done = run(tmp_path, PROGRAM, case, EXACT if exact else SAMPLED, exact=exact, native=native)
    found = done.recording.at(*marked_lines(PROGRAM, f"HERE: {case}"))
    return done.answer, found, sum(found[metric] for metric in ALLOCATED)


@pytest.mark.parametrize("case", CASES)
@repeats
def test_a_line_within_its_standard_error(tmp_path, request, case):
    answer, found, allocated = measure(tmp_path, request, case)
    truth, error = answer["bytes"], error_of(found, "alloc_variance")
    said = describe(allocated, truth, error)
    print(said)
    assert error <= 0.05 * truth, "so many bytes are known better than that"
    expect(abs(allocated - truth) <= Z * error + BESIDES * truth, said)
    check_kind_and_rest(answer, found, Z * error)


# Importing NumPy takes hundreds of thousands of blocks, each with its stack.
@pytest.mark.parametrize("case", [slow(case)[0] if case.startswith("numpy") else case for case in CASES])
def test_a_line_within_two_per_cent_when_exact(tmp_path, request, case):
    answer, found, allocated = measure(tmp_path, request, case, exact=True)
    print(describe(allocated, answer["bytes"], 0))
    assert found["alloc_variance"] == 0
    assert abs(allocated - answer["bytes"]) <= 0.02 * answer["bytes"], describe(allocated, answer["bytes"], 0)
    check_kind_and_rest(answer, found, 0)


def check_kind_and_rest(answer, found, error):
    assert found[f"alloc_{answer['kind']}"] >= 0.98 * sum(found[metric] for metric in ALLOCATED)
    if "live" in answer:
        # What the last round kept is freed when its function ends, and small pieces may stay with a free list.
        allowed = 0.02 * answer["bytes"] + error
        expect(abs(found["live"] - answer["live"]) <= allowed, f"{found['live']} bytes are live, not {answer['live']}")


@repeats
def test_a_thread_without_python_has_its_own_bytes(tmp_path, native):
    done = run(tmp_path, PROGRAMS / "native_thread.py", 100_000_000, native=native)
    main = int(done.recording.info["process_id"])
    found = error = 0
    for node in done.recording.nodes:
        if node.thread != main:
            found += node.values["alloc_native"]
            error += node.values["alloc_variance"]
    truth = done.answer["bytes"]
    expect(abs(found - truth) <= Z * error**0.5 + BESIDES * truth, describe(found, truth, error**0.5))
    assert sum(node.values["live"] for node in done.recording.nodes if node.thread != main) == 0
