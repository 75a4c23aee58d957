"""What files are called: one name for a file, relative to the folder that the program was started in."""

import json
import sqlite3

import pytest

BURN = """
import time

def burn():
    end = time.thread_time() + 0.2
    while time.thread_time() < end:
        sum(range(2000))
"""


@pytest.fixture
def project(sonde):
    """A program in scripts, and a module beside that folder."""
    for name in ("scripts", "package", "elsewhere"):
        (sonde.folder / name).mkdir()
    (sonde.folder / "package" / "module.py").write_text(BURN)
    (sonde.folder / "scripts" / "run.py").write_text(
        "import os, sys\n"
        "sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '.', 'package'))\n"
        "import module\n" + BURN + "burn()\nmodule.burn()\n"
    )
    return sonde


def run(sonde, program, folder):
    """Record from a folder; the names of the files in it, and the places in a view of another folder."""
    sonde.run(["sh", "-c", f"cd {folder} && exec sonde run -o {sonde.folder}/run.sonde {program}"])
    db = sqlite3.connect(sonde.folder / "run.sonde")
    files = {file for (file,) in db.execute("select distinct file from site where kind = 'line'")}
    db.close()
    rows = sonde.export("run.sonde", "lines")["rows"]
    return {f for f in files if f.startswith(str(sonde.folder))}, {row["place"].partition(":")[0] for row in rows}


@pytest.mark.parametrize("program", ["../scripts/run.py", "./..//scripts/./run.py"])
def test_a_file_has_one_name_however_it_is_reached(project, program):
    files, places = run(project, program, "package")
    assert files == {f"{project.folder}/scripts/run.py", f"{project.folder}/package/module.py"}
    assert {"run.py", "module.py"} <= places


def test_names_are_relative_to_the_folder_of_the_start(project):
    _, places = run(project, "scripts/run.py", ".")
    assert {"scripts/run.py", "package/module.py"} <= places
    assert not {place for place in places if place.startswith("/")}
    _, places = run(project, "../scripts/run.py", "elsewhere")
    assert {"run.py", f"{project.folder}/package/module.py"} <= places


def test_a_link_before_the_way_up_keeps_its_name(project):
    (project.folder / "elsewhere" / "deep").mkdir()
    (project.folder / "link").symlink_to("elsewhere/deep")
    (project.folder / "elsewhere" / "other.py").write_text(BURN + "burn()\n")
    files, _ = run(project, "link/../other.py", ".")  # the shell does not look, the system does
    assert files == {f"{project.folder}/link/../other.py"}


def test_every_way_to_look_uses_the_same_name(project):
    from test_report import data_of

    run(project, "scripts/run.py", ".")
    name = "scripts/run.py"
    for words in (["--lines"], ["--tree"], ["--functions"], []):
        shown = project.run(
            ["sh", "-c", f"cd / && exec sonde view {project.folder}/run.sonde {' '.join(words)}"]
        ).stdout
        assert name in shown and f"{project.folder}/{name}" not in shown
    project.command("report", "run.sonde", "-o", "page.html")
    data = data_of((project.folder / "page.html").read_text())["sonde-data"]
    for view in ("lines", "tree", "functions"):
        (table,) = [made for made in data["tables"] if made["view"] == view and made["variant"] == ""]
        place = [column["name"] for column in table["columns"]].index("place")
        assert any(str(row[place]).startswith(f"{name}:") for row in table["rows"])
    found = json.loads(project.command("diff", "run.sonde", "run.sonde", "--lines", "-f", "json").stdout)
    assert any(row["place"].startswith(f"{name}:") for row in found["rows"])


def test_no_table_has_the_whole_path_but_in_its_column(project):
    """Every view that a page has of samples, memory, regions and calls: only `file` is the whole path."""
    from test_report import data_of

    (project.folder / "scripts" / "all.py").write_text(
        "import sonde\n" + BURN + "with sonde.region('load'):\n    burn()\n"
        "kept = [bytes(100_000) for _ in range(200)]\n"
    )
    seen = set()
    for how in (["run", "--memory"], ["trace"]):
        project.command(*how, "-o", "run.sonde", "scripts/all.py")
        project.command("report", "run.sonde", "-o", "page.html")
        for table in data_of((project.folder / "page.html").read_text())["sonde-data"]["tables"]:
            names = [column["name"] for column in table["columns"]]
            cells = {(name, str(cell)) for row in table["rows"] for name, cell in zip(names, row, strict=True)}
            whole = {name for name, text in cells if str(project.folder) in text}
            assert whole <= {"file"}, table["view"]
            seen |= {table["view"] for name, text in cells if name == "place" and text.startswith("scripts/all.py:")}
    assert {"functions", "lines", "memory", "regions", "tree"} <= seen


def test_recordings_from_two_folders_are_compared(project):
    run(project, "scripts/run.py", ".")
    (project.folder / "run.sonde").rename(project.folder / "first.sonde")
    run(project, "../scripts/run.py", "elsewhere")
    found = json.loads(project.command("diff", "first.sonde", "run.sonde", "--lines", "-f", "json").stdout)
    rows = [row for row in found["rows"] if row["place"].startswith(("run.py:", "scripts/run.py:"))]
    assert rows and {row["verdict"] for row in rows}.isdisjoint({"new", "gone"})
