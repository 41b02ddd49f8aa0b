from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.kafka.admin import Admin, TopicSummary, partitions_of
from penstock.kafka.consumer_group import GroupOffset
from penstock.kafka.errors import KafkaClientError, TopicExists, TopicMismatch, TopicMissing
from tests.kafka.conftest import Send

pytestmark = pytest.mark.broker
TopicFactory = Callable[..., str]


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(request.node.name).replace("_", "-")


def test_a_topic_from_creation_to_deletion(admin: Admin, name: str) -> None:
    admin.create_topic(name, partitions=3, configs={"cleanup.policy": "compact"})
    assert admin.topic(name) == TopicSummary(name, 3, 1, is_internal=False)
    described = admin.describe_topic(name)
    assert described.configs == {"cleanup.policy": "compact"}
    assert [(p.partition, p.start, p.end, p.offsets) for p in described.partitions] == [(i, 0, 0, 0) for i in range(3)]
    assert described.partitions[0].leader in described.partitions[0].in_sync
    with pytest.raises(TopicExists, match=f"Topic '{name}' exists already"):
        admin.create_topic(name)
    first = admin.topic_ids([name, "no-such-topic"])
    admin.delete_topics([name])
    assert name not in admin.topics()
    assert admin.topic_ids([name]) == {}
    admin.create_topic(name)
    assert list(first) == list(admin.topic_ids([name])) == [name]
    assert first != admin.topic_ids([name])


@pytest.mark.parametrize(
    ("topic_name", "partitions", "configs", "reason"),
    [
        ("bad name!", 1, {}, "contains one or more characters other than"),
        ("fine", 0, {}, "Number of partitions was set to an invalid"),
        ("fine", 1, {"no.such.setting": "1"}, "no.such.setting"),
        ("fine", 1, {"retention.ms": "soon"}, "Invalid value soon for configuration retention.ms"),
    ],
)
def test_what_the_broker_refuses_is_said_in_its_words(
    admin: Admin, topic_name: str, partitions: int, configs: dict[str, str], reason: str
) -> None:
    with pytest.raises(KafkaClientError) as caught:
        admin.create_topic(topic_name, partitions=partitions, configs=configs)
    assert reason in str(caught.value)
    assert "fine" not in admin.topics()


def test_ensuring_a_topic_creates_it_once_and_checks_its_partitions(admin: Admin, name: str) -> None:
    assert admin.ensure_topic(name, partitions=2, configs={"retention.ms": "-1"}) is True
    assert admin.ensure_topic(name, partitions=2) is False
    assert admin.describe_topic(name).configs == {"retention.ms": "-1"}
    with pytest.raises(TopicMismatch, match=f"Topic '{name}' has 2 partitions, 4 are needed"):
        admin.ensure_topic(name, partitions=4)


def test_a_missing_topic_suggests_the_nearest(admin: Admin, topic: TopicFactory) -> None:
    there = topic("orders")
    wrong = there.replace("orders", "oders")
    for ask in (
        lambda: admin.topic(wrong),
        lambda: admin.describe_topic(wrong),
        lambda: admin.delete_topics([there, wrong]),
        lambda: admin.end_offsets([(wrong, 0)]),
    ):
        with pytest.raises(TopicMissing) as caught:
            ask()
        assert f"Topic '{wrong}' does not exist. Did you mean '{there}'?" in str(caught.value)
    assert there in admin.topics()
    with pytest.raises(TopicMissing, match="has no partition 5"):
        admin.end_offsets([(there, 5)])


def test_offsets_by_end_start_and_time(admin: Admin, topic: TopicFactory, send: Send) -> None:
    name = topic(partitions=2)
    send(name, [(100, "a"), (200, "b"), (300, "c")], partition=0)
    both = partitions_of(admin.topic(name))
    assert admin.end_offsets(both) == {(name, 0): 3, (name, 1): 0}
    assert admin.end_offsets(both, committed=True) == {(name, 0): 3, (name, 1): 0}
    assert admin.offsets_for_time(both, 150) == {(name, 0): 1, (name, 1): -1}
    admin.delete_records({(name, 0): 2})
    assert admin.start_offsets(both) == {(name, 0): 2, (name, 1): 0}
    assert admin.describe_topic(name).offsets == 1
    assert admin.end_offsets([]) == {}


def test_group_offsets_with_their_metadata(admin: Admin, topic: TopicFactory, name: str) -> None:
    commits = topic(partitions=2)
    both = [(commits, 0), (commits, 1)]
    assert admin.group_offsets(name, both) == {}
    admin.set_group_offsets(name, {(commits, 1): GroupOffset(7, "segment-7")})
    assert admin.group_offsets(name, both) == {(commits, 1): GroupOffset(7, "segment-7")}
    assert admin.group_offsets(name, []) == {}
    admin.delete_group(name)
    admin.delete_group(name)
    assert admin.group_offsets(name, both) == {}
