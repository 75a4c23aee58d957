"""Work first: lists are in the order of CPU time, what threads wait for has a list of its own, and a slice of the
timeline holds no more than its length."""

import base64
import gzip
import json
import re

import pytest
from sonde_programs import Sonde

pytestmark = pytest.mark.interpreter

# Six threads that are kept for later, in the ways that programs keep them, beside one that computes.
PARKED = """
import queue, selectors, socket, threading

jobs, more, is_over = queue.Queue(), threading.Condition(), threading.Event()
here, there = socket.socketpair()

def getter():
    jobs.get()

def waiter():
    with more:
        more.wait_for(is_over.is_set)

def poller():
    with selectors.DefaultSelector() as selector:
        selector.register(here, selectors.EVENT_READ)
        while not is_over.is_set():
            selector.select()

def compute(times):
    total = 0
    for _ in range(times):
        total += sum(i * i for i in range(1000))  # the line
    return total

threads = [threading.Thread(target=one, name=f"{one.__name__} {i}") for one in (getter, waiter, poller) for i in (1, 2)]
for thread in threads:
    thread.start()
compute(12_000)
is_over.set()
with more:
    more.notify_all()
there.send(b"over")
for _ in range(2):
    jobs.put(None)
for thread in threads:
    thread.join()
"""

MIXED = """
import threading, time

def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(200))

def both():
    for _ in range(15):
        time.sleep(0.01)
        spin(0.01)

threads = [threading.Thread(target=both, name=f"both {i}") for i in range(3)]
for thread in threads:
    thread.start()
spin(0.3)
for thread in threads:
    thread.join()
"""

SLEEPS = """
import time

def nap():
    time.sleep(0.6)

nap()
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A folder with a recording of each program, and what each said at its end."""
    folder = Sonde(tmp_path_factory.mktemp("waiting"))
    folder.said = {}
    for name, code in (("parked", PARKED), ("mixed", MIXED), ("sleeps", SLEEPS)):
        (folder.folder / f"{name}.py").write_text(code)
        folder.said[name] = folder.command("run", "-o", f"{name}.sonde", f"{name}.py").stderr
    return folder


def line_of(code, text):
    return next(number for number, line in enumerate(code.splitlines(), 1) if text in line)


def export(recorded, name, view, *options):
    text = recorded.command("export", f"{name}.sonde", "--view", view, "--format", "json", *options).stdout
    return json.loads(text)["rows"]


def page_of(recorded, name):
    recorded.command("report", f"{name}.sonde", "-o", f"{name}.html")
    text = (recorded.folder / f"{name}.html").read_text(encoding="utf-8")
    packed = re.search(r'<script id="sonde-data" type="application/octet-stream">([^<]*)<', text)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def page_rows(data, view):
    table = next(made for made in data["tables"] if made["view"] == view)
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in table["rows"]]


def test_the_line_that_computes_is_the_first_of_every_list(recorded):
    place = f"parked.py:{line_of(PARKED, '# the line')}"
    assert re.search(rf"Hottest lines\n.*\n.*\n{place} ", recorded.said["parked"])
    assert re.search(r"Hottest functions\n.*\n.*\n(?:compute|.*<genexpr>) ", recorded.said["parked"])
    lines = [row for row in export(recorded, "parked", "lines") if row["line"] is not None]
    assert max(lines, key=lambda row: row["percent"])["place"] == place
    assert "compute" in export(recorded, "parked", "functions")[0]["function"]
    assert export(recorded, "parked", "tree")[0]["name"] == "thread main"
    data = page_of(recorded, "parked")
    assert max(page_rows(data, "lines"), key=lambda row: row["percent"] * (row["line"] is not None))["place"] == place
    assert "compute" in page_rows(data, "functions")[0]["function"]


def test_the_old_order_is_one_option_away(recorded):
    place = f"parked.py:{line_of(PARKED, '# the line')}"
    lines = [row for row in export(recorded, "parked", "lines", "--with-waiting") if row["line"] is not None]
    assert max(lines, key=lambda row: row["percent"])["place"] != place
    usual = {row["place"]: row for row in export(recorded, "parked", "lines")}
    assert all(row["time_ns"] == usual[row["place"]]["time_ns"] for row in lines)  # only shares are others
    assert "% of time" in recorded.command("view", "parked.sonde", "--with-waiting").stdout
    assert "% of time" in recorded.command("run", "--with-waiting", "-o", "again.sonde", "sleeps.py").stderr


def test_threads_that_waited_for_over_95_percent_are_one_row(recorded):
    def waited(row):
        return row["waiting_ns"] - row["wait_cpu_ns"]

    threads = [row for row in export(recorded, "parked", "threads") if row["thread_id"] is not None]
    idle = [
        row
        for row in threads
        if row["thread_id"] != row["process_id"]
        and not row["name"].startswith("sonde")
        and waited(row) > 0.95 * (row["cpu_ns"] + row["waiting_ns"])
    ]
    assert idle
    (row,) = [row for row in export(recorded, "parked", "waiting") if row["kind"] == "idle"]
    assert row["threads"] == len(idle)
    assert row["place"] == f"{len(idle)} idle thread" + "s" * (len(idle) != 1)
    assert row["wait_ns"] == sum(map(waited, idle))
    assert row["place"] in recorded.said["parked"]
    one_by_one = export(recorded, "parked", "waiting", "--show-all")
    assert "jobs.get()" in [row["source"] for row in one_by_one]
    assert sum(row["wait_ns"] for row in one_by_one) == sum(
        row["wait_ns"] for row in export(recorded, "parked", "waiting")
    )


def test_a_program_that_only_waits_has_its_line_in_the_summary(recorded):
    place = f"sleeps.py:{line_of(SLEEPS, 'time.sleep')}"
    first = export(recorded, "sleeps", "waiting")[0]
    assert (first["place"], first["reason"], first["source"]) == (place, "sleep", "time.sleep(0.6)")
    assert re.search(rf"\nWaiting\n.*\n.*\n{place} +[\d.]+ m?s +[\d.]+%  sleep ", recorded.said["sleeps"])


def test_shares_add_up_to_what_they_are_of(recorded):
    for options in ((), ("--with-waiting",)):
        rows = export(recorded, "mixed", "functions", *options)
        assert sum(row["self_percent"] for row in rows) == pytest.approx(100)
        parts = sum(row[f"{part}_percent"] for row in rows for part in ("python", "native", "system"))
        waiting = sum(row["waiting_percent"] for row in rows)
        assert parts + (waiting if options else 0) == pytest.approx(100)
        assert options or waiting == pytest.approx(100)
    assert sum(row["wait_percent"] for row in export(recorded, "mixed", "waiting")) == pytest.approx(100)


@pytest.mark.parametrize("name", ["parked", "mixed", "sleeps"])
def test_a_thread_does_no_more_in_a_slice_than_fits_and_all_of_it_in_all(recorded, name):
    threads = [row for row in export(recorded, name, "threads") if row["thread_id"] is not None]
    names = [row["name"] for row in threads]
    checked = 0
    for thread in threads:
        if thread["name"].startswith("sonde") or names.count(thread["name"]) > 1:
            continue
        rows = export(recorded, name, "timeline", "--thread", thread["name"])
        for row in rows:
            assert row["cpu_percent"] + row["waiting_percent"] <= 100.000001
        for part in ("python_ns", "native_ns", "system_ns", "waiting_ns"):
            assert sum(row[part] for row in rows) == thread[part]
        checked += 1
    assert checked
