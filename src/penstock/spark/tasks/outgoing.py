"""Records on their way to Kafka, as the client library takes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, TypeAlias

from penstock.records import Headers

# The arguments of the client's produce: topic, value, key, partition, two callbacks, timestamp, headers.
Outgoing = tuple[str, "bytes | None", "bytes | None", int, None, None, int, Any]


def outgoing(
    topic: str, key: bytes | None, value: bytes | None, timestamp: int, headers: Headers, partition: int
) -> Outgoing:
    """A record as the client takes it."""
    # The library takes 0 for "now"; 1 is the earliest timestamp that can be written.
    return (topic, value, key, partition, None, None, timestamp or 1, list(headers) if headers else None)


class Columns:
    """Many records of one topic. As tuples they would take 140 bytes each until the commit, and the collector's time.

    >>> list(Columns("t", [b"a", b"b"], [b"1", None], [7, 8]))
    [('t', b'1', b'a', -1, None, None, 7, None), ('t', None, b'b', -1, None, None, 8, None)]

    Args:
        topic: Where to.
        keys / values / timestamps / headers: Columns, which nobody changes any more.
        partition: -1 asks Kafka's partitioner.
    """

    __slots__ = ("_headers", "_keys", "_partition", "_timestamps", "_topic", "_values")

    def __init__(
        self,
        topic: str,
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
        timestamps: Sequence[int],
        headers: Sequence[Any] | None = None,
        partition: int = -1,
    ) -> None:
        if not len(keys) == len(values) == len(timestamps):  # a serde of a user's may give fewer values than it got
            raise ValueError(f"{topic}: {len(keys)} keys, {len(values)} values and {len(timestamps)} timestamps")
        self._topic, self._partition = topic, partition
        self._keys, self._values, self._headers = keys, values, headers
        is_plain = min(timestamps, default=1) > 0  # else as `outgoing` does
        self._timestamps = timestamps if is_plain else [timestamp or 1 for timestamp in timestamps]

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Outgoing]:
        nothing = repeat(None)
        return zip(
            repeat(self._topic),
            self._values,
            self._keys,
            repeat(self._partition),
            nothing,
            nothing,
            self._timestamps,
            nothing if self._headers is None else self._headers,
        )

    def pop(self) -> Outgoing:
        """Take the last record off; the columns stay as they are, as others may have them."""
        headers = None if self._headers is None else self._headers[-1]
        last = (
            self._topic,
            self._values[-1],
            self._keys[-1],
            self._partition,
            None,
            None,
            self._timestamps[-1],
            headers,
        )
        self._keys, self._values, self._timestamps = self._keys[:-1], self._values[:-1], self._timestamps[:-1]
        if self._headers is not None:
            self._headers = self._headers[:-1]
        return last


Records: TypeAlias = "list[Outgoing] | Columns"
