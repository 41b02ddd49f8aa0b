"""StreamsBuilder: where a topology written with the DSL begins and ends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from penstock.durations import Duration
from penstock.errors import TopologyError
from penstock.optimizer import optimize
from penstock.source_line import user_line
from penstock.state.builders import StoreBuilder
from penstock.streams.explicit_names import check_explicit_names
from penstock.streams.global_ktable import GlobalKTable
from penstock.streams.kstream import KStream
from penstock.streams.ktable import KTable
from penstock.streams.materialized import Materialized, given_store_name, is_versioned, key_value_store
from penstock.streams.parameters import AutoOffsetReset, Consumed, SerdeLike
from penstock.streams.settings import Settings, gather
from penstock.streams.stream_base import StreamPlace
from penstock.streams.table_place import TablePlace
from penstock.streams.wrapping import wrap_processors
from penstock.topology.config import TopologyConfig
from penstock.topology.graph import GlobalStoreGraphNode, Graph, StateStoreNode, StreamSourceNode, TableSourceNode
from penstock.topology.graph.sources import Reading
from penstock.topology.graph.tables import SourceResult
from penstock.topology.naming import check_name
from penstock.topology.operators import Process
from penstock.topology.patterns import pattern_text
from penstock.topology.suppliers import check_supplier
from penstock.topology.topology import Topology


class StreamsBuilder:
    """Builds a topology from streams and tables.

    Args:
        config: Settings by Kafka's keys, or a `TopologyConfig`: kind of stores, processor wrapper.

    >>> builder = StreamsBuilder()
    >>> lines = builder.stream("lines", value_serde="string")
    >>> counts = lines.flat_map_values(str.split).group_by(lambda word: word).count(name="counts")
    >>> counts.to_stream().to("counts-by-word")
    >>> topology = builder.build()
    """

    def __init__(self, config: Mapping[str, Any] | TopologyConfig | None = None) -> None:
        self._config = TopologyConfig.of(config)
        self._graph = Graph(self._config)

    def stream(
        self,
        topic: Any = None,
        *topics: Any,
        pattern: str | re.Pattern[str] | None = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        timestamp_extractor: Any = None,
        offset_reset: AutoOffsetReset | str | None = None,
        name: str | None = None,
    ) -> KStream[Any, Any]:
        """A stream of the records of topics.

        Args:
            topic: A topic, or a list of topics.
            topics: More topics; also `Consumed`.
            pattern: Regular expression of topics, in place of names.
            key_serde: Serde of keys; the configured default.
            value_serde: Serde of values; the configured default.
            timestamp_extractor: Function of (record, partition_time), or an expression, that gives a record's time.
            offset_reset: "earliest", "latest", "none" or an `AutoOffsetReset`.
            name: Name of the source.
        """
        line, given = user_line(), [] if topic is None else [topic, *topics]
        settings = gather(
            "stream",
            [g for g in given if isinstance(g, Consumed)],
            (Consumed,),
            line,
            key_serde=key_serde,
            value_serde=value_serde,
            timestamp_extractor=timestamp_extractor,
            offset_reset=offset_reset,
            name=name,
        )
        names = _topics([g for g in given if not isinstance(g, Consumed)], line)
        source = StreamSourceNode(
            self._graph.names.given_or_node(settings.name, "KSTREAM-SOURCE-"),
            names,
            pattern_text(names, pattern, line),
            _reading(settings),
            line=line,
        )
        self._graph.add(source)
        return KStream(
            StreamPlace(self._graph, source.name, source, (source.name,), settings.key_serde, settings.value_serde)
        )

    def table(
        self,
        topic: str,
        *parameters: Consumed | Materialized,
        store: Any = None,
        versioned: Duration | None = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        timestamp_extractor: Any = None,
        offset_reset: AutoOffsetReset | str | None = None,
        cache: str | None = None,
        logging: Any = None,
        name: str | None = None,
    ) -> KTable[Any, Any]:
        """A table of the last value of each key of a topic.

        Args:
            topic: The topic; records without a key are dropped, null values delete.
            parameters: `Consumed`, `Materialized`.
            store: Name of the store, a `Materialized`, or a store supplier; without it the table is materialised
                under a generated name if another operator has to read it.
            versioned: Keep versions of the rows for that long.
            key_serde: Serde of keys; the configured default.
            value_serde: Serde of values; the configured default.
            timestamp_extractor: Function of (record, partition_time), or an expression, that gives a record's time.
            offset_reset: "earliest", "latest", "none" or an `AutoOffsetReset`.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
            name: Name of the table's node; its source is `<name>-source`.
        """
        line, graph = user_line(), self._graph
        settings = gather(
            "table",
            parameters,
            (Consumed, Materialized),
            line,
            store=store,
            versioned=versioned,
            key_serde=key_serde,
            value_serde=value_serde,
            timestamp_extractor=timestamp_extractor,
            offset_reset=offset_reset,
            cache=cache,
            logging=logging,
            name=name,
        )
        check_name(topic, "the topic", line=line)
        store_name, named = graph.store_name(given_store_name(settings), f"{topic}-")
        source = graph.names.given_or_node(settings.name, "KSTREAM-SOURCE-", "-source")
        node_name = graph.names.given_or_node(settings.name, "KTABLE-SOURCE-")
        key, value = settings.key_serde, settings.value_serde
        builder = key_value_store(graph, settings, store_name, key_serde=key, value_serde=value)
        result = SourceResult(store_name, named=named or is_versioned(settings))
        node = TableSourceNode(node_name, source, topic, _reading(settings), result, builder, line=line)
        node.versioned = is_versioned(settings)
        graph.add(node)
        return KTable(TablePlace(graph, node_name, node, (source,), result, key, value, store_name if named else None))

    def global_table(
        self,
        topic: str,
        *parameters: Consumed | Materialized,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        timestamp_extractor: Any = None,
        name: str | None = None,
    ) -> GlobalKTable[Any, Any]:
        """A table that every task holds whole.

        Args:
            topic: The topic; all its partitions are read.
            parameters: `Consumed`, `Materialized`.
            store: Name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys; the configured default.
            value_serde: Serde of values; the configured default.
            timestamp_extractor: Function of (record, partition_time), or an expression, that gives a record's time.
            name: Name of the table's node; its source is `<name>-source`.
        """
        line, graph = user_line(), self._graph
        settings = gather(
            "global_table",
            parameters,
            (Consumed, Materialized),
            line,
            store=store,
            key_serde=key_serde,
            value_serde=value_serde,
            timestamp_extractor=timestamp_extractor,
            name=name,
        )
        check_name(topic, "the topic", line=line)
        if is_versioned(settings):
            raise TopologyError("a global table cannot be versioned", line=line, hint="Use table(..., versioned=...).")
        store_name, named = graph.store_name(given_store_name(settings), f"{topic}-")
        source = graph.names.given_or_node(settings.name, "KSTREAM-SOURCE-", "-source")
        node_name = graph.names.given_or_node(settings.name, "KTABLE-SOURCE-")
        key, value = settings.key_serde, settings.value_serde
        builder = key_value_store(graph, settings, store_name, key_serde=key, value_serde=value)
        graph.add(
            GlobalStoreGraphNode(
                node_name,
                source,
                topic,
                _reading(settings),
                GlobalStoreGraphNode.table(store_name),
                builder.with_caching_disabled(),
                line=line,
            )
        )
        return GlobalKTable(graph, store_name, store_name if named else None, key, value)

    def add_state_store(self, builder: StoreBuilder) -> StreamsBuilder:
        """Add a store for processors, which name it: `process(MyProcessor, "my-store")`."""
        line = user_line()
        _check_builder(builder, line)
        self._graph.add(StateStoreNode(builder, line=line))
        return self

    def add_global_store(
        self,
        builder: StoreBuilder,
        topic: str,
        processor: Any,
        *parameters: Consumed,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        timestamp_extractor: Any = None,
        name: str | None = None,
    ) -> StreamsBuilder:
        """Add a store that every task reads whole, kept up to date from a topic by a processor.

        Args:
            builder: What `Stores` gave.
            topic: The topic; all its partitions are read.
            processor: Supplier of the processor that writes the store; it forwards nothing.
            parameters: `Consumed`.
            key_serde: Serde of keys; the configured default.
            value_serde: Serde of values; the configured default.
            timestamp_extractor: Function of (record, partition_time), or an expression, that gives a record's time.
            name: Name of the processor; its source is `<name>-source`.
        """
        line, graph = user_line(), self._graph
        settings = gather(
            "add_global_store",
            parameters,
            (Consumed,),
            line,
            key_serde=key_serde,
            value_serde=value_serde,
            timestamp_extractor=timestamp_extractor,
            name=name,
        )
        _check_builder(builder, line)
        check_name(topic, "the topic", line=line)
        source = graph.names.given_or_node(settings.name, "KSTREAM-SOURCE-", "-source")
        node_name = graph.names.given_or_node(settings.name, "KTABLE-SOURCE-")
        operator = Process(check_supplier(processor, node_name, line))
        graph.add(GlobalStoreGraphNode(node_name, source, topic, _reading(settings), operator, builder, line=line))
        return self

    def build(self, config: Mapping[str, Any] | TopologyConfig | None = None) -> Topology:
        """The topology, optimised as `topology.optimization` asks.

        Args:
            config: Settings by Kafka's keys; what is not given here is taken from those of the builder.
        """
        settings = TopologyConfig.of(config, self._config)
        graph = self._graph.copy()
        optimize(graph, settings.optimization)
        topology = Topology()
        graph.write(topology)
        check_explicit_names(graph, topology, settings)
        wrap_processors(topology, settings.processor_wrapper)
        return topology


def _reading(settings: Settings) -> Reading:
    reset = AutoOffsetReset.of(settings.offset_reset, settings.line)
    return Reading(settings.key_serde, settings.value_serde, settings.timestamp_extractor, reset)


def _topics(given: list[Any], line: str | None) -> tuple[str, ...]:
    flat = [topic for item in given for topic in (item if isinstance(item, (list, tuple, set, frozenset)) else [item])]
    names = tuple(check_name(topic, "the topic", line=line) for topic in flat)
    for name in names:
        if names.count(name) > 1:
            raise TopologyError(f"topic {name} is named twice", line=line, hint="Name each topic once.")
    return names


def _check_builder(builder: Any, line: str | None) -> None:
    if not isinstance(builder, StoreBuilder):
        raise TopologyError(
            f"a store builder was expected, not {builder!r}",
            line=line,
            hint="Make one: Stores.key_value_store_builder(Stores.persistent_key_value_store(name), key_serde, value_serde).",
        )
