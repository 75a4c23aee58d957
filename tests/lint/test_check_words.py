"""What the check of words finds in each kind of file, and what it passes over."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import check_words


@pytest.fixture
def found(tmp_path):
    def findings(name, text):
        path = tmp_path / name
        path.write_text(text)
        return [line.removeprefix(f"{path}:") for line in check_words.check(path, check_words.known_words())]

    return findings


def test_a_phrase_is_named_with_its_line_and_a_better_one(found):
    assert found("a.md", "# Title\n\nThe number stands\nin the table.\n") == [
        "3: “stands”: write is, appears, means, represents"
    ]


def test_a_phrase_over_two_lines_is_found(found):
    assert [line.split(":")[0] for line in found("a.md", "Samples are\nlooked\nat.\n")] == ["2"]


def test_an_unknown_word_is_named(found):
    assert found("a.md", "A recieved signal.") == [
        "1: unknown word “recieved”: correct it, or add it to tools/words.txt"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Run `sonde xyzzy`, see [the page](xyzzy.md#stands) and <https://xyzzy.example>.",
        "```\nxyzzy stands\n```\n",
        "<!-- options of run -->\n| xyzzy | stands |\n<!-- end of options -->\n",
        "Names such as src/xyzzy/qwfp.c, SONDE_RUN, PyMem, --xyzzy=1, 3x and HTTP.",
        "A stand-alone program gave up; if there is a line, it is given. Sonde's threads stood still.",
    ],
)
def test_code_names_and_idioms_pass(found, text):
    assert found("a.md", text) == []


def test_docstrings_and_messages_of_python_are_read(found):
    source = '"""A recieved text."""\nKEY = "xyzzy"\n\n\ndef f():\n    print(f"it stands {KEY} here")\n'
    assert [line.split(": ")[0] for line in found("a.py", source)] == ["1", "6"]


def test_texts_of_c_are_read_and_comments_are_not(found):
    source = '/* it stands here */\nputs("the program "\n     "recieved %d signals");\nputs("xyzzy"); // it tells\n'
    assert found("a.c", source) == ["2: unknown word “recieved”: correct it, or add it to tools/words.txt"]


def test_texts_of_the_page_are_read(found):
    source = 'const a = "the page tells all"; // it stands\nconst b = <p>no recieved samples</p>;\n'
    assert [line.split(": ")[0] for line in found("a.tsx", source)] == ["1", "2"]


def test_the_labels_of_a_form_are_read(found):
    assert [line.split(": ")[0] for line in found("a.yml", "id: xyzzy\nlabel: What stands there?\n")] == ["2"]


def test_the_project_words_are_sorted_and_needed():
    words = check_words.PROJECT_WORDS.read_text().split()
    assert words == sorted(set(words), key=lambda word: (word.lower(), word))
    assert not set(words) & set(check_words.DICTIONARY.read_text().split())


def test_everything_public_is_checked():
    names = {str(path.relative_to(check_words.ROOT)) for path in check_words.chosen()}
    assert {
        "README.md",
        "docs/sampling.md",
        "CHANGELOG.md",
        "examples/demo.py",
        ".github/ISSUE_TEMPLATE/bug.yml",
    } <= names
    assert "docs/api.md" not in names
