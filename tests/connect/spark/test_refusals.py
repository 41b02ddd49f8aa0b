from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from penstock.connect.errors import ConnectError
from penstock.connect.spark.refusals import Refusals
from penstock.kafka.error_codes import TOO_LARGE, UNKNOWN_PARTITION
from penstock.kafka.errors import RefusedRecord


def refused(value: bytes, *, code: int = TOO_LARGE, partition: int = 0) -> RefusedRecord:
    return RefusedRecord("t", partition, b"k", value, 5, code, "no")


def test_of_records_sent_together_only_those_that_are_too_large_alone_are_refused() -> None:
    refusals = Refusals(lambda topic: 2000)
    refusals.add([refused(b"small"), refused(b"x" * 3000), refused(b"small too")])
    assert refusals.find("t", b"k", b"small") is None
    assert "larger than the topic takes: 3071 bytes" in str(refusals.find("t", b"k", b"x" * 3000))


def test_a_batch_that_is_too_large_though_no_record_seems_to_be_is_sent_one_by_one() -> None:
    refusals = Refusals(lambda topic: 2000)
    refusals.add([refused(b"small"), refused(b"with large headers")])
    assert refusals.is_suspect("t", b"k", b"small")
    refusals.add([refused(b"with large headers")])
    assert refusals.find("t", b"k", b"small") is None
    assert refusals.find("t", b"k", b"with large headers") is not None


def test_without_a_limit_of_the_topic_large_records_are_found_by_sending_them_alone() -> None:
    refusals = Refusals(lambda topic: None)
    refusals.add([refused(b"small"), refused(b"x" * 3000)])
    assert refusals.find("t", b"k", b"x" * 3000) is None
    refusals.add([refused(b"x" * 3000)])
    assert "Raise max.message.bytes of t, which is as the broker has it" in str(refusals.find("t", b"k", b"x" * 3000))


def test_what_is_refused_again_though_it_was_left_out_ends_the_task() -> None:
    refusals = Refusals(lambda topic: 2000)
    refusals.add([refused(b"x" * 3000)])
    with pytest.raises(ConnectError, match="also without those it refused before"):
        refusals.add([refused(b"x" * 3000)])


def test_the_same_record_for_another_partition_is_fine() -> None:
    refusals = Refusals(lambda topic: 2000)
    refusals.add([refused(b"v", code=UNKNOWN_PARTITION, partition=7)])
    assert refusals.find("t", b"k", b"v", 0) is None
    assert refusals.find("t", b"k", b"v") is None
    assert "has no partition 7" in str(refusals.find("t", b"k", b"v", 7))


def test_of_records_that_may_be_to_blame_each_is_sent_alone() -> None:
    refusals = Refusals(lambda topic: 2000)
    records = [refused(value, code=KafkaError.INVALID_TIMESTAMP) for value in (b"a", b"b", b"c")]
    refusals.add(records)
    assert [refusals.find("t", b"k", value) for value in (b"a", b"b", b"c")] == [None] * 3
    assert refusals.is_suspect("t", b"k", b"b")
    assert not refusals.is_suspect("t", b"k", b"d")
    refusals.add(records[1:2])
    assert refusals.find("t", b"k", b"b") is not None
    assert refusals.find("t", b"k", b"a") is None


def test_a_compacted_topic_says_what_it_wants() -> None:
    refusals = Refusals(lambda topic: 2000)
    bad = refused(b"v", code=KafkaError.INVALID_RECORD)._replace(key=None)
    refusals.add([refused(b"v", code=KafkaError.INVALID_RECORD), bad])
    assert "A compacted topic takes only records with a key" in str(refusals.find("t", None, b"v"))
    assert refusals.find("t", b"k", b"v") is None
