"""The program output in README.md is what the program prints today, but for the numbers (tools/outputs.py)."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from chance import expect, repeats

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "outputs.py"

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


@repeats  # a busy machine can stretch a step of the program that leaks
def test_the_readme_shows_what_the_program_prints():
    pytest.importorskip("numpy")
    done = outputs("--check", ROOT / "README.md")
    expect(done.returncode == 0, done.stderr)


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


def test_a_failing_command_and_a_line_that_is_gone_change_nothing(tmp_path):
    for line in ("$ false", "sum 7\n…"):
        page = page_with(tmp_path, line)
        before = page.read_text()
        assert outputs(page).returncode == 1
        assert page.read_text() == before
