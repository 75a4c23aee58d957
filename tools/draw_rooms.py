"""Draws docs/images/rooms.svg: the rooms of the C sources, who includes whom, and the way of a measurement.

Usage: python tools/draw_rooms.py [--check]

Everything but the way comes from src/rooms.txt. A room stands above all rooms that it includes. An arrow that follows
from others is left out: where cli includes format and format includes view, none goes from cli to view. With --check
the file is compared and not written.
"""

import sys
from collections import defaultdict
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "docs" / "images" / "rooms.svg"
WAY = ["probe", "collect", "store", "view", "format", "cli"]
BOX_WIDTH, ROW_GAP, LINE, PADDING = 190, 74, 17, 12
STEP = BOX_WIDTH + 46  # from box to box
STYLE = """text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.room { font-weight: 600; font-size: 15px }
rect { fill: #f6f8fa; stroke: #8c959f }
.edge { fill: none; stroke: #8c959f }
.head { fill: #8c959f }
.way { fill: none; stroke: #bc4c00; stroke-width: 3; stroke-opacity: .75 }
.way-head { fill: #bc4c00 }
.legend { font-size: 12px }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } rect { fill: #161b22; stroke: #6e7681 } .edge { stroke: #6e7681 } .head { fill: #6e7681 }
.way { stroke: #f0883e } .way-head { fill: #f0883e } }"""


def read_edges(text: str) -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """The parts of each room of the first level, and the rooms of that level which it includes."""
    parts: dict[str, list[str]] = defaultdict(list)
    edges: dict[str, set[str]] = defaultdict(set)
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        name, _, others = line.partition(":")
        room, _, part = name.partition("/")
        parts[room] += [part] if part else []
        edges[room] |= {other.partition("/")[0] for other in others.split()} - {room}
    return parts, edges


def reach(edges: dict[str, set[str]], room: str) -> set[str]:
    """All that a room includes, also through others."""
    found: set[str] = set()
    todo = [room]
    while todo:
        for other in edges[todo.pop()] - found:
            found.add(other)
            todo.append(other)
    return found


def place(parts: dict[str, list[str]], edges: dict[str, set[str]]) -> dict[str, tuple[float, float, float]]:
    """The left edge, the top and the height of each room's box, above the middle of what it includes."""
    levels: dict[str, int] = {}
    for room in sorted(edges, key=lambda room: len(reach(edges, room))):
        levels[room] = 1 + max((levels[other] for other in edges[room]), default=-1)
    widest = max(list(levels.values()).count(level) for level in levels.values())
    centers = dict.fromkeys(edges, widest * STEP / 2)
    tops: dict[str, float] = {}
    top = 0.0
    for level in range(max(levels.values()) + 1):
        row = [room for room in edges if levels[room] == level]
        for room in row:
            below = [centers[other] for other in direct(edges, room)]
            centers[room] = sum(below) / len(below) if below else centers[room]
        row.sort(key=lambda room: centers[room])
        for number, room in enumerate(row):
            least = centers[row[number - 1]] + STEP if number else STEP / 2
            most = (widest - (len(row) - 1 - number) - 0.5) * STEP
            centers[room] = max(least, min(centers[room], most))
        top -= ROW_GAP + max(box_height(parts[room]) for room in row)
        tops |= dict.fromkeys(row, top)
    return {room: (centers[room] - BOX_WIDTH / 2, tops[room] - top + 40, box_height(parts[room])) for room in edges}


def direct(edges: dict[str, set[str]], room: str) -> set[str]:
    """What it includes and no other that it includes does."""
    return edges[room] - {far for other in edges[room] for far in reach(edges, other)}


def box_height(parts: list[str]) -> float:
    return 2 * PADDING + LINE * (1 + len(wrap(parts)))


def wrap(words: list[str]) -> list[str]:
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(word) < 23:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def arrow(start: tuple[float, float, float], end: tuple[float, float, float], shift: float, kind: str) -> str:
    """From one box to another: downwards or upwards where they are in different rows, else along the row."""
    if start[1] == end[1]:
        right = end[0] > start[0]
        x1, x2 = (start[0] + BOX_WIDTH, end[0] - 7) if right else (start[0], end[0] + BOX_WIDTH + 7)
        y = start[1] + 20
        return f'<path class="{kind}" d="M{x1:.0f} {y:.0f} L{x2:.0f} {y:.0f}" marker-end="url(#{kind}-end)"/>'
    down = end[1] > start[1]
    x1, x2 = start[0] + BOX_WIDTH / 2 + shift, end[0] + BOX_WIDTH / 2 + shift
    y1, y2 = (start[1] + start[2], end[1] - 7) if down else (start[1], end[1] + end[2] + 7)
    bend = (y2 - y1) / 2
    path = f"M{x1:.0f} {y1:.0f} C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2:.0f}"
    return f'<path class="{kind}" d="{path}" marker-end="url(#{kind}-end)"/>'


def draw(text: str) -> str:
    parts, edges = read_edges(text)
    boxes = place(parts, edges)
    width = max(left for left, _, _ in boxes.values()) + BOX_WIDTH + 20
    height = max(top + high for _, top, high in boxes.values()) + 20
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}">',
        "<title>The rooms of the C sources and the way of a measurement</title>",
        f"<style>{STYLE}</style>",
    ]
    for kind, style, size in [("edge", "head", 8), ("way", "way-head", 5)]:
        out.append(
            f'<marker id="{kind}-end" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="{size}" markerHeight="{size}" '
            f'orient="auto"><path class="{style}" d="M0 0 L8 4 L0 8 z"/></marker>'
        )
    out.append(
        '<text class="legend" x="20" y="18">grey: includes (arrows that follow from others are left out); '
        "orange: the way of a measurement</text>"
    )
    for room in edges:
        out += [arrow(boxes[room], boxes[other], -18, "edge") for other in sorted(direct(edges, room))]
    out += [arrow(boxes[room], boxes[after], 18, "way") for room, after in zip(WAY, WAY[1:], strict=False)]
    for room, (left, top, high) in boxes.items():
        out.append(f'<rect x="{left:.0f}" y="{top:.0f}" width="{BOX_WIDTH}" height="{high:.0f}" rx="6"/>')
        for number, line in enumerate([f"src/{room}", *wrap(parts[room])]):
            style = ' class="room"' if number == 0 else ""
            y = top + PADDING + LINE * (number + 0.8)
            out.append(f'<text{style} x="{left + PADDING:.0f}" y="{y:.0f}">{escape(line)}</text>')
    return "\n".join([*out, "</svg>", ""])


def main() -> int:
    drawn = draw((ROOT / "src" / "rooms.txt").read_text(encoding="utf-8"))
    if "--check" not in sys.argv[1:]:
        OUTPUT.write_text(drawn, encoding="utf-8")
    elif not OUTPUT.exists() or OUTPUT.read_text(encoding="utf-8") != drawn:
        print(f"{OUTPUT.relative_to(ROOT)} is stale: run tools/draw_rooms.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
