"""Descriptions as mermaid flowcharts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class DescribedNode(Protocol):
    """What a diagram needs of a node's description."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def successors(self) -> tuple[str, ...]: ...
    @property
    def topics(self) -> tuple[str, ...]: ...
    @property
    def pattern(self) -> str | None: ...
    @property
    def topic(self) -> str | None: ...
    @property
    def stores(self) -> tuple[str, ...]: ...


def flowchart(groups: Iterable[tuple[str, Iterable[DescribedNode]]]) -> str:
    """A flowchart with one box for each group, and topics and stores as shapes of their own."""
    lines = ["flowchart TD"]
    edges: list[str] = []
    shapes: dict[str, None] = {}
    for number, (title, nodes) in enumerate(groups):
        lines.append(f'  subgraph g{number}["{_escape(title)}"]')
        for node in nodes:
            lines.append(f'    {_id(node.name)}["{_escape(node.name)}"]')
            edges += [f"  {_id(node.name)} --> {_id(successor)}" for successor in node.successors]
            for topic in (*node.topics, *([node.pattern] if node.pattern else [])):
                shapes[f'  {_id("topic " + topic)}[/"{_escape(topic)}"/]'] = None
                edges.append(f"  {_id('topic ' + topic)} --> {_id(node.name)}")
            if node.topic is not None:
                shapes[f'  {_id("topic " + node.topic)}[/"{_escape(node.topic)}"/]'] = None
                edges.append(f"  {_id(node.name)} --> {_id('topic ' + node.topic)}")
            for store in node.stores:
                shapes[f'  {_id("store " + store)}[("{_escape(store)}")]'] = None
                edges.append(f"  {_id(node.name)} --- {_id('store ' + store)}")
        lines.append("  end")
    return "\n".join([*lines, *shapes, *edges]) + "\n"


def _id(name: str) -> str:
    """Names as mermaid accepts them: every other character as its number."""
    return "".join(c if c.isalnum() and c.isascii() else f"_{ord(c):x}_" for c in name)


def _escape(text: str) -> str:
    return text.replace('"', "#quot;")
