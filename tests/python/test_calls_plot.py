"""``profiler.plot``: a page in a browser, and below the cell in a notebook."""

import html
import html.parser
import re
import sys
import types
import webbrowser

import pytest

from sonde import profiler


class Texts(html.parser.HTMLParser):
    """All text between tags; fails on a tag that is not closed."""

    EMPTY = frozenset({"meta", "br"})

    def __init__(self):
        super().__init__()
        self.open, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def texts_of(page):
    parser = Texts()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser.texts


@pytest.fixture
def profile():
    def odd(x):
        return x

    odd.__code__ = odd.__code__.replace(co_name="<odd & co>", co_qualname="<odd & co>")
    p = profiler.Profile()
    p.runcall(odd, 1)
    return p


def test_a_page_opens_in_the_browser(profile, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    name = profiler.plot(profile, str(tmp_path / "page.html"))
    assert opened == [f"file://{tmp_path}/page.html"]
    texts = texts_of((tmp_path / "page.html").read_text())
    assert name == str(tmp_path / "page.html")
    assert "<odd & co>(x:int)" in texts
    other = profiler.plot(profile)
    assert opened[1] == f"file://{other}"


def test_a_notebook_shows_it_below_the_cell(profile, monkeypatch):
    module = types.ModuleType("IPython")
    module.get_ipython = lambda: object()
    module.display = types.SimpleNamespace(HTML=lambda page: ("shown", page))
    monkeypatch.setitem(sys.modules, "IPython", module)
    kind, frame = profiler.plot(profile)
    assert kind == "shown"
    (page,) = re.findall(r'^<iframe srcdoc="([^"]*)" [^<>]*></iframe>$', frame)
    assert "<odd & co>(x:int)" in texts_of(html.unescape(page))
