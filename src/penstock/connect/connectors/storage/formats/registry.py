"""Formats by name."""

from __future__ import annotations

from penstock.connect.connectors.storage.formats.format import Format
from penstock.connect.plugins import Plugin, Plugins

_HERE = "penstock.connect.connectors.storage.formats"
_TARGETS = {
    "avro.AvroFormat": f"{_HERE}.avro_format:AvroFormat",
    "json.JsonFormat": f"{_HERE}.line_formats:JsonFormat",
    "parquet.ParquetFormat": f"{_HERE}.arrow_formats:ParquetFormat",
    "string.StringFormat": f"{_HERE}.line_formats:StringFormat",
}
_S3 = {**_TARGETS, "bytearray.ByteArrayFormat": f"{_HERE}.line_formats:ByteArrayFormat"}
_HDFS = {**_TARGETS, "orc.OrcFormat": f"{_HERE}.arrow_formats:OrcFormat"}

FORMATS: Plugins[Format] = Plugins(
    "format",
    Format,  # type: ignore[type-abstract]
    (
        *(Plugin(f"io.confluent.connect.s3.format.{name}", target) for name, target in _S3.items()),
        *(Plugin(f"io.confluent.connect.hdfs.{name}", target) for name, target in _HDFS.items()),
        *(Plugin(f"io.confluent.connect.hdfs3.{name}", target) for name, target in _HDFS.items()),
        Plugin("penstock.CsvFormat", f"{_HERE}.arrow_formats:CsvFormat"),
    ),
    suffix="Format",
    entry_point_group="penstock.storage_formats",
)
