"""Notebooks that are really executed, in a folder of their own."""

import contextlib
import html
import re

import nbclient
import nbformat
import pytest

LOAD = """\
%load_ext sonde
import sonde
import sonde.profiler
import numpy as np
a = np.ones((100, 100))

def square(count):
    total = 0
    for number in range(count):
        total += number * number
    return total

def work(times=20):
    return [square(100_000) for _ in range(times)][-1]
"""


class Cell:
    """A cell that has run, with what is below it."""

    def __init__(self, cell):
        self.outputs = cell.outputs
        self.number = cell.execution_count

    @property
    def printed(self):
        return "".join(out.text for out in self.outputs if out.output_type == "stream")

    @property
    def error(self):
        """The traceback without its colours; None when all went well."""
        found = [out for out in self.outputs if out.output_type == "error"]
        return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(found[0].traceback)) if found else None

    @property
    def result(self):
        return next((out.data["text/plain"] for out in self.outputs if out.output_type == "execute_result"), None)

    @property
    def report(self):
        """The one output with the page."""
        (found,) = (out.data for out in self.outputs if "text/html" in out.get("data", {}))
        return found

    @property
    def page(self):
        """The page inside the frame."""
        (page,) = re.findall(r'srcdoc="([^"]*)"', self.report["text/html"])
        return html.unescape(page)

    @property
    def name(self):
        """What the cell is called in reports."""
        return f"In[{self.number}]"


class Kernel:
    """One that runs until the tests end: to start it takes longer than most of them."""

    def __init__(self, client, made):
        self.client, self.made = client, made

    def run(self, cell):
        self.made.cells.append(nbformat.v4.new_code_cell(cell))
        done = self.client.execute_cell(self.made.cells[-1], len(self.made.cells) - 1)
        nbformat.validate(self.made)
        return Cell(done)


@contextlib.contextmanager
def started():
    made = nbformat.v4.new_notebook()
    client = nbclient.NotebookClient(made, allow_errors=True, timeout=120)
    with client.setup_kernel():
        yield Kernel(client, made)


@pytest.fixture(scope="session")
def shared_kernel():
    with started() as kernel:
        assert kernel.run(LOAD).error is None
        yield kernel


@pytest.fixture
def notebook(shared_kernel, tmp_path):
    """Run cells, each a text, in an empty folder; what came out of them. The first cell of all was LOAD."""
    shared_kernel.run(f"import os\nos.chdir({str(tmp_path)!r})")
    return lambda *cells: [shared_kernel.run(cell) for cell in cells]


@pytest.fixture
def new_notebook():
    """The same with a kernel of its own, in which nothing is loaded."""
    with started() as kernel:
        yield lambda *cells: [kernel.run(cell) for cell in cells]
