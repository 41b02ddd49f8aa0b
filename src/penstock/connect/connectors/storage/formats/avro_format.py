"""Avro container files."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from typing import Any, BinaryIO, NamedTuple

import orjson
from fastavro import parse_schema, schemaless_writer
from fastavro.schema import SchemaParseException, UnknownType
from fastavro.write import Writer

from penstock.connect.connectors.storage.formats.avro_types import PRECISION, AvroSchemas, avro_step
from penstock.connect.connectors.storage.formats.format import Format, FormatWriter, required_schema
from penstock.connect.connectors.storage.formats.schema_parts import check_decimals
from penstock.connect.data import Schema
from penstock.connect.errors import DataError

_BLOCK_BYTES = 64 << 10


class _Block(NamedTuple):
    """Values encoded, in the shape fastavro takes blocks in."""

    num_records: int
    bytes_: io.BytesIO


class AvroWriter(FormatWriter):
    """Writes blocks of values.

    Args:
        file: Where to.
        schema: The schema of the values.
        codec: How blocks are compressed.
    """

    def __init__(self, file: BinaryIO, schema: Schema, codec: str) -> None:
        avro = AvroSchemas().of(schema)
        self._encode = schemaless_writer
        # Values come as the base types of their logical types, so that is what they are encoded as.
        self._bare = parse_schema(_without_logical_types(avro))
        self._step = avro_step(schema)
        marker = hashlib.md5(orjson.dumps(avro), usedforsecurity=False).digest()  # always the same for a schema
        self._writer: Any = Writer(file, parse_schema(avro), codec=codec, sync_marker=marker)
        self._count = 0
        self._block = io.BytesIO()

    def encode(self, values: Sequence[Any]) -> _Block:
        step, write, schema, block = self._step, self._encode, self._bare, io.BytesIO()
        try:
            for value in values:
                write(block, schema, value if step is None else step(value))
        except (ValueError, TypeError, OverflowError, AttributeError) as error:
            raise DataError(f"a value does not fit its schema: {error}") from error
        return _Block(len(values), block)

    def append(self, encoded: _Block) -> None:
        data = encoded.bytes_.getbuffer()
        self.size += len(data)
        self._block.write(data)
        self._count += encoded.num_records
        if self._block.tell() >= _BLOCK_BYTES:
            self.spill()

    def memory(self) -> int:
        return self._block.tell()

    def spill(self) -> None:
        if self._count:
            self._writer.write_block(_Block(self._count, self._block))
            self._count, self._block = 0, io.BytesIO()

    def close(self) -> None:
        self.spill()
        self._writer.flush()

    def abandon(self) -> None:
        """There is nothing that would write by itself."""


class AvroFormat(Format):
    """Avro container files, with the schema in each."""

    @property
    def extension(self) -> str:
        return ".avro"

    def check(self, schema: Schema | None) -> None:
        known = required_schema(schema, "AvroFormat")
        check_decimals(known, "AvroFormat", default=PRECISION)
        try:
            parse_schema(AvroSchemas().of(known))
        except (SchemaParseException, UnknownType) as error:
            raise DataError(f"the schema has no form in Avro: {error}") from error

    def open(self, file: BinaryIO, schema: Schema | None) -> AvroWriter:
        return AvroWriter(file, required_schema(schema, "AvroFormat"), self.settings["avro.codec"])


def _without_logical_types(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_logical_types(part) for part in schema]
    if isinstance(schema, dict):
        return {key: _without_logical_types(part) for key, part in schema.items() if key != "logicalType"}
    return schema
