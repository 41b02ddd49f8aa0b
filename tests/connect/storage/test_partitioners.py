from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from penstock.connect.connectors.storage.keys import STORAGE_KEYS
from penstock.connect.connectors.storage.partitioners.default import DefaultPartitioner
from penstock.connect.connectors.storage.partitioners.extractors import RecordTimestampExtractor
from penstock.connect.connectors.storage.partitioners.joda_pattern import JodaPattern
from penstock.connect.connectors.storage.partitioners.partitioner import Partitioned, Partitioner, PartitionError
from penstock.connect.connectors.storage.partitioners.registry import EXTRACTORS, PARTITIONERS
from penstock.connect.connectors.storage.partitioners.time_zone import LocalTime, parse_zone
from penstock.connect.data import INT64_SCHEMA, TIMESTAMP_SCHEMA, SchemaBuilder, SinkRecord, Struct
from penstock.connect.errors import ConfigError
from tests.connect.storage.running_sink import EVERYTHING, RunningSink, everything, files, local, record

UTC = timezone.utc
NOON = int(datetime(2024, 2, 29, 12, 30, 15, 250_000, tzinfo=UTC).timestamp() * 1000)
TIME = {"locale": "en-US", "timezone": "UTC", "timestamp.extractor": "Record"}


def partitioner(name: str, **config: str) -> Partitioner:
    given = {key.replace("_", "."): value for key, value in config.items()}
    settings = STORAGE_KEYS.parse({"format.class": "x", "flush.size": "1", **given})
    return PARTITIONERS.find(name)(settings)


def timed(name: str, **config: str) -> Partitioner:
    return partitioner(name, **{key.replace(".", "_"): value for key, value in TIME.items()}, **config)


def folder(made: Partitioner, given: SinkRecord) -> str:
    (found,) = made.partition([given]).folders
    assert made.folder(given) == found
    return found


def test_by_partition() -> None:
    made = partitioner("io.confluent.connect.storage.partitioner.DefaultPartitioner")
    assert folder(made, record(0, original_partition=3)) == "partition=3"


def test_by_field() -> None:
    made = partitioner("FieldPartitioner", partition_field_name="name,ok,tiny")
    assert folder(made, record(0, everything(4), EVERYTHING)) == "name=Bjørn 4/ok=true/tiny=4"
    assert folder(made, record(0, everything(3), EVERYTHING)) == "name=null/ok=false/tiny=3"
    assert folder(made, record(0, {"name": "x", "ok": None, "tiny": 1}, None)) == "name=x/ok=null/tiny=1"


def test_by_a_field_within_others() -> None:
    made = partitioner("FieldPartitioner", partition_field_name="address.number")
    assert folder(made, record(0, everything(1), EVERYTHING)) == "address.number=1"
    assert folder(made, record(0, {"address": {"number": 8}}, None)) == "address.number=8"
    assert folder(made, record(0, everything(4), EVERYTHING)) == "address.number=null"


def test_a_value_cannot_lead_out_of_its_folder(tmp_path: Path) -> None:
    made = partitioner("FieldPartitioner", partition_field_name="a", partition_field_format_path="false")
    assert folder(made, record(0, {"a": ".."}, None)) == "%2E%2E"
    assert folder(made, record(0, {"a": "../../etc"}, None)) == "..%2F..%2Fetc"
    config = local(tmp_path / "lake", partitioner_class="FieldPartitioner", partition_field_name="a", flush_size="1")
    with RunningSink("FileSystemSink", config) as sink:
        sink.put([record(0, {"a": "/../../../x\0y"}, None, topic="../elsewhere")])
    (path,) = files(tmp_path / "lake")
    assert path == "..%2Felsewhere/a=%2F..%2F..%2F..%2Fx%00y/orders+0+0000000000+0000000000.json"


@pytest.mark.parametrize("zone", ["UTC", "Europe/Oslo", "Asia/Kathmandu", "Africa/Monrovia", "+05:30"])
@pytest.mark.parametrize("begin", [datetime(2024, 3, 31, 0, 58, tzinfo=UTC), datetime(1972, 1, 7, 0, 43, tzinfo=UTC)])
def test_many_records_get_the_folders_that_each_gets_alone(zone: str, begin: datetime) -> None:
    """Around changes of the clock, and where it differed from UTC by half minutes."""
    first = int(begin.timestamp() * 1000)
    records = [record(i, timestamp=first + i * 997) for i in range(400)]
    for made in (
        partitioner("HourlyPartitioner", locale="en", timezone=zone, timestamp_extractor="Record"),
        partitioner("TimeBasedPartitioner", locale="en", timezone=zone, timestamp_extractor="Record",
                    path_format="HH-mm-ss", partition_duration_ms="20000"),
    ):  # fmt: skip
        alone = [made.folder(one) for one in records]
        assert made.partition(records).folders == alone
        for at in range(0, len(records), 10):  # most of these are within one folder
            assert made.partition(records[at : at + 10]).folders == alone[at : at + 10]


