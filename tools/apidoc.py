"""Writes docs/api.md from the docstrings of the package and the comments of include/sonde.h.

`python tools/apidoc.py` writes the file; with --check it only says whether the file is up to date. Nothing is
imported: the sources are read, so that it runs before anything is built.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "sonde"
PYTHON = ROOT / "src" / "python"
OUTPUT = ROOT / "docs" / "api.md"
HEAD = """# API reference

Made by `tools/apidoc.py` from the docstrings of the package and the comments of `include/sonde.h`; edit those. For
guides with examples, see [sampling.md](sampling.md), [memory.md](memory.md),
[ops.md](ops.md), [graph.md](graph.md), [regions.md](regions.md), [calls.md](calls.md)
and [web.md](web.md).
"""


# ---- Python ----


def as_markdown(docstring: str) -> str:
    """A docstring with its examples fenced."""
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", docstring).replace("``", "`")
    lines: list[str] = []
    inside = False
    for line in [*inspect.cleandoc(text).splitlines(), ""]:
        if line.startswith(">>> ") and not inside:
            lines.append("```pycon")
            inside = True
        if inside and not line:
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join(lines).strip()


def signature(function: ast.FunctionDef, name: str | None = None) -> str:
    """`name(arguments) -> result`, over several lines where it is long; without self."""
    arguments = [spaced(part) for part in split_arguments(ast.unparse(function.args)) if part not in ("self", "")]
    if arguments[-1:] == ["/"] and len(arguments) == 1:
        arguments = []
    result = "" if function.returns is None or name is not None else f" -> {ast.unparse(function.returns)}"
    line = f"{name or function.name}({', '.join(arguments)}){result}"
    if len(line) <= 100:
        return line
    inside = "".join(f"    {part},\n" for part in arguments)
    return f"{name or function.name}(\n{inside}){result}"


def spaced(argument: str) -> str:
    """With spaces around the `=` after a type."""
    return re.sub(r"^(\**\w+: .*?)=", r"\1 = ", argument)


def split_arguments(text: str) -> list[str]:
    """Splits at the commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def fenced(code: str, language: str) -> str:
    return f"```{language}\n{code}\n```"


def is_overload(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(decorator) == "overload" for decorator in function.decorator_list)


def parse(path: Path) -> ast.Module:
    """A module, with what it only says to type checkers at its top level."""
    tree = ast.parse(path.read_text())
    body: list[ast.stmt] = []
    for item in tree.body:
        hidden = isinstance(item, ast.If) and ast.unparse(item.test) == "TYPE_CHECKING"
        body += item.body if isinstance(item, ast.If) and hidden else [item]
    tree.body = body
    return tree


def functions_of(body: list[ast.stmt]) -> dict[str, list[ast.FunctionDef]]:
    """Public functions by name; all overloads of one, and its implementation last."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for item in body:
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
            found.setdefault(item.name, []).append(item)
    return found


def document_function(versions: list[ast.FunctionDef], title: str) -> str:
    shown = [version for version in versions if is_overload(version)] or versions
    code = "\n".join(signature(version) for version in shown)
    return f"{title}\n\n{fenced(code, 'python')}\n\n{as_markdown(ast.get_docstring(versions[-1]) or '')}"


def is_property(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(decorator) == "property" for decorator in function.decorator_list)


def document_class(item: ast.ClassDef, bases: dict[str, ast.ClassDef]) -> str:
    """A class with its arguments and members; what it inherits from a private class stands here, too."""
    body = [*item.body]
    for base in item.bases:
        if isinstance(base, ast.Name) and base.id in bases:
            own = {member.name for member in body if isinstance(member, ast.FunctionDef)}
            inherited = [m for m in bases[base.id].body if isinstance(m, ast.FunctionDef) and m.name not in own]
            body += inherited
    parts = [f"### `{item.name}`"]
    start = next((m for m in body if isinstance(m, ast.FunctionDef) and m.name == "__init__"), None)
    documented = ast.get_docstring(item) or ""
    if start is not None and ">>>" in documented:  # users make one: the example shows it
        parts.append(fenced(signature(start, item.name), "python"))
    parts.append(as_markdown(documented))
    members = []
    for name, versions in functions_of(body).items():
        shown = name if is_property(versions[0]) else signature(versions[-1])
        members.append(bullet(f"`.{shown}`", one_line(ast.get_docstring(versions[-1]))))
    attributes = attributes_of(start)
    if attributes:
        members.append(bullet("attributes", ", ".join(f"`{name}`" for name in attributes)))
    parts.append("\n".join(members))
    return "\n\n".join(part for part in parts if part)


def bullet(head: str, text: str) -> str:
    line = f"- {head}: {text}" if text else f"- {head}"
    return textwrap.fill(line, 118, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def attributes_of(start: ast.FunctionDef | None) -> list[str]:
    """The public attributes that a constructor sets, with their types where it says them."""
    found = []
    for item in [] if start is None else start.body:
        target = getattr(item, "target", None) or getattr(item, "targets", [None])[0]
        if isinstance(target, ast.Attribute) and not target.attr.startswith("_"):
            kind = f": {ast.unparse(item.annotation)}" if isinstance(item, ast.AnnAssign) else ""
            found.append(f"{target.attr}{kind}")
    return found


def one_line(docstring: str | None) -> str:
    """The prose of a member's docstring."""
    text = inspect.cleandoc(docstring or "").split("\n\n>>>")[0]
    return " ".join(text.replace("``", "`").split())


