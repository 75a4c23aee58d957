"""Regenerates the program output shown in README.md and docs/.

`python tools/outputs.py` runs the commands and writes what they print, with the interpreter that has sonde installed.
With --check it compares instead, numbers masked, and names the blocks that differ. A block is marked by a comment:

    <!-- regenerated -->
    ```
    $ sonde run --no-report -o words.sonde words.py
    $ sonde view words.sonde --lines
    …
    ```

The commands run in an empty folder that has all programs of examples/. `python NAME.py` of a file that is not one of
them runs the Python block before this one. `…` leaves lines out: the lines around it are looked up in the new output,
in order. A block that cannot be filled in like that stays as it is, and a message names it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?<=^<!-- regenerated -->\n```\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PLACE = re.compile(r"[\w/]+\.\w+:\d+")
NUMBER = re.compile(r"[-+±]*\d[\d,.]*(?:e-?\d+)?(?: ?(?:%|[KMG]i?B(?:/s)?|B|[num]s|µs|s)(?!\w))?")
MISSING = "…"


class OutdatedError(Exception):
    """A block that the new output cannot fill."""


def masked(line: str) -> str:
    """A line without what differs from run to run: numbers, widths, rules and curves. Places such as prog.py:7 stay."""
    line = re.sub(r"[▁▂▃▄▅▆▇█]+", "#", line)
    line = re.sub(r"-{3,}", "---", line)
    kept = [masked_numbers(piece) for piece in PLACE.split(line)]
    places = PLACE.findall(line)
    whole = "".join(text for pair in zip(kept, [*places, ""], strict=True) for text in pair)
    return re.sub(r"(?:#\s*)+", "# ", re.sub(r"(?:---\s*)+", "---", re.sub(r"\s+", " ", whole))).strip()


def masked_numbers(text: str) -> str:
    return NUMBER.sub("#", text)


def run(command: str, folder: Path) -> list[str]:
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": ""}
    env |= {"OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C.UTF-8", "COLUMNS": "160"}
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    text = done.stdout.replace(f"{folder}/", "")
    if done.returncode != 0:
        raise OutdatedError(f"{command}: status {done.returncode}\n{text}")
    return [line.rstrip() for line in text.splitlines()]


def commands_of(block: str) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the lines shown below it."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
        else:
            raise OutdatedError("the block does not begin with a command")
    return found


def fill(shown: list[str], new: list[str]) -> list[str]:
    """What to show of a command's new output."""
    if MISSING not in shown:
        return new
    filled, rest = [], iter(new)
    for line in shown:
        if line != MISSING:
            found = next((other for other in rest if masked(other) == masked(line)), None)
            if found is None:
                raise OutdatedError(
                    f"the output has changed too much: write the block again by hand; it has no line like: {line}"
                )
            line = found
        filled.append(line)
    return filled


def is_same(shown: list[str], new: list[str]) -> bool:
    """Rows may change places, since they are sorted by what was measured."""
    old, now = Counter(map(masked, shown)), Counter(map(masked, new))
    if MISSING in shown:
        del old[MISSING]
        return old <= now
    return old == now


def prepare(folder: Path, text: str, commands: list[tuple[str, list[str]]]) -> None:
    for path in (ROOT / "examples").rglob("*.py"):
        shutil.copy(path, folder)
    for command, _ in commands:
        name = re.search(r"python (\w+\.py)", command)
        if name is not None and not (folder / name[1]).exists():
            (folder / name[1]).write_text(PYTHON.findall(text)[-1], encoding="utf-8")


def block_of(block: str, before: str, is_check: bool) -> tuple[str, list[str]]:
    """A block as it should be, and with --check the commands that print something else; `before` is the page above."""
    commands = commands_of(block)
    lines, other = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, before, commands)
        for command, shown in commands:
            new = run(command, folder)
            if is_check and not is_same(shown, new):
                other.append("\n".join([f"$ {command}", *new]))
            lines += [f"$ {command}", *(shown if is_check else fill(shown, new))]
    return "\n".join(lines) + "\n", other


def page_of(page: Path, text: str, is_check: bool) -> tuple[str, list[str]]:
    """A page with its blocks as they should be, and messages about those that are not."""
    faults = []

    def replaced(found: re.Match[str]) -> str:
        try:
            block, other = block_of(found[0], text[: found.start()], is_check)
        except OutdatedError as error:
            first = found[0].partition("\n")[0]
            faults.append(f"{page.name}: the block '{first}': {error}")
            return found[0]
        faults.extend(f"{page.name} shows another output; run: python tools/outputs.py\n{one}" for one in other)
        return block

    return BLOCK.sub(replaced, text), faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("pages", nargs="*", type=Path, help="these pages only")
    given = parser.parse_args()
    status = 0
    for page in given.pages or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        new, faults = page_of(page, text, given.check)
        if new != text:
            page.write_text(new, encoding="utf-8")
        for fault in faults:
            print(fault, file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
