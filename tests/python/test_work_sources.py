"""Source texts: what a recording shows of files, and what it must not."""

import sqlite3

import pytest

LIBRARY = """
import time

def work():
    kept = [bytes(1000 + i) for i in range(5000)]
    end = time.thread_time() + 0.2
    while time.thread_time() < end:
        in_library = sum(range(2000))
    return kept
"""

PROGRAM = """
import sys
import time
sys.path.insert(0, "lib/site-packages")
import library
kept = library.work()
end = time.thread_time() + 0.2
while time.thread_time() < end:
    in_program = sum(range(2000))
"""

SECRET = "the password is swordfish"

OLDER = """
create table kept as select file, size, text from source where text is not null;
drop table source;
CREATE TABLE source (file TEXT PRIMARY KEY, size INTEGER NOT NULL, text BLOB NOT NULL);
insert into source select * from kept;
drop table kept;
drop view counter;
drop view mark;
pragma writable_schema = on;
update sqlite_schema set sql = replace(sql, ' OR metric.name IN (''python'', ''native'', ''system'')', '')
 where name = 'sample';
pragma user_version = 7;
"""


@pytest.fixture
def recorded(sonde):
    """A folder with a program that uses a library, and a recording of both."""
    folder = sonde.folder / "lib" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "library.py").write_text(LIBRARY)
    (sonde.folder / "prog.py").write_text(PROGRAM)
    sonde.command("run", "--memory", "-o", "run.sonde", "prog.py")
    return sonde


def change(sonde, sql, *values):
    with sqlite3.connect(sonde.folder / "run.sonde") as db:
        if values:
            db.execute(sql, values)
        else:
            db.executescript(sql)
    db.close()


def everything(sonde):
    """All that sonde makes of a recording, by name. Pages are unpacked."""
    from test_report import data_of

    made = {}
    made["summary"] = sonde.command("view", "run.sonde", "--all-code").stdout
    for view in ("lines", "memory", "leaks", "copies", "tree", "functions"):
        made[view] = sonde.command("view", "run.sonde", f"--{view}", "--all-code").stdout
        for format in ("html", "csv", "json"):
            words = ("export", "run.sonde", "-f", format, "--view", view, "--all-code")
            made[f"{view} {format}"] = sonde.command(*words).stdout
    for kind in ("lines", "memory", "allocated"):
        for format in ("table", "csv", "json", "html"):
            words = ("diff", "run.sonde", "run.sonde", f"--{kind}", "--all-code", "-f", format)
            made[f"diff {kind} {format}"] = sonde.command(*words).stdout
    sonde.command("report", "run.sonde", "-o", "page.html")
    made["page"] = str(data_of((sonde.folder / "page.html").read_text()))
    sonde.command("report", "run.sonde", "run.sonde", "-o", "pair.html")
    made["pair"] = str(data_of((sonde.folder / "pair.html").read_text()))
    return made


def where(made, text):
    return {name for name, shown in made.items() if text in shown}


@pytest.mark.parametrize("name", ["secret.txt", "secret.py"])
def test_a_recording_brings_no_file_of_its_reader_with_it(recorded, name):
    path = recorded.folder / name
    path.write_text(f"{SECRET}\n" * 100)
    change(recorded, "update site set file = ?, line = 3 where file like '%prog.py'", str(path))
    change(recorded, "update site set file = ?, line = 3 where file like '%library.py'", str(path))
    made = everything(recorded)
    assert where(made, SECRET) == set()
    assert where(made, name) >= {"lines", "memory", "lines csv", "lines json", "diff lines csv", "page"}


def test_a_digest_of_another_file_brings_nothing(recorded):
    path = recorded.folder / "secret.py"
    path.write_text(f"{SECRET}\n" * 100)
    size = path.stat().st_size
    change(recorded, "update site set file = ?, line = 3 where file like '%library.py'", str(path))
    change(recorded, "update source set file = ?, size = ? where file like '%library.py'", str(path), size)
    assert where(everything(recorded), SECRET) == set()


def test_a_file_of_a_library_is_shown_until_it_is_changed(recorded):
    text = "in_library ="
    made = everything(recorded)
    assert where(made, text) >= {"lines", "lines csv", "lines json", "lines html", "diff lines csv"}
    assert where(made, text).isdisjoint({"page", "pair"})  # pages have the program's own files
    assert where(made, "not shown") == set()
    with (recorded.folder / "lib" / "site-packages" / "library.py").open("a") as file:
        file.write(f"# {SECRET}\n")
    made = everything(recorded)
    assert where(made, text) == where(made, SECRET) == set()
    said = "source not shown: the file was changed or removed after it was recorded"
    assert where(made, said) >= {"lines", "lines html"}
    said = "source not shown for library.py: changed or removed after it was recorded"
    assert where(made, said) >= {"memory", "memory html", "diff lines table", "diff memory table"}
    assert where(made, "in_program =") >= {"lines", "lines csv", "page"}


def test_the_program_is_shown_as_it_was(recorded):
    (recorded.folder / "prog.py").write_text(f"# {SECRET}\n" * 10)
    made = everything(recorded)
    assert where(made, SECRET) == where(made, "not shown") == set()
    assert where(made, "in_program =") >= {"lines", "lines csv", "lines html", "page"}


def test_an_older_recording_shows_the_texts_that_it_contains(recorded):
    change(recorded, OLDER)
    made = everything(recorded)
    assert where(made, "in_library =") == set()
    assert where(made, "in_program =") >= {"lines", "lines csv", "page"}
    assert where(made, "source not shown: the recording does not contain it") >= {"lines"}


def test_a_merged_recording_knows_the_same_files(recorded):
    recorded.command("run", "--memory", "-o", "other.sonde", "prog.py")
    recorded.command("merge", "run.sonde", "other.sonde", "-o", "both.sonde")
    (recorded.folder / "prog.py").unlink()
    processes = recorded.command("sql", "both.sonde", "select process_id from process", "-f", "csv").stdout.split()[1:]
    assert len(processes) == 2
    for words in ([], *(["--process", process] for process in processes)):
        shown = recorded.command("view", "both.sonde", "--lines", "--all-code", *words).stdout
        assert "in_library =" in shown and "in_program =" in shown


def test_a_measurement_in_memory_follows_the_same_rule(sonde):
    folder = sonde.folder / "lib" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "library.py").write_text(LIBRARY)
    done = sonde.python(f"""
        import sys, sonde
        sys.path.insert(0, {str(folder)!r})
        import library
        for all_code in (False, True):
            with sonde.sample(all_code=all_code) as run:
                library.work()
            print(run.output("lines"))
        """)
    own, everything = done.stdout.split("functions of prog.py", 1)
    assert "in_library =" not in own and "library.work()" in own
    assert "in_library =" in everything
    assert "not shown" not in done.stdout
