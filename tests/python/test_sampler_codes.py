"""Code that dies all the time while it is looked at 20,000 times a second: no sample bears the name of another.

With SONDE_STRESS=1 each run lasts 20 s instead of 1.5.
"""

import re
import sqlite3
from contextlib import closing

import pytest
from sampler_support import IS_STRESS, PROGRAMS, finish, start, under_sampler

pytestmark = pytest.mark.interpreter

SECONDS = "20" if IS_STRESS else "1.5"


def check(path):
    """How many places were seen; each one's name, file and lines are of the same function."""
    with closing(sqlite3.connect(path)) as recording:
        rows = recording.execute("select name, file, line, first_line from site where kind = 'line'").fetchall()
    count = 0
    for name, file, line, first_line in rows:
        made = re.fullmatch(r"<code (\d+) (\d+)>", file)
        if made is None:
            assert not name.startswith("f_"), (name, file)
            continue
        count += 1
        if name != "<module>":
            assert name == f"f_{made[1]}_{made[2]}"
            assert first_line == int(made[2]) % 1000 * 4 + 1
            loop = first_line + 3 + int(made[2]) % 50
            assert line in (first_line, first_line + 1, loop, loop + 1, loop + 2)
    return count


def run(tmp_path, way, *words, options=(), seconds=SECONDS):
    command = under_sampler(way, str(PROGRAMS / "sampler_codes.py"), seconds, "3", *words)
    if options:
        command[2:2] = options
    status, _, messages = finish(start(command, tmp_path / seconds))
    assert (status, messages) == (0, "")
    return check(tmp_path / seconds / ("safe.sonde" if way == "safe" else "r.sonde"))


def places_seen(tmp_path, way, enough, *words, options=()):
    """Goes on for longer on a machine that has little time for the sampler."""
    for seconds in (SECONDS, "6", "20"):
        count = run(tmp_path, way, *words, options=options, seconds=seconds)
        if count > enough:
            break
    return count


@pytest.mark.parametrize("words", [(), ("waits",)])
def test_names_are_right_when_code_dies_all_the_time(tmp_path, words):
    assert places_seen(tmp_path, 20000, 20, *words) > 20


@pytest.mark.parametrize("option", ["--native", "--no-signals"])
def test_names_are_right_in_other_ways(tmp_path, option):
    assert places_seen(tmp_path, 20000, 5, options=[option]) > 5


def test_names_are_right_when_frames_are_read_with_the_gil(tmp_path):
    assert places_seen(tmp_path, "safe", 5) > 5


def test_a_stack_without_a_caller_is_never_seen(tmp_path):
    """Every made function stands below the one that runs it."""
    run(tmp_path, 20000)
    query = """
        select s.name, p.name from node n join site s on s.id = n.site
        join node m on m.id = n.parent join site p on p.id = m.site where s.name like 'f\\_%' escape '\\'
    """
    with closing(sqlite3.connect(tmp_path / SECONDS / "r.sonde")) as recording:
        rows = recording.execute(query).fetchall()
    assert rows
    assert {caller for _, caller in rows} == {"work"}
