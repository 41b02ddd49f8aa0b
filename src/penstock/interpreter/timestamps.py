"""Timestamp extractors: which time a record is processed at."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.errors import ConfigError, StreamsError
from penstock.functions import from_expression, is_expression
from penstock.interpreter.context import wall_clock_ms
from penstock.records import Headers

log = logging.getLogger("penstock.task")

# (key, value, record timestamp, headers, partition time) -> timestamp; negative drops the record
Extract = Callable[[Any, Any, int, Headers, int], int]


@dataclass(frozen=True, slots=True)
class ConsumedRecord:
    """What a timestamp extractor sees: the deserialised record with the timestamp it has in the topic."""

    topic: str
    partition: int
    offset: int
    key: Any
    value: Any
    timestamp: int
    headers: Headers


class FailOnInvalidTimestamp:
    """The record's timestamp; a negative one is an error. The default."""

    def __call__(self, record: ConsumedRecord, partition_time: int) -> int:
        """Give the timestamp or fail."""
        if record.timestamp < 0:
            raise StreamsError(
                f"the record has the negative timestamp {record.timestamp}",
                hint="Use LogAndSkipOnInvalidTimestamp or UsePartitionTimeOnInvalidTimestamp.",
            )
        return record.timestamp


class LogAndSkipOnInvalidTimestamp:
    """The record's timestamp; records with a negative one are dropped."""

    def __call__(self, record: ConsumedRecord, partition_time: int) -> int:
        """Give the timestamp; a negative one drops the record."""
        if record.timestamp < 0:
            log.warning("skipped a record with timestamp %d at offset %d", record.timestamp, record.offset)
        return record.timestamp


class UsePartitionTimeOnInvalidTimestamp:
    """The record's timestamp, or the largest of its partition so far if it is negative."""

    def __call__(self, record: ConsumedRecord, partition_time: int) -> int:
        """Give the timestamp or the partition's time."""
        if record.timestamp >= 0:
            return record.timestamp
        if partition_time < 0:
            raise StreamsError(
                f"the record has the negative timestamp {record.timestamp} and no earlier record of its partition "
                "has a valid one",
                hint="Use LogAndSkipOnInvalidTimestamp or an extractor that reads the time from the value.",
            )
        return partition_time


class WallclockTimestampExtractor:
    """The time at which the record is processed."""

    def __call__(self, record: ConsumedRecord, partition_time: int) -> int:
        """Give the machine's time."""
        return wall_clock_ms()


def resolve_extractor(given: Any, context: Any) -> Extract | None:
    """The function a source calls; None for the default, whose check is built in."""
    if given is None:
        return None
    if is_expression(given):
        evaluate = from_expression(given).bind("key", "value", "timestamp")

        def extract_expression(key: Any, value: Any, timestamp: int, headers: Headers, partition_time: int) -> int:
            return _checked(evaluate(key, value, timestamp), given)

        return extract_expression
    extractor = given() if inspect.isclass(given) else given
    if isinstance(extractor, FailOnInvalidTimestamp):
        return None
    if isinstance(extractor, WallclockTimestampExtractor):
        return lambda key, value, timestamp, headers, partition_time: context.system_time()
    if not callable(extractor):
        raise ConfigError(
            f"the timestamp extractor is {given!r}", hint="Give a function (record, partition_time) -> int."
        )

    def extract(key: Any, value: Any, timestamp: int, headers: Headers, partition_time: int) -> int:
        record = ConsumedRecord(context.topic, context.partition, context.offset, key, value, timestamp, headers)
        return _checked(extractor(record, partition_time), extractor)

    return extract


def _checked(timestamp: Any, extractor: Any) -> int:
    if type(timestamp) is int:
        return timestamp
    raise StreamsError(
        f"the timestamp extractor {_name(extractor)} returned {timestamp!r}, not int milliseconds",
        hint="Return milliseconds since 1970 as an int; a negative number drops the record.",
    )


def _name(extractor: Any) -> str:
    if is_expression(extractor):
        return repr(extractor)
    return getattr(extractor, "__qualname__", None) or type(extractor).__qualname__
