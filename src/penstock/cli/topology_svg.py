"""A topology as a picture: layers from left to right, one box for each sub-topology, drawn as SVG without any library.

topic -> source -> processors ... -> sink -> topic
                        |
                      store

"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape

from penstock.topology.description import NodeDescription, TopologyDescription

_CHARACTER, _LINE = 7.2, 34.0  # width of a letter of the font, height of a row
_COLUMN_GAP, _ROW_GAP, _MARGIN = 56.0, 16.0, 24.0
_STYLE = """\
text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1f2933; }
.title { font-size: 11px; fill: #66788a; }
.part { fill: #f5f7fa; stroke: #cbd2d9; }
.topic { fill: #fff3c4; stroke: #cb6e17; }
.source, .sink { fill: #d9e8f6; stroke: #2f6690; }
.processor { fill: #ffffff; stroke: #52606d; }
.store { fill: #e3f9e5; stroke: #2f8132; }
path { fill: none; stroke: #7b8794; }
.keeps { stroke-dasharray: 3 3; stroke: #2f8132; }
"""


@dataclass
class _Box:
    """Something drawn: where it stands in the grid, and later on the page."""

    label: str
    kind: str
    part: int | None
    column: int = 0
    after: list[str] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        return len(self.label) * _CHARACTER + 20


def topology_svg(description: TopologyDescription) -> str:
    """The picture of a topology."""
    boxes = _boxes(description)
    _columns(boxes)
    parts = _place(boxes)
    width = max((box.x + box.width for box in boxes.values()), default=0) + _MARGIN * 2
    height = max((box.y + _LINE for box in boxes.values()), default=0) + _MARGIN * 2
    drawn = [*_draw_parts(parts), *_draw_edges(boxes), *(_draw_box(box) for box in boxes.values())]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}">\n<style>\n{_STYLE}</style>\n'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" style="fill:#7b8794;stroke:none"/></marker></defs>\n'
        + "".join(f"{line}\n" for line in drawn)
        + "</svg>\n"
    )


def _boxes(description: TopologyDescription) -> dict[str, _Box]:
    boxes: dict[str, _Box] = {}
    parts: list[tuple[int, Iterable[NodeDescription]]] = [(s.id, s.nodes) for s in description.subtopologies]
    parts += [(g.id, (g.source, g.processor)) for g in description.global_stores]
    for part, nodes in sorted(parts, key=lambda each: each[0]):
        for node in nodes:
            box = boxes[f"node {node.name}"] = _Box(node.name, node.kind, part)
            box.after = [f"node {successor}" for successor in node.successors]
            for topic in (*node.topics, *([node.pattern] if node.pattern else [])):
                boxes.setdefault(f"topic {topic}", _Box(topic, "topic", None)).after.append(f"node {node.name}")
            target = node.topic or (f"by {node.extractor}" if node.extractor else None)
            if target is not None:
                boxes.setdefault(f"topic {target}", _Box(target, "topic", None))
                box.after.append(f"topic {target}")
            for store in node.stores:
                boxes.setdefault(f"store {store}", _Box(store, "store", part))
                box.stores.append(f"store {store}")
    return boxes


def _columns(boxes: dict[str, _Box]) -> None:
    """Each box stands right of all that lead to it, an output topic right of the whole sub-topology that writes it.

    Topics may close a circle: it is cut after as many rounds as there are boxes.
    """
    for _ in boxes:
        before = {name: box.column for name, box in boxes.items()}
        last: dict[int | None, int] = {}
        for box in boxes.values():
            last[box.part] = max(last.get(box.part, 0), box.column)
        for box in boxes.values():
            for name in box.after:
                other = boxes[name]
                left = last[box.part] if other.kind == "topic" else box.column
                other.column = min(max(other.column, left + 1), len(boxes))
        if before == {name: box.column for name, box in boxes.items()}:
            break
    for box in boxes.values():
        for store in box.stores:
            boxes[store].column = max(boxes[store].column, box.column)


def _place(boxes: dict[str, _Box]) -> dict[int, tuple[float, float, float, float]]:
    """Coordinates: columns from left to right, sub-topologies one below the other; the frames of the latter."""
    widths: dict[int, float] = {}
    for box in boxes.values():
        widths[box.column] = max(widths.get(box.column, 0), box.width)
    lefts, x = {}, _MARGIN
    for column in sorted(widths):
        lefts[column] = x
        x += widths[column] + _COLUMN_GAP
    top, frames = _MARGIN, {}
    for part in sorted({box.part for box in boxes.values() if box.part is not None}):
        inside = _of_part(boxes, part)
        used: dict[int, int] = {}
        for box in inside:
            row = used.get(box.column, 0)
            used[box.column] = row + 1
            box.x, box.y = lefts[box.column], top + 24 + row * (_LINE + _ROW_GAP)
        own = [box for box in inside if box.part == part]
        bottom = max(box.y for box in inside) + _LINE + _ROW_GAP
        left, right = min(b.x for b in own) - 12, max(b.x + b.width for b in own) + 12
        frames[part] = (left, top, right - left, bottom - top)
        top = bottom + _ROW_GAP
    return frames


def _of_part(boxes: dict[str, _Box], part: int) -> list[_Box]:
    """The boxes drawn beside a sub-topology: its nodes and stores, and the topics that no earlier one has drawn."""
    own = [box for box in boxes.values() if box.part == part]
    names = {name for name, box in boxes.items() if box.part == part}
    topics = [
        box
        for name, box in boxes.items()
        if box.kind == "topic" and box.y == 0 and (names & set(box.after) or any(name in b.after for b in own))
    ]
    nodes = [box for box in own if box.kind != "store"]
    return [*topics, *nodes, *(box for box in own if box.kind == "store")]


def _draw_parts(frames: dict[int, tuple[float, float, float, float]]) -> Iterator[str]:
    for part, (x, y, width, height) in frames.items():
        yield f'<rect class="part" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6"/>'
        yield f'<text class="title" x="{x + 8:.1f}" y="{y + 15:.1f}">Sub-topology {part}</text>'


def _draw_edges(boxes: dict[str, _Box]) -> Iterator[str]:
    for box in boxes.values():
        for name in box.after:
            other = boxes[name]
            x1, y1, x2, y2 = box.x + box.width, box.y + _LINE / 2, other.x, other.y + _LINE / 2
            bend = max(24.0, abs(x2 - x1) / 2)
            yield (
                f'<path d="M{x1:.1f},{y1:.1f} C{x1 + bend:.1f},{y1:.1f} {x2 - bend:.1f},{y2:.1f} {x2:.1f},{y2:.1f}" '
                'marker-end="url(#tip)"/>'
            )
        for name in box.stores:
            store = boxes[name]
            x1, x2 = box.x + box.width / 2, store.x + store.width / 2
            yield f'<path class="keeps" d="M{x1:.1f},{box.y + _LINE:.1f} L{x2:.1f},{store.y:.1f}"/>'


def _draw_box(box: _Box) -> str:
    round_ = 14 if box.kind in {"topic", "store"} else 4
    return (
        f'<g><rect class="{box.kind}" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{_LINE:.1f}" '
        f'rx="{round_}"/><text x="{box.x + 10:.1f}" y="{box.y + 21:.1f}">{escape(box.label)}</text></g>'
    )
