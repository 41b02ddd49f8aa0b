"""Converters of single numbers: big-endian, of fixed size."""

from __future__ import annotations

import struct
from typing import Any, ClassVar

from penstock.connect.converters.converter import Converter
from penstock.connect.data import (
    OPTIONAL_FLOAT32_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_INT16_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    Schema,
    SchemaAndValue,
    Type,
)
from penstock.connect.errors import DataError, shown


class NumberConverter(Converter):
    """Numbers of one type. Written from a value of exactly that type, read as its optional schema."""

    SCHEMA: ClassVar[Schema]
    FORMAT: ClassVar[struct.Struct]

    def from_connect_data(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        if schema is not None and schema.type is not self.SCHEMA.type:
            raise DataError(f"Invalid schema type for {type(self).__name__}: {schema.type}, not {self.SCHEMA.type}")
        if value is None:
            return None
        wanted = float if self.SCHEMA.type in {Type.FLOAT32, Type.FLOAT64} else int
        if type(value) is not wanted:
            raise self._refused(topic, value)
        try:
            return self.FORMAT.pack(value)
        except (struct.error, OverflowError):
            raise self._refused(topic, value) from None

    def _refused(self, topic: str, value: Any) -> DataError:
        return DataError(
            f"Failed to serialize {type(value).__name__} {shown(value)} as {self.SCHEMA.type} for topic {topic}"
        )

    def to_connect_data(self, topic: str, data: bytes | None) -> SchemaAndValue:
        if data is None:
            return SchemaAndValue(self.SCHEMA, None)
        if len(data) != self.FORMAT.size:
            raise DataError(
                f"Failed to deserialize {self.SCHEMA.type} of topic {topic}: "
                f"size of data is {len(data)} bytes, not {self.FORMAT.size}"
            )
        return SchemaAndValue(self.SCHEMA, self.FORMAT.unpack(data)[0])


class LongConverter(NumberConverter):
    """Ints of 8 bytes."""

    SCHEMA = OPTIONAL_INT64_SCHEMA
    FORMAT = struct.Struct(">q")


class IntegerConverter(NumberConverter):
    """Ints of 4 bytes."""

    SCHEMA = OPTIONAL_INT32_SCHEMA
    FORMAT = struct.Struct(">i")


class ShortConverter(NumberConverter):
    """Ints of 2 bytes."""

    SCHEMA = OPTIONAL_INT16_SCHEMA
    FORMAT = struct.Struct(">h")


class DoubleConverter(NumberConverter):
    """Floats of 8 bytes."""

    SCHEMA = OPTIONAL_FLOAT64_SCHEMA
    FORMAT = struct.Struct(">d")


class FloatConverter(NumberConverter):
    """Floats of 4 bytes."""

    SCHEMA = OPTIONAL_FLOAT32_SCHEMA
    FORMAT = struct.Struct(">f")
