from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, TopicPartition

from penstock.broker import LocalBroker
from penstock.kafka.admin import Admin
from penstock.kafka.clients import open_range_consumer
from penstock.kafka.consumer_group import GroupOffset
from penstock.kafka.errors import BrokerUnreachable, ProducerFenced, TopicMissing, TransactionAborted, TransactionError
from penstock.kafka.ranges import read_range
from penstock.kafka.transactions import TransactionalProducer
from tests.kafka.conftest import Settings, values

pytestmark = pytest.mark.broker
TopicFactory = Callable[..., str]
Work = Callable[[TransactionalProducer], None]


class Bench:
    """A topic, work that writes to it, and what a reader of committed records sees."""

    def __init__(self, settings: Settings, topic: str, reader: Consumer, admin: Admin) -> None:
        self.settings = settings
        self.topic = topic
        self._reader = reader
        self._admin = admin

    def producer(self) -> TransactionalProducer:
        return TransactionalProducer(self.settings, self.topic)

    def write(self, *texts: str) -> Work:
        def work(producer: TransactionalProducer) -> None:
            for text in texts:
                producer.produce(self.topic, text.encode(), b"k")

        return work

    def seen(self) -> list[str]:
        end = settled_end(self._admin, self.topic)
        return values(read_range(self._reader, self.topic, 0, 0, end))


def settled_end(admin: Admin, topic: str) -> int:
    """Where a partition ends once no transaction is open: a commit is answered before its markers are there."""
    here = [(topic, 0)]
    while admin.end_offsets(here, committed=True) != (ends := admin.end_offsets(here)):
        pass
    return ends[topic, 0]


@pytest.fixture
def bench(settings: Settings, topic: TopicFactory, committed_reader: Consumer, admin: Admin) -> Bench:
    return Bench(settings, topic(), committed_reader, admin)


def never() -> bool:
    return False


def test_work_is_seen_after_its_commit(bench: Bench) -> None:
    producer = bench.producer()
    assert producer.run(bench.write("a", "b"), is_committed=never) is True
    assert producer.run(bench.write("c"), is_committed=never) is True
    assert bench.seen() == ["a", "b", "c"]


def test_work_that_was_committed_before_is_not_done_again(bench: Bench) -> None:
    assert bench.producer().run(bench.write("a"), is_committed=lambda: True) is False
    assert bench.seen() == []


def test_offsets_and_their_metadata_move_with_the_records(
    bench: Bench, admin: Admin, committed_reader: Consumer
) -> None:
    group = committed_reader.consumer_group_metadata()

    def work(producer: TransactionalProducer) -> None:
        bench.write("a")(producer)
        producer.send_offsets([TopicPartition(bench.topic, 0, 5, "segment-4")], group)

    def failing(producer: TransactionalProducer) -> None:
        producer.send_offsets([TopicPartition(bench.topic, 0, 6, "segment-5")], group)
        raise RuntimeError("after the offsets")

    producer = bench.producer()
    producer.run(work, is_committed=never)
    with pytest.raises(RuntimeError, match="after the offsets"):
        producer.run(failing, is_committed=never)
    here = (bench.topic, 0)
    assert admin.group_offsets("penstock", [here]) == {here: GroupOffset(5, "segment-4")}


def test_a_producer_that_was_fenced_while_idle_is_renewed(bench: Bench) -> None:
    here, there = bench.producer(), bench.producer()
    asked = []

    def is_committed() -> bool:
        asked.append(True)
        return False

    here.run(bench.write("a"), is_committed=never)
    there.run(bench.write("b"), is_committed=never)
    assert here.run(bench.write("c"), is_committed=is_committed) is True
    assert asked == [True]
    assert bench.seen() == ["a", "b", "c"]


def test_a_renewed_producer_learns_that_its_work_was_done_by_the_other(bench: Bench) -> None:
    here, there = bench.producer(), bench.producer()
    here.run(bench.write("a"), is_committed=never)
    there.run(bench.write("b"), is_committed=never)
    assert here.run(bench.write("b"), is_committed=lambda: True) is False
    assert bench.seen() == ["a", "b"]


def test_a_zombie_is_stopped_and_what_it_wrote_is_never_seen(bench: Bench) -> None:
    zombie, successor = bench.producer(), bench.producer()

    def overtaken(producer: TransactionalProducer) -> None:
        bench.write("zombie")(producer)
        successor.run(bench.write("successor"), is_committed=never)

    with pytest.raises(ProducerFenced, match=f"Transaction of '{bench.topic}' failed"):
        zombie.run(overtaken, is_committed=never)
    assert bench.seen() == ["successor"]
    assert successor.run(bench.write("more"), is_committed=never) is True


def test_an_error_of_the_work_rolls_back_and_the_next_run_goes_on(bench: Bench) -> None:
    producer = bench.producer()

    def failing(running: TransactionalProducer) -> None:
        bench.write("half")(running)
        raise ValueError("user code")

    with pytest.raises(ValueError, match="user code"):
        producer.run(failing, is_committed=never)
    assert producer.run(bench.write("whole"), is_committed=never) is True
    with pytest.raises(TopicMissing, match="has no partition 9"):
        producer.run(lambda p: p.produce(bench.topic, b"x", partition=9), is_committed=never)
    assert producer.run(bench.write("more"), is_committed=never) is True
    assert bench.seen() == ["whole", "more"]


