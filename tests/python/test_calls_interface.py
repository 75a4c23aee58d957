"""The interface of the standard profiler: the object, what pstats makes of it, ``python -m``."""

import cProfile
import io
import marshal
import pstats
import sys

import pytest
from calls_support import (
    both_kinds,
    branch,
    counts,
    entry_of,
    leaf,
    nothing_is_left_running,  # noqa: F401
    textwrap_dedent,
)

import sonde.tracing
from sonde import profiler
from sonde.tracing import Profile

pytestmark = pytest.mark.interpreter

# The object


def test_an_empty_profile_has_no_entries():
    assert Profile().getstats() == []
    profile = Profile()
    profile.create_stats()
    assert profile.stats == {}


def test_enable_and_disable_leave_no_trace_of_themselves():
    for make in (Profile, profiler.Profile):
        profile = make()
        profile.enable()
        profile.disable()
        assert counts(profile) == {}


def test_the_arguments_are_those_of_the_standard_profiler():
    profile = Profile(None, 0.0, True, True)
    profile.enable(subcalls=True, builtins=False)
    branch()
    len("")
    profile.disable()
    assert counts(profile) == {"branch": 1, "leaf": 2}
    profile.enable(True, True)
    len("")
    profile.disable()
    assert counts(profile) == {"branch": 1, "leaf": 2, "<built-in method builtins.len>": 1}


def test_without_subcalls_there_are_no_callers():
    with Profile(subcalls=False) as profile:
        branch()
    assert all(entry.calls is None for entry in profile.getstats())
    assert counts(profile) == {"branch": 1, "leaf": 2}
    assert all(row[4] == {} for row in profile.stats.values())


def test_unknown_arguments_are_refused():
    for make in (
        lambda: Profile(nonsense=1),
        lambda: Profile().enable(nonsense=1),
        lambda: Profile(timeunit="long"),
        lambda: Profile(include=[5]),
        lambda: Profile(1, 2, 3, 4, 5, 6),
    ):
        with pytest.raises((TypeError, OverflowError, ValueError)):
            make()


def test_a_negative_limit_is_refused():
    with pytest.raises((ValueError, OverflowError)):
        Profile(limit=-1)


@pytest.mark.quick
def test_entries_have_the_fields_of_the_standard_profiler():
    def fall(depth):
        if depth:
            fall(depth - 1)
        len("")

    with Profile() as profile:
        fall(3)
        branch()
    fall_entry = entry_of(profile, fall.__code__)
    assert (fall_entry.callcount, fall_entry.reccallcount) == (4, 3)
    assert fall_entry.totaltime >= fall_entry.inlinetime > 0
    assert {(call.code, call.callcount, call.reccallcount) for call in fall_entry.calls} == {
        (fall.__code__, 3, 2),
        ("<built-in method builtins.len>", 4, 0),
    }
    assert all(call.totaltime >= call.inlinetime >= 0 for call in fall_entry.calls)
    assert entry_of(profile, leaf.__code__).calls is None
    assert fall_entry[:3] == (fall.__code__, 4, 3)  # it is a tuple as well
    assert len(fall_entry) == 6
    assert len(fall_entry.calls[0]) == 5


def test_results_can_be_had_while_it_runs():
    profile = Profile()
    profile.enable()
    branch()
    profile.snapshot_stats()
    first = {label[2]: row[1] for label, row in profile.stats.items()}
    branch()
    profile.disable()
    assert (first["branch"], first["leaf"]) == (1, 2)
    assert counts(profile)["branch"] == 2


def test_clear_forgets_everything():
    with Profile() as profile:
        branch()
    profile.clear()
    assert profile.getstats() == []
    with profile:
        leaf()
    assert counts(profile) == {"leaf": 1}


@both_kinds
def test_clear_while_calls_are_open(builtins):
    profile = Profile(builtins=builtins)

    def inner():
        leaf()
        profile.clear()
        leaf()

    def outer():
        inner()
        branch()

    with profile:
        outer()
    found = counts(profile)
    assert found["leaf"] == 3
    assert found["branch"] == 1


