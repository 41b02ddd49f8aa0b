"""The statements of a table or query: how far there are rows, and the rows between two positions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import Any
from zoneinfo import ZoneInfo

from penstock.connect.connectors.jdbc.source.column import Column, Kind
from penstock.connect.connectors.jdbc.source.dialects import SourceDialect
from penstock.connect.connectors.jdbc.source.position import Position
from penstock.connect.connectors.jdbc.table_id import TableId

_LIMITS = re.compile(r"\blimit\b|\bfetch\s+(first|next)\b", re.IGNORECASE)
Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Selection:
    """What is selected from.

    Attributes:
        source: What stands behind FROM: a table, or a query in parentheses with a name.
        plain: The statement without any condition.
        table: The table, if it is one.
        suffix: Text for the end of statements.
    """

    source: str
    plain: str
    table: TableId | None
    suffix: str = ""

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"table {self.table}" if self.table is not None else "the query"

    @property
    def is_limited(self) -> bool:
        """Whether the suffix says how many rows a statement gives."""
        return bool(_LIMITS.search(self.suffix))

    @property
    def everything(self) -> str:
        """The statement for all rows."""
        return f"{self.plain}\n{self.suffix}".rstrip()  # a query may end with a comment

    @property
    def nothing(self) -> str:
        """A statement for the columns."""
        return f"SELECT * FROM {self.source} WHERE 1 = 0"  # noqa: S608 - names are quoted, the rest is the user's


class Criteria:
    """Rows in the order of one or two columns.

    Args:
        selection: What is selected from.
        dialect: The kind of database.
        zone: Time zone of times without one.
        times: The time columns with their quoted names; none if rows are ordered by number only.
        number: The incrementing column with its quoted name; None if rows are ordered by time only.
    """

    def __init__(
        self,
        selection: Selection,
        dialect: SourceDialect,
        zone: ZoneInfo,
        *,
        times: list[tuple[Column, str]],
        number: tuple[Column, str] | None,
    ) -> None:
        self._selection = selection
        self._dialect = dialect
        self._zone = zone
        self._column = times[0][0] if times else None
        expressions = [dialect.time_expression(column, quoted) for column, quoted in times]
        self._time = expressions[0] if len(expressions) == 1 else f"COALESCE({', '.join(expressions)})"
        self._number = number[1] if number is not None else ""
        self._times = times
        self._ticks = min((dialect.time_digits(column) for column, _ in times), default=6)
        self._by_day = any(column.kind is Kind.DATE for column, _ in times)
        self.has_times, self.has_number = bool(times), number is not None

    def _order(self) -> str:
        return ", ".join(one for one in (self._time if self.has_times else "", self._number) if one)

    def _arguments(self, position: Position, suffix: str) -> Arguments:
        found: Arguments = {}
        if self._column is not None and position.timestamp is not None:
            found[f"time{suffix}"] = self._dialect.time_argument(position.timestamp, self._column, self._zone)
        if self.has_number and position.incrementing is not None:
            found[f"number{suffix}"] = position.incrementing
        return found

    def _after(self) -> str:
        """Rows behind a position."""
        time, number = self._time, self._number
        if not self.has_times:
            return f"{number} > :number0"
        if not self.has_number:
            return f"{time} > :time0"
        # The first part says nothing new, but an index can be used for it.
        return f"{time} >= :time0 AND ({time} > :time0 OR {number} > :number0)"

    def between(self, start: Position, end: Position) -> tuple[str, Arguments]:
        """The statement for rows behind one position, up to and with another."""
        time, number = self._time, self._number
        if not self.has_times:
            upto = f"{number} <= :number1"
        elif not self.has_number:
            upto = f"{time} <= :time1"
        else:
            upto = f"{time} <= :time1 AND ({time} < :time1 OR {number} <= :number1)"
        # A limit was part of the plan: here it would cut off rows of the same time.
        suffix = "" if self._selection.is_limited else self._selection.suffix
        statement = (
            f"SELECT * FROM {self._selection.source} WHERE {self._after()} AND {upto} ORDER BY {self._order()} {suffix}"  # noqa: S608
        )
        return statement.rstrip(), self._arguments(start, "0") | self._arguments(end, "1")

    def last_tick(self, moment: datetime) -> datetime:
        """The last tick of the time columns' clock: rows may still come for the one that is not over."""
        if self._by_day:
            today = moment.astimezone(self._zone).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
            return today.astimezone(timezone.utc)
        tick = 10 ** (6 - min(self._ticks, 6))
        return moment.replace(microsecond=moment.microsecond // tick * tick)

    def no_times(self) -> list[tuple[str, str]]:
        """The time columns that may hold something else, each with the statement for one such value."""
        found = [(column.name, quoted, self._dialect.no_time(column, quoted)) for column, quoted in self._times]
        source = self._selection.source
        return [
            (name, f"SELECT {quoted} FROM {source} WHERE {condition} {self._dialect.limit('1')}")  # noqa: S608
            for name, quoted, condition in found
            if condition is not None
        ]

    def largest(self) -> str:
        """The statement for the largest number."""
        return f"SELECT MAX({self._number}) FROM {self._selection.source}"  # noqa: S608

    def bound(self, start: Position, ceiling: Position, rows: int) -> tuple[str, Arguments]:
        """The statement for the last of the next so many rows: their count, its time and its number.

        Rows are below the ceiling's time, and up to its number.
        """
        condition, arguments = self._after(), self._arguments(start, "0")
        if self.has_times:
            condition += f" AND {self._time} < :time1"
            arguments |= self._arguments(Position(ceiling.timestamp), "1")
        elif ceiling.incrementing is not None:
            condition += f" AND {self._number} <= :number1"
            arguments["number1"] = ceiling.incrementing
        selected = [f"{self._time} AS p_time"] if self.has_times else []
        selected += [f"{self._number} AS p_number"] if self.has_number else []
        end = self._selection.suffix if self._selection.is_limited else self._dialect.limit(str(rows))
        inner = f"SELECT {', '.join(selected)} FROM {self._selection.source} WHERE {condition} ORDER BY {self._order()} {end}\n"  # noqa: S608
        if self.has_times and self.has_number:
            last = "ORDER BY p_time DESC, p_number DESC " + self._dialect.limit("1")
            return f"SELECT COUNT(*) OVER () AS p_count, p_time, p_number FROM ({inner}) p_rows {last}", arguments  # noqa: S608
        one = "MAX(p_time), NULL" if self.has_times else "NULL, MAX(p_number)"
        return f"SELECT COUNT(*), {one} FROM ({inner}) p_rows", arguments  # noqa: S608

    def position(self, time: Any, number: Any) -> Position:
        """The position of a row the database gave."""
        return Position(None if time is None else self._instant(time), None if number is None else int(number))

    def _instant(self, value: Any) -> datetime:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        elif isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)  # noqa: DTZ001 - the zone follows
        assert self._column is not None
        if value.tzinfo is None:
            value = value.replace(tzinfo=timezone.utc if self._column.in_utc else self._zone)
        instant: datetime = value.astimezone(timezone.utc)
        return instant
