"""A garbage collection has a row of its own below the function in which it ran, with the time that it took."""

import pytest
from chance import expect, repeats, share_error, some
from sample_support import run, run_started

pytestmark = [pytest.mark.interpreter, pytest.mark.quiet]

FUNCTIONS = ("compute", "allocate", "collect")
ROW = "[garbage collection]"


def label(node):
    names = node.names()
    if "count_for" in names or "note" in names or "Watch.read" in names:
        return None
    if "finalise" in names:
        return "finalise"
    found = next((name for name in names if name in FUNCTIONS), None)
    is_collection = any(step.name == ROW and step.kind == "other" for step in node.stack())
    return f"{found} gc" if found is not None and is_collection else found


@pytest.mark.parametrize(
    ("options", "limit"),
    some(
        [
            pytest.param([], 0.02, id="default"),
            pytest.param(["--native"], 0.02, id="native"),
            pytest.param(["--no-signals"], 0.04, id="no signals"),
            pytest.param(["--memory"], 0.04, id="memory"),
        ],
        4,
    ),
)
@repeats
def test_collections_have_their_own_time(tmp_path, options, limit):
    done = run(tmp_path, "garbage", *options)
    found, samples = done.recording.spent(label)
    done.check(done.truth(), found, samples, limit)
    ended = [node for node in done.recording.nodes if label(node) == "finalise"]
    expect(len(ended) > 0, "no sample in a finaliser")
    for node in ended:
        steps = [step.name for step in node.stack()]
        assert steps.index("collect") < steps.index(ROW) < steps.index("finalise")


@repeats
def test_collections_where_frames_are_read_the_safe_way(tmp_path):
    """The interpreter's lock comes when a collection is over; what was asked for in one belongs to it all the same."""
    done = run_started(tmp_path, "long_garbage", safe_frames=True)
    found, samples = done.recording.spent(label)
    outside = found["collect"] / (found["collect"] + found["collect gc"])
    expect(outside <= 0.1 + share_error((0.1, 0.9), samples), f"{outside:.2f} of it outside, {samples:.0f} samples")
