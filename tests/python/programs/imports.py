"""Imports modules that take a while, in all the ways to do so."""

import importlib
import sys
import time
from pathlib import Path

SLOW = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end:\n    pass\n"

folder = Path(sys.argv[1])
(folder / "slow_package").mkdir()
(folder / "slow_package" / "__init__.py").write_text("from . import inner\n" + SLOW)
(folder / "slow_package" / "inner.py").write_text(SLOW)
(folder / "slow_by_name.py").write_text(SLOW)
sys.path.append(str(folder))


def work():
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass


def main():
    import slow_package  # noqa: F401

    importlib.import_module("slow_by_name")
    work()


main()
