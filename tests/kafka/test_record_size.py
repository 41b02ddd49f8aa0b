from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.kafka.errors import DeliveryFailed
from penstock.kafka.producing import RecordProducer
from penstock.kafka.record_size import batch_bytes
from tests.kafka.conftest import Settings

HEADERS = [("ünder", b"1" * 100), ("none", None)]


def test_the_sizes_of_parts() -> None:
    assert batch_bytes(b"k", b"x" * 1000) == 61 + 2 + 3 + 2 + 1002 + 1
    assert batch_bytes(None, None) == 61 + 1 + 3 + 1 + 1 + 1


@pytest.mark.broker
@pytest.mark.parametrize("headers", [None, HEADERS])
def test_a_broker_sees_the_same_size(
    headers: list[tuple[str, bytes | None]] | None, settings: Settings, topic: Callable[..., str]
) -> None:
    name = topic(config={"max.message.bytes": "2000"})
    producer = RecordProducer(settings)
    fitting = 2000 - batch_bytes(b"k", b"x" * 1000, headers) + 1000
    producer.produce(name, b"x" * fitting, b"k", headers=headers)
    producer.flush()
    producer.produce(name, b"x" * (fitting + 1), b"k", headers=headers)
    with pytest.raises(DeliveryFailed, match="size too large"):
        producer.flush()
