"""What the tools that judge the tests make of a C file."""

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import messages
import mutate
from c_tokens import in_functions, tokens

SOURCE = r"""
#define SMALL(x) ((x) < 1)
static const int table[] = {1, 2};
/* if (a < b) */
static int
work(struct thing *self, int count)
{
    int sum = 0x10, last;
    for (int i = 0; i < count; i++)
        sum += self->values[i]; // sum = 5;
    if (sum == count || self->name[0] == '<')
        reset(self, "a < b");
    while (next(self) >= sum) {
        *self->out = sum;
        continue;
    }
    last = sizeof self->values / sizeof values[0];
    return sum << last;
}
"""


def changed(kind: str) -> list[str]:
    """Each change as the line it makes, without what surrounds it."""
    lines = []
    for found, start, end, new in mutate.changes(SOURCE):
        if found == kind:
            text = SOURCE[:start] + new + SOURCE[end:]
            first = text.rfind("\n", 0, start) + 1
            lines.append(text[first : text.find("\n", start)].strip())
    return lines


def test_comparisons_are_flipped_in_functions_only():
    assert changed("flip") == [
        "for (int i = 0; i >= count; i++)",
        "if (sum != count || self->name[0] == '<')",
        "if (sum == count || self->name[0] != '<')",
        "while (next(self) < sum) {",
    ]


def test_bounds_and_decimal_numbers_are_off_by_one():
    assert changed("off-by-one") == [
        "for (int i = 1; i < count; i++)",
        "for (int i = 0; i <= count; i++)",
        "if (sum == count || self->name[1] == '<')",
        "while (next(self) > sum) {",
    ]


def test_calls_assignments_and_jumps_are_dropped_but_no_declaration_and_no_return():
    assert changed("drop") == ["; // sum = 5;", ";", ";", ";", ";"]


def test_a_seed_gives_the_same_mutants_again():
    first = [next(mutate.in_turn(["view"], 7)) for _ in range(2)]
    assert first[0] == first[1] != next(mutate.in_turn(["view"], 8))


def test_a_mutant_is_named_by_its_line():
    mutant = next(mutate.in_turn(["store"], 1))
    old, new = mutant.statement().split(": ", 1)[1].split(" -> ", 1)
    assert old != new
    assert mutant.applied((mutate.ROOT / mutant.file).read_text()) != (mutate.ROOT / mutant.file).read_text()


C_MESSAGES = r"""
static void
work(int count)
{
    if (count == 0)
        complain("there is "
                 "nothing\n");
    else
        complain(count == 1 ? "one of them" : "%d too many");
    query("SELECT a FROM b");
    open("plain");
    return strcmp(name_of(count), "the last one") == 0;
}
"""


@pytest.fixture
def found(tmp_path, monkeypatch):
    source = tmp_path / "work.c"
    source.write_text(C_MESSAGES)
    monkeypatch.setattr(messages, "ROOT", tmp_path)
    return list(messages.of_c(source))


def test_messages_are_texts_of_several_words(found):
    assert [message.text for message in found] == ["there is nothing", "one of them", "%d too many"]


def test_a_message_is_reached_when_its_statement_ran(found):
    assert messages.is_reached(found[0], {"work.c": {6: 1}}, "")
    assert not messages.is_reached(found[0], {"work.c": {5: 1, 6: 0}}, "there is nothing")


def test_one_of_several_in_a_statement_is_reached_when_a_test_names_it(found):
    ran = {"work.c": {9: 1}}
    assert messages.is_reached(found[1], ran, "it is one of them")
    assert not messages.is_reached(found[2], ran, "it is one of them")


def test_a_message_that_is_neither_reached_nor_listed_is_a_fault(found):
    tests = "there is nothing, one of them"
    listed = messages.read_listed("Why:\n\nwork.c: no path\nsrc/work.c: %d too many\n    nobody counts so far\n")
    assert listed == {"src/work.c: %d too many": True}
    assert list(messages.faults(found, {}, tests, {"work.c: %d too many": True})) == []
    assert list(messages.faults(found, {}, tests, {})) == ["no test reaches this message: work.c: %d too many"]


def test_a_stale_line_of_the_list_is_a_fault(found):
    listed = messages.read_listed("src/work.c: it was there\nsrc/work.c: one of them\n    it is rare\n")
    assert listed == {"src/work.c: it was there": False, "src/work.c: one of them": True}
    tests = "there is nothing, one of them, %d too many"
    stale = "tools/messages_unreached.txt lists what is reached or no message any more: "
    named = {"work.c: one of them": True}
    assert list(messages.faults(found, {}, tests, named)) == []
    assert list(messages.faults(found, {"work.c": {9: 1}}, tests, named)) == [f"{stale}work.c: one of them"]
    assert list(messages.faults(found, {}, tests, {"work.c: gone": False})) == [
        f"{stale}work.c: gone",
        "tools/messages_unreached.txt has no reason for: work.c: gone",
    ]


def test_every_message_of_sonde_is_named_in_a_test_or_listed_with_its_reason():
    listed = messages.read_listed(messages.UNREACHED.read_text())
    assert list(messages.faults(list(messages.messages()), {}, messages.read_tests(), listed)) == []


def test_counts_are_those_of_gcovr(tmp_path):
    lines = [{"line_number": 3, "count": 0}, {"line_number": 3, "count": 2}]
    (tmp_path / "coverage.json").write_text(json.dumps({"files": [{"file": "src/a.c", "lines": lines}]}))
    assert messages.read_counts(tmp_path / "coverage.json") == {"src/a.c": {3: 2}}


def test_function_bodies_are_found():
    bodies = in_functions(tokens("int a[] = {1}; int f(void) { return a[0]; }"))
    assert [[token.text for token in body] for body in bodies] == [["return", "a", "[", "0", "]", ";"]]