@pytest.mark.parametrize(
    ("value", "schema", "reason"),
    [
        (everything(1), EVERYTHING, 'The field "at" is a date or time'),
        ({"at": 1.5}, None, 'The field "at" is float'),
        ({"b": 1}, None, 'The value has no field "at"'),
        ("text", None, 'The value has no field "at"'),
    ],
)
def test_by_a_field_that_makes_no_folder(value: Any, schema: Any, reason: str) -> None:
    with pytest.raises(PartitionError, match=reason):
        partitioner("FieldPartitioner", partition_field_name="at").partition([record(0, value, schema)])


def test_records_without_time_are_refused_among_others() -> None:
    made = partitioner("HourlyPartitioner", locale="en", timezone="UTC", timestamp_extractor="Record")
    for missing in (None, -1):
        with pytest.raises(PartitionError, match="has no timestamp"):
            made.partition([record(0, timestamp=NOON), record(1, timestamp=missing)])


def test_by_hour_and_day() -> None:
    given = record(0, timestamp=NOON)
    assert folder(timed("HourlyPartitioner"), given) == "year=2024/month=02/day=29/hour=12"
    assert folder(timed("DailyPartitioner"), given) == "year=2024/month=02/day=29"


def test_by_time_in_a_zone() -> None:
    made = partitioner(
        "TimeBasedPartitioner",
        partition_duration_ms="600000",
        path_format="'d'=YYYY-MM-dd/'t'=HHmm",
        locale="en",
        timezone="America/New_York",
        timestamp_extractor="Record",
    )
    assert folder(made, record(0, timestamp=NOON)) == "d=2024-02-29/t=0730"
    # The hour that comes twice when summer ends: local time is what counts.
    before = int(datetime(2024, 11, 3, 5, 31, tzinfo=UTC).timestamp() * 1000)
    assert folder(made, record(0, timestamp=before)) == "d=2024-11-03/t=0130"
    assert folder(made, record(0, timestamp=before + 3_600_000)) == "d=2024-11-03/t=0130"
    assert folder(made, record(0, timestamp=before + 7_200_000)) == "d=2024-11-03/t=0230"


@pytest.mark.parametrize("extractor", ["RecordField", "TimeBasedPartitioner$RecordFieldTimestampExtractor"])
def test_the_time_of_a_field(extractor: str) -> None:
    name = extractor if "$" not in extractor else f"io.confluent.connect.storage.partitioner.{extractor}"
    made = partitioner(
        "HourlyPartitioner", locale="en", timezone="UTC", timestamp_extractor=name, timestamp_field="e.at"
    )
    wanted = "year=2024/month=02/day=29/hour=12"
    instant = SchemaBuilder.struct().field("at", TIMESTAMP_SCHEMA).build()
    outer = SchemaBuilder.struct().field("e", instant).build()
    moment = datetime(2024, 2, 29, 12, 1, tzinfo=UTC)
    assert folder(made, record(0, Struct(outer, {"e": Struct(instant, {"at": moment})}), outer)) == wanted
    for at in (NOON, str(NOON), "2024-02-29T12:30:15Z", "2024-02-29T13:30:15+01:00", "2024-02-29 12:00"):
        assert folder(made, record(0, {"e": {"at": at}}, None)) == wanted
    for bad in (None, 1.5, "yesterday", True):
        with pytest.raises(PartitionError, match=r'The field "e.at" is '):
            made.partition([record(0, {"e": {"at": bad}}, None)])
    with pytest.raises(PartitionError, match="not within the years 1 to 9999"):
        made.partition([record(0, {"e": {"at": NOON * 1_000_000}}, None)])


def test_the_time_of_the_clock_and_of_no_record() -> None:
    made = partitioner("DailyPartitioner", locale="en", timezone="UTC")
    assert folder(made, record(0)) == datetime.now(UTC).strftime("year=%Y/month=%m/day=%d")
    with pytest.raises(PartitionError, match="no timestamp"):
        timed("DailyPartitioner").partition([record(0, timestamp=None)])


