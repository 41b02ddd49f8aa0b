"""Texts of the errors that topologies raise, each made in one place."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from penstock.errors import TopologyError


def duplicate_node(name: str, line: str | None) -> TopologyError:
    return TopologyError(f"two nodes are called {name}", node=name, line=line, hint="Give one of them another name.")


def duplicate_store(name: str, line: str | None) -> TopologyError:
    return TopologyError(
        f"two stores are called {name}",
        line=line,
        hint="Give one of them another name; to share one store, name it in both processors.",
    )


def topic_read_twice(topic: str, first: str, second: str, line: str | None) -> TopologyError:
    return TopologyError(
        f"topic {topic} is read by the sources {first} and {second}",
        node=second,
        line=line,
        hint=f"Make {first} the parent of both branches.",
    )


def overlapping_sources(topic: str, first: Iterable[str], second: Iterable[str], line: str | None) -> TopologyError:
    return TopologyError(
        f"topic {topic} is read by two sources with different topics: [{', '.join(first)}] and [{', '.join(second)}]",
        line=line,
        hint="Read the same topics in both, or read each topic once and merge the streams.",
    )


def unknown_parent(name: str, parent: str, known: list[str], line: str | None) -> TopologyError:
    return TopologyError(
        f"node {name} has the parent {parent}, which does not exist (yet)",
        node=name,
        line=line,
        hint=f"Add parents before their children. {_known('Nodes', parent, known)}",
    )


def unknown_processor(processor: str, store: str, known: list[str], line: str | None) -> TopologyError:
    return TopologyError(
        f"store {store} cannot be connected to {processor}, which does not exist (yet)",
        line=line,
        hint=f"Add the processor first. {_known('Nodes', processor, known)}",
    )


def unknown_store(processor: str, store: str, known: list[str], line: str | None) -> TopologyError:
    return TopologyError(
        f"processor {processor} uses the store {store}, which does not exist (yet)",
        node=processor,
        line=line,
        hint=f"Add it first: builder.add_state_store(...). {_known('Stores', store, known)}",
    )


def store_without_processor(node: str, store: str, line: str | None, *, source: bool) -> TopologyError:
    return TopologyError(
        f"node {node} is a {'source' if source else 'sink'}",
        line=line,
        hint=f"Only processors use stores such as {store}.",
    )


def global_store_connected(processor: str, store: str, line: str | None) -> TopologyError:
    return TopologyError(
        f"processor {processor} names the global store {store}",
        node=processor,
        line=line,
        hint="Every processor may read global stores; leave it out.",
    )


def _known(what: str, asked: str, known: list[str]) -> str:
    near = get_close_matches(asked, known, n=1)
    did_you_mean = f"Did you mean {near[0]}? " if near else ""
    return f"{did_you_mean}{what}: {', '.join(sorted(known)) or 'none'}."
