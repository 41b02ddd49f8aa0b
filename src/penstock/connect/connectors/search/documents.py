"""Values as JSON documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import orjson

from penstock.connect.converters.json_writer import JsonWriter, Step, write_schemaless
from penstock.connect.data import DECIMAL_NAME, Schema, SinkRecord, Type
from penstock.connect.data.logical import TEMPORAL_NAMES, to_millis
from penstock.connect.errors import DataError, shown

TIMESTAMP = "@timestamp"


class Documents:
    """Writes the values of records.

    Args:
        compact_maps: Whether maps with text keys become objects.
        timestamps: None for indices; for data streams the fields to take the timestamp from.
    """

    def __init__(self, *, compact_maps: bool, timestamps: Sequence[str] | None) -> None:
        self._by_schema = _DocumentWriter(compact_maps=compact_maps)
        self._plain = JsonWriter()
        self._timestamps = timestamps
        self._writers: dict[tuple[Schema, bool], Callable[[Any], bytes]] = {}

    def write(self, record: SinkRecord, *, ignore_schema: bool) -> bytes:
        """The document of a record.

        Raises:
            DataError: The value has no JSON form.
        """
        schema = record.value_schema
        if schema is None:
            written = write_schemaless(record.value)
        else:
            writer = self._writers.get((schema, ignore_schema))
            if writer is None:
                writer = (self._plain if ignore_schema else self._by_schema).writer(schema)
                self._writers[schema, ignore_schema] = writer
            written = writer(record.value)
        return written if self._timestamps is None else self._stamped(written, record.timestamp)

    def _stamped(self, written: bytes, timestamp: int | None) -> bytes:
        document = orjson.loads(written)
        if not isinstance(document, dict):
            return written
        found = next((name for name in self._timestamps or () if name in document), None)
        if found is not None:
            document[TIMESTAMP] = document[found]
        elif not self._timestamps or TIMESTAMP in self._timestamps:
            document[TIMESTAMP] = timestamp
        # Otherwise the server refuses it, and says that the timestamp is missing.
        return orjson.dumps(document)


class _DocumentWriter(JsonWriter):
    """Writes values as the mapping says: decimals as numbers, dates as milliseconds, other maps as lists of key and value."""

    def __init__(self, *, compact_maps: bool) -> None:
        super().__init__()
        self._compact = compact_maps

    def _plain_step(self, schema: Schema, *, special_floats: bool) -> Step | None:
        if schema.name in TEMPORAL_NAMES:
            # Also days: a date of the server counts milliseconds.
            return to_millis
        if schema.name == DECIMAL_NAME:
            return _number
        return super()._plain_step(schema, special_floats=special_floats)

    def _map(self, schema: Schema, *, special_floats: bool) -> Step | None:
        if self._compact and schema.key_schema is not None and schema.key_schema.type is Type.STRING:
            return super()._map(schema, special_floats=special_floats)
        write_keys = self._array(schema.key_schema, special_floats=special_floats)
        write_values = self._array(schema.value_schema, special_floats=special_floats)

        def write(value: dict[Any, Any]) -> list[dict[str, Any]]:
            keys, values = list(value), list(value.values())
            keys = keys if write_keys is None else write_keys(keys)
            values = values if write_values is None else write_values(values)
            return [{"key": key, "value": one} for key, one in zip(keys, values, strict=True)]

        return write


def _number(value: Decimal) -> float:
    number = float(value)
    if not math.isfinite(number):
        # JSON would say null.
        raise DataError(f"The decimal {shown(value)} is too large for a number of the index.")
    return number