def document_constants(tree: ast.Module, source: str) -> str:
    """Public constants that a `#:` comment explains."""
    lines = source.splitlines()
    parts = []
    for item in tree.body:
        if not isinstance(item, (ast.Assign, ast.AnnAssign)):
            continue
        above = lines[item.lineno - 2].strip()
        name = ast.unparse(item.targets[0] if isinstance(item, ast.Assign) else item.target)
        if above.startswith("#:") and not name.startswith("_"):
            value = ast.unparse(item.value) if item.value else ""
            text = above[2:].strip().replace("``", "`")
            parts.append(f"### `{name}`\n\n{fenced(f'{name} = {value}', 'python')}\n\n{text}")
    return "\n\n".join(parts)


def document_module(name: str, path: Path) -> str:
    source = path.read_text()
    tree = parse(path)
    classes = {item.name: item for item in tree.body if isinstance(item, ast.ClassDef)}
    private = {key: item for key, item in classes.items() if key.startswith("_")}
    parts = [f"## `{name}`", as_markdown(ast.get_docstring(tree) or "")]
    parts += [document_function(versions, f"### `{key}`") for key, versions in functions_of(tree.body).items()]
    parts += [document_class(item, private) for key, item in classes.items() if key not in private]
    parts.append(document_constants(tree, source))
    return "\n\n".join(part for part in parts if part)


