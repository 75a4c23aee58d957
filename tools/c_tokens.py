"""The words of a C file, for tools that need no more than that: comments and the preprocessor's lines are left out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

TOKEN = re.compile(
    r"""
    (?P<skip> \s+ | //[^\n]* | /\*.*?\*/ | (?m:^)[ \t]*\#(?:\\\n|[^\n])* )
    | (?P<text> (?:u8|[LuU])?"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+' )
    | (?P<number> \.?\d(?:[eEpP][+-]|[\w.])* )
    | (?P<name> [A-Za-z_]\w* )
    | (?P<sign> <<= | >>= | \.\.\. | -> | \+\+ | -- | << | >> | [<>=!+\-*/%&|^]= | && | \|\| | . )
    """,
    re.VERBOSE | re.DOTALL,
)
CONTROL = {"if", "for", "while", "switch"}


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    found = (Token(str(match.lastgroup), match[0], match.start(), match.end()) for match in TOKEN.finditer(text))
    return [token for token in found if token.kind != "skip"]


def in_functions(all_tokens: list[Token]) -> Iterator[list[Token]]:
    """The bodies of functions, without their outer braces."""
    depth, first = 0, -1
    for i, token in enumerate(all_tokens):
        if token.text == "{":
            if depth == 0:
                first = i + 1 if i > 0 and all_tokens[i - 1].text == ")" else -1
            depth += 1
        elif token.text == "}":
            depth -= 1
            if depth == 0 and first >= 0:
                yield all_tokens[first:i]


def statements(body: list[Token]) -> Iterator[list[Token]]:
    """The statements of a function, each with what ends it: a semicolon, a brace, or the head of an if or a loop."""
    control: list[bool] = []  # for each open parenthesis, whether it belongs to an if, for, while or switch
    begin = 0
    for i, token in enumerate(body):
        text = token.text
        if text == "(":
            control.append(i > 0 and body[i - 1].text in CONTROL)
            continue
        if text == ")" and control:
            ends = control.pop() and not control
        elif text == ":":
            ends = not control and all(earlier.text != "?" for earlier in body[begin:i])  # a label
        else:
            ends = not control and text in (";", "{", "}", "else", "do")
        if ends:
            yield body[begin : i + 1]
            begin = i + 1
