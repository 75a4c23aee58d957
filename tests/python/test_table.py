"""The report at exit looks as Region Profiler users know it."""

import re
import sys

import pytest
from sonde_programs import PROGRAMS

DURATION = r"\d+(\.\d+)? (s|ms|µs|ns)"


@pytest.mark.quick
def test_the_example_prints_the_table_at_exit(sonde):
    done = sonde.run([sys.executable, str(PROGRAMS / "example.py")])
    lines = done.stderr.splitlines()
    assert done.stdout == ""
    assert re.fullmatch(r"name +total  % of total  count +min +average +max", lines[0])
    assert re.fullmatch(r"-+(  -+){6}", lines[1])
    assert [len(line) for line in lines[:8]] == [len(lines[0])] * 8
    names = [line[: lines[1].index(" ")].rstrip() for line in lines[2:8]]
    assert names[:2] == ["<main>", ". f()"]
    assert sorted(names[2:]) == sorted([". . init", ". . loop", ". . . iter", ". . f() <example.py:14>"])
    assert names[names.index(". . loop") + 1] == ". . . iter"
    for line in lines[2:8]:
        cells = re.split(r"  +", line.strip())
        assert re.fullmatch(DURATION, cells[1])
        assert re.fullmatch(r"\d+\.\d\d%", cells[2])
        assert cells[3] == ("4" if "iter" in line else "1")
        assert all(re.fullmatch(DURATION, cell) for cell in cells[4:])
    assert lines[8].startswith("8 entries, none dropped; profiler overhead ≤ ")


def test_siblings_stand_by_total_descending(clock):
    import sonde

    for name, seconds in (("short", 1), ("long", 5), ("middle", 3)):
        with sonde.region(name):
            clock.now += seconds
    assert list(clock.trees()["<main>"].children) == ["long", "middle", "short"]


def test_the_columns_that_are_not_usual(clock):
    import sonde

    for seconds in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10):
        with sonde.region("all columns"):
            clock.now += seconds
    row = clock.trees()["<main>"]["all columns"]
    assert (row.count, row.total_ns, row.min_ns, row.max_ns) == (10, 55e9, 1e9, 10e9)
    assert row.average_ns == 5.5e9
    assert row.self_ns == 55e9
    assert abs(row.deviation_ns - 2.8722813e9) < 1e4
    assert abs(row.p50_ns - 5e9) < 0.0625 * 5e9
    assert abs(row.p90_ns - 9e9) < 0.0625 * 9e9
    assert abs(row.p99_ns - 10e9) < 0.0625 * 10e9
    assert row.thread == "main"
    assert re.fullmatch(r".*test_table\.py:\d+", row.place)
    assert row.cpu_ns is None


def test_cpu_time_is_measured_when_a_reporter_shows_it(sonde):
    done = sonde.python(
        """
        import time, sonde
        sonde.install(reporter=sonde.ConsoleReporter(columns=("name", "total", "cpu")), recording="r.sonde")
        def burn(end):
            while time.thread_time() < end:
                pass
        for name, work in (("sleeps", lambda: time.sleep(0.2)), ("works", lambda: burn(time.thread_time() + 0.2))):
            times = [time.thread_time_ns()]
            with sonde.region(name):
                times.append(time.thread_time_ns())
                work()
                times.append(time.thread_time_ns())
            times.append(time.thread_time_ns())
            print(times[2] - times[1], times[3] - times[0])
        """
    )
    assert re.search(r"name +total +cpu", done.stderr)
    main = sonde.main("r.sonde")
    for name, line in zip(("sleeps", "works"), done.stdout.splitlines(), strict=True):
        inside, outside = map(int, line.split())
        assert inside <= main[name].cpu_ns <= outside
    assert main["works"].cpu_ns >= 2e8  # the clock by which it stops


def test_deep_rows_say_their_depth_in_words(sonde):
    done = sonde.python(
        """
        import sonde
        sonde.install()
        for i in range(60):
            sonde.push("level")
        for i in range(60):
            sonde.pop()
        """
    )
    assert "(60 deep) level" in done.stderr
    assert max(map(len, done.stderr.splitlines())) < 200


@pytest.mark.parametrize(("locale", "micro"), [("C.UTF-8", "µs"), ("C", "us")])
def test_the_locale_decides_how_units_are_written_everywhere(sonde, locale, micro):
    """In the report at exit, in a table of the program's own, and in what the program sonde prints into a pipe."""
    report = sonde.python(
        """
        import itertools
        import sys
        import sonde

        class Timer:
            clock = staticmethod(lambda ticks=itertools.count(): next(ticks) * 5e-6)

        sonde.install(recording="r.sonde", timer_cls=Timer)
        with sonde.region("work"):
            pass
        sonde.regions.ConsoleReporter(("name", "total", lambda row, rows: "x"), sys.stdout).dump_profiler(
            sonde.regions.Profiler(sonde._core.profile())
        )
        """,
        env={"LC_ALL": locale},
    )
    view = sonde.command("view", "r.sonde", env={"LC_ALL": locale}).stdout
    for text in (report.stderr, report.stdout, view):
        assert f" {micro} " in text
        assert text.isascii() == (locale == "C")