@pytest.mark.parametrize(
    ("name", "config", "reason"),
    [
        ("FieldPartitioner", {}, "needs partition.field.name"),
        ("TimeBasedPartitioner", {**TIME, "path.format": "YYYY"}, "Invalid value -1 for configuration partition.duration.ms"),
        ("TimeBasedPartitioner", {**TIME, "partition.duration.ms": "1"}, "needs path.format"),
        ("TimeBasedPartitioner", {**TIME, "partition.duration.ms": "1", "path.format": "YYYY'"}, "a quote is not closed"),
        ("TimeBasedPartitioner", {**TIME, "partition.duration.ms": "1", "path.format": "bb"}, "Illegal pattern component: bb"),
        ("HourlyPartitioner", {"timezone": "UTC"}, "HourlyPartitioner needs locale"),
        ("HourlyPartitioner", {"locale": "en"}, "HourlyPartitioner needs timezone"),
        ("HourlyPartitioner", {**TIME, "timezone": "Mars/North"}, "no such time zone"),
        (
            "TimeBasedPartitioner",
            {**TIME, "partition.duration.ms": "1", "path.format": "MMM", "locale": "nb-NO"},
            "in English only",
        ),
        ("HourlyPartitioner", {**TIME, "timestamp.extractor": "Recrod"}, "Did you mean Record"),
        ("Hourly2Partitioner", {}, "Did you mean HourlyPartitioner"),
    ],
)  # fmt: skip
def test_settings_that_do_not_fit_are_refused(tmp_path: Path, name: str, config: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        RunningSink("FileSystemSink", {**local(tmp_path), "partitioner.class": name, **config})


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("YYYY-MM-dd HH:mm:ss.SSS", "2024-02-29 12:30:15.250"),
        ("yy/M/d h 'o''clock' a", "24/2/29 12 o'clock PM"),
        ("EEEE, MMMM; EEE MMM", "Thursday, February; Thu Feb"),
        ("xxxx-'W'ww-e DDD kk K CC G", "2024-W09-4 060 12 0 20 AD"),
        ("Z ZZ ZZZ z", "+0000 +00:00 UTC UTC"),
        ("''", "'"),
    ],
)
def test_patterns_of_joda_time(pattern: str, text: str) -> None:
    assert JodaPattern(pattern).format(datetime(2024, 2, 29, 12, 30, 15, 250_000, tzinfo=UTC)) == text


def test_boundaries_are_counted_from_local_midnight() -> None:
    oslo = LocalTime(parse_zone("Europe/Oslo"))
    midnight = int(datetime(2024, 2, 28, 23, 0, tzinfo=UTC).timestamp() * 1000)
    assert oslo.next_boundary(midnight, 7_000_000) == midnight + 7_000_000
    assert oslo.next_boundary(midnight + 7_000_000, 7_000_000) == midnight + 14_000_000
    assert LocalTime(parse_zone("+05:30")).offset(0) == 19_800_000


def test_extractors_have_the_names_they_have_in_kafka_connect() -> None:
    prefix = "io.confluent.connect.storage.partitioner.TimeBasedPartitioner$"
    for name in ("Wallclock", "Record", "RecordField"):
        assert EXTRACTORS.find(f"{prefix}{name}TimestampExtractor") is EXTRACTORS.find(name)


class EvenOdd(Partitioner):
    def folder(self, record: SinkRecord) -> str:
        return "even" if record.value["id"] % 2 == 0 else "odd"


def test_a_partitioner_of_your_own(tmp_path: Path) -> None:
    config = {**local(tmp_path, flush_size="4"), "partitioner.class": f"{__name__}:EvenOdd"}
    with RunningSink("FileSystemSink", config) as sink:
        assert sink.put(map(record, range(4))) == 4
    assert list(files(tmp_path)) == [
        "orders/even/orders+0+0000000000+0000000002.json",
        "orders/odd/orders+0+0000000001+0000000003.json",
    ]


class ByTopic(DefaultPartitioner):
    def partition(self, records: Sequence[SinkRecord]) -> Partitioned:
        return Partitioned([f"from-{record.topic}" for record in records])


class NextDay(RecordTimestampExtractor):
    def extract_all(self, records: Sequence[SinkRecord]) -> list[int]:
        return [self.extract(record) + 86_400_000 for record in records]


def test_those_that_extend_others_are_asked_also_for_records_that_are_alike(tmp_path: Path) -> None:
    by_topic = {"partitioner.class": f"{__name__}:ByTopic"}
    daily = {**TIME, "partitioner.class": "DailyPartitioner", "timestamp.extractor": f"{__name__}:NextDay"}
    for folder_name, config in (("a", by_topic), ("b", daily)):
        with RunningSink("FileSystemSink", {**local(tmp_path / folder_name, flush_size="2"), **config}) as sink:
            sink.put(map(record, range(2)))
    name = "orders+0+0000000000+0000000001.json"
    assert list(files(tmp_path / "a")) == [f"orders/from-orders/{name}"]
    assert list(files(tmp_path / "b")) == [f"orders/year=2023/month=11/day=15/{name}"]


def test_int64_needs_no_schema_name() -> None:
    schema = SchemaBuilder.struct().field("n", INT64_SCHEMA).build()
    made = partitioner("FieldPartitioner", partition_field_name="n")
    assert folder(made, record(0, Struct(schema, {"n": 5}), schema)) == "n=5"
