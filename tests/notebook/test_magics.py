"""The magics in real notebooks: nbclient, ipykernel, IPython."""

import base64
import gzip
import json
import re

import pytest
from conftest import LOAD

SQUARE = next(number for number, line in enumerate(LOAD.splitlines(), 1) if line.startswith("def square"))
LOOP = f"In[1]:{SQUARE + 3}"  # its hottest line


def data_of(page):
    (text,) = re.findall(r'<script id="sonde-data"[^>]*>([^<]*)</script>', page)
    return json.loads(gzip.decompress(base64.b64decode(text)))


def rows_of(data, view):
    """A table of the page as dictionaries."""
    (table,) = (table for table in data["tables"] if table["view"] == view and not table.get("variant"))
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in table["rows"]]


def views_of(data):
    return {table["view"] for table in data["tables"]}


def hottest(data):
    texts, sites, nodes = data["texts"], data["sites"], data["nodes"]
    found = {}
    for name, column in data["metrics"].items():
        if name in ("python", "native", "system"):
            node = 0
            for step, value in zip(column["node"], column["value"], strict=True):
                node += step
                site = nodes["site"][node]
                place = (texts[sites["file"][site]], sites["line"][site])
                found[place] = found.get(place, 0) + value
    return max(found, key=found.get)


def outermost(data):
    """Where the stack with the hottest line begins."""
    texts, sites, nodes = data["texts"], data["sites"], data["nodes"]
    for node, site in enumerate(nodes["site"]):
        if (texts[sites["file"][site]], sites["line"][site]) == hottest(data):
            while nodes["parent"][nodes["parent"][node]] >= 0:
                node = nodes["parent"][node]
            site = nodes["site"][node]
            return texts[sites["file"][site]], sites["line"][site]
    return None


# ---- what is shown ----


@pytest.mark.quick
def test_a_cell_is_measured_and_shown_once(notebook, tmp_path):
    (cell,) = notebook("%%sonde\nresult = work()\nresult")
    assert cell.error is None
    assert cell.result == "333328333350000"
    assert set(cell.report) == {"text/plain", "text/html"}
    assert [out.output_type for out in cell.outputs] == ["execute_result", "display_data"]
    assert LOOP in cell.report["text/plain"]
    assert list(tmp_path.iterdir()) == []


def test_the_frame_runs_scripts_and_nothing_else(notebook):
    (cell,) = notebook("%%sonde\nwork()")
    (frame,) = re.findall(r"<iframe [^>]*>", re.sub(r'srcdoc="[^"]*"', "", cell.report["text/html"]))
    assert 'sandbox="allow-scripts"' in frame
    assert " src=" not in frame
    assert "http://127" not in cell.page
    assert "localhost" not in cell.page


def test_without_the_frame_the_text_is_there(notebook):
    (cell,) = notebook("%%sonde\nwork()")
    rest = re.sub(r"<iframe .*?</iframe>", "", cell.report["text/html"], flags=re.DOTALL)
    assert "Hottest lines" in rest
    assert LOOP in rest


def test_the_page_has_the_cells_and_their_lines(notebook):
    (cell,) = notebook("%%sonde\n\nwork(40)\n")
    data = data_of(cell.page)
    assert hottest(data)[0] == "In[1]"
    assert hottest(data)[1] in (SQUARE + 2, SQUARE + 3)
    sources = {data["texts"][source["file"]]: source["text"] for source in data["sources"]}
    assert sources["In[1]"].splitlines() == LOAD.splitlines()
    assert sources[cell.name].splitlines()[:3] == ["%%sonde", "", "work(40)"]
    callers = {(data["texts"][f], line) for f, line in zip(data["sites"]["file"], data["sites"]["line"], strict=True)}
    assert (cell.name, 3) in callers
    assert outermost(data) == (cell.name, 3)


def test_the_page_has_a_timeline(notebook):
    (cell,) = notebook("%%sonde\nwork()")
    assert data_of(cell.page)["events"] is not None


def test_a_line_has_the_number_that_it_has_in_the_cell(notebook):
    (cell,) = notebook("x = 1\ny = 2\n%sonde work(40)")
    assert cell.result == "333328333350000"
    data = data_of(cell.page)
    places = {(data["texts"][f], line) for f, line in zip(data["sites"]["file"], data["sites"]["line"], strict=True)}
    assert (cell.name, 3) in places


def test_a_statement_gives_its_value(notebook):
    (cell,) = notebook("value = %sonde --cli work(2)\nprint('value', value)")
    assert "value 333328333350000" in cell.printed