def test_a_record_the_broker_refuses_aborts_and_the_work_is_tried_again(bench: Bench, topic: TopicFactory) -> None:
    small = topic("small", config={"max.message.bytes": "500"})
    sizes = iter([2_000, 10])

    def work(producer: TransactionalProducer) -> None:
        bench.write("once")(producer)
        producer.produce(small, b"x" * next(sizes))

    producer = bench.producer()
    assert producer.run(work, is_committed=never) is True
    assert bench.seen() == ["once"]
    with pytest.raises(TransactionAborted, match="Message size too large"):
        producer.run(lambda p: p.produce(small, b"x" * 2_000), is_committed=never, tries=1)
    assert producer.run(bench.write("after"), is_committed=never) is True
    assert bench.seen() == ["once", "after"]


def test_a_refusal_in_the_background_is_not_blamed_on_the_record_that_is_sent_next(
    bench: Bench, topic: TopicFactory
) -> None:
    small = topic("small", config={"max.message.bytes": "500"})
    producer = bench.producer()
    producer.begin()
    producer.produce(small, b"x" * 2_000, b"large")
    producer.refused()
    with pytest.raises(TransactionAborted, match=r"rolled back; .*Message size too large"):
        producer.produce(bench.topic, b"innocent")
    assert [one.key for one in producer.take_refused()] == [b"large"]
    assert producer.take_refused() == []
    assert bench.seen() == []


def test_the_steps_by_hand(bench: Bench) -> None:
    producer = bench.producer()
    producer.begin()
    producer.produce(bench.topic, b"no")
    producer.abort()
    producer.begin()
    producer.produce(bench.topic, b"yes")
    producer.commit()
    producer.close()
    assert bench.seen() == ["yes"]
    with pytest.raises(TransactionError, match="no transaction was begun"):
        producer.commit()


def test_an_open_transaction_is_ended_by_the_next_init(bench: Bench) -> None:
    left = bench.producer()
    left.begin()
    left.produce(bench.topic, b"left behind")
    left._held().flush(30)
    left.close()
    assert bench.producer().run(bench.write("next"), is_committed=never) is True
    assert bench.seen() == ["next"]


def test_no_broker_is_said_within_the_time_given() -> None:
    producer = TransactionalProducer({"bootstrap.servers": "127.0.0.1:1"}, "t", seconds=0.5)
    with pytest.raises(BrokerUnreachable, match=r"127\.0\.0\.1:1"):
        producer.run(lambda _: None, is_committed=never)


@pytest.mark.slow
def test_offsets_that_get_no_answer_do_not_hold_the_producer_for_ever() -> None:
    offsets = [TopicPartition("t", 0, 5, "mark")]
    with LocalBroker() as broker:
        settings = {"bootstrap.servers": broker.bootstrap_servers}
        Admin(settings).create_topic("t", partitions=1)
        group = Consumer({**settings, "group.id": "g"})
        producer = TransactionalProducer(settings, "t", seconds=3)
        producer.run(lambda p: p.send_offsets(offsets, group.consumer_group_metadata()), is_committed=never)
        producer.begin()
        producer.produce("t", b"lost", b"k")
        broker.kill()
        with pytest.raises(TransactionError):
            producer.send_offsets(offsets, group.consumer_group_metadata())
        broker.restart()
        patient = TransactionalProducer(settings, "t")
        assert patient.run(lambda p: p.produce("t", b"seen", b"k"), is_committed=never)
        group.close()
        reader = open_range_consumer({**settings, "isolation.level": "read_committed"})
        assert values(read_range(reader, "t", 0, 0, settled_end(Admin(settings), "t"))) == ["seen"]
        reader.close()


@pytest.mark.slow
def test_a_producer_that_has_lost_its_connection_is_soon_given_up() -> None:
    offsets = [TopicPartition("t", 0, 5, "mark")]
    with LocalBroker() as broker:
        settings = {"bootstrap.servers": broker.bootstrap_servers}
        Admin(settings).create_topic("t", partitions=1)
        group = Consumer({**settings, "group.id": "g"})
        producer = TransactionalProducer(settings, "t")
        producer.run(lambda p: p.send_offsets(offsets, group.consumer_group_metadata()), is_committed=never)
        producer.begin()
        broker.kill()
        broker.restart()
        # The broker answers again, but the library does not ask it.
        with pytest.raises(TransactionError, match=r"no answer about the offsets within [3-9] s"):
            producer.send_offsets(offsets, group.consumer_group_metadata())
        assert producer.run(lambda p: p.produce("t", b"seen", b"k"), is_committed=never)
        group.close()
        reader = open_range_consumer({**settings, "isolation.level": "read_committed"})
        assert values(read_range(reader, "t", 0, 0, settled_end(Admin(settings), "t"))) == ["seen"]
        reader.close()
