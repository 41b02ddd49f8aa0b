"""Columns of a result, as all databases can be described."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Kind(Enum):
    """What the values of a column are, once decoded."""

    BOOLEAN = "bool"
    INT8 = "int of 8 bits"
    INT16 = "int of 16 bits"
    INT32 = "int of 32 bits"
    INT64 = "int of 64 bits"
    FLOAT32 = "float of 32 bits"
    FLOAT64 = "float"
    DECIMAL = "decimal.Decimal"
    STRING = "str"
    BYTES = "bytes"
    DATE = "datetime.date"
    TIME = "datetime.time or timedelta since midnight"
    TIMESTAMP = "datetime.datetime"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a result.

    Attributes:
        name: Its name.
        kind: What its values are; None if there is no place for them in a record.
        type_name: What the database calls its type.
        precision: Digits of a decimal; None if it has no limit.
        scale: Digits after the point of a decimal; None if it has no limit. Of timestamps: digits of fractions of seconds.
        in_utc: Whether timestamps are in UTC; else they are in the zone db.timezone names.
        decode: Makes a value of that kind of what the driver gives; None if it is one already.
        auto_increment: Whether the database numbers it.
    """

    name: str
    kind: Kind | None
    type_name: str
    precision: int | None = None
    scale: int | None = None
    in_utc: bool = False
    decode: Callable[[Any], Any] | None = None
    auto_increment: bool = False


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What only the table knows of a column, not a result.

    Attributes:
        nullable: Whether it may be null.
        default: The text of its default, if it has one.
        auto_increment: Whether the database numbers it.
    """

    nullable: bool = True
    default: str | None = None
    auto_increment: bool = False
