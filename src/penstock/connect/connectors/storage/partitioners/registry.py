"""Partitioners and timestamp extractors by name."""

from __future__ import annotations

from penstock.connect.connectors.storage.partitioners.extractors import TimestampExtractor
from penstock.connect.connectors.storage.partitioners.partitioner import Partitioner
from penstock.connect.plugins import Plugin, Plugins

_HERE = "penstock.connect.connectors.storage.partitioners"
_PARTITIONERS = {
    "DefaultPartitioner": f"{_HERE}.default:DefaultPartitioner",
    "FieldPartitioner": f"{_HERE}.field:FieldPartitioner",
    "TimeBasedPartitioner": f"{_HERE}.time_based:TimeBasedPartitioner",
    "DailyPartitioner": f"{_HERE}.time_based:DailyPartitioner",
    "HourlyPartitioner": f"{_HERE}.time_based:HourlyPartitioner",
}
_STORAGE = "io.confluent.connect.storage.partitioner"

PARTITIONERS: Plugins[Partitioner] = Plugins(
    "partitioner",
    Partitioner,  # type: ignore[type-abstract]
    tuple(
        Plugin(f"{package}.{name}", target)
        for package in (_STORAGE, "io.confluent.connect.hdfs.partitioner", "io.confluent.connect.hdfs3.partitioner")
        for name, target in _PARTITIONERS.items()
    ),
    suffix="Partitioner",
    entry_point_group="penstock.storage_partitioners",
)

_EXTRACTORS = ("Wallclock", "Record", "RecordField")
EXTRACTORS: Plugins[TimestampExtractor] = Plugins(
    "timestamp extractor",
    TimestampExtractor,  # type: ignore[type-abstract]
    (
        *(Plugin(n, f"{_HERE}.extractors:{n}TimestampExtractor") for n in _EXTRACTORS),
        *(
            Plugin(
                f"{_STORAGE}.TimeBasedPartitioner${n}TimestampExtractor", f"{_HERE}.extractors:{n}TimestampExtractor"
            )
            for n in _EXTRACTORS
        ),
    ),
    entry_point_group="penstock.timestamp_extractors",
)