def c_docstrings(path: Path) -> dict[str, str]:
    """name -> docstring of the functions in the method table of a C file; those without one are not public."""
    found = {}
    for name, literals in re.findall(r'\{"(\w+)", [^{}]*?PyDoc_STR\(((?:\s*"(?:[^"\\]|\\.)*")+)\)\}', path.read_text()):
        text = "".join(ast.literal_eval(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', literals))
        found[name] = text.partition("--\n\n")[2]
    return found


def document_core() -> str:
    """The functions that are written in C: their types from the stub, their docstrings from the method table."""
    stub = functions_of(parse(PACKAGE / "_core.pyi").body)
    parts = []
    for name, docstring in c_docstrings(PYTHON / "module" / "module.c").items():
        code = fenced(signature(stub[name][-1]), "python")
        parts.append(f"### `{name}`\n\n{code}\n\n{as_markdown(docstring)}")
    return "\n\n".join(parts)


def document_calls() -> str:
    """The methods of a profile of calls that are written in C."""
    found = c_docstrings(PYTHON / "calls" / "call_probe.c")
    lines = [bullet(f"`.{name}`", one_line(text)) for name, text in found.items()]
    return "\n".join(["Methods of `Profile` that are written in C:", "", *lines])


# ---- C ----


def split_header(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The comment at the top, and (comment, declarations) one by one. A paragraph without a comment belongs to the
    comment before it."""
    top = re.match(r"/\*(.*?)\*/", text, re.DOTALL)
    assert top is not None, "the header starts with a comment"
    entries: list[tuple[str, str]] = []
    for paragraph in re.split(r"\n\n+", text[top.end() :]):
        comment = re.match(r"\s*/\*(.*?)\*/\n", paragraph, re.DOTALL)
        code = paragraph[comment.end() :] if comment else paragraph
        if comment:
            entries.append((plain(comment[1]), code))
        elif entries and not re.match(r"\s*#(ifdef|ifndef|endif|include)", code):
            about, before = entries[-1]
            entries[-1] = (about, f"{before}\n{code}")
    return plain(top[1]), [entry for entry in entries if not entry[0].startswith("Part of ")]


def plain(comment: str) -> str:
    """The text of a comment without its stars."""
    return "\n".join(re.sub(r"^ \* ?", "", line) for line in comment.strip().splitlines()).strip()


def declarations(code: str) -> str:
    """Macros without what they expand to."""
    code = re.sub(r"\\\n", "", code)
    return re.sub(r"^(#define \w+(?:\([^)]*\))?).*$", r"\1", code, flags=re.MULTILINE).strip()


def names_in(code: str) -> list[str]:
    found = re.findall(r"^#define (\w+)|^\}\s*(\w+);|^typedef struct \w+ (\w+);|(\bsonde_\w+)\(", code, re.MULTILINE)
    return list(dict.fromkeys(name for group in found for name in group if name))


def header_top(text: str) -> str:
    """The header's own comment: paragraphs, with the indented example fenced."""
    prose, _, example = text.partition("\n\n    ")
    paragraphs = [" ".join(part.split()) for part in prose.split("\n\n")]
    first = paragraphs[0].partition(": ")[2]
    paragraphs[0] = first[:1].upper() + first[1:]
    return (
        "\n\n".join(textwrap.fill(part, 118) for part in paragraphs)
        + "\n\n"
        + fenced(inspect.cleandoc(f"    {example}"), "c")
    )


def document_header(path: Path) -> str:
    top, entries = split_header(path.read_text())
    parts = ["## C: `sonde.h`", header_top(top)]
    for comment, code in entries:
        shown = declarations(code)
        title = ", ".join(f"`{name}`" for name in names_in(shown))
        parts.append(f"### {title}\n\n{fenced(shown, 'c')}\n\n{textwrap.fill(' '.join(comment.split()), 118)}")
    return "\n\n".join(parts)


# ---- the page ----


def make_page() -> str:
    parts = [
        HEAD.strip(),
        document_module("sonde", PACKAGE / "__init__.py"),
        "`sonde` has the functions of `sonde.sampling`, `sonde.heap`, `sonde.snapshots` and `sonde.regions`, `ops`,\n"
        "and the three built-in reporters of `sonde.reporters`.",
        document_module("sonde.sampling", PACKAGE / "sampling.py"),
        document_module("sonde.heap", PACKAGE / "heap.py"),
        document_module("sonde.ops", PACKAGE / "_ops.py"),
        document_module("sonde.graph", PACKAGE / "graph" / "__init__.py"),
        document_module("sonde.snapshots", PACKAGE / "snapshots.py"),
        document_module("sonde.regions", PACKAGE / "regions.py"),
        document_core(),
        document_module("sonde.torch", PACKAGE / "torch.py"),
        document_module("sonde.web", PACKAGE / "web" / "__init__.py"),
        document_module("sonde._averages", PACKAGE / "_averages.py"),
        document_module("sonde.reporters", PACKAGE / "reporters.py"),
        document_module("sonde.profiler", PACKAGE / "profiler.py"),
        document_calls(),
        document_module("sonde.tracing", PACKAGE / "tracing.py"),
        document_header(ROOT / "include" / "sonde.h"),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Write docs/api.md from the sources.")
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    page = make_page()
    if not parser.parse_args().check:
        OUTPUT.write_text(page)
        return 0
    if OUTPUT.exists() and OUTPUT.read_text() == page:
        return 0
    print("docs/api.md is out of date; run: python tools/apidoc.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
