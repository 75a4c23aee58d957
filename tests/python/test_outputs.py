"""The program output in README.md and docs/ is what the program prints, but for the numbers (tools/outputs.py)."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from chance import expect, repeats

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "outputs.py"
MARK = "<!-- regenerated -->"
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if MARK in page.read_text()]

PAGE = """
```python
print("total", 1 + 1)
print("other")
```
<!-- regenerated -->
```
$ python small.py
{}
```
"""


@pytest.fixture
def tool():
    return runpy.run_path(str(TOOL))


def page_with(folder, *lines):
    page = folder / "page.md"
    page.write_text(PAGE.format("\n".join(lines)))
    return page


def outputs(*args):
    return subprocess.run([sys.executable, TOOL, *args], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@repeats  # a busy machine can stretch a step of the program that leaks, or leave all work to one of two threads
def test_a_page_shows_what_the_program_prints(page):
    pytest.importorskip("numpy")
    done = outputs("--check", page)
    expect(done.returncode == 0, done.stderr)


def test_the_pages_with_fast_programs_are_regenerated():
    names = {page.stem for page in PAGES}
    assert names >= {"README", "calls", "export", "memory", "merge", "regions"}


def test_every_output_of_the_readme_is_regenerated(tool):
    text = (ROOT / "README.md").read_text()
    assert len(tool["BLOCK"].findall(text)) == len(re.findall(r"^```\n\$ ", text, re.MULTILINE)) >= 3
    assert text.count("\n") <= 150


def test_numbers_and_widths_are_masked_and_places_are_not(tool):
    old = "words.py:24    41.28%          41.22%   0.06%  return zlib.compress(text.encode(), 9)"
    new = "words.py:24     4.1%  3.21%  9%  return zlib.compress(text.encode(), 9)"
    masked = tool["masked"]
    assert masked(old) == masked(new) == "words.py:24 # return zlib.compress(text.encode(), # )"
    assert masked("---  -----") == masked("-------  ---")
    assert masked("a.py:1  2 ms") != masked("a.py:2  2 ms")
    assert masked("3 leaks") != masked("3 lines leak")


@pytest.mark.parametrize("lines", [["total 77", "other"], ["other", "total 2"], ["…", "other"]])
def test_other_numbers_orders_and_left_out_lines_pass(tmp_path, lines):
    assert outputs("--check", page_with(tmp_path, *lines)).returncode == 0


@pytest.mark.parametrize("lines", [["total 2"], ["totals 2", "other"], ["…", "another"]])
def test_another_output_is_noticed(tmp_path, lines):
    page = page_with(tmp_path, *lines)
    before = page.read_text()
    done = outputs("--check", page)
    assert done.returncode == 1
    assert done.stderr.startswith(
        "page.md shows another output; run: python tools/outputs.py\n$ python small.py\ntotal 2\n"
    )
    assert page.read_text() == before


def test_an_old_output_is_written_again(tmp_path):
    page = page_with(tmp_path, "sum 7")
    assert outputs(page).returncode == 0
    assert page.read_text() == PAGE.format("total 2\nother")
    page = page_with(tmp_path, "total 7", "…")
    assert outputs(page).returncode == 0
    assert page.read_text() == PAGE.format("total 2\n…")


def test_a_blank_line_is_filled_in(tmp_path):
    page = page_with(tmp_path, "total 2", "other", "$ printf 'a 1\\n\\nb 2\\nc\\n'", "a 7", "", "b 8", "…")
    assert outputs(page).returncode == 0
    assert page.read_text().splitlines()[-6:-1] == ["$ printf 'a 1\\n\\nb 2\\nc\\n'", "a 1", "", "b 2", "…"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("$ false", "false: status 1\n\n"),
        ("sum 7\n…", "the output has changed too much: write the block again by hand; it has no line like: sum 7\n"),
    ],
)
def test_a_block_that_cannot_be_filled_in_is_named_and_stays_while_others_are_written(tmp_path, line, why):
    page = page_with(tmp_path, line)
    before = page.read_text()
    page.write_text(before + PAGE.format("old"))
    done = outputs(page)
    assert (done.returncode, done.stderr) == (1, f"page.md: the block '$ python small.py': {why}")
    assert page.read_text() == before + PAGE.format("total 2\nother")
