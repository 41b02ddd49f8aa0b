"""Values of SQLite by the types their columns were declared with: what would have to be changed to fit is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from penstock.connect.connectors.jdbc.source.column import Column, Kind
from penstock.connect.data.logical import EPOCH

Decode = Callable[[Any], Any]

_DECLARED = re.compile(r"\s*([A-Za-z ]*?)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*")
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_MILLISECOND = timedelta(milliseconds=1)


def _instant(value: Any) -> datetime:
    """A timestamp: ISO text, or milliseconds since 1970."""
    if isinstance(value, str):
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    if not isinstance(value, int):
        raise ValueError("it is neither ISO text nor a whole number of milliseconds")  # noqa: TRY004 - the value is wrong
    instant: datetime = EPOCH + value * _MILLISECOND
    return instant.replace(tzinfo=None)


def _day(value: Any) -> date:
    return _instant(value).date()


def _clock(value: Any) -> time:
    return time.fromisoformat(value) if isinstance(value, str) else _instant(value).time()


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if not isinstance(value, bytes):
        raise ValueError("it is neither bytes nor text")  # noqa: TRY004 - the value is wrong
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else value.decode() if isinstance(value, bytes) else str(value)


def _boolean(value: Any) -> bool:
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    if value not in {0, 1}:
        raise ValueError("it is not a boolean: 0, 1, 'true' or 'false'")
    return bool(value)


def _whole(bits: int) -> Decode:
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def decode(value: Any) -> int:
        if not isinstance(value, int):
            whole = (
                value.is_integer() if isinstance(value, float) else isinstance(value, str) and _WHOLE.fullmatch(value)
            )
            if not whole:
                raise ValueError("it is not a whole number")
            value = int(value)
        if not least <= value <= most:
            raise ValueError(f"it does not fit into {bits} bits")
        number: int = value
        return number

    return decode


def _float(value: Any) -> float:
    number = float(_checked_number(value))
    if isinstance(value, int) and number != value:
        raise ValueError("it would be rounded")
    return number


def _decimal(value: Any) -> Decimal:
    return Decimal(str(_checked_number(value)))


def _checked_number(value: Any) -> Any:
    if not isinstance(value, (int, float)) and not (isinstance(value, str) and _NUMBER.fullmatch(value)):
        raise ValueError("it is not a number")
    return value


_NAMED: dict[str, tuple[Kind, Decode]] = {
    "BOOLEAN": (Kind.BOOLEAN, _boolean), "BOOL": (Kind.BOOLEAN, _boolean),
    "TINYINT": (Kind.INT8, _whole(8)), "SMALLINT": (Kind.INT16, _whole(16)), "INT2": (Kind.INT16, _whole(16)),
    "DATE": (Kind.DATE, _day), "TIME": (Kind.TIME, _clock),
    "DATETIME": (Kind.TIMESTAMP, _instant), "TIMESTAMP": (Kind.TIMESTAMP, _instant),
    "NUMERIC": (Kind.DECIMAL, _decimal), "DECIMAL": (Kind.DECIMAL, _decimal), "NUMBER": (Kind.DECIMAL, _decimal),
}  # fmt: skip
_PARTS: tuple[tuple[tuple[str, ...], Kind, Decode], ...] = (
    (("INT",), Kind.INT64, _whole(64)),
    (("CHAR", "CLOB", "TEXT", "JSON", "UUID"), Kind.STRING, _text),
    (("BLOB", "BINARY"), Kind.BYTES, _bytes),
    (("REAL", "FLOA", "DOUB"), Kind.FLOAT64, _float),
)
_OF_VALUES: dict[str, tuple[Kind, Decode]] = {
    "integer": (Kind.INT64, _whole(64)), "real": (Kind.FLOAT64, _float), "text": (Kind.STRING, _text), "blob": (Kind.BYTES, _bytes),
}  # fmt: skip


def undeclared_column(name: str, typeof: str) -> Column:
    """A column without a declared type, by what SQLite calls the type of a value."""
    kind, decode = _OF_VALUES[typeof]
    return Column(name, kind, "no declared type", decode=decode)


def declared_column(name: str, declared: str) -> Column:
    """A column by its declared type."""
    found = _DECLARED.fullmatch(declared)
    base = found[1].upper() if found else declared.upper()
    precision, scale = (int(part) if part else None for part in (found[2], found[3])) if found else (None, None)
    if base in _NAMED:
        kind, decode = _NAMED[base]
        if kind is Kind.DECIMAL:
            return Column(
                name, kind, declared, precision, scale if scale is not None else 0 if precision else None, decode=decode
            )
        return Column(name, kind, declared, decode=decode)
    for parts, kind, decode in _PARTS:
        if any(part in base for part in parts):
            return Column(name, kind, declared, decode=decode)
    return Column(name, None, declared)
