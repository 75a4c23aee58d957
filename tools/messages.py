"""Lists the messages that users can get and no test reaches.

Usage: python tools/messages.py [COVERAGE.json], which is gcovr's --json of all tests; `make coverage` does that.
Without it the texts alone decide, and every message must be named in a test; tests/lint checks that.

In C, a message is a text of several words in a function, and it is reached when a line of its statement ran. Where
that does not decide (one of several texts in a statement, a table, a status) and in Python, three of its words in a row
must be in some test. tools/messages_unreached.txt lists the messages that no test can reach, each with its reason; any
other one that is not reached makes this fail, and so does a line of the list that is stale or has no reason.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from c_tokens import Token, in_functions, statements, tokens

ROOT = Path(__file__).resolve().parent.parent
UNREACHED = ROOT / "tools" / "messages_unreached.txt"
PROSE = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}")
FILLED_IN = re.compile(r"%[-+#0-9.*]*(?:ll|l|h|z)?[a-zA-Z]|\{\}")
# SQL, HTML and Python.
NOT_FOR_PEOPLE = re.compile(
    r"(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|WITH|FROM|WHERE|ORDER)\b|</?\w+ \w+=|import [^:]*;"
)
STATUS = re.compile(r'\bX\((\w+), "([^"]+)"\)')


@dataclass(frozen=True)
class Message:
    file: str
    text: str
    lines: range  # of its statement; empty when only the text can say whether it is reached
    name: str = ""  # of a status

    def __str__(self) -> str:
        return f"{self.file}: {self.text}"


def is_prose(text: str) -> bool:
    return PROSE.search(FILLED_IN.sub("0", text)) is not None and NOT_FOR_PEOPLE.match(text) is None


def is_compared(statement: list[Token], i: int) -> bool:
    """Whether the text at `i` is an argument of strcmp, or says what arguments follow: then it is read, not said."""
    depth = 0
    for token in reversed(statement[:i]):
        depth += {")": 1, "(": -1}.get(token.text, 0)
        if depth < 0:
            before = statement.index(token) - 1
            return before >= 0 and statement[before].text in ("strcmp", "strncmp", "Py_BuildValue")
    return False


def joined(literals: list[Token]) -> str:
    """The text of literals that follow one another, on one line."""
    text = "".join(token.text[token.text.index('"') + 1 : -1] for token in literals)
    return " ".join(text.replace("\\n", " ").replace('\\"', '"').split())


def texts(statement: list[Token]) -> Iterator[str]:
    found: list[Token] = []
    for i, token in enumerate([*statement, None]):
        if token is not None and token.kind == "text" and token.text.endswith('"'):
            if not is_compared(statement, i):
                found.append(token)
        elif found:
            yield joined(found)
            found = []


def of_c(path: Path) -> Iterator[Message]:
    text = path.read_text()
    name = str(path.relative_to(ROOT))
    for body in in_functions(tokens(text)):
        for statement in statements(body):
            for message in texts(statement):
                if not is_prose(message):
                    continue
                first, last = (text.count("\n", 0, statement[i].start) + 1 for i in (0, -1))
                choice = any(token.text == "?" for token in statement)
                yield Message(name, message, range(0) if choice else range(first, last + 1))


def of_status() -> Iterator[Message]:
    path = ROOT / "src" / "base" / "status.h"
    for name, text in STATUS.findall(path.read_text()):
        yield Message(str(path.relative_to(ROOT)), text, range(0), f"SND_{name}")


def constant(node: ast.AST) -> str:
    """A text as it is written, with {} for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(constant(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return ""


def of_python(path: Path) -> Iterator[Message]:
    """What is raised, warned of or written: a text that is an argument."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            for argument in node.args:
                text = " ".join(constant(argument).split())
                if is_prose(text):
                    yield Message(str(path.relative_to(ROOT)), text, range(0))


def messages() -> Iterator[Message]:
    yield from of_status()
    for path in sorted((ROOT / "src").rglob("*.c")):
        yield from of_c(path)
    for path in sorted((ROOT / "python").glob("**/*.py")):
        yield from of_python(path)


def read_counts(path: Path) -> dict[str, dict[int, int]]:
    """How often each line ran, by file and line. A line with several functions' counts has the largest."""
    counts: dict[str, dict[int, int]] = {}
    for file in json.loads(path.read_text())["files"]:
        of_file = counts.setdefault(file["file"], {})
        for line in file["lines"]:
            number = line["line_number"]
            of_file[number] = max(line["count"], of_file.get(number, 0))
    return counts


def read_tests() -> str:
    """The text of all tests, with literals that follow one another joined as the compiler does."""
    left_out = {"corpus", "lint"}  # bytes for the fuzzer, and tests that run nothing of ours
    found = [path for path in sorted((ROOT / "tests").rglob("*")) if path.is_file() and not left_out & {*path.parts}]
    text = " ".join(path.read_text(errors="replace") for path in found)
    return " ".join(re.sub(r'"\s*\\?\s*f?"', "", text).split())


def is_in(tests: str, message: Message) -> bool:
    if message.name and re.search(rf"\b{message.name}\b", tests):
        return True
    for part in FILLED_IN.split(message.text):
        words = re.findall(r"\S*\w\S*", part)
        size = min(3, len(words))
        if size > 1 and any(" ".join(words[i : i + size]) in tests for i in range(len(words) - size + 1)):
            return True
    return False


def is_reached(message: Message, counts: dict[str, dict[int, int]], tests: str) -> bool:
    of_file = counts.get(message.file, {})
    ran = [of_file[line] for line in message.lines if line in of_file]
    return max(ran) > 0 if ran else is_in(tests, message)


def read_listed(text: str) -> dict[str, bool]:
    """The messages of the list, and whether a reason stands below each."""
    lines = text.splitlines()
    follows = zip(lines, [*lines[1:], ""], strict=True)
    return {line: bool(re.match(r" +\S", below)) for line, below in follows if line.startswith(("src/", "python/"))}


def faults(
    found: list[Message], counts: dict[str, dict[int, int]], tests: str, listed: dict[str, bool]
) -> Iterator[str]:
    """Without counts nobody knows whether a listed message is reached: a test may name it and not get it."""
    missing = {str(message) for message in found if not is_reached(message, counts, tests)}
    alive = missing if counts else {str(message) for message in found}
    for line in sorted(missing - listed.keys()):
        yield f"no test reaches this message: {line}"
    for line in sorted(listed.keys() - alive):
        yield f"tools/messages_unreached.txt lists what is reached or no message any more: {line}"
    for line in sorted(line for line in listed if not listed[line]):
        yield f"tools/messages_unreached.txt has no reason for: {line}"


def main() -> int:
    counts, listed = read_counts(Path(sys.argv[1])) if len(sys.argv) > 1 else {}, read_listed(UNREACHED.read_text())
    found = list(messages())
    wrong = list(faults(found, counts, read_tests(), listed))
    for fault in wrong:
        print(fault)
    print(f"{len(found)} messages, {len(listed)} listed as unreachable, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