def test_text_only(notebook):
    (cell,) = notebook("%%sonde --cli\nwork()")
    assert "Hottest lines" in cell.printed
    assert not [out for out in cell.outputs if "text/html" in out.get("data", {})]
    assert max(map(len, cell.printed.split("Hottest lines")[1].splitlines()[:30])) <= 110


# ---- what is measured ----


def test_waiting_is_part_of_the_order_where_that_is_wanted(notebook):
    usual, other = notebook("%%sonde\nwork()", "%%sonde --with-waiting\nwork()")
    assert "% of CPU" in usual.report["text/plain"]
    assert "% of time" in other.report["text/plain"]
    assert ["page.waiting=1" in cell.report["text/html"] for cell in (usual, other)] == [False, True]


def test_memory(notebook):
    (cell,) = notebook("%%sonde --memory\nkept = bytearray(50_000_000)")
    data = data_of(cell.page)
    assert {"memory", "lines"} <= views_of(data)
    assert "47.7 MiB" in cell.report["text/plain"]
    assert f"{cell.name}:2" in cell.report["text/plain"]


def test_calls(notebook):
    (cell,) = notebook("%%sonde --trace\nwork(7)")
    rows = rows_of(data_of(cell.page), "functions")
    (square,) = (row for row in rows if "square" in str(row))
    assert 7 in square.values()
    assert f"In[1]:{SQUARE}(square)" in cell.report["text/plain"]
    assert "epoll" not in cell.report["text/plain"]  # of the notebook's own threads


@pytest.mark.parametrize("folder", ["sonde", "tornado"])
def test_calls_of_a_program_whose_folder_has_the_name_of_a_package(notebook, tmp_path, folder):
    (tmp_path / folder).mkdir()
    (tmp_path / folder / f"in_{folder}.py").write_text("def called():\n    pass\n")
    load = f"import sys\nsys.path.append({folder!r})\nimport in_{folder} as module"
    _, cell = notebook(load, "%%sonde --trace\nmodule.called()")
    assert f"in_{folder}.py:1(called)" in cell.report["text/plain"]


def test_signatures(notebook):
    (cell,) = notebook("%%sonde --signatures\nwork(7)")
    assert "square(count:int)" in cell.report["text/plain"]
    assert "signatures" in views_of(data_of(cell.page))


def test_operators(notebook):
    (cell,) = notebook("%%sonde --ops\nfor _ in range(5):\n    b = a + a")
    assert "ops" in views_of(data_of(cell.page))
    (add,) = (row for row in rows_of(data_of(cell.page), "ops") if "add" in str(row))
    assert 5 in add.values()


def test_several_threads_of_the_program_are_there_and_the_notebooks_are_not(notebook):
    code = (
        "%%sonde --cli\nimport threading\nt = threading.Thread(target=work, name='mine')\nt.start()\nwork()\nt.join()"
    )
    (cell,) = notebook(code)
    assert "thread mine" in cell.printed
    assert "IOPub" not in cell.printed
    assert "Heartbeat" not in cell.printed


# ---- it stays a notebook ----


def test_an_error_looks_as_without_sonde(notebook):
    body = "work(1)\ndef fail():\n    raise ValueError('bad')\nfail()"
    plain, cell, after = notebook(f"# a comment\n{body}", f"%%sonde\n{body}", "1 + 1")
    assert cell.error == plain.error.replace(plain.name, cell.name).replace("# a comment", "# %%sonde")
    assert "text/html" in cell.report
    assert after.result == "2"


def test_an_error_of_a_statement_begins_with_the_statement(notebook):
    _, cell = notebook("def fail():\n    work(1)\n    raise ValueError('bad')", "\n%sonde fail()")
    assert cell.error.count("Cell In[") == 2
    assert "sonde/_notebook/magics.py" not in cell.error
    assert cell.error.endswith("ValueError: bad")


def test_a_syntax_error_measures_nothing(notebook):
    cell, after = notebook("%%sonde\nwork(1))", "%sonde --cli work(1)")
    assert "SyntaxError" in cell.error
    assert after.error is None


def test_an_interrupt_ends_it(notebook):
    interrupt = "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()"
    code = f"%%sonde\nimport os, signal, threading, time\n{interrupt}\ntime.sleep(60)"
    cell, after = notebook(code, "%sonde --cli work(1)")
    assert "KeyboardInterrupt" in cell.error
    assert "text/html" in cell.report
    assert after.error is None


def test_await_works(notebook):
    (cell,) = notebook("%%sonde\nimport asyncio\nawait asyncio.sleep(0.2)\nwork(2)")
    assert cell.error is None
    assert cell.result == "333328333350000"
    assert "text/html" in cell.report


