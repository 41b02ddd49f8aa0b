"""What is known about a failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from penstock.connect.data import SourceRecord, TimestampType
from penstock.connect.errors import java_class_name, shown
from penstock.connect.failures.stage import Stage
from penstock.records import NO_HEADERS, Headers


class ConsumedRecord(NamedTuple):
    """A record as it came from Kafka: bytes."""

    topic: str
    partition: int
    offset: int
    key: bytes | None = None
    value: bytes | None = None
    timestamp: int | None = None
    timestamp_type: TimestampType = TimestampType.CREATE_TIME
    headers: Headers = NO_HEADERS

    def describe(self) -> str:
        """Where the record is from; nothing of its content."""
        return (
            f"{{topic='{self.topic}', partition={self.partition}, offset={self.offset}, "
            f"timestamp={self.timestamp}, timestampType={self.timestamp_type.value}}}"
        )


class ConsumedColumns(NamedTuple):
    """Records of one partition as they came from Kafka, one list for each part. Making a ConsumedRecord of each would take
    as long as converting it, and only failures need one.
    """

    topic: str
    partition: int
    offsets: list[int]
    keys: list[bytes | None]
    values: list[bytes | None]
    timestamps: list[int]
    timestamp_types: list[TimestampType]
    headers: list[Headers] | None = None

    def row(self, index: int) -> ConsumedRecord:
        """One of the records."""
        return ConsumedRecord(
            self.topic,
            self.partition,
            self.offsets[index],
            self.keys[index],
            self.values[index],
            self.timestamps[index],
            self.timestamp_types[index],
            NO_HEADERS if self.headers is None else self.headers[index],
        )

    def rows(self) -> list[ConsumedRecord]:
        """All of them."""
        return [self.row(index) for index in range(len(self.offsets))]


class EncodedRecord(NamedTuple):
    """What converters made of a source record: the bytes that were to be sent."""

    key: bytes | None
    value: bytes | None
    headers: Headers = NO_HEADERS


@dataclass(frozen=True, slots=True)
class Failure:
    """One operation that did not work.

    Attributes:
        stage: The step it belongs to.
        executing_class: Class of the converter, transform or task.
        error: What was raised.
        record: The record concerned, if there is one.
        attempts: How often it was tried.
        encoded: The bytes of a source record, if it came that far.
    """

    stage: Stage
    executing_class: str
    error: BaseException
    record: ConsumedRecord | SourceRecord | None = None
    attempts: int = 1
    encoded: EncodedRecord | None = None

    def where(self) -> str:
        """The step, and where the record is from: for messages."""
        step = f"{self.stage.value} ({self.executing_class.rpartition('.')[2]})"
        record = self.record
        if isinstance(record, ConsumedRecord):
            return f"{step} of topic {record.topic}, partition {record.partition}, offset {record.offset}"
        if record is None:
            return step
        offset = "" if record.source_offset is None else f", offset {shown(dict(record.source_offset))}"
        return f"{step} of a record for topic {record.topic} from {record.source_partition}{offset}"

    @property
    def reason(self) -> str:
        """The step and the class of the error: what failures are counted by."""
        return f"{self.stage.value} {java_class_name(self.error).rpartition('.')[2]}"


class ErrorReporter(Protocol):
    """Is told of every failure, before the task fails of it."""

    def report(self, failure: Failure) -> None:
        """Notes one failure."""
        ...


def executing_class(component: object) -> str:
    """The class of a converter, transform or task, as reports name it.

    >>> executing_class(Stage.TASK_PUT)
    'penstock.connect.failures.stage.Stage'
    """
    return f"{type(component).__module__}.{type(component).__qualname__}"
