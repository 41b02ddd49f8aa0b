"""Sinks: bytes, topics and partitions of what a task writes."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Serdes, StreamsError, Window, Windowed, WindowedSerdes
from penstock.interpreter.config import TaskConfig
from penstock.interpreter.context import TaskContext
from penstock.interpreter.guards import Guards
from penstock.interpreter.sink import Collector, build_sink
from penstock.kafka.murmur2 import partition_for
from penstock.records import NO_HEADERS, Headers
from penstock.topology.nodes import SinkNode

CONFIG = TaskConfig(application_id="app", default_key_serde="string", default_value_serde="string")


class Collected(Collector):
    """What was sent; topics have four partitions."""

    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []

    def send(self, *record: Any) -> None:
        self.sent.append(record)

    def partition_count(self, topic: str) -> int:
        return 4


def written(node: SinkNode, *records: tuple[Any, Any, int], headers: Headers = NO_HEADERS) -> list[tuple[Any, ...]]:
    collected, context = Collected(), TaskContext("app")
    context.headers, context.topic, context.partition, context.offset = headers, "in", 1, 7
    sink = build_sink(node, context, CONFIG, collected, Guards(CONFIG, context, lambda letter: None))
    for record in records:
        sink(*record)
    return collected.sent


def node(topic: Any = "out", **options: Any) -> SinkNode:
    return SinkNode("sink", ("above",), topic, **options)


def test_bytes_timestamp_and_headers() -> None:
    headers = Headers([("h", b"1")])
    sent = written(node(value_serde=Serdes.long()), ("k", 7, 5), (None, None, 6), headers=headers)
    assert sent == [("out", b"k", (7).to_bytes(8, "big"), 5, headers, None), ("out", None, None, 6, headers, None)]


def test_internal_topics_carry_the_applications_id() -> None:
    assert written(node("r-repartition", internal=True), ("k", "v", 0))[0][0] == "app-r-repartition"


def test_a_function_names_the_topic() -> None:
    def by_origin(key: Any, value: Any, context: Any) -> str:
        return f"{context.topic}-{context.partition}-{context.offset}-{context.timestamp}-{value}"

    assert written(node(by_origin), ("k", "v", 5))[0][0] == "in-1-7-5-v"
    assert written(node(lambda key, value: value), ("k", "v", 5))[0][0] == "v"
    with pytest.raises(StreamsError, match="the topic extractor returned 5"):
        written(node(lambda key, value: 5), ("k", "v", 5))


@pytest.mark.parametrize(
    ("chosen", "partitions"), [(None, [None]), (2, [2]), ({3, 0}, [0, 3]), (set(), []), ([1], [1])]
)
def test_a_partitioner(chosen: Any, partitions: list[Any]) -> None:
    asked: list[Any] = []

    def partitioner(*arguments: Any) -> Any:
        asked.append(arguments)
        return chosen

    assert [record[-1] for record in written(node(partitioner=partitioner), ("k", "v", 5))] == partitions
    assert asked == [("out", "k", "v", 4)]


@pytest.mark.parametrize("chosen", [4, -1, True, "1", {0, 4}, 1.0])
def test_partitions_that_are_not_there(chosen: Any) -> None:
    with pytest.raises(StreamsError, match=r"for topic out, which has 4 partitions. Return a partition from 0 to 3"):
        written(node(partitioner=lambda *record: chosen), ("k", "v", 5))


def test_all_windows_of_a_key_are_in_the_partition_of_the_key() -> None:
    serde = WindowedSerdes.time_windowed("string", 10)
    windows = [Windowed("ann", Window(start, start + 10)) for start in range(0, 100, 10)]
    sent = written(node(key_serde=serde), *((window, "v", 5) for window in windows), (None, "v", 5))
    *partitions, without_key = [record[-1] for record in sent]
    assert set(partitions) == {partition_for(b"ann", 4)}
    assert without_key is None


def test_between_sub_topologies_the_whole_windowed_key_decides() -> None:
    serde = WindowedSerdes.session_windowed("string")
    sent = written(node("r-repartition", key_serde=serde, internal=True), (Windowed("ann", Window(0, 10)), "v", 5))
    assert sent[0][-1] is None
