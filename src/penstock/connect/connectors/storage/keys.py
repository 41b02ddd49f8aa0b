"""The settings all storage sinks have."""

from __future__ import annotations

from typing import Any

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import NonEmpty, OneOf, Range
from penstock.connect.errors import invalid_value

_LONG, _INT = ConfigType.LONG, ConfigType.INT
AVRO = "io.confluent.connect.hdfs.avro.AvroFormat"
_DEFAULT_PARTITIONER = "io.confluent.connect.storage.partitioner.DefaultPartitioner"


class _NotEmptyText:
    """A text with at least one character, for what separates others."""

    def __call__(self, key: str, value: Any) -> None:
        if not value:
            raise invalid_value(key, value, "String must be non-empty")

    def __str__(self) -> str:
        return "non-empty string"


FORMAT = ConfigKey(
    name="format.class",
    type=ConfigType.CLASS,
    importance=Importance.HIGH,
    doc="How files are written: ParquetFormat, AvroFormat, JsonFormat, StringFormat, ByteArrayFormat, OrcFormat, CsvFormat.",
)
STORAGE_KEYS = ConfigDef(
    FORMAT,
    ConfigKey(
        name="flush.size",
        type=_INT,
        importance=Importance.HIGH,
        validator=Range(at_least=1),
        doc="Files of a partition are complete when so many records are in them.",
    ),
    ConfigKey(
        name="rotate.interval.ms",
        type=_LONG,
        default=-1,
        importance=Importance.HIGH,
        doc="With a time-based partitioner: files are complete when a record is so much younger than the first one in "
        "them, or belongs into another folder. -1 is never.",
    ),
    ConfigKey(
        name="rotate.schedule.interval.ms",
        type=_LONG,
        default=-1,
        doc="Files are complete when the clock passes a multiple of this, counted from midnight in `timezone`. -1 is never. "
        "In S3 it gives up exactly once: the clock does not say the same after a restart.",
    ),
    ConfigKey(
        name="rotate.file.bytes",
        type=_LONG,
        default=-1,
        doc="Files of a partition are complete when they have so many bytes before compression, looked at every 1000 "
        "records. -1 is never. Kafka Connect does not have this.",
    ),
    ConfigKey(
        name="topics.dir", default="topics", importance=Importance.HIGH, doc="The folder of the topics' folders."
    ),
    ConfigKey(name="directory.delim", default="/", validator=_NotEmptyText(), doc="What is between parts of a path."),
    ConfigKey(name="file.delim", default="+", validator=_NotEmptyText(), doc="What is between parts of a file's name."),
    ConfigKey(
        name="filename.offset.zero.pad.width",
        type=_INT,
        default=10,
        importance=Importance.LOW,
        validator=Range(at_least=0, at_most=19),
        doc="Digits of an offset in a file's name.",
    ),
    ConfigKey(
        name="partitioner.class",
        type=ConfigType.CLASS,
        default=_DEFAULT_PARTITIONER,
        importance=Importance.HIGH,
        doc="How records are divided into folders: DefaultPartitioner, FieldPartitioner, TimeBasedPartitioner, "
        "DailyPartitioner, HourlyPartitioner.",
    ),
    ConfigKey(
        name="partition.field.name",
        type=ConfigType.LIST,
        default="",
        doc="FieldPartitioner: the fields, with dots between the parts of a path.",
    ),
    ConfigKey(
        name="partition.field.format.path",
        type=ConfigType.BOOLEAN,
        default=True,
        doc="FieldPartitioner: whether folders have the names of the fields in theirs.",
    ),
    ConfigKey(
        name="partition.duration.ms", type=_LONG, default=-1, doc="TimeBasedPartitioner: how much time a folder is for."
    ),
    ConfigKey(
        name="path.format",
        default="",
        doc="TimeBasedPartitioner: the folder of a time, a pattern of Joda-Time: `'year'=YYYY/'month'=MM`.",
    ),
    ConfigKey(
        name="locale", default="", doc="Time-based partitioners: the language of names of months and days; English."
    ),
    ConfigKey(name="timezone", default="", doc="Time-based partitioners, schedule: `UTC`, `Europe/Oslo`, `+01:00`."),
    ConfigKey(
        name="timestamp.extractor",
        default="Wallclock",
        doc="Time-based partitioners: the time of a record. Wallclock: when it is written; Record: its timestamp; "
        "RecordField: a field of its value.",
    ),
    ConfigKey(name="timestamp.field", default="timestamp", doc="RecordField: the field."),
    ConfigKey(
        name="schema.compatibility",
        default="NONE",
        validator=OneOf("NONE", "BACKWARD", "FORWARD", "FULL"),
        doc="What happens when the schema changes. NONE: new files. BACKWARD, FULL: new files for a newer version, older "
        "records are converted. FORWARD: new files for an older version, newer records are converted.",
    ),
    ConfigKey(
        name="schema.cache.size",
        type=_INT,
        default=1000,
        importance=Importance.LOW,
        validator=Range(at_least=1),
        doc="How many comparisons of schemas are remembered.",
    ),
    ConfigKey(
        name="behavior.on.null.values",
        default="fail",
        importance=Importance.LOW,
        validator=OneOf("fail", "ignore", "write"),
        doc="Records without value: fail (or report, if errors are tolerated), leave out, or write their keys to files of "
        "their own, which needs store.kafka.keys.",
    ),
    ConfigKey(
        name="tombstone.encoded.partition",
        default="tombstone",
        importance=Importance.LOW,
        validator=NonEmpty(),
        doc="The folder for keys of records without value.",
    ),
    ConfigKey(
        name="store.kafka.keys",
        type=ConfigType.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        doc="Write keys, to a file beside that of the values.",
    ),
    ConfigKey(
        name="store.kafka.headers",
        type=ConfigType.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        doc="Write headers, to a file beside that of the values.",
    ),
    ConfigKey(
        name="keys.format.class",
        type=ConfigType.CLASS,
        default=AVRO,
        importance=Importance.LOW,
        doc="The format of keys.",
    ),
    ConfigKey(
        name="headers.format.class",
        type=ConfigType.CLASS,
        default=AVRO,
        importance=Importance.LOW,
        doc="The format of headers.",
    ),
    ConfigKey(
        name="avro.codec",
        default="null",
        importance=Importance.LOW,
        validator=OneOf("null", "deflate", "snappy", "bzip2"),
        doc="Compression of Avro files.",
    ),
    ConfigKey(
        name="parquet.codec",
        default="snappy",
        importance=Importance.LOW,
        validator=OneOf("none", "uncompressed", "snappy", "gzip", "brotli", "lz4", "zstd"),
        doc="Compression of Parquet files.",
    ),
    ConfigKey(
        name="json.decimal.format",
        default="BASE64",
        importance=Importance.LOW,
        validator=OneOf("BASE64", "NUMERIC"),
        doc="JsonFormat: how decimals are written.",
    ),
    ConfigKey(
        name="format.bytearray.extension",
        default=".bin",
        importance=Importance.LOW,
        doc="End of ByteArrayFormat's files.",
    ),
    ConfigKey(
        name="format.bytearray.separator",
        default=None,
        importance=Importance.LOW,
        doc="ByteArrayFormat: what is behind each value; a line end if it is not set.",
    ),
    ConfigKey(
        name="retry.backoff.ms",
        type=_LONG,
        default=5000,
        importance=Importance.LOW,
        doc="Kafka Connect's time between two tries. Here it begins with 0.3 seconds and grows to a minute.",
    ),
    ConfigKey(
        name="shutdown.timeout.ms",
        type=_LONG,
        default=3000,
        importance=Importance.LOW,
        doc="Kafka Connect's time for a task to end. Here files that are not complete are thrown away, and written again.",
    ),
)


def compression_keys(prefix: str) -> tuple[ConfigKey, ConfigKey]:
    """The settings of compression of text and bytes."""
    return (
        ConfigKey(
            name=f"{prefix}compression.type",
            default="none",
            importance=Importance.LOW,
            validator=OneOf("none", "gzip"),
            doc="Compression of JsonFormat, StringFormat, ByteArrayFormat and CsvFormat.",
        ),
        ConfigKey(
            name=f"{prefix}compression.level",
            type=ConfigType.INT,
            default=-1,
            importance=Importance.LOW,
            validator=Range(at_least=-1, at_most=9),
            doc="How hard to compress; -1 is the most.",
        ),
    )
