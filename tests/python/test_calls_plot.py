"""``profiler.plot``: the report page in a browser, and below the cell in a notebook."""

import html
import re
import sys
import types
import webbrowser
from pathlib import Path

import pytest

from sonde import profiler


@pytest.fixture
def profile():
    def odd(x):
        return x

    odd.__code__ = odd.__code__.replace(co_name="<odd & co>", co_qualname="<odd & co>")
    p = profiler.Profile()
    p.runcall(odd, 1)
    return p


@pytest.fixture
def notebook(monkeypatch):
    """As much of IPython as is asked for."""
    module = types.ModuleType("IPython")
    shell = types.SimpleNamespace(compile=types.SimpleNamespace(_filename_map={__file__: 3}), user_ns={})
    module.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", module)


def test_a_page_opens_in_the_browser(profile, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    name = profiler.plot(profile, str(tmp_path / "page #1.html"))
    assert opened == [tmp_path.as_uri() + "/page%20%231.html"]
    assert name == str(tmp_path / "page #1.html")
    page = (tmp_path / "page #1.html").read_text()
    assert page.lower().startswith("<!doctype html>")
    other = profiler.plot(profile)
    assert opened[1] == Path(other).as_uri()


def test_a_notebook_shows_it_below_the_cell(profile, notebook):
    shown = profiler.plot(profile)
    bundle = shown._repr_mimebundle_()
    assert "<odd & co>(x:int)" in bundle["text/plain"]
    assert repr(shown) == bundle["text/plain"]
    if "text/html" in bundle:  # the page was built in
        (page,) = re.findall(r'<iframe [^<>]*srcdoc="([^"]*)"[^<>]*></iframe>', bundle["text/html"])
        assert 'data-state="v=sunburst"' in html.unescape(page)
        assert "&lt;odd &amp; co&gt;(x:int)" in bundle["text/html"]


def test_a_profile_shows_itself_with_cells_by_their_names(profile, notebook):
    bundle = profile._repr_mimebundle_()
    assert "In[3]:" in bundle["text/plain"]
    assert profile._repr_html_() == bundle.get("text/html")
