"""Functions that keep a processor busy get the shares and the seconds that their own clocks say."""

import pytest
from chance import IS_LONG, expect, repeats, some
from sample_support import CPU, WAITS, expect_close, innermost, run, run_started

pytestmark = [pytest.mark.interpreter, pytest.mark.quiet]

FUNCTIONS = ("first", "second", "third", "fourth")


@pytest.mark.parametrize(
    ("options", "limit"),
    some(
        [
            pytest.param([], 0.01, id="default"),
            pytest.param(["--native"], 0.01, id="native"),
            pytest.param(["--cpu-only"], 0.01, id="cpu only"),
            pytest.param(["--no-signals"], 0.03, id="no signals"),
        ],
        4,
    ),
)
@repeats
def test_four_functions_on_one_thread(tmp_path, options, limit):
    done = run(tmp_path, "functions", *options)
    found, samples = done.recording.spent(innermost(*FUNCTIONS))
    done.check(done.truth(), found, samples, limit)
    if "--cpu-only" in options:
        assert done.recording.total(WAITS) == 0


@repeats
def test_four_functions_where_frames_are_read_the_safe_way(tmp_path):
    done = run_started(tmp_path, "functions", safe_frames=True)
    found, samples = done.recording.spent(innermost(*FUNCTIONS))
    done.check(done.truth(), found, samples, 0.03)


@pytest.mark.parametrize(
    ("options", "limit"),
    some([pytest.param([], 0.01, id="default"), pytest.param(["--no-signals"], 0.05, id="no signals")], 2),
)
@repeats
def test_four_functions_on_four_threads_with_other_shares(tmp_path, options, limit):
    done = run(tmp_path, "threads", *options)
    function = innermost(*FUNCTIONS)

    def by_thread(node):
        return (node.thread, function(node)) if function(node) is not None else None

    found, samples = done.recording.spent(by_thread)
    done.check(done.truth_by_thread(), found, samples, limit)
    cpu, _ = done.recording.spent(lambda node: node.thread, CPU)
    for thread in {thread for thread, _ in found}:
        # What a thread ran after the last look at it cannot be told any more.
        expect_close(cpu[thread], done.answer["thread_cpu"][str(thread)], 5e6 if IS_LONG else 30e6)
    assert {"half", "even", "last", "only"} <= set(done.recording.threads.values())


@repeats
def test_the_time_of_a_thread_is_what_it_ran_and_what_it_waited(tmp_path):
    done = run(tmp_path, "threads")
    whole, _ = done.recording.spent(lambda node: node.thread, (*CPU, *WAITS))
    for thread, life in done.answer["thread_wall"].items():
        # To end, a thread waits for the interpreter once more.
        expect_close(whole[int(thread)], life, 150e6)


@repeats
def test_stacks_that_change_while_they_are_read_from_outside(tmp_path):
    done = run(tmp_path, "short_calls", "--no-signals", "--rate", "4000")

    def is_torn(node):
        if node.thread != done.main_thread or "[not seen]" in (above := [step.name for step in node.stack()]):
            return None
        return node.names()[:1] != ["<module>"] or "[deeper]" in above

    found, _ = done.recording.spent(is_torn)
    expect(found[True] <= 0.005 * found[False], f"{found}")
