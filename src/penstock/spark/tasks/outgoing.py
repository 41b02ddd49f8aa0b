"""A record on its way to Kafka, as the client library takes it."""

from __future__ import annotations

from typing import Any

from penstock.records import Headers

# The arguments of the client's produce: topic, value, key, partition, two callbacks, timestamp, headers.
Outgoing = tuple[str, "bytes | None", "bytes | None", int, None, None, int, Any]


def outgoing(
    topic: str, key: bytes | None, value: bytes | None, timestamp: int, headers: Headers, partition: int
) -> Outgoing:
    """A record as the client takes it."""
    # The library takes 0 for "now"; 1 is the earliest timestamp that can be written.
    return (topic, value, key, partition, None, None, timestamp or 1, list(headers) if headers else None)
