"""What a client's events say to whoever reads a range."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError

from penstock.kafka.errors import KafkaClientError
from penstock.kafka.range_cursor import Cursor, OffsetRange, runs

DENIED = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)


class Event:
    """A message that belongs to no range."""

    def topic(self) -> str:
        return ""

    def partition(self) -> int:
        return 0

    def error(self) -> KafkaError:
        return DENIED


def test_an_error_of_a_range_has_a_next_step() -> None:
    consumer: Any = None
    with pytest.raises(KafkaClientError, match="orders-1 cannot be read at offset 5: ") as raised:
        Cursor(OffsetRange("orders", 1, 5, 9))._event(consumer, DENIED, None)
    assert raised.value.hint == (
        "Check that the partition has a leader (`penstock topics describe orders`) and that this client may read the topic."
    )


def test_an_error_of_no_range_has_a_next_step() -> None:
    messages: list[Any] = [Event()]
    with pytest.raises(KafkaClientError, match="Records cannot be read: ") as raised:
        list(runs(messages, {}, lambda message: message.topic()))
    assert raised.value.hint == (
        "Check that the brokers answer (`penstock topics list`) and that this client may read the topics."
    )
