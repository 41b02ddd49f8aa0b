"""Two processes hold one slot, as after a node was given up that still works: what one has committed, the other does not send."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition

from penstock import StreamsError
from penstock.broker import LocalBroker
from penstock.kafka.clients import open_consumer
from penstock.kafka.transactions import TransactionalProducer
from penstock.records import NO_HEADERS
from penstock.spark.job import Job
from penstock.spark.tasks import commits, outputs
from penstock.spark.tasks.commits import Commit, committed
from penstock.spark.tasks.outgoing import outgoing
from penstock.spark.tasks.outputs import SlotOutput, take_over
from tests.conftest import TopicFactory
from tests.runtime.copying import counting
from tests.spark.application import Kafka
from tests.spark.in_process import InProcess

pytestmark = pytest.mark.broker


@pytest.fixture(autouse=True)
def _own_clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a process keeps from batch to batch; of this one nothing may stay."""
    producers: dict[str, Any] = {}
    committers: dict[str, Any] = {}
    monkeypatch.setattr(outputs, "_producers", producers)
    monkeypatch.setattr(commits, "_committers", committers)
    yield
    for client in (*producers.values(), *committers.values()):
        client.close()


def _commit_elsewhere(job: Job, target: str, commit: Commit) -> None:
    """What a process on another node does with the same batch."""
    other = TransactionalProducer(job.kafka["producer"], f"{job.application_id}-0-0")
    other.init()
    other.begin()
    other.produce(target, b"other", b"key")
    group = open_consumer(job.kafka["consumer"], group_id=job.commits_group)
    offset = TopicPartition(job.commits_topic(0), 0, commit.sequence + 1, commit.attempt)
    other.send_offsets([offset], group.consumer_group_metadata())
    other.commit()
    other.close()
    group.close()


@pytest.mark.parametrize(("elsewhere", "sent_again"), [(2, True), (3, False), (4, False)])
def test_a_batch_that_another_process_committed_is_not_sent_again(
    broker: LocalBroker, topic: TopicFactory, tmp_path: Path, elsewhere: int, sent_again: bool
) -> None:
    source, target = topic("in"), topic("out")
    kafka = Kafka(broker.bootstrap_servers)
    job = InProcess(
        counting(source, target),
        tmp_path,
        application_id=f"two-processes-{elsewhere}",
        bootstrap_servers=broker.bootstrap_servers,
        processing_guarantee="exactly_once_v2",
    ).job
    take_over(job, 0, 0)
    output = SlotOutput(job, 0, 0)
    output.produce_all([outgoing(target, b"key", b"mine", 1, NO_HEADERS, -1)])
    _commit_elsewhere(job, target, Commit(elsewhere, "other"))
    mine = Commit(3, "mine")
    if sent_again:
        output.commit({(0, 0): mine})
    else:
        with pytest.raises(StreamsError, match="another process has committed this batch of 0_0 already"):
            output.commit({(0, 0): mine})
    seen = [m.value() for m in kafka.read_settled(target)]
    assert seen == ([b"other", b"mine"] if sent_again else [b"other"])
    assert committed(job, [(0, 0)]) == {(0, 0): mine if sent_again else Commit(elsewhere, "other")}
