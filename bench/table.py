"""What the benches share: a program timed in a fresh process, and a table of texts."""

import subprocess
import sys


def time_program(path, *words):
    """The number that a program prints."""
    command = [sys.executable, str(path), *map(str, words)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def verdict(value, bar):
    return "ok" if value <= bar else "MISSED"


def as_text(rows):
    """The rows as aligned columns, the first one to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