def test_enabling_twice_is_enabling_once():
    profile = Profile()
    profile.enable()
    profile.enable()
    leaf()
    profile.disable()
    leaf()
    profile.disable()
    assert counts(profile) == {"leaf": 1}


def test_a_second_profile_is_refused_by_name():
    class Mine(Profile):
        pass

    with Mine() as first:
        second = Profile()
        with pytest.raises(
            ValueError,
            match=r"another call profile \(.*Mine\) is enabled; only one can be at a time, so disable it first",
        ):
            second.enable()
        leaf()
    second.enable()
    leaf()
    second.disable()
    assert counts(first)["leaf"] == 1
    assert counts(second) == {"leaf": 1}


def test_run_and_its_kin(tmp_path, capsys):
    names = {"leaf": leaf}
    assert counts(Profile().runctx("leaf()", names, {}))["leaf"] == 1
    profile = Profile()
    assert profile.runcall(divmod, 7, 2) == (3, 1)
    assert counts(profile) == {"<built-in method builtins.divmod>": 1}
    assert Profile().runcall(lambda *, func, self: (func, self), func=1, self=2) == (1, 2)
    sys.modules["__main__"].__dict__["a_function_of_main"] = leaf
    try:
        assert counts(Profile().run("a_function_of_main()"))["leaf"] == 1
        profiler.run("a_function_of_main()", str(tmp_path / "out.prof"))
    finally:
        del sys.modules["__main__"].__dict__["a_function_of_main"]
    assert any("leaf" in label[2] for label in pstats.Stats(str(tmp_path / "out.prof")).stats)
    profiler.runctx("leaf()", names, {}, sort="calls")
    sonde.tracing.runctx("leaf()", names, {})
    assert capsys.readouterr().out.count("leaf") == 2


def test_run_shows_what_the_standard_profiler_shows():
    def rows(profile):
        return {name: count for name, count in counts(profile).items() if "_lsprof" not in name}

    names = {"branch": branch}
    assert rows(Profile().runctx("branch(); len('')", names, {})) == rows(
        cProfile.Profile().runctx("branch(); len('')", names, {})
    )


def test_a_program_that_exits_is_shown_all_the_same(capsys):
    sonde.tracing.runctx("leaf(); raise SystemExit(3)", {"leaf": leaf}, {})
    assert "(leaf)" in capsys.readouterr().out


def test_a_statement_that_fails_stops_the_profile():
    profile = Profile()
    with pytest.raises(ZeroDivisionError):
        profile.runctx("leaf(); 1 / 0", {"leaf": leaf}, {})
    assert not profile.is_enabled()
    with pytest.raises(KeyError):
        profile.runcall({}.__getitem__, 1)
    assert not profile.is_enabled()
    with pytest.raises(ValueError), profile:  # noqa: PT012
        raise ValueError
    assert not profile.is_enabled()
    assert counts(profile)["leaf"] == 1


def test_with_gives_the_profile():
    profile = Profile()
    with profile as same:
        assert same is profile


def test_an_object_may_be_made_anew():
    profile = Profile()
    profile.enable()
    profile.__init__(builtins=False)
    assert not profile.is_enabled()
    with profile:
        len("")
        leaf()
    assert counts(profile) == {"leaf": 1}


# pstats


@pytest.mark.quick
def test_pstats_reads_the_profile_and_its_file(tmp_path):
    with Profile() as profile:
        branch()
    path = tmp_path / "run.prof"
    profile.dump_stats(path)
    profile.dump_stats(str(path))
    for given in (profile, str(path)):
        out = io.StringIO()
        stats = pstats.Stats(given, stream=out)
        stats.strip_dirs().sort_stats("cumulative", "name").print_stats("branch|leaf")
        stats.print_callers("leaf")
        stats.print_callees("branch")
        assert stats.total_calls == 3
        assert "calls_support.py:" in out.getvalue()
    assert set(marshal.loads(path.read_bytes())) == set(pstats.Stats(profile).stats)
    assert pstats.Stats(profile, str(path)).total_calls == 6
    assert pstats.Stats(profile).get_stats_profile().func_profiles["leaf"].ncalls == "2"


