"""Recordings from strangers: every command ends with one line that names the file, in bounded memory and time."""

import contextlib
import resource
import sqlite3
import zlib

import pytest

MEMORY = 2 << 30
CPU_SECONDS = 120
TOO_LARGE = "needs far more memory than a file of its size should; set SONDE_LIMITS=off to read it anyway"


@contextlib.contextmanager
def changed(path):
    """The file's tables, to be changed behind sonde's back."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("pragma synchronous = off")
    db.execute("begin")
    yield db
    db.execute("commit")
    db.close()


@pytest.fixture
def gift(sonde):
    """A small sound recording, for somebody to change."""
    (sonde.folder / "stacks.txt").write_text("main;load;parse 10\nmain;load;write 5\n")
    sonde.command("import", "stacks.txt", "-o", "gift.sonde")
    return sonde


def limited(gift, *words):
    """Run a command that may take 2 GiB and two minutes of CPU time at most."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))

    return gift.command(*words, status=None, preexec_fn=limit)


COMMANDS = (
    ("info", "gift.sonde"),
    ("view", "gift.sonde"),
    ("report", "gift.sonde", "-o", "page.html"),
    ("export", "gift.sonde", "-f", "collapsed"),
    ("diff", "gift.sonde", "gift.sonde"),
    ("merge", "-o", "all.sonde", "gift.sonde"),
    ("sql", "gift.sonde", "select * from info"),
)

REWRITE = "pragma writable_schema = on; update sqlite_schema set sql = replace(sql, '{}', '{}') where name = '{}'"

FOREIGN = {
    "generated column": "alter table node add column twice as (id * 2)",
    "generated text": (
        "with recursive n(i) as (select 1 union all select i + 1 from n limit 3000)"
        " insert into info select 'fact ' || i, 'x' from n;"
        + REWRITE.format("value TEXT NOT NULL", "value TEXT NOT NULL AS (hex(zeroblob(1000000)))", "info")
    ),
    "generated value": REWRITE.format("value NOT NULL", "value AS (node + 1)", "value"),
    "virtual table": (
        "pragma writable_schema = on; insert into sqlite_schema values"
        " ('table', 'other', 'other', 0, 'CREATE VIRTUAL TABLE other USING fts5(text)')"
    ),
    "view": "create view other as select 1",
    "view in place of a table": (
        "drop table size; create view size as with recursive n(i) as (select 1 union all select i + 1 from n)"
        " select i % 40 as power, i as python_blocks, 1 as python_bytes, 1 as native_blocks, 1 as native_bytes from n"
    ),
    "trigger": "create trigger other after insert on info begin delete from node; end",
    "index": "create index other on node (parent)",
    "table": "create table other (x)",
    "missing view": "drop view memory",
}


