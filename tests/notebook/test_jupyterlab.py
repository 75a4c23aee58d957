"""A real JupyterLab in a real browser: the report is shown, works, and is there again after save and reopen."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from conftest import LOAD
from playwright import sync_api as playwright

CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync"]  # fmt: skip
SHOTS = Path(os.environ.get("SONDE_SHOTS", ""))  # screenshots go there, if it is set
SECOND = 1000  # milliseconds

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def server(folder):
    """The address of a JupyterLab that shows the folder."""
    home = folder.parent / "home"
    environment = {**os.environ, "HOME": str(home), "JUPYTER_RUNTIME_DIR": str(home / "runtime")}
    environment.update(JUPYTER_CONFIG_DIR=str(home / "config"), JUPYTER_DATA_DIR=str(home / "data"))
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--expose-app-in-browser",
               "--port=0", "--ServerApp.token=sonde", f"--ServerApp.root_dir={folder}"]  # fmt: skip
    be_calm(home / "config")
    with open(folder.parent / "lab.log", "w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder.parent)
    try:
        yield wait_for_address(home / "runtime", process)
    finally:
        process.kill()  # its own way to end may wait for ever for a thread of anyio's; its kernels end when it is gone
        process.wait()


def be_calm(config):
    """No questions about news, which would lie over the notebook."""
    settings = config / "lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"fetchNews": "false", "checkForUpdates": false}')


def wait_for_address(runtime, process):
    while process.poll() is None:
        for file in runtime.glob("jpserver-*.json") if runtime.exists() else []:
            if text := file.read_text():
                return json.loads(text)["url"]
        time.sleep(0.1)
    raise AssertionError("JupyterLab ended")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def page(browser):
    opened = browser.new_page(viewport={"width": 1440, "height": 1000})
    opened.set_default_timeout(60 * SECOND)
    yield opened
    opened.close()


def open_notebook(page, server, name):
    page.goto(f"{server}lab/tree/{name}?token=sonde&reset", wait_until="domcontentloaded")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.context?.isReady")


def command(page, name):
    page.evaluate("name => window.jupyterapp.commands.execute(name)", name)


def report(page):
    """The page inside the frame below the cell, once it is there."""
    page.wait_for_selector(".jp-OutputArea iframe")
    frame = page.frame_locator(".jp-OutputArea iframe").first
    frame.locator("html[data-ready='1']").wait_for()
    return frame


def take_shot(page, name):
    if SHOTS.name:
        page.screenshot(path=SHOTS / f"{name}.png")


def test_the_report_is_shown_works_and_is_there_again(page, server, folder):
    cells = [nbformat.v4.new_code_cell(text) for text in (LOAD, "%%sonde\nresult = work(40)")]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / "measured.ipynb")

    open_notebook(page, server, "measured.ipynb")
    page.wait_for_function("window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'")
    command(page, "notebook:run-all-cells")
    shown = report(page)
    assert shown.get_by_role("tab").count() > 3
    shown.get_by_role("tab", name=re.compile("Lines")).click()
    shown.get_by_text("total += number * number").first.wait_for()
    page.locator(".jp-OutputArea iframe").first.scroll_into_view_if_needed()
    take_shot(page, "jupyterlab")
    command(page, "docmanager:save")
    page.wait_for_function("!window.jupyterapp.shell.currentWidget.context.model.dirty")

    page.goto("about:blank")
    open_notebook(page, server, "measured.ipynb")
    again = report(page)
    again.get_by_role("tab", name=re.compile("Lines")).click()
    again.get_by_text("total += number * number").first.wait_for()

    made = {path.name for path in folder.iterdir()}
    assert made <= {"measured.ipynb", ".ipynb_checkpoints", "Untitled.ipynb"}


def test_a_notebook_that_is_not_trusted_has_the_text(page, server, folder):
    saved = nbformat.read(folder / "measured.ipynb", 4)
    saved.cells[1].source += "  # by somebody else"
    (output,) = (out for out in saved.cells[1].outputs if "text/html" in out.get("data", {}))
    output.data["text/html"] = output.data["text/html"].replace("Hottest lines", "Hottest lines of another")
    nbformat.write(saved, folder / "foreign.ipynb")

    open_notebook(page, server, "foreign.ipynb")
    text = page.get_by_text("Hottest lines of another").first
    text.wait_for()
    assert page.locator(".jp-OutputArea iframe").count() == 0
    assert text.is_visible()
    take_shot(page, "jupyterlab-untrusted")