def test_recursion_is_shown_as_total_and_primitive(capsys):
    def fall(depth):
        if depth:
            fall(depth - 1)

    with Profile() as profile:
        fall(9)
    profile.print_stats()
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "(fall)" in line)
    assert line.split()[0] == "10/1"


def test_the_table_is_that_of_pstats(capsys):
    with profiler.Profile() as profile:
        branch()
    for sort in (-1, 0, "tottime", pstats.SortKey.CALLS, ("calls", "name"), ("cumulative",)):
        profile.print_stats(sort)
        out = capsys.readouterr().out
        assert "ncalls  tottime  percall  cumtime  percall filename:lineno(function)" in out
        assert "calls_support.py:" in out
        assert "(leaf())" in out
        assert "sonde" not in out
        assert "disable" not in out


def test_a_sort_key_that_does_not_exist_is_refused():
    with Profile() as profile:
        leaf()
    for bad in ("speed", ("calls", "speed"), "c"):
        with pytest.raises((KeyError, AttributeError)):
            profile.print_stats(bad)


def test_labels_with_signatures_are_in_the_file_too(tmp_path):
    def größe(a, *, b):
        pass

    with profiler.Profile() as profile:
        größe(1, b="two")
        größe(1.5, b=None)
        größe([1, 2], b=3)
    profile.dump_stats(tmp_path / "run.prof")
    names = {label[2] for label in pstats.Stats(str(tmp_path / "run.prof")).stats}
    assert names == {"größe(a:int, b:str)", "größe(a:float, b:None)", "größe(a:list[int]×2, b:int)"}


def test_the_sum_over_signatures_is_the_function():
    def work(a):
        leaf()

    with profiler.Profile() as profile:
        for value in (1, 2, "x", None):
            work(value)
    found = counts(profile)
    assert {name: found[name] for name in found if name.startswith("work")} == {
        "work(a:int)": 2,
        "work(a:str)": 1,
        "work(a:None)": 1,
    }
    (callers,) = (row[4] for label, row in profile.stats.items() if label[2] == "leaf()")
    assert {caller[2]: pair[0] for caller, pair in callers.items()} == {
        "work(a:int)": 2,
        "work(a:str)": 1,
        "work(a:None)": 1,
    }


# Filters


@both_kinds
def test_only_what_is_included_is_counted(builtins):
    with Profile(builtins=builtins, include=["leaf"]) as profile:
        branch()
        len("")
    assert counts(profile) == {"leaf": 2}
    with Profile(builtins=builtins, include="calls_*.py") as profile:
        branch()
        textwrap_dedent("  a")
    found = counts(profile)
    assert (found["branch"], found["leaf"], found["textwrap_dedent"]) == (1, 2, 1)
    assert "dedent" not in found


@both_kinds
def test_what_is_excluded_is_not_counted_and_what_it_calls_is(builtins):
    with Profile(builtins=builtins, exclude="branch") as profile:
        branch()
    found = counts(profile)
    assert found == {"leaf": 2}
    with Profile(builtins=builtins, exclude=["*/textwrap.py", "*/re/*.py", "l?af"]) as profile:
        branch()
        textwrap_dedent("  a")
    found = counts(profile)
    assert (found["branch"], found["textwrap_dedent"]) == (1, 1)
    assert "leaf" not in found
    assert "dedent" not in found


@both_kinds
def test_a_filter_holds_for_its_own_profile_only(builtins):
    for _ in range(3):
        with Profile(builtins=builtins, exclude="leaf") as filtered:
            branch()
        with Profile(builtins=builtins) as whole:
            branch()
        assert counts(filtered) == {"branch": 1}
        assert counts(whole) == {"branch": 1, "leaf": 2}


