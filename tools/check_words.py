"""Checks the words of public text: spelling, and phrases for which there is a better one.

`python tools/check_words.py [FILE …]` names each finding with its place; without files it checks all public text.
Words are those of Debian's `wamerican` and of tools/words.txt, which has technical words and names. PHRASES has what
to avoid and what to write instead. Program output, code and generated tables are not checked: their words come from
the sources.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DICTIONARY = Path("/usr/share/dict/american-english")
PROJECT_WORDS = ROOT / "tools" / "words.txt"

PAGES = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/*.md",
    "examples/**/*.py",
    ".github/ISSUE_TEMPLATE/*.yml",
]
CODE = [
    "src/**/*.[ch]",
    "python/sonde/**/*.py",
    "web/src/**/*.ts*",
]
CHECKED = PAGES + CODE
GENERATED = {"docs/api.md"}  # from docstrings
# Texts in these are code for a shell; the sentences that they print come from elsewhere.
SHELL_CODE = {f"src/cli/complete/complete_{shell}.c" for shell in ("bash", "zsh", "fish")}

# A regular expression for what to avoid, and what to write instead.
PHRASES = [
    (r"\bstands?\b(?!-)|\bstood\b(?! still)", "is, appears, means, represents"),
    (r"\btells?\b|\btold\b", "says, shows, reports, distinguishes"),
    (r"\b(?:is|are|was|were) there\b(?! (?:a|an|any|no|is)\b)", "exists, is available; or name who has it"),
    (r"\bgives\b|\bgave\b(?! up)", "returns, shows, writes, means"),
    (r"\bgives? back\b|\bgiven back\b", "returns, restores, releases"),
    (r"\blook(?:s|ed|ing)? at\b", "sample, check, open, read"),
    (r"\b(?:a|each|every|one|last|next|late) look\b|\blooks (?:a second|come|came|begin|become)\b", "a sample, a tick"),
    (r"\b(?:any|no)body looked\b", "it was sampled"),
    (r"\b(?:is|are|be|can be) had\b", "is available"),
    (r"\bwhat you get anyway\b", "the default"),
    (r"\bwhen not given\b", "(default …)"),
    (r"\bcannot bear\b", "breaks with"),
    (r"\bbeside\b", "next to, with, compared with"),
    (r"\bdo what they say\b", "say what each command does"),
    (r"\bis good to \+-", "sampling error"),
    (r"\bas ever\b", "as usual, still"),
    (r"\b(?:is|are) meant\b", "means"),
    (r"\bseveral with commas\b", "separated by commas"),
    (r"\bone's own\b", "your own"),
    (r"\bof ours\b", "of sonde's"),
    (r"\bwhat a recording is of\b", "a recording's metadata"),
    (r"\bcosts? detail, not truth\b", "reduces precision but does not bias totals"),
    (
        r"\b(?:ns|us|µs|ms|bytes?|calls?|numbers?|rows?|lines?|nodes?|events?|values?|profiles?) "
        r"an? (?:call|row|line|node|thread|process|point|entry|sample|stack|function|frame|leak|request|loop)\b",
        "per call, per row, …",
    ),
    (r"\bSum of all 1\b", "Total (1 …)"),
    (r"\bmeasurement a process\b", "one profiling session per process"),
    (r"\bmust stand\b", "no … given"),
    (r"\bfor people\b|\bfor somebody\b", "for you; or name the reader"),
]
BANNED = [(re.compile(bad.replace(" ", r"\s+"), re.IGNORECASE), good) for bad, good in PHRASES]

WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")
# What is no prose in a page: code, links' targets, comments, generated tables.
NOT_PROSE = re.compile(
    r"^<!-- (?:options of|ways|not seen).*?^(?:<!-- end[^\n]*|```$)|^```.*?^```$|<!--.*?-->|`[^`\n]+`|\]\([^)]*\)|https?://[^\s)>]+|<[^>\s]+>",
    re.DOTALL | re.MULTILINE,
)
# What is no prose inside a sentence: options, paths, placeholders, names with digits, signs or capitals inside.
NOT_WORDS = re.compile(
    r"\bf'|%{1,2}[a-z]{4,}|\w*%[-+#0-9.*]*(?:ll|l|h|z)?[a-zA-Z]|\{[^}]*\}|\$\w+|--?\w[\w-]*(?==)|(?<!\w)--[\w-]+|\\[nt\"\\]|\w*(?:[/._=@*]\w+)+/?|\w*[0-9_]\w*|\b[a-z]*[A-Z]+[a-z]*[A-Z]\w*|\b\w+\(\)"
)
C_TEXT = re.compile(
    r'/\*.*?\*/|//[^\n]*|\'(?:\\.|[^\'\\\n])+\'|(?P<text>"(?:\\.|[^"\\\n])*"(?:[\s\\]*"(?:\\.|[^"\\\n])*")*)', re.DOTALL
)
TS_TEXT = re.compile(
    r"/\*.*?\*/|//[^\n]*|(?P<text>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
    r"|>[^<>{}=;]*[A-Za-z]{2} [A-Za-z][^<>{}=;]*<)",
    re.DOTALL,
)
SENTENCE = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}")
# SQL and HTML, which no reader sees.
NOT_SAID = re.compile(r"(?i:select|insert|update|delete|create|pragma|with recursive)\b|</?\w+ \w+=")

Texts = Iterator[tuple[int, str]]  # the line at which a text begins, and the text


def blanked(found: re.Match[str]) -> str:
    """As many lines as before, so that places stay right, and no word."""
    return " ; " + "\n" * found[0].count("\n")


def in_page(source: str) -> Texts:
    yield 1, NOT_PROSE.sub(blanked, source)


def in_form(source: str) -> Texts:
    for number, line in enumerate(source.splitlines(), 1):
        if found := re.match(r"\s*(?:- )?(?:label|description|name): (.*)", line):
            yield number, NOT_PROSE.sub(blanked, found[1])


def in_python(source: str) -> Texts:
    tree = ast.parse(source)
    docs = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            docs.add(node.body[0].value)  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (node in docs or is_said(node.value)):
            prose = re.sub(r"``[^`]+``|`[^`\n]+`|^\s*(?:>>>|\.\.\.).*$", " ; ", node.value, flags=re.MULTILINE)
            yield node.lineno, prose


def in_literals(pattern: re.Pattern[str]) -> Callable[[str], Texts]:
    def texts(source: str) -> Texts:
        for found in pattern.finditer(source):
            text = re.sub(r'"[\s\\]*"', "", found["text"] or "")[1:-1]
            if is_said(text):
                yield source.count("\n", 0, found.start()) + 1, text

    return texts


def is_said(text: str) -> bool:
    return SENTENCE.search(text) is not None and NOT_SAID.match(text.strip()) is None


READERS: dict[str, Callable[[str], Texts]] = {
    ".md": in_page,
    ".yml": in_form,
    ".py": in_python,
    ".c": in_literals(C_TEXT),
    ".h": in_literals(C_TEXT),
    ".ts": in_literals(TS_TEXT),
    ".tsx": in_literals(TS_TEXT),
}


def known_words() -> set[str]:
    words = DICTIONARY.read_text(encoding="utf-8").split() + PROJECT_WORDS.read_text(encoding="utf-8").split()
    return {*words, *(word.lower() for word in PROJECT_WORDS.read_text(encoding="utf-8").split())}


def is_known(word: str, known: set[str]) -> bool:
    plain = re.sub(r"['’]s$|(?<=s)['’]$", "", word)
    return (
        len(plain) < 3
        or plain.isupper()
        or any(form in known for form in (plain, plain.lower(), plain.capitalize(), word.lower()))
    )


def findings(text: str, known: set[str]) -> Iterator[tuple[int, str]]:
    """(offset, what is wrong) in a text."""
    for bad, good in BANNED:
        for found in bad.finditer(text):
            yield found.start(), f"“{' '.join(found[0].split())}”: write {good}"
    for found in WORD.finditer(NOT_WORDS.sub(lambda part: " " * len(part[0]), text)):
        if not is_known(found[0], known):
            yield found.start(), f"unknown word “{found[0]}”: correct it, or add it to tools/words.txt"


def check(path: Path, known: set[str]) -> list[str]:
    found = []
    for first, text in READERS[path.suffix](path.read_text(encoding="utf-8")):
        for offset, fault in findings(text, known):
            found.append((first + text.count("\n", 0, offset), fault))
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    return [f"{name}:{line}: {fault}" for line, fault in sorted(found)]


def chosen() -> list[Path]:
    paths = {path for pattern in CHECKED for path in ROOT.glob(pattern)}
    left_out = GENERATED | SHELL_CODE
    return sorted(path for path in paths if path.suffix in READERS and str(path.relative_to(ROOT)) not in left_out)


def main(args: list[str]) -> int:
    if not DICTIONARY.exists():
        print(f"{DICTIONARY} is missing; install the Debian package wamerican", file=sys.stderr)
        return 2
    known = known_words()
    faults = [fault for path in [Path(arg).resolve() for arg in args] or chosen() for fault in check(path, known)]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