def test_imports_from_the_future(notebook):
    (cell,) = notebook("%%sonde\nfrom __future__ import annotations\nwork(2)")
    assert cell.error is None


def test_one_inside_another(notebook):
    code = "%%sonde\nwith sonde.sample() as inner:\n    work(3)\n%sonde --cli work(3)\nprint(len(inner.rows()))"
    cell, after = notebook(code, "%%sonde\nwork(3)")
    assert cell.error is None
    assert "text/html" in cell.report
    assert "Hottest lines" in cell.printed
    assert "text/html" in after.report


def test_below_another_magic(notebook):
    time, capture = notebook("%%time\n%%sonde --cli\nwork()", "%%capture seen\n%%sonde\nwork()")
    assert "Wall time" in time.printed
    assert "Hottest lines" in time.printed
    assert capture.outputs == []


def test_above_another_magic(notebook):
    (cell,) = notebook("%%sonde --cli\n%%time\nwork()")
    assert "Wall time" in cell.printed
    assert "Hottest lines" in cell.printed


def test_from_one_cell_to_another(notebook):
    _, _, cell = notebook("m = sonde.sample().start()", "work()", "m.stop().print()")
    print(cell.printed)
    assert LOOP in cell.printed


def test_loading_twice_and_unloading(notebook):
    twice, after = notebook("%load_ext sonde\n%reload_ext sonde", "%%sonde --cli\nwork(2)")
    assert twice.error is None
    assert after.printed.count("Hottest lines") == 1
    removed, again = notebook("%unload_ext sonde\n%sonde work()", "%load_ext sonde\n%sonde --cli work(2)")
    assert "not found" in removed.printed + (removed.error or "")
    assert "Hottest lines" in again.printed


# ---- options ----


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--bogus", "unknown option --bogus"),
        ("--rate fast", "--rate takes a whole number"),
        ("--rate 0", "rate"),
        ("--rate", "--rate needs a value"),
        ("work()", "is not an option; put the code on the lines below"),
    ],
)
def test_a_mistake_is_one_line_and_the_cell_does_not_run(notebook, words, said):
    (cell,) = notebook(f"%%sonde {words}\nprint('ran')")
    text = cell.printed + (cell.error or "")
    assert said in text
    assert "UsageError" in text
    assert "Traceback" not in text
    assert "ran\n" not in cell.printed


def test_a_recording_is_kept_where_asked(notebook, tmp_path):
    cell, page = notebook("%%sonde -o kept.sonde\nwork()", "%%sonde -o kept.html --height 300\nwork(2)")
    assert "text/html" in cell.report
    assert "height: 300px" in page.report["text/html"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.html", "kept.sonde"]
    assert "sonde-data" in (tmp_path / "kept.html").read_text()


def test_scalenes_names(notebook):
    cell, line, html = notebook(
        "%%scalene --cpu --memory --reduced-profile --cli\nkept = bytearray(20_000_000)\nwork()",
        "%scrun --cli --cpu-sampling-rate 0.005 work()",
        "%%scalene --profile-all --html\nwork()",
    )
    assert "sonde: --reduced-profile has no effect" in cell.printed
    assert "Hottest lines" in cell.printed
    assert "Memory" in cell.printed
    assert "at 200 Hz" in line.printed
    assert "text/html" in html.report


def test_help(notebook):
    own, scalene = notebook("%sonde --help", "%scrun --help")
    assert "--signatures" in own.printed
    assert "--cpu-sampling-rate" in scalene.printed


# ---- the last expression of a cell ----


@pytest.mark.parametrize(
    "made", ["sonde.sample()", "sonde.memory()", "sonde.record('kept.sonde')", "sonde.profiler.Profile()"]
)
def test_a_measurement_shows_itself(notebook, made):
    (cell,) = notebook(f"with {made} as m:\n    kept = bytearray(10_000_000)\n    work()\nm")
    assert cell.error is None
    assert {"text/plain", "text/html"} <= set(cell.report)
    assert data_of(cell.page)["tables"]


def test_operators_show_themselves(notebook):
    (cell,) = notebook("with sonde.ops() as prof:\n    a + a\nprof")
    assert "ops" in views_of(data_of(cell.page))


def test_one_that_has_not_begun_is_a_text(notebook):
    (cell,) = notebook("sonde.sample()")
    assert "Measurement" in cell.result


def test_plot_shows_the_sunburst(notebook):
    (cell,) = notebook("p = sonde.profiler.Profile()\np.runcall(work, 3)\nsonde.profiler.plot(p)")
    assert 'data-state="v=sunburst"' in cell.page
    assert "square(count:int)" in cell.report["text/plain"]
