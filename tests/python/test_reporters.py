"""What can be done with the regions at exit."""

import csv
import io

import pytest
from sonde_programs import Sonde

import sonde
import sonde.regions as rp
from sonde import reporters


def fill(clock):
    with sonde.region('say "hi", you'):
        clock.now += 0.25
        with sonde.region("two\nlines"):
            clock.now += 0.5
        clock.now += 0.25


@pytest.mark.quick
def test_csv_has_the_known_columns_and_real_quoting(clock):
    fill(clock)
    stream = io.StringIO()
    rp.install(reporter=sonde.CsvReporter(stream=stream), timer_cls=rp._timer_cls)
    rp.report()
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    expected = "id name parent_id parent_name total_us total_inner_us count min_us average_us max_us"
    assert list(rows[0]) == expected.split()
    assert rows[1] == {
        "id": "1",
        "name": 'say "hi", you',
        "parent_id": "0",
        "parent_name": "<main>",
        "total_us": "1000000",
        "total_inner_us": "500000",
        "count": "1",
        "min_us": "1000000",
        "average_us": "1000000",
        "max_us": "1000000",
    }
    assert rows[2]["name"] == "two\nlines"
    assert rows[0]["parent_id"] == rows[0]["parent_name"] == ""


def test_the_table_shows_no_raw_control_characters(clock):
    with sonde.region("red\033[31m and\nnewline"):
        pass
    stream = io.StringIO()
    sonde.ConsoleReporter(stream=stream).dump_profiler(reporters.Profiler(rp._core.profile()))
    assert "\033" not in stream.getvalue()
    assert r". red\x1b[31m and\nnewline" in stream.getvalue()


def test_names_in_any_script(clock):
    for name in ("Größe", "数据加载", "🚀 launch", "e\u0301", "\ud800 lone", "nul\0inside", ""):
        with sonde.region(name):
            clock.now += 1
    names = set(clock.trees()["<main>"].children)
    assert names == {"Größe", "数据加载", "🚀 launch", "e\u0301", "\\ud800 lone", "nul\\x00inside", ""}


def test_silent_keeps_rows(clock):
    fill(clock)
    silent = sonde.SilentReporter(columns=("indented_name", "total_us", "total_inner", "percents_of_total"))
    silent.dump_profiler(reporters.Profiler(rp._core.profile()))
    assert silent.rows[0] == ["name", "total_us", "total_inner", "percents_of_total"]
    assert silent.rows[2] == ['. say "hi", you', "1000000", "500 ms", "100.00%"]
    assert silent.rows[3] == [". . two\\nlines", "500000", "500 ms", "50.00%"]


def test_headings_say_what_stands_below_them(clock):
    fill(clock)
    profiler = reporters.Profiler(rp._core.profile())
    silent = sonde.SilentReporter()
    silent.dump_profiler(profiler)
    assert silent.rows[0] == ["name", "total", "percent_of_total", "count", "min", "average", "max"]
    assert silent.rows[2] == ['say "hi", you', "1.000 s", "100.00%", "1", "1.000 s", "1.000 s", "1.000 s"]
    asked = ("node_id", "total_ns", "total_us", "total", "mine=self_ns", "p99")
    numbers = sonde.SilentReporter(columns=asked)
    numbers.dump_profiler(profiler)
    assert numbers.rows[0] == ["id", "total_ns", "total_us", "total", "mine", "p99"]
    assert numbers.rows[2] == ["1", "1000000000", "1000000", "1.000 s", "500000000", "1.000 s"]
    for heading, *texts in zip(*numbers.rows, strict=True):
        assert heading.endswith(("_ns", "_us")) <= all(text.isdigit() for text in texts), heading


def test_silent_gives_what_region_profiler_gives(clock):
    import region_profiler.reporter_columns as columns
    import region_profiler.reporters as theirs

    fill(clock)
    profiler = reporters.Profiler(rp._core.profile())
    names = ("node_id", "indented_name", "parent_name", "percents_of_total", "count", "total_us", "total_inner_us")
    ours, other = sonde.SilentReporter(columns=names), theirs.SilentReporter([getattr(columns, one) for one in names])
    ours.dump_profiler(profiler)
    other.dump_profiler(profiler)
    assert ours.rows[:2] == other.rows[:2]
    assert len(ours.rows) == len(other.rows)


def test_a_reporter_is_any_object_with_dump_profiler(clock):
    class Mine:
        def dump_profiler(self, profiler):
            self.root = profiler.root

    mine = Mine()
    fill(clock)
    rp.install(reporter=mine, timer_cls=rp._timer_cls)
    rp.report()
    child = mine.root.children['say "hi", you']
    assert mine.root.name == "<main>"
    assert (child.stats.count, child.stats.total, child.stats.min, child.stats.max) == (1, 1.0, 1.0, 1.0)
    assert child.children["two\nlines"].stats.total == 0.5


def test_reporters_and_columns_of_region_profiler_still_work(clock):
    import region_profiler.reporter_columns as columns
    import region_profiler.reporters as theirs

    stream = io.StringIO()
    fill(clock)

    class Mine(theirs.ConsoleReporter):
        pass

    profiler = reporters.Profiler(rp._core.profile())
    Mine(stream=stream).dump_profiler(profiler)
    assert "<main>" in stream.getvalue() and "100.00%" in stream.getvalue()
    stream = io.StringIO()
    mixed = (columns.indented_name, columns.total, "p99", columns.count)
    sonde.ConsoleReporter(columns=mixed, stream=stream).dump_profiler(profiler)
    lines = stream.getvalue().splitlines()
    assert lines[0].split() == ["name", "total", "p99", "count"]
    assert lines[3].split()[-5:] == ["1.000", "s", "1.000", "s", "1"]


def test_an_unknown_column_names_the_known_ones(clock):
    for kind in (sonde.ConsoleReporter, sonde.CsvReporter, sonde.SilentReporter):
        with pytest.raises(ValueError, match="unknown column 'totall'; choose from name, total_ns"):
            kind(columns=("name", "totall"))


def test_more_columns_than_a_table_has_are_refused(clock):
    fill(clock)
    reporter = sonde.ConsoleReporter(columns=[lambda row, rows: row.name] * 65, stream=io.StringIO())
    rp.install(reporter=reporter, timer_cls=rp._timer_cls)
    with pytest.raises(ValueError, match="a table may have at most 64 columns"):
        rp.report()


def test_what_is_no_reporter_is_refused_at_once(clock):
    with pytest.raises(TypeError, match=r"a reporter needs a method dump_profiler\(profiler\)"):
        rp.install(reporter=print)


def test_a_reporter_that_fails_costs_no_data(tmp_path):
    sonde = Sonde(tmp_path)
    done = sonde.python(
        """
        import sonde
        class Bad:
            def dump_profiler(self, profiler):
                raise KeyError("mine")
        sonde.install(reporter=Bad(), recording="r.sonde")
        with sonde.region("x"):
            pass
        """
    )
    assert "KeyError: 'mine'" in done.stderr and "recording saved in" in done.stderr
    assert sonde.main("r.sonde")["x"].count == 1
