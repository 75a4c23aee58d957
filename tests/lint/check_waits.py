"""Fails when a test waits for a time to pass, where it could wait for what is to happen by then.

On a busy machine such a test fails, or proves nothing. ``until`` of tests/support/wait_support.py waits for an event,
``wait_until`` and ``let_run`` do so in C, ``settled`` in a browser. Allowed is what is no wait of that kind:

- a sleep between two looks, in a loop that has a condition
- what a program under test does: shorter than a second, or 60 seconds and more where something else ends it
- a line that gives its reason in a comment, ``sleeps: why``

Usage: python tests/lint/check_waits.py [ROOT]
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

SLEEP = re.compile(r"\bsleep\((\d+(?:\.\d+)?)\)")
SLEEP_IN_C = re.compile(r"^ .*\b(?:sleep_ms|nanosleep|usleep|sleep)\(")
LOOP_IN_C = re.compile(r"\s*(?:while|for) \(|\s*do\b")
CLOCKS = {f"time.{name}{end}" for name in ("monotonic", "perf_counter", "time") for end in ("", "_ns")}
REASON = "sleeps: "


def is_work(seconds: float) -> bool:
    return seconds < 1 or seconds >= 60


def check_program(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        for found in SLEEP.finditer(line):
            if not is_work(float(found[1])) and REASON not in line:
                yield number, f"{found[0]} waits for a time"


def calls(node: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    for one in ast.walk(node):
        if isinstance(one, ast.Call):
            yield one, ast.unparse(one.func)


def is_sleep(call: ast.Call, name: str) -> bool:
    """A task that sleeps for 0 seconds lets others run."""
    if name not in ("time.sleep", "asyncio.sleep", "sleep"):
        return False
    return not isinstance(call.args[0], ast.Constant) or 0 < call.args[0].value < 60


def check_test(text: str) -> Iterator[tuple[int, str]]:
    """Programs that are texts in it are among the programs."""
    lines, tree = text.splitlines(), ast.parse(text)
    looks = [node for node in ast.walk(tree) if isinstance(node, ast.While) and not isinstance(node.test, ast.Constant)]
    allowed = {call for loop in looks for call, _ in calls(loop)}
    for call, name in calls(tree):
        if is_sleep(call, name) and call not in allowed and REASON not in lines[call.lineno - 1]:
            yield call.lineno, f"{ast.unparse(call)} waits for a time"
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((node.lineno + line - 1, fault) for line, fault in check_program(node.value))
        if isinstance(node, ast.Assert) and node.msg is None and any(name in CLOCKS for _, name in calls(node.test)):
            yield node.lineno, "a time is asserted; one that ends an endless wait says so in its message"


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def check_c(text: str) -> Iterator[tuple[int, str]]:
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if not SLEEP_IN_C.match(line) or LOOP_IN_C.match(line) or REASON in line:
            continue
        around = next(one for one in reversed(lines[:number]) if one and indent(one) < indent(line))
        if not LOOP_IN_C.match(around):
            yield number + 1, f"{line.strip()} waits for a time"


def check_script(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if "waitForTimeout(" in line:
            yield number, "waitForTimeout waits for a time"


CHECKS = {
    "tests/**/programs/**/*.py": check_program,
    "tests/**/*.py": check_test,
    "tests/c/*.c": check_c,
    "web/e2e/programs/*.py": check_program,
    "web/e2e/*.mjs": check_script,
    "web/test/*.*": check_script,
}


def check(root: Path) -> list[str]:
    faults, seen = [], {root / "tests/lint/test_check_waits.py"}
    for pattern, check_text in CHECKS.items():
        for path in sorted(set(root.glob(pattern)) - seen):
            seen.add(path)
            text = path.read_text(encoding="utf-8")
            faults += [f"{path.relative_to(root)}:{line}: {fault}" for line, fault in check_text(text)]
    return faults


def main() -> int:
    faults = check(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    for fault in faults:
        print(fault, file=sys.stderr)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
