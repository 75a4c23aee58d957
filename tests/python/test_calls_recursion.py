"""Deep stacks: all calls are counted, and the error of a recursion without end stays the program's."""

import pytest
from calls_support import both_kinds

pytestmark = pytest.mark.interpreter

DEEP = """
import sys, threading
from sonde import profiler, tracing

builtins, depth, stack_mb, signatures = sys.argv[1] == "yes", int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "yes"
sys.setrecursionlimit(100_000)

def fall(depth):
    return 1 + fall(depth - 1) if depth else 0

def fall_through_c(depth):
    return 1 + next(map(fall_through_c, [depth - 1])) if depth else 0

def after():
    pass

def main():
    profile = profiler.Profile(builtins=builtins, signatures=signatures)
    profile.enable()
    result = fall(depth)
    after()
    fall(10)
    fall_through_c(100)
    profile.disable()
    rows = {row["name"]: row for row in profile.profile().rows("functions")}
    row = rows["fall"]
    print(result, row["calls"], row["primitive_calls"], rows["after"]["calls"], rows["fall_through_c"]["calls"])

if stack_mb:
    threading.stack_size(stack_mb << 20)
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
else:
    main()
"""


@both_kinds
@pytest.mark.parametrize("signatures", ["yes", "no"], ids=["signatures", "plain"])
@pytest.mark.parametrize(
    ("depth", "stack_mb"), [(90_000, 0), (20_000, 512), (20_000, 16), (5_000, 1)], ids=["main", "512MB", "16MB", "1MB"]
)
def test_deep_recursion_is_counted_without_a_crash(sonde, builtins, depth, stack_mb, signatures):
    done = sonde.python(DEEP, "yes" if builtins else "no", str(depth), str(stack_mb), signatures)
    assert done.stdout.split() == [str(depth), str(depth + 1 + 11), "2", "1", "101"]


@both_kinds
def test_recursion_without_end_is_the_programs_error(sonde, builtins):
    done = sonde.python(
        """
        import sys
        from sonde.tracing import Profile
        profile = Profile(builtins=sys.argv[1] == "yes")

        def fall():
            fall()

        def after():
            pass

        with profile:
            for _ in range(3):
                try:
                    fall()
                except RecursionError:
                    after()
        profile.create_stats()
        rows = {label[2]: row for label, row in profile.stats.items()}
        print(rows["fall"][0], rows["fall"][1] > 2000, rows["after"][1], rows["after"][4])
        """,
        "yes" if builtins else "no",
    )
    assert done.stdout.split() == ["3", "True", "3", "{}"]
