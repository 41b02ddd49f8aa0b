"""The way of a record from Kafka to a sink: converters, then transforms, under the error handler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.connect.converters.converter import ColumnRead, Converter, HeaderConverter, Read
from penstock.connect.data import (
    NO_CONNECT_HEADERS,
    ConnectHeaders,
    ConnectRecord,
    Header,
    Schema,
    SinkColumns,
    SinkRecord,
    are_plain_maps,
)
from penstock.connect.failures.operator import SKIPPED, RetryWithTolerance, Skipped
from penstock.connect.failures.report import ConsumedColumns, ConsumedRecord, executing_class
from penstock.connect.failures.stage import Stage
from penstock.connect.transforms.chain import TransformationChain

Pair = tuple["Schema | None", Any]
Stages = list[tuple[str, Callable[[ConnectRecord], "ConnectRecord | None"]]]


class SinkPipeline:
    """Turns consumed records into sink records.

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
        self._map_functions = _map_functions(chain)
        self._readers: dict[str, tuple[Read, Read]] = {}

    def convert(self, records: Iterable[ConsumedRecord]) -> list[SinkRecord]:
        """The sink records of a batch, without those that were dropped or skipped.

        Raises:
            ConnectError: A record cannot be handled and that is not tolerated.
        """
        converted: list[SinkRecord] = []
        add = converted.append
        readers = self._readers
        stages = self._stages
        new = SinkRecord._make
        for record in records:
            # One record costs a few microseconds here, so that nothing is wrapped that need not be: the error handler
            # is called only after a failure.
            topic, partition, offset, key, value, timestamp, timestamp_type, headers = record
            try:
                read_key, read_value = readers[topic]
            except KeyError:
                read_key, read_value = self._topic_readers(topic)
            try:
                key_schema, key = read_key(key)
            except Exception as error:  # noqa: BLE001 - any failure of a converter
                pair = self._recover(Stage.KEY_CONVERTER, self._key_converter, read_key, record, error)
                if pair is SKIPPED:
                    continue
                key_schema, key = pair
            try:
                value_schema, value = read_value(value)
            except Exception as error:  # noqa: BLE001 - any failure of a converter
                pair = self._recover(Stage.VALUE_CONVERTER, self._value_converter, read_value, record, error)
                if pair is SKIPPED:
                    continue
                value_schema, value = pair
            connect_headers: ConnectHeaders | Skipped = NO_CONNECT_HEADERS
            if headers:
                connect_headers = self._read_headers(record)
                if connect_headers is SKIPPED:
                    continue
            current: ConnectRecord | None = new((
                topic, partition, key_schema, key, value_schema, value, timestamp, connect_headers,
                offset, timestamp_type, topic, partition, offset,
            ))  # fmt: skip
            for class_name, apply in stages:
                try:
                    current = apply(current)  # type: ignore[arg-type]  # the loop ends with None
                except Exception as error:  # noqa: BLE001 - any failure of a transform
                    current = self._retransform(class_name, apply, current, record, error)
                if current is None:
                    break
            if current is not None:
                add(current)  # type: ignore[arg-type]  # transforms of sink records give sink records
        return converted

    def convert_columns(self, columns: ConsumedColumns) -> SinkColumns | list[SinkRecord]:
        """What `convert` gives for the same records, in a third of the time; by columns where nothing needs single records.

        Raises:
            ConnectError: A record cannot be handled and that is not tolerated.
        """
        topic, partition, offsets, raw_keys, raw_values, timestamps, kinds, headers = columns
        if headers is not None:
            return self.convert(columns.rows())
        read_key, read_value = self._readers.get(topic) or self._topic_readers(topic)
        try:
            key_schemas, keys = _read_column(self._key_converter.column_reader(topic), read_key, raw_keys)
            value_schemas, values = _read_column(self._value_converter.column_reader(topic), read_value, raw_values)
        except Exception:  # noqa: BLE001 - which record it is, and what is to be done, is found one by one
            return self.convert(columns.rows())
        stages = self._stages
        if self._map_functions and are_plain_maps(value_schemas, values):
            try:
                for change in self._map_functions:
                    values = list(map(change, values))
            except Exception:  # noqa: BLE001 - as above
                return self.convert(columns.rows())
            stages = stages[len(self._map_functions) :]
        converted = SinkColumns(topic, partition, offsets, key_schemas, keys, value_schemas, values, timestamps, kinds)
        return self._transformed(converted.records(), stages, columns) if stages else converted

    def _transformed(self, records: list[SinkRecord], stages: Stages, columns: ConsumedColumns) -> list[SinkRecord]:
        transformed: list[SinkRecord] = []
        for index, record in enumerate(records):
            current: ConnectRecord | None = record
            for class_name, apply in stages:
                try:
                    current = apply(current)  # type: ignore[arg-type]  # the loop ends with None
                except Exception as error:  # noqa: BLE001 - any failure of a transform
                    current = self._retransform(class_name, apply, current, columns.row(index), error)
                if current is None:
                    break
            if current is not None:
                transformed.append(current)  # type: ignore[arg-type]  # transforms of sink records give sink records
        return transformed

    def _topic_readers(self, topic: str) -> tuple[Read, Read]:
        readers = (self._key_converter.reader(topic), self._value_converter.reader(topic))
        self._readers[topic] = readers
        return readers

    def _recover(
        self, stage: Stage, converter: Converter, read: Read, record: ConsumedRecord, error: Exception
    ) -> Pair | Skipped:
        data = record.key if stage is Stage.KEY_CONVERTER else record.value
        return self._operator.recover(stage, executing_class(converter), lambda: read(data), record, error)

    def _retransform(
        self,
        class_name: str,
        apply: Callable[[ConnectRecord], ConnectRecord | None],
        current: ConnectRecord | None,
        record: ConsumedRecord,
        error: Exception,
    ) -> ConnectRecord | None:
        assert current is not None
        again = self._operator.recover(Stage.TRANSFORMATION, class_name, lambda: apply(current), record, error)
        return None if again is SKIPPED else again

    def _read_headers(self, record: ConsumedRecord) -> ConnectHeaders | Skipped:
        converter = self._header_converter

        def read() -> ConnectHeaders:
            headers = []
            for name, data in record.headers:
                schema, value = converter.to_connect_header(record.topic, name, data)
                headers.append(Header(name, value, schema))
            return ConnectHeaders(headers)

        return self._operator.execute(Stage.HEADER_CONVERTER, executing_class(converter), read, record)


def _read_column(
    column: ColumnRead | None, read: Read, data: Sequence[bytes | None]
) -> tuple[Sequence[Schema | None], Sequence[Any]]:
    """Schemas and values of some keys or values."""
    if not data or (data[0] is None and data.count(None) == len(data)):  # topics without keys
        schema, value = read(None)
        return [schema] * len(data), [value] * len(data)
    if column is not None:
        schema, read_plain = column
        try:
            return [schema] * len(data), list(map(read_plain, data))
        except Exception:  # noqa: BLE001, S110 - something unusual is among them
            pass
    pairs = list(map(read, data))
    return [schema for schema, _ in pairs], [value for _, value in pairs]


def _map_functions(chain: TransformationChain | None) -> list[Callable[[dict[str, Any]], dict[str, Any]]]:
    """The functions of the first stages, as far as they have one."""
    found = []
    for stage in chain.stages if chain is not None else ():
        function = stage.transformation.map_function() if stage.predicate is None else None
        if function is None:
            break
        found.append(function)
    return found
