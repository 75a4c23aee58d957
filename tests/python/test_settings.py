"""The table of settings, and what follows from it."""

import ast
import inspect
from pathlib import Path

import pytest

import sonde
from sonde import _core, web
from sonde._notebook import options
from sonde._runtime import settings as _settings

pytestmark = pytest.mark.quick
STUB = Path(sonde.__file__).with_name("_core.pyi")
COUNTS = [setting for setting in _core.settings() if setting["kind"] == "count"]


def defaults(function):
    return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}


def test_the_stub_knows_every_column_of_the_table():
    (stub,) = [item for item in ast.parse(STUB.read_text()).body if getattr(item, "name", "") == "Setting"]
    columns = {item.target.id for item in stub.body}
    assert {frozenset(setting) for setting in _core.settings()} == {frozenset(columns)}


def test_a_command_has_a_name_once():
    for command in ("run", "trace", "magic"):
        names = [setting["name"] for setting in _core.settings() if command in setting["of"]]
        assert len(names) == len(set(names)) > 5


def test_a_value_is_named_where_one_follows():
    for setting in _core.settings():
        assert (setting["value"] is None) == (setting["kind"] == "flag"), setting["name"]


@pytest.mark.parametrize("setting", COUNTS, ids=lambda setting: setting["name"])
def test_the_help_tells_the_limits_of_a_number(setting):
    assert f"({setting['least']}–{setting['most']}" in setting["about"]
    assert f"default {setting['usual']}" in setting["about"]


@pytest.mark.parametrize("setting", [one for one in _core.settings() if one["keyword"]], ids=lambda one: one["name"])
def test_a_keyword_is_one_of_record_and_has_the_usual_value(setting):
    usual = {"flag": setting["name"].startswith("no-"), "count": setting["usual"], "patterns": ()}[setting["kind"]]
    assert defaults(sonde.record)[setting["keyword"]] == usual
    for function in (sonde.sample, sonde.memory, sonde.start, web.WSGIMiddleware):
        assert defaults(function).get(setting["keyword"], usual) == usual


def test_what_is_part_of_another_setting_goes_into_the_session():
    given = _settings.read_words(["--exact", "--memory-interval=4096", "--no-signals"])
    assert given == {"exact": True, "memory-interval": 4096, "no-signals": True}
    assert _settings.wants("memory", given) and not _settings.wants("memory", {"native": True})
    assert _settings.wishes(given) == {
        "native": False,
        "cpu_only": False,
        "imports": True,
        "exact": True,
        "interval": 4096,
        "ops_window": 0,
        "signals": False,
        "timeline": True,
    }


def test_a_word_that_nobody_knows_is_left_out():
    assert _settings.read_words(["--from-another-version=3", "--rate=5"]) == {"rate": 5}


def test_a_new_line_of_the_table_is_an_option_of_the_magics(monkeypatch):
    new = {**COUNTS[0], "name": "new", "about": "what is new", "of": ["magic"], "value": "N"}
    monkeypatch.setattr(_settings, "_TABLE", [*_settings._TABLE, new])
    assert options.help_own().splitlines()[-2] == "  --new N            what is new"


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ([], TypeError, "settings must be a dictionary"),
        ({"speed": 1}, TypeError, "a session has no setting 'speed'"),
        ({3: 1}, TypeError, "a session has no setting 3"),
        ({"recording": 3}, TypeError, "expected a string, not 3"),
        ({"recording": "a\0b"}, ValueError, "embedded null character"),
        ({"rate": "often"}, TypeError, "int"),
        ({"rate": -1}, OverflowError, "negative"),
        ({"rate": 1 << 32}, OverflowError, "too large"),
        ({"rate": 20001}, ValueError, "rate must be from 1 to 20000 samples per second"),
        ({"arguments": "a b"}, TypeError, "the arguments must be a list"),
        ({"counters": 3}, TypeError, "expected a string, not 3"),
        ({"counters": "none"}, ValueError, "none"),
        ({"clock": 3}, TypeError, "the clock must be callable"),
    ],
)
def test_a_session_refuses_what_it_does_not_know(given, error, said):
    with pytest.raises(error, match=said):
        _core.start(given)
    assert not _core.is_running()