@both_kinds
def test_exclude_wins_over_include(builtins):
    with Profile(builtins=builtins, include=["branch", "leaf"], exclude=["leaf"]) as profile:
        branch()
    assert counts(profile) == {"branch": 1}


# The command


def pstats_lines(text):
    """What the rows of a table are of."""
    rows = text[text.index("ncalls") :].splitlines()[1:]
    return {row.split(maxsplit=5)[5] for row in rows if row.strip()}


def test_python_dash_m_works_as_that_of_the_standard_profiler(sonde):
    (sonde.folder / "work.py").write_text(
        "import sys\n\ndef leaf():\n    pass\n\nif __name__ == '__main__':\n    leaf()\n    print(sys.argv, __file__)\n"
    )
    done = sonde.run([sys.executable, "-m", "sonde.tracing", "-s", "calls", "work.py", "-x", "y"])
    first, *rest = done.stdout.splitlines()
    assert first.startswith("['work.py', '-x', 'y']")
    assert any("work.py:3(leaf)" in line for line in rest)
    done = sonde.run([sys.executable, "-m", "sonde.tracing", "-o", "out.prof", "work.py"])
    assert "ncalls" not in done.stdout
    assert any(label[2] == "leaf" for label in pstats.Stats(str(sonde.folder / "out.prof")).stats)
    done = sonde.run([sys.executable, "-m", "sonde.tracing", "-m", "work", "z"])
    assert "'z']" in done.stdout.splitlines()[0]
    assert "(leaf)" in done.stdout


def test_the_file_lies_where_the_program_started(sonde):
    (sonde.folder / "work.py").write_text("import os\nos.mkdir('below')\nos.chdir('below')\n")
    sonde.run([sys.executable, "-m", "sonde.tracing", "-o", "out.prof", "work.py"])
    assert (sonde.folder / "out.prof").exists()


def test_python_dash_m_of_a_program_that_exits(sonde):
    # 3.15 dies here if our own frames are hidden before the events are switched on; hidden they must be all the same.
    (sonde.folder / "exits.py").write_text("import sys\n\ndef end():\n    sys.exit(3)\n\nend()\n")
    theirs = sonde.run([sys.executable, "-m", "cProfile", "exits.py"], status=None)
    done = sonde.run([sys.executable, "-m", "sonde.tracing", "exits.py"], status=theirs.returncode)
    seen = pstats_lines(done.stdout)
    assert {"exits.py:1(<module>)", "exits.py:3(end)", "{built-in method sys.exit}"} <= seen
    assert not any("sonde" in label.partition("(")[0] or "runpy" in label for label in seen)


def test_python_dash_m_with_bad_words(sonde):
    (sonde.folder / "work.py").write_text("1 / 0\n")
    done = sonde.run([sys.executable, "-m", "sonde.tracing", "work.py"], status=1)
    assert "ZeroDivisionError" in done.stderr
    assert "ncalls" in done.stdout
    done = sonde.run([sys.executable, "-m", "sonde.tracing"], status=None)
    assert done.returncode != 0
    assert "usage" in (done.stdout + done.stderr).lower()
    done = sonde.run([sys.executable, "-m", "sonde.tracing", "nowhere.py"], status=None)
    assert done.returncode != 0
    assert "nowhere.py" in done.stderr


def test_a_drop_in_for_the_standard_profiler(sonde):
    done = sonde.python(
        """
        import sonde.tracing as cProfile
        import pstats

        def work():
            return len("abc")

        with cProfile.Profile() as pr:
            work()
        pstats.Stats(pr).strip_dirs().sort_stats("name").print_stats()
        cProfile.run("work()", sort="cumtime")
        print(cProfile.label(work.__code__), cProfile.label("len"))
        """
    )
    assert done.stdout.count("prog.py:5(work)") == 2
    assert done.stdout.count("{built-in method builtins.len}") == 2
    assert "'work') ('~', 0, 'len')" in done.stdout
