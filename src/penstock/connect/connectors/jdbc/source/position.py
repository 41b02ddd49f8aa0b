"""Where a table was read up to, and its form as an offset, which is that of Kafka's own connector."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from penstock.connect.api import Offset, Partition
from penstock.connect.connectors.jdbc.source.fields import micros_since_epoch
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.data.logical import EPOCH
from penstock.connect.errors import ConnectError

INCREMENTING, TIMESTAMP, NANOS = "incrementing", "timestamp", "timestamp_nanos"
POLLED = "polled"
"""When all rows were read, in mode bulk."""
QUERY_PARTITION: Partition = {"query": "query"}


@dataclass(frozen=True, slots=True)
class Position:
    """The last row that was read.

    Attributes:
        timestamp: When it was changed.
        incrementing: Its number.
    """

    timestamp: datetime | None = None
    incrementing: int | None = None

    @staticmethod
    def of(offset: Offset) -> Position:
        """The position an offset means.

        >>> Position.of({"timestamp": 1500, "timestamp_nanos": 500_250_000}).timestamp.microsecond
        500250
        """
        timestamp: datetime | None = None
        if offset.get(TIMESTAMP) is not None:
            nanos = int(offset.get(NANOS) or 0)
            timestamp = EPOCH + timedelta(milliseconds=int(offset[TIMESTAMP]), microseconds=nanos % 1_000_000 // 1000)
        number = offset.get(INCREMENTING)
        return Position(timestamp, None if number is None else int(number))

    def offset(self) -> dict[str, Any]:
        """The offset: only the parts that are used."""
        offset: dict[str, Any] = {}
        if self.incrementing is not None:
            offset[INCREMENTING] = self.incrementing
        if self.timestamp is not None:
            offset[TIMESTAMP] = micros_since_epoch(self.timestamp) // 1000
            offset[NANOS] = self.timestamp.microsecond * 1000
        return offset


def table_partition(table: TableId) -> Partition:
    """The part of the source that is a table."""
    return {"protocol": "1", "table": str(table)}


def older_partitions(table: TableId, database: str | None) -> Iterable[Partition]:
    """Names the same table may have in offsets of other versions of Kafka's connector and its drivers."""
    if table.schema is not None and database:
        yield {"protocol": "1", "table": f"{database}.{table}"}
    yield {"table": table.table}


def check_offset(partition: Partition | None, offset: Offset | None, *, bulk: bool = False) -> None:
    """Raises ConnectError if somebody wants to set an offset that cannot be used.

    Args:
        partition: What it is for.
        offset: The offset; None removes it.
        bulk: Whether all rows are read each time: those offsets only tell when.
    """
    if offset is None:
        return
    if partition is None or ("table" not in partition and "query" not in partition):
        raise ConnectError(
            f"The partition {dict(partition or {})} is not one of this connector",
            hint='Give {"protocol": "1", "table": "schema.table"}, or {"query": "query"}.',
        )
    known = [name for name in (INCREMENTING, TIMESTAMP, NANOS, *([POLLED] if bulk else [])) if name in offset]
    for name in known:
        if not isinstance(offset[name], int) or isinstance(offset[name], bool):
            raise ConnectError(f"{name} of the offset for {dict(partition)} is not a whole number")
    if not ({INCREMENTING, TIMESTAMP, POLLED} & set(known)):
        raise ConnectError(f"The offset for {dict(partition)} has neither {INCREMENTING} nor {TIMESTAMP}")
