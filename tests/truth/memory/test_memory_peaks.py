"""The most memory that a program had at once, and who had it then."""

import sqlite3

import pytest
from chance import Z, expect, repeats, some
from memory_support import PROGRAMS, describe, error_of, marked_lines, run

pytestmark = pytest.mark.interpreter

PROGRAM = PROGRAMS / "peaks.py"
MIXES = some(("growing", "small", "sawtooth", "mixed", "maps", "arrays", "one_array"), 3)
#: For one large block the limit is tighter.
LIMITS = {"one_array": 0.01}


@pytest.mark.parametrize("exact", [False, True], ids=["sampled", "exact"])
@pytest.mark.parametrize("mix", MIXES)
@repeats
def test_the_peak(tmp_path, request, mix, exact):
    if "array" in mix:
        pytest.importorskip("numpy")
    native = request.getfixturevalue("native") if mix == "mixed" else None
    done = run(tmp_path, PROGRAM, mix, exact=exact, native=native)
    kept = done.recording.at(*marked_lines(PROGRAM, "KEPT"))
    truth, error = done.answer["peak"], error_of(kept, "peak_variance")
    allowed = LIMITS.get(mix, 0.02) * truth
    if mix not in LIMITS:
        allowed = max(allowed, Z * error)
    said = describe(kept["live_peak"], truth, error)
    print(said)
    assert error <= (0 if exact else 0.05 * truth)
    expect(abs(kept["live_peak"] - truth) <= allowed, said)
    check_whole(done, kept["live_peak"])


def check_whole(done, kept):
    """All places together had the peak; what is not the program's is what Python and its imports have."""
    peak = int(done.recording.info["peak_bytes"])
    assert abs(sum(node.values["live_peak"] for node in done.recording.nodes) - peak) <= 0.001 * peak
    besides = peak - kept
    print(f"besides {besides / 1e6:.2f} MB")
    assert 0 <= besides <= 80e6


@repeats
def test_the_footprint_over_time_has_the_peak(tmp_path):
    run(tmp_path, PROGRAM, "small")
    base = sqlite3.connect(tmp_path / "answer.sonde")
    peak = int(base.execute("select value from info where key = 'peak_bytes'").fetchone()[0])
    heap = [value for (value,) in base.execute("select value from series where name = 'heap' order by at_ns")]
    rss = [value for (value,) in base.execute("select value from series where name = 'rss' order by at_ns")]
    base.close()
    assert len(rss) == len(heap)
    assert max(heap, default=0) <= peak
    # A point comes every 50 ms: the program may go up and down between two of them.
    expect(len(heap) >= 3 and 0.3 * peak <= max(heap), f"{heap} of {peak}")
    assert max(rss) >= 0.3 * peak
