"""Follows measurements through the sources: which files the calls on their way are in.

Usage: python tools/ways.py [--check]

A way has legs. In a leg one function calls another, directly, through others, or through a table of functions; between
two legs a measurement lies in memory or in the recording. The shortest chain of calls of each leg is taken from the
preprocessed sources, and the files of all of them, each once, are the way. It goes into docs/architecture.md between
two marks; with --check the page is compared and not written, and a way that is longer than it may be fails.
"""

import re
import subprocess
import sys
import sysconfig
from collections import defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from c_tokens import tokens

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
MARKS = ("<!-- ways -->\n", "<!-- end of ways -->\n")


@dataclass
class Way:
    name: str
    most: int
    legs: list[tuple[str, str]]


WAYS = [
    Way(
        "A sample, from the signal handler to the text of `sonde view --lines`",
        20,
        [
            ("sample_signal.c:on_signal", "on_signal"),
            ("snd_stack_walk_here", "snd_stack_walk_here"),
            ("sample.c:run", "snd_sample_take_answer"),
            ("snd_sample_take_answer", "snd_sample_tree_add"),
            ("collector.c:run", "snd_sample_update"),
            ("snd_sample_update", "snd_profile_set"),
            ("collector.c:checkpoint", "snd_writer_checkpoint"),
            ("cmd_view.c:run", "snd_reader_profile"),
            ("snd_view_lines", "snd_lines_make"),
            ("snd_lines_make", "snd_rollup_make"),
            ("snd_view_lines", "snd_table_row"),
            ("snd_format_table", "snd_format_table"),
        ],
    ),
    Way(
        "A region, from `with sonde.region(...)` to its row",
        7,
        [
            ("region_object.c:region_enter", "snd_region_enter_under"),
            ("snd_snapshot_update", "snd_profile_set"),
            ("snd_view_regions", "snd_table_row"),
        ],
    ),
    Way(
        "An allocation, from `malloc` to its row in `sonde view --memory`",
        14,
        [
            ("memory_hooks.c:our_malloc", "snd_memory_take"),
            ("snd_memory_take", "snd_sample_tree_child"),
            ("snd_memory_take", "snd_memory_add_block"),
            ("snd_memory_put_all", "snd_profile_set"),
            ("snd_view_memory", "snd_rollup_make"),
            ("snd_view_memory", "snd_table_row"),
        ],
    ),
    Way(
        "An operator of PyTorch, from its event to its row in `sonde view --ops`",
        12,
        [
            ("snd_py_kineto_events", "snd_torch_events_add"),
            ("snd_py_kineto_end", "snd_torch_profile"),
            ("snd_py_kineto_end", "snd_timed_calls_report"),
            ("snd_timed_calls_report", "snd_reported_to"),
            ("snd_snapshot_put_reported", "snd_profile_set"),
            ("snd_view_ops", "snd_rollup_make"),
            ("snd_view_ops", "snd_table_row"),
        ],
    ),
    Way(
        "An operator of PyTorch, from its event to its line of `key_averages().table()`",
        12,
        [
            ("snd_py_kineto_events", "snd_torch_events_add"),
            ("kineto.c:kineto_profile", "snd_torch_profile"),
            ("snd_torch_profile", "snd_profile_set"),
            ("profile_object.c:profile_op_averages", "snd_rollup_make"),
            ("torch_averages.c:averages_table", "snd_ops_text"),
        ],
    ),
]


@dataclass
class Graph:
    """What is defined in each file, and which names each definition mentions. A name may be in several files."""

    files: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    hidden: set[tuple[str, str]] = field(default_factory=set)  # static: for its own file only
    mentions: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def chain(self, start: str, end: str) -> list[tuple[str, str]]:
        """The shortest chain of (file, name). A start that several files have is given as FILE:NAME."""
        folder, _, name = start.rpartition(":")
        before: dict[tuple[str, str], tuple[str, str] | None]
        before = {(file, name): None for file in self.files[name] if file.endswith(folder)}
        todo = deque(before)
        while todo:
            here = todo.popleft()
            if here[1] == end:
                found = [here]
                while (earlier := before[found[-1]]) is not None:
                    found.append(earlier)
                return found[::-1]
            for name in sorted(self.mentions[here]):
                files = self.files.get(name, [])
                for file in [here[0]] if here[0] in files else files:
                    if (file, name) in self.hidden and file != here[0]:
                        continue
                    if (file, name) not in before:
                        before[file, name] = here
                        todo.append((file, name))
        raise SystemExit(f"no calls lead from {start} to {end}")


