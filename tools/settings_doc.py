"""Writes the tables of options in docs/ from the table of settings (src/collect/setting_table.c).

`python tools/settings_doc.py` writes them, with the interpreter that has sonde installed; with --check it only says
which pages are out of date. A table stands between two comments of a page:

    <!-- options of run: memory -->        all options of a command, or those that are named, with what is part of them
    <!-- end of options -->
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

from sonde import _core

PAGES = Path(__file__).resolve().parent.parent / "docs"
TABLE = re.compile(r"(<!-- options of (\w+)(?:: ([\w -]+?))? -->\n).*?(?=<!-- end of options -->)", re.DOTALL)
# Parts of a line of help that are code: patterns, names of recordings, functions.
CODE = re.compile(r"\*[\w/]+\*|[\w-]+\.sonde\b|sonde\.\w+\(\)")


def row_of(setting: dict[str, Any]) -> str:
    letter = f"`-{setting['letter']}`, " if setting["letter"] else ""
    option = " ".join(filter(None, (f"--{setting['name']}", setting["value"])))
    about = CODE.sub(r"`\g<0>`", setting["about"])
    return f"| {letter}`{option}` | {about}{'. ' if setting['more'] else ''}{setting['more'] or ''} |\n"


def table_of(command: str, names: list[str]) -> str:
    chosen = [
        setting
        for setting in _core.settings()
        if command in setting["of"]
        and setting["about"] is not None
        and (not names or setting["name"] in names or setting["part_of"] in names)
    ]
    return "| option | meaning |\n|---|---|\n" + "".join(map(row_of, chosen))


def page_of(text: str) -> str:
    """A page with its tables as they should be."""
    return TABLE.sub(lambda found: found[1] + table_of(found[2], (found[3] or "").split()), text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say which pages are out of date")
    is_check = parser.parse_args().check
    old = 0
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if page_of(text) == text:
            continue
        if is_check:
            print(f"docs/{page.name} is out of date; run: python tools/settings_doc.py", file=sys.stderr)
            old = 1
        else:
            page.write_text(page_of(text), encoding="utf-8")
    return old


if __name__ == "__main__":
    sys.exit(main())
