"""Formats that Arrow writes: Parquet, ORC and CSV."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, BinaryIO, ClassVar, Protocol

import pyarrow as pa

from penstock.connect.connectors.storage.formats.arrow_columns import data_bytes, record_batch
from penstock.connect.connectors.storage.formats.arrow_types import MAX_PRECISION, PRECISION, arrow_schema
from penstock.connect.connectors.storage.formats.compression import Stream, compression_extension
from penstock.connect.connectors.storage.formats.format import Format, FormatWriter, required_schema
from penstock.connect.connectors.storage.formats.schema_parts import check_decimals, schema_parts
from penstock.connect.data import TIME_NAME, Schema, Struct, Type
from penstock.connect.errors import DataError

# Readers like row groups of about this size, and memory holds one for each open file.
_GROUP_ROWS, _GROUP_BYTES = 1_000_000, 64 << 20


_python_file: Any = partial(pa.PythonFile, mode="w")


class TableSink(Protocol):
    """What Arrow's writers have in common."""

    def write_table(self, table: pa.Table) -> None: ...

    def close(self) -> None: ...

    def abandon(self) -> None: ...


class ArrowWriter(FormatWriter):
    """Gathers columns and writes them in large groups.

    Args:
        schema: The schema of the structs.
        sink: Arrow's own writer.
    """

    def __init__(self, schema: Schema, sink: TableSink) -> None:
        self._schema = schema
        self._arrow = arrow_schema(schema)
        self._sink = sink
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._bytes = 0

    def encode(self, values: Sequence[Any]) -> pa.RecordBatch:
        kinds = set(map(type, values)) - {Struct}
        if kinds:
            raise DataError(f"a row must be a struct, and not {kinds.pop().__name__}")
        return record_batch(self._schema, self._arrow, values)

    def append(self, encoded: pa.RecordBatch) -> None:
        size = sum(map(data_bytes, encoded.columns))
        self.size += size
        self._bytes += size
        self._rows += encoded.num_rows
        self._waiting.append(encoded)
        if self._rows >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self.spill()

    def memory(self) -> int:
        return self._bytes

    def spill(self) -> None:
        if self._waiting:
            self._sink.write_table(pa.Table.from_batches(self._waiting).combine_chunks())
            self._waiting, self._rows, self._bytes = [], 0, 0

    def close(self) -> None:
        self.spill()
        self._sink.close()

    def abandon(self) -> None:
        self._waiting = []
        self._sink.abandon()


class ArrowFormat(Format):
    """A format of tables: each field of a struct is a column."""

    # Of decimals.
    max_digits: ClassVar[int | None] = None
    least_scale: ClassVar[int | None] = 0

    def check(self, schema: Schema | None) -> None:
        known = required_schema(schema, type(self).__name__)
        if known.type is not Type.STRUCT:
            raise DataError(
                f"{type(self).__name__} needs structs, and the schema of the record's value is {known.type}",
                hint="The transform HoistField$Value puts a value into a struct.",
            )
        scales = (self.least_scale, MAX_PRECISION)
        check_decimals(known, type(self).__name__, default=PRECISION, scales=scales, digits=self.max_digits)
        arrow_schema(known)

    def open(self, file: BinaryIO, schema: Schema | None) -> ArrowWriter:
        known = required_schema(schema, type(self).__name__)
        return ArrowWriter(known, self._sink(file, arrow_schema(known)))

    @abstractmethod
    def _sink(self, file: BinaryIO, schema: pa.Schema) -> TableSink:
        """Arrow's writer."""


