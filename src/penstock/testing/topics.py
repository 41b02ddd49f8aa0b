"""The topics of a test: write to inputs, read from outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from penstock.durations import Duration, Instant, duration_ms, instant_ms
from penstock.errors import PenstockError
from penstock.records import Headers, KeyValue
from penstock.testing.test_record import TestRecord

if TYPE_CHECKING:
    from penstock.testing.driver import TopologyTestDriver

_UNSET: Any = object()


class TestInputTopic:
    """Pipes records into a topology. Records without a timestamp get the topic's clock, which then advances."""

    __test__ = False

    def __init__(
        self, driver: TopologyTestDriver, name: str, key_serde: Any, value_serde: Any, start: int, auto_advance: int
    ) -> None:
        self._driver = driver
        self.name = name
        self._encode_key = key_serde.serialize
        self._encode_value = value_serde.serialize
        self._now = start
        self._advance = auto_advance

    def pipe_input(
        self,
        key_or_value: Any,
        value: Any = _UNSET,
        timestamp: Instant | None = None,
        headers: Iterable[tuple[str, bytes | None]] = (),
    ) -> None:
        """Pipe one record: `(value)`, `(key, value, timestamp=None, headers=())` or `(TestRecord)`."""
        if isinstance(key_or_value, TestRecord) and value is _UNSET:
            record = key_or_value
            key, value, timestamp, headers = record.key, record.value, record.timestamp, record.headers
        elif value is _UNSET:
            key, value = None, key_or_value
        else:
            key = key_or_value
        if timestamp is None:
            millis, self._now = self._now, self._now + self._advance
        else:
            millis = instant_ms(timestamp, "record timestamp")
        all_headers = Headers(headers)
        self._driver.pipe(
            self.name,
            self._encode_key(self.name, key, all_headers),
            self._encode_value(self.name, value, all_headers),
            millis,
            all_headers,
        )

    def pipe_record_list(self, records: Iterable[TestRecord]) -> None:
        """Pipe records one after the other."""
        for record in records:
            self.pipe_input(record)

    def pipe_key_value_list(
        self, pairs: Iterable[Sequence[Any]], start: Instant | None = None, advance: Duration = 0
    ) -> None:
        """Pipe (key, value) pairs; with `start` their timestamps advance from there."""
        self._pipe_pairs(((key, value) for key, value in pairs), start, advance)

    def pipe_value_list(self, values: Iterable[Any], start: Instant | None = None, advance: Duration = 0) -> None:
        """Pipe values without keys; with `start` their timestamps advance from there."""
        self._pipe_pairs(((None, value) for value in values), start, advance)

    def _pipe_pairs(self, pairs: Iterable[tuple[Any, Any]], start: Instant | None, advance: Duration) -> None:
        step = duration_ms(advance, "advance")
        at = None if start is None else instant_ms(start, "start")
        for key, value in pairs:
            self.pipe_input(key, value, timestamp=at)
            at = None if at is None else at + step

    def advance_time(self, by: Duration) -> None:
        """Move the topic's clock forward."""
        self._now += duration_ms(by, "advance")


class TestOutputTopic:
    """Reads what a topology wrote to a topic, in order."""

    __test__ = False

    def __init__(self, driver: TopologyTestDriver, name: str, key_serde: Any, value_serde: Any) -> None:
        self._driver = driver
        self.name = name
        self._decode_key = key_serde.deserialize
        self._decode_value = value_serde.deserialize

    def read_record(self) -> TestRecord:
        """The next record, with headers and timestamp."""
        queue = self._driver.outputs(self.name)
        if not queue:
            written = ", ".join(sorted(self._driver.produced_topic_names)) or "none"
            raise PenstockError(
                f"the output topic {self.name!r} is empty", hint=f"Topics with output so far: {written}."
            )
        key, value, timestamp, headers = queue.popleft()
        return TestRecord(
            self._decode_key(self.name, key, headers), self._decode_value(self.name, value, headers), headers, timestamp
        )

    def read_key_value(self) -> KeyValue[Any, Any]:
        """The next key and value."""
        record = self.read_record()
        return KeyValue(record.key, record.value)

    def read_value(self) -> Any:
        """The next value."""
        return self.read_record().value

    def read_records_to_list(self) -> list[TestRecord]:
        """All records, which are then gone."""
        return list(self)

    def read_key_values_to_list(self) -> list[KeyValue[Any, Any]]:
        """All keys and values, which are then gone."""
        return [KeyValue(record.key, record.value) for record in self]

    def read_values_to_list(self) -> list[Any]:
        """All values, which are then gone."""
        return [record.value for record in self]

    def read_key_values_to_map(self) -> dict[Any, Any]:
        """The last value of each key; refuses null keys."""
        result = {}
        for record in self:
            if record.key is None:
                raise PenstockError(
                    f"a record of the output topic {self.name!r} has no key: {record}",
                    hint="Use read_key_values_to_list().",
                )
            result[record.key] = record.value
        return result

    @property
    def queue_size(self) -> int:
        """How many records wait to be read."""
        return len(self._driver.outputs(self.name))

    @property
    def is_empty(self) -> bool:
        """True if nothing waits to be read."""
        return not self._driver.outputs(self.name)

    def __len__(self) -> int:
        return self.queue_size

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[TestRecord]:
        while self._driver.outputs(self.name):
            yield self.read_record()
