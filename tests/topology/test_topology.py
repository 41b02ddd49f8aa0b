"""Topologies built by hand: what is accepted, and the texts of what is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from penstock import Serdes, Stores, Topology, TopologyTestDriver
from penstock.topology.nodes import ProcessorNode, SinkNode, SourceNode
from penstock.topology.operators import Process
from tests.streams.building import says

STRING = Serdes.string()


def echo(record: Any, context: Any) -> Iterator[Any]:
    yield record


def seen(name: str = "seen") -> Any:
    return Stores.key_value_store_builder(Stores.persistent_key_value_store(name), "string", "string")


class Remember:
    """Keeps the last value of each key."""

    def init(self, context: Any) -> None:
        self.store = context.get_state_store("seen")

    def process(self, record: Any) -> None:
        self.store.put(record.key, record.value)


def chain() -> Topology:
    return (
        Topology()
        .add_source("read", "in", key_deserializer="string", value_deserializer="string")
        .add_processor("work", echo, "read")
        .add_sink("write", "out", "work", key_serializer="string", value_serializer="string")
    )


def test_a_chain() -> None:
    topology = chain()
    read, work, write = topology.nodes.values()
    assert isinstance(read, SourceNode)
    assert (read.topics, read.key_serde) == (("in",), STRING)
    assert isinstance(work, ProcessorNode)
    assert work.operator == Process(echo)
    assert isinstance(write, SinkNode)
    assert (write.parents, write.topic, write.value_serde) == (("work",), "out", STRING)
    assert topology.children("read") == ("work",)
    assert topology.children("write") == ()


def test_it_runs() -> None:
    with TopologyTestDriver(chain(), {}) as driver:
        driver.create_input_topic("in").pipe_input("k", "v", timestamp=1)
        assert driver.create_output_topic("out").read_key_value() == ("k", "v")


def test_stores() -> None:
    topology = chain().add_state_store(seen(), "work").add_processor("more", echo, "work")
    topology.add_state_store(seen("other")).connect_processor_and_state_stores("more", "seen", "other")
    assert topology.nodes["work"].stores == ("seen",)  # type: ignore[union-attr]
    assert topology.nodes["more"].stores == ("seen", "other")  # type: ignore[union-attr]
    topology.add_state_store(topology.stores["seen"], "more")  # the same one again: nothing new
    assert topology.nodes["more"].stores == ("seen", "other")  # type: ignore[union-attr]


def test_a_read_only_store_follows_its_topic() -> None:
    topology = Topology().add_read_only_state_store(
        seen(), "read", "facts", "keep", Remember, key_deserializer="string"
    )
    assert topology.source_changelogs == {"seen": "facts"}
    assert not topology.stores["seen"].logging
    assert topology.nodes["keep"].stores == ("seen",)  # type: ignore[union-attr]


def test_a_global_store_is_apart() -> None:
    topology = chain().add_global_store(seen(), "read-facts", "facts", "keep", Remember, value_deserializer="string")
    assert set(topology.nodes) == {"read", "work", "write"}
    assert topology.stores == {}
    node = topology.global_stores["seen"]
    assert (node.source.name, node.source.topics, node.processor.name) == ("read-facts", ("facts",), "keep")
    with TopologyTestDriver(topology, {"default.key.serde": "string"}) as driver:
        driver.create_input_topic("facts").pipe_input("k", "v")
        assert driver.get_key_value_store("seen").get("k") == "v"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: chain().add_processor("work", echo, "read"),
            "two nodes are called work (node work at {}). Give one of them another name.",
        ),
        (
            lambda: chain().add_global_store(seen(), "work", "facts", "keep", Remember),
            "two nodes are called work (node work at {}). Give one of them another name.",
        ),
        (
            lambda: chain().add_source("again", "other", "in"),
            "topic in is read by the sources read and again (node again at {}). Make read the parent of both branches.",
        ),
        (
            lambda: chain().add_source("again", pattern="i."),
            "topic in is read by the sources read and again (node again at {}). Make read the parent of both branches.",
        ),
        (
            lambda: chain().add_processor("p", echo, "raed"),
            (
                "node p has the parent raed, which does not exist (yet) (node p at {}). "
                "Add parents before their children. Did you mean read? Nodes: read, work, write."
            ),
        ),
        (
            lambda: chain().add_processor("p", echo),
            "node p has no parent (at {}). Name the node whose records it gets.",
        ),
        (
            lambda: chain().add_processor("p", echo, "p"),
            "node p is its own parent (at {}). A topology has no cycles.",
        ),
        (
            lambda: chain().add_sink("s", "out", "write"),
            "node s has the sink write as its parent (at {}). A sink ends its branch.",
        ),
        (
            lambda: chain().add_state_store(seen(), "read"),
            "node read is a source (at {}). Only processors use stores such as seen.",
        ),
        (
            lambda: chain().add_state_store(seen(), "nobody"),
            (
                "store seen cannot be connected to nobody, which does not exist (yet) (at {}). "
                "Add the processor first. Nodes: read, work, write."
            ),
        ),
        (
            lambda: chain().connect_processor_and_state_stores("work", "seen"),
            (
                "processor work uses the store seen, which does not exist (yet) (node work at {}). "
                "Add it first: builder.add_state_store(...). Stores: none."
            ),
        ),
        (
            lambda: chain().connect_processor_and_state_stores("work"),
            "no store was named for processor work (node work at {}). Name at least one.",
        ),
        (
            lambda: chain().add_state_store(seen()).add_state_store(seen().with_logging_disabled()),
            (
                "two stores are called seen (at {}). "
                "Give one of them another name; to share one store, name it in both processors."
            ),
        ),
        (
            lambda: chain().add_state_store(seen()).add_global_store(seen(), "g", "facts", "keep", Remember),
            (
                "two stores are called seen (at {}). "
                "Give one of them another name; to share one store, name it in both processors."
            ),
        ),
        (
            lambda: (
                chain()
                .add_global_store(seen(), "g", "facts", "keep", Remember)
                .connect_processor_and_state_stores("work", "seen")
            ),
            (
                "processor work names the global store seen (node work at {}). "
                "Every processor may read global stores; leave it out."
            ),
        ),
        (
            lambda: Topology().add_source("a b", "in"),
            (
                "the name of the source 'a b' is not a legal name (at {}). "
                "Use 1 to 249 characters of a-z A-Z 0-9 . _ -, but not . or .. alone."
            ),
        ),
        (
            lambda: chain().add_sink("s", "a b", "work"),
            (
                "the topic 'a b' is not a legal name (at {}). "
                "Use 1 to 249 characters of a-z A-Z 0-9 . _ -, but not . or .. alone."
            ),
        ),
    ],
)
def test_refused(call: Any, message: str) -> None:
    # A chained call stands on several lines; the error names one of them.
    says(call, message) if message.count("global store seen (") == 0 else _says_nearby(call, message)


def _says_nearby(call: Any, message: str) -> None:
    from tests.streams.building import refused

    before, after = message.split("{}")
    said = refused(call)
    assert said.startswith(before + "test_topology.py:")
    assert said.endswith(after)
