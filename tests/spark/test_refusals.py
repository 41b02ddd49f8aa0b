"""Which of the records that were refused together are to blame."""

from __future__ import annotations

import time
from typing import Any

import pytest
from confluent_kafka import KafkaError

from penstock.kafka.error_codes import TOO_LARGE, UNKNOWN_PARTITION
from penstock.kafka.errors import RecordRefused, RefusedRecord
from penstock.records import NO_HEADERS, Headers
from penstock.spark.tasks.outgoing import Outgoing, outgoing
from penstock.spark.tasks.refusals import Refusals

NOW = time.time_ns() // 1_000_000


def record(
    value: bytes, *, key: bytes | None = b"k", timestamp: int = NOW, partition: int = -1, **more: Any
) -> Outgoing:
    return outgoing("t", key, value, timestamp, more.get("headers", NO_HEADERS), partition)


def reported(code: int, *records: Outgoing) -> list[RefusedRecord]:
    return [RefusedRecord(r[0], max(r[3], 0), r[2], r[1], r[6], code, "no") for r in records]


def refusals(*, compressed: bool = False, **settings: str) -> Refusals:
    return Refusals(lambda topic: {k.replace("_", "."): v for k, v in settings.items()}, compressed=compressed)


def test_records_larger_than_the_topic_takes_headers_included_and_unsent_ones_too() -> None:
    small, large, unsent = record(b"x"), record(b"x" * 1000), record(b"y" * 1000)
    headed = record(b"x", headers=Headers([("h", b"x" * 1000)]))
    found = refusals(max_message_bytes="1000").blame(
        reported(TOO_LARGE, small, large, headed), [small, large, headed, unsent]
    )
    assert [one for one, _ in found] == [large, headed, unsent]
    assert str(found[0][1]) == (
        "Kafka does not take a record for t with the key b'k': no, 1071 bytes. Raise max.message.bytes of t, which is 1000."
    )


def test_where_only_the_batch_is_too_large_the_next_ones_are_smaller() -> None:
    one = refusals(max_message_bytes="1000")
    several = [record(b"x" * 600), record(b"y" * 600)]
    assert one.blame(reported(TOO_LARGE, *several), several) == []
    assert one.narrowed == {"batch.size": 1000}


def test_compressed_records_have_to_be_refused_alone() -> None:
    one = refusals(compressed=True, max_message_bytes="1000")
    small, squeezable, noise = record(b"x"), record(b"x" * 2000), record(b"y" * 2000)
    everything = [small, squeezable, noise]
    assert one.blame(reported(TOO_LARGE, *everything), everything) == []
    assert one.narrowed == {"batch.size": 1000}
    assert [r for r, _ in one.blame(reported(TOO_LARGE, noise), everything)] == [noise]


def test_records_without_a_key_timestamps_and_partitions() -> None:
    good, keyless = record(b"x"), record(b"x", key=None)
    found = refusals(cleanup_policy="compact,delete").blame(
        reported(KafkaError.INVALID_RECORD, good, keyless), [good, keyless]
    )
    assert [r for r, _ in found] == [keyless]
    assert "without a key" in str(found[0][1])
    far, old = record(b"f", timestamp=NOW + 10**10), record(b"o", timestamp=NOW - 10**10)
    hour = "3600000"
    timely = refusals(message_timestamp_after_max_ms=hour, message_timestamp_before_max_ms=hour)
    found = timely.blame(reported(KafkaError.INVALID_TIMESTAMP, good, far), [good, far, old])
    assert [r for r, _ in found] == [far, old]
    nowhere = record(b"x", partition=7)
    found = refusals().blame(reported(UNKNOWN_PARTITION, nowhere), [good, nowhere])
    assert [r for r, _ in found] == [nowhere]


def test_what_settings_do_not_explain_is_sent_one_by_one() -> None:
    one = refusals()
    innocent, bad = record(b"x"), record(b"y")
    assert one.blame(reported(TOO_LARGE, innocent, bad), [innocent, bad]) == []
    assert one.narrowed == {"batch.num.messages": 1}
    assert [r for r, _ in one.blame(reported(TOO_LARGE, bad), [innocent, bad])] == [bad]
    with pytest.raises(RecordRefused, match=r"a record for t with the key b'k': no"):
        one.blame(reported(TOO_LARGE, bad), [innocent])


def test_a_long_key_is_shown_in_part() -> None:
    assert str(RecordRefused("t", b"k" * 1000, "no")).count("k") < 100