@pytest.mark.quick
@pytest.mark.parametrize("name", FOREIGN)
def test_a_schema_that_sonde_did_not_write_is_refused(gift, name):
    db = sqlite3.connect(gift.folder / "gift.sonde", isolation_level=None)
    db.executescript(FOREIGN[name])
    db.close()
    for words in COMMANDS:
        done = limited(gift, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "sonde: gift.sonde: the recording is damaged\n"
    assert not (gift.folder / "all.sonde").exists()


@pytest.mark.slow
def test_facts_are_found_without_a_search(gift):
    """A search for each of them took 16 times as long as the limit."""
    with changed(gift.folder / "gift.sonde") as db:
        db.executemany("insert into info values (?, 'x')", ((f"fact {i}",) for i in range(400_000)))
    for words in (("info", "gift.sonde"), ("merge", "-o", "all.sonde", "gift.sonde")):
        assert limited(gift, *words).returncode == 0


def node_rows(db, count):
    """Adds so many nodes below node 1; their numbers."""
    first = db.execute("select max(id) + 1 from node").fetchone()[0]
    db.executemany("insert into node values (?, 1, 0, 2)", ((first + i,) for i in range(count)))
    return range(first, first + count)


@pytest.mark.slow
def test_what_takes_more_memory_than_its_size_explains_is_given_up(gift):
    """A histogram and a history of a few bytes take some 4 KB in memory."""
    with changed(gift.folder / "gift.sonde") as db:
        for node in node_rows(db, 200_000):
            db.execute("insert into histogram values (?, x'')", (node,))
            db.execute("insert into history values (?, x'010101')", (node,))
    for words in COMMANDS[0], COMMANDS[-2]:
        done = limited(gift, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"sonde: gift.sonde: {TOO_LARGE}\n"
    assert not (gift.folder / "all.sonde").exists()


@pytest.mark.slow
def test_a_part_that_unpacks_to_a_gigabyte_is_given_up(gift):
    piece = 1 << 20
    packed = zlib.compress(bytes(piece), 9)
    with changed(gift.folder / "gift.sonde") as db:
        db.executemany("insert into part values (0, ?, ?, ?)", ((number, piece, packed) for number in range(1000)))
    for words in (("view", "gift.sonde", "--ranks"), ("merge", "-o", "all.sonde", "gift.sonde")):
        done = limited(gift, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"sonde: gift.sonde: {TOO_LARGE}\n"


@pytest.mark.slow
def test_events_that_unpack_to_gigabytes_are_given_up(gift):
    events = bytes((2, 0, 2, 1)) * 200_000
    packed = zlib.compress(events, 9)
    with changed(gift.folder / "gift.sonde") as db:
        rows = ((len(events), packed) for _ in range(300))
        db.executemany("insert into timeline values (null, 0, 0, 1, 200000, ?, ?)", rows)
    for words in (("view", "gift.sonde", "--timeline"), ("report", "gift.sonde", "-o", "page.html")):
        done = limited(gift, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"sonde: gift.sonde: {TOO_LARGE}\n"


def test_recordings_without_facts_are_merged_and_compared(gift):
    """Memory over time without facts: merging adds its step as one, and the other recording has that fact too."""
    for name in ("gift.sonde", "other.sonde"):
        gift.command("import", "stacks.txt", "-o", name)
        with changed(gift.folder / name) as db:
            db.execute("delete from info")
            db.executemany("insert into history values (?, x'010203')", ((node,) for node in (1, 2)))
            db.execute("update process set process_id = ?", (len(name),))
            if name == "other.sonde":
                db.execute("insert into info values ('history_step_ns', '100')")
    assert limited(gift, "merge", "-o", "all.sonde", "other.sonde", "gift.sonde").returncode == 0
    assert limited(gift, "merge", "-o", "all.sonde", "gift.sonde", "other.sonde").returncode == 0
    assert "2 processes" in limited(gift, "merge", "-o", "two.sonde", "all.sonde").stderr
    assert limited(gift, "diff", "gift.sonde", "other.sonde").returncode in (0, 2)
    for view in ("--ranks", "--processes", "--footprint"):
        assert limited(gift, "view", "all.sonde", view).returncode in (0, 2)


@pytest.mark.slow
def test_a_tree_200_000_levels_deep_is_shown(gift):
    with changed(gift.folder / "gift.sonde") as db:
        first = db.execute("select max(id) + 1 from node").fetchone()[0]
        db.executemany("insert into node values (?, ?, 0, 3)", ((first + i, first + i - 1) for i in range(200_000)))
        db.execute("insert into value select ?, metric, 1000 from value where node = 3", (first + 199_999,))
        assert db.execute("select changes()").fetchone()[0] > 0
    for words in (("view", "gift.sonde", "--tree"), ("view", "gift.sonde", "--ranks"), ("report", "gift.sonde")):
        assert limited(gift, *words).returncode == 0


def test_a_file_that_takes_too_long_ends_with_one_line(gift):
    rows = (";".join(f"{letter}{i}" for letter in "abcde") + " 1\n" for i in range(200_000))
    (gift.folder / "many.txt").write_text("".join(rows))
    done = gift.command("import", "many.txt", "-o", "many.sonde", status=2, env={"SONDE_LIMITS": "seconds=1"})
    assert done.stderr == (
        "sonde: many.txt: takes far longer than a file of its size should; set SONDE_LIMITS=off to read it anyway\n"
    )
    assert not (gift.folder / "many.sonde").exists()
