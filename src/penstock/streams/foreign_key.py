"""Joining two tables by a foreign key: subscriptions go to the right table's partitions, answers come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.functions import MAPPER, Function, function
from penstock.state.internal_builders import SubscriptionStoreBuilder
from penstock.streams.materialized import given_store_name, is_versioned, key_value_store
from penstock.streams.settings import Settings
from penstock.streams.table_place import TablePlace
from penstock.topology.foreign_key_serdes import ResponseSerde, SubscriptionSerde, to_left_partition
from penstock.topology.graph import Graph, OperatorNode, SinkGraphNode, StreamSourceNode
from penstock.topology.graph.processors import StreamAsTableNode
from penstock.topology.graph.sources import Reading
from penstock.topology.graph.tables import SourceResult, stores_of_view
from penstock.topology.nodes import InternalTopic
from penstock.topology.operators import (
    ForeignTableJoin,
    ResponseResolver,
    SubscriptionJoin,
    SubscriptionReceive,
    SubscriptionSend,
)

if TYPE_CHECKING:
    from penstock.streams.ktable import KTable

_PREFIX = "KTABLE-FK-JOIN-"


def join_on_foreign_key(
    left: TablePlace, right: TablePlace, on: Any, joiner: Function, settings: Settings, *, left_join: bool
) -> KTable[Any, Any]:
    """The table of left rows joined with the right rows that their foreign keys name."""
    extractor = function(on, MAPPER, "the foreign key (on=)", line=settings.line)
    # Old values tell which right row a left row is subscribed to, and that a right row changed at all.
    right.result.send_old_values(force=True)
    left.result.send_old_values(force=True)
    return _ForeignKeyJoin(left, right, extractor, joiner, settings, left_join=left_join).build()


class _ForeignKeyJoin:
    """Builds the nodes of one join, drawing names in Kafka's order."""

    def __init__(
        self,
        left: TablePlace,
        right: TablePlace,
        extractor: Function,
        joiner: Function,
        settings: Settings,
        *,
        left_join: bool,
    ) -> None:
        self.graph: Graph = left.graph
        self.left = left
        self.right = right
        self.extractor = extractor
        self.joiner = joiner
        self.settings = settings
        self.left_join = left_join
        self.line = settings.line

    def name(self, suffix: str, prefix: str) -> str:
        return self.graph.names.given_or_node(self.settings.name, prefix, suffix)

    def build(self) -> KTable[Any, Any]:
        from penstock.streams.ktable import KTable

        subscription_source = self._subscriptions()
        response_source = self._answers(subscription_source)
        resolver = self._resolver(response_source)
        graph, settings = self.graph, self.settings
        name = self.name("-result", f"{_PREFIX}OUTPUT-")
        store, named = graph.store_name(given_store_name(settings), f"{_PREFIX}OUTPUT-")
        key = self.left.key_serde if settings.key_serde is None else settings.key_serde
        builder = key_value_store(graph, settings, store, key_serde=key, value_serde=settings.value_serde)
        result = SourceResult(store, named=named or is_versioned(settings))
        node = StreamAsTableNode(name, result, builder, line=self.line)
        node.versioned = is_versioned(settings)
        graph.add(node, resolver)
        sources = (*self.left.sources, response_source.name)
        queryable = store if named else None
        return KTable(TablePlace(graph, name, node, sources, result, key, settings.value_serde, queryable))

    def _subscriptions(self) -> StreamSourceNode:
        """Left changes become subscriptions and travel to the right table's partitions."""
        left, right = self.left, self.right
        topic = self.name("-subscription-registration", f"{_PREFIX}SUBSCRIPTION-REGISTRATION-") + "-topic"
        self._internal_topic(topic)
        send = OperatorNode(
            self.name("-subscription-registration-processor", f"{_PREFIX}SUBSCRIPTION-REGISTRATION-"),
            lambda: SubscriptionSend(
                self.left_join,
                self.extractor,
                right.key_serde,
                left.key_serde,
                left.value_serde,
                left.node.is_versioned(),
            ),
            line=self.line,
        )
        self.graph.add(send, left.node)
        serde = SubscriptionSerde(left.key_serde)
        sink = self._sink(
            "-subscription-registration-sink", topic, right.key_serde, serde, self._subscription_partitioner()
        )
        self.graph.add(sink, send)
        source = self._source("-subscription-registration-source", topic, right.key_serde, serde)
        self.graph.add(source, sink)
        self.graph.copartition([*right.sources, source.name])
        return source

    def _answers(self, subscription_source: StreamSourceNode) -> StreamSourceNode:
        """The right side keeps subscriptions, and answers them when they come and when its rows change."""
        left, right, graph = self.left, self.right, self.graph
        store = self._subscription_store()
        receive = OperatorNode(
            self.name("-subscription-receive", f"{_PREFIX}SUBSCRIPTION-PROCESSOR-"),
            SubscriptionReceive(store.name, right.key_serde, left.key_serde),
            builders=(store,),
            line=self.line,
        )
        graph.add(receive, subscription_source)
        view = right.result.view()
        answer = OperatorNode(
            self.name("-subscription-join-foreign", f"{_PREFIX}SUBSCRIPTION-PROCESSOR-"),
            SubscriptionJoin(view, left.key_serde),
            stores=stores_of_view(view),
            line=self.line,
        )
        graph.add(answer, receive)
        foreign = OperatorNode(
            self.name("-foreign-join-subscription", f"{_PREFIX}SUBSCRIPTION-PROCESSOR-"),
            lambda: ForeignTableJoin(store.name, right.key_serde, left.key_serde, right.node.is_versioned()),
            builders=(store,),
            line=self.line,
        )
        graph.add(foreign, right.node)
        topic = self.name("-subscription-response", f"{_PREFIX}SUBSCRIPTION-RESPONSE-") + "-topic"
        self._internal_topic(topic)
        serde = ResponseSerde(right.value_serde)
        sink = self._sink("-subscription-response-sink", topic, left.key_serde, serde, to_left_partition)
        graph.add(sink, answer, foreign)
        source = self._source("-subscription-response-source", topic, left.key_serde, serde)
        graph.add(source, sink)
        graph.copartition([*left.sources, source.name])
        return source

    def _resolver(self, source: StreamSourceNode) -> OperatorNode:
        """Back on the left side: an answer meets the row that asked for it."""
        view = self.left.result.view()
        node = OperatorNode(
            self.name("-subscription-response-resolver", f"{_PREFIX}SUBSCRIPTION-RESPONSE-RESOLVER-PROCESSOR-"),
            ResponseResolver(self.left_join, view, self.joiner, self.left.value_serde),
            stores=stores_of_view(view),
            line=self.line,
        )
        self.graph.add(node, source)
        return node

    def _subscription_store(self) -> SubscriptionStoreBuilder:
        given = self.settings.name
        name = self.name("-subscription-store", f"{_PREFIX}SUBSCRIPTION-STATE-STORE-")
        if given is None:
            self.graph.generated_stores[name] = None
        return SubscriptionStoreBuilder(name=name)

    def _subscription_partitioner(self) -> Any:
        partitioner = self.settings.other_partitioner
        return None if partitioner is None else _ByForeignKey(partitioner)

    def _internal_topic(self, topic: str) -> None:
        self.graph.internal_topics[topic] = InternalTopic(topic)
        if self.settings.name is None:
            self.graph.generated_topics[topic] = None

    def _sink(self, suffix: str, topic: str, key_serde: Any, value_serde: Any, partitioner: Any) -> SinkGraphNode:
        return SinkGraphNode(
            self.name(suffix, "KTABLE-SINK-"),
            topic,
            key_serde=key_serde,
            value_serde=value_serde,
            partitioner=partitioner,
            internal=True,
            line=self.line,
        )

    def _source(self, suffix: str, topic: str, key_serde: Any, value_serde: Any) -> StreamSourceNode:
        return StreamSourceNode(
            self.name(suffix, "KTABLE-SOURCE-"),
            (topic,),
            None,
            Reading(key_serde, value_serde),
            internal=True,
            line=self.line,
        )


class _ByForeignKey:
    """The right table's partitioner, for subscriptions: it sees the foreign key and no value."""

    def __init__(self, partitioner: Any) -> None:
        self._partitioner = partitioner

    def __call__(self, topic: str, key: Any, value: Any, partitions: int) -> Any:
        return self._partitioner(topic, key, None, partitions)
