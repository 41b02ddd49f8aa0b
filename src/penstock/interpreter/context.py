"""What a task knows of the record it is processing, and its clocks and counters."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import length_hint
from typing import Any

from penstock.records import NO_HEADERS, Headers, RecordContext, RecordMetadata

log = logging.getLogger("penstock.task")

# Drops that Kafka's dropped-records metric does not count; ours are visible by reason all the same.
UNCOUNTED_BY_KAFKA = frozenset({"null key before repartition", "no branch matched", "before the unlimited window"})


def wall_clock_ms() -> int:
    """The machine's clock in milliseconds."""
    return time.time_ns() // 1_000_000


class TaskContext:
    """The record being processed and the state of the task that is not in a store.

    One object for each task; its fields are overwritten by each record, so that nothing is allocated per record.
    """

    __slots__ = (
        "_restored",
        "_saved",
        "application_id",
        "chunk",
        "dropped",
        "headers",
        "offset",
        "partition",
        "raw_key",
        "raw_value",
        "stream_time",
        "system_time",
        "task_id",
        "timestamp",
        "topic",
    )

    def __init__(
        self, application_id: str = "", task_id: str = "0_0", system_time: Callable[[], int] = wall_clock_ms
    ) -> None:
        self.application_id = application_id
        self.task_id = task_id
        self.system_time = system_time
        self.topic: str | None = None
        self.partition = -1
        self.offset = -1
        self.timestamp = -1
        self.headers: Headers = NO_HEADERS
        self.raw_key: bytes | None = None
        self.raw_value: bytes | None = None
        self.chunk: Chunk | None = None
        self.stream_time = -1
        self.dropped: dict[str, int] = {}
        self._saved: dict[str, Saved] = {}
        self._restored: dict[str, int] = {}

    @property
    def record_metadata(self) -> RecordMetadata | None:
        """Topic, partition and offset of the source record; None in punctuators."""
        return None if self.topic is None else RecordMetadata(self.topic, self.partition, self.offset)

    def record_context(self, timestamp: int) -> RecordContext:
        """Everything about the source record, for topic name extractors."""
        return RecordContext(self.topic, self.partition, self.offset, timestamp, self.headers)

    def clear_record(self) -> None:
        """Forget the record: what runs now (a punctuator) has none."""
        self.topic, self.partition, self.offset = None, -1, -1
        self.headers, self.raw_key, self.raw_value = NO_HEADERS, None, None

    def settle(self) -> None:
        """Find the record in hand, where a loop takes a chunk: it does not say where it is, so that this costs nothing."""
        if self.chunk is not None:
            self.offset, self.timestamp, self.raw_key, self.raw_value = self.chunk.in_hand()

    @contextmanager
    def without_record(self) -> Iterator[None]:
        """For a while there is no record; then it is the one in hand again."""
        before = (self.topic, self.partition, self.offset, self.headers, self.raw_key, self.raw_value)
        self.clear_record()
        try:
            yield
        finally:
            self.topic, self.partition, self.offset, self.headers, self.raw_key, self.raw_value = before

    def saved(self, name: str, default: int) -> Saved:
        """The kept int of that name: as restored, or the default."""
        if name not in self._saved:
            self._saved[name] = Saved(self._restored.get(name, default))
        return self._saved[name]

    def commit_metadata(self) -> dict[str, int]:
        """What is kept with a commit beside offsets and stores: stream time, partition times, last emissions."""
        kept = {**self._restored, **{name: saved.value for name, saved in self._saved.items()}}
        kept["stream time"] = self.stream_time
        return kept

    def restore(self, metadata: Mapping[str, int]) -> None:
        """Continue from what a commit kept."""
        self._restored = dict(metadata)
        self.stream_time = self._restored.pop("stream time", -1)
        for name, saved in self._saved.items():
            saved.value = self._restored.get(name, saved.value)

    def dropper(self, node: str, reason: str) -> Callable[[], None]:
        """A function that counts one dropped record, and says where it came from the first time and then rarely."""
        dropped = self.dropped

        def drop() -> None:
            count = dropped[reason] = dropped.get(reason, 0) + 1
            # Kafka logs every drop; a million of them would hide everything else, so powers of two are logged.
            if count & (count - 1) == 0:
                self.settle()
                log.warning(
                    "dropped a record: %s (node %s, topic %s, partition %s, offset %s; %d so far)",
                    reason, node, self.topic, self.partition, self.offset, count,
                )  # fmt: skip

        return drop

    @property
    def dropped_total(self) -> int:
        """Dropped records as Kafka counts them."""
        return sum(n for reason, n in self.dropped.items() if reason not in UNCOUNTED_BY_KAFKA)


class Chunk:
    """Records that are processed in a loop over their columns.

    Attributes:
        position: The iterator over timestamps that the loop uses.
    """

    __slots__ = ("_columns", "position")

    def __init__(
        self,
        offsets: Sequence[int],
        timestamps: list[int],
        raw_keys: list[bytes | None],
        raw_values: list[bytes | None],
    ) -> None:
        self._columns = (offsets, timestamps, raw_keys, raw_values)
        self.position = iter(timestamps)

    @property
    def taken(self) -> int:
        """How many records the loop has taken."""
        return len(self._columns[1]) - length_hint(self.position)

    def in_hand(self) -> tuple[int, int, bytes | None, bytes | None]:
        """The record that the loop took last, or the first one if it takes none."""
        offsets, timestamps, raw_keys, raw_values = self._columns
        at = max(self.taken - 1, 0)
        return offsets[at], timestamps[at], raw_keys[at], raw_values[at]

    @property
    def stream_time(self) -> int:
        """The largest timestamp that the loop has taken; -1 for none."""
        return max(self._columns[1][: self.taken], default=-1)


class Saved:
    """An int that is kept with the commit and restored with the task, such as the last window close time."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value


Shared = dict[str, Any]
