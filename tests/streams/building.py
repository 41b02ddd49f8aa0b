"""Short ways to look at what the DSL built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock import StreamsBuilder, Topology, TopologyError
from penstock.topology.nodes import ProcessorNode, SinkNode, SourceNode


def operators(topology: Topology) -> dict[str, Any]:
    """Operator of each processor, by the name of its node."""
    return {name: node.operator for name, node in topology.nodes.items() if isinstance(node, ProcessorNode)}


def the(topology: Topology, kind: type) -> Any:
    """The only operator of a kind."""
    (found,) = [operator for operator in operators(topology).values() if type(operator) is kind]
    return found


def stores_of(topology: Topology, name: str) -> tuple[str, ...]:
    node = topology.nodes[name]
    assert isinstance(node, ProcessorNode)
    return node.stores


def source(topology: Topology, topic: str) -> SourceNode:
    (found,) = [n for n in topology.nodes.values() if isinstance(n, SourceNode) and topic in n.topics]
    return found


def sink(topology: Topology, topic: str) -> SinkNode:
    (found,) = [n for n in topology.nodes.values() if isinstance(n, SinkNode) and n.topic == topic]
    return found


def refused(call: Any, error: type[Exception] = TopologyError) -> str:
    """The message of the error a call raises, with the source line cut to its file."""
    with pytest.raises(error) as caught:
        call()
    return " ".join(str(caught.value).split())


def says(call: Any, message: str, *arguments: Any) -> None:
    """Check the whole message of a call's error; `{}` in it stands for the line of the call."""
    code = call.__code__
    assert refused(lambda: call(*arguments)) == message.format(f"{Path(code.co_filename).name}:{code.co_firstlineno}")


def stream(topic: str = "in", **options: Any) -> Any:
    return StreamsBuilder().stream(topic, **options)
