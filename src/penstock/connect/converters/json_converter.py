"""JsonConverter: JSON, with the schema in each message or without any."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar

import orjson

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import OneOf, Range
from penstock.connect.converters.converter import ColumnRead, Converter, Read, Write
from penstock.connect.converters.json_reader import InexactNumberError, JsonReader
from penstock.connect.converters.json_schema import schema_from_json, schema_to_json
from penstock.connect.converters.json_writer import JsonWriter, write_schemaless
from penstock.connect.data import NULL_SCHEMA_AND_VALUE, Schema, SchemaAndValue
from penstock.connect.errors import DataError

_NO_ENVELOPE = (
    'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain additional fields. '
    "If you are trying to deserialize plain JSON data, set schemas.enable=false in your converter configuration."
)
# Zeros in front of a number are no JSON, but Kafka reads them. Texts are matched first, so that nothing in them changes.
_LEADING_ZEROS = re.compile(rb'("(?:[^"\\]|\\.)*")|(?<![0-9.eE+])(-?)0+(?=[0-9])')
_PAYLOAD = re.compile(rb'"payload"\s*:\s*')


class JsonConverter(Converter):
    """JSON objects `{"schema": ..., "payload": ...}`, or plain JSON with `schemas.enable=false`.

    >>> JsonConverter({"schemas.enable": "false"}).to_connect_data("t", b'{"a": 1}')
    SchemaAndValue(schema=None, value={'a': 1})
    """

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="schemas.enable",
            type=ConfigType.BOOLEAN,
            default=True,
            importance=Importance.HIGH,
            doc="Whether each message carries its schema.",
        ),
        ConfigKey(
            name="schemas.cache.size",
            type=ConfigType.INT,
            default=1000,
            validator=Range(at_least=1),
            importance=Importance.HIGH,
            doc="The number of schemas that are kept, so that they are not read again with each message.",
        ),
        ConfigKey(
            name="decimal.format",
            default="BASE64",
            validator=OneOf("BASE64", "NUMERIC", ignore_case=True),
            importance=Importance.LOW,
            doc="How decimals are written: BASE64 of their digits, or NUMERIC as numbers. Both are read.",
        ),
        ConfigKey(
            name="replace.null.with.default",
            type=ConfigType.BOOLEAN,
            default=True,
            importance=Importance.LOW,
            doc="Whether a null field that has a default is replaced with it; otherwise it stays null.",
        ),
        ConfigKey(
            name="schema.content",
            default=None,
            importance=Importance.HIGH,
            doc="The schema of all messages, as JSON, when they do not carry one. Needs schemas.enable.",
        ),
    )

    def __init__(self, settings: Mapping[str, Any] | None = None, *, is_key: bool = False) -> None:
        super().__init__(settings, is_key=is_key)
        replace: bool = self.settings["replace.null.with.default"]
        numeric = self.settings["decimal.format"].upper() == "NUMERIC"
        self._schemas_enable: bool = self.settings["schemas.enable"]
        self._cache_size: int = self.settings["schemas.cache.size"]
        self._reader = JsonReader(replace_null_with_default=replace)
        self._writer = JsonWriter(numeric_decimals=numeric, replace_null_with_default=replace)
        self._decoders: OrderedDict[bytes, _Decoder] = OrderedDict()
        self._encoders: OrderedDict[Schema, _Encoder] = OrderedDict()
        self._readers: dict[str, Read] = {}
        self._write = self.writer("")
        self._fixed = self._fixed_decoder(self.settings["schema.content"])

    def _fixed_decoder(self, content: str | None) -> _Decoder | None:
        if not content or not self._schemas_enable:
            return None
        try:
            schema = schema_from_json(orjson.loads(content), self._read_default)
        except orjson.JSONDecodeError as error:
            raise DataError(
                f"Failed to parse schema in converter config due to serialization error: {error}",
                hint="schema.content must be a JSON object with a type.",
            ) from error
        if schema is None:
            raise DataError("schema.content is null", hint="Leave it out if messages have their own schema.")
        return _Decoder(schema, self._reader.reader(schema))

    def _read_default(self, schema: Schema, written: Any) -> Any:
        try:
            return self._reader.read(schema, written)
        except InexactNumberError:
            return self._reader.read(schema, _parse_exactly(orjson.dumps(written)))

    def to_connect_data(self, topic: str, data: bytes | None) -> SchemaAndValue:
        read = self._readers.get(topic)
        if read is None:
            read = self._readers[topic] = self.reader(topic)
        return SchemaAndValue(*read(data))

    def from_connect_data(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        return self._write(schema, value)

    def reader(self, topic: str) -> Read:
        if not self._schemas_enable:
            return _schemaless_reader(topic)
        fixed = self._fixed
        if fixed is not None:
            return lambda data: (
                NULL_SCHEMA_AND_VALUE if data is None else fixed.read(_parse(data, topic), lambda: _parse_exactly(data))
            )
        return self._envelope_reader(topic)

    def column_reader(self, topic: str) -> ColumnRead | None:
        # Raises for null, for no JSON, and for zeros in front of numbers.
        return None if self._schemas_enable else (None, orjson.loads)  # type: ignore[return-value]

    def _envelope_reader(self, topic: str) -> Read:
        # The messages of a topic begin with the same bytes, up to the payload: schema and all. Where a message begins
        # as the last one did, only its payload is parsed, and its schema is that of the last one.
        prefix = b""
        size = 0
        known: _Decoder | None = None
        schema: Schema | None = None
        convert: Callable[[Any], Any] = _nothing

        def read(data: bytes | None) -> tuple[Schema | None, Any]:
            if data is None:
                return NULL_SCHEMA_AND_VALUE
            if known is not None and data.startswith(prefix) and data.endswith(b"}"):
                try:
                    payload = known.parse(data[size:-1])
                except ValueError:
                    # More fields follow, or it is no JSON at all: the long way finds out.
                    return read_all(data)
                try:
                    return (schema, convert(payload))
                except InexactNumberError:
                    known.parse = _parse_exactly
            return read_all(data)

        def read_all(data: bytes) -> tuple[Schema | None, Any]:
            nonlocal prefix, size, known, schema, convert
            envelope = _parse(data, topic)
            if not isinstance(envelope, dict) or envelope.keys() != {"schema", "payload"}:
                raise DataError(_NO_ENVELOPE)
            if envelope["schema"] is None:
                return (None, envelope["payload"])
            found = self._decoder(envelope["schema"])
            start = _payload_start(data, envelope["schema"])
            if start is not None:
                known, prefix, size = found, data[:start], start
                schema, convert = found.schema, found.convert
            return found.read(envelope["payload"], lambda: _parse_exactly(data)["payload"])

        return read

    def _decoder(self, written: Any) -> _Decoder:
        key = orjson.dumps(written)
        decoder = self._decoders.get(key)
        if decoder is None:
            schema = schema_from_json(written, self._read_default)
            assert schema is not None  # null was told apart before
            decoder = self._decoders[key] = _Decoder(schema, self._reader.reader(schema))
            if len(self._decoders) > self._cache_size:
                self._decoders.popitem(last=False)
        return decoder

    def writer(self, topic: str) -> Write:
        envelope = self._schemas_enable
        schema_of_last: Schema | None = None
        last: _Encoder | None = None

        def write(schema: Schema | None, value: Any) -> bytes | None:
            nonlocal schema_of_last, last
            if schema is None:
                if value is None:
                    return None
                written = write_schemaless(value)
                return b'{"schema":null,"payload":' + written + b"}" if envelope else written
            if last is None or schema is not schema_of_last:
                last, schema_of_last = self._encoder(schema), schema
            try:
                written = last.write(value)
            except orjson.JSONEncodeError as error:
                raise DataError(
                    f"Converting Kafka Connect data to byte[] failed due to serialization error: {error}"
                ) from error
            return last.head + written + b"}" if envelope else written

        return write

    def write_all(self, topic: str, schema: Schema | None, values: Sequence[Any]) -> Sequence[bytes | None]:
        if schema is None:
            return super().write_all(topic, schema, values)
        encoder = self._encoder(schema)
        try:
            written = encoder.write_lines(values).split(b"\n")  # a line end inside a value is escaped
        except orjson.JSONEncodeError:
            return super().write_all(topic, schema, values)  # tells which
        written.pop()  # behind the last line end
        head = encoder.head
        return [head + one + b"}" for one in written] if self._schemas_enable else written

    def _encoder(self, schema: Schema) -> _Encoder:
        encoder = self._encoders.get(schema)
        if encoder is None:
            head = b""
            if self._schemas_enable:
                written = orjson.dumps(schema_to_json(schema, self._writer.json_value))
                head = b'{"schema":' + written + b',"payload":'
            writer = self._writer
            encoder = self._encoders[schema] = _Encoder(head, writer.writer(schema), writer.lines_writer(schema))
            if len(self._encoders) > self._cache_size:
                self._encoders.popitem(last=False)
        return encoder


class _Encoder:
    """How values of one schema are written."""

    __slots__ = ("head", "write", "write_lines")

    def __init__(
        self, head: bytes, write: Callable[[Any], bytes], write_lines: Callable[[Sequence[Any]], bytes]
    ) -> None:
        self.head = head
        self.write = write
        self.write_lines = write_lines


class _Decoder:
    """How payloads of one schema are read."""

    __slots__ = ("convert", "parse", "schema")

    def __init__(self, schema: Schema, convert: Callable[[Any], Any]) -> None:
        self.schema = schema
        self.convert = convert
        # Replaced once decimals came as numbers: floats would lose digits.
        self.parse: Callable[[bytes], Any] = orjson.loads

    def read(self, value: Any, parse_again: Callable[[], Any]) -> tuple[Schema, Any]:
        """The value of a parsed payload; parsed again with all digits if a decimal came as a float."""
        try:
            return (self.schema, self.convert(value))
        except InexactNumberError:
            self.parse = _parse_exactly
            return (self.schema, self.convert(parse_again()))


def _nothing(value: Any) -> Any:
    return value


def _schemaless_reader(topic: str) -> Read:
    loads = orjson.loads

    def read(data: bytes | None) -> tuple[Schema | None, Any]:
        if not data:
            return NULL_SCHEMA_AND_VALUE
        try:
            return (None, loads(data))
        except orjson.JSONDecodeError:
            return (None, _parse(data, topic))

    return read


def _parse(data: bytes, topic: str) -> Any:
    """The JSON value of some bytes; zeros in front of numbers are allowed."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        try:
            return orjson.loads(_without_leading_zeros(data))
        except orjson.JSONDecodeError:
            raise DataError(
                f"Converting byte[] to Kafka Connect data failed due to serialization error: {error} (topic {topic})",
                hint="The message is no JSON. Is another converter needed for this topic?",
            ) from error


def _parse_exactly(data: bytes) -> Any:
    return json.loads(_without_leading_zeros(data), parse_float=Decimal)


def _without_leading_zeros(data: bytes) -> bytes:
    return _LEADING_ZEROS.sub(lambda match: match[1] or match[2] or b"", data)


def _payload_start(data: bytes, written: Any) -> int | None:
    """Where the payload begins, if the schema comes first; None if it does not, or if that cannot be told."""
    for match in _PAYLOAD.finditer(data):
        try:
            head = orjson.loads(data[: match.end()] + b"null}")
        except orjson.JSONDecodeError:
            continue
        return match.end() if head == {"schema": written, "payload": None} else None
    return None
