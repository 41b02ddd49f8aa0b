"""The way of a record from a source to Kafka: transforms, then converters, under the error handler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

from penstock.connect.converters.converter import Converter, HeaderConverter, Write
from penstock.connect.data import NO_CONNECT_HEADERS, ConnectRecord, Schema, SourceRecord
from penstock.connect.errors import ConnectError
from penstock.connect.failures.operator import SKIPPED, RetryWithTolerance, Skipped
from penstock.connect.failures.report import executing_class
from penstock.connect.failures.stage import Stage
from penstock.connect.transforms.chain import TransformationChain
from penstock.records import NO_HEADERS, Headers


class ProducedRecord(NamedTuple):
    """A record to send: bytes, and the source record it came from, whose offset may be committed afterwards."""

    topic: str
    partition: int | None
    key: bytes | None
    value: bytes | None
    timestamp: int | None
    headers: Headers
    source: SourceRecord


_PRODUCED: Callable[[Any], ProducedRecord] = partial(tuple.__new__, ProducedRecord)  # what _make does, in C


class SourcePipeline:
    """Turns source records into records to send.

    Args:
        key_converter: For keys.
        value_converter: For values.
        header_converter: For headers.
        chain: The connector's transforms.
        operator: Retries and tolerance.
    """

    def __init__(
        self,
        *,
        key_converter: Converter,
        value_converter: Converter,
        header_converter: HeaderConverter,
        chain: TransformationChain | None = None,
        operator: RetryWithTolerance,
    ) -> None:
        self._key_converter = key_converter
        self._value_converter = value_converter
        self._header_converter = header_converter
        self._operator = operator
        self._stages = [
            (executing_class(stage.transformation), stage.apply)
            for stage in (chain.stages if chain is not None else ())
        ]
        self._writers: dict[str, tuple[Write, Write]] = {}

    def convert(self, records: Iterable[SourceRecord]) -> list[ProducedRecord]:
        """The records of a batch to send, without those that were dropped or skipped.

        Raises:
            ConnectError: A record cannot be handled and that is not tolerated.
        """
        records = list(records)
        at_once = self._at_once(records)
        if at_once is not None:
            return at_once
        produced: list[ProducedRecord] = []
        add, new = produced.append, tuple.__new__
        writers, has_stages = self._writers, bool(self._stages)
        for record in records:
            # As in the sinks' pipeline, nothing is wrapped that need not be: the error handler is called after a failure.
            current: ConnectRecord | None = self._transformed(record) if has_stages else record
            if current is None:
                continue
            topic, partition, key_schema, key, value_schema, value, timestamp, connect_headers, *_ = current
            if not topic:
                self._operator.execute(Stage.TRANSFORMATION, executing_class(self), _refuse_without_topic, record)
                continue
            try:
                write_key, write_value = writers[topic]
            except KeyError:
                write_key, write_value = self._topic_writers(topic)
            try:
                key = write_key(key_schema, key)
            except Exception as error:  # noqa: BLE001 - any failure of a converter
                key = self._recover(Stage.KEY_CONVERTER, self._key_converter, (topic, key_schema, key), record, error)
                if key is SKIPPED:
                    continue
            try:
                value = write_value(value_schema, value)
            except Exception as error:  # noqa: BLE001 - any failure of a converter
                data = (topic, value_schema, value)
                value = self._recover(Stage.VALUE_CONVERTER, self._value_converter, data, record, error)
                if value is SKIPPED:
                    continue
            headers: Headers | Skipped = NO_HEADERS
            if connect_headers:
                headers = self._headers(topic, current, record)
                if headers is SKIPPED:
                    continue
            add(new(ProducedRecord, (topic, partition, key, value, timestamp, headers, record)))
        return produced

    def _at_once(self, records: Sequence[SourceRecord]) -> list[ProducedRecord] | None:
        """Records that are alike, as those of a table or a file are; None if they are not, or one cannot be converted."""
        if self._stages or not records:
            return None
        topics, partitions, key_schemas, keys, schemas, values, timestamps, headers, *_ = zip(*records, strict=True)
        topic, schema = topics[0], schemas[0]
        # By identity, as looking into headers or comparing schemas costs a call for each record.
        plain = set(map(id, headers)) == {id(NO_CONNECT_HEADERS)}
        if not topic or not plain or len(set(topics)) > 1 or len(set(map(id, schemas))) > 1:
            return None
        write_key = self._topic_writers(topic)[0]
        try:
            if keys.count(None) == key_schemas.count(None) == len(keys):
                written_keys: Iterable[bytes | None] = repeat(write_key(None, None))
            else:
                written_keys = list(map(write_key, key_schemas, keys))
            written = self._value_converter.write_all(topic, schema, values)
        except Exception:  # noqa: BLE001 - which record it is, and what is to be done, is found one by one
            return None
        fields = zip(topics, partitions, written_keys, written, timestamps, repeat(NO_HEADERS), records)
        return list(map(_PRODUCED, fields))

    def _topic_writers(self, topic: str) -> tuple[Write, Write]:
        writers = (self._key_converter.writer(topic), self._value_converter.writer(topic))
        self._writers[topic] = writers
        return writers

    def _recover(
        self,
        stage: Stage,
        converter: Converter,
        data: tuple[str, Schema | None, Any],
        record: SourceRecord,
        error: Exception,
    ) -> Any:
        """What becomes of a record whose first conversion failed."""
        write = converter.from_connect_data
        return self._operator.recover(stage, executing_class(converter), lambda: write(*data), record, error)

    def _transformed(self, record: SourceRecord) -> ConnectRecord | None:
        current: ConnectRecord | None = record
        for class_name, apply in self._stages:
            assert current is not None
            before = current
            changed = self._operator.execute(Stage.TRANSFORMATION, class_name, lambda: apply(before), record)  # noqa: B023 - called at once
            current = None if changed is SKIPPED else changed
            if current is None:
                return None
        return current

    def _headers(self, topic: str, current: ConnectRecord, record: SourceRecord) -> Headers | Skipped:
        if not current.headers:
            return NO_HEADERS
        convert = self._header_converter.from_connect_header
        return self._operator.execute(
            Stage.HEADER_CONVERTER,
            executing_class(self._header_converter),
            lambda: Headers((h.key, convert(topic, h.key, h.schema, h.value)) for h in current.headers),
            record,
        )


def _refuse_without_topic() -> None:
    raise ConnectError("A source record has no topic", hint="Set topic on the record, or by a transform.")
