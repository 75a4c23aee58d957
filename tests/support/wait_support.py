"""Waiting for what another process or thread does. Nothing here depends on how fast the machine is."""

import json
import time

from sonde import _core


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


def time_met(function):
    """For how long the running sampler has met a function so far, in nanoseconds; None if no sampler runs."""
    profile = _core.profile() if _core.is_running() else None
    if profile is None or "sample" not in (profile.info("probes") or ""):
        return None
    try:
        return sum(row["time_ns"] for row in profile.rows("tree", show_all=True) if row["name"] == function)
    except OSError:  # nothing was met so far
        return 0


def spin(seconds, function="spin"):
    """Busy for this CPU time of the calling thread, and again until the sampler, where one runs, has met ``function``,
    which is this one or calls it: on a busy machine that may come late."""
    before = time_met(function)
    is_met = False
    while not is_met:
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            sum(range(100))
        is_met = before is None or time_met(function) != before