MARKER = re.compile(r'^# (\d+) "([^"]*)".*$', re.MULTILINE)


def pieces(text: str) -> list[tuple[str, str]]:
    """The text of a preprocessed file, cut where another file of ours begins."""
    found: list[tuple[str, str]] = []
    marks = list(MARKER.finditer(text))
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        if mark[2].startswith(("src/", "include/")):
            body = text[mark.end() : after.start() if after else len(text)]
            if found and found[-1][0] == mark[2]:
                found[-1] = (mark[2], found[-1][1] + body)
            else:
                found.append((mark[2], body))
    return found


def read(graph: Graph, file: str, text: str) -> None:
    """Definitions of functions and tables: at the outer level, a name before its braces."""
    depth, name, body, is_hidden = 0, "", set[str](), False
    last: list[str] = []
    for token in tokens(text):
        if token.text == "{":
            if depth == 0:
                body = set()
                name = next((word for word in defined(last)), "")
                is_hidden = "static" in last and file.endswith(".c")
            depth += 1
        elif token.text == "}":
            depth -= 1
            if depth == 0:
                if name and file not in graph.files[name]:
                    graph.files[name].append(file)
                if name:
                    graph.mentions[file, name] |= body
                if is_hidden:
                    graph.hidden.add((file, name))
                last = []
        elif depth == 0:
            last = [] if token.text == ";" else [*last, token.text]
        elif token.kind == "name":
            body.add(token.text)


def defined(head: list[str]) -> list[str]:
    """The name that a head defines: what stands before the first parenthesis, or before `=` and its brackets."""
    if "=" in head:
        head = head[: head.index("=")]
        while head and not re.match(r"[A-Za-z_]", head[-1]):
            head = head[: head.index("[")] if "[" in head else head[:-1]
        return head[-1:]
    if "(" in head and "typedef" not in head:
        while "__attribute__" in head:
            at = head.index("__attribute__")
            end, level = at + 1, 0
            while end < len(head):
                level += (head[end] == "(") - (head[end] == ")")
                end += 1
                if level == 0:
                    break
            head = head[:at] + head[end:]
        return head[max(head.index("(") - 1, 0) : head.index("(")]
    return []


def preprocess(path: Path) -> str:
    includes = [f"-I{folder}" for folder in ["src", "include", sysconfig.get_paths()["include"]]]
    command = ["cc", "-E", "-D_GNU_SOURCE", "-DSND_CORE", *includes, str(path.relative_to(ROOT))]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def read_sources() -> Graph:
    graph = Graph()
    seen = set[tuple[str, str]]()  # headers, mostly: many files include each
    with ThreadPoolExecutor(2) as pool:
        for text in pool.map(preprocess, sorted((ROOT / "src").rglob("*.c"))):
            for file, piece in pieces(text):
                if (file, piece) not in seen:
                    read(graph, file, piece)
                seen.add((file, piece))
    return graph


def describe(graph: Graph, way: Way) -> tuple[str, int]:
    files = list(dict.fromkeys(file for start, end in way.legs for file, _ in graph.chain(start, end)))
    short = ", ".join(f"`{file.removeprefix('src/')}`" for file in files)
    return f"- **{way.name}** ({len(files)} files): {short}.\n", len(files)


def main() -> int:
    graph = read_sources()
    if sys.argv[1:2] == ["--chain"]:
        print("\n".join(f"{file}: {name}" for file, name in graph.chain(*sys.argv[2:4])))
        return 0
    lines, faults = "", []
    for way in WAYS:
        line, count = describe(graph, way)
        lines += line
        if count > way.most:
            faults.append(f"{way.name}: {count} files, and may have {way.most}")
    page = PAGE.read_text(encoding="utf-8")
    begin, end = page.index(MARKS[0]) + len(MARKS[0]), page.index(MARKS[1])
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page[:begin] + lines + page[end:], encoding="utf-8")
    elif page[begin:end] != lines:
        faults.append("docs/architecture.md is stale: run tools/ways.py")
    print("\n".join(faults), end="\n" if faults else "", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
