"""Waiting for what another process or thread does. Nothing here depends on how fast the machine is."""

import json
import time


def until(holds, limit=100):
    """Waits until ``holds()`` is true, and returns what it returned. The limit, in seconds, is for what never comes."""
    end = time.monotonic() + limit
    while not (found := holds()):
        assert time.monotonic() < end, "it never held"
        time.sleep(0.01)
    return found


def sum_so_far(sonde, view, *columns, **wanted):
    """These columns of those rows that have the wanted values, in r.sonde while it is still written."""
    if not (sonde.folder / "r.sonde").exists():
        return 0
    done = sonde.command("export", "r.sonde", "--format", "json", "--view", view, status=None)
    if done.returncode != 0:  # nothing of that kind so far
        return 0
    rows = [row for row in json.loads(done.stdout)["rows"] if wanted.items() <= row.items()]
    return sum(row[column] for row in rows for column in columns)
