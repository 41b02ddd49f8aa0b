"""One program on every kind of master: it runs unchanged, and an executor that dies costs nothing."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from penstock.broker import LocalBroker
from penstock.kafka.producing import RecordProducer
from tests.chaos.processes import kill
from tests.cluster.program import Program, is_running, program, standalone_cluster
from tests.conftest import TopicFactory
from tests.spark.application import Kafka

pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.slow, pytest.mark.timeout(1200)]

EXECUTOR = "CoarseGrainedExecutorBackend"
SLOT = "penstock.spark.tasks.server"


def _lines(first: int, count: int) -> list[str]:
    return [f"line{i} word{i % 7} word{i % 11}" for i in range(first, first + count)]


def _send(kafka: Kafka, topic: str, lines: list[str]) -> None:
    producer = RecordProducer(kafka.settings)
    partitions = kafka.admin.topic(topic).partitions
    for line in lines:
        number = int(line[4 : line.index(" ")])
        producer.produce(topic, line.encode(), partition=number % partitions)
    producer.flush()


def _echoed(kafka: Kafka, topic: str) -> Counter[str]:
    return Counter(m.value().decode().rsplit(" ", 2)[0] for m in kafka.read(topic))


def _counts(kafka: Kafka, topic: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for m in kafka.read(topic):
        found.setdefault(m.key().decode(), []).append(int.from_bytes(m.value(), "big"))
    return found


def _origins(kafka: Kafka, topic: str) -> set[tuple[str, str]]:
    """Where the program's module and penstock were imported from by whoever wrote a line."""
    parts = [m.value().decode().rsplit(" ", 2) for m in kafka.read(topic)]
    return {(module, package) for _, module, package in parts}


def _is_complete(kafka: Kafka, topics: list[str], lines: list[str]) -> bool:
    _, echo, counts = topics
    if sum(_echoed(kafka, echo).values()) < len(lines):
        return False
    words = Counter(word for line in lines for word in line.split())
    return {word: seen[-1] for word, seen in _counts(kafka, counts).items()} == words


def test_standalone(broker: LocalBroker, topic: TopicFactory, tmp_path: Path) -> None:
    """Tasks go from node to node between batches; state and transactional ids go with them."""
    topics = [topic("lines", partitions=2), topic("echo"), topic("counts")]
    kafka = Kafka(broker.bootstrap_servers)
    sent: list[str] = []
    with standalone_cluster(tmp_path, workers=2) as master:
        settings = {
            "spark.master": master,
            "spark.cores.max": "2",
            "spark.driver.host": "127.0.0.1",
            "processing.guarantee": "exactly_once_v2",
        }
        with program(tmp_path, broker, topics, **settings) as running:
            # Where a task runs is Spark's throw of the dice: go on until every one was on both nodes.
            while not _all_moved(kafka, topics[1]):
                lines = _lines(len(sent), 20)
                sent.extend(lines)
                _send(kafka, topics[0], lines)
                running.until(lambda: _is_complete(kafka, topics, sent))
            assert running.stop() == 0, running.log.read_text()
    assert _echoed(kafka, topics[1]) == Counter(sent)
    assert all(a < b for seen in _counts(kafka, topics[2]).values() for a, b in pairwise(seen))
    # Neither module comes from the program's folder, or from what is installed: from what was sent to the executor.
    sent_to = re.compile(re.escape(str(tmp_path)) + r"/work-\d/app-.*/(?:modules|penstock)-\w+\.zip/.*")
    assert all(sent_to.fullmatch(file) for origin in _origins(kafka, topics[1]) for file in origin)


def _all_moved(kafka: Kafka, topic: str) -> bool:
    """Whether lines of each partition were handled on both nodes."""
    found = {(int(line[4 : line.index(" ")]) % 2, node) for line, node in _nodes(kafka, topic)}
    return len(found) == 4


def _nodes(kafka: Kafka, topic: str) -> list[tuple[str, str]]:
    parts = [m.value().decode().rsplit(" ", 2) for m in kafka.read(topic)]
    return [(line, "work-1" if "/work-1/" in module else "work-0") for line, module, _ in parts]


def test_executors_die(broker: LocalBroker, topic: TopicFactory, tmp_path: Path) -> None:
    topics = [topic("lines", partitions=4), topic("echo", partitions=2), topic("counts", partitions=2)]
    kafka = Kafka(broker.bootstrap_servers)
    sent: list[str] = []
    settings: dict[str, Any] = {
        "spark.master": "local-cluster[2,1,2048]",
        "processing.guarantee": "exactly_once_v2",
        "penstock.batch.max.records": 300,
    }
    with program(tmp_path, broker, topics, **settings) as running:
        for death in range(2):
            lines = _lines(len(sent), 1500)
            _send(kafka, topics[0], lines)
            sent += lines
            # In mid-load: some lines of this round are done, and many are not.
            done = death * 1500
            running.until(lambda done=done: sum(_echoed(kafka, topics[1]).values()) > done)  # type: ignore[misc]
            _kill_an_executor(running)
        running.until(lambda: _is_complete(kafka, topics, sent))
        # A late duplicate would come with the next batch at the latest.
        last = _lines(len(sent), 10)
        _send(kafka, topics[0], last)
        sent += last
        running.until(lambda: _is_complete(kafka, topics, sent))
        assert running.stop() == 0, running.log.read_text()
    assert _echoed(kafka, topics[1]) == Counter(sent)
    assert all(a < b for seen in _counts(kafka, topics[2]).values() for a, b in pairwise(seen))
    assert all("/modules-" in module and "/penstock-" in package for module, package in _origins(kafka, topics[1]))


def _kill_an_executor(running: Program) -> None:
    """Kill one that runs slots, and see them end with it."""
    chosen: dict[int, list[int]] = {}

    def choose() -> bool:
        slots = set(running.processes(SLOT))
        chosen.update(
            {pid: mine for pid in running.processes(EXECUTOR) if (mine := sorted(slots & running.below(pid)))}
        )
        return bool(chosen)

    running.until(choose)
    executor, slots = chosen.popitem()
    kill(executor)
    running.until(lambda: not any(map(is_running, [executor, *slots])))
