"""Formats of lines: JSON documents, texts, bytes with something between them."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from penstock.connect.connectors.storage.formats.compression import Stream, compression_extension
from penstock.connect.connectors.storage.formats.format import Format, FormatWriter
from penstock.connect.converters.json_writer import JsonWriter, write_schemaless_lines
from penstock.connect.data import Schema, java_text
from penstock.connect.errors import DataError

Encode = Callable[[Sequence[Any]], bytes]


class LineWriter(FormatWriter):
    """Writes a line for each value.

    Args:
        stream: Where to.
        lines: Makes the bytes of values, with what ends each of them.
    """

    def __init__(self, stream: Stream, lines: Encode) -> None:
        self._stream = stream
        self._lines = lines

    def encode(self, values: Sequence[Any]) -> bytes:
        try:
            return self._lines(values)
        except (TypeError, ValueError, IndexError) as error:  # a text that has no UTF-8, for instance
            raise DataError(f"a value has no form in this format: {error}") from error

    def append(self, encoded: bytes) -> None:
        self.size += len(encoded)
        self._stream.write(encoded)

    def close(self) -> None:
        self._stream.close()

    def abandon(self) -> None:
        self._stream.abandon()


class LineFormat(Format):
    """A format of lines."""

    def open(self, file: BinaryIO, schema: Schema | None) -> LineWriter:
        return LineWriter(Stream(file, self.settings), self._lines(schema))

    @abstractmethod
    def _lines(self, schema: Schema | None) -> Encode:
        """What makes lines of values of a schema."""


class JsonFormat(LineFormat):
    """A JSON document a line, without the schema."""

    @property
    def extension(self) -> str:
        return f".json{compression_extension(self.settings)}"

    def _lines(self, schema: Schema | None) -> Encode:
        if schema is None:
            return write_schemaless_lines
        return JsonWriter(numeric_decimals=self.settings["json.decimal.format"] == "NUMERIC").lines_writer(schema)


class StringFormat(LineFormat):
    """The text of each value, as Java's `toString` gives it, on a line."""

    @property
    def extension(self) -> str:
        return f".txt{compression_extension(self.settings)}"

    def _lines(self, schema: Schema | None) -> Encode:
        return lambda values: "".join([f"{v if type(v) is str else java_text(schema, v)}\n" for v in values]).encode()


class ByteArrayFormat(LineFormat):
    """The bytes of each value, with a separator behind them."""

    @property
    def extension(self) -> str:
        return f"{self.settings['format.bytearray.extension']}{compression_extension(self.settings)}"

    def _lines(self, schema: Schema | None) -> Encode:
        given = self.settings["format.bytearray.separator"]
        end = os.linesep.encode() if given is None else str(given).encode()
        return lambda values: end.join([*map(_bytes, values), b""])


def _bytes(value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise DataError(
        f"ByteArrayFormat needs bytes, and the record's value is {type(value).__name__}",
        hint="Set value.converter=org.apache.kafka.connect.converters.ByteArrayConverter.",
    )
