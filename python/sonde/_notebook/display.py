"""What a notebook shows of a measurement: the report page in a frame, and the same as text for where there are none."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEIGHT = 640  # pixels

# The text lies behind the frame. A notebook that is not trusted takes the frame away, and the text is there. The frame
# has an origin of its own: its scripts see nothing of the notebook.
_HTML = (
    '<div style="position: relative; width: 100%; height: {height}px">'
    '<pre style="height: 100%; margin: 0; overflow: auto">{text}</pre>'
    '<iframe title="sonde" sandbox="allow-scripts" allow="clipboard-write" srcdoc="{page}"'
    ' style="position: absolute; top: 0; left: 0; width: 100%; height: 100%; border: 0; background: #fff"></iframe>'
    "</div>"
)


def bundle(text: str, page: str | None, height: int = HEIGHT) -> dict[str, Any]:
    """Texts by their kind, as IPython wants them; without a page the text alone."""
    shown: dict[str, Any] = {"text/plain": text}
    if page is not None:
        shown["text/html"] = frame(text, page, height)
    return shown


def frame(text: str, page: str, height: int = HEIGHT) -> str:
    """A piece of HTML that needs no server and no file."""
    return _HTML.format(height=height, text=_escape(text), page=_escape(page))


def starting_with(page: str, state: str) -> str:
    """The page, with something else chosen than usual: ``v=sunburst``, that view."""
    return page.replace('<script id="sonde-data"', f'<script id="sonde-data" data-state="{state}"', 1)


def _escape(text: str) -> str:
    """As html.escape, without the time to import that."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


class Shown:
    """Something that a notebook shows, and a terminal prints."""

    def __init__(self, text: str, page: str | None, height: int = HEIGHT) -> None:
        self._text = text
        self._page = page
        self._height = height

    def __repr__(self) -> str:
        return self._text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return bundle(self._text, self._page, self._height)
