"""The reference itself, without Spark: with one partition it is the plain test driver."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock import Topology, TopologyTestDriver
from penstock.records import Headers
from penstock.topology import operators as specs
from penstock.topology.nodes import ProcessorNode
from penstock.topology.operators import Operator
from tests.matrix.catalog import Entry, build, catalog
from tests.matrix.data import records
from tests.matrix.reference import Batch, Record, Reference, merged

CONFIG = {
    "application.id": "matrix",
    "default.key.serde": "string",
    "default.value.serde": "string",
    "statestore.cache.max.bytes": 0,
}
# What only the optimizer puts into a topology, and the base class.
NOT_WRITTEN = {"CombinePartials", "SelfJoin", "Operator"}


def test_the_matrix_has_every_operator() -> None:
    topology = build(catalog().values(), "x", CONFIG).topology
    nodes = [*topology.nodes.values(), *(g.processor for g in topology.global_stores.values())]
    used = {type(node.operator).__name__ for node in nodes if isinstance(node, ProcessorNode)}
    known = {n for n in specs.__all__ if isinstance(c := getattr(specs, n), type) and issubclass(c, Operator)}
    assert known - used == NOT_WRITTEN


def test_records_are_merged_by_the_timestamps_at_the_heads() -> None:
    a = [Record(b"a", b"5", 5), Record(b"a", b"1", 1), Record(b"a", b"7", 7)]
    b = [Record(b"b", b"3", 3), Record(b"b", b"7", 7)]
    order = [(topic, record.timestamp) for topic, record in merged([("a", a), ("b", b)])]
    assert order == [("b", 3), ("a", 5), ("a", 1), ("a", 7), ("b", 7)]


def one_partition(entry: Entry) -> dict[tuple[str, int], list[Record]]:
    inputs: dict[tuple[str, int], list[Record]] = {}
    for topic, kind in build([entry], "x", CONFIG).inputs.items():
        sent = records(kind, topic, 60, 1)
        inputs[topic, 0] = [Record(r.key, r.value, r.timestamp, r.headers) for r in sent]
    return inputs


# Several partitions by their nature, or results that depend on when answers of other tasks come.
OTHERWISE = ("repartition_into_more", "repartition_by_topic", "through_topic", "topic_extractor", "foreign_key")
ALIKE = [e for e in catalog().values() if not e.name.startswith(OTHERWISE)]


@pytest.mark.parametrize("entry", ALIKE, ids=lambda entry: entry.name)
def test_one_task_gives_what_the_test_driver_gives(entry: Entry) -> None:
    matrix = build([entry], "x", CONFIG)
    inputs = one_partition(entry)
    ends = {partition: len(found) for partition, found in inputs.items()}
    everybody = global_topics(matrix.topology)
    batch = Batch(
        {p: n for p, n in ends.items() if p[0] not in everybody}, {p: n for p, n in ends.items() if p[0] in everybody}
    )
    reference = Reference(matrix.topology, dict.fromkeys(matrix.topics, 1), CONFIG)
    results = reference.run([batch], inputs)
    reference.close()
    written = [w.record[:3] for task in sorted(results) for w in results[task] if w.topic == matrix.output]
    assert sorted(written, key=repr) == sorted(driver_results(entry, inputs), key=repr)
    assert written


def global_topics(topology: Topology) -> set[str]:
    return {topic for node in topology.global_stores.values() for topic in node.source.topics}


def driver_results(
    entry: Entry, inputs: dict[tuple[str, int], list[Record]]
) -> Iterator[tuple[bytes | None, bytes | None, int]]:
    """One driver for the whole topology; tables everybody sees come first."""
    matrix = build([entry], "x", CONFIG)
    everybody = global_topics(matrix.topology)
    lanes = [(topic, found) for (topic, _), found in sorted(inputs.items()) if topic not in everybody]
    with TopologyTestDriver(matrix.topology, CONFIG, wall_clock=0) as driver:
        for topic in everybody:
            for record in inputs[topic, 0]:
                driver.pipe(topic, *record[:3], Headers(record.headers))
        for topic, record in merged(lanes):
            driver.pipe(topic, *record[:3], Headers(record.headers))
        for key, value, timestamp, _ in driver.outputs(matrix.output):
            yield key, value, timestamp