class ParquetFormat(ArrowFormat):
    """Parquet files."""

    @property
    def _codec(self) -> str:
        return str(self.settings["parquet.codec"]).lower()

    @property
    def extension(self) -> str:
        # The name of the codec is part of the file's, as it is from Kafka Connect; uncompressed files have none.
        part = {"none": "", "uncompressed": "", "gzip": ".gz"}.get(self._codec, f".{self._codec}")
        return f"{part}.parquet"

    def check(self, schema: Schema | None) -> None:
        super().check(schema)
        assert schema is not None
        for name, part in schema_parts(schema):
            if name and part.type is Type.STRUCT and not part.fields:
                raise DataError(
                    f'ParquetFormat has no form for "{name}", a struct without fields',
                    hint="The transform ReplaceField$Value leaves it out.",
                )

    def _sink(self, file: BinaryIO, schema: pa.Schema) -> TableSink:
        from pyarrow.parquet import ParquetWriter

        codec = "none" if self._codec == "uncompressed" else self._codec
        make: Any = ParquetWriter
        return _ParquetSink(make(_python_file(file), schema, compression=codec))


class _ParquetSink:
    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write_table(self, table: pa.Table) -> None:
        self._writer.write_table(table)

    def close(self) -> None:
        self._writer.close()

    def abandon(self) -> None:
        self._writer.is_open = False  # or it would write its end when it is collected


class OrcFormat(ArrowFormat):
    """ORC files."""

    max_digits = 38

    @property
    def extension(self) -> str:
        return ".orc"

    def check(self, schema: Schema | None) -> None:
        super().check(schema)
        assert schema is not None
        if any(part.name == TIME_NAME for _, part in schema_parts(schema)):
            raise DataError(
                "ORC has no type for times of a day",
                hint="The transform TimestampConverter$Value makes others of them.",
            )

    def _sink(self, file: BinaryIO, schema: pa.Schema) -> TableSink:
        from pyarrow.orc import ORCWriter

        return _OrcSink(ORCWriter(_python_file(file), compression="ZLIB"))


class _OrcSink:
    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write_table(self, table: pa.Table) -> None:
        self._writer.write(table)

    def close(self) -> None:
        self._writer.close()

    def abandon(self) -> None:
        self._writer.is_open = False


class CsvFormat(ArrowFormat):
    """Text with commas: a line of names, then a line for each record; values that need it are in quotes."""

    least_scale = None

    @property
    def extension(self) -> str:
        return f".csv{compression_extension(self.settings)}"

    def check(self, schema: Schema | None) -> None:
        super().check(schema)
        fields = schema.fields if schema is not None else ()
        nested = next((field.name for field in fields if not field.schema.type.is_primitive), None)
        if nested is not None:
            raise DataError(
                f'CsvFormat has no form for the field "{nested}", which has parts', hint="The transform Flatten helps."
            )

    def open(self, file: BinaryIO, schema: Schema | None) -> ArrowWriter:
        known = required_schema(schema, type(self).__name__)
        return _CsvWriter(known, self._sink(file, arrow_schema(known)))

    def _sink(self, file: BinaryIO, schema: pa.Schema) -> TableSink:
        return _CsvSink(Stream(file, self.settings))


class _CsvWriter(ArrowWriter):
    """Bytes are written as they are, and the file is text."""

    def encode(self, values: Sequence[Any]) -> pa.RecordBatch:
        batch = super().encode(values)
        for field, column in zip(batch.schema, batch.columns, strict=True):
            if pa.types.is_binary(field.type):
                try:
                    column.cast(pa.string())
                except pa.ArrowInvalid as error:
                    raise DataError(
                        f'CsvFormat has no form for the bytes of the field "{field.name}", which are no UTF-8',
                        hint="JsonFormat writes bytes as base64.",
                    ) from error
        return batch


class _CsvSink:
    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._has_names = False

    def write_table(self, table: pa.Table) -> None:
        from pyarrow.csv import WriteOptions, write_csv

        buffer = pa.BufferOutputStream()
        write_csv(table, buffer, WriteOptions(include_header=not self._has_names))
        self._has_names = True
        self._stream.write(buffer.getvalue().to_pybytes())

    def close(self) -> None:
        self._stream.close()

    def abandon(self) -> None:
        self._stream.abandon()
