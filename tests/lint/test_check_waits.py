"""The check of waits finds what it is there to find, and nothing else."""

from pathlib import Path

import pytest

from check_waits import check


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        ("tests/python/test_a.py", "import time\ntime.sleep(0.1)\n", "test_a.py:2: time.sleep(0.1) waits for a time"),
        ("tests/python/test_a.py", "await_it = asyncio.sleep(seconds)\n", "asyncio.sleep(seconds) waits"),
        ("tests/python/test_a.py", "while True:\n    time.sleep(0.1)\n", "test_a.py:2: time.sleep(0.1) waits"),
        (
            "tests/python/test_a.py",
            'PROGRAM = """\nimport time\ntime.sleep(1.2)\n"""\n',
            "test_a.py:3: sleep(1.2) waits",
        ),
        ("tests/python/test_a.py", "assert time.perf_counter() - start < 2\n", "test_a.py:1: a time is asserted"),
        ("tests/python/programs/a.py", "time.sleep(2.5)\n", "programs/a.py:1: sleep(2.5) waits"),
        ("tests/c/test_a.c", "{\n    start();\n    sleep_ms(50);\n", "test_a.c:3: sleep_ms(50); waits"),
        ("web/e2e/keys.mjs", "await page.waitForTimeout(300);\n", "keys.mjs:1: waitForTimeout waits"),
    ],
)
def test_a_wait_for_a_time_is_reported_with_its_place(tmp_path: Path, path: str, text: str, fault: str) -> None:
    write(tmp_path, path, text)
    faults = check(tmp_path)
    assert len(faults) == 1
    assert fault in faults[0]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/python/test_a.py", "while not path.exists():\n    time.sleep(0.01)\n"),
        ("tests/python/test_a.py", "time.sleep(0.1)  # sleeps: nothing else can be seen\n"),
        ("tests/python/test_a.py", "asyncio.sleep(0)\ntime.sleep(3600)\n"),
        ("tests/python/test_a.py", 'PROGRAM = "time.sleep(0.6)\\ntime.sleep(60)\\n"\n'),
        ("tests/python/test_a.py", 'assert time.monotonic() < end, "it never held"\n'),
        ("tests/python/programs/a.py", "time.sleep(0.2)\n"),
        ("tests/c/test_a.c", "    while (!is_ready)\n        sleep_ms(1);\n"),
        ("tests/c/test_a.c", "{\n    sleep_ms(5); /* sleeps: its work */\n"),
        ("tests/c/test_a.c", "void\nsleep_ms(unsigned ms)\n"),
        ("web/e2e/keys.mjs", "await settled(page);\n"),
    ],
)
def test_what_is_allowed_is_not_reported(tmp_path: Path, path: str, text: str) -> None:
    write(tmp_path, path, text)
    assert check(tmp_path) == []


def test_the_tests_themselves_wait_for_nothing_but_events() -> None:
    assert check(Path(__file__).resolve().parents[2]) == []


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
