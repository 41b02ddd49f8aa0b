"""StringConverter: text, in the encoding of your choice."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from operator import methodcaller
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, Importance
from penstock.connect.config.validators import Check
from penstock.connect.converters.converter import ColumnRead, Converter, Read
from penstock.connect.data import OPTIONAL_STRING_SCHEMA, Schema, SchemaAndValue, java_text
from penstock.connect.errors import DataError, invalid_value


def _encoding(key: str, value: Any) -> None:
    try:
        codecs.lookup(value)
    except LookupError:
        raise invalid_value(key, value, "Unknown encoding") from None


class StringConverter(Converter):
    """Any value by its text, read back as a string.

    >>> StringConverter().from_connect_data("t", None, 5)
    b'5'
    """

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="converter.encoding",
            default="UTF-8",
            validator=Check(_encoding, "name of an encoding"),
            importance=Importance.HIGH,
            doc="Encoding of the bytes.",
        ),
    )

    def __init__(self, settings: Mapping[str, Any] | None = None, *, is_key: bool = False) -> None:
        super().__init__(settings, is_key=is_key)
        self._encoding: str = self.settings["converter.encoding"]

    def from_connect_data(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        if value is None:
            return None
        try:
            return java_text(schema, value).encode(self._encoding)
        except UnicodeEncodeError as error:
            raise DataError(
                f"Failed to serialize to a string for topic {topic}: {self._encoding} cannot write {error.object[error.start : error.end]!r}"
            ) from error

    def reader(self, topic: str) -> Read:
        encoding, null = self._encoding, (OPTIONAL_STRING_SCHEMA, None)

        def read(data: bytes | None) -> tuple[Schema | None, Any]:
            if data is None:
                return null
            try:
                return (OPTIONAL_STRING_SCHEMA, data.decode(encoding))
            except UnicodeDecodeError:
                return self.to_connect_data(topic, data)  # which says what is wrong

        return read

    def column_reader(self, topic: str) -> ColumnRead | None:
        decode: Any = methodcaller("decode", self._encoding)  # raises for null
        return OPTIONAL_STRING_SCHEMA, decode

    def to_connect_data(self, topic: str, data: bytes | None) -> SchemaAndValue:
        if data is None:
            return SchemaAndValue(OPTIONAL_STRING_SCHEMA, None)
        try:
            return SchemaAndValue(OPTIONAL_STRING_SCHEMA, data.decode(self._encoding))
        except UnicodeDecodeError as error:
            raise DataError(
                f"Failed to deserialize string of topic {topic}: {error}",
                hint="Set converter.encoding, or use ByteArrayConverter if the bytes are no text.",
            ) from error
