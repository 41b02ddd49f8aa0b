"""The topology: nodes, stores and how they hang together. The DSL writes it; the Processor API builds it by hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.errors import TopologyError
from penstock.serde import resolve_serde
from penstock.source_line import user_line
from penstock.topology import errors
from penstock.topology.naming import check_name
from penstock.topology.nodes import GlobalStoreNode, InternalTopic, Node, ProcessorNode, SinkNode, SourceNode
from penstock.topology.operators import Operator, Process
from penstock.topology.patterns import pattern_text, shared_topic
from penstock.topology.suppliers import check_supplier, stores_of

if TYPE_CHECKING:
    from penstock.state.builders import StoreBuilder
    from penstock.topology.description import TopologyDescription
    from penstock.topology.subtopologies import Subtopology


class Topology:
    """Sources, processors, sinks and stores, added one by one and checked as they are added.

    Attributes:
        nodes: All nodes but those of global stores, by name, in the order they were added.
        stores: Builders of all stores but global ones, by name.
        global_stores: Global stores by store name.
        internal_topics: Topics that penstock makes itself, by their name without the application's id.
        copartitioned: Groups of source node names whose topics must have the same number of partitions.
        source_changelogs: Stores whose changelog is a source topic of theirs: store name -> topic.
        added: Names of all nodes, those of global stores included, in the order they were added.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.stores: dict[str, StoreBuilder] = {}
        self.global_stores: dict[str, GlobalStoreNode] = {}
        self.internal_topics: dict[str, InternalTopic] = {}
        self.copartitioned: list[tuple[str, ...]] = []
        self.source_changelogs: dict[str, str] = {}
        self.added: list[str] = []

    # ---- what the Processor API offers

    def add_source(
        self,
        name: str,
        *topics: str,
        pattern: Any = None,
        key_deserializer: Any = None,
        value_deserializer: Any = None,
        timestamp_extractor: Any = None,
        offset_reset: Any = None,
    ) -> Topology:
        """Read topics, or all topics that match a pattern.

        Args:
            name: Name of the node.
            topics: Topics to read; give either these or a pattern.
            pattern: Regular expression, as text or compiled.
            key_deserializer: Serde of keys, or its short name; the configured default if not given.
            value_deserializer: Serde of values.
            timestamp_extractor: Gives each record its time.
            offset_reset: Where to start without a committed offset.
        """
        line = user_line()
        return self.add(
            SourceNode(
                check_name(name, "the name of the source", line=line),
                topics,
                pattern_text(topics, pattern, line),
                resolve_serde(key_deserializer),
                resolve_serde(value_deserializer),
                timestamp_extractor,
                offset_reset,
                line=line,
            )
        )

    def add_processor(self, name: str, supplier: Any, *parents: str) -> Topology:
        """Send the records of the parents through a processor.

        Args:
            name: Name of the node.
            supplier: A Processor class, a function that gives a new processor on each call, or a generator function
                of `(record, context)`. Stores listed by its `stores()` are added and connected.
            parents: Names of the nodes whose records it gets.
        """
        line = user_line()
        check_name(name, "the name of the processor", line=line)
        self.add_operator(name, Process(check_supplier(supplier, name, line)), parents, line=line)
        for builder in stores_of(supplier):
            self.add_store(builder, name, line=line)
        return self

    def add_sink(
        self,
        name: str,
        topic: Any,
        *parents: str,
        key_serializer: Any = None,
        value_serializer: Any = None,
        partitioner: Any = None,
    ) -> Topology:
        """Write the records of the parents to a topic.

        Args:
            name: Name of the node.
            topic: The topic, or a function `(key, value, record_context)` that names it.
            parents: Names of the nodes whose records it gets.
            key_serializer: Serde of keys, or its short name; the configured default if not given.
            value_serializer: Serde of values.
            partitioner: `(topic, key, value, partitions)` -> None, a partition, or a set of partitions.
        """
        line = user_line()
        check_name(name, "the name of the sink", line=line)
        if isinstance(topic, str):
            check_name(topic, "the topic", line=line)
        key, value = resolve_serde(key_serializer), resolve_serde(value_serializer)
        return self.add(SinkNode(name, parents, topic, key, value, partitioner, line=line))

    def add_state_store(self, builder: StoreBuilder, *processors: str) -> Topology:
        """Add a store and connect processors to it.

        Args:
            builder: What `Stores` gave.
            processors: Names of the processors that may use it.
        """
        line = user_line()
        self.add_store(builder, *processors, line=line)
        return self

    def connect_processor_and_state_stores(self, processor: str, *stores: str) -> Topology:
        """Let a processor use stores that were added before."""
        line = user_line()
        if not stores:
            raise TopologyError(
                f"no store was named for processor {processor}", node=processor, line=line, hint="Name at least one."
            )
        for store in stores:
            self.connect(processor, store, line=line)
        return self

    def add_read_only_state_store(
        self,
        builder: StoreBuilder,
        source_name: str,
        topic: str,
        processor_name: str,
        supplier: Any,
        *,
        key_deserializer: Any = None,
        value_deserializer: Any = None,
        timestamp_extractor: Any = None,
    ) -> Topology:
        """Add a store that follows a topic, which is also its changelog; only `processor_name` may write it."""
        self.add_source(
            source_name,
            topic,
            key_deserializer=key_deserializer,
            value_deserializer=value_deserializer,
            timestamp_extractor=timestamp_extractor,
        )
        self.add_processor(processor_name, supplier, source_name)
        self.add_state_store(builder.with_logging_disabled(), processor_name)
        self.source_changelogs[builder.name] = topic
        return self

    def add_global_store(
        self,
        builder: StoreBuilder,
        source_name: str,
        topic: str,
        processor_name: str,
        supplier: Any,
        *,
        key_deserializer: Any = None,
        value_deserializer: Any = None,
        timestamp_extractor: Any = None,
    ) -> Topology:
        """Add a store that every task reads whole: all partitions of a topic, kept up to date by a processor."""
        line = user_line()
        source = SourceNode(
            check_name(source_name, "the name of the source", line=line),
            (topic,),
            key_serde=resolve_serde(key_deserializer),
            value_serde=resolve_serde(value_deserializer),
            timestamp_extractor=timestamp_extractor,
            line=line,
        )
        operator = Process(check_supplier(supplier, processor_name, line))
        return self.add_global(builder, source, processor_name, operator, line=line)

    # ---- what the DSL writes with

    def add(self, node: Node) -> Topology:
        """Add a node whose parents are there already."""
        self._free_name(node.name, node.line)
        if isinstance(node, SourceNode):
            self._check_source(node)
        else:
            self._check_parents(node.name, node.parents, node.line)
        self.nodes[node.name] = node
        self.added.append(node.name)
        return self

    def add_operator(
        self,
        name: str,
        operator: Operator,
        parents: Iterable[str],
        *,
        stores: Iterable[str] = (),
        line: str | None = None,
    ) -> None:
        """Add a processor node that does what an operator says, connected to stores."""
        self.add(ProcessorNode(name, tuple(parents), operator, line=line))
        for store in stores:
            self.connect(name, store, line=line)

    def add_store(self, builder: StoreBuilder, *processors: str, line: str | None) -> None:
        """Add a store if it is new, and connect processors to it. Equal builders mean one shared store."""
        name = check_name(builder.name, "the name of the store", line=line)
        if name in self.global_stores or self.stores.setdefault(name, builder) != builder:
            raise errors.duplicate_store(name, line)
        for processor in processors:
            self.connect(processor, name, line=line)

    def connect(self, processor: str, store: str, *, line: str | None) -> None:
        """Let a processor use a store."""
        if store in self.global_stores:
            raise errors.global_store_connected(processor, store, line)
        if store not in self.stores:
            raise errors.unknown_store(processor, store, list(self.stores), line)
        node = self.nodes.get(processor)
        if node is None:
            raise errors.unknown_processor(processor, store, list(self.nodes), line)
        if not isinstance(node, ProcessorNode):
            raise errors.store_without_processor(node.name, store, line, source=isinstance(node, SourceNode))
        if store not in node.stores:
            self.nodes[processor] = replace(node, stores=(*node.stores, store))

    def add_global(
        self, builder: StoreBuilder, source: SourceNode, processor: str, operator: Operator, *, line: str | None
    ) -> Topology:
        """Add a global store with the source and the operator that keep it up to date."""
        if builder.name in self.stores or builder.name in self.global_stores:
            raise errors.duplicate_store(builder.name, line)
        self._free_name(source.name, line)
        self._check_source(source)
        self._free_name(check_name(processor, "the name of the processor", line=line), line)
        node = ProcessorNode(processor, (source.name,), operator, (builder.name,), line)
        self.added += [source.name, processor]
        self.global_stores[builder.name] = GlobalStoreNode(source, node, builder.name, builder.with_logging_disabled())
        return self

    # ---- what others ask

    def children(self, name: str) -> tuple[str, ...]:
        """Names of the nodes below a node, in the order they were added."""
        return tuple(n.name for n in self.nodes.values() if not isinstance(n, SourceNode) and name in n.parents)

    def subtopologies(self) -> tuple[Subtopology, ...]:
        """The parts that run as tasks of their own, in the order of their numbers."""
        from penstock.topology.subtopologies import subtopologies

        return subtopologies(self)

    def describe(self) -> TopologyDescription:
        """The nodes by sub-topology; `str()` of it is the text that Kafka Streams prints."""
        from penstock.topology.description import describe

        return describe(self)

    # ---- checks

    def _check_source(self, node: SourceNode) -> None:
        for topic in node.topics:
            check_name(topic, "the topic", line=node.line)
        for other in [*self.nodes.values(), *(g.source for g in self.global_stores.values())]:
            shared = shared_topic(node, other) if isinstance(other, SourceNode) else None
            if shared is not None:
                raise errors.topic_read_twice(shared, other.name, node.name, node.line)

    def _free_name(self, name: str, line: str | None) -> None:
        names = [*self.nodes, *(n for g in self.global_stores.values() for n in (g.source.name, g.processor.name))]
        if name in names:
            raise errors.duplicate_node(name, line)

    def _check_parents(self, name: str, parents: tuple[str, ...], line: str | None) -> None:
        if not parents:
            raise TopologyError(f"node {name} has no parent", line=line, hint="Name the node whose records it gets.")
        for parent in parents:
            if parent == name:
                raise TopologyError(f"node {name} is its own parent", line=line, hint="A topology has no cycles.")
            if parent not in self.nodes:
                raise errors.unknown_parent(name, parent, list(self.nodes), line)
            if isinstance(self.nodes[parent], SinkNode):
                raise TopologyError(
                    f"node {name} has the sink {parent} as its parent", line=line, hint="A sink ends its branch."
                )
