"""FieldPartitioner: folders named after the values of fields."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from penstock.connect.connectors.storage.partitioners.partitioner import Partitioner, PartitionError, safe_name
from penstock.connect.data import SinkRecord, Struct
from penstock.connect.errors import ConfigError

_MISSING = object()


def field_value(value: Any, path: tuple[str, ...]) -> Any:
    """The value of a field, found through structs and maps; None where a part of the way is null.

    Raises:
        PartitionError: There is no such field.
    """
    for name in path:
        if value is None:
            return None
        if isinstance(value, Struct):
            field = value.schema.field(name)
            value = _MISSING if field is None else value.get(name)
        else:
            value = value.get(name, _MISSING) if isinstance(value, dict) else _MISSING
        if value is _MISSING:
            raise PartitionError(f'The value has no field "{".".join(path)}"')
    return value


def field_path(name: str) -> tuple[str, ...]:
    """The parts of a dotted name."""
    return tuple(name.split("."))


class FieldPartitioner(Partitioner):
    """The values of the fields of `partition.field.name`: `country=NO/city=Bergen`."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        super().__init__(settings)
        names: list[str] = settings["partition.field.name"]
        if not names:
            raise ConfigError(
                "FieldPartitioner needs partition.field.name: the fields to make folders of", key="partition.field.name"
            )
        with_names = settings["partition.field.format.path"]
        self._fields = [(name, field_path(name), f"{name}=" if with_names else "") for name in names]
        self._delimiter: str = settings["directory.delim"]

    def folder(self, record: SinkRecord) -> str:
        value = record.value
        parts = [prefix + safe_name(_text(name, field_value(value, path))) for name, path, prefix in self._fields]
        return self._delimiter.join(parts)


def _text(name: str, value: Any) -> str:
    if type(value) is str:
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, int):
        return str(value)
    kind = "a date or time" if isinstance(value, datetime) else type(value).__name__
    raise PartitionError(
        f'The field "{name}" is {kind}; FieldPartitioner makes folders of whole numbers, texts and booleans',
        hint="TimeBasedPartitioner divides by time.",
    )
